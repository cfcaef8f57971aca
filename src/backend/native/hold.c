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

int native_hold_ask(const struct native_child *c)
{
	const struct view_program *p = c->program;
	struct native_message m = {.stage = NATIVE_STAGE_HOLD, .step = c->cache.nobody};
	int fds[FDPASS_MAX];
	size_t n = 0;

	if (!c->cache.is_disowned)
		return fdpass_send(c->channel, &m, sizeof(m), NULL, 0);
	for (size_t i = p->n_lower; i < p->n; i++) {
		int r;

		if (p->steps[i].kind != VIEW_OVERLAY || p->steps[i].fd < 0)
			continue;
		fds[n++] = p->steps[i].fd;
		if (n < ARRAY_LEN(fds))
			continue;
		r = fdpass_send(c->channel, &m, sizeof(m), fds, n);
		if (r < 0)
			return r;
		n = 0;
	}
	return n > 0 ? fdpass_send(c->channel, &m, sizeof(m), fds, n) : 0;
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

/* The overlays, in messages of the child's; none where placeholders have an owner. */
static int hold_receive(int channel, int64_t deadline, struct native_message *ret, int *overlays,
			size_t want, size_t *got)
{
	while (*got < want) {
		int fds[FDPASS_MAX];
		size_t n;
		ssize_t len = fdpass_receive(channel, ret, sizeof(*ret), deadline, fds, &n);

		for (size_t i = 0; i < n; i++)
			if (*got < want)
				overlays[(*got)++] = fds[i];
			else
				(void)fd_close(fds[i]);
		if (len != sizeof(*ret))
			return len < 0 ? (int)len : -ESRCH;
		if (ret->stage != NATIVE_STAGE_HOLD || ret->error || n == 0)
			return 0;
	}
	return 0;
}

static int hold_fail(int r, struct cordon_error *err)
{
	int code = cordon_fail_errno(err, -r, "hold on to protected names");

	if (r == -ESTALE)
		return cordon_hint(err, code, "one was made while the call started; try again");
	if (r == -EMFILE)
		return cordon_hint(err, code, "raise the number of open files (ulimit -n)");
	return code;
}

int native_hold(const struct native_child *c, int channel, int64_t deadline,
		struct native_message *ret, struct cordon_error *err)
{
	size_t want = view_overlays_count(c->program);
	AUTO_FREE int *overlays = calloc(want + 1, sizeof(*overlays));
	AUTO_FREE int *held = NULL;
	size_t got = 0;
	size_t n = 0;
	int r = overlays ? hold_receive(channel, deadline, ret, overlays, want, &got) : -ENOMEM;

	if (r == 0 && got == want)
		r = view_hold(c->program, overlays, (uid_t)ret->step, &held, &n);
	if (r == 0 && ret->stage == NATIVE_STAGE_HOLD && !ret->error)
		r = hold_pass(channel, held, n, deadline);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(held[i]);
	for (size_t i = 0; i < got; i++)
		(void)fd_close(overlays[i]);
	if (r == -EPIPE || r == -ECONNRESET)
		return 0; /* it failed meanwhile: its next word says why */
	return r < 0 ? hold_fail(r, err) : 0;
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

		if (got == 0)
			return 0; /* the parent has died, and its signal is on its way to us */
		if (got < 0)
			return (int)got;
	}
	return 0;
}
