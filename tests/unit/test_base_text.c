/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, strings and JSON: ceilings, escapes, and output that other readers accept. */
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Our writer and jansson share three names; the test needs only jansson's reader. */
#define json_object jansson_object
#define json_array jansson_array
#define json_null jansson_null
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_null

static void test_buf_ceiling(void **state)
{
	struct buf b = BUF_INIT(10);

	(void)state;
	assert_string_equal(buf_cstr(&b), "");
	buf_str(&b, "01234");
	buf_str(&b, "56789");
	assert_int_equal(buf_error(&b), 0);
	assert_string_equal(buf_cstr(&b), "0123456789");
	buf_add(&b, NULL, 0);
	assert_int_equal(buf_error(&b), 0);
	buf_char(&b, 'x');
	assert_int_equal(buf_error(&b), -E2BIG);
	/* The error sticks, also for what would fit. */
	buf_truncate(&b, 3);
	buf_char(&b, 'y');
	assert_int_equal(buf_error(&b), -E2BIG);
	assert_string_equal(buf_cstr(&b), "012");
	{
		char *data = (char *)&b;

		assert_int_equal(buf_take(&b, &data, NULL), -E2BIG);
		assert_ptr_equal(data, &b);
	}
	buf_clear(&b);
	buf_str(&b, "again");
	assert_int_equal(buf_error(&b), 0);
	assert_string_equal(buf_cstr(&b), "again");
	buf_truncate(&b, 100);
	assert_int_equal(b.len, 5);
	buf_done(&b);
	assert_int_equal(b.max, 10);
	buf_done(&b);
	buf_done(NULL);
	buf_clear(NULL);
}

static void test_buf_printf_boundary(void **state)
{
	(void)state;
	for (size_t max = 0; max < 40; max++) {
		struct buf b = BUF_INIT(max);

		buf_printf(&b, "%s-%d", "abcdefghijklmnop", 12345); /* 22 bytes */
		assert_int_equal(buf_error(&b), max >= 22 ? 0 : -E2BIG);
		assert_string_equal(buf_cstr(&b), max >= 22 ? "abcdefghijklmnop-12345" : "");
		buf_done(&b);
	}
}

static void test_buf_no_ceiling(void **state)
{
	struct buf b = BUF_INIT(SIZE_MAX);

	(void)state;
	buf_str(&b, "abc");
	assert_int_equal(buf_error(&b), 0);
	buf_add(&b, "x", SIZE_MAX - 1); /* refused before a byte is looked at */
	assert_int_equal(buf_error(&b), -E2BIG);
	buf_done(&b);
}

static void test_buf_take(void **state)
{
	struct buf b = BUF_INIT(100);
	char *data = NULL;
	size_t len = 99;

	(void)state;
	assert_int_equal(buf_take(&b, &data, &len), 0);
	assert_string_equal(data, "");
	assert_int_equal(len, 0);
	free(data);
	buf_add(&b, "a\0b", 3);
	assert_int_equal(buf_take(&b, &data, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "a\0b", 4);
	free(data);
	assert_int_equal(b.len, 0);
	buf_str(&b, "next");
	assert_string_equal(buf_cstr(&b), "next");
	buf_done(&b);
}

static void test_mem_grow(void **state)
{
	void *p = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(mem_grow(&p, &cap, 11, 1, 10), -E2BIG);
	assert_null(p);
	assert_int_equal(mem_grow(&p, &cap, 3, 1, 5), 0);
	assert_true(cap >= 3 && cap <= 5);
	assert_int_equal(mem_grow(&p, &cap, 5, 1, 5), 0);
	assert_int_equal(cap, 5);
	assert_int_equal(mem_grow(&p, &cap, SIZE_MAX / 4, 16, SIZE_MAX), -E2BIG);
	assert_int_equal(cap, 5);
	free(p);
}

static void test_strv(void **state)
{
	struct strv s = {0};

	(void)state;
	for (size_t i = 0; i < LIMIT_ARGV; i++)
		assert_int_equal(strv_addf(&s, "%zu", i), 0);
	assert_int_equal(strv_add(&s, "one more"), -E2BIG);
	assert_int_equal(s.n, LIMIT_ARGV);
	assert_null(s.v[s.n]);
	assert_string_equal(s.v[LIMIT_ARGV - 1], "65535");
	assert_true(strv_has(&s, "12"));
	assert_false(strv_has(&s, "x"));
	strv_done(&s);
	strv_done(&s);
	strv_done(NULL);
	assert_false(strv_has(&s, ""));
	assert_int_equal(strv_addf(&s, "%*s", LIMIT_ARG_BYTES + 1, ""), -E2BIG);
	assert_int_equal(s.n, 0);
	strv_done(&s);
}

static void test_affixes(void **state)
{
	(void)state;
	assert_true(str_starts("abc", "") && str_starts("abc", "ab") && str_starts("abc", "abc"));
	assert_false(str_starts("abc", "abcd") || str_starts("", "a") || str_starts("abc", "b"));
	assert_true(str_ends("abc", "") && str_ends("abc", "bc") && str_ends("abc", "abc"));
	assert_false(str_ends("abc", "xabc") || str_ends("", "a") || str_ends("abc", "b"));
	assert_true(str_empty(NULL) && str_empty("") && !str_empty(" "));
}

struct text_row {
	const char *what;
	const char *in;
	const char *want;
};

static void test_escape(void **state)
{
	static const struct text_row rows[] = {
		{"plain", "a b~", "a b~"},
		{"OSC 52 writes the clipboard", "\033]52;c;eA==\a", "\\x1b]52;c;eA==\\x07"},
		{"colour", "\033[31mred", "\\x1b[31mred"},
		{"new line", "a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
		{"DEL", "\x7f", "\\x7f"},
		{"C1 as UTF-8",
		 "\xc2\x9b"
		 "31m",
		 "\\u{9b}31m"},
		{"C1 as a byte",
		 "\x9b"
		 "31m",
		 "\\x9b31m"},
		{"no-break space is seen",
		 "a\xc2\xa0"
		 "b",
		 "a\xc2\xa0"
		 "b"},
		{"right-to-left override",
		 "a\xe2\x80\xae"
		 "b",
		 "a\\u{202e}b"},
		{"isolate", "\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}"},
		{"Arabic letter mark", "\xd8\x9c", "\\u{61c}"},
		{"zero width",
		 "a\xe2\x80\x8b"
		 "b\xef\xbb\xbf",
		 "a\\u{200b}b\\u{feff}"},
		{"line separator", "\xe2\x80\xa8", "\\u{2028}"},
		{"soft hyphen", "\xc2\xad", "\\u{ad}"},
		{"tags", "\xf3\xa0\x81\x81", "\\u{e0041}"},
		{"variation selector", "a\xef\xb8\x8f", "a\\u{fe0f}"},
		{"variation selector supplement", "a\xf3\xa0\x84\x80", "a\\u{e0100}"},
		{"Hangul filler", "\xe3\x85\xa4", "\\u{3164}"},
		{"grapheme joiner", "\xcd\x8f", "\\u{34f}"},
		{"last before the tags", "\xf3\x9f\xbf\xbf", "\xf3\x9f\xbf\xbf"},
		{"letters stay", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80",
		 "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"},
		{"overlong slash", "\xc0\xaf", "\\xc0\\xaf"},
		{"surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"cut short", "\xe2\x82", "\\xe2\\x82"},
		{"above U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"escaped before", "\\x1b\\n", "\\x1b\\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf b = BUF_INIT(1000);

		str_escape(&b, rows[i].in, strlen(rows[i].in));
		if (strcmp(buf_cstr(&b), rows[i].want) != 0)
			fail_msg("%s: '%s'", rows[i].what, buf_cstr(&b));
		buf_done(&b);
	}
	{
		struct buf b = BUF_INIT(10);

		str_escape(&b, "a\0b", 3);
		assert_string_equal(buf_cstr(&b), "a\\x00b");
		buf_done(&b);
	}
}

static void test_shell_quote(void **state)
{
	static const struct text_row rows[] = {
		{"empty", "", "''"},
		{"plain", "src/a-b.c", "src/a-b.c"},
		{"option with value", "--x=1", "--x=1"},
		{"blank", "a b", "'a b'"},
		{"quote", "it's", "'it'\\''s'"},
		{"backslash", "a\\b", "'a'\\\\'b'"},
		{"backslash and quote", "\\'", "''\\\\''\\'''"},
		{"dollar", "$HOME", "'$HOME'"},
		{"home", "~", "'~'"},
		{"glob", "*", "'*'"},
		{"assignment", "A=b", "'A=b'"},
		{"reserved word", "if", "'if'"},
		{"keyword of bash", "time", "'time'"},
		{"comment", "#x", "'#x'"},
		{"new line", "a\nb", "'a\nb'"},
		{"history", "!x", "'!x'"},
		{"not ASCII", "\xc3\xa9", "'\xc3\xa9'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf b = BUF_INIT(1000);

		str_shell_quote(&b, rows[i].in);
		if (strcmp(buf_cstr(&b), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].what, buf_cstr(&b));
		buf_done(&b);
	}
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t max, want;
	} rows[] = {
		{"", "", 3, 0},
		{"a", "", 3, 1},
		{"", "abc", 3, 3},
		{"kitten", "sitting", 5, 3},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3},
		{"netwrok", "network", 3, 2},
		{"abc", "abc", 0, 0},
		{"abc", "abd", 0, 1},
	};
	char edge[64], longer[65];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(str_distance(rows[i].a, rows[i].b, rows[i].max), rows[i].want);
		assert_int_equal(str_distance(rows[i].b, rows[i].a, rows[i].max), rows[i].want);
	}
	memset(edge, 'a', 63);
	edge[63] = '\0';
	memset(longer, 'a', 64);
	longer[64] = '\0';
	assert_int_equal(str_distance(edge, "", 100), 63);
	assert_int_equal(str_distance(edge, longer, 3), 4);
	assert_int_equal(str_distance(longer, longer, 3), 0);
}

static void json_write_all(struct json *j)
{
	json_object(j, NULL);
	json_str(j, "s", "a\"b\\c\n\t\r\b\x7f");
	json_str(j, "null", NULL);
	json_strn(j, "none", NULL, 0);
	json_int(j, "min", INT64_MIN);
	json_double(j, "d", 0.125, 2);
	json_double(j, "nan", (double)NAN, 2);
	json_double(j, "inf", -(double)INFINITY, 2);
	json_bool(j, "t", true);
	json_null(j, "n");
	json_array(j, "empty");
	json_end_array(j);
	json_array(j, "a");
	json_int(j, NULL, 1);
	json_object(j, NULL);
	json_end_object(j);
	json_raw(j, NULL, "[2]", 3);
	json_end_array(j);
	json_end_object(j);
}

static void test_json_shape(void **state)
{
	struct buf b = BUF_INIT(4096), pretty = BUF_INIT(4096);
	struct json j = JSON_INIT(&b), k = JSON_INIT(&pretty);
	json_t *one, *two;

	(void)state;
	k.pretty = true;
	json_write_all(&j);
	json_write_all(&k);
	assert_string_equal(
		buf_cstr(&b),
		"{\"s\":\"a\\\"b\\\\c\\n\\t\\r\\u0008\\u007f\",\"null\":null,\"none\":\"\","
		"\"min\":-9223372036854775808,\"d\":0.12,\"nan\":null,\"inf\":null,"
		"\"t\":true,\"n\":null,\"empty\":[],\"a\":[1,{},[2]]}");
	one = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	two = json_loadb(pretty.data, pretty.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(one);
	assert_true(json_equal(one, two));
	assert_non_null(strstr(pretty.data, "{\n  \"s\": "));
	json_decref(one);
	json_decref(two);
	buf_done(&b);
	buf_done(&pretty);
}

static void test_json_c1(void **state)
{
	struct buf b = BUF_INIT(64);

	(void)state;
	json_quote(&b, "\xc2\x9b\xff\xc2\xa0", 5);
	assert_string_equal(buf_cstr(&b), "\"\\u009b\xef\xbf\xbd\xc2\xa0\"");
	buf_done(&b);
}

/* Any bytes become a string that jansson reads; valid UTF-8 comes back as it was. */
static void test_json_random(void **state)
{
	static const char pool[] =
		"\"\\/\n\x01\x7f\x80\xbf\xc2\xc3\xe2\x80\xae\xed\xa0\xf0\x9f\x98\xf4\xff az";
	uint64_t seed = 0x9e3779b97f4a7c15u;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct buf b = BUF_INIT(4096);
		char in[48];
		size_t len;
		json_t *v;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		len = (seed >> 33) % sizeof(in);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			in[i] = round % 2 ? (char)(seed >> 40) : pool[(seed >> 40) % sizeof(pool)];
		}
		json_quote(&b, in, len);
		v = json_loadb(b.data, b.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		if (!v)
			fail_msg("round %d: %s", round, b.data);
		if (utf8_is_valid(in, len)) {
			assert_int_equal(json_string_length(v), len);
			assert_memory_equal(json_string_value(v), in, len);
		}
		json_decref(v);
		buf_done(&b);
	}
}

static void test_json_ceiling(void **state)
{
	struct buf b = BUF_INIT(20);
	struct json j = JSON_INIT(&b);

	(void)state;
	json_write_all(&j);
	assert_int_equal(buf_error(&b), -E2BIG);
	buf_done(&b);
}

/* Compiles a locale with a decimal comma.  Returns whether it is in force. */
static bool locale_with_comma(char dir[static 32])
{
	char path[64];
	int status = -1;
	pid_t pid;

	(void)snprintf(dir, 32, "/tmp/cordon-locale-XXXXXX");
	if (!mkdtemp(dir))
		return false;
	(void)snprintf(path, sizeof(path), "%s/de_DE.UTF-8", dir);
	pid = fork();
	if (pid == 0) {
		int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		(void)dup2(null_fd, 1);
		(void)dup2(null_fd, 2);
		execlp("localedef", "localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", path,
		       (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return false;
	return setenv("LOCPATH", dir, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void remove_tree(const char *dir)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
}

static void test_locale(void **state)
{
	char dir[32], probe[16] = "";
	struct buf b = BUF_INIT(64);
	struct json j = JSON_INIT(&b);
	bool there = locale_with_comma(dir);
	double v = 0;
	int r;

	(void)state;
	(void)snprintf(probe, sizeof(probe), "%.1f", 0.5);
	r = parse_double("0.25", 0, 1, &v);
	json_double(&j, NULL, 1.5, 1);
	(void)setlocale(LC_ALL, "C");
	remove_tree(dir);
	if (!there || strcmp(probe, "0,5") != 0) {
		buf_done(&b);
		print_message("# skip: localedef or the sources of de_DE not there\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(v > 0.24 && v < 0.26);
	assert_string_equal(buf_cstr(&b), "1.5");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf_ceiling),    cmocka_unit_test(test_buf_printf_boundary),
		cmocka_unit_test(test_buf_no_ceiling), cmocka_unit_test(test_buf_take),
		cmocka_unit_test(test_mem_grow),       cmocka_unit_test(test_strv),
		cmocka_unit_test(test_affixes),        cmocka_unit_test(test_escape),
		cmocka_unit_test(test_shell_quote),    cmocka_unit_test(test_distance),
		cmocka_unit_test(test_json_shape),     cmocka_unit_test(test_json_c1),
		cmocka_unit_test(test_json_random),    cmocka_unit_test(test_json_ceiling),
		cmocka_unit_test(test_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
