/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent asks its hook, out of the JSON on standard input.  Strict: one object, no duplicate keys, no NUL,
 * LIMIT_JSON_DEPTH levels.  Members that a later version of the agent adds are no error.
 */
#pragma once

#include <jansson.h> /* first: see base/json.h */

#include "hook/dialect.h"

/* The members that hold a tool's output, the most telling first; ends with NULL. */
extern const char *const hook_output_names[];

struct hook_call {
	const struct hook_dialect *dialect; /* that the input is in */
	const struct hook_event *event;     /* NULL: nothing that is about a tool */
	json_t *root;                       /* owned; everything below borrows from it */
	json_t *input;                      /* an object: the tool's arguments */
	json_t *owned_input;                /* where it had to be made */
	json_t *output;                     /* any value; NULL before the tool ran */
	const char *tool;                   /* an MCP server's with the mark that says so */
	char *owned_tool;                   /* where it had to be made */
	const char *session;                /* or NULL */
	const char *cwd;                    /* or NULL: not said */
};

/* asked: the dialect that the hook was installed for.  Input in another one is refused, because the answer would
 * be in the wrong one; except that Cursor runs the hooks of Claude Code too, with its own input.
 * *ret is to be freed with hook_call_done() also after a failure: what of it could be read is there. */
CORDON_MUST_CHECK int hook_call_parse(const struct hook_dialect *asked, const char *text,
				      size_t len, struct hook_call *ret, struct cordon_error *err);
void hook_call_done(struct hook_call *c);
