/* SPDX-License-Identifier: Apache-2.0 */
/* See reply.h. */
#include "hook/reply.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

static const char *const hook_act_names[] = {
	[HOOK_ACT_PASS] = "allow",          [HOOK_ACT_ADD] = "warn", [HOOK_ACT_REPLACE] = "redact",
	[HOOK_ACT_CONSTRAIN] = "constrain", [HOOK_ACT_ASK] = "ask",  [HOOK_ACT_DENY] = "deny",
};
static_assert(ARRAY_LEN(hook_act_names) == HOOK_ACT_COUNT, "one word per act");

const char *hook_act_name(enum hook_act act)
{
	return hook_act_names[act];
}

void hook_answer_done(struct hook_answer *a)
{
	json_decref(a->input);
	json_decref(a->output);
	*a = (struct hook_answer){0};
}

/* What of an act this event can say: otherwise something tighter. */
static enum hook_act reply_act(const struct hook_call *c, const struct hook_answer *a)
{
	unsigned can = c->event->can;
	bool is_mcp = hook_tool_is_mcp(c->tool);

	switch (a->act) {
	case HOOK_ACT_ASK:
		if (can & HOOK_CAN_ASK)
			return HOOK_ACT_ASK;
		/* Where nobody can be asked the constrained call is what there is. */
		return a->input && (can & (HOOK_CAN_REWRITE | HOOK_CAN_ALLOW)) ? HOOK_ACT_CONSTRAIN
									       : HOOK_ACT_DENY;
	case HOOK_ACT_CONSTRAIN:
		if (a->input && (can & (HOOK_CAN_REWRITE | HOOK_CAN_ALLOW)))
			return HOOK_ACT_CONSTRAIN;
		return can & HOOK_CAN_ASK ? HOOK_ACT_ASK : HOOK_ACT_DENY;
	case HOOK_ACT_REPLACE:
		if ((can & HOOK_CAN_REPLACE) || (is_mcp && (can & HOOK_CAN_REPLACE_MCP)) ||
		    (can & HOOK_CAN_REPLACE_TEXT))
			return HOOK_ACT_REPLACE;
		return can & HOOK_CAN_SAY_NO ? HOOK_ACT_DENY : HOOK_ACT_ADD;
	case HOOK_ACT_ADD:
		return can & HOOK_CAN_ADD ? HOOK_ACT_ADD : HOOK_ACT_DENY;
	case HOOK_ACT_DENY:
		if (c->event->phase == HOOK_AFTER && !(can & HOOK_CAN_SAY_NO) && a->output &&
		    is_mcp && (can & HOOK_CAN_REPLACE_MCP))
			return HOOK_ACT_REPLACE;
		/* After the fact and without a field for it, a word of warning is all that reaches the model. */
		return c->event->phase == HOOK_AFTER && !(can & HOOK_CAN_SAY_NO) ? HOOK_ACT_ADD
										 : HOOK_ACT_DENY;
	case HOOK_ACT_PASS:
	case HOOK_ACT_COUNT:
		break;
	}
	return HOOK_ACT_PASS;
}

/* "block" alone leaves the output where it is, in front of the model. */
static json_t *reply_claude_withheld(const struct hook_call *c, const struct hook_answer *a)
{
	if (!a->output || !(c->event->can & HOOK_CAN_REPLACE))
		return json_pack("{ssss}", "decision", "block", "reason", a->reason);
	return json_pack("{sssss{sssO}}", "decision", "block", "reason", a->reason,
			 "hookSpecificOutput", "hookEventName", c->event->name, "updatedToolOutput",
			 a->output);
}

/* Claude Code and Codex.  Codex knows neither "ask" nor a replaced output. */
static json_t *reply_claude(const struct hook_call *c, const struct hook_answer *a,
			    enum hook_act act)
{
	const char *event = c->event->name;

	switch (act) {
	case HOOK_ACT_DENY:
		return c->event->phase == HOOK_BEFORE
			       ? json_pack("{s{ssssss}}", "hookSpecificOutput", "hookEventName",
					   event, "permissionDecision", "deny",
					   "permissionDecisionReason", a->reason)
			       : reply_claude_withheld(c, a);
	case HOOK_ACT_ASK:
		return json_pack("{s{sssssssO*}}", "hookSpecificOutput", "hookEventName", event,
				 "permissionDecision", "ask", "permissionDecisionReason", a->reason,
				 "updatedInput", a->input);
	case HOOK_ACT_CONSTRAIN:
		return json_pack("{s{sssssssO}}", "hookSpecificOutput", "hookEventName", event,
				 "permissionDecision", "allow", "permissionDecisionReason",
				 a->reason, "updatedInput", a->input);
	case HOOK_ACT_REPLACE:
		if (c->event->can & HOOK_CAN_REPLACE_TEXT)
			return json_pack("{ssss}", "decision", "block", "reason", a->reason);
		return json_pack("{s{sssssO}}", "hookSpecificOutput", "hookEventName", event,
				 "additionalContext", a->reason, "updatedToolOutput", a->output);
	case HOOK_ACT_ADD:
		return json_pack("{s{ssss}}", "hookSpecificOutput", "hookEventName", event,
				 "additionalContext", a->reason);
	case HOOK_ACT_PASS:
	case HOOK_ACT_COUNT:
		break;
	}
	return json_object();
}

/* The redacted output as one text, which stands in for the tool's. */
static json_t *reply_gemini_replace(const struct hook_answer *a)
{
	char *text = json_is_string(a->output)
			     ? NULL
			     : json_dumps(a->output, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *shown = text ? text : json_string_value(a->output);
	json_t *reply = shown ? json_pack("{ssss+++}", "decision", "deny", "reason", a->reason,
					  "\n", shown, "")
			      : NULL;

	free(text);
	return reply;
}

static json_t *reply_gemini(const struct hook_answer *a, enum hook_act act)
{
	switch (act) {
	case HOOK_ACT_DENY:
		return json_pack("{ssss}", "decision", "deny", "reason", a->reason);
	case HOOK_ACT_CONSTRAIN:
		return json_pack("{s{sO}}", "hookSpecificOutput", "tool_input", a->input);
	case HOOK_ACT_REPLACE:
		return reply_gemini_replace(a);
	case HOOK_ACT_ADD:
		return json_pack("{s{ss}}", "hookSpecificOutput", "additionalContext", a->reason);
	case HOOK_ACT_ASK:
	case HOOK_ACT_PASS:
	case HOOK_ACT_COUNT:
		break;
	}
	return json_object();
}

/* Without "permission" a new input decides nothing: Cursor's own rules still ask. */
static json_t *reply_cursor(const struct hook_answer *a, enum hook_act act)
{
	switch (act) {
	case HOOK_ACT_DENY:
	case HOOK_ACT_ASK:
		return json_pack("{ssssss}", "permission", act == HOOK_ACT_DENY ? "deny" : "ask",
				 "user_message", a->reason, "agent_message", a->reason);
	case HOOK_ACT_CONSTRAIN:
		return json_pack("{sO}", "updated_input", a->input);
	case HOOK_ACT_REPLACE:
		return json_pack("{sOss}", "updated_mcp_tool_output", a->output,
				 "additional_context", a->reason);
	case HOOK_ACT_ADD:
		return json_pack("{ss}", "additional_context", a->reason);
	case HOOK_ACT_PASS:
	case HOOK_ACT_COUNT:
		break;
	}
	return json_object();
}

static int reply_dump(const char *data, size_t len, void *arg)
{
	struct buf *out = arg;

	buf_add(out, data, len);
	return buf_error(out) < 0 ? -1 : 0;
}

int hook_reply_write(const struct hook_call *c, const struct hook_answer *a, bool always,
		     struct buf *out, int *ret_code)
{
	enum hook_act act = c->event ? reply_act(c, a) : HOOK_ACT_PASS;
	json_auto_t *reply = NULL;

	/* After the tool ran an exit code takes nothing back, and with it the JSON would not be read. */
	*ret_code = act == HOOK_ACT_DENY && c->event->phase == HOOK_BEFORE ? HOOK_EXIT_DENY
									   : HOOK_EXIT_PASS;
	if (act == HOOK_ACT_PASS && !always)
		return 0;
	switch (c->dialect->id) {
	case HOOK_CLAUDE_CODE:
	case HOOK_CODEX:
		reply = reply_claude(c, a, act);
		break;
	case HOOK_GEMINI:
		reply = reply_gemini(a, act);
		break;
	case HOOK_CURSOR:
	case HOOK_DIALECT_COUNT:
		reply = reply_cursor(a, act);
		break;
	}
	if (!reply)
		return -ENOMEM;
	if (json_dump_callback(reply, reply_dump, out, JSON_COMPACT) < 0)
		return buf_error(out) < 0 ? buf_error(out) : -ENOMEM;
	buf_char(out, '\n');
	return buf_error(out);
}
