/* SPDX-License-Identifier: Apache-2.0 */
/* One question of an agent, with everything that is needed to answer it. */
#pragma once

#include <jansson.h> /* first: see base/json.h */

#include "core/effective.h"
#include "core/judge.h"
#include "core/report.h"
#include "hook/look.h"
#include "hook/reply.h"
#include "session/observe.h"
#include "session/session.h"

struct hook_scene {
	const struct hook_call *call;
	const struct effective *effective;
	const struct strv *policies; /* --policy, for the constrained call */
	const char *exe; /* of this program; NULL: not known, nothing can be rewritten */
	struct look_place place;
	struct request *request; /* owned */
	struct judgement judgement;
	struct report report; /* what is recorded; borrows request */
	char tool[128];       /* room for the name by which the session knows the tool */
};

/* What a call says that it touches. */
struct hook_touched {
	const char *command;
	const struct strv *paths, *urls;
};

/* Before the tool runs.  *ret is set up by the caller, and freed by it after a failure too. */
CORDON_MUST_CHECK int hook_before(struct hook_scene *s, struct hook_answer *ret,
				  struct cordon_error *err);
/* After it ran. */
CORDON_MUST_CHECK int hook_after(struct hook_scene *s, struct hook_answer *ret,
				 struct cordon_error *err);
/* Refuses because the manifest says so, whatever the detectors would. */
CORDON_MUST_CHECK int hook_refuse(struct hook_scene *s, struct hook_answer *a, const char *kind,
				  const char *target, const char *rule, const char *remedy,
				  struct cordon_error *err);
/* "VERDICT: what the strongest finding says (RULE)". */
void hook_reason(const struct judgement *j, const char *what, struct hook_answer *a);

/* What the session knows about such a call.  *ret_store is NULL without a session, and to be closed; the event is
 * to be kept if the call goes on. */
CORDON_MUST_CHECK int hook_remember(struct hook_scene *s, const struct hook_touched *t,
				    struct hook_answer *a, struct session_store **ret_store,
				    struct session_event *ret_event, struct observed *observed,
				    struct cordon_error *err);

/* A command as it is rewritten, "… run --constrain … -c 'COMMAND'", and back: NULL when text is not exactly
 * what we would have made. */
CORDON_MUST_CHECK int hook_wrap(const struct hook_scene *s, const char *command, char **ret);
CORDON_MUST_CHECK int hook_unwrap(const struct hook_scene *s, const char *text, char **ret);
