/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other people's hard cases through our readers: the YAML and JSON test suites and naughty strings as
 * policies, expressions of other engines as patterns.  Nothing crashes, hangs or is accepted by mistake.
 * The catastrophic patterns that stand here are always run.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "policy/pattern.h"
#include "policy_kit.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_SECONDS = 2, HOSTILE_BYTES = 100 * 1024, SEARCH_MS = 50, CHECK_MS = 250 };

/* Is the text more than nothing?  Only an empty policy may be accepted. */
static void try_policy(const char *id, const char *text, size_t len)
{
	struct policy *p = policy_new();
	struct cordon_error err = {0};
	int r;

	assert_non_null(p);
	(void)alarm(TEXT_SECONDS); /* SIGALRM ends the program: a hang is a failure */
	r = policy_parse(&kit_context, text, len, id, LAYER_USER, false, p, NULL, &err);
	(void)alarm(0);
	if (r < 0 && !err.message[0])
		fail_msg("%s: refused without a word", id);
	for (size_t row = 0; r == 0 && row < POLICY_ROWS; row++)
		if (policy_has(p, (enum policy_row)row))
			fail_msg("%s: sets %s", id, shape_policy.fields[row].path);
	for (const char *s = err.message; *s; s++)
		if ((unsigned char)*s < 0x20)
			fail_msg("%s: a control character in the message", id);
	policy_free(p);
}

/* Decodes base64 in place of a library for it; test data only. */
static char *decode_base64(const char *s, size_t *ret_len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = malloc(strlen(s) + 1);
	unsigned bits = 0;
	int have = 0;
	size_t n = 0;

	assert_non_null(out);
	for (; *s && *s != '='; s++) {
		const char *d = strchr(digits, *s);

		assert_non_null(d);
		bits = bits << 6 | (unsigned)(d - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have & 0xff);
		}
	}
	*ret_len = n;
	return out;
}

/* Calls f for each object of a file of JSON lines. */
static size_t each_line(const char *file, void (*f)(const json_t *))
{
	AUTO_FREE char *all = kit_read(kit_shared(file), NULL);
	size_t n = 0;

	if (!all)
		return 0;
	for (char *line = all, *end; *line; line = end) {
		json_t *object;

		end = line + strcspn(line, "\n");
		end += *end == '\n' ? 1 : 0;
		object = json_loadb(line, (size_t)(end - line), JSON_ALLOW_NUL, NULL);
		if (!object)
			fail_msg("%s: line %zu is not JSON", file, n + 1);
		f(object);
		json_decref(object);
		n++;
	}
	return n;
}

static void try_line(const json_t *object)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const json_t *text = json_object_get(object, "text");
	const char *base64 = json_string_value(json_object_get(object, "b64"));

	if (base64) {
		size_t len = 0;
		AUTO_FREE char *bytes = decode_base64(base64, &len);

		try_policy(id, bytes, len);
	} else {
		try_policy(id, json_string_value(text), json_string_length(text));
	}
}

static void test_texts(void **state)
{
	(void)state;
	KIT_NEED_SHARED();
	assert_true(each_line("corpora/h_yamltestsuite/dev.jsonl", try_line) > 400);
	assert_true(each_line("corpora/h_blns/dev.jsonl", try_line) > 400);
	assert_true(each_line("corpora/h_jsontestsuite/dev.jsonl", try_line) > 300);
}

static char hostile[HOSTILE_BYTES];

/* Every search ends in time, also with patterns that the check refuses. */
static void try_searches(const char *source)
{
	static const char *const units[] = {
		"a", "ab", "abc", "0",  "x",  "b",  " ",   "\t", ",",  "=",
		"A", "a ", "1.",  "; ", "/a", "\"", "a\n", "(",  "aA", "q",
	};
	struct pattern *p = NULL;

	if (pattern_compile(source, &p, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		int64_t start;
		size_t n = strlen(units[i]);

		for (size_t k = 0; k < sizeof(hostile); k++)
			hostile[k] = units[i][k % n];
		hostile[sizeof(hostile) - 1] = '!';
		start = clock_ms();
		if (pattern_search(p, hostile, sizeof(hostile)) > 1) /* found or not is all one */
			fail_msg("'%s': neither found nor not found", source);
		/* Under a sanitizer and beside other tests it takes longer, but not without end. */
		if (clock_ms() - start > SEARCH_MS * 4)
			fail_msg("'%s' took %lld ms on '%s'", source,
				 (long long)(clock_ms() - start), units[i]);
	}
	pattern_free(p);
}

struct pattern_row {
	const char *source;
	bool is_refused;
};

static const struct pattern_row pattern_rows[] = {
	{"(a+)+$", true},
	{"(a+)+b", true},
	{"(a*)*b", true},
	{"(a|a)*b", true},
	{"(a|aa)*b", true},
	{"(a|a?)+b", true},
	{"(\\w*\\s*)*x", true},
	{"(.*)*=(.*)*!", true},
	{"(q+q+)+r", true},
	{"x(q+q+)+r", true},
	{"^(([a-z])+.)+[A-Z]([a-z])+$", true},
	{"(,*,)*(,+)[ \\t]", true},
	{"a(z|\\w*b)*d", true},
	{"(?:a?){30}a{30}b", true},
	{"(x+x+)+y", true},
	{"((a{1,10}){1,10}){1,10}b", true},
	{"(?i)(K+k+)+!!", true},
	/* these cost at most a power of the length: accepted, and stopped when they take too long */
	{"a{0,1000}a{0,150}b", false},
	{"a*a*b", false},
	{"\\w*\\w*!", false},
	{"(a+)(a+)\\1b", false},
	{"\\s*(.*?)\\s*([#;].*)?$", false},
	/* what people write */
	{".*password.*=.*", false},
	{"\\|\\s*bash", false},
	{"eval\\s+", false},
	{"rm\\s+(-[a-zA-Z]*\\s+)*-rf", false},
	{"(?i)\\b(curl|wget)\\b.{0,60}https?://", false},
	{"^sudo\\b", false},
	{"(*UTF)caf\xc3\xa9", false},
	{"(?x) chmod \\s+ 777 # a comment", false},
	{"(?<!\\w)dd\\s+if=", false},
	{"", false},
};

static void test_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pattern_rows); i++) {
		const struct pattern_row *row = &pattern_rows[i];
		struct cordon_error err = {0};
		int64_t start = clock_ms();
		int r = pattern_check(row->source, &err);

		if (clock_ms() - start > CHECK_MS * 4)
			fail_msg("'%s': checking took %lld ms", row->source,
				 (long long)(clock_ms() - start));
		if ((r < 0) != row->is_refused || (r < 0 && !strstr(err.message, "endless time")))
			fail_msg("'%s': %d %s", row->source, r, err.message);
		try_searches(row->source);
	}
}

static void test_search(void **state)
{
	static const struct {
		const char *source, *text;
		int want;
	} rows[] = {
		{"b", "abc", 1},
		{"^b", "abc", 0},
		{"a|b", "xxb", 1},
		{"(?i)RM", "rm -rf", 1},
		{"RM", "rm -rf", 0},
		{"(*UTF)^.$", "\xc3\xa9", 1},
		{"^.$", "\xc3\xa9", 0},
		{"(?x) a b # comment", "ab", 1},
		{"(a)(b)?\\1", "aba", 1},
		{"(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", CORDON_E_LIMIT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pattern *p = NULL;
		struct cordon_error err = {0};
		int got;

		assert_int_equal(pattern_compile(rows[i].source, &p, &err), 0);
		got = pattern_search(p, rows[i].text, strlen(rows[i].text));
		if (got != rows[i].want)
			fail_msg("'%s' in '%s': %d", rows[i].source, rows[i].text, got);
		pattern_free(p);
	}
}

static size_t compiled, refused;

static void try_check(const char *source)
{
	struct cordon_error err = {0};
	int64_t start = clock_ms();
	int r = pattern_check(source, &err);

	if (clock_ms() - start > CHECK_MS * 4)
		fail_msg("'%s': checking took %lld ms", source, (long long)(clock_ms() - start));
	if (r < 0 && (!err.message[0] || !err.hint[0]))
		fail_msg("'%s': refused without a word", source);
	compiled++;
	refused += strstr(err.message, "endless time") != NULL;
}

static void try_redos(const json_t *object)
{
	const char *source = json_string_value(json_object_get(object, "text"));

	try_check(source);
	try_searches(source);
}

static void try_regex(const json_t *object)
{
	const json_t *regex = json_object_get(json_object_get(object, "test"), "regex");

	if (json_is_string(regex))
		try_check(json_string_value(regex));
}

static void test_pattern_corpora(void **state)
{
	(void)state;
	KIT_NEED_SHARED();
	assert_true(each_line("corpora/h_redos/dev.jsonl", try_redos) > 20);
	assert_true(refused >= 4);
	refused = 0;
	assert_true(each_line("corpora/h_regex_rust/dev.jsonl", try_regex) > 1000);
	print_message("%zu patterns, %zu refused for their time\n", compiled, refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_pattern_corpora),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
