/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manager of sandboxes that stay.
 *
 * Theory of operation.  A sandbox is a row in the state database (session/sandbox.h), a directory of its own in
 * STATE/keepers, a change set in STATE/sandboxes (workspace/cow) and, while it runs, a keeper (keeper.h).
 * Commands on one sandbox take turns by a lock on a file beside its directory.  Whoever has the lock first
 * compares the row with what is alive and puts it right, so that a command that was killed anywhere leaves
 * nothing which the next one does not finish or undo:
 *
 *   killed while it made one    the row says "created" and nobody has the lock: with a keeper it runs, without one it
 *                               is stopped, and can be resumed or removed
 *   killed while it paused      the keeper knows whether it is paused, and the row follows
 *   killed while it removed     the directory was moved away first: whatever is left is removed by any later command
 */
#pragma once

#include "backend/cgroup/cgroup.h"
#include "core/keeper.h"
#include "policy/load.h"

struct sandbox_manager {
	char *state_dir;
	char *dir; /* STATE/keepers */
	struct session_store *store;
	int64_t max; /* sandboxes at one time */
};

/* One sandbox that a command works with. */
struct sandbox {
	struct sandbox_row row; /* put right */
	char *dir;
	int lock;                    /* -1: only looked at */
	uint32_t calls;              /* that run in it now */
	enum cgroup_freezer freezer; /* by which it is paused, while it has a keeper */
	int64_t idle_ms;             /* since the last one ended */
};

#define SANDBOX_NONE ((struct sandbox){.lock = -1})

/* state_dir is borrowed for the call; max 0: LIMIT_SANDBOXES.  *ret is always set up: sandbox_manager_done(). */
CORDON_MUST_CHECK int sandbox_manager_open(const char *state_dir, int64_t max,
					   struct sandbox_manager *ret, struct cordon_error *err);
void sandbox_manager_done(struct sandbox_manager *m);

struct sandbox_options {
	const struct policy *policy; /* in force; frozen here */
	const char *workspace;       /* absolute, real */
	const char *home;            /* or NULL */
	const char *name;            /* or NULL */
	const char *backend;         /* or NULL: keeper_plan_select() */
	char *const *environ;        /* the caller's, to pick from */
	int64_t idle_ms;             /* 0: never ended for that */
};

/* Makes one and starts it.  *ret is given: sandbox_done(). */
CORDON_MUST_CHECK int sandbox_create(struct sandbox_manager *m, const struct sandbox_options *o,
				     struct sandbox *ret, struct cordon_error *err);
/* By id, beginning of an id, or name; with its lock.  *ret is given: sandbox_done() lets go of it. */
CORDON_MUST_CHECK int sandbox_acquire(struct sandbox_manager *m, const char *word,
				      struct sandbox *ret, struct cordon_error *err);
/* The same without the lock and without writing: for those who only look. */
CORDON_MUST_CHECK int sandbox_look_at(struct sandbox_manager *m, const char *word,
				      struct sandbox *ret, struct cordon_error *err);
void sandbox_done(struct sandbox *s);

/* Stops every process.  Nothing when they are stopped already. */
CORDON_MUST_CHECK int sandbox_pause(struct sandbox_manager *m, struct sandbox *s,
				    struct cordon_error *err);
/* Lets them go on.  Where there are none any more the sandbox is started again over the same files: *ret_anew. */
CORDON_MUST_CHECK int sandbox_resume(struct sandbox_manager *m, struct sandbox *s, bool *ret_anew,
				     struct cordon_error *err);
/* Ends every process; the files stay.  Nothing when there are none. */
CORDON_MUST_CHECK int sandbox_stop(struct sandbox_manager *m, struct sandbox *s,
				   struct cordon_error *err);
/* Ends it and forgets it.  Unless forced, CORDON_E_BUSY while calls run in it. */
CORDON_MUST_CHECK int sandbox_delete(struct sandbox_manager *m, struct sandbox *s, bool is_forced,
				     struct cordon_error *err);
/* A call will go into it: it must be running.  Notes that it was used, and lets go of the lock: other commands need not
 * wait for the call. */
CORDON_MUST_CHECK int sandbox_use(struct sandbox_manager *m, struct sandbox *s,
				  struct cordon_error *err);

/* The way into one, for struct plan_entry. */
struct sandbox_way {
	const struct sandbox *sandbox;
	int keeper; /* -1 until sandbox_reach() */
};

/* plan_entry.reach with a struct sandbox_way.  sandbox_way_done() when the call has ended. */
CORDON_MUST_CHECK int sandbox_reach(void *way, struct cordon_error *err);
/* plan_entry.channel with it. */
int sandbox_channel(void *way);
void sandbox_way_done(struct sandbox_way *way);

/* What holds it, for a call that goes into it.  CORDON_E_NO_BACKEND when this build does not have it. */
CORDON_MUST_CHECK int sandbox_held(const struct sandbox_row *row, struct selection *ret,
				   struct cordon_error *err);
/* The policy that it was made with, under the options (may be NULL).  *ret is given. */
CORDON_MUST_CHECK int sandbox_policy(const struct sandbox_row *row, const char *home,
				     const struct policy *options, struct policy **ret,
				     struct cordon_error *err);
/* All of them, newest first, put right but nothing written.  *ret is given: sandbox_list_done(). */
CORDON_MUST_CHECK int sandbox_manager_list(struct sandbox_manager *m, struct sandbox_list *ret,
					   struct cordon_error *err);
/* Removes what nobody used for so long; appends the ids.  Those with a call in them stay. */
CORDON_MUST_CHECK int sandbox_manager_cleanup(struct sandbox_manager *m, int64_t max_age_ms,
					      struct strv *ret_removed, struct cordon_error *err);
