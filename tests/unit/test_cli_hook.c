/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a hook that are pure: rules about paths and URLs, the constrained form, changes of settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hook/scene.h"
#include "hook/splice.h"

#include <string.h>

static bool finds(const struct look_rule *rule, const char *example)
{
	static const struct look_place place = {
		.workspace = "/nowhere/w",
		.home = "/nowhere/h",
		.config_dir = "/nowhere/h/.config/cordon",
		.state_dir = "/nowhere/h/.local/state/cordon",
	};
	AUTO(findings_done) struct findings found = {0};
	struct cordon_error err = {0};

	assert_int_equal(look_at(&place, rule->kind, example, &found, &err), 0);
	for (size_t i = 0; i < found.n; i++)
		if (strcmp(found.items[i].rule, rule->id) == 0)
			return true;
	return false;
}

static void test_look(void **state)
{
	(void)state;
	for (size_t i = 0; i < look_rule_count; i++) {
		const struct look_rule *rule = &look_rules[i];

		assert_true(rule->id && rule->reason[0] && rule->hit && rule->miss);
		if (!finds(rule, rule->hit))
			fail_msg("%s does not hit its example", rule->id);
		if (finds(rule, rule->miss))
			fail_msg("%s hits its counter-example", rule->id);
	}
}

static void test_wrap(void **state)
{
	static const char *const commands[] = {
		"true", "echo 'a'", "a'b'c", "'",         "''", "a\nb", "$(x) `y` \"z\" \\",
		"-c",   "éü",       "  ",    "!x #y ;z&", "\\", "\\'",  "a\\\\'\\b\\'",
	};
	struct hook_call call = {.tool = "Bash", .session = "s'1"};
	struct hook_scene s = {.call = &call, .exe = "/opt/a b/cordon"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		AUTO_FREE char *wrapped = NULL;
		AUTO_FREE char *again = NULL;
		AUTO_FREE char *spoilt = NULL;
		char more[512];

		assert_int_equal(hook_wrap(&s, commands[i], &wrapped), 0);
		assert_int_equal(hook_unwrap(&s, wrapped, &again), 0);
		assert_string_equal(again, commands[i]);
		/* with anything behind it is not ours */
		(void)snprintf(more, sizeof(more), "%s --write /", wrapped);
		assert_int_equal(hook_unwrap(&s, more, &spoilt), 0);
		assert_null(spoilt);
	}
	call.session = "s2";
	{
		AUTO_FREE char *other = NULL;

		assert_int_equal(
			hook_unwrap(
				&s,
				"'/opt/a b/cordon' run --constrain --tool Bash --session s3 -c x",
				&other),
			0);
		assert_null(other);
	}
}

static const struct {
	const char *text, *key, *value, *want;
} appended[] = {
	{"{}", "a", "1", "{\n  \"a\": 1\n}"},
	{"{ }\n", "a", "1", "{\n  \"a\": 1\n}\n"},
	{"{\n  \"b\": {}\n}\n", "a", "1", "{\n  \"b\": {},\n  \"a\": 1\n}\n"},
	{"{\"b\": 2}", "a", "1", "{\"b\": 2,\n  \"a\": 1}"},
	{"{\n\t\"b\": \"}\" // no }\n}", "a", "[]", "{\n\t\"b\": \"}\",\n\t\"a\": [] // no }\n}"},
	{"[]", NULL, "1", "[\n  1\n]"},
	{"[\n    1, [2]\n]", NULL, "3", "[\n    1, [2],\n    3\n]"},
};

static void test_splice(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(appended); i++) {
		struct buf out = BUF_INIT(4096), back = BUF_INIT(4096);
		const char *text = appended[i].text;
		char read[256] = "";
		struct splice_place place;

		memcpy(read, text, strlen(text));
		if (strstr(read, "//"))
			memset(strstr(read, "//"), ' ', strlen("// no }"));
		assert_true(splice_append(text, read, strlen(text), 0, appended[i].key,
					  appended[i].value, &out));
		assert_string_equal(buf_cstr(&out), appended[i].want);
		if (appended[i].key && !strstr(text, "//")) {
			assert_true(splice_member(out.data, out.len, 0, "a", &place));
			splice_remove(out.data, out.len, &place, &back);
			if (text[1] != '}' && text[1] != ' ')
				assert_string_equal(buf_cstr(&back), text);
		}
		buf_done(&out);
		buf_done(&back);
	}
}

static void test_splice_remove(void **state)
{
	static const struct {
		const char *text;
		size_t index;
		const char *want;
	} rows[] = {
		{"[1, 2, 3]", 0, "[2, 3]"},   {"[1, 2, 3]", 1, "[1, 3]"},
		{"[1, 2, 3]", 2, "[1, 2]"},   {"[ 1 ]", 0, "[]"},
		{"[\"a,]\", {}]", 0, "[{}]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(4096);
		struct splice_place place;

		assert_true(splice_element(rows[i].text, strlen(rows[i].text), 0, rows[i].index,
					   &place));
		splice_remove(rows[i].text, strlen(rows[i].text), &place, &out);
		assert_string_equal(buf_cstr(&out), rows[i].want);
		buf_done(&out);
		assert_false(splice_element(rows[i].text, strlen(rows[i].text), 0, 9, &place));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_splice_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
