/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of CKP's kind Policy.  Within one file the first rule that matches decides and no match
 * means deny.  Rule sets of several layers are each consulted and the strictest answer holds, so that
 * a project's `allow` opens nothing.
 *
 * Whatever cannot be known counts against the call: a rule that restricts matches when a fact is
 * missing, a rule that allows does not.  A tool's annotations are its own claims and never help an
 * allow.
 */
#pragma once

#include "policy/policy.h"

/* What the rules look at.  Everything is borrowed and may be NULL or empty. */
struct rule_call {
	const char *tool;
	const char *category;
	const struct strv *paths;       /* absolute, normalised */
	const struct strv *arguments;   /* "name=value" */
	const struct strv *annotations; /* "name=value" */
};

struct rule_answer {
	enum rule_action action;
	const struct rule *rule; /* NULL: no rule of some set matched, or there are no rules */
};

/* Without any rules the answer is allow: the kind Sandbox alone decides. */
void rules_evaluate(const struct policy *p, const struct rule_call *call, struct rule_answer *ret);
/* Thresholds for a tool of an agent: by tool, else by agent, else global. */
void policy_thresholds(const struct policy *p, const char *tool, const char *agent,
		       double *ret_suspicious, double *ret_malicious);
/* The override that sets a row (enum override_row) for a tool of an agent, or NULL. */
const struct override *policy_override(const struct policy *p, const char *tool, const char *agent,
				       size_t row);
/* The adapter for SUSPICIOUS calls of a tool. */
enum adapter policy_adapter(const struct policy *p, const char *tool, const char *agent);
