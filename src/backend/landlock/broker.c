/* SPDX-License-Identifier: Apache-2.0 */
/* See broker.h.  One table says where each call has its arguments. */
#include "backend/landlock/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NONE (-1)
#define BROKER_SHM "/dev/shm/"

struct broker_row {
	int nr;
	int64_t (*run)(const struct broker_call *c);
	/* the arguments: of directories (NONE: the working directory), paths, flags, mode */
	int8_t dir[2];
	int8_t path[2];
	int8_t flags;
	int8_t mode;
	int8_t more[2];
	int more_flags; /* that the call means by itself */
	enum seen_want want;
};

/* What a row without a path acts on: the descriptor in its directory. */
static const struct broker_row broker_rows[] = {
#ifdef SYS_open
	{SYS_open, broker_open, {NONE, NONE}, {0, NONE}, 1, 2, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_creat, broker_creat, {NONE, NONE}, {0, NONE}, NONE, 1, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_mkdir, broker_mkdir, {NONE, NONE}, {0, NONE}, NONE, 1, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_mknod, broker_mknod, {NONE, NONE}, {0, NONE}, NONE, 1, {2, NONE}, 0, SEEN_MAKE},
	{SYS_rmdir,
	 broker_unlink,
	 {NONE, NONE},
	 {0, NONE},
	 NONE,
	 NONE,
	 {NONE, NONE},
	 AT_REMOVEDIR,
	 SEEN_MAKE},
	{SYS_unlink, broker_unlink, {NONE, NONE}, {0, NONE}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_rename, broker_rename, {NONE, NONE}, {0, 1}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_link, broker_link, {NONE, NONE}, {0, 1}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_symlink, broker_symlink, {NONE, NONE}, {0, 1}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_chmod, broker_chmod, {NONE, NONE}, {0, NONE}, NONE, 1, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_chown, broker_chown, {NONE, NONE}, {0, NONE}, NONE, NONE, {1, 2}, 0, SEEN_WRITE},
	{SYS_lchown,
	 broker_chown,
	 {NONE, NONE},
	 {0, NONE},
	 NONE,
	 NONE,
	 {1, 2},
	 AT_SYMLINK_NOFOLLOW,
	 SEEN_WRITE},
	{SYS_utime, broker_times, {NONE, NONE}, {0, NONE}, NONE, NONE, {1, NONE}, 0, SEEN_WRITE},
	{SYS_utimes, broker_times, {NONE, NONE}, {0, NONE}, NONE, NONE, {1, NONE}, 0, SEEN_WRITE},
	{SYS_futimesat, broker_times, {0, NONE}, {1, NONE}, NONE, NONE, {2, NONE}, 0, SEEN_WRITE},
#endif
#ifdef SYS_renameat
	{SYS_renameat, broker_rename, {0, 2}, {1, 3}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
#endif
	{SYS_openat, broker_open, {0, NONE}, {1, NONE}, 2, 3, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_truncate,
	 broker_truncate,
	 {NONE, NONE},
	 {0, NONE},
	 NONE,
	 NONE,
	 {1, NONE},
	 0,
	 SEEN_WRITE},
	{SYS_mkdirat, broker_mkdir, {0, NONE}, {1, NONE}, NONE, 2, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_mknodat, broker_mknod, {0, NONE}, {1, NONE}, NONE, 2, {3, NONE}, 0, SEEN_MAKE},
	{SYS_unlinkat, broker_unlink, {0, NONE}, {1, NONE}, 2, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_renameat2, broker_rename, {0, 2}, {1, 3}, 4, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_linkat, broker_link, {0, 2}, {1, 3}, 4, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_symlinkat, broker_symlink, {NONE, 1}, {0, 2}, NONE, NONE, {NONE, NONE}, 0, SEEN_MAKE},
	{SYS_fchmod, broker_chmod, {0, NONE}, {NONE, NONE}, NONE, 1, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_fchmodat, broker_chmod, {0, NONE}, {1, NONE}, NONE, 2, {NONE, NONE}, 0, SEEN_WRITE},
	{452 /* fchmodat2 */, broker_chmod, {0, NONE}, {1, NONE}, 3, 2, {NONE, NONE}, 0, SEEN_WRITE},
	{SYS_fchown, broker_chown, {0, NONE}, {NONE, NONE}, NONE, NONE, {1, 2}, 0, SEEN_WRITE},
	{SYS_fchownat, broker_chown, {0, NONE}, {1, NONE}, 4, NONE, {2, 3}, 0, SEEN_WRITE},
	{SYS_connect, broker_connect, {0, NONE}, {NONE, NONE}, NONE, NONE, {1, 2}, 0, SEEN_LOOK},
	{SYS_inotify_add_watch,
	 broker_watch,
	 {NONE, NONE},
	 {1, NONE},
	 NONE,
	 NONE,
	 {0, 2},
	 0,
	 SEEN_READ},
	{SYS_utimensat, broker_times, {0, NONE}, {1, NONE}, 3, NONE, {2, NONE}, 0, SEEN_WRITE},
};

void broker_fd_path(int fd, char ret[static BROKER_FD_PATH_MAX])
{
	(void)snprintf(ret, BROKER_FD_PATH_MAX, "/proc/self/fd/%d", fd);
}

/* Names in the shared memory that all processes have are made in a directory of the call's own. */
static int broker_redirect(const struct broker *b, char path[static LIMIT_PATH_BYTES])
{
	const char *own = b->scope->shm;
	size_t skip = strlen(BROKER_SHM);
	size_t rest = strlen(path);

	if (!own || strncmp(path, BROKER_SHM, skip) != 0)
		return 0;
	rest -= skip - 1; /* with the slash */
	if (strlen(own) + rest >= LIMIT_PATH_BYTES)
		return -ENAMETOOLONG;
	memmove(path + strlen(own), path + skip - 1, rest + 1);
	memcpy(path, own, strlen(own));
	return 0;
}

int broker_find(const struct broker_call *c, unsigned which, bool follows, struct place *ret)
{
	char path[LIMIT_PATH_BYTES];
	int r;

	*ret = PLACE_NONE;
	r = notify_read_path(c->call, c->path[which], path);
	if (r < 0)
		return r;
	if (r == 0 && c->flags & AT_EMPTY_PATH)
		return place_of_fd(c->call, c->dirfd[which], ret);
	r = broker_redirect(c->broker, path);
	if (r < 0)
		return r;
	r = place_find(&c->broker->world, c->call, c->dirfd[which], path, follows, ret);
	if (c->broker->told >= 0)
		memcpy(c->broker->fact.path, ret->path, sizeof(ret->path));
	return r;
}

int broker_check(const struct broker_call *c, const struct place *p, enum scope_act act)
{
	const struct scope *s = c->broker->scope;
	bool is_kept =
		scope_is_guarded(s, p->path, act) ||
		(p->object >= 0 && scope_is_guarded_file(s, p->st.st_dev, p->st.st_ino, act));

	if (is_kept) /* of two paths the one that is to blame */
		memcpy(c->broker->fact.path, p->path, sizeof(p->path));
	return is_kept ? -EACCES : 0;
}

int broker_take_umask(const struct broker_call *c)
{
	int mask = notify_umask(c->call);

	if (mask < 0)
		return mask;
	(void)umask((mode_t)mask);
	return 0;
}

static int broker_arg_int(const struct notify_call *c, int8_t arg, int otherwise)
{
	return arg == NONE ? otherwise : (int)(uint32_t)c->data.args[arg];
}

/* What the filter refuses and only lets us know. */
static int64_t broker_refused(struct broker *b, const struct notify_call *n)
{
	uint32_t answer = b->quiet ? seccomp_evaluate(b->quiet, &n->data) : 0;

	b->fact.kind = SEEN_SYSCALL;
	b->fact.path[0] = '\0';
	if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && answer & SECCOMP_RET_DATA)
		return -(int64_t)(answer & SECCOMP_RET_DATA);
	return -ENOSYS; /* the filter and our table do not agree */
}

static int64_t broker_run(struct broker *b, const struct notify_call *n)
{
	for (size_t i = 0; i < ARRAY_LEN(broker_rows); i++) {
		const struct broker_row *row = &broker_rows[i];
		struct broker_call c = {.broker = b, .call = n};

		if (row->nr != n->data.nr)
			continue;
		for (unsigned k = 0; k < 2; k++) {
			c.dirfd[k] = broker_arg_int(n, row->dir[k], AT_FDCWD);
			c.path[k] = row->path[k] == NONE ? 0 : n->data.args[row->path[k]];
			c.more[k] = row->more[k] == NONE ? 0 : n->data.args[row->more[k]];
		}
		c.has_path = row->path[0] != NONE;
		c.flags = broker_arg_int(n, row->flags, 0) | row->more_flags;
		c.mode = (unsigned)broker_arg_int(n, row->mode, 0);
		b->fact.want = (uint8_t)row->want;
		if (row->run == broker_open && (c.flags & (O_ACCMODE | O_CREAT)) == O_RDONLY)
			b->fact.want = c.flags & O_PATH ? SEEN_LOOK : SEEN_READ;
		return row->run(&c);
	}
	return broker_refused(b, n);
}

static void broker_comm(const struct notify_call *c, char ret[static SEEN_COMM_MAX])
{
	char path[BROKER_FD_PATH_MAX];
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)c->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret, SEEN_COMM_MAX - 1);
	ret[n < 0 || !notify_is_waiting(c) ? 0 : n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* For the report: what was refused, and where the plan asks for it every path. */
static void broker_tell(struct broker *b, const struct notify_call *c, int64_t value)
{
	bool is_refused = value == -EACCES || value == -EPERM || value == -EXDEV;

	if (b->told < 0 || (b->fact.kind == SEEN_PATH && b->fact.path[0] != '/') ||
	    (b->fact.kind == SEEN_PATH && !is_refused && b->scope->plan->watch != PLAN_WATCH_PATHS))
		return;
	b->fact.is_refused = is_refused;
	b->fact.data = c->data;
	b->fact.pid = c->tid;
	broker_comm(c, b->fact.comm);
	told_send(b->told, &b->fact);
}

/* Takes what waits.  A call that was taken is no longer interrupted by signals (5.19), one that was not yet may
 * fail with EINTR in a program that does not expect it: so calls are taken before others are answered.  0, or
 * -errno. */
static int broker_take(struct broker *b, int listener, bool is_ready)
{
	int r = 1;

	/* poll() has said it: most calls come alone, and this is the shortest way to them. */
	if (is_ready && b->taken < ARRAY_LEN(b->calls)) {
		r = notify_take(listener, &b->calls[b->taken]);
		b->taken += r == 1;
		r = r < 0 ? r : 1;
	}
	while (r == 1 && b->taken < ARRAY_LEN(b->calls)) {
		r = notify_next(listener, &b->calls[b->taken]);
		if (r == 1)
			b->taken++;
	}
	return r < 0 ? r : 0;
}

int broker_answer(struct broker *b, int listener, bool is_ready)
{
	int r = broker_take(b, listener, is_ready);

	for (unsigned i = 0; i < NOTIFY_BATCH && b->taken > 0; i++) {
		struct notify_call call = b->calls[0];
		int64_t value;
		int e = 0;

		memmove(b->calls, b->calls + 1, --b->taken * sizeof(b->calls[0]));
		b->fact.kind = SEEN_PATH;
		b->fact.path[0] = '\0';
		value = broker_run(b, &call);
		broker_tell(b, &call, value);
		if (value != BROKER_ANSWERED)
			e = value < 0 ? notify_refuse(&call, (int)-value)
				      : notify_return(&call, value);
		if (e < 0)
			return e;
		if (r == 0 && b->taken > 0)
			r = broker_take(b, listener, /* is_ready= */ false);
	}
	return r == -EPIPE ? 1 : r;
}

void broker_reaped(struct broker *b, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(b->helpers); i++)
		if (b->helpers[i] == pid)
			b->helpers[i] = 0;
}
