/* SPDX-License-Identifier: Apache-2.0 */
/* See network.h. */
#include "backend/landlock/network.h"

#include "backend/landlock/broker.h"
#include "base/clock.h"
#include "base/fdpass.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NETWORK_TRIAL_MS 2000
#define NETWORK_TRIAL_PORT 9

/* In a process of its own, under the filter: every way to a network, and the one thing that has to work. */
static int lock_try_network(void)
{
	static const struct {
		int family;
		int type;
	} rows[] = {{AF_INET, SOCK_STREAM},  {AF_INET, SOCK_DGRAM},   {AF_INET, SOCK_RAW},
		    {AF_INET6, SOCK_STREAM}, {AF_INET6, SOCK_DGRAM},  {AF_UNIX, SOCK_STREAM},
		    {AF_UNIX, SOCK_DGRAM},   {AF_NETLINK, SOCK_RAW},  {AF_PACKET, SOCK_RAW},
		    {AF_VSOCK, SOCK_STREAM}, {AF_ALG, SOCK_SEQPACKET}};
	const struct plan plan = {.net = PLAN_NET_NONE};
	const struct seccomp_policy policy = lock_filter(&plan, SECCOMP_FILES_KERNEL);
	struct seccomp_program program;
	int pair[2];

	if (seccomp_build(&policy, &program) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_install(&program) < 0)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (socket(rows[i].family, rows[i].type, 0) >= 0)
			return 1;
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 ||
	       socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0;
}

/* Waits for the process.  Its exit code, or -1. */
static int lock_end(struct proc *proc)
{
	siginfo_t end = {0};

	while (waitid(P_PIDFD, (id_t)proc->pidfd, &end, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(proc);
	return end.si_code == CLD_EXITED ? end.si_status : -1;
}

bool lock_denies_network(void)
{
	struct proc proc;
	int r = proc_clone(0, &proc);

	if (r == 0)
		_exit(lock_try_network());
	return r >= 0 && lock_end(&proc) == 0;
}

/* 203.0.113.1, of the documentation: nobody's, and never dialled. */
static struct sockaddr_in lock_nowhere(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(NETWORK_TRIAL_PORT),
				    .sin_addr.s_addr = htonl(0xcb007101)};
}

/* In a process of its own: the one thing that has to work, and what must not. */
static int lock_try_bridge(int channel, pid_t parent)
{
	static const uint8_t route[] = {0x83, 7, 4, 203, 0, 113, 2, 0};
	const struct plan plan = {.net = PLAN_NET_PROXY};
	const struct seccomp_policy policy = lock_filter(&plan, SECCOMP_FILES_KERNEL);
	const struct sockaddr_in a = lock_nowhere();
	struct seccomp_program program;
	int listener;
	int fd;

	/* Nobody else answers: its call would wait for ever, since it holds both ends of what its listener is in. */
	if (proc_tie(parent) < 0 || seccomp_build(&policy, &program) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 1;
	listener = notify_install(&program);
	if (listener < 0 || notify_send_fd(channel, listener) < 0)
		return 1;
	(void)fd_close(listener);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		return 1;
	if (socket(AF_INET, SOCK_DGRAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
	    bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 || errno != EPERM ||
	    listen(fd, 1) == 0 || setsockopt(fd, IPPROTO_IP, IP_OPTIONS, route, 8) == 0 ||
	    sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (const struct sockaddr *)&a,
		   sizeof(a)) >= 0 ||
	    errno != EPERM)
		return 2;
	return connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
	       send(fd, "x", 1, MSG_NOSIGNAL) != 1;
}

/* The one call that waits, answered as the broker does. */
static int lock_answer(const struct bridge *bridge, int channel, int64_t deadline)
{
	AUTO_CLOSE int listener = notify_receive_fd(channel, deadline);
	struct pollfd p = {.fd = listener, .events = POLLIN};
	struct broker broker = {.bridge = *bridge, .told = -1};
	struct notify_call call;
	int r;

	if (listener < 0)
		return listener;
	if (poll(&p, 1, clock_poll_timeout(deadline)) <= 0)
		return -ETIMEDOUT;
	r = notify_next(listener, &call);
	if (r != 1)
		return r < 0 ? r : -ESRCH;
	r = (int)broker_connect(&(struct broker_call){
		.broker = &broker,
		.call = &call,
		.dirfd = {(int)(uint32_t)call.data.args[0], -1},
		.more = {call.data.args[1], call.data.args[2]},
	});
	if (r < 0)
		return notify_refuse(&call, -r) < 0 ? -EIO : r;
	return notify_return(&call, 0);
}

/* What the proxy would be handed: the target, and the other end. */
static int lock_receive(int in, int64_t deadline)
{
	const struct sockaddr_in want = lock_nowhere();
	uint8_t bytes[HATCH_HEAD_SIZE];
	struct hatch_head head;
	int fds[FDPASS_MAX];
	struct pollfd p;
	size_t n = 0;
	char byte = 0;
	ssize_t len = fdpass_receive(in, bytes, sizeof(bytes), deadline, fds, &n);
	int r = len == HATCH_HEAD_SIZE && n == 1 ? hatch_read(bytes, &head) : -EPROTO;

	if (r == 0 && (head.kind != HATCH_ADDRESS || head.port != NETWORK_TRIAL_PORT ||
		       memcmp(head.addr + 12, &want.sin_addr, sizeof(want.sin_addr)) != 0))
		r = -EPROTO;
	if (r == 0) {
		p = (struct pollfd){.fd = fds[0], .events = POLLIN};
		if (poll(&p, 1, clock_poll_timeout(deadline)) <= 0 ||
		    recv(fds[0], &byte, 1, MSG_DONTWAIT) != 1 || byte != 'x')
			r = -EPIPE;
	}
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	return r;
}

bool lock_leads_network(char why[static PROBE_REASON_MAX])
{
	int64_t deadline = clock_deadline(NETWORK_TRIAL_MS);
	struct bridge bridge = BRIDGE_NONE;
	AUTO_CLOSE int in = -1;
	int pair[2] = {-1, -1};
	const pid_t parent = getpid();
	struct proc proc;
	int code = -1;
	int r = bridge_make(&bridge, &in);

	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r == 0) {
		r = proc_clone(0, &proc);
		if (r == 0)
			_exit(lock_try_bridge(pair[1], parent));
		pair[1] = fd_close(pair[1]);
	}
	if (r > 0) {
		r = lock_answer(&bridge, pair[0], deadline);
		if (r == 0)
			r = lock_receive(in, deadline);
		if (r < 0)
			(void)!proc_signal(&proc, SIGKILL);
		code = lock_end(&proc);
	}
	(void)fd_close(pair[0]);
	(void)fd_close(pair[1]);
	bridge_done(&bridge);
	if (r == 0 && code == 0)
		return true;
	(void)snprintf(why, PROBE_REASON_MAX, "%s",
		       r < 0 ? strerror(-r) : "what must be shut is open");
	return false;
}
