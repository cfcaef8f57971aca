/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single attempts that no ordinary program makes: `attempt NAME [ARG]` exits 0 when the attempt got through,
 * 1 when the kernel refused it (errno on standard error), 2 for a wrong call.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *argument;

static int number(void)
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

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	return send(fd, "x", 1, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int do_tcp(void)
{
	return connect_inet(SOCK_STREAM);
}

static int do_udp_out(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(53)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	a.sin_addr.s_addr = htonl(0x08080808);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&a, sizeof(a));
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
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);

	/* On a master of our own: what is asked is whether the ioctl itself gets through. */
	return fd < 0 || (ioctl(fd, TIOCSTI, "x") < 0 && errno != EIO) ? -1 : 0;
}

static int do_capabilities(void)
{
	return prctl(PR_CAPBSET_READ, 21 /* CAP_SYS_ADMIN */) == 1 ? 0 : -1;
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

static const struct {
	const char *name;
	int (*run)(void);
} attempts[] = {
	{"tcp", do_tcp},
	{"udp-out", do_udp_out},
	{"raw", do_raw},
	{"alg", do_alg},
	{"vsock", do_vsock},
	{"packet", do_packet},
	{"audit", do_audit},
	{"unix", do_unix},
	{"abstract", do_abstract},
	{"kill", do_kill},
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
	{"leaked-fd", do_leaked_fd},
	{"openat2-suid", do_openat2_suid},
	{"loopback", do_loopback},
	{"exchange", do_exchange},
};

int main(int argc, char **argv)
{
	argument = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (strcmp(attempts[i].name, argv[1]) != 0)
			continue;
		if (attempts[i].run() == 0)
			return 0;
		(void)fprintf(stderr, "attempt %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	(void)fprintf(stderr, "usage: attempt NAME [ARG]\n");
	return 2;
}
