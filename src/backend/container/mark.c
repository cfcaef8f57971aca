/* SPDX-License-Identifier: Apache-2.0 */
/* See mark.h. */
#include "backend/container/mark.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int mark_look(const char *path, struct mark *ret)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	AUTO_CLOSE int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return 0;
}

int marks_add(struct marks *m, const char *source, const char *target)
{
	struct mark mark;
	void *v = m->v;
	int r = mark_look(source, &mark);

	if (r < 0)
		return r;
	if (mem_grow(&v, &m->cap, m->n + 1, sizeof(*m->v), LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	m->v = v;
	if (strv_add(&m->targets, target) < 0)
		return -ENOMEM;
	mark.target = m->targets.v[m->targets.n - 1];
	m->v[m->n++] = mark;
	return 0;
}

int mark_check(const struct mark *m)
{
	struct mark now;

	return mark_look(m->target, &now) == 0 && now.dev == m->dev && now.ino == m->ino ? 0
											 : -ESTALE;
}

void marks_done(struct marks *m)
{
	free(m->v);
	strv_done(&m->targets);
	*m = (struct marks){0};
}
