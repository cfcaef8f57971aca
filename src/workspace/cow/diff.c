/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change set for people, and for patch(1): the headers are those of git, so that `git apply` takes what is text.
 * Renames are guesses: overlayfs does not say where a file came from, so equal bytes have to.
 */
#include "workspace/cow/changes.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/sha256.h"
#include "workspace/cow/node.h"
#include "workspace/cow/textdiff.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIFF_CHUNK 65536

/* Opens one side of a change for reading; links are content, not followed.  The fd or -errno. */
static int diff_open(int top, const char *path)
{
	return path_open_beneath(top, path,
				 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0,
				 RESOLVE_NO_SYMLINKS);
}

static int diff_hash(int top, const char *path, uint8_t ret[static SHA256_LEN])
{
	AUTO_CLOSE int fd = diff_open(top, path);
	AUTO_FREE char *chunk = malloc(DIFF_CHUNK);
	struct sha256 sha;
	ssize_t n;

	if (fd < 0 || !chunk)
		return fd < 0 ? fd : -ENOMEM;
	sha256_init(&sha);
	while ((n = read(fd, chunk, DIFF_CHUNK)) > 0)
		sha256_add(&sha, chunk, (size_t)n);
	sha256_finish(&sha, ret);
	return n < 0 ? -errno : 0;
}

struct diff_file {
	struct change *change;
	bool is_hashed;
	bool is_taken;
	uint8_t hash[SHA256_LEN];
};

static int diff_by_size(const void *a, const void *b)
{
	const struct change *x = ((const struct diff_file *)a)->change;
	const struct change *y = ((const struct diff_file *)b)->change;

	return x->was.st_size < y->was.st_size   ? -1
	       : x->was.st_size > y->was.st_size ? 1
						 : strcmp(x->path, y->path);
}

/* The first deleted file of that size. */
static size_t diff_first_of_size(const struct diff_file *gone, size_t n, off_t size)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (gone[mid].change->was.st_size < size)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int diff_match(struct diff_file *gone, size_t n, int upper, int lower, struct change *added)
{
	size_t i = diff_first_of_size(gone, n, added->now.st_size);
	size_t looks = 0;
	uint8_t hash[SHA256_LEN];

	if (i == n || gone[i].change->was.st_size != added->now.st_size ||
	    diff_hash(upper, added->path, hash) < 0)
		return 0;
	for (; i < n && gone[i].change->was.st_size == added->now.st_size &&
	       looks++ < LIMIT_RENAME_LOOKS;
	     i++) {
		if (gone[i].is_taken)
			continue;
		if (!gone[i].is_hashed && diff_hash(lower, gone[i].change->path, gone[i].hash) < 0)
			gone[i].is_taken = true; /* cannot be read: nobody's */
		gone[i].is_hashed = true;
		if (!gone[i].is_taken && memcmp(gone[i].hash, hash, sizeof(hash)) == 0) {
			gone[i].is_taken = true;
			added->from = strdup(gone[i].change->path);
			return added->from ? 0 : -ENOMEM;
		}
	}
	return 0;
}

int changes_find_renames(const struct cow *c, struct changes *changes, struct cordon_error *err)
{
	AUTO_FREE struct diff_file *gone = calloc(changes->n + 1, sizeof(*gone));
	AUTO_CLOSE int lower = cow_open_workspace(c, err);
	AUTO_CLOSE int upper = lower < 0 ? lower : cow_open_files(c, err);
	size_t n = 0;
	int r = 0;

	if (lower < 0 || upper < 0)
		return lower < 0 ? lower : upper;
	if (!gone)
		return cordon_nomem(err);
	for (size_t i = 0; i < changes->n; i++)
		if (changes->v[i].op == CHANGE_DELETED && S_ISREG(changes->v[i].was.st_mode) &&
		    changes->v[i].was.st_size > 0)
			gone[n++].change = &changes->v[i];
	if (n > 0)
		qsort(gone, n, sizeof(*gone), diff_by_size);
	for (size_t i = 0; r == 0 && n > 0 && i < changes->n; i++)
		if (changes->v[i].op == CHANGE_ADDED && S_ISREG(changes->v[i].now.st_mode) &&
		    changes->v[i].now.st_size > 0 && !changes->v[i].from)
			r = diff_match(gone, n, upper, lower, &changes->v[i]);
	return r < 0 ? cordon_nomem(err) : 0;
}

/* text */

struct diff_side {
	char *data; /* NULL: not read */
	size_t len;
};

static int diff_read_file(int fd, off_t size, struct diff_side *ret)
{
	size_t len = 0;

	if (size < 0 || size > LIMIT_DIFF_BYTES)
		return -EFBIG;
	ret->data = malloc((size_t)size + 1);
	if (!ret->data)
		return -ENOMEM;
	while (len < (size_t)size) {
		ssize_t n = pread(fd, ret->data + len, (size_t)size - len, (off_t)len);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	ret->len = len;
	return 0;
}

/* What a change has to show of one side: bytes, or where a link leads.  0, or -errno when it shows nothing. */
static int diff_read(int top, const char *path, const struct stat *st, struct diff_side *ret)
{
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	if (S_ISLNK(st->st_mode)) {
		fd = path_open_beneath(top, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 0);
		ret->data = fd < 0 ? NULL : malloc(LIMIT_PATH_BYTES);
		if (!ret->data)
			return fd < 0 ? fd : -ENOMEM;
		n = readlinkat(fd, "", ret->data, LIMIT_PATH_BYTES);
		ret->len = n < 0 ? 0 : (size_t)n;
		return n < 0 ? -errno : 0;
	}
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	fd = diff_open(top, path);
	return fd < 0 ? fd : diff_read_file(fd, st->st_size, ret);
}

static void diff_path(struct buf *out, const char *prefix, const char *path)
{
	buf_str(out, prefix);
	str_escape(out, path, strlen(path));
}

static void diff_header(const struct change *c, struct buf *out)
{
	diff_path(out, "diff --git a/", c->from ? c->from : c->path);
	diff_path(out, " b/", c->path);
	buf_char(out, '\n');
	if (c->op == CHANGE_ADDED && !c->from)
		buf_printf(out, "new file mode %06o\n", c->now.st_mode);
	if (c->op == CHANGE_DELETED)
		buf_printf(out, "deleted file mode %06o\n", c->was.st_mode);
	if (c->from) {
		diff_path(out, "rename from ", c->from);
		diff_path(out, "\nrename to ", c->path);
		buf_char(out, '\n');
	}
	if (c->op == CHANGE_MODIFIED && (c->what & (CHANGE_MODE | CHANGE_TYPE)))
		buf_printf(out, "old mode %06o\nnew mode %06o\n", c->was.st_mode, c->now.st_mode);
	if (c->what & CHANGE_OWNER)
		buf_printf(out, "owner %u:%u is %u:%u\n", c->was.st_uid, c->was.st_gid,
			   c->now.st_uid, c->now.st_gid);
	if (c->what & CHANGE_XATTRS)
		buf_str(out, "extended attributes differ\n");
	if (c->op == CHANGE_MODIFIED && c->what == CHANGE_TIMES)
		buf_str(out, "only the times differ\n");
}

static int diff_content(int upper, int lower, const struct change *c, struct buf *out)
{
	struct diff_side a = {0}, b = {0};
	bool shows_a = c->op != CHANGE_ADDED &&
		       (S_ISREG(c->was.st_mode) || S_ISLNK(c->was.st_mode));
	bool shows_b = c->op != CHANGE_DELETED &&
		       (S_ISREG(c->now.st_mode) || S_ISLNK(c->now.st_mode));
	int r = 0;

	if (shows_a)
		r = diff_read(lower, c->path, &c->was, &a);
	if (r == 0 && shows_b)
		r = diff_read(upper, c->path, &c->now, &b);
	if (r == 0 && (textdiff_is_binary(a.data ? a.data : "", a.len) ||
		       textdiff_is_binary(b.data ? b.data : "", b.len)))
		r = -EILSEQ;
	if (r == -ENOMEM)
		goto out;
	if (r < 0 && (shows_a || shows_b)) {
		buf_printf(out, "Binary files differ: %lld bytes, then %lld bytes\n",
			   (long long)(shows_a ? c->was.st_size : 0),
			   (long long)(shows_b ? c->now.st_size : 0));
	} else if (a.len > 0 || b.len > 0) {
		if (shows_a)
			diff_path(out, "--- a/", c->path);
		else
			buf_str(out, "--- /dev/null");
		if (shows_b)
			diff_path(out, "\n+++ b/", c->path);
		else
			buf_str(out, "\n+++ /dev/null");
		buf_char(out, '\n');
		r = textdiff(a.data, a.len, b.data, b.len, out);
	}
out:
	free(a.data);
	free(b.data);
	return r == -ENOMEM ? r : 0;
}

static bool diff_has_content(const struct change *c)
{
	return !c->from && (c->op != CHANGE_MODIFIED || (c->what & (CHANGE_CONTENT | CHANGE_TYPE)));
}

/* A deleted file that is shown where it is now. */
static bool diff_is_moved(const struct changes *changes, const struct change *c)
{
	for (size_t i = 0; c->op == CHANGE_DELETED && i < changes->n; i++)
		if (changes->v[i].from && strcmp(changes->v[i].from, c->path) == 0)
			return true;
	return false;
}

static int diff_by_path(const void *a, const void *b)
{
	return strcmp((*(const struct change *const *)a)->path,
		      (*(const struct change *const *)b)->path);
}

int changes_diff_text(const struct cow *c, const struct changes *changes, struct buf *out,
		      struct cordon_error *err)
{
	AUTO_FREE const struct change **v = NULL;
	AUTO_CLOSE int lower = cow_open_workspace(c, err);
	AUTO_CLOSE int upper = lower < 0 ? lower : cow_open_files(c, err);
	size_t n = 0;
	int r = changes_sorted(changes, &v, &n);

	if (lower < 0 || upper < 0)
		return lower < 0 ? lower : upper;
	if (r == 0 && n > 0)
		qsort(v, n, sizeof(*v), diff_by_path);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (diff_is_moved(changes, v[i]))
			continue;
		diff_header(v[i], out);
		if (diff_has_content(v[i]))
			r = diff_content(upper, lower, v[i], out);
	}
	if (r == 0)
		r = buf_error(out);
	return r < 0 ? cordon_fail_leaf(err, r, "show the changes of '%s'", c->id) : 0;
}
