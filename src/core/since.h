/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one call changed in a sandbox that stays, whose change set has the changes of all calls: the names of the upper
 * layer are looked at before and after it.  Only when something is different is the change set read, so that a call
 * which changes nothing pays for the names alone.  Where the set is a copy these are all names of the workspace.
 *
 * What the sandbox's background processes, or another call, changed meanwhile is told too: the layer does not say who.
 */
#pragma once

#include "core/fsplan.h"
#include "core/report.h"
#include "policy/policy.h"
#include "session/sandbox.h"

struct since_name;

struct since {
	const char *state_dir; /* borrowed */
	const char *id;        /* borrowed */
	const char *workspace; /* borrowed */
	char *upper;
	struct since_name *names;
	size_t n;
	size_t cap;
	int64_t begun_ns; /* wall clock, before they were looked at */
	size_t max;       /* names that are looked at */
	bool is_cut;      /* not all could be looked at: what was changed there will not be known */
};

/* Looks at the names, and appends those that may hold secrets to the view's, as they are called in the layer.  *ret is
 * always set up: since_done().  is_copy: of the whole workspace.  Borrows the row. */
CORDON_MUST_CHECK int since_begin(const char *state_dir, const struct sandbox_row *row,
				  bool is_copy, const struct policy *p, struct since *ret,
				  struct fsplan *view, struct cordon_error *err);
/* The call has ended: report->changes, findings about them, and the layer's files that were opened by the names that
 * the call knew.  What cannot be found out stays unknown in the report. */
CORDON_MUST_CHECK int since_read(struct since *s, struct report *report, struct cordon_error *err);
void since_done(struct since *s);
