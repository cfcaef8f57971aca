/* SPDX-License-Identifier: Apache-2.0 */
/* How the three questions of why.h write their answer.  Private to why*.c. */
#pragma once

#include "core/why.h"

#define WHY_TEXT_MAX 32768 /* of a rule or a remedy; the longest quote a path in full */

#define WHY_INIT                                                                                   \
	((struct why){                                                                             \
		.rule = BUF_INIT(WHY_TEXT_MAX),                                                    \
		.remedy = BUF_INIT(WHY_TEXT_MAX),                                                  \
		.option = BUF_INIT(WHY_TEXT_MAX),                                                  \
		.under = BUF_INIT(WHY_TEXT_MAX),                                                   \
		.yaml = BUF_INIT(WHY_TEXT_MAX),                                                    \
		.origin = {.layer = LAYER_BUILTIN},                                                \
	})

/* The row decided: its path, the entry in quotes when there is one, and its origin.  Replaces what was
 * there, so that a later and stricter answer wins. */
void why_decide(struct why *w, enum why_decision decision, enum policy_row row, const char *entry,
		const struct origin *origin);
/* Something that no file writes decided. */
void why_decide_builtin(struct why *w, enum why_decision decision, const char *rule);
/* "remove 'ENTRY' from FIELD at FILE:LINE:COLUMN" */
void why_remove(struct why *w, const struct policy *p, enum policy_row row, const char *entry,
		const struct origin *origin);
/* Adds a note.  Failures stick and are reported by why_finish(). */
void why_note(struct why *w, const char *fmt, ...) CORDON_PRINTF(2, 3);
/* Level none: a restriction that nobody wrote has no effect there.  row: whose being written counts. */
void why_level(struct why *w, const struct policy *p, enum policy_row row);
/* Do the tables of credentials and protected names deny the path (absolute, normalised)?  Not at level none,
 * where there is nothing that holds them. */
CORDON_MUST_CHECK bool why_by_table(struct why *w, const struct policy *p,
				    const struct policy_context *c, const char *path, bool write);
/* Gives the answer unless r (a code, with *err raised) or something that stuck is a failure. */
CORDON_MUST_CHECK int why_finish(struct why *w, int r, struct why *ret, struct cordon_error *err);
