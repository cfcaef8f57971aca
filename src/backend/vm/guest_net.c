/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a call inside a virtual machine, which has no network card: the rules and sockets that native makes
 * (capture.h) on the machine's loopback, a relay behind them, and one stream to the host for all of its connections
 * (relay/mux.h).  Programs that know of a proxy and those that do not arrive at the same place.
 */
#include "backend/vm/guest.h"

#include "backend/relay/mux.h"
#include "backend/relay/relay.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NET_HATCH "/hatch" /* in the initramfs, which the call does not see */
#define NET_NOBODY 65534
#define NET_FILES 64 /* more than are open by now */

/* A process of the machine's, without a right and with these files alone.  0 in it. */
static pid_t net_fork(const char *name, const int *fds, size_t n)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (int fd = 0; fd < NET_FILES; fd++) {
		bool is_kept = false;

		for (size_t i = 0; i < n; i++)
			is_kept = is_kept || fds[i] == fd;
		if (!is_kept)
			(void)close(fd);
	}
	if (syscall(SYS_close_range, (unsigned)NET_FILES, ~0U, 0) < 0 ||
	    prctl(PR_SET_NAME, name) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(NET_NOBODY, NET_NOBODY, NET_NOBODY) < 0 ||
	    setresuid(NET_NOBODY, NET_NOBODY, NET_NOBODY) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(1);
	return 0;
}

static int net_start(const struct relay *relay, int channel, int listener)
{
	const struct mux mux = {.channel = channel, .listener = listener};
	pid_t pid = net_fork("cordon-mux", (const int[]){channel, listener}, 2);

	if (pid == 0)
		_exit(mux_serve(&mux) < 0);
	if (pid < 0)
		return -errno;
	pid = net_fork("cordon-relay", relay->sockets, CAPTURE_SOCKETS);
	if (pid == 0)
		relay_serve(relay);
	return pid < 0 ? -errno : 0;
}

int guest_network(bool is_vsock, int *ret_told)
{
	AUTO_CLOSE int channel = is_vsock ? guest_vsock(GUEST_VSOCK_NETWORK)
					  : open(GUEST_NETWORK_PORT, O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int listener = -1;
	struct relay relay;
	int r = channel < 0 ? (is_vsock ? channel : -errno) : 0;

	/* Everybody may dial it who can see it, and that are our own processes. */
	if (r == 0)
		r = hatch_listen(AT_FDCWD, NET_HATCH, 0666, &listener);
	if (r == 0)
		r = relay_open(NET_HATCH, RELAY_REDIRECTS, &relay);
	if (r < 0)
		return r;
	*ret_told = capture_told();
	r = net_start(&relay, channel, listener);
	for (size_t i = 0; i < CAPTURE_SOCKETS; i++)
		(void)fd_close(relay.sockets[i]);
	return r;
}
