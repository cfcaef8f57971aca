/* SPDX-License-Identifier: Apache-2.0 */
/* SARIF and OCSF out of a small log: what their schemas require is there, for every kind of record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/export.h"
#include "base/env.h"
#include "base/mem.h"

struct event_row {
	enum audit_event_type type;
	const char *decision;
	const char *rule;
	const char *body;
	/* want */
	int ocsf_class, activity, severity;
	size_t results; /* SARIF */
};

static const struct event_row rows[] = {
	{AUDIT_EVENT_START, "allow", NULL, "", 1007, 1, 1, 0},
	{AUDIT_EVENT_CALL, "allow", NULL, "\"exit_code\":0,\"argv_hash\":\"sha256:ab\"", 1007, 2, 1,
	 0},
	{AUDIT_EVENT_CALL, "allow", "R-1",
	 "\"verdict\":{\"verdict\":\"SUSPICIOUS\",\"findings\":[{\"rule\":\"R-1\",\"level\":\"HIGH\","
	 "\"severity\":\"error\",\"message\":\"m\",\"line\":3,\"column\":2},{\"rule\":\"R-2\","
	 "\"level\":\"LOW\",\"path\":\"/a b/c%.sh\"}]}",
	 1007, 2, 4, 2},
	{AUDIT_EVENT_REFUSED, "block", "R-9", "\"message\":\"no\"", 2004, 1, 3, 1},
	{AUDIT_EVENT_REFUSED, "block", NULL,
	 "\"findings\":[{\"rule\":\"R-1\",\"level\":\"CRITICAL\",\"message\":\"evil\"}]", 2004, 1,
	 5, 1},
	{AUDIT_EVENT_FINDING, NULL, NULL,
	 "\"findings\":[{\"type\":\"egress\",\"severity\":\"warning\",\"file\":\"x/y.md\"}]", 2004,
	 1, 3, 1},
	{AUDIT_EVENT_APPROVAL, "deny", NULL, "", 2004, 1, 3, 0},
	{AUDIT_EVENT_NETWORK, "allow", NULL, "\"target\":{\"host\":\"example.com\",\"port\":443}",
	 4001, 1, 1, 0},
	{AUDIT_EVENT_NETWORK, "deny", NULL, "\"target\":{\"host\":\"evil.test\",\"port\":80}", 4001,
	 5, 3, 0},
	{AUDIT_EVENT_POLICY, NULL, NULL, "", 6002, 99, 1, 0},
	{AUDIT_EVENT_SESSION, NULL, NULL, "", 6002, 99, 1, 0},
};

static char dir[64];
static struct buf output = {.max = 1 << 22};

static int set_up(void **state)
{
	const char *tmp = env_get("TMPDIR");
	struct audit_options options = {.struct_size = sizeof(options), .dir = dir};
	AUTO(audit_closep) struct audit *a = NULL;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "%.40s/export-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || audit_open(&options, &a, NULL) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct audit_event ev = {
			.type = rows[i].type,
			.call_id = i % 2 ? "ca-1" : NULL,
			.session_id = "se-1",
			.decision = rows[i].decision,
			.rule = rows[i].rule,
			.body = rows[i].body,
			.body_len = strlen(rows[i].body),
		};

		if (audit_append(a, &ev, NULL, NULL) < 0)
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	char path[96];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/audit.ndjson", dir);
	(void)unlink(path);
	buf_done(&output);
	return rmdir(dir);
}

static int take(void *userdata, const char *data, size_t len)
{
	struct buf *b = userdata;

	buf_add(b, data, len);
	return buf_error(b);
}

static int refuse(void *userdata, const char *data, size_t len)
{
	(void)userdata;
	(void)data;
	(void)len;
	return -EPIPE;
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	if (!s)
		fail_msg("no text '%s'", name);
	return s ? s : "";
}

static void check_result(const json_t *result, const json_t *rules)
{
	const char *level = text_of(result, "level");
	const json_t *location = json_array_get(json_object_get(result, "locations"), 0);
	const json_t *physical = json_object_get(location, "physicalLocation");
	const char *uri = text_of(json_object_get(physical, "artifactLocation"), "uri");
	bool has_rule = false;
	json_t *rule;
	size_t i;

	assert_true(!strcmp(level, "error") || !strcmp(level, "warning") || !strcmp(level, "note"));
	assert_true(strlen(text_of(json_object_get(result, "message"), "text")) > 0);
	assert_null(strpbrk(uri, " \"<>\\"));
	json_array_foreach(rules, i, rule)
		has_rule |= strcmp(text_of(rule, "id"), text_of(result, "ruleId")) == 0;
	assert_true(has_rule);
}

static void test_sarif(void **state)
{
	struct audit_export out = {.write = take, .userdata = &output};
	json_t *o, *run, *driver, *results, *rules, *result;
	size_t want = 0, i;

	(void)state;
	buf_clear(&output);
	assert_int_equal(audit_export_sarif(dir, &out, NULL), 0);
	o = json_loadb(output.data, output.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	assert_string_equal(text_of(o, "version"), "2.1.0");
	assert_non_null(strstr(text_of(o, "$schema"), "sarif"));
	assert_int_equal(json_array_size(json_object_get(o, "runs")), 1);
	run = json_array_get(json_object_get(o, "runs"), 0);
	driver = json_object_get(json_object_get(run, "tool"), "driver");
	assert_string_equal(text_of(driver, "name"), "cordon");
	rules = json_object_get(driver, "rules");
	results = json_object_get(run, "results");
	for (i = 0; i < ARRAY_LEN(rows); i++)
		want += rows[i].results;
	assert_int_equal(json_array_size(results), want);
	assert_int_equal(json_array_size(rules), 4); /* R-1 R-2 R-9 egress */
	json_array_foreach(results, i, result) check_result(result, rules);
	result = json_array_get(results, 0);
	assert_string_equal(text_of(result, "ruleId"), "R-1");
	assert_string_equal(text_of(result, "level"), "error");
	assert_non_null(strstr(output.data, "\"startLine\":3,\"startColumn\":2"));
	assert_non_null(strstr(output.data, "file:///a%20b/c%25.sh"));
	assert_non_null(strstr(output.data, "\"uri\":\"x/y.md\""));
	assert_non_null(strstr(output.data, "\"uri\":\"cordon:call/ca-1\""));
	json_decref(o);
}

static void check_ocsf(const json_t *o, const struct event_row *row)
{
	static const char *const numbers[] = {"activity_id", "category_uid", "class_uid",
					      "type_uid",    "time",         "severity_id"};
	const json_t *metadata = json_object_get(o, "metadata");
	json_int_t class = json_integer_value(json_object_get(o, "class_uid"));
	json_int_t activity = json_integer_value(json_object_get(o, "activity_id"));

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!json_is_integer(json_object_get(o, numbers[i])))
			fail_msg("no number '%s'", numbers[i]);
	assert_int_equal(json_integer_value(json_object_get(o, "type_uid")),
			 class * 100 + activity);
	assert_int_equal(json_integer_value(json_object_get(o, "category_uid")), class / 1000);
	assert_true(json_integer_value(json_object_get(o, "time")) > INT64_C(1700000000000));
	assert_true(strlen(text_of(metadata, "version")) > 0);
	assert_true(strlen(text_of(json_object_get(metadata, "product"), "vendor_name")) > 0);
	assert_true(strlen(text_of(json_object_get(metadata, "product"), "name")) > 0);
	assert_int_equal(class, row->ocsf_class);
	assert_int_equal(activity, row->activity);
	assert_int_equal(json_integer_value(json_object_get(o, "severity_id")), row->severity);
	if (class == 1007) {
		assert_true(json_is_object(json_object_get(o, "process")));
		assert_true(json_is_object(json_object_get(o, "actor")));
		assert_true(
			json_is_integer(json_object_get(json_object_get(o, "device"), "type_id")));
	}
	if (class == 2004) {
		assert_true(strlen(text_of(json_object_get(o, "finding_info"), "uid")) > 0);
		assert_true(strlen(text_of(json_object_get(o, "finding_info"), "title")) > 0);
	}
	if (class == 4001)
		assert_true(strlen(text_of(json_object_get(o, "dst_endpoint"), "hostname")) > 0);
	if (class == 6002)
		assert_true(strlen(text_of(json_object_get(o, "app"), "vendor_name")) > 0);
}

static void test_ocsf(void **state)
{
	const struct event_row opened = {.ocsf_class = 6002, .activity = 3, .severity = 1};
	struct audit_export out = {.write = take, .userdata = &output};
	const char *p;
	size_t n = 0;

	(void)state;
	buf_clear(&output);
	assert_int_equal(audit_export_ocsf(dir, &out, NULL), 0);
	for (p = buf_cstr(&output); *p; n++) {
		const char *end = strchr(p, '\n');
		json_t *o;

		assert_non_null(end);
		o = json_loadb(p, (size_t)(end - p), JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(o);
		assert_true(n <= ARRAY_LEN(rows));
		check_ocsf(o, n == 0 ? &opened : &rows[n - 1]);
		json_decref(o);
		p = end + 1;
	}
	assert_int_equal(n, ARRAY_LEN(rows) + 1);
}

static void test_filter_and_refusal(void **state)
{
	const struct audit_filter filter = {.type = "policy"};
	struct audit_export out = {.write = take, .userdata = &output, .filter = &filter};
	struct cordon_error err = {0};

	(void)state;
	buf_clear(&output);
	assert_int_equal(audit_export_ocsf(dir, &out, NULL), 0);
	assert_ptr_equal(strchr(output.data, '\n'), output.data + output.len - 1);
	out.write = refuse;
	assert_int_equal(audit_export_ocsf(dir, &out, &err), CORDON_E_SYSTEM);
	assert_int_equal(err.sys_errno, EPIPE);
	assert_int_equal(audit_export_sarif(dir, &out, &err), CORDON_E_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sarif),
		cmocka_unit_test(test_ocsf),
		cmocka_unit_test(test_filter_and_refusal),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
