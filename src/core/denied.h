/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was seen of a call to what it was denied: which of the paths that it asked for exist on the host, which
 * rule keeps them away, and what would allow them.  Runs after the call; looks at the host and changes
 * nothing.
 */
#pragma once

#include "core/report.h"

struct denied_input {
	const struct policy *policy; /* in force for the call */
	const struct plan *plan;
	const char *workspace; /* canonical */
	const char *home;      /* canonical, or NULL */
	const char *state_dir;
};

/* Appends to report->denied, by report->seen. */
CORDON_MUST_CHECK int denied_judge(const struct denied_input *in, struct report *report,
				   struct cordon_error *err);
