/* SPDX-License-Identifier: Apache-2.0 */
/* Making, moving and removing names on behalf, in the directories that were checked. */
#include "backend/landlock/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_SET_ID ((unsigned)(S_ISUID | S_ISGID))

/* A new name that may be made.  wants_dir is allowed for directories only. */
static int name_new(const struct broker_call *c, unsigned which, bool is_dir, struct place *p)
{
	int r = broker_find(c, which, /* follows= */ false, p);

	if (r < 0)
		return r;
	if (p->object >= 0)
		return -EEXIST;
	if (p->wants_dir && !is_dir)
		return -ENOENT;
	return broker_check(c, p, SCOPE_CHANGE);
}

int64_t broker_mkdir(const struct broker_call *c)
{
	AUTO(place_done) struct place p;
	int r = name_new(c, 0, /* is_dir= */ true, &p);

	if (r == 0)
		r = broker_take_umask(c);
	if (r < 0)
		return r;
	return mkdirat(p.parent, p.name, c->mode) < 0 ? -errno : 0;
}

int64_t broker_mknod(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	unsigned type = c->mode & S_IFMT;
	int r;

	if (c->mode & NAME_SET_ID ||
	    (type != 0 && type != S_IFREG && type != S_IFIFO && type != S_IFSOCK))
		return -EPERM;
	r = name_new(c, 0, /* is_dir= */ false, &p);
	if (r == 0)
		r = broker_take_umask(c);
	if (r < 0)
		return r;
	return mknodat(p.parent, p.name, c->mode, 0) < 0 ? -errno : 0;
}

int64_t broker_symlink(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	char text[LIMIT_PATH_BYTES];
	int r = notify_read_path(c->call, c->path[0], text);

	if (r >= 0)
		r = name_new(c, 1, /* is_dir= */ false, &p);
	/* A link where a guarded path begins would lead it elsewhere. */
	if (r == 0)
		r = broker_check(c, &p, SCOPE_MOVE);
	if (r < 0)
		return r;
	return symlinkat(text, p.parent, p.name) < 0 ? -errno : 0;
}

int64_t broker_unlink(const struct broker_call *c)
{
	AUTO(place_done) struct place p = PLACE_NONE;
	int r;

	if (c->flags & ~AT_REMOVEDIR)
		return -EINVAL;
	r = broker_find(c, 0, /* follows= */ false, &p);
	if (r < 0)
		return r;
	if (p.object < 0)
		return -ENOENT;
	if (p.parent < 0) /* ".", "..", "/" */
		return c->flags & AT_REMOVEDIR ? -EINVAL : -EISDIR;
	/* A directory that can be removed is empty: nothing that is kept goes with it. */
	r = broker_check(c, &p, c->flags & AT_REMOVEDIR ? SCOPE_REMOVE : SCOPE_MOVE);
	if (r < 0)
		return r;
	return unlinkat(p.parent, p.name, c->flags) < 0 ? -errno : 0;
}

/* Both ends: neither may be kept, nor have something kept below it. */
static int name_rename_check(const struct broker_call *c, const struct place *from,
			     const struct place *to)
{
	int r;

	if (from->object < 0)
		return -ENOENT;
	if (from->parent < 0 || to->parent < 0)
		return -EBUSY;
	if (to->wants_dir && !S_ISDIR(from->st.st_mode))
		return -ENOTDIR;
	r = broker_check(c, from, SCOPE_MOVE);
	return r < 0 ? r : broker_check(c, to, SCOPE_MOVE);
}

int64_t broker_rename(const struct broker_call *c)
{
	AUTO(place_done) struct place from = PLACE_NONE;
	AUTO(place_done) struct place to = PLACE_NONE;
	struct broker_call own = *c;
	int r;

	if ((unsigned)c->flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	own.flags = 0;
	r = broker_find(&own, 0, /* follows= */ false, &from);
	if (r == 0)
		r = broker_find(&own, 1, /* follows= */ false, &to);
	if (r == 0)
		r = name_rename_check(c, &from, &to);
	if (r < 0)
		return r;
	return renameat2(from.parent, from.name, to.parent, to.name, (unsigned)c->flags) < 0
		       ? -errno
		       : 0;
}

int64_t broker_link(const struct broker_call *c)
{
	AUTO(place_done) struct place from = PLACE_NONE;
	AUTO(place_done) struct place to = PLACE_NONE;
	struct broker_call own = *c;
	char path[BROKER_FD_PATH_MAX];
	int r;

	if (c->flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = broker_find(c, 0, c->flags & AT_SYMLINK_FOLLOW, &from);
	own.flags = 0;
	if (r == 0 && from.object < 0)
		r = -ENOENT;
	/* A second name of what may only be read would be a way to change it. */
	if (r == 0)
		r = broker_check(c, &from, SCOPE_CHANGE);
	if (r == 0)
		r = name_new(&own, 1, /* is_dir= */ false, &to);
	if (r < 0)
		return r;
	if (from.parent >= 0)
		r = linkat(from.parent, from.name, to.parent, to.name, 0);
	else {
		broker_fd_path(from.object, path);
		r = linkat(AT_FDCWD, path, to.parent, to.name, AT_SYMLINK_FOLLOW);
	}
	return r < 0 ? -errno : 0;
}
