/* SPDX-License-Identifier: Apache-2.0 */
/* See fdpass.h. */
#include "base/fdpass.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union fdpass_control {
	char bytes[CMSG_SPACE(sizeof(int) * FDPASS_MAX)];
	struct cmsghdr align;
};

int fdpass_send(int sock, const void *data, size_t len, const int *fds, size_t n)
{
	union fdpass_control control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t sent;

	if (n > FDPASS_MAX || len == 0)
		return -EINVAL;
	if (n > 0) {
		struct cmsghdr *c;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	}
	while ((sent = sendmsg(sock, &msg, MSG_NOSIGNAL)) < 0)
		if (errno != EINTR)
			return -errno;
	return (size_t)sent == len ? 0 : -EMSGSIZE;
}

static int fdpass_wait(int sock, int64_t deadline_ms)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int r;

	while ((r = poll(&p, 1, clock_poll_timeout(deadline_ms))) < 0)
		if (errno != EINTR)
			return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

ssize_t fdpass_receive(int sock, void *data, size_t len, int64_t deadline_ms,
		       int ret_fds[static FDPASS_MAX], size_t *ret_n)
{
	union fdpass_control control = {0};
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t got;
	int r = fdpass_wait(sock, deadline_ms);

	*ret_n = 0;
	if (r < 0)
		return r;
	while ((got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)) < 0)
		if (errno != EINTR)
			return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		if (n > FDPASS_MAX - *ret_n)
			n = FDPASS_MAX - *ret_n; /* cannot be: there was no room for more */
		memcpy(ret_fds + *ret_n, CMSG_DATA(c), sizeof(int) * n);
		*ret_n += n;
	}
	if (msg.msg_flags & MSG_CTRUNC) {
		for (size_t i = 0; i < *ret_n; i++)
			(void)fd_close(ret_fds[i]);
		*ret_n = 0;
		return -EMSGSIZE;
	}
	return got;
}
