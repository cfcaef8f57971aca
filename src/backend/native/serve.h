/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that stays.  Its first process has no command: when the view is built and every privilege is given
 * up, it waits on its channel for what to start (plan->serves).  For each call it forks a process that does what
 * the first process of `cordon run` does for its one command (child.c): makes a session and a terminal, finds
 * the command, starts it, passes signals on and tells its end.  What is started so is born inside: in the same
 * namespaces and groups, under the same Landlock domain and filter.  There is no way in from outside, so there
 * is none that could be held differently.
 *
 * Who serves is pid 1 of `native`, the launcher of `bwrap`, which is pid 1 as well, or, under `landlock`, a child of the
 * broker in the domain of the commands (landlock/child.h).  The last one has no pid namespace (struct serve_host): it
 * is the parent of orphans by PR_SET_CHILD_SUBREAPER, and what is inside can end it, and the sandbox with it.
 *
 * The caller and that process speak over a socket of their own, which the caller made: when its other end
 * closes, however the caller ended, the call's processes are killed.  What a call left in the background goes on.
 *
 *   caller ──(request, descriptors)──► keeper ──(the same)──► first process ──fork──► the call's process
 *      └───────────────────────── the call's socket: started, stops, end ─────────────────────┘
 */
#pragma once

#include "backend/backend.h"
#include "backend/plan.h"

struct native_child;

/* To the keeper, by whom it is passed on or answered with a struct serve_answer. */
enum serve_kind {
	SERVE_ENTER = 1, /* start a command; to the first process, too */
	SERVE_STATUS,
	SERVE_PAUSE, /* stop every process; to the first process, too, which answers with an int */
	SERVE_CONTINUE, /* the same */
	SERVE_END,      /* kill all, and answer when nothing is left */
	SERVE_LOOK, /* to the first process alone: does everything still stand?  Answers as to SERVE_PAUSE:
			 * -EBUSY when something goes on, and then all of it does */
};

/* The descriptors of SERVE_ENTER, in order. */
enum serve_fd {
	SERVE_FD_TEXT,
	SERVE_FD_CALL,
	SERVE_FD_STDIN,
	SERVE_FD_STDOUT,
	SERVE_FD_STDERR,
	SERVE_FDS
};

struct serve_request {
	uint32_t kind;
	uint32_t mask;   /* of the command */
	uint32_t n_args; /* strings in the text file: the directory, these, and the environment */
	uint32_t n_env;
	uint64_t text_bytes;
	bool has_terminal;
	/* The terminal is the host's: the descriptors are its far end, signals come as bytes on the call's socket. */
	bool is_hosted;
	bool has_files;
	bool seals_net;
	bool is_alone; /* no other process may live; -EADDRINUSE when one does */
	bool has_secrets;
	bool answers;    /* the keeper may put questions to the caller: keeper_ask.h */
	bool is_tainted; /* of a session that lost what no list names */
	uint64_t max_open_files;
	struct plan_terminal terminal;
};

struct serve_answer {
	int32_t error; /* 0, or an errno */
	int32_t first; /* pid of the first process, as the keeper sees it */
	uint32_t calls;
	bool is_paused;
	int32_t freezer; /* enum cgroup_freezer: how it is paused */
	int64_t idle_ms; /* since the last call ended; 0 while there is one */
	uint64_t alarms; /* placeholders of secrets that its proxy saw where they must not go */
	uint64_t leaked_stored; /* and what else must not leave: struct proxy_leaked */
	uint64_t leaked_by_rule;
};

/* What is different without namespaces. */
struct serve_host {
	char *const *env; /* these take the place of the call's, whatever it says */
	const char *path; /* a PATH, and how a command is looked for by a call that has this one; */
	char *const *search; /* or NULL */
};

/* In the first process, all set up: the channel is descriptor 0 from here on, and nothing else is open. */
CORDON_MUST_CHECK int native_serve_alone(struct native_child *c);
/* In the first process, all set up: serves until the keeper is gone.  Mustn't: return, allocate, let anything
 * run that is not held as the first process is. */
_Noreturn void native_serve(struct native_child *c);

/* In the caller, as spawn(): has the keeper of plan->entry start the command.  terminal: as the backend has them. */
CORDON_MUST_CHECK int native_enter(const struct plan *plan, enum backend_terminal terminal,
				   struct spawn_result *ret, struct cordon_error *err);
