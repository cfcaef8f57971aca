/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a machine's call, seen from the monitor.  Everything that the call opens arrives over one stream (mux.h);
 * a process of its own, with that stream and nothing else, dials the hatch for each connection.  The hatch has no place in
 * any file system: it is a name in the monitor's own network namespace, in which there is nobody but the emulator.
 */
#include "backend/vm/monitor.h"

#include "backend/relay/mux.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define NETWORK_FD 3 /* of the process */

struct network_hatch {
	struct sockaddr_un address;
	socklen_t len;
};

static int network_dial(void *data)
{
	const struct network_hatch *h = data;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&h->address, h->len) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* A name that the kernel chooses. */
static int network_listen(struct network_hatch *ret, int *ret_fd)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ret->address = (struct sockaddr_un){.sun_family = AF_UNIX};
	ret->len = sizeof(ret->address);
	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)&ret->address,
		 offsetof(struct sockaddr_un, sun_path)) < 0 ||
	    listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&ret->address, &ret->len) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* In a process of its own, which ends with the monitor: its end is the end of the call's network. */
_Noreturn static void network_serve(const struct monitor *m, struct network_hatch *h)
{
	struct mux mux = {.channel = m->network, .listener = -1, .dial = network_dial, .data = h};

	(void)prctl(PR_SET_NAME, "cordon-mux");
	if ((m->network != NETWORK_FD && dup3(m->network, NETWORK_FD, O_CLOEXEC) < 0) ||
	    syscall(SYS_close_range, (unsigned)NETWORK_FD + 1, ~0U, 0) < 0 ||
	    syscall(SYS_close_range, 0U, (unsigned)NETWORK_FD - 1, 0) < 0)
		_exit(1);
	mux.channel = NETWORK_FD;
	if (m->network_listens) {
		mux.channel = accept4(NETWORK_FD, NULL, NULL, SOCK_CLOEXEC);
		(void)close(NETWORK_FD); /* once */
	}
	_exit(mux.channel < 0 || mux_serve(&mux) < 0);
}

int monitor_network(struct monitor *m)
{
	struct network_hatch hatch;
	struct doors doors;
	int served = -1;
	int told[2];
	pid_t pid;
	int r;

	doors_init(&doors);
	r = network_listen(&hatch, &doors.hatch);
	if (r == 0 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, told) < 0)
		r = -errno;
	if (r == 0) {
		doors.told = told[0];
		m->told = told[1];
		r = doors_send(m->program->plan, m->channel, &doors, &served);
	}
	doors_done(&doors);
	if (r == 0)
		r = doors_await(served);
	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0)
		network_serve(m, &hatch);
	m->network = fd_close(m->network);
	return pid < 0 ? -errno : 0;
}
