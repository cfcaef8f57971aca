/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  One poll() loop waits for the command's pidfd, a signalfd, the control group's news
 * of memory trouble (if memory is limited), calls that wait for an answer (if any do) and at most three streams, with
 * the nearest deadline as its timeout.  poll() and not epoll: one system call instead of five, mostly slept in once.
 *
 * A call without capture or output limit has no streams: the command writes straight to where we
 * would, and costs nothing.
 *
 * The process group is killed while its leader is still a zombie: until we reap it, its number cannot
 * belong to anybody else.
 */
#include "run/supervisor.h"

#include "backend/cgroup/cgroup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "run/outcome.h"
#include "run/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void supervise_result_done(struct supervise_result *r)
{
	if (!r)
		return;
	buf_done(&r->stdout_data);
	buf_done(&r->stderr_data);
}

/* Does the command write to fd only through us? */
static bool supervise_sees(const struct supervisor *s, const struct cordon_backend *backend,
			   const struct plan *plan, int fd)
{
	const struct supervise_options *o = s->options;

	return o->captures || o->max_output_bytes.is_given || o->stages[STAGE_STDOUT] ||
	       plan->entry || /* what stays in the background keeps nothing of the caller's */
	       (backend->has_kernel && relay_wants_pipe(fd)) ||
	       (o->uses_terminal && isatty(fd) == 1);
}

/* One pipe for both streams keeps their order, where nobody has to tell them apart. */
static bool supervise_joins(const struct supervise_options *o, const struct plan *plan)
{
	struct stat out;
	struct stat err;

	return !o->captures && !o->stages[STAGE_STDOUT] && isatty(plan->stdout_fd) == 1 &&
	       isatty(plan->stderr_fd) == 1 && fstat(plan->stdout_fd, &out) == 0 &&
	       fstat(plan->stderr_fd, &err) == 0 && out.st_rdev == err.st_rdev;
}

/* Puts pipes in the place of the plan's outputs when we have to see them.  What goes to a terminal passes the filter,
 * whoever wrote it. */
static int supervise_setup_streams(struct supervisor *s, const struct cordon_backend *backend,
				   struct plan *plan, int ret_ends[static 2],
				   struct cordon_error *err)
{
	const struct supervise_options *o = s->options;
	int *const fds[2] = {&plan->stdout_fd, &plan->stderr_fd};
	struct buf *const captures[2] = {&s->result->stdout_data, &s->result->stderr_data};
	bool joins = supervise_joins(o, plan);

	s->budget.left = o->max_output_bytes;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		int sink = o->captures && o->is_quiet ? -1 : *fds[i];
		struct relay *to = &s->streams[s->stream_count];
		struct buf *capture = o->captures ? captures[i] : NULL;
		int r;

		if ((s->terminal.is_used && s->terminal.plan.streams[i + 1]) ||
		    !supervise_sees(s, backend, plan, *fds[i]))
			continue;
		if (i == 1 && joins && ret_ends[0] >= 0) {
			*fds[1] = ret_ends[0];
			s->streams[s->stream_count - 1].reader = plan->seen ? &s->reader : NULL;
			continue;
		}
		if (sink >= 0 && isatty(sink) == 1)
			r = relay_init_filtered(to, sink, capture, &s->budget, &s->filters[i],
						&ret_ends[i]);
		else
			r = relay_init(to, sink, capture, &s->budget, &ret_ends[i]);
		if (r < 0)
			return cordon_fail_leaf(err, r, "connect the command's output");
		to->stage = o->stages[STAGE_STDOUT + i];
		if (i == 1 && plan->seen)
			to->reader = &s->reader;
		s->stream_count++;
		*fds[i] = ret_ends[i];
	}
	s->reader.seen = plan->seen;
	return 0;
}

/* The caller's terminal as standard input of a command that has none of its own.  At level none it stays: such a
 * command can open it by its name. */
static int supervise_setup_input(struct supervisor *s, const struct cordon_backend *backend,
				 struct plan *plan, struct cordon_error *err)
{
	const struct supervise_options *o = s->options;
	int r;

	if (isatty(plan->stdin_fd) != 1 || backend->info->level == LEVEL_NONE)
		return 0;
	/* When keys may be meant for others (terminal.h) it reads nothing, and sees its end at once. */
	if (backend->terminal == BACKEND_TERMINAL_NONE && !(o->captures && o->is_quiet) &&
	    isatty(plan->stdout_fd) == 1 && terminal_has_foreground(plan->stdin_fd)) {
		r = typed_init(&s->typed, plan->stdin_fd, &s->input);
	} else {
		s->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
		r = s->input < 0 ? -errno : 0;
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "make the command's input");
	plan->stdin_fd = s->input;
	plan->keeps_group = false;
	return 0;
}

/* Decides whether the command gets a terminal, and makes it where the backend does not. */
static int supervise_setup_terminal(struct supervisor *s, const struct cordon_backend *backend,
				    struct plan *plan, struct cordon_error *err)
{
	const struct supervise_options *o = s->options;
	int *const fds[] = {&plan->stdin_fd, &plan->stdout_fd, &plan->stderr_fd};
	bool has_own = backend->terminal == BACKEND_TERMINAL_OWN;
	int r = 0;

	if (!o->uses_terminal)
		return 0;
	if (backend->terminal != BACKEND_TERMINAL_NONE)
		r = terminal_init(&s->terminal, plan, !(o->captures && o->is_quiet), has_own);
	if (r == 0 && !s->terminal.is_used)
		return supervise_setup_input(s, backend, plan, err);
	if (r == 0 && s->terminal.is_used) {
		plan->terminal = &s->terminal.plan;
		plan->keeps_group = false;
		if (!has_own)
			r = terminal_open_host(&s->terminal, &s->slave);
	}
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a terminal");
	for (size_t i = 0; s->slave >= 0 && i < ARRAY_LEN(fds); i++)
		if (s->terminal.plan.streams[i])
			*fds[i] = s->slave;
	return 0;
}

/* The command runs: its terminal is connected with the caller's. */
static int supervise_connect_terminal(struct supervisor *s, struct cordon_error *err)
{
	struct buf *capture = s->options->captures ? &s->result->stdout_data : NULL;
	int source = fd_dup(s->terminal.master, 3);
	int r = source < 0 ? source : fd_nonblock(source, true);

	if (r == 0) {
		r = relay_init_terminal(&s->streams[s->stream_count], TAKE_FD(source),
					terminal_sink(&s->terminal), capture, &s->budget,
					&s->terminal.filter);
		s->streams[s->stream_count].stage = s->options->stages[STAGE_TERMINAL];
		if (r == 0 && s->reader.seen)
			s->streams[s->stream_count].reader = &s->reader;
		s->stream_count += r == 0;
	}
	(void)fd_close(source);
	if (r < 0)
		return cordon_fail_leaf(err, r, "connect the command's terminal");
	if (s->terminal.plan.is_foreground)
		terminal_enter(&s->terminal);
	return 0;
}

static bool supervise_streams_finished(const struct supervisor *s)
{
	for (size_t i = 0; i < s->stream_count; i++)
		if (!relay_is_finished(&s->streams[i]))
			return false;
	return true;
}

static int supervise_move_streams(struct supervisor *s, const struct pollfd *polls,
				  struct cordon_error *err)
{
	for (size_t i = 0; i < s->stream_count; i++) {
		int r = relay_move(&s->streams[i], polls[i].revents);

		if (r < 0)
			return cordon_fail_leaf(err, r, "pass the command's output on");
		/* The pipes stay open and what still comes is dropped: with a closed one the command
		 * would die of SIGPIPE before it hears the SIGTERM that it may want to handle. */
		if (s->budget.is_exceeded)
			supervise_end(s);
	}
	return 0;
}

static int supervise_deadline_passed(struct supervisor *s, struct cordon_error *err)
{
	switch (s->phase) {
	case PHASE_RUNNING:
		s->result->is_timed_out = true;
		supervise_end(s);
		return 0;
	case PHASE_TERMINATING:
		supervise_kill(s);
		s->phase = PHASE_KILLED;
		s->deadline = clock_deadline(SUPERVISE_KILL_WAIT_MS);
		return 0;
	case PHASE_KILLED:
		return cordon_fail(err, CORDON_E_TIMEOUT, "the command does not end after SIGKILL");
	case PHASE_DRAINING:
		for (size_t i = 0; i < s->stream_count; i++)
			relay_drain(&s->streams[i]);
		if (s->has_own_group)
			supervise_signal(s, SIGKILL); /* those who hold the pipes */
		if (s->cgroup)
			cgroup_kill(s->cgroup);
		s->phase = PHASE_FLUSHING;
		s->deadline = s->result->is_timed_out ? clock_deadline(s->options->grace_ms)
						      : s->timeout_at;
		return 0;
	case PHASE_FLUSHING:
		for (size_t i = 0; i < s->stream_count; i++)
			relay_drop(&s->streams[i]);
		return 0;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "supervisor in phase %d", (int)s->phase);
}

static void supervise_out_of_memory(struct supervisor *s)
{
	s->result->is_oom = true;
	supervise_kill(s);
	s->phase = PHASE_KILLED;
	s->deadline = clock_deadline(SUPERVISE_KILL_WAIT_MS);
}

/* Any kill at the memory limit ends the call: what is left would go on without one of its parts.  A report
 * may come before the kill that it announces, so the counter is looked at for a while. */
static void supervise_watch_memory(struct supervisor *s, bool is_reported)
{
	struct cgroup_events events;

	if (is_reported)
		s->oom_looks = SUPERVISE_OOM_LOOKS;
	if (s->oom_looks == 0 || s->phase >= PHASE_KILLED)
		return;
	s->oom_looks--;
	cgroup_look(s->cgroup, &events);
	if (!events.is_oom_killed)
		return;
	s->oom_looks = 0;
	supervise_out_of_memory(s);
}

/* The same without a group: the sum is looked at from time to time, the more often the nearer it is. */
static void supervise_sample(struct supervisor *s)
{
	uint64_t limit = s->sampled.value;
	struct sample now;

	if (clock_ms() < s->sample_at || s->phase >= PHASE_KILLED)
		return;
	if (sample_tree(s->proc.pid, limit, &now) < 0) {
		s->sample_at = clock_deadline(SUPERVISE_SAMPLE_FAR_MS);
		return; /* it is ending */
	}
	if ((int64_t)(now.bytes / 1024) > s->result->usage.memory_peak_kb)
		s->result->usage.memory_peak_kb = (int64_t)(now.bytes / 1024);
	if (now.bytes > limit)
		supervise_out_of_memory(s);
	s->sample_at = clock_deadline(now.bytes > limit / 4 ? SUPERVISE_SAMPLE_NEAR_MS
							    : SUPERVISE_SAMPLE_FAR_MS);
}

static int supervise_poll_timeout(const struct supervisor *s)
{
	int ms = clock_poll_timeout(s->deadline);

	if (s->sample_at != CLOCK_NEVER && s->phase < PHASE_KILLED) {
		int next = clock_poll_timeout(s->sample_at);

		ms = ms < 0 || next < ms ? next : ms;
	}
	if (s->oom_looks > 0 && s->phase < PHASE_KILLED && (ms < 0 || ms > SUPERVISE_OOM_LOOK_MS))
		return SUPERVISE_OOM_LOOK_MS;
	return ms;
}

/* What the backend's descriptor has to say.  Trouble there ends the call: nobody else answers. */
static int supervise_notified(struct supervisor *s, struct cordon_error *err)
{
	int r = s->notify.handle(s->notify.data, s->notify_fd);

	if (r != 0)
		s->notify_fd = fd_close(s->notify_fd);
	return r < 0 ? cordon_fail_errno(err, -r, "answer the command's system calls") : 0;
}

/* Waits until the command has ended and its output is where it belongs. */
static int supervise_loop(struct supervisor *s, struct cordon_error *err)
{
	while (s->phase < PHASE_DRAINING || !supervise_streams_finished(s)) {
		struct pollfd polls[13 + LINKS_POLLS] = {
			{.fd = s->phase < PHASE_DRAINING ? s->proc.pidfd : -1, .events = POLLIN},
			{.fd = s->catch.fd, .events = POLLIN},
			{.fd = -1},
			{.fd = s->notify_fd, .events = POLLIN},
		};
		struct pollfd *terminal;
		struct pollfd *typed;
		struct pollfd *links;
		nfds_t count = 4;
		int r;

		if (s->cgroup && s->phase < PHASE_KILLED)
			polls[2] = cgroup_poll(s->cgroup);

		for (size_t i = 0; i < s->stream_count; i++)
			polls[count++] = relay_poll(&s->streams[i]);
		terminal = &polls[count];
		terminal_poll(&s->terminal, terminal);
		terminal[2] = (struct pollfd){.fd = -1, .events = POLLIN};
		if ((supervise_has_own_terminal(s) || s->has_kernel) && !s->has_status &&
		    s->phase < PHASE_DRAINING)
			terminal[2].fd = s->status_fd;
		count += 3;
		typed = &polls[count];
		typed_poll(&s->typed, typed);
		count += 2;
		links = &polls[count];
		count += links_poll(&s->links, links);
		polls[count++] = (struct pollfd){.fd = s->network_fd, .events = POLLIN};
		r = poll(polls, count,
			 typed_wait_ms(&s->typed, relay_wait_ms(s->streams, s->stream_count,
								supervise_poll_timeout(s))));
		if (r < 0 && errno != EINTR)
			return cordon_fail_errno(err, errno, "wait for the command");
		if (r > 0) {
			r = supervise_move_streams(s, &polls[4], err);
			if (r == 0 && polls[3].revents)
				r = supervise_notified(s, err);
			if (r < 0)
				return r;
			links_move(&s->links, links);
			terminal_move(&s->terminal, terminal);
			typed_move(&s->typed, typed);
			if (polls[count - 1].revents &&
			    terminal_lend(&s->terminal, s->options->network_event,
					  s->options->network_data, s->deadline, s->proc.pidfd) < 0)
				s->network_fd = -1;
			if (terminal[2].revents)
				supervise_take_status(s);
			if (s->has_kernel && s->has_status) /* the last word of the call */
				supervise_signal(s, SIGKILL);
			if (polls[1].revents)
				supervise_take_signals(s);
			if (polls[0].revents) {
				s->phase = PHASE_DRAINING;
				s->deadline = clock_deadline(SUPERVISE_DRAIN_MS);
				typed_done(&s->typed);
			}
		}
		relay_rest(s->streams, s->stream_count);
		if (s->cgroup)
			supervise_watch_memory(s, r >= 0 && polls[2].revents != 0);
		if (s->sample_at != CLOCK_NEVER)
			supervise_sample(s);
		if (s->deadline != CLOCK_NEVER && clock_ms() >= s->deadline) {
			r = supervise_deadline_passed(s, err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* What ended the command, where its process stands behind another one.  That one may have been killed
 * before it could tell: then its own end is all there is to know. */
static bool supervise_real_status(const struct supervisor *s, struct proc_exit *end)
{
	int status = s->status;
	bool has_status = s->has_status;

	/* With a terminal, stops may stand before it. */
	while (s->status_fd >= 0 && !has_status &&
	       io_read(s->status_fd, &status, sizeof(status), clock_deadline(0)) == sizeof(status))
		has_status = !WIFSTOPPED(status);
	if (!has_status)
		return false;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return true;
}

static int supervise_reap(struct supervisor *s, struct cordon_error *err)
{
	struct supervise_result *result = s->result;
	struct proc_exit end;
	bool has_status;
	bool is_lost;
	int r;

	if (s->has_own_group)
		supervise_signal(s, SIGKILL); /* whoever stayed behind in the group */
	r = s->is_foreign ? outcome_foreign(&s->proc, &end) : proc_reap(&s->proc, &end);
	if (r == 0)
		return cordon_fail(err, CORDON_E_INTERNAL, "the command has not ended");
	if (r < 0)
		return cordon_fail_errno(err, -r, "collect the command");
	has_status = supervise_real_status(s, &end);
	is_lost = !s->is_killed &&
		  ((s->tells_end && !has_status) || (s->is_engine && outcome_is_fault(end.signal)));
	if (s->is_agent &&
	    outcome_agent(s->status_fd, has_status, s->is_killed, result, &end, err) < 0)
		return CORDON_E_SYSTEM;
	if (s->is_foreign)
		outcome_foreign_usage(s->status_fd, &end.usage);
	result->signal = end.signal;
	result->exit_code = end.signal ? SUPERVISE_EXIT_SIGNAL + end.signal : end.code;
	if (result->is_timed_out)
		result->exit_code = SUPERVISE_EXIT_TIMEOUT;
	else if (result->is_oom)
		result->exit_code = SUPERVISE_EXIT_OOM;
	outcome_usage(&end.usage, &result->usage);
	for (size_t i = 0; i < s->stream_count; i++)
		result->is_output_truncated |= s->streams[i].is_cut && !s->streams[i].is_broken;
	r = s->cgroup ? outcome_cgroup(TAKE_PTR(s->cgroup), result, err) : 0;
	/* At the memory limit the kernel of the call is killed with it. */
	return r == 0 && is_lost && !result->is_oom ? outcome_lost(err) : r;
}

/* After trouble of our own nothing may stay behind. */
static void supervise_abandon(struct supervisor *s)
{
	struct pollfd p = {.fd = s->proc.pidfd, .events = POLLIN};
	struct proc_exit end;

	if (s->proc.pidfd >= 0) {
		supervise_kill(s);
		/* Bounded; what cannot die is init's later. */
		(void)poll(&p, 1, SUPERVISE_KILL_WAIT_MS);
		if (s->is_foreign || proc_reap(&s->proc, &end) != 1)
			proc_done(&s->proc);
	}
	(void)cgroup_end(TAKE_PTR(s->cgroup)); /* what is left of it the next call removes */
}

static int supervise_spawn(struct supervisor *s, const struct cordon_backend *backend,
			   struct plan *plan, struct cordon_error *err)
{
	struct spawn_result spawned = {.status_fd = -1, .notify_fd = -1};
	int ends[2] = {-1, -1};
	int r;

	r = supervise_setup_streams(s, backend, plan, ends, err);
	if (r == 0 && !plan->entry) /* a sandbox that stays has them since it was made */
		r = links_init(&s->links, plan, err);
	if (r == 0 && backend->takes_cgroup && cgroup_is_needed(plan)) {
		r = cgroup_make(plan, &s->cgroup, err);
		plan->cgroup = s->cgroup;
	}
	if (r == 0 && plan->seen) {
		r = opened_start(&s->opened, s->options->sensitive);
		s->result->misses_opened = r > 0;
		r = r < 0 ? cordon_nomem(err) : 0;
	}
	if (r == 0)
		r = backend->spawn(plan, &spawned, err);
	(void)fd_close(ends[0]);
	(void)fd_close(ends[1]);
	s->slave = fd_close(s->slave);
	s->input = fd_close(s->input);
	if (r < 0)
		return r;
	s->proc = spawned.proc;
	if (s->links.n > 0 && links_listen(&s->links, &spawned.doors) < 0)
		r = cordon_fail(err, CORDON_E_INTERNAL, "the backend made no sockets");
	if (doors_are_wanted(plan))
		doors_done(&spawned.doors);
	if (plan->terminal && backend->terminal == BACKEND_TERMINAL_OWN)
		s->terminal.master = spawned.terminal_fd;
	if (plan->entry && s->options->network_event)
		s->network_fd = plan->entry->channel(plan->entry->data);
	s->has_own_group = spawned.has_own_group;
	s->status_fd = spawned.status_fd;
	s->notify = spawned.notify;
	if (spawned.notify.handle)
		s->notify_fd = spawned.notify_fd;
	s->is_watched = spawned.is_watched;
	s->is_relayed = spawned.is_relayed;
	s->is_foreign = spawned.is_foreign;
	s->is_agent = spawned.is_agent;
	s->tells_end = spawned.tells_end;
	s->has_kernel = backend->has_kernel;
	s->is_engine = backend->is_engine;
	if (plan_memory_by_process(plan)) {
		s->sampled = plan->memory_bytes;
		s->sample_at = clock_deadline(SUPERVISE_SAMPLE_NEAR_MS);
	}
	s->result->tells_paths = spawned.tells_paths;
	s->result->is_told = spawned.notify.handle && plan->watch != PLAN_WATCH_NONE;
	s->result->is_started = true;
	if (r < 0)
		return r;
	return plan->terminal ? supervise_connect_terminal(s, err) : 0;
}

int supervise_run(const struct cordon_backend *backend, const struct plan *plan,
		  const struct supervise_options *options, struct supervise_result *ret,
		  struct cordon_error *err)
{
	struct plan own = *plan;
	struct supervisor s = {
		.options = options,
		.result = ret,
		.proc = PROC_NONE,
		.catch = {.fd = -1},
		.status_fd = -1,
		.notify_fd = -1,
		.opened = OPENED_NONE,
		.network_fd = options->network_event ? options->network_fd : -1,
		.timeout_at = CLOCK_NEVER,
		.streams = {RELAY_NONE, RELAY_NONE, RELAY_NONE},
		.terminal = TERMINAL_NONE,
		.slave = -1,
		.input = -1,
		.typed = TYPED_NONE,
		.sample_at = CLOCK_NEVER,
	};
	int64_t start = clock_ns();
	int r;

	*ret = (struct supervise_result){
		.usage = {.processes = -1, .memory_peak_kb = -1},
		.stdout_data = BUF_INIT(LIMIT_CAPTURE_BYTES),
		.stderr_data = BUF_INIT(LIMIT_CAPTURE_BYTES),
	};
	/* On a terminal the shell's job control must see one job: ours and the command's. */
	own.keeps_group = isatty(plan->stdin_fd) == 1 && !backend->has_kernel;
	r = supervise_setup_terminal(&s, backend, &own, err);
	s.shares_group = own.keeps_group;
	s.has_own_group = !own.keeps_group;
	if (r == 0)
		r = supervise_setup_signals(&s, err);
	if (r == 0)
		r = supervise_spawn(&s, backend, &own, err);
	if (r == 0) {
		s.timeout_at = clock_deadline(options->timeout_ms);
		s.deadline = s.timeout_at;
		r = supervise_loop(&s, err);
	}
	if (r == 0)
		r = supervise_reap(&s, err);
	if (r < 0) {
		supervise_abandon(&s);
		r = ret->is_started ? r : outcome_not_started(ret, r);
	}
	for (size_t i = 0; i < s.stream_count; i++)
		relay_done(&s.streams[i]);
	terminal_done(&s.terminal);
	typed_done(&s.typed);
	links_done(&s.links);
	supervise_restore_signals(&s);
	(void)fd_close(s.status_fd);
	(void)fd_close(s.slave);
	(void)fd_close(s.input);
	(void)fd_close(s.notify_fd);
	if (s.notify.done)
		s.notify.done(s.notify.data);
	message_finish(&s.reader);
	message_reader_done(&s.reader);
	if (plan->seen)
		ret->misses_opened |= !opened_finish(&s.opened, plan->seen);
	ret->duration_ms = (double)(clock_ns() - start) / 1e6;
	return r;
}
