/* SPDX-License-Identifier: Apache-2.0 */
/* See hold.h.  Descriptors go in messages of one byte, which says whether more will follow. */
#include "backend/native/hold.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define HOLD_RETRY_MS 2

int native_hold_ask(const struct native_child *c, int root)
{
	struct native_message m = {.stage = NATIVE_STAGE_HOLD, .step = c->cache.nobody};

	return fdpass_send(c->channel, &m, sizeof(m), &root, c->cache.is_disowned ? 1 : 0);
}

/* An ordinary user may have only so many descriptors on their way; those of other calls arrive in a moment. */
static int hold_send(int channel, char more, const int *fds, size_t n, int64_t deadline)
{
	int r;

	while ((r = fdpass_send(channel, &more, 1, fds, n)) == -ETOOMANYREFS &&
	       clock_ms() < deadline)
		(void)poll(NULL, 0, HOLD_RETRY_MS);
	return r;
}

static int hold_pass(int channel, const int *fds, size_t n, int64_t deadline)
{
	char go = n > 0;
	int r = send(channel, &go, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;

	for (size_t i = 0; r == 0 && i < n; i += FDPASS_MAX) {
		size_t part = n - i < FDPASS_MAX ? n - i : FDPASS_MAX;

		r = hold_send(channel, i + part < n, fds + i, part, deadline);
	}
	return r;
}

int native_hold(const struct native_child *c, int channel, int64_t deadline,
		struct native_message *ret, struct cordon_error *err)
{
	AUTO_FREE int *held = NULL;
	AUTO_CLOSE int root = -1;
	int fds[FDPASS_MAX];
	size_t n = 0;
	ssize_t got = fdpass_receive(channel, ret, sizeof(*ret), deadline, fds, &n);
	int r = 0;

	if (got < 0)
		return cordon_fail_leaf(err, (int)got, "wait for the sandbox");
	if (n > 0)
		root = fds[--n];
	while (n > 0)
		(void)fd_close(fds[--n]);
	if (got != sizeof(*ret))
		return cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
	if (ret->stage != NATIVE_STAGE_HOLD || ret->error)
		return 0;
	if (root >= 0)
		r = view_hold(c->program, root, (uid_t)ret->step, &held, &n);
	if (r == 0)
		r = hold_pass(channel, held, n, deadline);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(held[i]);
	if (r == -EPIPE || r == -ECONNRESET)
		return 0; /* it failed meanwhile: its next word says why */
	if (r == -ESTALE)
		return cordon_hint(err,
				   cordon_fail_errno(err, ESTALE,
						     "hold on to protected names in the workspace"),
				   "one was made while the call started; try again");
	if (r == -EMFILE)
		return cordon_hint(err,
				   cordon_fail_errno(err, EMFILE, "hold on to protected names"),
				   "raise the number of open files (ulimit -n)");
	return r < 0 ? cordon_fail_errno(err, -r, "hold on to protected names") : 0;
}

int native_hold_take(int channel)
{
	struct rlimit limit;
	char more = 1;

	/* The command has its own limit by now. */
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	while (more) {
		int fds[FDPASS_MAX];
		size_t n;
		ssize_t got = fdpass_receive(channel, &more, 1, CLOCK_NEVER, fds, &n);

		if (got != 1)
			return got < 0 ? (int)got : -ESRCH;
	}
	return 0;
}
