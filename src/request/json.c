/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call from JSON.  jansson reads it; depth and size are checked before, because its own depth limit
 * is far above anything a call needs.
 */
#include "request/request.h"

#include "base/json_check.h"
#include "base/limits.h"
#include "base/mem.h"

#include <jansson.h>
#include <string.h>

static int request_check_keys(json_t *root, struct cordon_error *err)
{
	static const char *const known[] = {"id",   "argv",  "command", "cwd",
					    "tool", "agent", "session", "category"};
	const char *key;
	json_t *value;

	json_object_foreach(root, key, value)
	{
		bool found = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			found |= strcmp(known[i], key) == 0;
		if (!found)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_INVALID,
						       "request: unknown key '%.100s'", key),
					   "known: id, argv or command, cwd, tool, agent, session, "
					   "category");
		if (strcmp(key, "argv") != 0 && !json_is_string(value))
			return cordon_fail(err, CORDON_E_INVALID, "request: '%s' must be a string",
					   key);
	}
	return 0;
}

static int request_json_argv(json_t *list, const struct request_options *o, struct request **ret,
			     struct cordon_error *err)
{
	struct strv argv = {0};
	json_t *word;
	size_t i;
	int e = 0;

	if (!json_is_array(list) || json_array_size(list) == 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "request: 'argv' must be a list of words");
	json_array_foreach(list, i, word)
	{
		if (!json_is_string(word)) {
			e = cordon_fail(err, CORDON_E_INVALID,
					"request: 'argv' holds something that is "
					"not a string");
			break;
		}
		e = strv_add(&argv, json_string_value(word));
		if (e < 0) {
			e = cordon_fail_leaf(err, e, "request: 'argv'");
			break;
		}
	}
	if (e == 0)
		e = request_from_argv(argv.v, o, ret, err);
	strv_done(&argv);
	return e;
}

int request_from_json(const char *json, size_t len, const char *default_cwd, struct request **ret,
		      struct cordon_error *err)
{
	json_auto_t *root = NULL;
	struct request_options o = {0};
	json_error_t where;
	json_t *argv, *command;
	int e;

	if (len > LIMIT_REQUEST_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "request: more than %d bytes",
				   LIMIT_REQUEST_BYTES);
	if (!json_check_depth(json, len))
		return cordon_fail(err, CORDON_E_LIMIT, "request: nested too deeply");
	/* Without JSON_ALLOW_NUL a NUL in a string is an error, so C strings are whole. */
	root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return cordon_fail(err, CORDON_E_INVALID, "request:%d:%d: %s", where.line,
				   where.column, where.text);
	if (!json_is_object(root))
		return cordon_fail(err, CORDON_E_INVALID, "request: must be an object");
	e = request_check_keys(root, err);
	if (e < 0)
		return e;
	o.cwd = json_string_value(json_object_get(root, "cwd"));
	o.cwd = o.cwd ? o.cwd : default_cwd;
	o.tool = json_string_value(json_object_get(root, "tool"));
	o.agent = json_string_value(json_object_get(root, "agent"));
	o.session = json_string_value(json_object_get(root, "session"));
	o.category = json_string_value(json_object_get(root, "category"));
	o.caller_id = json_string_value(json_object_get(root, "id"));
	argv = json_object_get(root, "argv");
	command = json_object_get(root, "command");
	if (!argv == !command)
		return cordon_fail(err, CORDON_E_INVALID,
				   "request: give either 'argv' or 'command'");
	return argv ? request_json_argv(argv, &o, ret, err)
		    : request_from_shell(json_string_value(command), &o, ret, err);
}
