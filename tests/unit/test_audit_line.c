/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the audit trail: the JSON check beneath it, what parses and what does not, stamps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/line.h"
#include "base/json_check.h"
#include "base/limits.h"
#include "base/mem.h"

struct json_row {
	const char *text;
	int want;
};

static const struct json_row json_rows[] = {
	{"{}", 0},
	{" { \"a\" : [ 1 , -0 , 2.5e-3 , true , false , null ] } ", 0},
	{"\"\\u00e9\\ud83d\\ude00\\/\\b\"", 0},
	{"{\"a\":{\"b\":1},\"b\":{\"a\":1}}", 0},
	{"123456789012345678", 0},
	{"\"\\u0000\"", 0},
	{"", -EINVAL},
	{"{", -EINVAL},
	{"{}x", -EINVAL},
	{"{}{}", -EINVAL},
	{"[1,]", -EINVAL},
	{"{\"a\":1,}", -EINVAL},
	{"{a:1}", -EINVAL},
	{"{\"a\" 1}", -EINVAL},
	{"'a'", -EINVAL},
	{"\"a", -EINVAL},
	{"\"\t\"", -EINVAL},
	{"\"\\x41\"", -EINVAL},
	{"\"\\u12g4\"", -EINVAL},
	{"\"\\ud800\"", -EINVAL},
	{"\"\\udc00\\ud800\"", -EINVAL},
	{"{\"\\u0000\":1}", -EINVAL},
	{"{\"\\\"\\\\\\n\\u001f\\u007f\":1}", 0},
	{"{\"\\u0062\":1}", -EINVAL},
	{"{\"\\u000a\":1}", -EINVAL},
	{"{\"\\u001F\":1}", -EINVAL},
	{"{\"\\u00\":1}", -EINVAL},
	{"{\"\\/\":1}", -EINVAL},
	{"01", -EINVAL},
	{"+1", -EINVAL},
	{".5", -EINVAL},
	{"1.", -EINVAL},
	{"1e", -EINVAL},
	{"nan", -EINVAL},
	{"tru", -EINVAL},
	{"1234567890123456789", -E2BIG},
	{"1e999", -E2BIG},
	{"{\"a\":1,\"a\":2}", -EEXIST},
	{"[{\"x\":{\"k\":1,\"j\":2,\"k\":3}}]", -EEXIST},
	{"\"\xff\"", -EILSEQ},
	{"\"\xc0\x80\"", -EILSEQ},
	{"\"\xed\xa0\x80\"", -EILSEQ},
};

static void test_json_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(json_rows); i++) {
		const struct json_row *row = &json_rows[i];
		json_t *o = json_loadb(row->text, strlen(row->text),
				       JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY,
				       NULL);

		if (json_check(row->text, strlen(row->text)) != row->want)
			fail_msg("'%s': %d, want %d", row->text,
				 json_check(row->text, strlen(row->text)), row->want);
		/* What passes here passes the parser of the readers. */
		if (row->want == 0)
			assert_non_null(o);
		json_decref(o);
	}
}

static void test_json_limits(void **state)
{
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		buf_char(&b, '[');
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		buf_char(&b, ']');
	assert_int_equal(json_check(b.data, b.len), 0);
	buf_clear(&b);
	for (int i = 0; i < 100000; i++)
		buf_char(&b, '[');
	assert_int_equal(json_check(b.data, b.len), -E2BIG);
	buf_clear(&b);
	for (int i = 0; i <= JSON_CHECK_KEYS; i++)
		buf_printf(&b, "%c\"k%d\":1", i ? ',' : '{', i);
	buf_char(&b, '}');
	assert_int_equal(json_check(b.data, b.len), -E2BIG);
	buf_done(&b);
}

/* A line with that middle part, without its newline; the first of a log. */
static char *sealed(const char *middle, size_t *ret_len)
{
	struct buf out = BUF_INIT(2 * LIMIT_AUDIT_RECORD), m = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_head head = {.hash = AUDIT_ZERO_HASH};
	char *text = NULL;

	buf_str(&m, middle);
	audit_line_seal(&out, "2026-01-02T03:04:05.678Z", &m, &head);
	buf_done(&m);
	assert_int_equal(buf_take(&out, &text, ret_len), 0);
	(*ret_len)--;
	return text;
}

#define GOOD                                                                                       \
	",\"id\":\"0123456789abcdef\",\"type\":\"call\",\"session_id\":null,\"call_id\":\"c1\","   \
	"\"decision\":\"allow\",\"rule\":null,\"actor\":{\"pid\":7,\"uid\":1000}"

struct parse_row {
	const char *what;
	const char *middle;
	enum audit_line_fault want;
};

static const struct parse_row parse_rows[] = {
	{"as we write it", GOOD, AUDIT_LINE_OK},
	{"with members", GOOD ",\"a\":[1,{\"b\":null}]", AUDIT_LINE_OK},
	{"type from a newer version",
	 ",\"id\":\"x\",\"type\":\"new\",\"session_id\":null,\"call_id\":null,\"decision\":null,"
	 "\"rule\":null,\"actor\":{\"pid\":7,\"uid\":1000}",
	 AUDIT_LINE_OK},
	{"duplicate member", GOOD ",\"type\":\"call\"", AUDIT_LINE_JSON},
	{"second hash", GOOD ",\"hash\":\"\"", AUDIT_LINE_JSON},
	{"duplicate below", GOOD ",\"a\":{\"b\":1,\"b\":2}", AUDIT_LINE_JSON},
	{"duplicate in another spelling", GOOD ",\"a\":{\"b\":1,\"\\u0062\":2}", AUDIT_LINE_JSON},
	{"open bracket", GOOD ",\"a\":[", AUDIT_LINE_JSON},
	{"newline", GOOD ",\n\"a\":1", AUDIT_LINE_JSON},
	{"invalid UTF-8", GOOD ",\"a\":\"\xff\"", AUDIT_LINE_BYTES},
	{"nothing", "", AUDIT_LINE_SHAPE},
	{"no type", ",\"id\":\"x\"", AUDIT_LINE_SHAPE},
	{"type of another type",
	 ",\"id\":\"x\",\"type\":1,\"session_id\":null,\"call_id\":null,\"decision\":null,\"rule\":null,"
	 "\"actor\":{\"pid\":7,\"uid\":1000}",
	 AUDIT_LINE_SHAPE},
	{"actor without uid",
	 ",\"id\":\"x\",\"type\":\"call\",\"session_id\":null,\"call_id\":null,\"decision\":null,"
	 "\"rule\":null,\"actor\":{\"pid\":7}",
	 AUDIT_LINE_SHAPE},
	{"NUL in a name",
	 ",\"id\":\"x\\u0000\",\"type\":\"call\",\"session_id\":null,\"call_id\":null,"
	 "\"decision\":null,\"rule\":null,\"actor\":{\"pid\":7,\"uid\":0}",
	 AUDIT_LINE_SHAPE},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parse_rows); i++) {
		const struct parse_row *row = &parse_rows[i];
		enum audit_line_fault fault = AUDIT_LINE_COUNT;
		struct cordon_error err = {0};
		struct audit_line line = {0};
		size_t len = 0;
		char *text = sealed(row->middle, &len);
		int r = audit_line_parse(text, len, &line, &fault, &err);

		if (fault != row->want || (r == 0) != (row->want == AUDIT_LINE_OK))
			fail_msg("%s: %s, want %s", row->what, audit_line_fault_text(fault),
				 audit_line_fault_text(row->want));
		if (r == 0) {
			assert_true(line.is_hash_right);
			assert_int_equal(line.head.seq, 1);
			assert_string_equal(line.prev_hash, AUDIT_ZERO_HASH);
			assert_int_equal(line.time_ms, INT64_C(1767323045678));
		}
		audit_line_done(&line);
		free(text);
	}
}

/* No byte of a record can be changed without notice. */
static void test_every_byte(void **state)
{
	size_t len = 0;
	char *text = sealed(GOOD ",\"n\":12", &len);

	(void)state;
	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct audit_line line = {0};

			text[i] = (char)(text[i] ^ (1 << bit));
			if (audit_line_parse(text, len, &line, NULL, NULL) == 0 &&
			    line.is_hash_right)
				fail_msg("byte %zu bit %d", i, bit);
			audit_line_done(&line);
			text[i] = (char)(text[i] ^ (1 << bit));
		}
	/* The hash is what the documentation says it is, computed by hand. */
	{
		char hex[SHA256_HEX_LEN];
		const char *cut = strstr(text, ",\"hash\":\"");

		sha256_hex(text, (size_t)(cut - text), hex);
		assert_memory_equal(hex, cut + 9, 64);
	}
	free(text);
}

static void test_lengths(void **state)
{
	enum audit_line_fault fault = AUDIT_LINE_OK;
	struct audit_line line;
	size_t len = 0;
	char *text = sealed(GOOD, &len);
	char *big = calloc(1, LIMIT_AUDIT_RECORD + 1);

	(void)state;
	for (size_t n = 0; n < len; n++)
		assert_int_not_equal(audit_line_parse(text, n, &line, NULL, NULL), 0);
	assert_non_null(big);
	memset(big, ' ', LIMIT_AUDIT_RECORD);
	assert_int_equal(audit_line_parse(big, LIMIT_AUDIT_RECORD, &line, &fault, NULL),
			 CORDON_E_LIMIT);
	assert_int_equal(fault, AUDIT_LINE_LONG);
	text[30] = '\0';
	assert_int_equal(audit_line_parse(text, len, &line, &fault, NULL), CORDON_E_CORRUPT);
	assert_int_equal(fault, AUDIT_LINE_BYTES);
	free(big);
	free(text);
}

struct time_row {
	const char *text;
	int64_t want; /* -1: refused */
};

static const struct time_row time_rows[] = {
	{"1970-01-01T00:00:00.000Z", 0},
	{"2024-02-29T12:00:00.001Z", 1709208000001},
	{"2026-11-15T20:36:20.999Z", 1794774980999},
	{"9999-12-31T23:59:59.999Z", 253402300799999},
	{"2023-02-29T12:00:00.001Z", -1},
	{"2026-13-01T00:00:00.000Z", -1},
	{"2026-00-01T00:00:00.000Z", -1},
	{"2026-01-01T24:00:00.000Z", -1},
	{"2026-01-01T00:60:00.000Z", -1},
	{"1969-12-31T23:59:59.999Z", -1},
	{"2026-01-01 00:00:00.000Z", -1},
	{"2026-01-01T00:00:00.000z", -1},
	{"2026-01-01T00:00:00Z", -1},
	{"", -1},
};

static void test_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(time_rows); i++) {
		int64_t ms = -1;
		int r = audit_time_parse(time_rows[i].text, strlen(time_rows[i].text), &ms);

		if (ms != time_rows[i].want || (r == 0) != (time_rows[i].want >= 0))
			fail_msg("%s: %lld", time_rows[i].text, (long long)ms);
	}
}

static void test_argv_hash(void **state)
{
	char *ab_c[] = {(char[]){"ab"}, (char[]){"c"}, NULL},
	     *a_bc[] = {(char[]){"a"}, (char[]){"bc"}, NULL};
	char *none[] = {NULL};
	char x[AUDIT_ARGV_HASH_LEN], y[AUDIT_ARGV_HASH_LEN];
	char want[SHA256_HEX_LEN];

	(void)state;
	audit_hash_argv(ab_c, x);
	audit_hash_argv(a_bc, y);
	assert_string_not_equal(x, y);
	sha256_hex("ab\0c", 4, want);
	assert_memory_equal(x, "sha256:", 7);
	assert_string_equal(x + 7, want);
	audit_hash_argv(none, x);
	sha256_hex("", 0, want);
	assert_string_equal(x + 7, want);
}

static void test_events(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AUDIT_EVENT_COUNT; i++) {
		const struct audit_event_row *row = audit_event_row((enum audit_event_type)i);

		assert_int_equal(audit_event_by_name(row->name, strlen(row->name)), i);
		assert_true(strlen(row->summary) > 10);
	}
	assert_int_equal(audit_event_by_name("cal", 3), AUDIT_EVENT_COUNT);
	assert_true(audit_event_is_own(AUDIT_EVENT_AUDIT_REPAIR));
	assert_false(audit_event_is_own(AUDIT_EVENT_CALL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_check), cmocka_unit_test(test_json_limits),
		cmocka_unit_test(test_parse),      cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_lengths),    cmocka_unit_test(test_time),
		cmocka_unit_test(test_argv_hash),  cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
