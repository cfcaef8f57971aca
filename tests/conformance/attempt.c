/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single attempts that no ordinary program makes: `attempt NAME [ARG]` exits 0 when the attempt got through,
 * 1 when it was refused (errno on standard error), 2 for a wrong call, 3 when nobody refused it but the
 * kernel does not have such a thing.
 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *argument;

int number(void)
{
	int n = 0;

	for (const char *p = argument; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (*p - '0');
	return n;
}

static int connect_inet(int type)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)number()),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type, 0);

	struct pollfd p = {.events = POLLIN | POLLRDHUP};

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    send(fd, "x", 1, MSG_NOSIGNAL) != 1)
		return -1;
	/* The host's listener says nothing and does not hang up; whoever does is not the one. */
	p.fd = fd;
	return poll(&p, 1, 2000) == 0 ? 0 : -1;
}

static int do_tcp(void)
{
	return connect_inet(SOCK_STREAM);
}

/* A port on which nobody listens answers the first datagram, so the second cannot be sent. */
static int do_udp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)number()),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (send(fd, "x", 1, 0) != 1)
			return -1;
	return 0;
}

static int do_raw(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) < 0 ? -1 : 0;
}

static int do_alg(void)
{
	return socket(AF_ALG, SOCK_SEQPACKET, 0) < 0 ? -1 : 0;
}

static int do_vsock(void)
{
	return socket(AF_VSOCK, SOCK_STREAM, 0) < 0 ? -1 : 0;
}

static int do_packet(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) < 0 ? -1 : 0;
}

static int do_audit(void)
{
	return socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT) < 0 ? -1 : 0;
}

static int do_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, number()) < 0 ? -1 : 0;
}

static int connect_unix(const char *name, size_t len)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || len > sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, name, len);
	return connect(fd, (struct sockaddr *)&a,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

static int do_unix(void)
{
	return connect_unix(argument, strlen(argument) + 1);
}

static int do_abstract(void)
{
	char name[64] = "";

	(void)snprintf(name + 1, sizeof(name) - 1, "%s", argument);
	return connect_unix(name, strlen(argument) + 1);
}

static int do_kill(void)
{
	return kill(number(), 0);
}

static int do_ptrace(void)
{
	return (int)ptrace(PTRACE_ATTACH, number(), NULL, NULL);
}

static int do_ptrace_child(void)
{
	pid_t pid = fork();
	long r;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	r = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	(void)kill(pid, SIGKILL);
	return (int)r;
}

static int do_vm_read(void)
{
	char a[8], b[8] = "x";
	struct iovec local = {a, sizeof(a)}, remote = {b, sizeof(b)};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 ? -1 : 0;
}

static int do_userns(void)
{
	return unshare(CLONE_NEWUSER);
}

static int do_clone3(void)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : 0;
}

static int do_io_uring(void)
{
	char params[256] = {0};

	return syscall(425 /* io_uring_setup */, 4, params) < 0 ? -1 : 0;
}

static int do_keyctl(void)
{
	return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 1) < 0 ? -1 : 0;
}

static int do_userfaultfd(void)
{
	return syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */) < 0 ? -1 : 0;
}

static int do_personality(void)
{
	return syscall(SYS_personality, 0x0400000 /* READ_IMPLIES_EXEC */) < 0 ? -1 : 0;
}

static int do_tiocsti(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int slave;
	pid_t pid;
	int status;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -1;
	/* On a terminal of our own: what is asked is whether the call gets as far as the kernel's own setting
	 * (EIO: dev.tty.legacy_tiocsti is off). */
	pid = fork();
	if (pid == 0) {
		if (setsid() < 0 || (slave = open(ptsname(master), O_RDWR)) < 0)
			_exit(1);
		_exit(ioctl(slave, TIOCSTI, "x") < 0 && errno != EIO);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	errno = EPERM;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int do_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[2];

	/* Any now, or one that could come back by executing a file. */
	if (syscall(SYS_capget, &header, have) < 0)
		return -1;
	if (have[0].permitted || have[1].permitted || have[0].inheritable || have[1].inheritable)
		return 0;
	return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) == 1 &&
			       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0
		       ? 0
		       : -1;
}

/* A capability that is there, or that execve() of a file could still give. */
static int do_gains(void)
{
	struct {
		uint32_t version;
		int pid;
	} header = {0x20080522, 0};
	uint32_t sets[2][3] = {{0}, {0}};

	if (syscall(SYS_capget, &header, sets) < 0)
		return -1;
	if (sets[0][0] | sets[0][1] | sets[0][2] | sets[1][0] | sets[1][1] | sets[1][2])
		return 0;
	return prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */) == 1 &&
			       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1
		       ? 0
		       : -1;
}

static int do_openat2_suid(void)
{
	/* struct open_how */
	uint64_t how[3] = {O_CREAT | O_WRONLY | O_EXCL, 06755, 0};

	return syscall(437 /* openat2 */, AT_FDCWD, argument, how, sizeof(how)) < 0 ? -1 : 0;
}

static int do_leaked_fd(void)
{
	return fcntl(number(), F_GETFD) < 0 ? -1 : 0;
}

/* With "file", which every workspace has. */
static int do_exchange(void)
{
	return renameat2(AT_FDCWD, "file", AT_FDCWD, argument, RENAME_EXCHANGE);
}

static int do_loopback(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || c < 0 || bind(s, (struct sockaddr *)&a, len) < 0 || listen(s, 1) < 0 ||
	    getsockname(s, (struct sockaddr *)&a, &len) < 0)
		return -1;
	return connect(c, (struct sockaddr *)&a, len);
}

static int do_mount(void)
{
	return mount("none", argument, "tmpfs", 0, NULL);
}

static int do_umount(void)
{
	return umount2(argument, MNT_DETACH);
}

static int do_remount(void)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, argument, 0, &attr, sizeof(attr));
}

static int do_fsopen(void)
{
	return syscall(SYS_fsopen, "tmpfs", 0) < 0 ? -1 : 0;
}

static int do_open_tree(void)
{
	return syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE) < 0 ? -1 : 0;
}

static int do_chroot(void)
{
	return chroot(".");
}

static int do_setns(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY);

	return fd < 0 ? -1 : setns(fd, CLONE_NEWUTS);
}

static int do_sethostname(void)
{
	return sethostname("x", 1);
}

static int do_kcmp(void)
{
	return syscall(SYS_kcmp, getpid(), getpid(), 1 /* KCMP_VM */, 0, 0) < 0 ? -1 : 0;
}

static int do_pidfd_getfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return fd < 0 || syscall(438 /* pidfd_getfd */, fd, 0, 0) < 0 ? -1 : 0;
}

static int do_move_pages(void)
{
	return syscall(SYS_move_pages, 0, 0UL, NULL, NULL, NULL, 0) < 0 ? -1 : 0;
}

static int do_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_TASK_CLOCK,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 ? -1 : 0;
}

static int do_add_key(void)
{
	return syscall(SYS_add_key, "user", "cordon-test", "x", 1, -2 /* of this process */) < 0
		       ? -1
		       : 0;
}

static int do_request_key(void)
{
	/* Without a helper: what is not there is ENOKEY. */
	return syscall(SYS_request_key, "user", "cordon-test", NULL, 0) < 0 && errno != ENOKEY ? -1
											       : 0;
}

static int do_modify_ldt(void)
{
	char room[64];

	return syscall(SYS_modify_ldt, 0, room, sizeof(room)) < 0 ? -1 : 0;
}

/* 0 when request got as far as the kernel, which knows it on no pseudo terminal. */
static int terminal_ioctl(unsigned long request, const void *arg)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
	    (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0)
		return -1;
	return ioctl(slave, request, arg) < 0 && errno != ENOTTY && errno != EINVAL ? -1 : 0;
}

static int do_tioclinux(void)
{
	return terminal_ioctl(TIOCLINUX, "\2");
}

static int do_tiocsetd(void)
{
	static const int discipline; /* N_TTY: what it has already */

	return terminal_ioctl(TIOCSETD, &discipline);
}

static int do_ioctl(void)
{
	int fd = open(argument, O_RDONLY);

	return fd < 0 || (ioctl(fd, 0x1234) < 0 && errno != ENOTTY && errno != EINVAL) ? -1 : 0;
}

/* By path: who opens the file first needs the right to write it. */
static int do_truncate(void)
{
	return truncate(argument, 0);
}

static int do_dgram_pair(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
}

static unsigned long namespace_flag(void)
{
	static const struct {
		const char *name;
		unsigned long flag;
	} flags[] = {
		{"newns", CLONE_NEWNS},         {"newuts", CLONE_NEWUTS}, {"newipc", CLONE_NEWIPC},
		{"newuser", CLONE_NEWUSER},     {"newpid", CLONE_NEWPID}, {"newnet", CLONE_NEWNET},
		{"newcgroup", CLONE_NEWCGROUP}, {"newtime", 0x80},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i].name, argument) == 0)
			return flags[i].flag;
	_exit(2);
}

static int do_unshare(void)
{
	return unshare((int)namespace_flag());
}

static int do_clone(void)
{
	long pid = syscall(SYS_clone, namespace_flag() | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : 0;
}

/* Runs call() in a child: 0 when it lived, whatever the kernel answered. */
static int survives(void (*call)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		call();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	/* Without 32-bit emulation the instruction itself is a fault. */
	errno = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? ENOSYS : EPERM;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void call_x32(void)
{
	(void)syscall(0x40000000 | SYS_getpid);
}

static void call_int80(void)
{
#ifdef __x86_64__
	long nr = 20; /* getpid of i386 */

	__asm__ volatile("int $0x80" : "+a"(nr) : : "memory", "cc");
#else
	raise(SIGSEGV);
#endif
}

static int do_x32(void)
{
	return survives(call_x32);
}

static int do_int80(void)
{
	return survives(call_int80);
}

static int do_euid(void)
{
	return geteuid() == (uid_t)number() ? 0 : -1;
}

static int do_shm_make(void)
{
	return shmget(number(), 4096, IPC_CREAT | 0600) < 0 ? -1 : 0;
}

static int do_shm_find(void)
{
	return shmget(number(), 0, 0) < 0 ? -1 : 0;
}

static int do_shm_remove(void)
{
	return shmctl(shmget(number(), 0, 0), IPC_RMID, NULL);
}

static int do_session(void)
{
	return getsid(0) == number() ? 0 : -1;
}

/* Opens a path that another process changes all the time from a harmless name to the argument: what looks at it
 * before the kernel does must not be fooled.  0 when the argument is there in the end. */
static int do_race_path(void)
{
	enum { SECONDS = 1, ROOM = 64 };
	time_t end = time(NULL) + SECONDS + 1;
	char *path = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char names[2][ROOM] = {"harmless"};
	pid_t pid;

	if (path == MAP_FAILED || strlen(argument) >= ROOM)
		return -1;
	(void)snprintf(names[1], ROOM, "%s", argument);
	memcpy(path, names[0], ROOM);
	pid = fork();
	if (pid == 0)
		for (unsigned i = 0;; i++)
			memcpy(path, names[i % 2], ROOM);
	while (time(NULL) < end) {
		int fd = open(path, O_WRONLY | O_CREAT, 0600);

		if (fd >= 0)
			(void)close(fd);
	}
	(void)kill(pid, SIGKILL);
	return access(argument, W_OK);
}

/* Runs until it is killed. */
static int do_swap(void)
{
	char other[4096];

	(void)snprintf(other, sizeof(other), "%s.other", argument);
	/* Now quick, now slow: a call takes some milliseconds to start. */
	for (unsigned i = 0; renameat2(AT_FDCWD, argument, AT_FDCWD, other, RENAME_EXCHANGE) == 0;
	     i++)
		(void)usleep(i % 64 < 32 ? 0 : i % 64 * 50);
	return -1;
}

/* Makes the limit of core files 0, by every call that there is for it.  With 1 the kernel starts no core handler of the
 * machine's (core_pattern with a pipe), which would be root's and outside; with any other it does. */
static int do_core(void)
{
	struct rlimit none = {0, 0}, old;

	(void)syscall(SYS_setrlimit, RLIMIT_CORE, &none);
	(void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
	(void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, &old);
	(void)syscall(SYS_prlimit64, getpid(), RLIMIT_CORE | (1L << 32), &none, NULL);
	if (getrlimit(RLIMIT_CORE, &old) < 0)
		return -1;
	errno = EPERM;
	return old.rlim_cur == 1 && old.rlim_max == 1 ? -1 : 0;
}

/* A signal to a process by way of a descriptor that it is made the owner of.  Whether it arrives is for others to see. */
static int do_owner(void)
{
	enum { HOLD_MS = 100 };
	struct timespec hold = {.tv_nsec = HOLD_MS * 1000000L};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
	    fcntl(pair[0], F_SETOWN, number()) < 0 || fcntl(pair[0], F_SETSIG, SIGKILL) < 0 ||
	    fcntl(pair[0], F_SETFL, O_ASYNC) < 0 || write(pair[1], "x", 1) != 1)
		return -1;
	return nanosleep(&hold, NULL);
}

static int do_fds(void)
{
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 0;
	errno = EBADF;
	return -1;
}

static int do_fastopen(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)number()),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	return sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&a, sizeof(a)) ==
			       1
		       ? 0
		       : -1;
}

static int do_mptcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)number()),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);

	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&a, sizeof(a));
}

static int do_bound(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	a.sin_port = htons((uint16_t)number());
	return connect(fd, (struct sockaddr *)&a, sizeof(a));
}

/* Whoever wants to open the file waits for us, up to a minute. */
static int do_lease(void)
{
	int fd = open(argument, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : fcntl(fd, F_SETLEASE, F_RDLCK);
}

static int do_dnotify(void)
{
	int fd = open(argument, O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	return fd < 0 ? -1 : fcntl(fd, F_NOTIFY, DN_CREATE | DN_MULTISHOT);
}

static int do_watch(void)
{
	return inotify_add_watch(inotify_init1(IN_CLOEXEC), argument, IN_ALL_EVENTS) < 0 ? -1 : 0;
}

int do_fanotify(void)
{
	int fd = (int)syscall(SYS_fanotify_init, 0x200 /* FAN_REPORT_FID */ | 1, O_RDONLY);

	return fd < 0 ? -1 : 0;
}

static const struct attempt attempts[] = {
	{"lease", do_lease},
	{"dnotify", do_dnotify},
	{"watch", do_watch},
	{"fanotify", do_fanotify},
	{"tcp", do_tcp},
	{"udp", do_udp},
	{"raw", do_raw},
	{"alg", do_alg},
	{"vsock", do_vsock},
	{"packet", do_packet},
	{"audit", do_audit},
	{"netlink", do_netlink},
	{"unix", do_unix},
	{"abstract", do_abstract},
	{"kill", do_kill},
	{"core", do_core},
	{"owner", do_owner},
	{"ptrace", do_ptrace},
	{"ptrace-child", do_ptrace_child},
	{"vm-read", do_vm_read},
	{"userns", do_userns},
	{"clone3", do_clone3},
	{"io-uring", do_io_uring},
	{"keyctl", do_keyctl},
	{"userfaultfd", do_userfaultfd},
	{"personality", do_personality},
	{"tiocsti", do_tiocsti},
	{"capabilities", do_capabilities},
	{"gains", do_gains},
	{"leaked-fd", do_leaked_fd},
	{"openat2-suid", do_openat2_suid},
	{"loopback", do_loopback},
	{"exchange", do_exchange},
	{"session", do_session},
	{"race-path", do_race_path},
	{"swap", do_swap},
	{"fds", do_fds},
	{"fastopen", do_fastopen},
	{"mptcp", do_mptcp},
	{"bound", do_bound},
	{"mount", do_mount},
	{"umount", do_umount},
	{"remount", do_remount},
	{"fsopen", do_fsopen},
	{"open-tree", do_open_tree},
	{"chroot", do_chroot},
	{"setns", do_setns},
	{"sethostname", do_sethostname},
	{"kcmp", do_kcmp},
	{"pidfd-getfd", do_pidfd_getfd},
	{"move-pages", do_move_pages},
	{"perf", do_perf},
	{"add-key", do_add_key},
	{"request-key", do_request_key},
	{"modify-ldt", do_modify_ldt},
	{"tioclinux", do_tioclinux},
	{"tiocsetd", do_tiocsetd},
	{"ioctl", do_ioctl},
	{"truncate", do_truncate},
	{"dgram-pair", do_dgram_pair},
	{"unshare", do_unshare},
	{"clone", do_clone},
	{"x32", do_x32},
	{"int80", do_int80},
	{"euid", do_euid},
	{"shm-make", do_shm_make},
	{"shm-find", do_shm_find},
	{"shm-remove", do_shm_remove},
};

static bool is_unknown(int error)
{
	return error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == ESOCKTNOSUPPORT ||
	       error == ENOSYS;
}

int main(int argc, char **argv)
{
	int (*run)(void) = NULL;
	int error;

	argument = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if (strcmp(attempts[i].name, argv[1]) == 0)
			run = attempts[i].run;
	for (const struct attempt *a = attempts_on_others; argc > 1 && a->name; a++)
		if (strcmp(a->name, argv[1]) == 0)
			run = a->run;
	if (run) {
		if (run() == 0)
			return 0;
		error = errno;
		(void)fprintf(stderr, "attempt %s: %s\n", argv[1], strerror(error));
		return is_unknown(error) ? 3 : 1;
	}
	(void)fprintf(stderr, "usage: attempt NAME [ARG]\n");
	return 2;
}
