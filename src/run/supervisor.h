/* SPDX-License-Identifier: Apache-2.0 */
/* The call that is being supervised, as the parts of supervise.h share it; nobody else includes it. */
#pragma once

#include "run/catch.h"
#include "run/links.h"
#include "run/message.h"
#include "run/opened.h"
#include "run/relay.h"
#include "run/supervise.h"
#include "run/terminal.h"
#include "run/typed.h"

#include <signal.h>

enum supervise_phase {
	PHASE_RUNNING,     /* until the timeout or the output limit */
	PHASE_TERMINATING, /* SIGTERM was sent; SIGKILL at the deadline */
	PHASE_KILLED,      /* SIGKILL was sent; an error at the deadline */
	PHASE_DRAINING,    /* the command has ended; its pipes may still be held by others */
	PHASE_FLUSHING,    /* nothing more is read; our reader has not taken all */
};

struct supervisor {
	const struct supervise_options *options;
	struct supervise_result *result;
	struct proc proc;
	bool has_own_group;
	bool is_watched;           /* see spawn_result */
	bool is_relayed;           /* see spawn_result */
	bool is_foreign;           /* see spawn_result */
	bool is_agent;             /* see spawn_result */
	bool tells_end;            /* see spawn_result */
	bool is_killed;            /* by us */
	bool has_kernel;           /* see struct cordon_backend */
	bool is_engine;            /* the same */
	struct cgroup *cgroup;     /* owned; NULL when no limit needs one */
	int oom_looks;             /* still to be taken at its counter */
	struct plan_limit sampled; /* the memory limit, where there is no group for it */
	int64_t sample_at;         /* when to look next; CLOCK_NEVER when it is not sampled */
	int status_fd;             /* see spawn_result */
	bool has_status;
	int status; /* what ended the command, if has_status */
	struct notify_handler notify;
	int notify_fd; /* -1 when there is none, or nothing more will come */
	enum supervise_phase phase;
	int64_t timeout_at;
	int64_t deadline; /* of the phase */
	struct relay streams[3];
	struct links links;
	int network_fd;             /* borrowed; -1 when there is nothing to hear on it */
	struct vtfilter filters[2]; /* of output to the caller's terminal */
	struct terminal terminal;
	int slave; /* of a terminal of the host's, until the command has it */
	int input; /* in the place of the caller's terminal, likewise */
	struct typed typed;
	struct message_reader reader; /* of the command's messages */
	struct opened opened;
	size_t stream_count;
	struct relay_budget budget;
	struct catch catch; /* of those that are passed on */
	bool has_mask;
	sigset_t old_mask;
	bool has_chld;
	bool shares_group; /* the command is in our own process group */
	struct sigaction old_chld;
};

/* signals.c */
/* To the whole group when it is the command's own. */
void supervise_signal(const struct supervisor *s, int sig);
/* Does the command stand in a session where another process hears of its stops? */
bool supervise_has_own_terminal(const struct supervisor *s);
/* Nothing of the call is spared: not even what left the process group, if there is a control group. */
void supervise_kill(struct supervisor *s);
/* Ends the call: SIGTERM now, SIGKILL after the grace.  SIGCONT so that a stopped one hears it. */
void supervise_end(struct supervisor *s);
CORDON_MUST_CHECK int supervise_setup_signals(struct supervisor *s, struct cordon_error *err);
/* What the process before the command tells of it. */
void supervise_take_status(struct supervisor *s);
void supervise_take_signals(struct supervisor *s);
/* Swallows what is for us: signals that arrived too late to pass on (Ctrl-C reaches us and the command
 * together, and must not kill us before the record is written) and the SIGPIPE behind an EPIPE. */
void supervise_restore_signals(struct supervisor *s);
