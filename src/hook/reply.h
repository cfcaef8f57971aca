/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to an agent, in its dialect.  Pure: what was decided in, the text of standard output and the exit
 * code out.  Where a dialect cannot say what was decided it says something stricter, never something weaker.
 */
#pragma once

#include "base/buf.h"
#include "hook/call.h"

/* loose → tight */
enum hook_act {
	HOOK_ACT_PASS,      /* nothing to say */
	HOOK_ACT_ADD,       /* the output goes on, with a word of warning */
	HOOK_ACT_REPLACE,   /* the output goes on without its secrets */
	HOOK_ACT_CONSTRAIN, /* the call runs held tighter, without asking */
	HOOK_ACT_ASK,       /* a person decides, about the constrained call where there is one */
	HOOK_ACT_DENY,
	HOOK_ACT_COUNT
};

struct hook_answer {
	enum hook_act act;
	char reason[1024]; /* one line; for the model and for people */
	json_t *input;     /* owned; the constrained call, NULL: there is none */
	json_t *output;    /* owned; what may be seen of the output */
};

#define HOOK_EXIT_PASS 0
#define HOOK_EXIT_DENY 2

void hook_answer_done(struct hook_answer *a);
/* "pass", "deny" and so on, for records. */
const char *hook_act_name(enum hook_act act);
/* Appends the JSON for standard output, nothing when there is nothing to say, and gives the exit code.  always:
 * an empty object instead of nothing.  0 or -ENOMEM, -E2BIG. */
CORDON_MUST_CHECK int hook_reply_write(const struct hook_call *c, const struct hook_answer *a,
				       bool always, struct buf *out, int *ret_code);
