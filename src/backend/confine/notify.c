/* SPDX-License-Identifier: Apache-2.0 */
/* See notify.h. */
#include "backend/confine/notify.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/proc.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than the headers of Debian 12 (Linux 6.1). */
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define NOTIFY_PAGE 4096u  /* no larger than any page: a read that stays in one faults as a whole */
#define NOTIFY_PROC_MAX 64 /* "/proc/TID/fd/N" */
#define NOTIFY_STATUS_MAX 4096 /* of /proc/TID/status, in which Tgid and Umask come early */

int notify_install(const struct seccomp_program *p)
{
	/* the kernel only reads it; its struct has no const */
	union {
		const struct sock_filter *in;
		struct sock_filter *out;
	} insns = {.in = p->insns};
	struct sock_fprog program = {.len = p->len, .filter = insns.out};
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd;

	if (shield_is_off(SHIELD_SECCOMP) || shield_is_off(SHIELD_LISTENER))
		return -EBUSY; /* as if there were one already: then seccomp_install() is asked */
	/* as in seccomp_install(): also for root */
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return -EPERM;
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			     &program);
	return fd < 0 ? -errno : (int)fd;
}

union notify_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int notify_send_fd(int channel, int fd)
{
	union notify_control control = {0};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&m);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	while (sendmsg(channel, &m, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Exactly one descriptor; what else may have come is closed. */
static int notify_take_fd(struct msghdr *m)
{
	int fd = -1;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(h) + i * sizeof(int), sizeof(got));
			if (fd < 0)
				fd = got;
			else
				(void)fd_close(got);
		}
	}
	return fd < 0 ? -EPROTO : fd;
}

int notify_receive_fd(int channel, int64_t deadline_ms)
{
	for (;;) {
		union notify_control control = {0};
		char byte;
		struct iovec iov = {&byte, 1};
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control.bytes,
				   .msg_controllen = sizeof(control.bytes)};
		struct pollfd p = {.fd = channel, .events = POLLIN};
		int r = poll(&p, 1, clock_poll_timeout(deadline_ms));
		ssize_t n;

		if (r == 0)
			return -ETIMEDOUT;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r < 0)
			continue;
		n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (n == 0)
			return -EPIPE;
		if (n > 0)
			return notify_take_fd(&m);
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

void notify_setup(int listener)
{
	/* EINVAL: an older kernel, which is slower and otherwise the same */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

int notify_take(int listener, struct notify_call *ret)
{
	/* The kernel's struct may have grown since our headers. */
	union {
		struct seccomp_notif notif;
		char room[512];
	} u = {0};

	/* Does not sleep: a count was left for each call that poll() saw, also for one that has gone. */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &u.notif) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -errno;
	*ret = (struct notify_call){.listener = listener,
				    .id = u.notif.id,
				    .tid = (pid_t)u.notif.pid,
				    .data = u.notif.data};
	return 1;
}

int notify_next(int listener, struct notify_call *ret)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};

	if (poll(&p, 1, 0) < 0)
		return errno == EINTR ? 0 : -errno;
	if (!(p.revents & POLLIN))
		return p.revents & (POLLHUP | POLLERR | POLLNVAL) ? -EPIPE : 0;
	return notify_take(listener, ret);
}

bool notify_is_waiting(const struct notify_call *c)
{
	return ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &c->id) == 0;
}

static int notify_answer(const struct notify_call *c, int64_t value, int error, unsigned flags)
{
	/* Zeroed and larger than ours, for the same reason as in notify_next(). */
	union {
		struct seccomp_notif_resp resp;
		char room[512];
	} u = {0};

	u.resp.id = c->id;
	u.resp.val = value;
	u.resp.error = -error;
	u.resp.flags = flags;
	while (ioctl(c->listener, SECCOMP_IOCTL_NOTIF_SEND, &u.resp) < 0) {
		if (errno == EINTR)
			continue;
		return errno == ENOENT ? 0 : -errno;
	}
	return 0;
}

int notify_return(const struct notify_call *c, int64_t value)
{
	return notify_answer(c, value, /* error= */ 0, /* flags= */ 0);
}

int notify_refuse(const struct notify_call *c, int error)
{
	/* Zero would tell the caller that it was done. */
	return notify_answer(c, /* value= */ 0, error > 0 ? error : EPERM, /* flags= */ 0);
}

int notify_continue(const struct notify_call *c)
{
	return notify_answer(c, /* value= */ 0, /* error= */ 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int notify_give_fd(const struct notify_call *c, int fd, bool is_cloexec)
{
	struct seccomp_notif_addfd add = {
		.id = c->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (unsigned)fd,
		.newfd_flags = is_cloexec ? O_CLOEXEC : 0,
	};

	while (ioctl(c->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0) {
		int error = errno;

		if (error == EINTR)
			continue;
		if (error == ENOENT)
			return 0;
		/* Its table is full, or the like: the caller's own trouble. */
		return notify_refuse(c, error);
	}
	return 0;
}

/* In pieces that do not cross a page: a piece is read as a whole or not at all.  Returns what was read. */
static ssize_t notify_peek(pid_t tid, uint64_t address, char *dst, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t piece = NOTIFY_PAGE - (size_t)((address + done) % NOTIFY_PAGE);
		struct iovec local = {dst + done, piece < len - done ? piece : len - done};
		struct iovec remote = {.iov_len = local.iov_len};
		uint64_t from = address + done;
		ssize_t n;

		memcpy(&remote.iov_base, &from, sizeof(from)); /* an address over there */
		n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
		if (n < 0 && done == 0)
			return -errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int notify_gone(int r)
{
	return r == -ESRCH ? -ENOENT : r;
}

int notify_read(const struct notify_call *c, uint64_t address, void *dst, size_t len)
{
	ssize_t n = notify_peek(c->tid, address, dst, len);

	if (!notify_is_waiting(c))
		return -ENOENT;
	if (n < 0)
		return notify_gone((int)n);
	return (size_t)n == len ? 0 : -EFAULT;
}

int notify_read_string(const struct notify_call *c, uint64_t address, char *dst, size_t size)
{
	size_t len = 0;
	const char *end = NULL;

	while (!end && len < size) {
		size_t piece = NOTIFY_PAGE - (size_t)((address + len) % NOTIFY_PAGE);
		ssize_t n;

		if (piece > size - len)
			piece = size - len;
		n = notify_peek(c->tid, address + len, dst + len, piece);
		if (!notify_is_waiting(c))
			return -ENOENT;
		if (n < 0)
			return notify_gone((int)n);
		if (n == 0)
			return -EFAULT;
		end = memchr(dst + len, '\0', (size_t)n);
		len += (size_t)n;
	}
	return end ? (int)(end - dst) : -ENAMETOOLONG;
}

int notify_read_path(const struct notify_call *c, uint64_t address,
		     char ret[static LIMIT_PATH_BYTES])
{
	return notify_read_string(c, address, ret, LIMIT_PATH_BYTES);
}

int notify_open_fd(const struct notify_call *c, int fd)
{
	char path[NOTIFY_PROC_MAX];
	int opened;
	int r;

	if (fd == AT_FDCWD)
		(void)snprintf(path, sizeof(path), "/proc/%d/cwd", (int)c->tid);
	else if (fd >= 0)
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)c->tid, fd);
	else
		return -EBADF;
	opened = open(path, O_PATH | O_CLOEXEC);
	r = opened < 0 ? -errno : opened;
	if (!notify_is_waiting(c)) {
		(void)fd_close(opened);
		return -ENOENT;
	}
	return r == -ENOENT ? -EBADF : r;
}

/* The number behind "Name:" in /proc/TID/status. */
static int notify_status(const struct notify_call *c, const char *name, int base, int64_t *ret)
{
	char path[NOTIFY_PROC_MAX];
	char text[NOTIFY_STATUS_MAX];
	AUTO_CLOSE int fd = -1;
	const char *line;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)c->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (!notify_is_waiting(c))
		return -ENOENT;
	if (n < 0)
		return -EACCES;
	text[n] = '\0';
	/* The first line has the command's name, which is the caller's to choose: no newline in it passes. */
	line = strstr(text, name);
	if (!line)
		return -EINVAL;
	line += strlen(name);
	line += strspn(line, "\t ");
	*ret = 0;
	for (; *line >= '0' && *line < '0' + base && *ret < INT32_MAX / base; line++)
		*ret = *ret * base + (*line - '0');
	return *line == '\n' ? 0 : -EINVAL;
}

int notify_umask(const struct notify_call *c)
{
	int64_t mask;
	int r = notify_status(c, "\nUmask:", /* base= */ 8, &mask);

	return r < 0 ? r : (int)(mask & 0777);
}

pid_t notify_process(const struct notify_call *c)
{
	int64_t pid;
	int r = notify_status(c, "\nTgid:", /* base= */ 10, &pid);

	return r < 0 ? r : (pid_t)pid;
}

/* Is the file of ours the one that the calling thread has under the number?  A thread can have a table of its own. */
static bool notify_is_same(const struct notify_call *c, int fd, int ours)
{
	AUTO_CLOSE int theirs = notify_open_fd(c, fd);
	struct stat a;
	struct stat b;

	return theirs >= 0 && fstat(theirs, &a) == 0 && fstat(ours, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int notify_grab_fd(const struct notify_call *c, int fd)
{
	AUTO_CLOSE int taken = -1;
	/* PIDFD_THREAD (6.9): the calling thread's own table; before it there is only that of the process. */
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, c->tid, O_EXCL);
	bool is_thread = pidfd >= 0;

	if (!is_thread) {
		pid_t process = notify_process(c);

		if (process < 0)
			return process;
		pidfd = (int)syscall(SYS_pidfd_open, process, 0);
	}
	taken = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (taken < 0) {
		int r = -errno;

		return notify_is_waiting(c) ? notify_gone(r) : -ENOENT;
	}
	if (!is_thread && !notify_is_same(c, fd, taken))
		return -EBADF;
	return notify_is_waiting(c) ? TAKE_FD(taken) : -ENOENT;
}

bool notify_is_possible(void)
{
	struct proc proc;
	siginfo_t end = {0};
	int r = proc_clone(0, &proc);

	if (r == 0) {
		struct seccomp_program any = {
			.len = 1,
			.insns = {{.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW}},
		};

		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || notify_install(&any) < 0);
	}
	if (r < 0)
		return false;
	while (waitid(P_PIDFD, (id_t)proc.pidfd, &end, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(&proc);
	return end.si_code == CLD_EXITED && end.si_status == 0;
}
