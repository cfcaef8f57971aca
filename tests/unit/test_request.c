/* SPDX-License-Identifier: Apache-2.0 */
/* The call: from words, shell strings and JSON, and the paths that rules may know of it. */
#include "core_fixture.h"

#include "base/env.h"
#include "base/limits.h"

#include <jansson.h>

static const struct {
	const char *what, *json, *error; /* error NULL: accepted */
} json_rows[] = {
	{"argv", "{\"argv\":[\"ls\",\"-l\"]}", NULL},
	{"command", "{\"command\":\"ls -l\"}", NULL},
	{"everything",
	 "{\"id\":\"7\",\"argv\":[\"a\"],\"cwd\":\"/tmp\",\"tool\":\"T\",\"agent\":\"g\","
	 "\"session\":\"s\",\"category\":\"c\"}",
	 NULL},
	{"an empty word", "{\"argv\":[\"a\",\"\"]}", NULL},
	{"unicode", "{\"argv\":[\"\\u00e4\",\"\xf0\x9f\x98\x80\"]}", NULL},
	{"dots in cwd", "{\"argv\":[\"a\"],\"cwd\":\"/tmp/../usr/.\"}", NULL},
	{"nothing", "", "request:1:"},
	{"no object", "[]", "must be an object"},
	{"a string", "\"ls\"", "request:1:"},
	{"no call", "{}", "either 'argv' or 'command'"},
	{"two calls", "{\"argv\":[\"a\"],\"command\":\"b\"}", "either 'argv' or 'command'"},
	{"no words", "{\"argv\":[]}", "list of words"},
	{"an empty command word", "{\"argv\":[\"\"]}", "no command"},
	{"an empty command", "{\"command\":\"\"}", "no command"},
	{"argv no list", "{\"argv\":\"ls\"}", "list of words"},
	{"a number in argv", "{\"argv\":[\"a\",1]}", "not a string"},
	{"null in argv", "{\"argv\":[null]}", "not a string"},
	{"a list in argv", "{\"argv\":[[\"a\"]]}", "not a string"},
	{"command no string", "{\"command\":7}", "must be a string"},
	{"cwd no string", "{\"argv\":[\"a\"],\"cwd\":7}", "must be a string"},
	{"cwd relative", "{\"argv\":[\"a\"],\"cwd\":\"tmp\"}", "must be absolute"},
	{"cwd empty", "{\"argv\":[\"a\"],\"cwd\":\"\"}", "must be absolute"},
	{"unknown key", "{\"argv\":[\"a\"],\"enviroment\":{}}", "unknown key 'enviroment'"},
	{"duplicate key", "{\"argv\":[\"a\"],\"argv\":[\"b\"]}", "request:1:"},
	{"NUL in a word", "{\"argv\":[\"a\\u0000b\"]}", "request:1:"},
	{"NUL in cwd", "{\"argv\":[\"a\"],\"cwd\":\"/\\u0000\"}", "request:1:"},
	{"trailing bytes", "{\"argv\":[\"a\"]} x", "request:1:"},
	{"two objects", "{\"argv\":[\"a\"]}{}", "request:1:"},
	{"a comma too many", "{\"argv\":[\"a\",]}", "request:1:"},
	{"bad UTF-8", "{\"argv\":[\"\xff\"]}", "request:1:"},
	{"a lone surrogate", "{\"argv\":[\"\\ud800\"]}", "request:1:"},
	{"cut off", "{\"argv\":[\"a\"", "request:1:"},
};

static void check_accepted(const struct request *r)
{
	assert_true(r->argv.n > 0 && r->argv.v[0][0]);
	assert_null(r->argv.v[r->argv.n]);
	assert_int_equal(r->cwd[0], '/');
	assert_int_equal(strlen(r->text), r->text_len);
	assert_int_equal(strlen(r->id), REQUEST_ID_LEN - 1);
	assert_int_equal(strncmp(r->id, "c-", 2), 0);
}

static void test_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(json_rows); i++) {
		AUTO(request_freep) struct request *r = NULL;
		struct cordon_error err = {0};
		int e = request_from_json(json_rows[i].json, strlen(json_rows[i].json), "/", &r,
					  &err);

		if ((e == 0) != !json_rows[i].error)
			fail_msg("%s: %d %s", json_rows[i].what, e, err.message);
		if (e == 0)
			check_accepted(r);
		else if (!strstr(err.message, json_rows[i].error) || r)
			fail_msg("%s: '%s'", json_rows[i].what, err.message);
	}
}

static void test_json_values(void **state)
{
	static const char text[] =
		"{\"id\":\"7\",\"argv\":[\"a\",\"b c\"],\"cwd\":\"/tmp/./x/..\","
		"\"tool\":\"T\",\"agent\":\"g\",\"session\":\"s\",\"category\":\"c\"}";
	AUTO(request_freep) struct request *r = NULL;
	AUTO(request_freep) struct request *s = NULL;

	(void)state;
	assert_int_equal(request_from_json(text, strlen(text), "/", &r, NULL), 0);
	assert_string_equal(r->caller_id, "7");
	assert_string_equal(r->text, "a b c");
	assert_string_equal(r->cwd, "/tmp");
	assert_string_equal(r->tool, "T");
	assert_string_equal(r->agent, "g");
	assert_string_equal(r->session, "s");
	assert_string_equal(r->category, "c");
	assert_string_equal(r->arguments.v[0], "command=a b c");
	assert_int_equal(request_from_json("{\"command\":\"a | b\"}", 19, "/usr", &s, NULL), 0);
	assert_int_equal(s->kind, REQUEST_SHELL);
	assert_int_equal(s->argv.n, 3);
	assert_string_equal(s->argv.v[1], "-c");
	assert_string_equal(s->argv.v[2], "a | b");
	assert_string_equal(s->text, "a | b");
	assert_string_equal(s->cwd, "/usr");
	assert_string_equal(s->tool, "Bash");
	assert_true(strcmp(r->id, s->id) != 0);
}

static int json_of(const char *head, const char *unit, size_t times, const char *tail)
{
	AUTO(request_freep) struct request *r = NULL;
	struct buf b = BUF_INIT((size_t)64 << 20);
	int e;

	buf_str(&b, head);
	for (size_t i = 0; i < times; i++)
		buf_str(&b, unit);
	buf_str(&b, tail);
	assert_int_equal(buf_error(&b), 0);
	e = request_from_json(b.data, b.len, "/", &r, NULL);
	buf_done(&b);
	return e;
}

static void test_json_limits(void **state)
{
	(void)state;
	assert_int_equal(json_of("{\"command\":\"", "x", LIMIT_REQUEST_BYTES, "\"}"),
			 CORDON_E_LIMIT);
	assert_int_equal(json_of("{\"command\":\"", "x", LIMIT_ARG_BYTES, "\"}"), CORDON_E_LIMIT);
	/* the rules see it as command=…, which is longer */
	assert_int_equal(json_of("{\"command\":\"", "x", LIMIT_ARG_BYTES - 4, "\"}"),
			 CORDON_E_LIMIT);
	assert_int_equal(json_of("{\"command\":\"", "x", 1 << 20, "\"}"), 0);
	assert_int_equal(json_of("{\"argv\":", "[", LIMIT_JSON_DEPTH + 1, ""), CORDON_E_LIMIT);
	assert_int_equal(json_of("", "[", 100000, ""), CORDON_E_LIMIT);
	assert_int_equal(json_of("", "{\"a\":", 100000, ""), CORDON_E_LIMIT);
	assert_int_equal(json_of("{\"argv\":[\"a\"", ",\"b\"", LIMIT_ARGV + 1, "]}"),
			 CORDON_E_LIMIT);
	assert_int_equal(json_of("{\"argv\":[\"a\"],\"tool\":\"", "t", LIMIT_NAME_BYTES + 1, "\"}"),
			 CORDON_E_LIMIT);
	assert_int_equal(json_of("{\"argv\":[\"a\"],\"tool\":\"", "t", LIMIT_NAME_BYTES, "\"}"), 0);
	assert_int_equal(json_of("{\"argv\":[\"a\"],\"cwd\":\"", "/t", LIMIT_PATH_BYTES, "\"}"),
			 CORDON_E_LIMIT);
}

static size_t base64_decode(const char *s, char *ret)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, count = 0;
	size_t n = 0;

	for (; *s && *s != '='; s++) {
		bits = bits << 6 | (unsigned)(strchr(digits, *s) - digits);
		if (++count % 4 != 1)
			ret[n++] = (char)(bits >> (count % 4 == 2 ? 4 : count % 4 == 3 ? 2 : 0));
	}
	return n;
}

static void suite_line(const char *line)
{
	json_auto_t *row = json_loads(line, 0, NULL);
	const char *b64 = json_string_value(json_object_get(row, "b64"));
	json_t *repeat = json_object_get(row, "repeat");
	AUTO(request_freep) struct request *r = NULL;
	struct buf text = BUF_INIT(1 << 24);
	struct cordon_error err = {0};
	AUTO_FREE char *data = NULL;

	assert_non_null(row);
	if (b64) {
		data = malloc(strlen(b64) + 4);
		assert_non_null(data);
		buf_add(&text, data, base64_decode(b64, data));
	}
	for (json_int_t i = 0; i < json_integer_value(json_array_get(repeat, 1)); i++)
		buf_str(&text, json_string_value(json_array_get(repeat, 0)));
	assert_true(b64 || text.len > 0);
	if (request_from_json(buf_cstr(&text), text.len, "/", &r, &err) == 0)
		fail_msg("accepted: %s", line);
	assert_true(err.message[0]);
	buf_done(&text);
}

/* The texts of a JSON test suite are not requests: none is accepted, none does harm. */
static void test_json_suite(void **state)
{
	const char *shared = env_get("SHARED");
	char path[1024], *line = NULL;
	size_t cap = 0, n = 0;
	FILE *f;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/corpora/h_jsontestsuite/dev.jsonl",
		       shared ? shared : "");
	f = shared ? fopen(path, "re") : NULL;
	if (!f) {
		printf("# skip: ../shared not there\n");
		skip();
		return;
	}
	while (getline(&line, &cap, f) > 0) {
		suite_line(line);
		n++;
	}
	free(line);
	(void)fclose(f);
	assert_true(n > 300);
}

static void test_words(void **state)
{
	static char ls[] = "ls", empty[] = "";
	struct request_options o = {.cwd = "/"}, relative = {.cwd = "x"}, none = {0};
	AUTO(request_freep) struct request *r = NULL;

	(void)state;
	assert_int_equal(request_from_argv((char *[]){NULL}, &o, &r, NULL), CORDON_E_INVALID);
	assert_int_equal(request_from_argv((char *[]){empty, NULL}, &o, &r, NULL),
			 CORDON_E_INVALID);
	assert_int_equal(request_from_argv((char *[]){ls, NULL}, &relative, &r, NULL),
			 CORDON_E_INVALID);
	assert_int_equal(request_from_argv((char *[]){ls, NULL}, &none, &r, NULL),
			 CORDON_E_INVALID);
	assert_int_equal(request_from_shell("", &o, &r, NULL), CORDON_E_INVALID);
	assert_null(r);
	assert_int_equal(request_from_argv((char *[]){ls, empty, NULL}, &o, &r, NULL), 0);
	check_accepted(r);
}

static void test_paths(void **state)
{
	static const struct {
		const char *words;
		const char *want[6]; /* besides the cwd; "@" stands for the directory */
	} rows[] = {
		{"cat x", {NULL}},
		{"cat ./x", {"@/x"}},
		{"cat a/b", {"@/a/b"}},
		{"cat /etc/passwd", {"/etc/passwd"}},
		{"cat ../../etc/passwd", {"/etc/passwd"}},
		{"cat --file=/etc/passwd", {"/etc/passwd"}},
		{"cat -f/etc/passwd", {"/etc/passwd"}},
		{"dd if=/dev/zero of=x", {"/dev/zero"}},
		{"cat --file=../x", {"/tmp/x"}},
		{"ls ..", {"/tmp"}},
		{"tool --dir=..", {"/tmp"}},
		{"scp host:/etc/x y", {"/etc/x"}},
		{"curl file:///etc/passwd", {"/etc/passwd"}},
		{"python3 -c open('/etc/passwd')", {"/etc/passwd"}},
		{"cat link/x", {"@/link/x", "/etc/x"}},
		{"cat leaf", {"@/leaf", "/etc/passwd"}},
		{"tool --file=leaf", {"@/leaf", "/etc/passwd"}},
		{"cat -- not-there", {"@/not-there"}},
	};

	(void)state;
	assert_int_equal(symlink("/etc", fixture_path("link")), 0);
	assert_int_equal(symlink("/etc/passwd", fixture_path("leaf")), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(request_freep) struct request *r = fixture_words(rows[i].words, NULL);
		struct strv got = {0};

		assert_int_equal(request_paths(r, &got, NULL), 0);
		assert_true(strv_has(&got, fixture_dir));
		for (size_t k = 0; rows[i].want[k]; k++) {
			const char *want = rows[i].want[k][0] == '@'
						   ? fixture_path(rows[i].want[k] + 2)
						   : rows[i].want[k];

			if (!strv_has(&got, want))
				fail_msg("'%s' lacks '%s'", rows[i].words, want);
		}
		strv_done(&got);
	}
}

/* What a shell string touches is not known before it has run: not even the cwd counts. */
static void test_shell_paths(void **state)
{
	AUTO(request_freep) struct request *r = fixture_shell("cat /etc/passwd");
	struct strv got = {0};

	(void)state;
	assert_int_equal(request_paths(r, &got, NULL), 0);
	assert_int_equal(got.n, 0);
	strv_done(&got);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),        cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_json_limits), cmocka_unit_test(test_json_suite),
		cmocka_unit_test(test_words),       cmocka_unit_test(test_paths),
		cmocka_unit_test(test_shell_paths),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
