/* SPDX-License-Identifier: Apache-2.0 */
/* See share_core.h. */
#include "backend/vm/share_core.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t share_take(struct share *s, unsigned bytes)
{
	uint64_t value = 0;

	if (s->in_left < bytes) {
		s->is_bad = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)s->in[i] << (8 * i);
	s->in += bytes;
	s->in_left -= bytes;
	return value;
}

void share_take_text(struct share *s, size_t size, char *ret)
{
	size_t len = share_take(s, 2);

	ret[0] = '\0';
	if (len > s->in_left || len >= size || memchr(s->in, '\0', len)) {
		s->is_bad = true;
		return;
	}
	memcpy(ret, s->in, len);
	ret[len] = '\0';
	s->in += len;
	s->in_left -= len;
}

int share_take_name(struct share *s, char ret[static NAME_MAX + 1])
{
	share_take_text(s, NAME_MAX + 1, ret);
	if (!ret[0] || strchr(ret, '/') || strcmp(ret, ".") == 0 || strcmp(ret, "..") == 0)
		return -EINVAL;
	return 0;
}

void share_put(struct share *s, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		s->out[s->out_len++] = (uint8_t)(value >> (8 * i));
}

void share_put_text(struct share *s, const char *text, size_t len)
{
	share_put(s, len, 2);
	memcpy(s->out + s->out_len, text, len);
	s->out_len += len;
}

/* The view is made of several file systems, whose numbers may be the same. */
static uint64_t share_number(const struct stat *st)
{
	uint64_t mixed = (uint64_t)st->st_dev * 0x9e3779b97f4a7c15u ^ (uint64_t)st->st_ino;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return mixed ^ mixed >> 31;
}

void share_put_qid(struct share *s, const struct stat *st)
{
	share_put(s, S_ISDIR(st->st_mode) ? 0x80 : S_ISLNK(st->st_mode) ? 0x02 : 0, 1);
	share_put(s, (uint64_t)st->st_mtim.tv_sec ^ (uint64_t)st->st_size << 8, 4);
	share_put(s, share_number(st), 8);
}

int share_at(const struct share *s, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = flags & O_CREAT ? mode & 07777U : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, s->root, *path ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

struct share_fid *share_fid(struct share *s)
{
	uint64_t number = share_take(s, 4);

	return number < s->n_fids && s->fids[number].path ? &s->fids[number] : NULL;
}

int share_fid_at(struct share *s)
{
	const struct share_fid *f = share_fid(s);

	return f ? share_at(s, f->path, O_PATH, 0) : -EBADF;
}

void share_forget(struct share *s, struct share_fid *f)
{
	if (f->path)
		s->path_bytes -= strlen(f->path) + 1;
	free(f->path);
	f->path = NULL;
	f->file = fd_close(f->file);
}

int share_set_path(struct share *s, struct share_fid *f, const char *path)
{
	char *copy = NULL;

	if (s->path_bytes + strlen(path) + 1 > SHARE_PATHS_MAX)
		return -ENFILE;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	s->path_bytes += strlen(path) + 1;
	if (f->path)
		s->path_bytes -= strlen(f->path) + 1;
	free(f->path);
	f->path = copy;
	return 0;
}

int share_remember(struct share *s, uint64_t number, const char *path)
{
	if (number >= SHARE_FIDS_MAX)
		return -ENFILE;
	if (number >= s->n_fids) {
		size_t n = (size_t)number * 2 + 64;
		struct share_fid *more = realloc(s->fids, n * sizeof(*more));

		if (!more)
			return -ENOMEM;
		for (size_t i = s->n_fids; i < n; i++)
			more[i] = (struct share_fid){.file = -1};
		s->fids = more;
		s->n_fids = n;
	}
	return s->fids[number].path ? -EBUSY : share_set_path(s, &s->fids[number], path);
}

int share_join(const char *dir, const char *name, char ret[static PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s%s%s", dir, *dir ? "/" : "", name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}
