/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  One clone() makes all namespaces; the new process is pid 1 of its pid namespace.
 * A command cannot be pid 1 itself (no signal has its default effect there, and orphans would stay
 * zombies), so it is started as a child.  Pid 1 puts itself under the same Landlock domain and filter
 * *before* that, so nothing unfiltered is ever in there with the command; it shares no memory with it and
 * is not dumpable, so it cannot be traced or read.  When pid 1 goes, the kernel kills all others.
 *
 * Pid 1 dies with our own process (PR_SET_PDEATHSIG).  Signals: where the command is in the group that
 * pid 1 leads the supervisor signals the group and pid 1 has nothing to do; on a terminal (tty.h, or the
 * caller's own, where the group is shared with the supervisor) it signals pid 1, which passes them on.
 */
#include "backend/native/child.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/backend.h"
#include "backend/confine/privileges.h"
#include "backend/lookup.h"
#include "backend/native/hold.h"
#include "backend/native/serve.h"
#include "backend/native/tty.h"
#include "backend/view/step.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/raw.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_LEAVER_BYTES 8192 /* of the one that lets go of the old root */
#define CHILD_HOSTNAME PLAN_HOSTNAME

/* A byte of the parent's: our ids are mapped; or all is ready, and it lives.  When it dies we get a signal (stage
 * PARENT), but only if it dies after that call; one that was gone before does not send the byte. */
static int child_hear(const struct native_child *c, bool *ret)
{
	char byte = 0;
	ssize_t n;

	while ((n = read(c->channel, &byte, 1)) < 0)
		if (errno != EINTR)
			return -errno;
	*ret = byte != 0;
	return n == 1 ? 0 : -ESRCH;
}

/* A namespace that was made ahead has our own group for its root, and not the call's. */
static int child_group(const struct native_child *c)
{
	int r = cgroup_enter(c->program->plan->cgroup, c->is_in_cgroup);

	return r == 0 && c->is_mapped && unshare(CLONE_NEWCGROUP) < 0 ? -errno : r;
}

/* Are we in another namespace than the parent?  What counts is where we are, not what was called: in the wrong
 * one every mount would change the machine, and every connection would leave it. */
static int child_is_apart(const char *path, ino_t parent)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return parent != 0 && st.st_ino != parent ? 0 : -EPERM;
}

int native_hostname(void)
{
	return (int)raw_call(SYS_sethostname, CHILD_HOSTNAME, sizeof(CHILD_HOSTNAME) - 1);
}

int native_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	long r;
	long fd;

	fd = raw_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC);
	if (fd < 0)
		return (int)fd;
	r = raw_call(SYS_ioctl, fd, SIOCSIFFLAGS, &lo);
	(void)raw_call(SYS_close, fd);
	return (int)r;
}

/* In the network's own namespace. */
static int child_doors(struct native_child *c)
{
	return doors_are_wanted(c->program->plan) ? doors_make(c->program->plan, &c->doors) : 0;
}

static int child_host(struct native_child *c)
{
	enum plan_net net = c->program->plan->net;
	int r = c->is_mapped ? 0 : native_hostname();

	if (r < 0 || c->is_mapped || net == PLAN_NET_HOST || shield_is_off(SHIELD_NETNS))
		return r;
	/* Not before it is known where we are: rules elsewhere would be the host's. */
	r = child_is_apart("/proc/self/ns/net", c->parent_net);
	if (r == 0)
		r = native_loopback();
	return r < 0 ? r : child_doors(c);
}

/* The network that was made meanwhile, if it was.  Its process is known by descriptor: a number might be somebody
 * else's by now. */
static int child_network_join(const struct native_child *c)
{
	struct pollfd polls[] = {{.fd = c->network_ready, .events = POLLIN},
				 {.fd = c->channel, .events = POLLRDHUP},
				 {.fd = c->network, .events = POLLIN}};
	uint64_t count = 0;

	/* Who makes it dies with the parent.  So do we, unless the parent was gone before we asked for that: then nobody
	 * would ever write, and this process would stay.  Somebody else may also kill who makes it: it is its process that
	 * is polled, and it ends before it was told to only if it is killed. */
	while (c->network_ready >= 0 && count == 0) {
		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return -errno;
		if (polls[1].revents)
			return -ESRCH;
		if (polls[0].revents && read(c->network_ready, &count, sizeof(count)) < 0 &&
		    errno != EINTR)
			return -errno;
		if (polls[2].revents && count == 0)
			return -ECHILD;
	}
	if (count > 1) /* what went wrong there, and one */
		return -(int)(count - 1);
	return setns(c->network, CLONE_NEWNET) < 0 ? -errno : 0;
}

static int child_network(struct native_child *c)
{
	int r = c->is_mapped ? child_network_join(c) : 0;

	if (r < 0 || c->program->plan->net == PLAN_NET_HOST || shield_is_off(SHIELD_NETNS))
		return r;
	r = child_is_apart("/proc/self/ns/net", c->parent_net);
	if (r == 0 && c->is_mapped) /* else they are made already */
		r = child_doors(c);
	/* Early: they are taken while we go on. */
	return r < 0 ? r : doors_send(c->program->plan, c->channel, &c->doors, &c->served);
}

/* What was made ahead was kept away from the parent's processor, but not longer than to here: somebody may be at work
 * on the others, and the parent is about to wait. */
static int child_cpus(const struct native_child *c)
{
	if (c->cpus.bytes == 0)
		return 0;
	return (int)raw_call(SYS_sched_setaffinity, 0, c->cpus.bytes, c->cpus.bits);
}

static int child_root(struct native_child *c, int *root)
{
	/* Before there is another root: who is not in the uppermost gets no user namespace. */
	if (c->root < 0 && c->program->has_overlay)
		c->cache.nobody_ns = view_nobody_namespace(&c->program->maps);
	*root = c->root >= 0 ? c->root : view_root_make();
	return *root < 0 ? *root : 0;
}

static int child_steps(struct native_child *c, int root, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		int r = view_step_run(root, &c->program->steps[i], &c->cache);

		if (r < 0) {
			c->message.step = (int64_t)i;
			return r;
		}
	}
	return 0;
}

static int child_leaver_main(void *arg)
{
	struct native_child *c = arg;

	atomic_store(&c->left, view_root_leave_old());
	return 0; /* clone() ends the process */
}

/* Enters the root.  To let go of the old one waits for all processors, and so somebody else does it meanwhile: a
 * process in our memory, with the rights that we are about to give up and a working directory of its own. */
static int child_enter(struct native_child *c, int root)
{
	_Alignas(16) static char stack[CHILD_LEAVER_BYTES];
	int r = view_root_enter(root);

	if (r < 0)
		return r;
	c->has_entered = true;
	atomic_store(&c->left, -EINPROGRESS);
	c->leaver = clone(child_leaver_main, stack + sizeof(stack), CLONE_VM | CLONE_FILES, c);
	if (c->leaver < 0)
		atomic_store(&c->left, view_root_leave_old());
	else
		(void)sched_yield(); /* it will wait in a moment, and then goes on by itself */
	return 0;
}

static int child_finish_root(struct native_child *c, int root)
{
	int r = 0;

	if (shield_is_off(SHIELD_VIEW))
		return 0;
	if (!c->has_entered)
		r = child_enter(c, root);
	return r < 0 ? r : view_root_finish(root);
}

/* Nobody else may be in here, and nothing of the old root, when the command starts. */
static int child_has_left(const struct native_child *c)
{
	if (shield_is_off(SHIELD_VIEW))
		return 0;
	while (c->leaver > 0 && waitpid(c->leaver, NULL, __WALL) < 0)
		if (errno != EINTR)
			return -errno;
	return c->has_entered ? atomic_load(&c->left) : -EPERM;
}

/* Doors are made by paths of the host, and a test may leave the view out. */
static bool child_may_fetch(const struct native_child *c)
{
	return !shield_is_off(SHIELD_VIEW) && !doors_are_wanted(c->program->plan);
}

/* Overlays are made before anything else is mounted: the parent has work with them meanwhile. */
static int child_build(struct native_child *c, int root)
{
	const struct view_program *p = c->program;
	size_t step = 0;
	int r = child_steps(c, root, c->root >= 0 ? p->n_base : 0, p->n_lower);

	if (r == 0 && view_overlays_count(p) > 0) {
		r = view_overlays_make(root, p, &c->cache, &step);
		c->message.step = (int64_t)step;
		if (r == 0)
			r = native_hold_ask(c);
	}
	if (r == 0 && child_may_fetch(c) && view_fetch(p) > 0) {
		r = child_enter(c, root);
		if (r < 0)
			c->message.stage = NATIVE_STAGE_ENTER;
	}
	if (r == 0)
		r = child_steps(c, root, p->n_lower, p->n);
	view_cache_done(&c->cache);
	return r;
}

static int child_stage(struct native_child *c, int *root)
{
	const struct plan *plan = c->program->plan;

	switch ((enum native_stage)c->message.stage) {
	case NATIVE_STAGE_CGROUP:
		return plan->cgroup ? child_group(c) : 0;
	case NATIVE_STAGE_PARENT:
		return !shield_is_off(SHIELD_TIE) && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno
											  : 0;
	case NATIVE_STAGE_CPUS:
		return child_cpus(c);
	case NATIVE_STAGE_IDS:
		return c->is_mapped ? 0 : child_hear(c, &c->is_held);
	case NATIVE_STAGE_NAMESPACE:
		return child_is_apart("/proc/self/ns/mnt", c->parent_mnt);
	case NATIVE_STAGE_SESSION:
		return !plan->keeps_group && setsid() < 0 ? -errno : 0;
	case NATIVE_STAGE_HOST:
		return child_host(c);
	case NATIVE_STAGE_ROOT:
		return child_root(c, root);
	case NATIVE_STAGE_STEP:
		return child_build(c, *root);
	case NATIVE_STAGE_NETWORK:
		return child_network(c);
	case NATIVE_STAGE_ENTER:
		return child_finish_root(c, *root);
	case NATIVE_STAGE_TERMINAL:
		return plan->terminal ? native_tty_open(plan->terminal, &c->terminal, &c->tty) : 0;
	case NATIVE_STAGE_CWD:
		return plan->cwd && chdir(plan->cwd) < 0 ? -errno : 0;
	case NATIVE_STAGE_LOOKUP:
		return plan->serves
			       ? 0
			       : lookup_command(plan->argv[0], plan->envp, plan->cwd, c->command);
	case NATIVE_STAGE_PRIVILEGES:
		return privileges_drop();
	case NATIVE_STAGE_LANDLOCK:
		return view_landlock(c->program, c->landlock_abi);
	case NATIVE_STAGE_SECCOMP:
		return c->is_told_late ? 0 : native_child_filter(c);
	case NATIVE_STAGE_GO:
		return child_hear(c, &c->is_held);
	case NATIVE_STAGE_STARTED:
	case NATIVE_STAGE_HOLD:
	case NATIVE_STAGE_SERVED:
	case NATIVE_STAGE_FORK:
	case NATIVE_STAGE_LIMITS:
	case NATIVE_STAGE_SIGNALS:
	case NATIVE_STAGE_JOB:
	case NATIVE_STAGE_STDIO:
	case NATIVE_STAGE_CLOSE:
	case NATIVE_STAGE_CALLS:
	case NATIVE_STAGE_ENTER_CALL:
	case NATIVE_STAGE_EXEC:
	case NATIVE_STAGE_COUNT:
		break;
	}
	return -EINVAL;
}

_Noreturn static void child_report(struct native_child *c, int r)
{
	c->message.error = -r;
	(void)send(c->channel, &c->message, sizeof(c->message),
		   MSG_NOSIGNAL); /* or nobody hears it */
	_exit(127);
}

/* A signal for the command, from the supervisor: it has no number in here.  What a terminal sends to its
 * foreground has reached the command already. */
static void child_pass(const struct native_child *c, pid_t command, const siginfo_t *info)
{
	const struct plan *plan = c->program->plan;
	int sig = info->si_signo;

	if (info->si_code > 0 || info->si_pid != 0)
		return;
	if (!plan->terminal) {
		if (plan->keeps_group)
			(void)kill(command, sig);
	} else if (sig == BACKEND_SIGNAL_FOREGROUND || sig == BACKEND_SIGNAL_BACKGROUND) {
		native_tty_give(STDOUT_FILENO, command, sig == BACKEND_SIGNAL_FOREGROUND);
	} else if (kill(-command, sig) < 0) {
		(void)kill(command, sig);
	}
}

/* Reaps until the command has ended.  Its wait status goes to the parent; our own exit ends the rest. */
_Noreturn static void child_reap(const struct native_child *c, pid_t command)
{
	int flags = WNOHANG | (c->program->plan->terminal ? WUNTRACED : 0);
	sigset_t all;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	for (;;) {
		siginfo_t info;
		int status;
		pid_t pid;

		if (sigwaitinfo(&all, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			child_pass(c, command, &info);
			continue;
		}
		while ((pid = waitpid(-1, &status, flags)) > 0) {
			if (pid != command)
				continue;
			(void)send(STDIN_FILENO, &status, sizeof(status), MSG_NOSIGNAL);
			if (WIFSTOPPED(status))
				continue;
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		}
	}
}

/* The first word, with the terminal first and the listeners after it. */
static int child_hand_over(struct native_child *c)
{
	int fds[1 + LIMIT_SOCKETS];
	size_t n = 0;

	if (c->terminal >= 0)
		fds[n++] = c->terminal;
	for (size_t i = 0; i < c->cache.n_listeners; i++)
		fds[n++] = c->cache.listeners[i];
	return fdpass_send(c->channel, &c->message, sizeof(c->message), fds, n);
}

_Noreturn void native_child_main(struct native_child *c)
{
	int root = -1;
	int r = 0;
	int pid = 0;

	(void)fd_close(c->parent_end);
	(void)umask(0); /* the modes of our own directories are meant */
	/* Pid 1 is a copy of the caller, and command lines are shown to all.  A kernel that cannot shows ours. */
	(void)!proc_hide_words();
	for (c->message.stage = NATIVE_STAGE_CGROUP; c->message.stage <= NATIVE_STAGE_GO;
	     c->message.stage++) {
		if (c->message.stage == NATIVE_STAGE_LANDLOCK)
			r = privileges_verify(shield_is_off(SHIELD_TIE) ? 0 : SIGKILL);
		if (r == 0)
			r = child_stage(c, &root);
		if (r < 0)
			child_report(c, r);
	}
	(void)umask(c->mask);
	c->message.stage = NATIVE_STAGE_ENTER;
	r = child_has_left(c);
	if (r < 0)
		child_report(c, r);
	/* Once more: a part of it that somebody made a link meanwhile may have led through "/.." to where the old root was. */
	c->message.stage = NATIVE_STAGE_CWD;
	if (c->program->plan->cwd && chdir(c->program->plan->cwd) < 0)
		child_report(c, -errno);
	c->message.stage = NATIVE_STAGE_SERVED;
	r = doors_await(c->served);
	if (r < 0)
		child_report(c, r);
	c->message.stage = NATIVE_STAGE_FORK;
	if (!c->program->plan->serves)
		pid = native_child_fork(c);
	if (pid < 0)
		child_report(c, pid);
	if (c->message.error)
		child_report(c, -c->message.error);
	c->message.stage = NATIVE_STAGE_SECCOMP;
	r = native_child_filter_late(c);
	if (r < 0)
		_exit(127); /* and the command with us */
	c->message = (struct native_message){.stage = NATIVE_STAGE_STARTED};
	if (child_hand_over(c) < 0)
		_exit(127);
	/* Nothing of the caller's stays open here: only the channel, as 0, and the terminal, as 1. */
	if (dup3(c->channel, STDIN_FILENO, O_CLOEXEC) < 0 ||
	    (c->tty >= 0 && dup3(c->tty, STDOUT_FILENO, O_CLOEXEC) < 0) ||
	    syscall(SYS_close_range, c->tty >= 0 ? 2U : 1U, ~0U, 0) < 0)
		_exit(127);
	if (chdir("/") < 0 || getrlimit(RLIMIT_NOFILE, &c->files) < 0 ||
	    (c->is_held && native_hold_take(STDIN_FILENO) < 0))
		_exit(127);
	if (c->program->plan->serves)
		native_serve(c);
	child_reap(c, pid);
}
