/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest itself forbids about a call: shell.mode, blocked_commands, blocked_patterns and
 * input_validation.  blocked_commands are compared with the text and with every command that the shell would make of
 * it (quotes, wrappers, `sh -c`, constant variables, options before the first operand).  These are the operator's words, not a detector's opinion, so they refuse also in
 * dry run.  None of them is a kernel boundary: a program can always be reached another way.
 */
#pragma once

#include "base/error.h"
#include "policy/policy.h"
#include "request/request.h"

struct refusal {
	bool is_refused;
	char kind[16];    /* "command", "input", "rule", "limit" */
	char target[256]; /* what was refused */
	char rule[320]; /* which value refused it: "shell.blocked_patterns[1] '…' (file:line:column)" */
	size_t rule_len;      /* of rule without the origin in brackets */
	struct origin origin; /* of that value */
	char remedy[320];     /* what to change */
};

/* Looks at the call.  0 and *ret, or an error (fail closed: the call must not run). */
CORDON_MUST_CHECK int gate_check(const struct policy *p, const struct request *r,
				 struct refusal *ret, struct cordon_error *err);
/* The same without shell.mode: for a text that a tool which is no shell takes as a command. */
CORDON_MUST_CHECK int gate_check_lists(const struct policy *p, const struct request *r,
				       struct refusal *ret, struct cordon_error *err);
/* Does one blocked_commands entry forbid this text?  `*` stands for anything, other characters for
 * themselves; runs of blanks count as one; the entry must start and end at a word's edge. */
CORDON_MUST_CHECK int gate_command_matches(const char *entry, const char *text, size_t len,
					   bool *ret, struct cordon_error *err);
