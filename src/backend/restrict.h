/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adapter operations, shared by the backends that confine processes of this machine: lists of paths,
 * hosts and system calls become steps of a plan, and each is noted for get_audit_log().
 *
 * Nothing is granted that no list names: a plan on which no operation was called shows the system read-only
 * and no network.  What can be written cannot be executed, but where executable_writable says so.
 */
#pragma once

#include "backend/checkpoint.h"
#include "backend/plan.h"
#include "base/callname.h"
#include "base/json.h"
#include "base/str.h"

#define RESTRICT_PATHS_MAX 5000
#define RESTRICT_SPANS_MAX 1000000 /* calls of one adapter */
#define RESTRICT_EVENTS_MAX 1000   /* of one plan; then restricting it further is refused */

/* Owns what the operations add to a plan. */
struct restrict_room {
	struct plan_op *ops;
	size_t n;
	size_t cap;
	struct strv strings;
	struct callset denied_calls;
	struct strv events; /* JSON objects, oldest first */
	bool is_applied;
	/* What snapshot and rollback are about: all that was named as writable, and when calls were running. */
	struct strv saved;
	bool has_snapshot; /* one was taken: from now on it matters when calls run */
	struct checkpoint_span *spans;
	size_t n_spans;
	size_t span_cap;
};

/* Sets up an empty plan in the room, which the caller keeps for as long as the plan.  Tightest: see above. */
void restrict_init(struct plan *plan, struct restrict_room *room);
void restrict_done(struct restrict_room *room);

/* Notes {"time", "event", "result": "ok" or the error, and text ("key": value, already JSON, or empty)}.
 * -ENOMEM or -E2BIG. */
CORDON_MUST_CHECK int restrict_note(struct restrict_room *room, const char *event, const char *text,
				    const struct cordon_error *err);

/* As in backend.h.  A second call of one of them replaces what the first one said; after apply_restrictions
 * all are errors.  Paths are absolute and must exist. */
CORDON_MUST_CHECK int restrict_filesystem(struct plan *plan, const struct strv *writable,
					  const struct strv *readable,
					  const struct strv *executable_writable,
					  struct cordon_error *err);
/* An empty list is no network, "*" alone is the host's.  Hosts (net/hostrule.h) need the proxy: the plan says so, and
 * whoever cannot give it one refuses the plan. */
CORDON_MUST_CHECK int restrict_network(struct plan *plan, const struct strv *allow,
				       struct cordon_error *err);
/* What is not in the list is refused, beside what every sandbox refuses: names and sets (base/callname.h).  The
 * calls without which no command runs are always in it. */
CORDON_MUST_CHECK int restrict_syscalls(struct plan *plan, const struct strv *allowed,
					struct cordon_error *err);
/* Confines the calling process, which must have one thread: Landlock and the filters (confine/self.h). */
CORDON_MUST_CHECK int restrict_apply(const struct plan *plan, struct cordon_error *err);
/* The state of what was named as writable, and back to it (checkpoint.h). */
CORDON_MUST_CHECK int restrict_snapshot(const struct plan *plan, char **ret_name,
					struct cordon_error *err);
CORDON_MUST_CHECK int restrict_rollback(const struct plan *plan, const char *name,
					struct cordon_error *err);
/* A call begins; the place is good until the next one.  NULL when nothing was saved yet.  0 or -errno. */
CORDON_MUST_CHECK int restrict_span(struct restrict_room *room, struct checkpoint_span **ret);
CORDON_MUST_CHECK int restrict_audit_log(const struct plan *plan, struct json *out,
					 struct cordon_error *err);
