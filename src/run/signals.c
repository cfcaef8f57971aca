/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a call: those that are sent to it, those that are passed on, and what a terminal makes of a job: it is
 * stopped, continued and put into the background as one with us. */
#include "run/supervisor.h"

#include "backend/cgroup/cgroup.h"
#include "base/clock.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const int supervise_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
/* A terminal sends these to its foreground group, which the command is not in. */
static const int supervise_job_signals[] = {SIGTSTP, SIGCONT, SIGWINCH};

void supervise_signal(const struct supervisor *s, int sig)
{
	/* A failure means that it is gone or going, which is what the caller wants. */
	if (sig == SIGKILL && s->is_watched)
		backend_kill(&(struct spawn_result){.status_fd = s->status_fd, .is_watched = true});
	else if (sig != SIGKILL && s->is_relayed)
		(void)send(s->status_fd, &(char){(char)sig}, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	else if (s->has_own_group)
		(void)kill(-s->proc.pid, sig);
	else if (proc_signal(&s->proc, sig) < 0)
		return;
}

bool supervise_has_own_terminal(const struct supervisor *s)
{
	return s->terminal.is_used && !s->has_own_group;
}

void supervise_kill(struct supervisor *s)
{
	s->is_killed = true;
	supervise_signal(s, SIGKILL);
	if (s->cgroup)
		cgroup_kill(s->cgroup);
}

void supervise_end(struct supervisor *s)
{
	if (s->phase != PHASE_RUNNING)
		return;
	supervise_signal(s, SIGTERM);
	supervise_signal(s, SIGCONT);
	s->phase = PHASE_TERMINATING;
	s->deadline = clock_deadline(s->options->grace_ms);
}

int supervise_setup_signals(struct supervisor *s, struct cordon_error *err)
{
	sigset_t forwarded;
	sigset_t blocked;
	int r;

	/* With SIGCHLD ignored the kernel would reap the command behind our back. */
	if (sigaction(SIGCHLD, NULL, &s->old_chld) < 0)
		return cordon_fail_errno(err, errno, "look at SIGCHLD");
	if (s->old_chld.sa_handler == SIG_IGN || s->old_chld.sa_flags & SA_NOCLDWAIT) {
		struct sigaction standard = {.sa_handler = SIG_DFL};

		if (sigaction(SIGCHLD, &standard, NULL) < 0)
			return cordon_fail_errno(err, errno, "reset SIGCHLD");
		s->has_chld = true;
	}
	(void)sigemptyset(&forwarded); /* these cannot fail with valid signals */
	if (s->options->forwards_signals) {
		for (size_t i = 0; i < ARRAY_LEN(supervise_signals); i++)
			(void)sigaddset(&forwarded, supervise_signals[i]);
		for (size_t i = 0; !s->shares_group && i < ARRAY_LEN(supervise_job_signals); i++)
			(void)sigaddset(&forwarded, supervise_job_signals[i]);
		r = catch_open(&s->catch, &forwarded);
		if (r < 0)
			return cordon_fail_errno(err, -r, "receive signals");
	}
	blocked = forwarded;
	(void)sigaddset(&blocked, SIGPIPE); /* a reader that goes away is an errno for us */
	r = pthread_sigmask(SIG_BLOCK, &blocked, &s->old_mask);
	if (r != 0)
		return cordon_fail_errno(err, r, "block signals");
	s->has_mask = true;
	return 0;
}

static void supervise_stop_ourselves(struct supervisor *s)
{
	bool was_raw = s->terminal.is_raw;

	supervise_signal(s, SIGTSTP);
	terminal_leave(&s->terminal);
	(void)raise(SIGSTOP); /* returns when somebody continues us */
	if (was_raw)
		terminal_enter(&s->terminal);
	supervise_signal(s, SIGCONT);
}

/* We run again, perhaps in the background now: so does the command.  wants: it asked for the keyboard. */
static void supervise_resume(struct supervisor *s, bool wants)
{
	bool is_foreground = terminal_is_foreground(&s->terminal);

	if (!wants && (!s->terminal.is_wanted || !supervise_has_own_terminal(s))) {
		if (s->terminal.is_raw && is_foreground)
			terminal_enter(&s->terminal); /* whoever stopped us changed the settings */
		supervise_signal(s, SIGCONT);
		return;
	}
	if (is_foreground)
		terminal_enter(&s->terminal);
	else
		terminal_background(&s->terminal);
	supervise_signal(s, is_foreground ? BACKEND_SIGNAL_FOREGROUND : BACKEND_SIGNAL_BACKGROUND);
}

/* Stops our whole job, as the terminal would have.  Returns when it continues; false when the signal had no
 * effect, because nobody is there who could continue us. */
static bool supervise_stop_job(int sig)
{
	sigset_t one;
	sigset_t pending;

	(void)sigemptyset(&one); /* these cannot fail with valid signals */
	(void)sigaddset(&one, sig);
	(void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	(void)kill(0, sig);
	if (sig == SIGTSTP)
		(void)pthread_sigmask(SIG_BLOCK, &one, NULL);
	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

/* The command stopped: Ctrl-Z, or it wants the keyboard while it is in the background. */
static void supervise_stopped(struct supervisor *s, int sig)
{
	bool wants = sig == SIGTTIN || sig == SIGTTOU;

	if (!wants || !terminal_is_foreground(&s->terminal)) {
		terminal_leave(&s->terminal);
		/* Who cannot be continued cannot wait for the keyboard either. */
		if (!supervise_stop_job(wants ? SIGTTIN : SIGTSTP) && wants)
			supervise_signal(s, SIGHUP);
	}
	supervise_resume(s, wants);
}

void supervise_take_status(struct supervisor *s)
{
	int status;

	while (!s->has_status &&
	       recv(s->status_fd, &status, sizeof(status), MSG_DONTWAIT) == sizeof(status)) {
		if (WIFSTOPPED(status)) {
			supervise_stopped(s, WSTOPSIG(status));
		} else {
			s->has_status = true;
			s->status = status;
		}
	}
}

static void supervise_take_signal(struct supervisor *s, const struct caught *caught)
{
	int sig = caught->sig;

	if (s->phase >= PHASE_DRAINING) {
		/* The command is gone, only its output waits: who interrupts now means us. */
		if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
			for (size_t i = 0; i < s->stream_count; i++)
				relay_drop(&s->streams[i]);
		return;
	}
	/* What the terminal sent to our common group has reached the command already. */
	if (s->shares_group && caught->is_by_kernel)
		return;
	if (sig == SIGWINCH && s->terminal.is_used)
		terminal_resize(&s->terminal);
	else if (sig == SIGCONT && s->terminal.is_used)
		supervise_resume(s, false);
	else if (sig == SIGTSTP && !supervise_has_own_terminal(s))
		supervise_stop_ourselves(s);
	else
		supervise_signal(s, sig);
}

void supervise_take_signals(struct supervisor *s)
{
	struct caught caught;

	while (catch_next(&s->catch, &caught))
		supervise_take_signal(s, &caught);
}

void supervise_restore_signals(struct supervisor *s)
{
	bool is_broken = false;

	if (s->catch.fd >= 0)
		supervise_take_signals(s);
	catch_done(&s->catch);
	for (size_t i = 0; i < s->stream_count; i++)
		is_broken |= s->streams[i].is_broken;
	if (is_broken)
		catch_swallow(SIGPIPE);
	if (s->has_mask)
		(void)pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
	if (s->has_chld)
		(void)sigaction(SIGCHLD, &s->old_chld, NULL);
}
