/* SPDX-License-Identifier: Apache-2.0 */
/* See call.h. */
#include "hook/call.h"

#include "base/json_check.h"
#include "base/limits.h"
#include "base/str.h"

#include <string.h>

const char *const hook_output_names[] = {"tool_response", "tool_output", "result_json", "output",
					 NULL};

void hook_call_done(struct hook_call *c)
{
	free(c->owned_tool);
	json_decref(c->owned_input);
	json_decref(c->root);
	*c = (struct hook_call){0};
}

static const char *call_string(json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return str_empty(s) ? NULL : s;
}

/* Whose input this is: by the member that only one has, else by the name of the event. */
static const struct hook_dialect *call_dialect(json_t *root, const char *event)
{
	for (size_t i = HOOK_DIALECT_COUNT; i-- > 0;) {
		const struct hook_dialect *d = hook_dialect((enum hook_dialect_id)i);

		if (d->mark && json_object_get(root, d->mark) &&
		    (d->id == HOOK_CURSOR || hook_event_find(d, event)))
			return d;
	}
	for (size_t i = 0; i < HOOK_DIALECT_COUNT; i++)
		if (hook_event_find(hook_dialect((enum hook_dialect_id)i), event))
			return hook_dialect((enum hook_dialect_id)i);
	return NULL;
}

/* An event that we do not know, about a tool that has not run yet, must not pass as one that nobody asked about. */
static bool call_is_unknown_question(json_t *root, const char *event)
{
	static const char *const before[] = {"pre", "Pre", "before", "Before"};

	if (!json_object_get(root, "tool_input") && !json_object_get(root, "tool_name"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (str_starts(event, before[i]))
			return true;
	return false;
}

static int call_name(const char *what, const char *name, struct cordon_error *err)
{
	if (!name)
		return cordon_fail(err, CORDON_E_INVALID, "the input names no %s", what);
	if (strlen(name) > LIMIT_NAME_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "the name of the %s is too long", what);
	return 0;
}

/* Arguments as an object.  Cursor has them at the top, or as JSON in a string. */
static int call_input(struct hook_call *c, struct cordon_error *err)
{
	json_t *input = json_object_get(c->root, "tool_input");

	if (c->event->tool)
		input = c->root;
	if (json_is_string(input)) {
		const char *text = json_string_value(input);
		size_t len = json_string_length(input);

		if (json_check_depth(text, len))
			c->owned_input = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
		if (!c->owned_input) /* a text is an argument too */
			c->owned_input = json_pack("{sO}", "input", input);
		input = c->owned_input;
	}
	if (!json_is_object(input))
		return cordon_fail(err, CORDON_E_INVALID,
				   "the input has no object 'tool_input' for the tool '%.100s'",
				   c->tool);
	c->input = input;
	return 0;
}

/* A server names its tools as it likes, also "Read" or "Shell": the agent's own they are not. */
static int call_mark_mcp(struct hook_call *c, struct cordon_error *err)
{
	if (!c->event->is_mcp || str_starts(c->tool, HOOK_MCP_MARK))
		return 0;
	if (asprintf(&c->owned_tool, HOOK_MCP_MARK "%s", c->tool) < 0) {
		c->owned_tool = NULL;
		return cordon_nomem(err);
	}
	c->tool = c->owned_tool;
	return 0;
}

static void call_output(struct hook_call *c)
{
	for (size_t i = 0; !c->output && hook_output_names[i]; i++)
		c->output = json_object_get(c->root, hook_output_names[i]);
}

static int call_read(const struct hook_dialect *asked, struct hook_call *c,
		     struct cordon_error *err)
{
	const char *event = call_string(c->root, "hook_event_name");
	int r;

	if (!event)
		return cordon_fail(err, CORDON_E_INVALID, "the input names no event");
	c->session = call_string(c->root, "session_id");
	if (!c->session)
		c->session = call_string(c->root, "conversation_id");
	c->cwd = call_string(c->root, "cwd");
	if (!c->cwd)
		c->cwd = json_string_value(
			json_array_get(json_object_get(c->root, "workspace_roots"), 0));
	c->dialect = call_dialect(c->root, event);
	if (!c->dialect) {
		if (call_is_unknown_question(c->root, event))
			return cordon_fail(err, CORDON_E_UNSUPPORTED, "unknown event '%.100s'",
					   event);
		c->dialect = asked;
		return 0;
	}
	if (c->dialect != asked && (asked->id != HOOK_CLAUDE_CODE || c->dialect->id != HOOK_CURSOR))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "the input is %s's, but this is the hook of %s",
					       c->dialect->name, asked->name),
				   "cordon hook install %s", c->dialect->name);
	c->event = hook_event_find(c->dialect, event);
	if (!c->event) {
		/* Cursor, under the name of an event of another agent */
		return call_is_unknown_question(c->root, event)
			       ? cordon_fail(err, CORDON_E_UNSUPPORTED, "unknown event '%.100s'",
					     event)
			       : 0;
	}
	c->tool = c->event->tool ? c->event->tool : call_string(c->root, "tool_name");
	r = call_name("tool", c->tool, err);
	if (r == 0)
		r = call_mark_mcp(c, err);
	if (r == 0 && c->session)
		r = call_name("session", c->session, err);
	if (r == 0)
		r = call_input(c, err);
	if (r == 0 && c->event->phase == HOOK_AFTER)
		call_output(c);
	return r;
}

/* Half of a character that stands alone, as agents write what a tool printed, is no reason to look away: it becomes
 * U+FFFD, which has as many letters. */
static void call_mend(char *text, size_t len)
{
	for (size_t i = 0; i + 5 < len; i++) {
		bool is_high, is_low;

		if (text[i] != '\\')
			continue;
		if (text[i + 1] != 'u') {
			i++; /* what is escaped is not the start of something */
			continue;
		}
		is_high = (text[i + 2] == 'd' || text[i + 2] == 'D') &&
			  strchr("89abAB", text[i + 3]);
		is_low = (text[i + 2] == 'd' || text[i + 2] == 'D') &&
			 strchr("cdefCDEF", text[i + 3]);
		if (is_high && i + 11 < len && text[i + 6] == '\\' && text[i + 7] == 'u' &&
		    (text[i + 8] == 'd' || text[i + 8] == 'D') && strchr("cdefCDEF", text[i + 9])) {
			i += 11;
			continue;
		}
		if (is_high || is_low)
			memcpy(text + i + 2, "fffd", 4);
		i += 5;
	}
}

/* Is there a NUL in one of the strings?  In a call nobody needs one, and readers differ about it. */
static bool call_has_nul(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return strlen(json_string_value(value)) != json_string_length(value);
	json_array_foreach(value, i, item) if (call_has_nul(item)) return true;
	json_object_foreach(value, key, item) if (call_has_nul(item)) return true;
	return false;
}

int hook_call_parse(const struct hook_dialect *asked, const char *text, size_t len,
		    struct hook_call *ret, struct cordon_error *err)
{
	AUTO_FREE char *mended = malloc(len + 1);
	json_error_t where;
	int r;

	*ret = (struct hook_call){.dialect = asked};
	if (!mended)
		return cordon_nomem(err);
	memcpy(mended, text, len);
	mended[len] = '\0';
	call_mend(mended, len);
	if (!json_check_depth(text, len))
		return cordon_fail(err, CORDON_E_LIMIT,
				   "the input is nested more than %d levels deep",
				   LIMIT_JSON_DEPTH);
	ret->root = json_loadb(mended, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
	if (!ret->root)
		return cordon_fail(err, CORDON_E_INVALID, "the input is not JSON: %d:%d: %s",
				   where.line, where.column, where.text);
	if (!json_is_object(ret->root))
		return cordon_fail(err, CORDON_E_INVALID, "the input is not an object");
	r = call_read(asked, ret, err);
	if (r == 0 && (!ret->event || ret->event->phase != HOOK_AFTER) && call_has_nul(ret->root))
		return cordon_fail(err, CORDON_E_INVALID, "a NUL in the input");
	return r;
}
