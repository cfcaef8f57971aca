/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trying an installed hook: the very command line that the agent would run, with questions whose answers are
 * known.  Policy and records are in a directory of the trial's own, so the user's are neither asked nor written.
 */
#pragma once

#include "base/error.h"
#include "hook/dialect.h"

enum trial_case {
	TRIAL_SAFE,      /* nothing is said, the call goes on */
	TRIAL_MALICIOUS, /* a command that the trial's policy forbids */
	TRIAL_BROKEN,    /* a question that is no JSON */
	TRIAL_CASE_COUNT
};

struct trial_result {
	enum trial_case which;
	bool is_right;
	int code;      /* of the command; -1: killed, or not in time */
	double ms;     /* that it took */
	char why[160]; /* what was wrong */
};

const char *trial_name(enum trial_case which);
const char *trial_wanted(enum trial_case which);
/* event: of the dialect, before a tool runs. */
CORDON_MUST_CHECK int trial_run(const struct hook_dialect *d, const char *event,
				const char *command, enum trial_case which,
				struct trial_result *ret, struct cordon_error *err);
