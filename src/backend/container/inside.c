/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a container: a program of its own, static, mounted into it.  It takes the plan from the call's
 * socket, with the streams of the command, has native carry it out from here (spec.h says why) and hands out what
 * native made.  Then it passes bytes on that are signals, and tells stops, the end, and what was used.  When the
 * socket closes, however the other side ended, everything in the container ends.
 *
 * The command is in namespaces of its own below: it sees neither this process nor the container's root.
 */
#include "backend/container/call.h"
#include "backend/container/group.h"
#include "backend/container/parcel.h"
#include "backend/container/root.h"
#include "backend/container/spec.h"
#include "backend/native/native.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define INSIDE_LOOK_MS 100 /* between two looks at the memory limit */

/* What a view is made with.  A runtime may have a kernel of its own that lacks some of it. */
static const struct {
	const char *name;
	long number;
} inside_calls[] = {
	{"open_tree", SYS_open_tree},   {"move_mount", SYS_move_mount},
	{"fsopen", SYS_fsopen},         {"fsmount", SYS_fsmount},
	{"pidfd_open", SYS_pidfd_open}, {"mount_setattr", SYS_mount_setattr},
};

/* Asks for each with what nobody can be given: that there is no such call is the only answer that counts. */
static void inside_lacks(struct buf *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(inside_calls); i++)
		if (syscall(inside_calls[i].number, -1, NULL, -1, NULL, -1) < 0 && errno == ENOSYS)
			buf_printf(ret, "%s%s", ret->len > 0 ? ", " : "", inside_calls[i].name);
}

/* Leaves word of it where the caller looks; there it can only be written if somebody wants to know. */
static void inside_tell(struct buf *lacks, int connected)
{
	AUTO_CLOSE int fd = -1;

	if (connected < 0)
		buf_printf(lacks, "%sa way to sockets of the host (%s)", lacks->len > 0 ? ", " : "",
			   strerrordesc_np(-connected));
	fd = open(SPEC_CALL "/" CALL_LACKS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && io_write(fd, lacks->data, lacks->len, CLOCK_NEVER) < 0)
		(void)unlink(SPEC_CALL "/" CALL_LACKS);
}

static int inside_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SPEC_CALL "/" CALL_SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return fd;
}

/* In a container made ahead (warm.h): the connection of the one who comes, or -errno; -ETIMEDOUT when nobody does. */
static int inside_await(const char *seconds)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SPEC_CALL "/" CALL_SOCKET};
	AUTO_CLOSE int lock = open(SPEC_CALL, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_CLOSE int fd = -1;
	struct pollfd p = {.fd = listener, .events = POLLIN};
	struct ucred who;
	socklen_t len = sizeof(who);
	int64_t idle_s;
	int64_t deadline;
	int r = parse_int(seconds, 1, INT32_MAX / 1000, &idle_s);

	if (r < 0)
		return r;
	(void)umask(077);
	/* The lock first: whoever sees the socket knows that it is held. */
	if (lock < 0 || flock(lock, LOCK_SH | LOCK_NB) < 0 || listener < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 1) < 0)
		return -errno;
	deadline = clock_deadline(idle_s * 1000);
	while ((r = poll(&p, 1, clock_poll_timeout(deadline))) < 0 && errno == EINTR)
		;
	if (r <= 0) {
		(void)unlink(address.sun_path);
		return r < 0 ? -errno : -ETIMEDOUT;
	}
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	if (who.uid != geteuid())
		return -EPERM;
	/* From here on it is this call's and nobody else's: the listener goes with this function. */
	return send(fd, "", 1, MSG_NOSIGNAL) == 1 ? TAKE_FD(fd) : -errno;
}

/* Borrows the parcel's memory for good. */
static int inside_take(int call, struct parcel *ret)
{
	static int fds[FDPASS_MAX];
	size_t n;
	struct stat st;
	char byte;
	void *data;
	int r;

	if (fdpass_receive(call, &byte, 1, clock_deadline(CALL_START_MS), fds, &n) != 1 ||
	    n < CALL_FDS)
		return -EPROTO;
	if (fstat(fds[CALL_FD_PARCEL], &st) < 0)
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		    fds[CALL_FD_PARCEL], 0);
	if (data == MAP_FAILED)
		return -errno;
	(void)fd_close(fds[CALL_FD_PARCEL]);
	r = parcel_read(data, (size_t)st.st_size, ret);
	ret->plan.stdin_fd = fds[CALL_FD_STDIN];
	ret->plan.stdout_fd = fds[CALL_FD_STDOUT];
	ret->plan.stderr_fd = fds[CALL_FD_STDERR];
	ret->plan.public_trees = fds + CALL_FDS;
	ret->plan.n_public_trees = n - CALL_FDS;
	return r;
}

static int inside_answer(int call, int code, bool is_stale, const struct cordon_error *err,
			 uint32_t n)
{
	struct call_answer answer = {.code = code, .fds = n, .is_stale = is_stale};

	if (code < 0)
		answer.error = *err;
	return io_write(call, &answer, sizeof(answer), clock_deadline(CALL_START_MS));
}

/* An answer with doors, and room for n descriptors more. */
static int inside_send(int call, const struct doors *d, uint32_t n)
{
	const int *doors = (const int *)d;
	int r;

	for (size_t i = 0; i < CALL_DOORS; i++)
		n += doors[i] >= 0;
	r = inside_answer(call, 0, /* is_stale= */ false, NULL, n);
	for (size_t i = 0; r == 0 && i < CALL_DOORS; i++)
		if (doors[i] >= 0)
			r = fdpass_send(call, &(struct call_door){(uint32_t)i},
					sizeof(struct call_door), &doors[i], 1);
	return r;
}

/* plan.take_network: hands the network out, and hears that it is served. */
static int inside_network(void *data, const struct doors *doors, struct cordon_error *err)
{
	const int *call = data;
	struct doors network;
	char byte;
	int r;

	doors_init(&network);
	memcpy(network.capture, doors->capture, sizeof(network.capture));
	network.told = doors->told;
	network.hatch = doors->hatch;
	r = inside_send(*call, &network, 0);
	if (r == 0 && io_read(*call, &byte, 1, clock_deadline(CALL_START_MS)) != 1)
		r = -ESRCH;
	return r < 0 ? cordon_fail_leaf(err, r, "hand the network out") : 0;
}

/* Hands out the other doors and the terminal; they are closed here. */
static int inside_give(int call, struct spawn_result *s, bool has_terminal)
{
	int r = inside_send(call, &s->doors, has_terminal);

	if (r == 0 && has_terminal)
		r = fdpass_send(call, &(struct call_door){CALL_TERMINAL}, sizeof(struct call_door),
				&s->terminal_fd, 1);
	doors_done(&s->doors);
	if (has_terminal)
		s->terminal_fd = fd_close(s->terminal_fd);
	return r;
}

/* Passes on what the command's first process tells: true once that was its end. */
static bool inside_pass_status(int call, int status_fd)
{
	int status;

	while (recv(status_fd, &status, sizeof(status), MSG_DONTWAIT) == sizeof(status)) {
		if (send(call, &status, sizeof(status), MSG_NOSIGNAL) != sizeof(status))
			return true; /* nobody hears it; the end of the socket is seen next */
		if ((status & 0xff) != 0x7f)
			return true;
	}
	return false;
}

/* As the supervisor would: to the whole group when it is the command's own.  It may have ended. */
static void inside_signal(const struct spawn_result *s, int sig)
{
	if (s->has_own_group && sig != SIGKILL)
		(void)kill(-s->proc.pid, sig);
	else if (proc_signal(&s->proc, sig) < 0)
		return;
}

/* Signals, one byte each; the end is SIGKILL.  False when there was that. */
static bool inside_pass_signals(int call, const struct spawn_result *s)
{
	unsigned char sig;
	ssize_t n = recv(call, &sig, 1, MSG_DONTWAIT);
	bool is_end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);

	if (is_end || n > 0)
		inside_signal(s, is_end ? SIGKILL : sig);
	return !is_end;
}

/* Has the engine mounted what was meant?  Before anything is done with it. */
static int inside_compare(const struct parcel *p, struct cordon_error *err)
{
	for (size_t i = 0; i < p->n_marks; i++)
		if (mark_check(&p->marks[i]) < 0)
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_SYSTEM,
					    "'%s' was replaced while the container was made",
					    p->marks[i].target),
				"see who changes it, and try again");
	return 0;
}

/* Is what the engine was asked to hold in force?  Its word is not enough, whatever runtime it took: what is not shown is not
 * known, and such a call is refused. */
static int inside_limits(const struct plan *plan, struct cordon_error *err)
{
	const char *what = "";
	int r = group_holds(GROUP_DIR, plan, SPEC_OWN_PROCESSES, &what);

	if (r == 0)
		return 0;
	return cordon_hint(
		err,
		cordon_fail(err, CORDON_E_UNSUPPORTED,
			    "a limit of %s was asked for, and is not %s in the container", what,
			    r == -ENOENT ? "shown" : "in force"),
		"use a runtime of the engine's that holds it, or another backend");
}

_Noreturn static void inside_stay(int call, struct spawn_result *s, bool is_limited)
{
	struct backend_end end = {.memory_peak_kb = -1};
	struct proc_exit gone;
	bool has_ended = false;
	bool is_over = false;
	bool is_heard = true;
	int status;

	while (!is_over) {
		struct pollfd polls[] = {{.fd = s->proc.pidfd, .events = POLLIN},
					 {.fd = is_heard ? call : -1, .events = POLLIN},
					 {.fd = has_ended ? -1 : s->status_fd, .events = POLLIN}};

		if (poll(polls, ARRAY_LEN(polls), is_limited && !end.is_oom ? INSIDE_LOOK_MS : -1) <
			    0 &&
		    errno != EINTR)
			_exit(1);
		/* Any kill at the memory limit ends the call: what is left would go on without a part. */
		if (is_limited && !end.is_oom && (end.is_oom = group_is_oom(GROUP_DIR)))
			inside_signal(s, SIGKILL);
		if (polls[1].revents)
			is_heard = inside_pass_signals(call, s);
		if (polls[2].revents)
			has_ended = inside_pass_status(call, s->status_fd);
		is_over = polls[0].revents != 0;
	}
	if (!has_ended)
		has_ended = inside_pass_status(call, s->status_fd);
	if (proc_reap(&s->proc, &gone) != 1)
		_exit(1);
	status = gone.signal ? gone.signal : gone.code << 8;
	end.usage = gone.usage;
	end.is_oom |= is_limited && group_is_oom(GROUP_DIR);
	if ((has_ended || send(call, &status, sizeof(status), MSG_NOSIGNAL) == sizeof(status)) &&
	    send(call, &end, sizeof(end), MSG_NOSIGNAL) == sizeof(end))
		_exit(0);
	_exit(1);
}

int main(int argc, char **argv)
{
	struct parcel parcel = {0};
	struct cordon_error err = {0};
	struct spawn_result spawned = {.proc = PROC_NONE, .status_fd = -1, .terminal_fd = -1};
	struct buf lacks = BUF_INIT(CALL_LACKS_MAX);
	bool is_stale = false;
	bool is_limited;
	int call;
	int r;

	if (getpid() != 1)
		return 1;
	inside_lacks(&lacks);
	call = argc > 1 && lacks.len == 0 ? inside_await(argv[1]) : inside_connect();
	if (call == -ETIMEDOUT)
		return 0;
	if (call < 0 || lacks.len > 0) {
		inside_tell(&lacks, call);
		return 1;
	}
	/* As the first process it has no other use for them. */
	(void)signal(SIGPIPE, SIG_IGN);
	r = inside_take(call, &parcel);
	if (r == 0 && parcel.plan.image)
		r = root_replace(&parcel.plan);
	if (r < 0)
		r = cordon_fail_leaf(&err, r, "take the call");
	if (r == 0)
		r = inside_limits(&parcel.plan, &err);
	is_limited = parcel.plan.memory_bytes.is_given;
	/* The engine holds these. */
	parcel.plan.memory_bytes = parcel.plan.cpu_shares = parcel.plan.cpu_percent =
		parcel.plan.max_processes = (struct plan_limit){0};
	(void)umask(parcel.mask);
	parcel.plan.take_network = inside_network;
	parcel.plan.network_data = &call;
	if (r == 0) {
		r = inside_compare(&parcel, &err);
		is_stale = r < 0;
	}
	if (r == 0)
		r = native_backend.spawn(&parcel.plan, &spawned, &err);
	if (r < 0) {
		(void)inside_answer(call, r, is_stale, &err, 0); /* or nobody is there any more */
		return 1;
	}
	(void)fd_close(parcel.plan.stdin_fd);
	(void)fd_close(parcel.plan.stdout_fd);
	(void)fd_close(parcel.plan.stderr_fd);
	/* The child had to be: who is not dumpable cannot have its ids mapped. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    inside_give(call, &spawned, parcel.plan.terminal != NULL) < 0)
		return 1;
	inside_stay(call, &spawned, is_limited);
}
