/* SPDX-License-Identifier: Apache-2.0 */
/* See moved.h. */
#include "workspace/cow/moved.h"

#include "base/fd.h"
#include "base/path.h"
#include "workspace/cow/node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

void moved_begin(const struct cow *c, struct moved *m)
{
	m->since_ns = c->created_ns;
	walkmemo_read(c->fd, COW_DIRS, c->workspace, &m->dirs);
}

void moved_done(struct moved *m)
{
	while (m->n > 0)
		free(m->v[--m->n].path);
	walkmemo_done(&m->dirs);
}

/* The row of the directory base in the one of row. */
static size_t moved_row(const struct moved *m, size_t row, const char *base)
{
	for (size_t i = walkmemo_first(&m->dirs, row); i != WALKMEMO_NONE;
	     i = walkmemo_next(&m->dirs, row, i))
		if (strcmp(walkmemo_name(&m->dirs, i), base) == 0)
			return i;
	return WALKMEMO_NONE;
}

/* Is what is there now another one?  A name that is given to a directory changes its change time: what was exchanged
 * before that is not ours to tell. */
static int moved_look(const struct moved *m, const char *path, size_t row)
{
	AUTO_CLOSE int fd = path_open_beneath(m->workspace, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
					      0, RESOLVE_NO_SYMLINKS);
	uint64_t ino = row == WALKMEMO_NONE ? 0 : m->dirs.v[row].ino;
	int64_t since_ns = m->since_ns;
	struct stat st;

	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return 0; /* that is told of the paths in it */
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!m->noted(m->arg, path, &ino, &since_ns) && row == WALKMEMO_NONE)
		return 0; /* it was not there */
	return ino != st.st_ino && node_ns(&st.st_ctim) > since_ns;
}

static int moved_enter(struct moved *m, const char *path, size_t len)
{
	AUTO_FREE char *dir = strndup(path, len);
	size_t up = m->n > 0 ? m->v[m->n - 1].row : m->dirs.n > 0 ? 0 : WALKMEMO_NONE;
	size_t row;
	int r;

	if (!dir)
		return -ENOMEM;
	if (m->n == ARRAY_LEN(m->v))
		return -ENAMETOOLONG;
	row = moved_row(m, up, path_base(dir));
	r = moved_look(m, dir, row);
	if (r < 0)
		return r;
	m->v[m->n].is_moved = r || (m->n > 0 && m->v[m->n - 1].is_moved);
	m->v[m->n].row = row;
	m->v[m->n++].path = TAKE_PTR(dir);
	return 0;
}

int moved_is(struct moved *m, const char *path)
{
	size_t at;
	int r = 0;

	while (m->n > 0 && !(path_is_within(path, m->v[m->n - 1].path) &&
			     strcmp(path, m->v[m->n - 1].path) != 0))
		free(m->v[--m->n].path);
	at = m->n > 0 ? strlen(m->v[m->n - 1].path) : 0;
	while (r == 0) {
		const char *slash = strchr(path + at + (at > 0), '/');

		if (!slash)
			break;
		at = (size_t)(slash - path);
		r = moved_enter(m, path, at);
	}
	return r < 0 ? r : m->n > 0 && m->v[m->n - 1].is_moved;
}
