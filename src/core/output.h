/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call printed, read before anybody else does: policy.prompt_injection, policy.secret_scanning and
 * secrets.leak_detection.  Where one of them asks for it the output is held until the call has ended; then secrets
 * are hidden and a stream that speaks to the agent is withheld, as the policy says, and the rest is passed on.
 * These are the operator's words about output: they hold in dry run too.
 */
#pragma once

#include "core/report.h"

/* Must the output be held until the call has ended? */
bool output_is_judged(const struct policy *p);
/* Are credentials taken out of it while it passes (screen.h)? */
bool output_is_screened(const struct policy *p);
/* What is done about a stored secret in it. */
enum scan_action output_stored_action(const struct policy *p);
/* Must a call with secrets in its words be refused, or only be known to have them? */
bool output_scans_input(const struct policy *p);
bool output_refuses_input(const struct policy *p);
/* Reads the captured streams, adds findings and changes the streams.  When nothing can be decided nothing is
 * passed on. */
CORDON_MUST_CHECK int output_judge(const struct policy *p, const struct request *r,
				   struct report *report, struct cordon_error *err);
