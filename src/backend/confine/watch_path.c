/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that a call names.  Whether it can have them is looked up in its own root, as it would find them;
 * what the plan says about the place where that ends decides.  What it finds is of no interest, except that the
 * grant was used.  What is not there, or only to be read, is written down; whether the host has it is asked
 * after the call.
 */
#include "backend/confine/watch.h"

#include "backend/reach.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_DIR (-1)
#define BY_FLAGS SEEN_WANT_COUNT       /* the next argument says */
#define NEW_NAME (SEEN_WANT_COUNT + 1) /* SEEN_MAKE of what is not there */

struct watch_row {
	int nr;
	int8_t dir; /* argument with the directory, NO_DIR for none */
	int8_t path;
	uint8_t want; /* enum seen_want, BY_FLAGS or NEW_NAME */
};

/* A call with two paths has two rows. */
static const struct watch_row watch_rows[] = {
#ifdef SYS_open
	{SYS_open, NO_DIR, 0, BY_FLAGS},    {SYS_creat, NO_DIR, 0, SEEN_WRITE},
	{SYS_stat, NO_DIR, 0, SEEN_LOOK},   {SYS_lstat, NO_DIR, 0, SEEN_LOOK},
	{SYS_access, NO_DIR, 0, SEEN_LOOK}, {SYS_readlink, NO_DIR, 0, SEEN_LOOK},
	{SYS_mkdir, NO_DIR, 0, NEW_NAME},   {SYS_rmdir, NO_DIR, 0, SEEN_MAKE},
	{SYS_unlink, NO_DIR, 0, SEEN_MAKE}, {SYS_rename, NO_DIR, 0, SEEN_MAKE},
	{SYS_rename, NO_DIR, 1, SEEN_MAKE}, {SYS_link, NO_DIR, 0, SEEN_READ},
	{SYS_link, NO_DIR, 1, NEW_NAME},    {SYS_symlink, NO_DIR, 1, NEW_NAME},
	{SYS_chmod, NO_DIR, 0, SEEN_WRITE}, {SYS_mknod, NO_DIR, 0, NEW_NAME},
#endif
	{SYS_openat, 0, 1, BY_FLAGS},       {SYS_newfstatat, 0, 1, SEEN_LOOK},
	{SYS_statx, 0, 1, SEEN_LOOK},       {SYS_faccessat, 0, 1, SEEN_LOOK},
	{SYS_faccessat2, 0, 1, SEEN_LOOK},  {SYS_readlinkat, 0, 1, SEEN_LOOK},
	{SYS_execve, NO_DIR, 0, SEEN_EXEC}, {SYS_execveat, 0, 1, SEEN_EXEC},
	{SYS_chdir, NO_DIR, 0, SEEN_LOOK},  {SYS_mkdirat, 0, 1, NEW_NAME},
	{SYS_unlinkat, 0, 1, SEEN_MAKE},
#ifdef SYS_renameat
	{SYS_renameat, 0, 1, SEEN_MAKE},    {SYS_renameat, 2, 3, SEEN_MAKE},
#endif
	{SYS_renameat2, 0, 1, SEEN_MAKE},   {SYS_renameat2, 2, 3, SEEN_MAKE},
	{SYS_linkat, 0, 1, SEEN_READ},      {SYS_linkat, 2, 3, NEW_NAME},
	{SYS_symlinkat, 1, 2, NEW_NAME},    {SYS_truncate, NO_DIR, 0, SEEN_WRITE},
	{SYS_fchmodat, 0, 1, SEEN_WRITE},   {SYS_mknodat, 0, 1, NEW_NAME},
};

/* Where a directory of the caller's is, as it would call it. */
static int watch_dir(const struct notify_call *c, int fd, char ret[static LIMIT_PATH_BYTES])
{
	char link[64];
	ssize_t n;

	if (fd == AT_FDCWD)
		(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)c->tid);
	else
		(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)c->tid, fd);
	n = readlink(link, ret, LIMIT_PATH_BYTES - 1);
	if (n <= 0 || ret[0] != '/' || !notify_is_waiting(c))
		return -ENOENT;
	ret[n] = '\0';
	return 0;
}

/* The absolute path that an argument names. */
static int watch_name(const struct notify_call *c, const struct watch_row *row, char **ret)
{
	char name[LIMIT_PATH_BYTES];
	char dir[LIMIT_PATH_BYTES];
	int r = notify_read_path(c, c->data.args[row->path], name);

	if (r < 0)
		return r;
	if (name[0] == '\0')
		return -ENOENT;
	if (name[0] == '/')
		return path_normalise(name, ret);
	r = watch_dir(c, row->dir == NO_DIR ? AT_FDCWD : (int)c->data.args[row->dir], dir);
	return r < 0 ? r : path_join(dir, name, ret);
}

/* The call's root.  chroot() is closed, so that all of its processes have the same. */
static int watch_root(struct watch *w, const struct notify_call *c)
{
	char path[64];

	if (w->root >= 0)
		return w->root;
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)c->tid);
	w->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->root >= 0 && !notify_is_waiting(c))
		w->root = fd_close(w->root);
	return w->root;
}

/* What the plan says about the place where the path ends inside.  False: there is nothing. */
static bool watch_lookup(const struct watch *w, const char *path, enum reach *ret,
			 const struct plan_op **ret_op)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char link[64];
	char real[LIMIT_PATH_BYTES];
	AUTO_CLOSE int fd = (int)syscall(SYS_openat2, w->root, path, &how, sizeof(how));
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	if (n <= 0)
		return false;
	real[n] = '\0';
	*ret = reach_of(w->plan, real, ret_op);
	/* As root, of such a directory only what everybody may read is open. */
	if (*ret == REACH_READ && (*ret_op)->is_public_only && fstat(fd, &st) == 0 &&
	    !(st.st_mode & S_IROTH) && strcmp((*ret_op)->path, real) != 0)
		*ret = REACH_DENIED;
	return true;
}

static bool watch_can(enum reach reach, enum seen_want want)
{
	if (reach == REACH_WRITE || reach == REACH_PRIVATE)
		return true;
	return !seen_is_write(want) && (reach == REACH_READ || reach == REACH_PROTECTED);
}

/* Can it be made, where it is not?  The directory decides. */
static bool watch_can_make(const struct watch *w, const char *path)
{
	char dir[LIMIT_PATH_BYTES];
	size_t len = (size_t)(path_base(path) - path);
	const struct plan_op *op;
	enum reach reach;

	memcpy(dir, path, len);
	dir[len > 1 ? len - 1 : len] = '\0';
	return watch_lookup(w, dir, &reach, &op) && watch_can(reach, SEEN_WRITE);
}

/* Where a link of the host's leads that leads to nothing inside; NULL when it is none. */
static char *watch_link(const struct watch *w, const char *path)
{
	const struct plan_op *op;
	char *real = NULL;
	enum reach reach;

	if (path_resolve(path, &real) < 0)
		return NULL;
	reach = reach_of(w->plan, real, &op);
	if (strcmp(real, path) != 0 && !watch_can(reach, SEEN_READ))
		return real;
	free(real);
	return NULL;
}

static void watch_path(struct watch *w, const struct notify_call *c, const char *path,
		       enum seen_want want, bool is_new)
{
	struct seen_event fact = {.kind = SEEN_PATH, .want = want};
	AUTO_FREE char *real = NULL;
	const struct plan_op *op;
	enum reach reach;

	if (watch_lookup(w, path, &reach, &op)) {
		bool is_grant = op &&
				(op->kind == PLAN_OP_BIND_RO || plan_op_is_writable(op->kind));

		/* `mkdir -p` asks for every directory above.  What is there could not be made on the
		 * host either, unless it is a placeholder. */
		if (is_new && reach != REACH_PROTECTED)
			return;
		if (!watch_can(reach, want) || (want == SEEN_EXEC && op && op->is_noexec)) {
			watch_note(w, c, &fact, path);
		} else if (is_grant) {
			fact.kind = SEEN_USED;
			watch_note(w, c, &fact, op->path);
		}
		return;
	}
	reach = reach_of(w->plan, path, &op);
	if (seen_is_write(want) && watch_can_make(w, path)) {
		fact.kind = SEEN_USED;
		if (op && plan_op_is_writable(op->kind))
			watch_note(w, c, &fact, op->path);
	} else if (seen_is_write(want) || reach == REACH_NONE || reach == REACH_PRIVATE ||
		   reach == REACH_DENIED) {
		watch_note(w, c, &fact, path);
	} else if ((real = watch_link(w, path))) {
		watch_note(w, c, &fact, real);
	}
	/* else the host does not have it either */
}

void watch_paths(struct watch *w, const struct notify_call *c)
{
	if (watch_root(w, c) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(watch_rows); i++) {
		const struct watch_row *row = &watch_rows[i];
		AUTO_FREE char *path = NULL;
		enum seen_want want = row->want == NEW_NAME ? SEEN_MAKE : (enum seen_want)row->want;

		if (row->nr != c->data.nr || watch_name(c, row, &path) < 0)
			continue;
		if (row->want == BY_FLAGS) {
			uint64_t flags = c->data.args[row->path + 1];

			want = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC)
				       ? SEEN_WRITE
				       : SEEN_READ;
		}
		watch_path(w, c, path, want, row->want == NEW_NAME);
	}
}
