/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON Schema against what `policy show --json` prints: a validator for the keywords that the
 * schema uses, and rows that it must refuse so that it is known to look.
 */
#include "core_fixture.h"

#include "policy/explain.h"
#include "policy/schema.h"

/* Names that both headers have; the test needs none of them from jansson. */
#define json_object jansson_object
#define json_array jansson_array
#define json_null jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_null

#include <regex.h>

static const char *validate(json_t *schema, json_t *v);

static bool has_type(const char *type, json_t *v)
{
	static const struct {
		const char *name;
		json_type type;
	} types[] = {{"object", JSON_OBJECT},
		     {"array", JSON_ARRAY},
		     {"string", JSON_STRING},
		     {"integer", JSON_INTEGER}};

	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(v);
	if (strcmp(type, "number") == 0)
		return json_is_number(v);
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, type) == 0)
			return json_typeof(v) == types[i].type;
	fail_msg("a type that this validator does not know: %s", type);
	return false;
}

static bool type_fits(json_t *type, json_t *v)
{
	json_t *one;
	size_t i;

	if (!type || json_is_string(type))
		return !type || has_type(json_string_value(type), v);
	json_array_foreach(type, i, one)
	{
		if (has_type(json_string_value(one), v))
			return true;
	}
	return false;
}

static bool enum_fits(json_t *list, json_t *v)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_equal(one, v))
			return true;
	}
	return !list;
}

static const char *validate_object(json_t *schema, json_t *v)
{
	json_t *properties = json_object_get(schema, "properties"),
	       *more = json_object_get(schema, "additionalProperties");
	json_t *name, *value;
	const char *key, *bad;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		if (!json_object_get(v, json_string_value(name)))
			return json_string_value(name);
	}
	json_object_foreach(v, key, value)
	{
		json_t *sub = json_object_get(properties, key);

		if (!sub && json_is_false(more))
			return key;
		if (!sub && json_is_object(more))
			sub = more;
		bad = sub ? validate(sub, value) : NULL;
		if (bad)
			return bad;
	}
	return NULL;
}

static bool pattern_fits(json_t *pattern, json_t *v)
{
	regex_t re;
	bool fits;

	if (!pattern || !json_is_string(v))
		return true;
	assert_int_equal(regcomp(&re, json_string_value(pattern), REG_EXTENDED | REG_NOSUB), 0);
	fits = regexec(&re, json_string_value(v), 0, NULL, 0) == 0;
	regfree(&re);
	return fits;
}

/* NULL, or what is wrong: a key or a keyword.  Unknown keywords fail the test. */
static const char *validate(json_t *schema, json_t *v)
{
	static const char *const known[] = {"$schema",
					    "title",
					    "type",
					    "properties",
					    "enum",
					    "description",
					    "default",
					    "minLength",
					    "items",
					    "required",
					    "additionalProperties",
					    "minimum",
					    "maximum",
					    "pattern",
					    "const"};
	json_t *min = json_object_get(schema, "minimum"), *max = json_object_get(schema, "maximum");
	json_t *length = json_object_get(schema, "minLength"),
	       *constant = json_object_get(schema, "const");
	json_t *items = json_object_get(schema, "items"), *value;
	const char *key, *bad;
	size_t i;

	json_object_foreach(schema, key, value)
	{
		bool found = false;

		for (i = 0; i < ARRAY_LEN(known); i++)
			found |= strcmp(known[i], key) == 0;
		if (!found)
			fail_msg("a keyword that this validator does not know: %s", key);
	}
	if (!type_fits(json_object_get(schema, "type"), v))
		return "type";
	if (!enum_fits(json_object_get(schema, "enum"), v))
		return "enum";
	if (constant && !json_equal(constant, v))
		return "const";
	if (json_is_number(v) && ((min && json_number_value(v) < json_number_value(min)) ||
				  (max && json_number_value(v) > json_number_value(max))))
		return "range";
	if (length && json_is_string(v) &&
	    (json_int_t)json_string_length(v) < json_integer_value(length))
		return "minLength";
	if (!pattern_fits(json_object_get(schema, "pattern"), v))
		return "pattern";
	json_array_foreach(v, i, value)
	{
		bad = items ? validate(items, value) : NULL;
		if (bad)
			return bad;
	}
	return json_is_object(v) ? validate_object(schema, v) : NULL;
}

static json_t *schema_load(void)
{
	struct buf b = BUF_INIT(1 << 24);
	json_error_t where;
	json_t *schema;

	policy_schema_json(&b);
	schema = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &where);
	if (!schema)
		fail_msg("%d:%d: %s", where.line, where.column, where.text);
	buf_done(&b);
	return schema;
}

static void test_shown(void **state)
{
	static const char *const texts[] = {
		NULL,
		"sandbox: {level: container, workspace: cow, resource_limits: {memory_mb: 5, timeout_ms: 1}}\n",
		"sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: [a.org], allow_private: [10.0.0.0/8]}, "
		"filesystem: {mode: scoped, mount_paths: [{path: /x, permissions: ro}], denied_paths: [\"**/.env\"]}, "
		"secrets: {grants: [{name: a, hosts: [b.org]}]}}, environment: {pass: [A], set: {B: c}}}\n",
		"policy: {rules: [{id: a, action: deny, scope: tool, match: {name: X, arguments: {u: v}, annotations: {r: true}}, "
		"conditions: {path_within: /x, moon: full}, approval: {timeout_seconds: 5}}], audit: {retention: 30d}, "
		"rate_limits: {tool_calls_per_minute: 3, cost_per_day_usd: 1.5}}\n",
		"enforcement: {enabled: true, overrides: {tool_name: {B: {suspicious_floor: 0.1}}}, "
		"suspicious: {Bash: {filesystem_writable: [/tmp]}}, actions: {SUSPICIOUS: block}}\n",
	};
	json_auto_t *schema = schema_load();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(texts[i]);
		struct buf b = BUF_INIT(1 << 24);
		struct json j = JSON_INIT(&b);
		json_auto_t *shown = NULL;
		const char *bad;

		policy_show_json(p, false, &j);
		shown = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(shown);
		bad = validate(schema, shown);
		if (bad)
			fail_msg("%s: %s\n%s", texts[i], bad, buf_cstr(&b));
		buf_done(&b);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"[]",
		"{\"sandbox\":{\"level\":\"nonw\"}}",
		"{\"sandbox\":{\"levle\":\"none\"}}",
		"{\"sandbox\":{\"resource_limits\":{\"memory_mb\":-1}}}",
		"{\"sandbox\":{\"resource_limits\":{\"memory_mb\":\"x\"}}}",
		"{\"sandbox\":{\"capabilities\":{\"filesystem\":{\"mount_paths\":[{\"path\":\"/x\"}]}}}}",
		"{\"enforcement\":{\"thresholds\":{\"suspicious_floor\":2}}}",
		"{\"policy\":{\"rules\":[{\"id\":\"a\",\"action\":\"maybe\",\"scope\":\"all\"}]}}",
	};
	json_auto_t *schema = schema_load();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_auto_t *v = json_loads(texts[i], 0, NULL);

		if (!validate(schema, v))
			fail_msg("accepted: %s", texts[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
