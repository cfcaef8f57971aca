/* SPDX-License-Identifier: Apache-2.0 */
/* See monitor.h. */
#include "backend/vm/monitor.h"

#include "backend/confine/privileges.h"
#include "backend/view/step.h"
#include "backend/vm/control.h"
#include "backend/vm/room.h"
#include "backend/vm/wire.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MONITOR_FDS_SAFE 64 /* above every number that the emulator gets */
#define MONITOR_FDS_FIRST 8 /* where our own stand */
#define MONITOR_READY_MS                                                                           \
	90000 /* for a machine to boot, on a busy host with an emulated processor */

/* What is going on with the machine. */
struct watch {
	struct monitor *m;
	struct vm_link link;
	struct vm_end_of_stream streams[VM_STREAM_COUNT];
	int signals;
	size_t sent; /* of the block */
	bool is_ready;
	bool is_sent;
	bool is_started;
	bool has_end;
	struct vm_end end;
};

static struct watch watch; /* too large for a stack */

_Noreturn void monitor_lost(const struct monitor *m, const char *why)
{
	(void)dprintf(m->said, "%s\n", why);
	_exit(MONITOR_EXIT_LOST);
}

_Noreturn void monitor_execute(struct monitor *m)
{
	static char *const no_environment[] = {NULL};
	bool has[ARRAY_LEN(m->fds)];

	for (size_t i = 0; i < ARRAY_LEN(m->fds); i++) {
		has[i] = m->fds[i] >= 0;
		if (has[i] && (m->fds[i] = fd_dup(m->fds[i], MONITOR_FDS_SAFE)) < 0)
			_exit(127);
	}
	m->tool = fd_dup(m->tool, MONITOR_FDS_SAFE);
	m->said = fd_dup(m->said, MONITOR_FDS_SAFE);
	m->null = fd_dup(m->null, MONITOR_FDS_SAFE);
	if (m->tool < 0 || dup3(m->null, STDIN_FILENO, 0) < 0 ||
	    dup3(m->null, STDOUT_FILENO, 0) < 0 || dup3(m->said, STDERR_FILENO, 0) < 0)
		_exit(127);
	for (int i = 0; i < (int)ARRAY_LEN(m->fds); i++)
		if (has[i] && dup3(m->fds[i], MACHINE_FD_LINK + i, 0) < 0)
			_exit(127);
	(void)syscall(SYS_close_range, 3U, (unsigned)MACHINE_FD_LINK - 1, 0);
	(void)syscall(SYS_close_range, (unsigned)MACHINE_FD_END, ~0U, 1U << 2 /* CLOEXEC */);
	(void)execveat(m->tool, "", m->argv, no_environment, AT_EMPTY_PATH);
	(void)dprintf(STDERR_FILENO, "cannot be executed: %s\n", strerrordesc_np(errno));
	_exit(127);
}

int monitor_memory(const struct monitor *m)
{
	char word;

	return recv(m->channel, &word, 1, 0) == 1 ? 0 : -EPIPE;
}

static int monitor_start(struct monitor *m, int *ret_link)
{
	int link[2];
	int control[2];
	int network[2];
	sigset_t none;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, network) < 0)
		return -errno;
	m->fds[0] = link[1];
	m->fds[1] = control[1];
	m->fds[2] = network[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		monitor_execute(m);
	}
	for (size_t i = 0; i < ARRAY_LEN(m->fds); i++)
		m->fds[i] = i == MACHINE_FD_STATE - MACHINE_FD_LINK &&
					    m->machine->start == MACHINE_TEMPLATE
				    ? m->fds[i]
				    : fd_close(m->fds[i]);
	*ret_link = link[0];
	m->control = control[0];
	m->network = network[0];
	if (m->machine->start == MACHINE_RESUME && monitor_memory(m) < 0)
		_exit(MONITOR_EXIT_LOST); /* who copies it has said why */
	if (m->machine->start == MACHINE_RESUME &&
	    control_load(m->control, MACHINE_FD_STATE, clock_deadline(MONITOR_CONTROL_MS)) < 0)
		monitor_lost(m, "the template of the machine cannot be loaded");
	return fd_nonblock(link[0], true);
}

static int monitor_save(struct monitor *m)
{
	return control_save(m->control, m->fds[MACHINE_FD_STATE - MACHINE_FD_LINK],
			    clock_deadline(MONITOR_CONTROL_MS));
}

const struct monitor_engine monitor_qemu = {.connect = monitor_start, .save = monitor_save};

static int monitor_stage(struct monitor *m, struct stage_message *message)
{
	static struct room room;
	const struct plan *plan = m->program ? m->program->plan : NULL;
	int r;

	switch (message->stage) {
	case STAGE_PARENT:
		return stage_tie(m->channel, m->parent_end, SIGKILL);
	case STAGE_NAMESPACE:
		return stage_own_mounts(m->parent_mnt);
	case STAGE_SESSION:
		return (!plan || !plan->keeps_group) && setsid() < 0 ? -errno : 0;
	case STAGE_ROOT:
		return room_make(m->machine->has_kvm, m->engine->shares, &room);
	case STAGE_STEP:
		if (!m->program)
			return 0;
		r = stage_build(m->program, room.view, m->channel, &message->step);
		return r < 0 ? r : view_root_close(room.view);
	case STAGE_ENTER:
		return room_enter(&room);
	case STAGE_PRIVILEGES:
		r = m->engine->launch ? m->engine->launch(m) : 0;
		if (r == 0)
			r = privileges_drop();
		return r < 0 ? r : privileges_verify(SIGKILL);
	default:
		return 0;
	}
}

/* Waits for the machine's first word. */
static void monitor_ready(struct watch *w)
{
	int64_t deadline =
		clock_deadline(w->m->machine->has_kvm ? MONITOR_KVM_MS : MONITOR_READY_MS);
	struct vm_frame f;
	int r;

	while ((r = vm_link_next(&w->link, &f)) == 0) {
		struct pollfd p[] = {{.fd = w->link.fd, .events = POLLIN},
				     {.fd = w->m->channel, .events = POLLIN}};

		if (poll(p, 2, clock_poll_timeout(deadline)) == 0)
			monitor_lost(w->m, "the machine did not boot in time");
		if (p[1].revents & (POLLHUP | POLLERR))
			_exit(MONITOR_EXIT_LOST);
	}
	if (r < 0)
		_exit(MONITOR_EXIT_LOST); /* the emulator has said why */
	if (f.head.type != VM_READY || f.head.len != 0)
		monitor_lost(w->m, "the machine does not speak our language");
}

static int monitor_frame(struct watch *w, const struct vm_frame *f)
{
	struct stage_message stage;

	switch ((enum vm_type)f->head.type) {
	case VM_STAGE:
		if (w->is_started || f->head.len != sizeof(stage))
			return -EPROTO;
		memcpy(&stage, f->data, sizeof(stage));
		/* Steps are counted on the host alone. */
		if (stage.stage < 0 || stage.stage >= STAGE_COUNT || stage.step > 0)
			return -EPROTO;
		w->is_started = true;
		if (send(w->m->channel, &stage, sizeof(stage), MSG_NOSIGNAL) < 0 ||
		    stage.stage != STAGE_STARTED)
			_exit(127);
		return 0;
	case VM_END:
		if (!w->is_started || f->head.len != sizeof(w->end))
			return -EPROTO;
		memcpy(&w->end, f->data, sizeof(w->end));
		w->has_end = true;
		return 0;
	case VM_DATA:
	case VM_EOF:
	case VM_GONE:
	case VM_CREDIT:
		if (!w->is_started || f->head.stream >= VM_STREAM_COUNT)
			return -EPROTO;
		return vm_stream_take(&w->streams[f->head.stream], f->head.stream, f, &w->link);
	case VM_TOLD:
		if (w->m->told < 0 || f->head.len > VM_TOLD_MAX)
			return -EPROTO;
		/* What does not fit is lost, as the kernel's own would be. */
		(void)send(w->m->told, f->data, f->head.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		return 0;
	case VM_READY:
	case VM_CALL:
	case VM_SIGNAL:
	case VM_SIZE:
	case VM_TYPE_COUNT:
		break;
	}
	return -EPROTO;
}

/* The call, as fast as it is taken. */
static void monitor_send_call(struct watch *w)
{
	while (!w->is_sent && vm_link_has_room(&w->link, VM_FRAME_MAX)) {
		size_t left = w->m->block_len - w->sent;
		size_t n = left < VM_FRAME_MAX ? left : VM_FRAME_MAX;

		vm_link_put(&w->link, VM_CALL, 0, w->m->block + w->sent, n);
		w->sent += n;
		w->is_sent = n == 0;
	}
}

/* From the supervisor: signals, or the end. */
static void monitor_channel(struct watch *w)
{
	unsigned char signals[16];
	ssize_t n = recv(w->m->channel, signals, sizeof(signals), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		_exit(MONITOR_EXIT_LOST);
	for (ssize_t i = 0; i < n && vm_link_has_room(&w->link, 1); i++)
		vm_link_put(&w->link, VM_SIGNAL, 0, &signals[i], 1);
}

/* The window of the caller's terminal has changed, and with it that of ours. */
static void monitor_size(struct watch *w)
{
	struct winsize size;

	if (w->m->program->plan->terminal && vm_link_has_room(&w->link, sizeof(size)) &&
	    ioctl(w->streams[VM_STDIN].fd, TIOCGWINSZ, &size) == 0)
		vm_link_put(&w->link, VM_SIZE, 0, &size, sizeof(size));
}

/* On a terminal that we share, its signals come to us and not to the command. */
static void monitor_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		unsigned char sig = (unsigned char)info.ssi_signo;

		if (sig == SIGWINCH)
			monitor_size(w);
		if (sig == SIGCHLD || !w->m->program->plan->keeps_group || info.ssi_code <= 0)
			continue;
		if (vm_link_has_room(&w->link, 1))
			vm_link_put(&w->link, VM_SIGNAL, 0, &sig, 1);
	}
}

static struct timeval monitor_time(int64_t us)
{
	return (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
}

/* The command had it taken from it, and heard of nothing.  A terminal that is gone is a reader that went. */
static int monitor_output_error(const struct watch *w)
{
	for (unsigned i = VM_STDOUT; i < VM_STREAM_COUNT; i++)
		if (w->streams[i].error && !w->m->program->plan->terminal)
			return w->streams[i].error;
	return 0;
}

_Noreturn static void monitor_end(const struct watch *w)
{
	const struct vm_end *e = &w->end;
	const struct backend_end end = {
		.usage = {.ru_maxrss = e->max_rss_kb,
			  .ru_utime = monitor_time(e->user_us),
			  .ru_stime = monitor_time(e->sys_us)},
		.is_oom = e->is_oom != 0,
		.is_fork_refused = e->is_fork_refused != 0,
		.memory_peak_kb = e->memory_peak_kb,
		.output_error = monitor_output_error(w),
	};
	const int status = e->status;

	/* Who does not hear it hears that the call was lost. */
	(void)send(w->m->channel, &status, sizeof(status), MSG_NOSIGNAL);
	(void)send(w->m->channel, &end, sizeof(end), MSG_NOSIGNAL);
	_exit(WIFEXITED(e->status) ? WEXITSTATUS(e->status) : 128 + WTERMSIG(e->status));
}

static bool monitor_is_over(const struct watch *w)
{
	return w->has_end && vm_stream_is_over(&w->streams[VM_STDOUT]) &&
	       vm_stream_is_over(&w->streams[VM_STDERR]);
}

/* One round: waits for something, and passes it on. */
static void monitor_round(struct watch *w)
{
	enum { LINK, CHANNEL, SIGNALS, FIRST_STREAM };
	struct pollfd p[FIRST_STREAM + VM_STREAM_COUNT] = {
		/* After the end nothing goes over it any more. */
		[LINK] = {.fd = w->has_end ? -1 : w->link.fd, .events = vm_link_events(&w->link)},
		[CHANNEL] = {.fd = w->m->channel, .events = POLLIN},
		[SIGNALS] = {.fd = w->signals, .events = POLLIN},
	};
	struct vm_frame f;
	int r = 0;

	for (unsigned i = 0; i < VM_STREAM_COUNT; i++) {
		short events = w->is_started ? vm_stream_events(&w->streams[i], &w->link) : 0;

		p[FIRST_STREAM + i] =
			(struct pollfd){.fd = events ? w->streams[i].fd : -1, .events = events};
	}
	if (poll(p, ARRAY_LEN(p), -1) < 0)
		return;
	if (p[SIGNALS].revents)
		monitor_signals(w);
	if (p[CHANNEL].revents)
		monitor_channel(w);
	for (unsigned i = 0; i < VM_STREAM_COUNT; i++)
		if (p[FIRST_STREAM + i].revents && w->streams[i].fd >= 0)
			vm_stream_move(&w->streams[i], i, &w->link);
	monitor_send_call(w);
	while (!w->has_end && vm_link_has_room(&w->link, VM_FRAME_MAX) &&
	       (r = vm_link_next(&w->link, &f)) == 1)
		if (monitor_frame(w, &f) < 0)
			monitor_lost(w->m, "the machine sends what no machine of ours would");
	if (r < 0 || (!w->has_end && vm_link_flush(&w->link) < 0))
		monitor_lost(w->m, "the machine has ended by itself");
}

/* The far end of a terminal of the host's, on which nothing may happen: keys become signals and lines on the command's own
 * terminal, inside.  It is ours, so that we hear of its size. */
static int monitor_terminal(const struct watch *w)
{
	int tty = w->streams[VM_STDIN].fd;
	struct termios raw;

	if (tcgetattr(tty, &raw) < 0)
		return -errno;
	cfmakeraw(&raw);
	if (tcsetattr(tty, TCSANOW, &raw) < 0 || ioctl(tty, TIOCSCTTY, 0) < 0)
		return -errno;
	return fd_nonblock(tty, true);
}

static int monitor_streams(struct watch *w)
{
	const struct plan *plan = w->m->program->plan;
	int fds[] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd, w->m->channel,
		     w->link.fd,     w->m->said,      w->m->told};
	const int n = (int)ARRAY_LEN(fds) - (w->m->told < 0);
	sigset_t all;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	/* Nothing else of the caller's stays open: who waits for the end of a pipe waits for ours. */
	for (int i = 0; i < n; i++)
		if ((fds[i] = fd_dup(fds[i], MONITOR_FDS_SAFE)) < 0)
			return fds[i];
	for (int i = 0; i < n; i++)
		if (dup3(fds[i], MONITOR_FDS_FIRST + i, O_CLOEXEC) < 0)
			return -errno;
	if (syscall(SYS_close_range, 0U, (unsigned)MONITOR_FDS_FIRST - 1, 0) < 0 ||
	    syscall(SYS_close_range, (unsigned)(MONITOR_FDS_FIRST + n), ~0U, 0) < 0)
		return -errno;
	w->m->channel = MONITOR_FDS_FIRST + 3;
	w->link.fd = MONITOR_FDS_FIRST + 4;
	w->m->said = MONITOR_FDS_FIRST + 5;
	w->m->told = w->m->told < 0 ? -1 : MONITOR_FDS_FIRST + 6;
	w->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	for (int i = 0; i < VM_STREAM_COUNT; i++)
		vm_stream_init(&w->streams[i], MONITOR_FDS_FIRST + i, i == VM_STDIN);
	w->streams[VM_STDERR].is_finished = w->m->has_one_output;
	return w->signals < 0 ? -errno : plan->terminal ? monitor_terminal(w) : 0;
}

/* Saves what was booted, and says so. */
_Noreturn static void monitor_template(struct watch *w)
{
	const struct stage_message done = {.stage = STAGE_STARTED};

	if (w->m->engine->save(w->m) < 0)
		monitor_lost(w->m, "the state of the machine cannot be saved");
	(void)send(w->m->channel, &done, sizeof(done), MSG_NOSIGNAL);
	_exit(0);
}

_Noreturn void monitor_main(void *arg, bool is_in_cgroup)
{
	struct monitor *m = arg;
	struct stage_message message = {.stage = STAGE_PARENT};
	struct watch *w = &watch;
	int r = 0;

	(void)is_in_cgroup;
	(void)umask(
		0); /* the modes of our own directories are meant, and the machine has its own mask */
	for (; message.stage <= STAGE_PRIVILEGES; message.stage++) {
		r = monitor_stage(m, &message);
		if (r < 0)
			stage_report(m->channel, &message, r);
	}
	w->m = m;
	message.stage = STAGE_TOOL;
	r = m->engine->connect(m, &w->link.fd);
	if (r < 0)
		stage_report(m->channel, &message, r);
	if (m->machine->start == MACHINE_RESUME && !m->engine->is_heard) {
		vm_link_put(&w->link, VM_READY, 0, NULL, 0);
		if (vm_link_flush(&w->link) < 0)
			monitor_lost(m, "the machine has ended by itself");
	}
	monitor_ready(w);
	if (m->machine->start == MACHINE_TEMPLATE)
		monitor_template(w);
	if (m->program->plan->net == PLAN_NET_PROXY) {
		message.stage = STAGE_HOST;
		r = monitor_network(m);
		if (r < 0)
			stage_report(m->channel, &message, r);
	}
	message.stage = STAGE_STDIO;
	r = monitor_streams(w);
	if (r < 0)
		stage_report(m->channel, &message, r);
	monitor_send_call(w);
	if (vm_link_flush(&w->link) < 0)
		monitor_lost(m, "the machine has ended by itself");
	while (!monitor_is_over(w))
		monitor_round(w);
	monitor_end(w);
}
