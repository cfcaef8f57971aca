/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text judged without running anything: what the inspectors and the search for credentials find in it, the
 * verdict that follows under a policy, and what the policy does about such a verdict.
 */
#pragma once

#include "inspect/inspect.h"
#include "policy/policy.h"
#include "verdict/verdict.h"

struct judge_input {
	const struct policy *policy;
	enum inspect_kind kind;
	const char *tool;  /* or NULL */
	const char *agent; /* or NULL */
	const char *cwd;   /* or NULL */
	const char *home;  /* or NULL */
	const char *path;  /* of the text, when it is a file; or NULL */
	bool is_cut;       /* the text goes on after what is given: never SAFE */
};

struct judgement {
	struct findings findings;
	struct thresholds thresholds;
	struct verdict verdict;
	enum action action; /* what the policy's action map says about the verdict */
	bool is_dry_run;    /* `cordon run` would only record the action */
};

#define JUDGE_RULE_CUT "input-too-large"

void judgement_done(struct judgement *j);
/* *ret is to be freed with judgement_done(), also after a failure. */
CORDON_MUST_CHECK int judge_text(const struct judge_input *in, const char *text, size_t len,
				 struct judgement *ret, struct cordon_error *err);
/* How strictly a file is read: as the policy's scan_modes say, else by its name.  cwd and path may be NULL. */
enum fuse_mode judge_mode(const struct policy *p, const char *cwd, const char *path);
/* Takes what may be secrets out of the snippets: they are shown and kept. */
void judge_hide(struct findings *f);
/* Verdict and action of findings that are there already; their snippets are cleaned. */
void judge_findings(const struct policy *p, const char *tool, const char *agent,
		    struct judgement *j);
