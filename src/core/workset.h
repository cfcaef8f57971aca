/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change set of one call (workspace/cow): made before it where the policy wants the workspace kept apart, read
 * after it, and then kept, committed or thrown away.
 *
 *     --workspace cow                     kept, with an id, when the call ran
 *     --workspace discard                 thrown away
 *     --workspace direct                  there is none, but with
 *     --rollback-on-failure               committed when the command succeeded and was not judged MALICIOUS,
 *                                         else thrown away
 *
 * A call in a set that its caller holds (a sandbox that lives longer) leaves it as it is.
 */
#pragma once

#include "backend/plan.h"
#include "core/fsplan.h"
#include "core/report.h"
#include "workspace/cow/commit.h"

struct workset {
	struct cow own;
	struct cow *cow; /* own, the caller's, or NULL: the call writes through */
	enum workspace mode;
	bool rolls_back;
	bool has_run;
};

#define WORKSET_NONE ((struct workset){.own = {.sets = -1, .fd = -1}})

struct workset_input {
	const struct policy *policy;
	const char *state_dir;
	const char *workspace; /* canonical */
	struct cow *cow;       /* the caller's, or NULL */
	bool rolls_back;
	enum level level; /* of the backend */
	bool copies;      /* the backend has no mounts: the set is a copy of the workspace */
};

/* Does the call write anywhere but to its workspace? */
static inline bool workset_is_needed(const struct workset_input *in)
{
	return in->cow || in->rolls_back || in->policy->workspace != WORKSPACE_DIRECT;
}

/* Makes the set, or takes the caller's.  *ret is always set up: workset_done(). */
CORDON_MUST_CHECK int workset_begin(const struct workset_input *in, struct workset *ret,
				    struct cordon_error *err);
/* The plan is made: what it protects is never committed.  Where the set is a copy the plan is changed: what it says
 * about the workspace it says about the copy, and the command works there. */
CORDON_MUST_CHECK int workset_prepare(struct workset *w, struct fsplan *view, struct plan *plan,
				      struct cordon_error *err);
/* The call has ended: report->changes, and findings about them. */
CORDON_MUST_CHECK int workset_read(struct workset *w, struct report *report,
				   struct cordon_error *err);
/* Findings about report->changes, which are of the set. */
CORDON_MUST_CHECK int workset_judge(const struct cow *cow, struct report *report,
				    struct cordon_error *err);
/* Its verdict is known: what becomes of the set. */
CORDON_MUST_CHECK int workset_end(struct workset *w, struct report *report,
				  struct cordon_error *err);
/* What workset_end() did not decide about is thrown away, unless it was to be kept. */
void workset_done(struct workset *w);
