/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See keeper.h.  One poll loop without threads, in which nobody is waited for: who connects and says nothing, or asks
 * for something that takes a while, is a guest until he has his answer.  A connection is one request: a question is
 * answered and closed; a call's connection stays open as long as its caller lives, so that the keeper knows when to
 * take over what the call's background processes print.  It opened the pipes' reading ends for itself when the call
 * began, and reads nothing from them until then.
 */
#include "core/keeper.h"

#include "backend/native/child.h"
#include "backend/cgroup/cgroup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "base/path.h"
#include "core/keeper_ask.h"
#include "core/keeper_log.h"
#include "core/keeper_pause.h"
#include "core/keeper_plan.h"
#include "core/keeper_socket.h"
#include "core/keeper_view.h"
#include "run/links.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEPER_START_MS 60000 /* for the sandbox to be ready */
#define KEEPER_READ_BYTES 65536
#define KEEPER_REQUEST_MS 2000 /* for a request on a connection that was made */
#define KEEPER_BACKLOG 64
#define KEEPER_GUESTS 64 /* at one time; the one who waits longest goes when there are more */
#define KEEPER_READY_FD 3

/* A call, or what is left of one: its pipes. */
struct keeper_call {
	int connection;   /* -1: the caller is gone, and what comes goes to the log */
	int pipes[2];     /* reading ends, -1 when there is none */
	bool is_alone;    /* nobody enters beside it */
	bool has_secrets; /* what comes from it is read, so that nobody waits, and not kept */
	bool is_said;     /* in the log */
	bool answers;     /* what the proxy asks */
	bool has_terminal;
	uint64_t turn; /* in the order of their coming */
};

/* A connection that has no answer yet. */
struct keeper_guest {
	int fd; /* -1: none */
	enum serve_kind
		wants; /* 0: he has not said; SERVE_PAUSE, SERVE_CONTINUE or SERVE_LOOK: his turn comes */
	int64_t deadline; /* to say it */
	uint64_t turn;    /* in the order of their coming */
};

struct keeper {
	const struct keeper_options *options;
	struct keeper_plan plan;
	struct cgroup *cgroup;
	struct proc first;
	struct spawn_result spawned; /* where first, the channel and the doors come from */
	int channel;                 /* to the first process */
	int listener;
	int dir;
	int lock;
	int signals;
	struct keeper_log log;
	struct links links; /* granted ports and sockets of the host, published ports */
	bool is_ending;
	bool is_tainted; /* a call of a tainted session was here */
	int64_t idle_since;
	struct keeper_pause pause;
	struct keeper_ask ask;
	struct keeper_guest *asker; /* of the errand that is under way, or NULL when he is gone */
	uint64_t turns;
	struct keeper_guest guests[KEEPER_GUESTS];
	struct keeper_call calls[LIMIT_SANDBOX_CALLS];
};

/* What the starter hears. */
struct keeper_word {
	int32_t code;
	pid_t pid;
	uint64_t guarantees;
	uint64_t degraded;
	struct cordon_error error;
};

static void keeper_answer(const struct keeper *k, int fd, int error)
{
	const struct proxy_tally *tally = k->plan.egress.proxy.tally;
	struct serve_answer a = {
		.error = error,
		.first = k->first.pid,
		.is_paused = k->pause.is_paused,
		.freezer = (int32_t)(k->pause.group ? cgroup_freezer_of(k->pause.group)
						    : CGROUP_FREEZER_NONE),
		.alarms = tally ? tally->alarms : 0,
		.leaked_stored = tally ? tally->leaked.stored : 0,
		.leaked_by_rule = tally ? tally->leaked.by_rule : 0,
	};

	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++)
		a.calls += k->calls[i].connection >= 0;
	a.idle_ms = a.calls ? 0 : clock_ms() - k->idle_since;
	(void)send(fd, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT); /* or nobody waits for it */
}

static void keeper_say(struct keeper *k, const char *text)
{
	keeper_log_write(&k->log, text, strlen(text));
}

/* The same pipe, for reading; anything else is the caller's own and ends with the call. */
static int keeper_reading_end(int fd)
{
	char path[64];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static void keeper_refuse(int call, int error)
{
	struct native_message m = {.stage = NATIVE_STAGE_ENTER_CALL, .error = error};

	(void)send(call, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes the connection. */
static void keeper_enter(struct keeper *k, int connection, const struct serve_request *request,
			 const int *fds)
{
	struct keeper_call *call = NULL;
	bool is_closed = k->pause.is_paused || k->pause.errand == SERVE_PAUSE;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++)
		is_closed |= k->calls[i].connection >= 0 && k->calls[i].is_alone;
	for (size_t i = 0; !call && i < ARRAY_LEN(k->calls); i++)
		if (k->calls[i].connection < 0 && k->calls[i].pipes[0] < 0 &&
		    k->calls[i].pipes[1] < 0)
			call = &k->calls[i];
	if (is_closed || !call) {
		keeper_refuse(fds[SERVE_FD_CALL], is_closed ? EBUSY : EUSERS);
		(void)fd_close(connection);
		return;
	}
	r = fdpass_send(k->channel, request, sizeof(*request), fds, SERVE_FDS);
	if (r < 0) {
		keeper_refuse(fds[SERVE_FD_CALL], -r);
		(void)fd_close(connection);
		return;
	}
	call->connection = connection;
	call->is_alone = request->is_alone;
	call->has_secrets = request->has_secrets;
	call->is_said = false;
	call->answers = request->answers;
	k->is_tainted |= request->is_tainted;
	call->has_terminal = request->has_terminal;
	call->turn = k->turns++;
	for (int i = 0; i < 2; i++)
		call->pipes[i] = keeper_reading_end(fds[SERVE_FD_STDOUT + i]);
}

/* Is it a process of our user, outside of every sandbox? */
static bool keeper_trusts(int connection)
{
	AUTO_FREE char *status = NULL;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	const char *line;
	char path[64];
	size_t n;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
	    peer.uid != geteuid() || peer.pid <= 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)peer.pid);
	if (io_read_file_at(AT_FDCWD, path, LIMIT_CGROUP_FILE, &status, &n) < 0)
		return false;
	line = strstr(status, "\nNSpid:");
	if (!line)
		return false;
	line += strlen("\nNSpid:");
	line += strspn(line, "\t ");
	line += strspn(line, "0123456789");
	return *line == '\n'; /* one number: no namespace below ours */
}

/* Somebody connected. */
static void keeper_accept(struct keeper *k)
{
	AUTO_CLOSE int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
	struct keeper_guest *seat = NULL;

	if (fd < 0 || !keeper_trusts(fd))
		return;
	for (size_t i = 0; i < ARRAY_LEN(k->guests); i++) {
		struct keeper_guest *g = &k->guests[i];

		if (!seat || (seat->fd >= 0 && (g->fd < 0 || g->turn < seat->turn)))
			seat = g;
	}
	if (k->asker == seat)
		k->asker = NULL;
	(void)fd_close(seat->fd);
	*seat = (struct keeper_guest){
		.fd = TAKE_FD(fd),
		.deadline = clock_deadline(KEEPER_REQUEST_MS),
		.turn = k->turns++,
	};
}

static void keeper_dismiss(struct keeper *k, struct keeper_guest *g, int error)
{
	keeper_answer(k, g->fd, error);
	g->fd = fd_close(g->fd);
	g->wants = 0;
}

/* A guest says what he wants. */
static void keeper_hear(struct keeper *k, struct keeper_guest *g)
{
	struct serve_request request;
	int fds[FDPASS_MAX];
	size_t n = 0;
	ssize_t got =
		fdpass_receive(g->fd, &request, sizeof(request), /* deadline_ms= */ 0, fds, &n);

	if (got != sizeof(request)) {
		keeper_dismiss(k, g, EINVAL);
	} else if (request.kind == SERVE_ENTER && n == SERVE_FDS) {
		keeper_enter(k, TAKE_FD(g->fd), &request, fds);
	} else if (request.kind == SERVE_PAUSE || request.kind == SERVE_CONTINUE) {
		g->wants = (enum serve_kind)request.kind;
	} else if (request.kind == SERVE_STATUS && k->pause.is_paused) {
		/* Nobody hears that it is paused without a look: something may have continued what was stopped. */
		g->wants = SERVE_LOOK;
	} else {
		k->is_ending |= request.kind == SERVE_END;
		keeper_dismiss(k, g,
			       request.kind == SERVE_END || request.kind == SERVE_STATUS ? 0
											 : EINVAL);
	}
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
}

/* An errand has ended. */
static void keeper_tell(struct keeper *k, enum serve_kind kind, int r)
{
	struct keeper_guest *g = k->asker;

	k->asker = NULL;
	if (kind == SERVE_LOOK && r < 0)
		keeper_say(k,
			   "cordon: processes of the paused sandbox went on; it is not paused\n");
	if (g)
		keeper_dismiss(k, g, kind == SERVE_LOOK ? 0 : -r);
}

/* Goes on with the errand that is under way, then with those who wait, in turn. */
static void keeper_errands(struct keeper *k)
{
	enum serve_kind kind = k->pause.errand;
	int r = kind ? keeper_pause_step(&k->pause) : 0;

	while (r != KEEPER_UNDER_WAY) {
		struct keeper_guest *next = NULL;

		if (kind)
			keeper_tell(k, kind, r);
		for (size_t i = 0; i < ARRAY_LEN(k->guests); i++) {
			struct keeper_guest *g = &k->guests[i];

			if (g->fd >= 0 && g->wants && (!next || g->turn < next->turn))
				next = g;
		}
		if (!next)
			return;
		k->asker = next;
		kind = next->wants;
		r = keeper_pause_begin(&k->pause, kind);
	}
}

/* The caller has gone: its call is over, and its pipes are ours. */
static void keeper_call_ended(struct keeper *k, struct keeper_call *call)
{
	keeper_ask_gone(&k->ask, call->connection);
	call->connection = fd_close(call->connection);
	k->idle_since = clock_ms();
}

/* Who is asked, when the proxy asks: a connection, or -1. */
static int keeper_answerer(const struct keeper *k)
{
	const struct keeper_call *best = NULL;

	/* Who wants the host is not known: it may be what that call left. */
	if (k->is_tainted)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++) {
		const struct keeper_call *c = &k->calls[i];

		if (c->connection < 0 || !c->answers)
			continue;
		if (!best || c->has_terminal > best->has_terminal ||
		    (c->has_terminal == best->has_terminal && c->turn > best->turn))
			best = c;
	}
	return best ? best->connection : -1;
}

static void keeper_read(struct keeper *k, struct keeper_call *call, int *pipe)
{
	static char bytes[KEEPER_READ_BYTES];
	ssize_t n = read(*pipe, bytes, sizeof(bytes));

	if (n > 0 && call->has_secrets && !call->is_said) {
		keeper_say(k, "cordon: what a call with stored secrets prints is not kept\n");
		call->is_said = true;
	}
	if (n > 0 && !call->has_secrets)
		keeper_log_write(&k->log, bytes, (size_t)n);
	else if (n > 0)
		explicit_bzero(bytes, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		*pipe = fd_close(*pipe);
}

#define KEEPER_POLLS_OWN 5
#define KEEPER_POLLS (KEEPER_POLLS_OWN + KEEPER_GUESTS + 3 * LIMIT_SANDBOX_CALLS + LINKS_POLLS)

/* The rows for guests, as long as they have not said what they want; for calls: their connection, then their pipes
 * once that is gone. */
static size_t keeper_poll_rows(const struct keeper *k, struct pollfd *polls)
{
	size_t n = 0;

	polls[n++] = (struct pollfd){.fd = k->first.pidfd, .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = k->signals, .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = k->listener, .events = POLLIN};
	/* It speaks only when an errand is under way. */
	polls[n++] = (struct pollfd){.fd = k->pause.errand && !k->pause.group ? k->channel : -1,
				     .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = keeper_ask_fd(&k->ask), .events = POLLIN};
	for (size_t i = 0; i < ARRAY_LEN(k->guests); i++)
		polls[n++] = (struct pollfd){.fd = k->guests[i].wants ? -1 : k->guests[i].fd,
					     .events = POLLIN};
	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++) {
		const struct keeper_call *c = &k->calls[i];

		polls[n++] = (struct pollfd){.fd = c->connection, .events = POLLIN};
		for (int j = 0; j < 2; j++)
			polls[n++] = (struct pollfd){.fd = c->connection < 0 ? c->pipes[j] : -1,
						     .events = POLLIN};
	}
	return n;
}

static bool keeper_is_busy(const struct keeper *k)
{
	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++)
		if (k->calls[i].connection >= 0)
			return true;
	return false;
}

/* When it is ended because nobody uses it. */
static int64_t keeper_idle_end(const struct keeper *k)
{
	int64_t idle = k->options->row->idle_ms;

	return idle > 0 && !k->pause.is_paused && !keeper_is_busy(k) ? k->idle_since + idle
								     : CLOCK_NEVER;
}

static int64_t keeper_deadline(const struct keeper *k)
{
	int64_t first = keeper_idle_end(k);
	int64_t step = keeper_pause_deadline(&k->pause);

	first = step < first ? step : first;
	for (size_t i = 0; i < ARRAY_LEN(k->guests); i++) {
		const struct keeper_guest *g = &k->guests[i];

		if (g->fd >= 0 && !g->wants && g->deadline < first)
			first = g->deadline;
	}
	return first;
}

static void keeper_serve_guests(struct keeper *k, const struct pollfd *rows)
{
	for (size_t i = 0; i < ARRAY_LEN(k->guests); i++) {
		struct keeper_guest *g = &k->guests[i];

		if (g->fd < 0 || g->wants)
			continue;
		if (rows[i].revents && rows[i].fd == g->fd)
			keeper_hear(k, g);
		else if (clock_ms() >= g->deadline)
			keeper_dismiss(k, g, ETIMEDOUT);
	}
	keeper_errands(k);
}

static void keeper_serve_calls(struct keeper *k, const struct pollfd *polls)
{
	for (size_t i = 0; i < ARRAY_LEN(k->calls); i++) {
		struct keeper_call *c = &k->calls[i];
		const struct pollfd *rows = &polls[3 * i];

		if (rows[0].revents && c->connection == rows[0].fd &&
		    !keeper_ask_hear(&k->ask, c->connection))
			keeper_call_ended(k, c);
		for (int j = 0; j < 2; j++)
			if (rows[1 + j].revents)
				keeper_read(k, c, &c->pipes[j]);
	}
}

static void keeper_loop(struct keeper *k)
{
	static struct pollfd polls[KEEPER_POLLS];

	while (!k->is_ending) {
		struct signalfd_siginfo info;
		size_t n = keeper_poll_rows(k, polls);
		struct pollfd *links = &polls[n];

		n += links_poll(&k->links, links);
		if (poll(polls, n, clock_poll_timeout(keeper_deadline(k))) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		links_move(&k->links, links);
		keeper_serve_calls(k, polls + KEEPER_POLLS_OWN + KEEPER_GUESTS);
		keeper_serve_guests(k, polls + KEEPER_POLLS_OWN);
		if (polls[0].revents)
			return; /* the first process is gone */
		while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			k->is_ending |= info.ssi_signo == SIGTERM;
		if (polls[2].revents)
			keeper_accept(k);
		if (polls[4].revents)
			keeper_ask_pass(&k->ask, keeper_answerer(k));
		if (clock_ms() >= keeper_idle_end(k)) {
			keeper_say(k, "cordon: nobody used the sandbox; it was ended\n");
			return;
		}
	}
}

static void keeper_await(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	(void)poll(&p, 1, SUPERVISE_KILL_WAIT_MS);
}

/* Kills what is left and waits for it: who asked for the end hears of it by the end of the keeper. */
static void keeper_end(struct keeper *k)
{
	struct proc_exit end;

	if (k->first.pidfd >= 0) {
		/* Who is watched ends all, and itself last; SIGKILL would leave that to others. */
		if (k->spawned.is_watched)
			backend_kill(&k->spawned);
		else
			(void)!proc_signal(&k->first, SIGKILL); /* or it is gone */
		if (k->cgroup)
			cgroup_kill(
				k->cgroup); /* what is frozen may have to go on in order to die */
		keeper_await(k->first.pidfd);
		if (k->spawned.has_first)
			keeper_await(k->spawned.first_fd);
		(void)!proc_signal(&k->first, SIGKILL);
		if (proc_reap(&k->first, &end) != 1)
			proc_done(&k->first);
	}
	if (k->spawned.notify.done)
		k->spawned.notify.done(k->spawned.notify.data);
	links_done(&k->links);
	(void)cgroup_end(TAKE_PTR(k->cgroup)); /* what is left of it the next call removes */
	keeper_plan_done(&k->plan);
	(void)unlink(k->options->row->socket);
}

static int keeper_listen(struct keeper *k, struct cordon_error *err)
{
	const char *path = k->options->row->socket;
	AUTO_FREE char *dir = strndup(path, (size_t)(path_base(path) - path));
	AUTO_CLOSE int at = -1;
	struct sockaddr_un address;
	int r = dir ? path_make_private_dir(dir, 0700) : -ENOMEM;

	if (r == 0)
		r = keeper_address(path, &at, &address);
	if (r < 0)
		return cordon_fail_leaf(err, r, "directory of sockets '%.200s'", dir ? dir : "");
	k->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (k->listener < 0)
		return cordon_fail_errno(err, errno, "make a socket");
	(void)unlink(path); /* of a keeper before us, who was killed: we have the lock */
	(void)umask(0077);
	if (bind(k->listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(k->listener, KEEPER_BACKLOG) < 0)
		return cordon_fail_errno(err, errno, "listen on '%.200s'", path);
	return 0;
}

/* By POSIX's rules: the lock is this process's alone, and no child has it. */
static int keeper_lock(struct keeper *k, struct cordon_error *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	k->dir = open(k->options->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (k->dir < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", k->options->dir);
	k->lock = openat(k->dir, KEEPER_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (k->lock < 0)
		return cordon_fail_errno(err, errno, "open the keeper's file");
	if (fcntl(k->lock, F_SETLK, &lock) < 0)
		return cordon_fail(err, CORDON_E_BUSY, "the sandbox has a keeper already");
	return 0;
}

/* For the limits, and to pause.  Without limits it can be done without, and processes are paused by signals. */
static int keeper_group(struct keeper *k, struct cordon_error *err)
{
	struct plan *plan = &k->plan.plan;
	bool is_needed = cgroup_is_needed(plan);
	int r = cgroup_make(plan, &k->cgroup, is_needed ? err : NULL);

	if (r < 0)
		return is_needed ? r : 0;
	plan->cgroup = k->cgroup;
	if (cgroup_freezer_of(k->cgroup) != CGROUP_FREEZER_NONE)
		k->pause.group = k->cgroup;
	return 0;
}

static int keeper_spawn(struct keeper *k, struct cordon_error *err)
{
	struct plan *plan = &k->plan.plan;
	struct spawn_result spawned = {.status_fd = -1, .notify_fd = -1, .terminal_fd = -1};
	int r = 0;

	if (plan->net == PLAN_NET_PROXY) {
		r = egress_start(k->options->policy, &k->plan.secrets, &k->plan.view,
				 &k->plan.egress, err);
		plan->ops = k->plan.view.ops;
		plan->op_count = k->plan.view.n;
		plan->take_network = egress_take;
		plan->network_data = &k->plan.egress;
	}
	if (r == 0)
		r = links_init(&k->links, plan, err);
	if (r == 0)
		r = keeper_group(k, err);
	if (r == 0)
		r = k->plan.selection.backend->spawn(plan, &spawned, err);
	if (r < 0)
		return r;
	keeper_plan_forget_secrets(&k->plan);
	k->first = spawned.proc;
	k->spawned = spawned;
	k->channel = k->pause.channel = spawned.status_fd;
	cow_close(&k->plan.cow);
	k->plan.cow = COW_NONE;
	if (k->links.n > 0 && links_listen(&k->links, &spawned.doors) < 0)
		r = cordon_fail(err, CORDON_E_INTERNAL, "the backend made no sockets");
	if (doors_are_wanted(plan))
		doors_done(&spawned.doors);
	keeper_ask_init(&k->ask, k->options->policy->net_ask ? &k->plan.egress.proxy : NULL);
	return r;
}

/* Blocked and not ignored: what is ignored would stay so in every command of the sandbox. */
static int keeper_signals(void)
{
	static const int blocked[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTOU, SIGPIPE, SIGTERM};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t taken;
	sigset_t mask;
	int fd;

	(void)sigemptyset(&mask); /* these cannot fail with valid signals */
	(void)sigemptyset(&taken);
	(void)sigaddset(&taken, SIGTERM);
	for (size_t i = 0; i < ARRAY_LEN(blocked); i++)
		(void)sigaddset(&mask, blocked[i]);
	if (sigprocmask(SIG_SETMASK, &mask, NULL) < 0)
		return -errno;
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &standard, NULL); /* some cannot be set: they are standard */
	fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int keeper_prepare(struct keeper *k, struct cordon_error *err)
{
	const struct keeper_options *o = k->options;
	int r = keeper_lock(k, err);

	if (r < 0)
		return r;
	k->signals = keeper_signals();
	if (k->signals < 0)
		return cordon_fail_errno(err, -k->signals, "receive signals");
	r = keeper_log_open(k->dir, &k->log);
	if (r < 0)
		return cordon_fail_leaf(err, r, "open the log");
	r = keeper_plan_make(o->policy, o->selection, o->row, o->state_dir, &k->plan, err);
	if (r == 0)
		r = keeper_view_write(o->dir, &k->plan.view, err);
	if (r == 0)
		r = keeper_placeholders_write(o->dir, &k->plan.secrets, err);
	if (r == 0)
		r = keeper_listen(k, err);
	return r < 0 ? r : keeper_spawn(k, err);
}

/* Nothing of the caller's stays: neither descriptors nor directory nor session. */
static int keeper_detach(int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || chdir("/") < 0)
		return -errno;
	ready = fd_dup(ready, KEEPER_READY_FD + 1);
	if (ready < 0)
		return ready;
	for (int fd = 0; fd < 3; fd++)
		if (dup2(null, fd) < 0)
			return -errno;
	if (dup3(ready, KEEPER_READY_FD, O_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, KEEPER_READY_FD + 1U, ~0U, 0) < 0)
		return -errno;
	(void)prctl(PR_SET_NAME, "cordon-keeper");
	return 0;
}

_Noreturn static void keeper_main(const struct keeper_options *o, int ready)
{
	static struct keeper k; /* large, and there is one */
	struct keeper_word word = {.pid = getpid()};
	int r = keeper_detach(ready);

	k = (struct keeper){.options = o,
			    .first = PROC_NONE,
			    .channel = -1,
			    .listener = -1,
			    .dir = -1,
			    .lock = -1,
			    .signals = -1,
			    .log = KEEPER_LOG_NONE,
			    .pause = KEEPER_PAUSE_NONE};
	for (size_t i = 0; i < ARRAY_LEN(k.guests); i++)
		k.guests[i] = (struct keeper_guest){.fd = -1};
	for (size_t i = 0; i < ARRAY_LEN(k.calls); i++)
		k.calls[i] = (struct keeper_call){.connection = -1, .pipes = {-1, -1}};
	r = r < 0 ? cordon_fail_errno(&word.error, -r, "detach the keeper")
		  : keeper_prepare(&k, &word.error);
	k.idle_since = clock_ms();
	word.code = r;
	word.guarantees = k.plan.selection.guarantees;
	word.degraded = k.plan.selection.degraded;
	/* A starter that was killed meanwhile left a row that says nothing of us: the next command finds us. */
	(void)send(KEEPER_READY_FD, &word, sizeof(word), MSG_NOSIGNAL);
	(void)fd_close(KEEPER_READY_FD);
	if (r == 0)
		keeper_loop(&k);
	keeper_end(&k);
	_exit(0);
}

/* Two forks, so that nobody has to wait for the keeper and nobody's wait() sees it. */
static int keeper_fork(const struct keeper_options *o, int ready, struct cordon_error *err)
{
	pid_t middle = fork();
	int status;

	if (middle < 0)
		return cordon_fail_errno(err, errno, "start the keeper");
	if (middle == 0) {
		pid_t pid;

		(void)setsid(); /* cannot fail: a new process leads no group */
		pid = fork();
		if (pid == 0)
			keeper_main(o, ready);
		_exit(pid < 0 ? 1 : 0);
	}
	while (waitpid(middle, &status, 0) < 0)
		if (errno != EINTR)
			break;
	return 0;
}

int keeper_start(const struct keeper_options *o, struct keeper_started *ret,
		 struct cordon_error *err)
{
	AUTO_CLOSE int ours = -1;
	struct keeper_word word;
	int pair[2];
	ssize_t n;
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel to the keeper");
	ours = pair[0];
	r = keeper_fork(o, pair[1], err);
	(void)fd_close(pair[1]);
	if (r < 0)
		return r;
	n = io_read(ours, &word, sizeof(word), clock_deadline(KEEPER_START_MS));
	if (n != sizeof(word))
		return cordon_fail(err, n == -ETIMEDOUT ? CORDON_E_TIMEOUT : CORDON_E_SYSTEM,
				   "the sandbox's keeper did not start");
	if (word.code < 0) {
		if (err)
			*err = word.error;
		return word.code;
	}
	*ret = (struct keeper_started){word.pid, word.guarantees, word.degraded};
	return 0;
}
