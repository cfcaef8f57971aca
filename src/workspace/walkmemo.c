/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See walkmemo.h.  There is a fixed number of files, chosen by a hash of the tree's path: two trees with the same one
 * take turns.  They are written without waiting for the disk, so each ends with a sum over all of it.
 */
#include "workspace/walkmemo.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/protected.h"
#include "workspace/sensitive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALKMEMO_MAGIC UINT64_C(0x326b6c61776e6472) /* the form of the file, and our byte order */
#define WALKMEMO_BYTES_MAX (64 * 1024 * 1024)
#define WALKMEMO_FILES 64
#define WALKMEMO_NAME_MAX 16
struct walkmemo_head {
	uint64_t magic;
	uint64_t sum; /* of what follows it */
	uint64_t rules;
	uint64_t dev;
	uint64_t n;
	uint64_t text_len;
};

void walkmemo_init(struct walkmemo *m)
{
	*m = (struct walkmemo){.text = BUF_INIT(WALKMEMO_BYTES_MAX)};
}

void walkmemo_done(struct walkmemo *m)
{
	free(m->v);
	buf_done(&m->text);
	walkmemo_init(m);
}

/* FNV-1a over words of eight bytes: against what was half written, not against anybody. */
static uint64_t walkmemo_sum(uint64_t sum, const void *data, size_t len)
{
	const char *at = data;

	for (; len > 0;) {
		uint64_t word = 0;
		size_t n = len < sizeof(word) ? len : sizeof(word);

		memcpy(&word, at, n);
		sum = (sum ^ word) * UINT64_C(1099511628211);
		sum ^= sum >> 32;
		at += n;
		len -= n;
	}
	return sum;
}

static uint64_t walkmemo_sum_all(const struct walkmemo_head *h, const void *rows, const void *text)
{
	uint64_t sum = walkmemo_sum(h->magic, &h->rules,
				    sizeof(*h) - offsetof(struct walkmemo_head, rules));

	sum = walkmemo_sum(sum, rows, h->n * sizeof(struct walkmemo_dir));
	return walkmemo_sum(sum, text, h->text_len);
}

static void walkmemo_add_name(const char *name, void *sum)
{
	*(uint64_t *)sum = walkmemo_sum(*(uint64_t *)sum, name, strlen(name) + 1);
}

/* What decides about plain: by other names, or in another version of ours, a directory may not be so. */
static uint64_t walkmemo_rules(void)
{
	uint64_t sum = walkmemo_sum(0, CORDON_VERSION, sizeof(CORDON_VERSION));

	sensitive_each(walkmemo_add_name, &sum);
	for (size_t i = 0; i < protected_git_name_count; i++)
		walkmemo_add_name(protected_git_names[i].name, &sum);
	return sum;
}

static int walkmemo_open_dir(const char *state_dir, const char *top, bool makes,
			     char ret_name[static WALKMEMO_NAME_MAX])
{
	AUTO_FREE char *path = NULL;
	int fd;
	int r = path_join(state_dir, WALKMEMO_DIR, &path);

	(void)snprintf(ret_name, WALKMEMO_NAME_MAX, "%02u",
		       (unsigned)(walkmemo_sum(0, top, strlen(top)) % WALKMEMO_FILES));
	if (r == 0 && makes)
		r = path_make_private_dir(path, 0700);
	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool walkmemo_is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Does every row stay within the rows, and every name within the text? */
static bool walkmemo_is_sound(const struct walkmemo *m, const char *top)
{
	if (m->n == 0 || m->text.len == 0 || m->text.data[m->text.len - 1] != '\0')
		return false;
	for (size_t i = 0; i < m->n; i++) {
		const struct walkmemo_dir *d = &m->v[i];

		if (d->below >= m->n - i || d->name >= m->text.len ||
		    !(i == 0 ? strcmp(walkmemo_name(m, i), top) == 0
			     : walkmemo_is_name(walkmemo_name(m, i))))
			return false;
	}
	return true;
}

void walkmemo_read(int dir, const char *name, const char *top, struct walkmemo *ret)
{
	AUTO_FREE char *file = NULL;
	struct walkmemo_head h;
	size_t rows, len;

	walkmemo_init(ret);
	if (io_read_file_at(dir, name, WALKMEMO_BYTES_MAX, &file, &len) < 0 || len < sizeof(h))
		return;
	memcpy(&h, file, sizeof(h));
	if (h.magic != WALKMEMO_MAGIC || h.n == 0 || h.n > LIMIT_WALK_ENTRIES || h.text_len > len)
		return;
	rows = h.n * sizeof(*ret->v);
	if (len != sizeof(h) + rows + h.text_len ||
	    walkmemo_sum_all(&h, file + sizeof(h), file + sizeof(h) + rows) != h.sum)
		return;
	ret->v = malloc(rows);
	if (!ret->v)
		return;
	memcpy(ret->v, file + sizeof(h), rows);
	ret->n = ret->cap = h.n;
	ret->dev = h.dev;
	ret->rules = h.rules;
	buf_add(&ret->text, file + sizeof(h) + rows, h.text_len);
	if (buf_error(&ret->text) < 0 || !walkmemo_is_sound(ret, top))
		walkmemo_done(ret);
}

int walkmemo_write(int dir, const char *name, const struct walkmemo *m)
{
	char fresh[WALKMEMO_NAME_MAX * 2];
	struct walkmemo_head h = {
		.magic = WALKMEMO_MAGIC, .rules = m->rules, .dev = m->dev, .n = m->n};
	AUTO_CLOSE int fd = -1;
	int r = buf_error(&m->text);

	if (r < 0)
		return r;
	h.text_len = m->text.len;
	h.sum = walkmemo_sum_all(&h, m->v, m->text.data);
	/* Whoever writes at the same time has another number; what a killed one left is written over some day. */
	(void)snprintf(fresh, sizeof(fresh), "new-%u", (unsigned)getpid() % WALKMEMO_FILES);
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = io_write(fd, &h, sizeof(h), CLOCK_NEVER);
	if (r == 0)
		r = io_write(fd, m->v, m->n * sizeof(*m->v), CLOCK_NEVER);
	if (r == 0)
		r = io_write(fd, m->text.data, m->text.len, CLOCK_NEVER);
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, fresh, 0); /* what went wrong first counts */
	return r;
}

void walkmemo_load(const char *state_dir, const char *top, struct walkmemo *ret)
{
	char name[WALKMEMO_NAME_MAX];
	AUTO_CLOSE int dir = walkmemo_open_dir(state_dir, top, /* makes= */ false, name);

	walkmemo_init(ret);
	if (dir >= 0)
		walkmemo_read(dir, name, top, ret);
	if (ret->rules != walkmemo_rules())
		walkmemo_done(ret);
}

void walkmemo_save(const char *state_dir, struct walkmemo *m)
{
	char name[WALKMEMO_NAME_MAX];
	AUTO_CLOSE int dir = m->n > 0 ? walkmemo_open_dir(state_dir, walkmemo_name(m, 0),
							  /* makes= */ true, name)
				      : -1;

	m->rules = walkmemo_rules();
	if (dir >= 0)
		(void)!walkmemo_write(dir, name,
				      m); /* a full disk: the next walk is as slow as this one */
}

int walkmemo_add(struct walkmemo *m, const char *name, const struct walkmemo_dir *d)
{
	void *v = m->v;
	int r = mem_grow(&v, &m->cap, m->n + 1, sizeof(*m->v), LIMIT_WALK_ENTRIES);

	m->v = v;
	if (r < 0)
		return r;
	m->v[m->n] = *d;
	m->v[m->n++].name = (uint32_t)m->text.len;
	buf_add(&m->text, name, strlen(name) + 1);
	return buf_error(&m->text);
}

size_t walkmemo_first(const struct walkmemo *m, size_t dir)
{
	return dir == WALKMEMO_NONE || m->v[dir].below == 0 ? WALKMEMO_NONE : dir + 1;
}

size_t walkmemo_next(const struct walkmemo *m, size_t dir, size_t row)
{
	size_t next = row + 1 + m->v[row].below;

	return next <= dir + m->v[dir].below ? next : WALKMEMO_NONE;
}
