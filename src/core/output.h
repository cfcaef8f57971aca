/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call printed, read before anybody else does: policy.prompt_injection, policy.secret_scanning and
 * secrets.leak_detection.  Where a stream may have to be withheld the output is held until the call has ended, and what
 * is left of it passed on then.  Where findings are all that is asked for it passes while it is kept to be read.
 * These are the operator's words about output: they hold in dry run too.
 */
#pragma once

#include "core/report.h"

/* Is the output read when the call has ended? */
bool output_is_judged(const struct policy *p);
/* Must it be held until then? */
bool output_is_held(const struct policy *p);
/* Are credentials taken out of it while it passes (screen.h)? */
bool output_is_screened(const struct policy *p);
/* Are credentials looked for in what leaves, by rules? */
bool output_looks_for_leaks(const struct policy *p);
/* What is done about a stored secret in it. */
enum scan_action output_stored_action(const struct policy *p);
/* Must a call with secrets in its words be refused, or only be known to have them? */
bool output_scans_input(const struct policy *p);
bool output_refuses_input(const struct policy *p);
/* Reads the captured streams, adds findings and changes the streams.  When nothing can be decided nothing is
 * passed on. */
CORDON_MUST_CHECK int output_judge(const struct policy *p, const struct request *r,
				   struct report *report, struct cordon_error *err);
