/* SPDX-License-Identifier: Apache-2.0 */
/* See call.h: the caller's side. */
#include "backend/container/call.h"

#include "backend/container/engine.h"
#include "backend/container/parcel.h"
#include "backend/container/spec.h"
#include "backend/view/program.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL_WORD_MS 1000

int call_memory(const char *name, const struct buf *b)
{
	AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r = fd < 0 ? -errno : io_write(fd, b->data, b->len, CLOCK_NEVER);

	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The plan as it is to be carried out inside: its places of ours on the host are not there. */
static int call_parcel(const struct plan *plan, const struct marks *marks, int *ret)
{
	struct plan inner = *plan;
	struct buf parcel = BUF_SECRET(PARCEL_MAX);
	mode_t mask = umask(0);
	int r;

	(void)umask(mask);
	inner.scratch_dir = NULL;
	inner.aside = SPEC_ASIDE;
	inner.watch = PLAN_WATCH_NONE; /* its listener could not write down what it hears */
	r = parcel_write(&inner, marks, mask, &parcel);
	if (r == 0)
		r = call_memory("cordon-parcel", &parcel);
	buf_done(&parcel);
	*ret = r;
	return r < 0 ? r : 0;
}

int call_accept(int listener, int control, const struct proc *proc, struct cordon_error *err)
{
	struct pollfd polls[] = {{.fd = listener, .events = POLLIN},
				 {.fd = control, .events = POLLIN},
				 {.fd = proc->pidfd, .events = POLLIN}};
	int64_t deadline = clock_deadline(CALL_START_MS);
	struct engine_word word;
	struct ucred who;
	socklen_t len = sizeof(who);
	int fd;
	int r;

	do
		r = poll(polls, ARRAY_LEN(polls), clock_poll_timeout(deadline));
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_TIMEOUT, "the container does not start"),
			"see the engine's log; it may be overloaded");
	/* It comes whole; that it came in the last moment is no reason not to hear it. */
	if (polls[1].revents &&
	    io_read(control, &word, sizeof(word), clock_deadline(CALL_WORD_MS)) == sizeof(word)) {
		word.message[sizeof(word.message) - 1] = '\0';
		word.hint[sizeof(word.hint) - 1] = '\0';
		r = cordon_fail(err, word.code < 0 ? word.code : CORDON_E_SYSTEM, "%s",
				word.message);
		return cordon_hint(err, r, "%s", word.hint);
	}
	if (!polls[0].revents)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_SYSTEM,
					       "the container ended before the command started"),
				   "see the engine's log");
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return cordon_fail_errno(err, errno, "hear the container");
	if (who.uid == geteuid())
		return fd;
	(void)fd_close(fd);
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "the engine runs containers as another user (%u)",
				       (unsigned)who.uid),
			   "use one without a mapping of user ids");
}

/* Takes what was made inside. */
static int call_take(int call, uint32_t n, struct spawn_result *ret)
{
	int *doors = (int *)&ret->doors;

	for (uint32_t i = 0; i < n; i++) {
		int fds[FDPASS_MAX];
		size_t got = 0;
		struct call_door door;
		int *place;

		if (fdpass_receive(call, &door, sizeof(door), clock_deadline(CALL_START_MS), fds,
				   &got) != sizeof(door) ||
		    got != 1)
			return -EPROTO;
		place = door.index == CALL_TERMINAL ? &ret->terminal_fd
			: door.index < CALL_DOORS   ? &doors[door.index]
						    : NULL;
		if (!place || *place >= 0) {
			(void)fd_close(fds[0]);
			return -EPROTO;
		}
		*place = fds[0];
	}
	return 0;
}

/* Only who is root outside can make these. */
static int call_trees(const struct plan *plan, int *ret, size_t *n)
{
	AUTO_CLOSE int nobody_ns = -1;
	struct view_maps maps;

	view_nobody_maps(&maps);
	for (size_t i = 0; i < plan->op_count; i++) {
		if (plan->image || plan->ops[i].kind != PLAN_OP_SYSTEM ||
		    !plan->ops[i].is_public_only)
			continue;
		if (*n == VIEW_TREES_MAX)
			return -E2BIG;
		ret[*n] = view_public_tree(plan->ops[i].path, &maps, &nobody_ns);
		if (ret[*n] < 0)
			return ret[*n];
		(*n)++;
	}
	return 0;
}

static int call_hand_over(int call, const struct plan *plan, const struct marks *marks)
{
	AUTO_CLOSE int parcel = -1;
	int fds[CALL_FDS + VIEW_TREES_MAX] = {
		[CALL_FD_STDIN] = plan->stdin_fd,
		[CALL_FD_STDOUT] = plan->stdout_fd,
		[CALL_FD_STDERR] = plan->stderr_fd,
	};
	size_t n = 0;
	int r = call_parcel(plan, marks, &parcel);

	fds[CALL_FD_PARCEL] = parcel;
	if (r == 0)
		r = call_trees(plan, fds + CALL_FDS, &n);
	if (r == 0)
		r = fdpass_send(call, "", 1, fds, CALL_FDS + n);
	while (n > 0)
		(void)fd_close(fds[CALL_FDS + --n]);
	return r;
}

/* One answer. */
static int call_hear(int call, bool *ret_stale, struct spawn_result *ret, struct cordon_error *err)
{
	struct call_answer answer;
	int r;

	if (io_read(call, &answer, sizeof(answer), clock_deadline(CALL_START_MS)) != sizeof(answer))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_SYSTEM,
					       "the container ended before the command started"),
				   "see the engine's log");
	if (answer.code < 0) {
		if (err)
			*err = answer.error;
		*ret_stale = answer.is_stale;
		return answer.code;
	}
	r = call_take(call, answer.fds, ret);
	return r < 0 ? cordon_fail_leaf(err, r, "take the sockets of the call") : 0;
}

int call_talk(int call, const struct plan *plan, const struct marks *marks, bool *ret_stale,
	      struct spawn_result *ret, struct cordon_error *err)
{
	int r = call_hand_over(call, plan, marks);

	if (r < 0)
		return cordon_fail_leaf(err, r, "hand the call over");
	r = call_hear(call, ret_stale, ret, err);
	if (r < 0 || plan->net != PLAN_NET_PROXY)
		return r;
	r = doors_take(plan, &ret->doors, err);
	if (r == 0 && send(call, "", 1, MSG_NOSIGNAL) != 1)
		r = cordon_fail_errno(err, errno, "the container");
	return r < 0 ? r : call_hear(call, ret_stale, ret, err);
}
