/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is taken out of a call's output while it passes: the values of its stored secrets (needle.h), and what looks
 * like a credential (leak_redact.h) where the policy asks for that and nothing else needs the whole of it
 * (output.h).  A person at a terminal waits a twentieth of a second at most for what cannot be decided.
 */
#pragma once

#include "core/report.h"
#include "run/stage.h"
#include "secrets/leak_redact.h"
#include "secrets/needle.h"

struct screen_stream {
	struct needle_screen *needle; /* NULL: the call has no secrets */
	struct leak_redactor *leak;   /* NULL: not asked for */
	struct buf between;
	struct findings findings; /* what was taken out by rule */
	bool has_failed;          /* from then on nothing passed */
	struct cordon_error err;  /* why, if has_failed */
	struct stage stage;
};

struct screen {
	struct needles *needles;
	const struct secret_grants *grants;
	enum scan_action action;
	struct screen_stream streams[STAGE_STREAM_COUNT];
};

/* Fills ret_stages where there is something to look for.  Borrows the grants until screen_done(), and *ret stays
 * where it is. */
CORDON_MUST_CHECK int screen_begin(const struct policy *p, const struct secret_grants *grants,
				   struct screen *ret,
				   const struct stage *ret_stages[STAGE_STREAM_COUNT],
				   struct cordon_error *err);
/* After the call: what was found becomes findings.  An error where some output could not be looked at and was
 * kept back. */
CORDON_MUST_CHECK int screen_end(struct screen *s, struct report *report, struct cordon_error *err);
void screen_done(struct screen *s);
