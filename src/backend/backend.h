/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend is: a constant table of functions in a folder of its own, listed in registry.c.
 * Every member is filled, with one of the backend_default_* functions where a backend has nothing of
 * its own to say, so that callers never test for NULL.
 *
 * The adapter operations (restrict_* to get_audit_log) are the vocabulary of the SandboxAdapter
 * protocol: they translate lists into steps of a plan.  One that a backend cannot honour is an error
 * (CORDON_E_UNSUPPORTED), never a silent success.
 */
#pragma once

#include "backend/doors.h"
#include "backend/handler.h"
#include "backend/info.h"
#include "backend/plan.h"
#include "base/limits.h"
#include "base/proc.h"
#include "base/str.h"

enum probe_form {
	PROBE_QUICK, /* at most 1 ms; for `run` */
	PROBE_FULL,  /* with a deadline; for `doctor` and `backends` */
	PROBE_FORM_COUNT
};

#define PROBE_REASON_MAX 256 /* one line of text, cut if longer */

struct probe {
	bool is_available;
	char reason[PROBE_REASON_MAX]; /* what was found; when not available also the fix */
	guarantee_set guarantees;      /* what it can give here and now; empty when not available */
	guarantee_set by_rlimit;       /* of these, held without a control group (limits.h) */
	char lacks[PROBE_REASON_MAX]; /* why some of wanted are not in it, with the fix; may be empty */
};

/* How a backend gives a command a terminal of its own (plan->terminal). */
enum backend_terminal {
	BACKEND_TERMINAL_NONE, /* it does not */
	/* The supervisor makes it on the host, and the descriptors of the plan are its far end; the command
	 * becomes the leader of a session with it. */
	BACKEND_TERMINAL_HOST,
	/* It makes one inside and gives us its near end.  The command is a job in the session of
	 * another process, which tells of stops (status_fd) and takes BACKEND_SIGNAL_*. */
	BACKEND_TERMINAL_OWN,
};

/* To spawn_result.proc: the command continues, in the foreground of its terminal or in the background. */
#define BACKEND_SIGNAL_FOREGROUND SIGRTMIN
#define BACKEND_SIGNAL_BACKGROUND (SIGRTMIN + 1)

/* What is_agent tells at the end. */
struct backend_end {
	struct rusage usage;
	bool is_oom; /* somebody was killed at the memory limit */
	bool is_fork_refused;
	int64_t memory_peak_kb; /* -1: not known */
	int output_error; /* an errno: output that the command was rid of did not arrive; 0: all of it did */
};

struct spawn_result {
	struct proc proc;   /* the started command, held by pidfd */
	bool has_own_group; /* it leads a process group of its own */
	/* -1, or given: where the command's wait status (an int) can be read once proc has ended; with
	 * a terminal, before that, one for each time that it stopped.  For
	 * backends whose proc is the first process of a pid namespace, which no signal can end, so that
	 * its own exit cannot show what ended the command. */
	int status_fd;
	/* Given: what the plan asks for of them; without that it may be left empty.  Sockets only by a backend with
	 * the guarantee socket-grant. */
	struct doors doors;
	int terminal_fd; /* BACKEND_TERMINAL_OWN with plan->terminal: given, the near end */
	/* What reacts to notify_fd (given) in the supervisor's loop; handle is NULL when nothing does, done
	 * when there is nothing to free. */
	struct notify_handler notify;
	int notify_fd;
	bool tells_paths; /* PLAN_WATCH_PATHS is held in full: whatever names a path is written down */
	/* There is no pid namespace; proc is a watcher, and the end of status_fd (shutdown or close) is what
	 * ends the call as a whole.  SIGKILL to proc would leave the rest: use backend_kill(). */
	bool is_watched;
	/* proc passes no signals on, and the command's group is not proc's: they go over status_fd, one byte each.
	 * SIGKILL to proc ends all. */
	bool is_relayed;
	/* proc stands for a call elsewhere: it ends when nothing of that is left.  status_fd tells the command's wait status
	 * and then a struct backend_end; without these the call was lost, and proc's own end says nothing. */
	bool is_agent;
	/* status_fd tells the command's wait status.  Where it does not, the kernel that the command ran on was lost. */
	bool tells_end;
	/* proc is no child of ours: its pidfd shows its end, and status_fd tells the command's wait status and then
	 * what it used (struct rusage).  What the command leaves in the background stays. */
	bool is_foreign;
	/* plan->serves: the sandbox's first process is not proc, which ends before it; first_fd (given, a pidfd) shows when
	 * nothing of it is left. */
	bool has_first;
	int first_fd;
};

struct cordon_backend {
	const struct backend_info *info;
	const char *summary; /* one line for `cordon backends` */
	/* Its command is a process of this machine, held to the plan's limits by plan->cgroup. */
	bool takes_cgroup;
	/* It can hold a sandbox that stays (plan->serves), and start calls there (plan->entry). */
	bool can_stay;
	/* It makes no overlays: a change set is a copy of the workspace, in which the command works instead. */
	bool copies_workspace;
	enum backend_terminal terminal;
	/* Its commands run on a kernel of its own.  Output goes to files and terminals only through pipes of ours: that
	 * kernel writes with an offset of its own.  No signal of the caller's terminal reaches them but through us. */
	bool has_kernel;
	/* Its command's process is an engine, which a command cannot end as a fault or somebody's SIGKILL does. */
	bool is_engine;
	/* Its sandbox is built beside us, and plan->before asked meanwhile. */
	bool asks_late;

	/* Called by select's caller in our own process, before any plan exists.  Tries the thing
	 * itself and leaves nothing behind; never infers from a version, never blocks beyond its
	 * form's time, never prints.  The quick form may leave out of its answer guarantees that cost
	 * time to try and are not in wanted; the full form looks at all of them. */
	void (*probe)(enum probe_form form, guarantee_set wanted, struct probe *ret);

	/* Called by the supervisor in our own process, once per call, with SIGCHLD not ignored.
	 * Returns when the command's execve() succeeded (0, *ret gives the process) or will not:
	 * CORDON_E_NOT_FOUND there is no such command, CORDON_E_REFUSED it cannot be executed,
	 * CORDON_E_UNSUPPORTED the plan needs what this backend does not give, others for trouble
	 * of our own.  After a failure no process is left.  May not change our signal mask,
	 * descriptors, directory or environment, and may not wait for the command. */
	CORDON_MUST_CHECK int (*spawn)(const struct plan *plan, struct spawn_result *ret,
				       struct cordon_error *err);

	/* Called in our own process while the plan is made, in any order, before spawn.  They add
	 * steps to the plan and may not touch the machine. */
	CORDON_MUST_CHECK int (*restrict_filesystem)(struct plan *plan, const struct strv *writable,
						     const struct strv *readable,
						     const struct strv *executable_writable,
						     struct cordon_error *err);
	CORDON_MUST_CHECK int (*restrict_network)(struct plan *plan, const struct strv *allow,
						  struct cordon_error *err);
	CORDON_MUST_CHECK int (*restrict_syscalls)(struct plan *plan, const struct strv *allowed,
						   struct cordon_error *err);

	/* Called by an embedder in the process to be confined, which has one thread.  Irreversible.
	 * Returns 0 only when every step of the plan holds; a plan is applied once. */
	CORDON_MUST_CHECK int (*apply_restrictions)(const struct plan *plan,
						    struct cordon_error *err);

	/* Called in our own process while no command of the plan runs.  *ret_name is given (freed by
	 * the caller) and names the state for rollback. */
	CORDON_MUST_CHECK int (*snapshot)(const struct plan *plan, char **ret_name,
					  struct cordon_error *err);
	CORDON_MUST_CHECK int (*rollback)(const struct plan *plan, const char *name,
					  struct cordon_error *err);

	/* Called in our own process after the call.  Appends what the mechanism itself recorded as
	 * values of the open JSON array; may not write secrets. */
	CORDON_MUST_CHECK int (*get_audit_log)(const struct plan *plan, struct json *out,
					       struct cordon_error *err);
};

/* What a view with Landlock and our filter holds besides what a trial tries, if it held. */
void backend_view_guarantees(struct probe *ret);

/* What a network of our own making gives, when namespaces of these flags can carry it; tried if somebody asks
 * and it is not known by now. */
void backend_network_guarantees(uint64_t flags, enum probe_form form, guarantee_set wanted,
				struct probe *ret);

/* SIGKILL to the whole of a started call, as far as the backend can; does not wait. */
void backend_kill(const struct spawn_result *s);

/* The shared defaults: CORDON_E_UNSUPPORTED with a message that names the operation. */
CORDON_MUST_CHECK int backend_default_restrict_filesystem(struct plan *plan,
							  const struct strv *writable,
							  const struct strv *readable,
							  const struct strv *executable_writable,
							  struct cordon_error *err);
CORDON_MUST_CHECK int backend_default_restrict_network(struct plan *plan, const struct strv *allow,
						       struct cordon_error *err);
CORDON_MUST_CHECK int backend_default_restrict_syscalls(struct plan *plan,
							const struct strv *allowed,
							struct cordon_error *err);
CORDON_MUST_CHECK int backend_default_apply_restrictions(const struct plan *plan,
							 struct cordon_error *err);
CORDON_MUST_CHECK int backend_default_get_audit_log(const struct plan *plan, struct json *out,
						    struct cordon_error *err);
