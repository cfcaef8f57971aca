/* SPDX-License-Identifier: Apache-2.0 */
/* See doors.h.  They go as one flat list, cut into parts of as many as one message takes. */
#include "backend/doors.h"

#include "base/fd.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOORS_ALL (sizeof(struct doors) / sizeof(int))
#define DOORS_MARK (-2) /* no stage has this number */

/* One part: which of its places have a descriptor. */
struct doors_part {
	int32_t mark;
	int32_t part;
	uint64_t places;
};
static_assert(sizeof(struct doors_part) == DOORS_MESSAGE, "as long as what it comes before");
static_assert(sizeof(struct doors) % sizeof(int) == 0 && FDPASS_MAX <= 64, "a list of numbers");

int doors_network(ino_t *ret)
{
	struct stat st;

	if (stat("/proc/self/ns/net", &st) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}

static int doors_ports(const struct plan *plan, struct doors *ret)
{
	if (plan->n_ports > LIMIT_PORTS)
		return -E2BIG;
	for (size_t i = 0; i < plan->n_ports; i++) {
		int r = capture_socket(AF_INET, SOCK_STREAM, plan->ports[i], &ret->ports[2 * i]);

		if (r == 0)
			r = capture_socket(AF_INET6, SOCK_STREAM, plan->ports[i],
					   &ret->ports[2 * i + 1]);
		if (r < 0 && r != -EAFNOSUPPORT && r != -EADDRNOTAVAIL)
			return r;
	}
	return 0;
}

/* Of each family its own: one socket for both cannot be used again. */
static int doors_dialers(struct doors *ret)
{
	for (size_t i = 0; i < LIMIT_PUBLISH_LINKS; i++) {
		ret->dialers[0][i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (ret->dialers[0][i] < 0)
			return -errno;
		ret->dialers[1][i] =
			socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (ret->dialers[1][i] < 0 && errno != EAFNOSUPPORT)
			return -errno;
	}
	return 0;
}

int doors_make(const struct plan *plan, struct doors *ret)
{
	int r = 0;

	doors_init(ret);
	if (plan->net == PLAN_NET_PROXY)
		r = capture_make(ret->capture);
	if (r == 0 && plan->net == PLAN_NET_PROXY)
		ret->told = capture_told();
	if (r == 0)
		r = doors_ports(plan, ret);
	if (r == 0 && plan->n_publish > 0)
		r = doors_dialers(ret);
	if (r < 0)
		doors_done(ret);
	return r;
}

static int doors_pass(int channel, const struct doors *d)
{
	const int *all = (const int *)d;

	for (size_t from = 0; from < DOORS_ALL; from += FDPASS_MAX) {
		struct doors_part head = {.mark = DOORS_MARK, .part = (int32_t)(from / FDPASS_MAX)};
		int fds[FDPASS_MAX];
		size_t n = 0;
		int r;

		for (size_t i = 0; i < FDPASS_MAX && from + i < DOORS_ALL; i++) {
			if (all[from + i] < 0)
				continue;
			head.places |= UINT64_C(1) << i;
			fds[n++] = all[from + i];
		}
		r = n > 0 ? fdpass_send(channel, &head, sizeof(head), fds, n) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int doors_send(const struct plan *plan, int channel, struct doors *d, int *ret_served)
{
	int served[2] = {-1, -1};
	int r = 0;

	if (doors_are_wanted(plan)) {
		if (plan->net == PLAN_NET_PROXY && pipe2(served, O_CLOEXEC) < 0)
			r = -errno;
		d->served = served[1];
		if (r == 0)
			r = doors_pass(channel, d);
	}
	doors_done(d); /* who reads sees the end when nobody else has it */
	if (r < 0)
		(void)fd_close(served[0]);
	else
		*ret_served = served[0];
	return r;
}

int doors_await(int served)
{
	char byte;
	ssize_t n;

	if (served < 0)
		return 0;
	while ((n = read(served, &byte, 1)) < 0 && errno == EINTR)
		;
	n = n == 1 ? 0 : n == 0 ? -ESRCH : -errno;
	(void)fd_close(served);
	return (int)n;
}

int doors_send_sockets(int channel, const int *fds, size_t n)
{
	struct doors d;

	doors_init(&d);
	if (n > ARRAY_LEN(d.sockets))
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		d.sockets[i] = fds[i];
	return doors_pass(channel, &d);
}

int doors_open(const struct plan *plan, int channel, ino_t parent_net)
{
	struct doors d;
	ino_t net = 0;
	int served = -1;
	int r;

	if (!doors_are_wanted(plan))
		return 0;
	r = doors_network(&net);
	if (r == 0 && (parent_net == 0 || net == parent_net))
		r = -EPERM;
	if (r == 0)
		r = doors_make(plan, &d);
	if (r < 0)
		return r;
	r = doors_send(plan, channel, &d, &served);
	return r < 0 ? r : doors_await(served);
}

/* Puts the descriptors of one part into their places. */
static int doors_place(const struct doors_part *head, const int *fds, size_t n, struct doors *ret)
{
	size_t from = (size_t)head->part * FDPASS_MAX;
	int *all = (int *)ret;
	size_t used = 0;

	for (size_t i = 0; i < FDPASS_MAX; i++) {
		if (!(head->places & UINT64_C(1) << i))
			continue;
		if (used == n || head->part < 0 || from + i >= DOORS_ALL || all[from + i] >= 0)
			break;
		all[from + i] = fds[used++];
	}
	for (size_t i = used; i < n; i++)
		(void)fd_close(fds[i]);
	return used == n && used == (size_t)__builtin_popcountll(head->places) ? 0 : -EPROTO;
}

ssize_t doors_hear(int channel, void *message, int64_t deadline_ms, int ret_fds[static FDPASS_MAX],
		   size_t *ret_n, struct doors *ret)
{
	for (;;) {
		ssize_t n = fdpass_receive(channel, message, DOORS_MESSAGE, deadline_ms, ret_fds,
					   ret_n);
		struct doors_part head;
		int r;

		memcpy(&head, message, sizeof(head));
		if (n != DOORS_MESSAGE || head.mark != DOORS_MARK)
			return n;
		r = doors_place(&head, ret_fds, *ret_n, ret);
		*ret_n = 0;
		if (r < 0)
			return r;
		if (doors_are_due(ret))
			return n;
	}
}

bool doors_are_due(const struct doors *d)
{
	return d->served >= 0;
}

int doors_take(const struct plan *plan, struct doors *d, struct cordon_error *err)
{
	int r = plan->take_network ? plan->take_network(plan->network_data, d, err) : 0;

	for (size_t i = 0; i < ARRAY_LEN(d->capture); i++)
		d->capture[i] = fd_close(d->capture[i]);
	d->told = fd_close(d->told);
	d->hatch = fd_close(d->hatch);
	d->handed = fd_close(d->handed);
	/* It cannot fill, and who does not read it any more has told why. */
	if (r == 0)
		(void)!write(d->served, "", 1);
	d->served = fd_close(d->served);
	return r;
}
