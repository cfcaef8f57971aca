/* SPDX-License-Identifier: Apache-2.0 */
/* A call on its way through the corridor.  Private to pipeline.c, which judges it, and pipeline_run.c, which runs it. */
#pragma once

#include "core/pipeline.h"
#include "core/record.h"
#include "core/remember.h"
#include "proxy/proxy.h"

struct corridor {
	const struct policy *policy; /* in force for this call; constrained if need be */
	struct policy *constrained;  /* the report's, or NULL */
	struct policy *tightened; /* owned: without the network, for a tainted session; or NULL */
	bool is_alone;   /* in a sandbox that stays: held tighter than what may live in there */
	uint64_t alarms; /* in a sandbox that stays: of its proxy, before the call */
	struct proxy_leaked leaked; /* the same */
	struct remember remember;
	const struct request *request;
	const struct pipeline_options *options;
	const char *backend; /* requested */
	guarantee_set needs;
	guarantee_set strict; /* of these, what may not be given up */
	char no_overlay
		[PROBE_REASON_MAX]; /* why overlayfs cannot take a directory that it writes to; or "" */
	struct record record;
	struct report *report;
	struct cordon_error *err;
};

enum step { STEP_ON, STEP_REFUSED }; /* or a negative code */

/* Refuses the call: kind, target, rule and remedy go to the report, one line to the error. */
CORDON_MUST_CHECK int corridor_refuse(struct corridor *c, const char *kind, const char *target,
				      const char *rule, const char *remedy);
/* Whoever was chosen lays an overlay over what the call writes to, and c->no_overlay says why that cannot be: another one,
 * of the same policy. */
CORDON_MUST_CHECK int corridor_select_again(struct corridor *c);
/* The last step: plans the call that was let through and runs it. */
CORDON_MUST_CHECK int corridor_run(struct corridor *c);
