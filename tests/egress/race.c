/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to a peer past who makes connections on behalf: `race NAME GOOD BAD PORT` tries GOOD, which is allowed, and BAD,
 * which is not, and prints what the servers say ("at ADDRESS got BYTES"), or "open: WHAT" for a thing that must be shut.
 * Without a sandbox every one of them reaches BAD or opens something; that is the control.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 100
#define ANSWER_MS 500
#define FLIP_SPINS 100

static struct sockaddr_in good;
static struct sockaddr_in bad;
static struct sockaddr_in shared; /* changes all the time */
static atomic_bool is_over;
static atomic_int victim = -1;

static int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int lead(int fd, const struct sockaddr_in *a)
{
	return connect(fd, (const struct sockaddr *)a, sizeof(*a));
}

/* Says a byte and prints the answer; the socket may be another one by now. */
static void talk(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char answer[256];
	ssize_t n;

	if (send(fd, "x", 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, ANSWER_MS) <= 0)
		return;
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n > 0)
		(void)fwrite(answer, 1, (size_t)n, stdout);
}

static void *flip(void *arg)
{
	volatile uint32_t *address = &shared.sin_addr.s_addr;

	(void)arg;
	/* Each stays for a while: of two stores in a row a processor may show others only the last. */
	while (!is_over) {
		*address = bad.sin_addr.s_addr;
		for (volatile int i = 0; i < FLIP_SPINS; i++)
			;
		*address = good.sin_addr.s_addr;
		for (volatile int i = 0; i < FLIP_SPINS; i++)
			;
	}
	return NULL;
}

static void *write_first(void *arg)
{
	(void)arg;
	while (!is_over)
		(void)send(victim, "y", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return NULL;
}

/* Puts another socket, on its way to BAD, in the victim's place, again and again. */
static void *replace(void *arg)
{
	(void)arg;
	while (!is_over) {
		int other = tcp();
		int at = victim;

		if (other < 0)
			continue;
		if (at >= 0)
			(void)dup2(other, at);
		(void)lead(at < 0 ? other : at, &bad);
		talk(other);
		(void)close(other);
	}
	return NULL;
}

/* Closes it, and the number is somebody else's. */
static void *reuse(void *arg)
{
	(void)arg;
	while (!is_over) {
		int at = victim;
		int other;

		if (at < 0)
			continue;
		(void)close(at);
		other = tcp();
		if (other >= 0 && lead(other, &bad) == 0)
			talk(other);
	}
	return NULL;
}

static void *other_way(void *arg)
{
	(void)arg;
	while (!is_over)
		(void)lead(victim, &bad);
	return NULL;
}

static void *let_go(void *arg)
{
	static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	int own = tcp();

	(void)arg;
	while (!is_over) {
		(void)connect(victim, &nowhere, sizeof(nowhere));
		(void)lead(victim, &bad);
	}
	/* And without a race. */
	(void)lead(own, &good);
	(void)connect(own, &nowhere, sizeof(nowhere));
	(void)lead(own, &bad);
	talk(own);
	return NULL;
}

/* One thread connects to what the other spoils. */
static int against(void *(*spoil)(void *), const struct sockaddr_in *target)
{
	pthread_t thread;

	shared = good;
	if (pthread_create(&thread, NULL, spoil, NULL) != 0)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		int fd = tcp();

		if (fd < 0)
			continue;
		victim = fd;
		(void)usleep((useconds_t)(i % 4) * 50); /* now the one is first, now the other */
		(void)lead(fd, target);
		talk(fd);
		victim = -1;
		(void)close(fd);
	}
	is_over = true;
	(void)pthread_join(thread, NULL);
	return 0;
}

static void *own_table(void *arg)
{
	int fd = *(const int *)arg;

	/* From here on the number is another socket for this thread than for its process. */
	if (unshare(CLONE_FILES) == 0) {
		int other = tcp();

		(void)dup2(other, fd);
		(void)lead(fd, &bad);
		talk(fd);
	}
	return NULL;
}

static int do_table(void)
{
	pthread_t thread;
	int fd = tcp();

	(void)lead(fd, &good);
	if (pthread_create(&thread, NULL, own_table, &fd) != 0)
		return 2;
	(void)pthread_join(thread, NULL);
	talk(fd);
	return 0;
}

/* A peer without connect(). */
static void open_fast(int fd, int way)
{
	struct iovec iov = {(char[]){"x"}, 1};
	struct mmsghdr many = {.msg_hdr = {.msg_name = &bad,
					   .msg_namelen = sizeof(bad),
					   .msg_iov = &iov,
					   .msg_iovlen = 1}};

	if (way == 0)
		(void)sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&bad,
			     sizeof(bad));
	else if (way == 1)
		(void)sendmsg(fd, &many.msg_hdr, MSG_FASTOPEN | MSG_NOSIGNAL);
	else if (way == 2)
		(void)sendmmsg(fd, &many, 1, MSG_FASTOPEN | MSG_NOSIGNAL);
	else if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &(int){1}, sizeof(int)) == 0)
		(void)printf("open: fast open by connect\n");
}

static int do_fastopen(void)
{
	static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

	for (int way = 0; way < 4; way++) {
		int fd = tcp();

		open_fast(fd, way);
		talk(fd);
		(void)close(fd);
		/* And one that had a peer and was let go. */
		fd = tcp();
		(void)lead(fd, &good);
		(void)connect(fd, &nowhere, sizeof(nowhere));
		open_fast(fd, way);
		(void)lead(fd, &bad);
		talk(fd);
		(void)close(fd);
	}
	return 0;
}

/* From one process to another, while it is being connected. */
static int do_rights(void)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte = 'f';
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	int pair[2];
	int fd = tcp();
	pid_t pid;

	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		struct cmsghdr *c;

		if (recvmsg(pair[1], &m, 0) != 1 || !(c = CMSG_FIRSTHDR(&m)))
			_exit(2);
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		(void)lead(fd, &bad);
		talk(fd);
		(void)fflush(stdout);
		_exit(0);
	}
	control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	(void)sendmsg(pair[0], &m, MSG_NOSIGNAL);
	(void)waitpid(pid, NULL, 0);
	fd = tcp();
	(void)lead(fd, &good);
	talk(fd);
	return 0;
}

/* What must not be there at all. */
static int do_shut(void)
{
	static const struct {
		const char *name;
		int family;
		int type;
		int protocol;
	} rows[] = {
		{"UDP", AF_INET, SOCK_DGRAM, 0},
		{"UDP over IPv6", AF_INET6, SOCK_DGRAM, 0},
		{"MPTCP", AF_INET, SOCK_STREAM, 262},
		{"SCTP", AF_INET, SOCK_STREAM, IPPROTO_SCTP},
		{"SMC", 43, SOCK_STREAM, 0},
		{"SMC by protocol", AF_INET, SOCK_STREAM, 256},
		{"raw", AF_INET, SOCK_RAW, IPPROTO_ICMP},
		{"Unix", AF_UNIX, SOCK_STREAM, 0},
	};
	static const uint8_t route[] = {0x83, 7, 4, 203, 0, 113, 6, 0};
	int fd = tcp();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (socket(rows[i].family, rows[i].type, rows[i].protocol) >= 0)
			(void)printf("open: %s\n", rows[i].name);
	if (setsockopt(fd, IPPROTO_IP, IP_OPTIONS, route, sizeof(route)) == 0)
		(void)printf("open: source routes\n");
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0)
		(void)printf("open: devices\n");
	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 3) == 0 || errno == ENOTCONN)
		(void)printf("open: protocols above\n");
	if (setsockopt(fd, SOL_SOCKET, 37 /* SO_TIMESTAMPING */, &(int){2}, sizeof(int)) == 0)
		(void)printf("open: copies of what is sent\n");
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0)
		(void)printf("usual options work\n");
	fd = tcp();
	if (listen(fd, 1) == 0)
		(void)printf("open: listening\n");
	fd = tcp();
	good.sin_port = 0;
	good.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&good, sizeof(good)) == 0)
		(void)printf("open: binding\n");
	return 0;
}

/* Says where its connection seems to lead, and waits for the end of its input. */
static int do_hold(void)
{
	struct sockaddr_in peer = {0};
	socklen_t len = sizeof(peer);
	char byte;
	int fd = tcp();

	if (lead(fd, &good) < 0 || getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
		return 1;
	(void)printf("peer %d\n", ntohs(peer.sin_port));
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	talk(fd);
	fd = tcp();
	(void)lead(fd, &good);
	talk(fd);
	return 0;
}

/* As event loops do it: not waiting, and with a second connect(). */
static int do_nonblock(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = -1;
	socklen_t len = sizeof(error);

	if (lead(fd, &good) < 0 && errno != EINPROGRESS)
		return 1;
	if (poll(&p, 1, ANSWER_MS) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ||
	    error != 0)
		return 1;
	(void)lead(fd, &bad); /* tells how the first one ended, and then that there is a peer */
	(void)lead(fd, &bad);
	talk(fd);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc == 5 ? argv[1] : "";
	int port = 0;

	for (const char *p = argc == 5 ? argv[4] : ""; *p; p++)
		port = port * 10 + *p - '0';
	good.sin_family = bad.sin_family = AF_INET;
	good.sin_port = bad.sin_port = htons((uint16_t)port);
	if (argc != 5 || inet_pton(AF_INET, argv[2], &good.sin_addr) != 1 ||
	    inet_pton(AF_INET, argv[3], &bad.sin_addr) != 1)
		return 2;
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(name, "address") == 0)
		return against(flip, &shared);
	if (strcmp(name, "first-word") == 0)
		return against(write_first, &good);
	if (strcmp(name, "dup2") == 0)
		return against(replace, &good);
	if (strcmp(name, "reuse") == 0)
		return against(reuse, &good);
	if (strcmp(name, "twice") == 0)
		return against(other_way, &good);
	if (strcmp(name, "unspec") == 0)
		return against(let_go, &good);
	if (strcmp(name, "table") == 0)
		return do_table();
	if (strcmp(name, "fastopen") == 0)
		return do_fastopen();
	if (strcmp(name, "rights") == 0)
		return do_rights();
	if (strcmp(name, "shut") == 0)
		return do_shut();
	if (strcmp(name, "hold") == 0)
		return do_hold();
	return strcmp(name, "nonblock") == 0 ? do_nonblock() : 2;
}
