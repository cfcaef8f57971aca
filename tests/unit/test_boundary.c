/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets at the boundary: every place of a request, every form in an answer, however the bytes are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/boundary.h"
#include "proxy/brief.h"
#include "proxy/guard.h"

#define A "cordon-secret-a-00112233445566778899aabbccddeeff"
#define B "cordon-secret-b-ffeeddccbbaa99887766554433221100"
#define VALUE_A "s3cr&t \"valu\\e\"+/=?"
#define VALUE_B "another_value_0123456789"

static struct hostrule rules[3];

static struct boundary_secret secrets[] = {
	{.name = "a",
	 .placeholder = A,
	 .value = VALUE_A,
	 .value_len = sizeof(VALUE_A) - 1,
	 .hosts = rules,
	 .n_hosts = 1},
	{.name = "b",
	 .placeholder = B,
	 .value = VALUE_B,
	 .value_len = sizeof(VALUE_B) - 1,
	 .hosts = rules + 1,
	 .n_hosts = 2},
};

static struct host host_of(const char *text)
{
	struct host host;

	assert_int_equal(host_parse(text, strlen(text), 0, &host, NULL), 0);
	return host;
}

static int setup(void **state)
{
	static const char *const texts[] = {"api.example.org", "b.example.org:8443",
					    "*.wild.example.org"};
	static struct boundary b;

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		assert_int_equal(hostrule_parse(texts[i], strlen(texts[i]), &rules[i], NULL), 0);
	assert_int_equal(boundary_make(secrets, ARRAY_LEN(secrets), &b), 0);
	*state = &b;
	return 0;
}

static int teardown(void **state)
{
	boundary_done(*state);
	return 0;
}

static void test_put(void **state)
{
	static const struct {
		enum boundary_place place;
		const char *text;
		const char *want;
		int count;
	} rows[] = {
		{BOUNDARY_FIELD, "Bearer " A, "Bearer " VALUE_A, 1},
		{BOUNDARY_FIELD, A, VALUE_A, 1},
		{BOUNDARY_FIELD, A A, VALUE_A VALUE_A, 2},
		{BOUNDARY_FIELD, A ";" B, VALUE_A ";" VALUE_B, 2},
		{BOUNDARY_FIELD, "nothing", "nothing", 0},
		{BOUNDARY_FIELD, "", "", 0},
		{BOUNDARY_FIELD, "cordon-secret-a-00112233445566778899aabbccddeef",
		 "cordon-secret-a-00112233445566778899aabbccddeef", 0},
		{BOUNDARY_FIELD, "cordon-secret-a-cordon-" A, "cordon-secret-a-cordon-" VALUE_A, 1},
		{BOUNDARY_FIELD, "Cordon-secret-a-00112233445566778899aabbccddeeff",
		 "Cordon-secret-a-00112233445566778899aabbccddeeff", 0},
		{BOUNDARY_QUERY, "?key=" A "&x=" B,
		 "?key=s3cr%26t%20%22valu%5Ce%22%2B%2F%3D%3F&x=" VALUE_B, 2},
		{BOUNDARY_JSON, "{\"k\":\"" A "\"}", "{\"k\":\"s3cr&t \\\"valu\\\\e\\\"+/=?\"}", 1},
		{BOUNDARY_BODY, "x" A "y", "x" VALUE_A "y", 1},
	};
	static const bool both[] = {true, true};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct boundary_secret *who = NULL;
		struct buf out = BUF_INIT(4096);

		assert_int_equal(boundary_put(*state, both, rows[i].place, rows[i].text,
					      strlen(rows[i].text), &out, &who),
				 rows[i].count);
		assert_string_equal(buf_cstr(&out), rows[i].want);
		buf_done(&out);
	}
}

static void test_put_refused(void **state)
{
	static const bool only_a[] = {true, false};
	static const bool none[] = {false, false};
	const struct boundary_secret *who = NULL;
	struct buf out = BUF_INIT(4096);

	assert_int_equal(boundary_put(*state, only_a, BOUNDARY_FIELD, A " " B, strlen(A " " B),
				      &out, &who),
			 -EACCES);
	assert_string_equal(who->name, "b");
	buf_clear(&out);
	assert_int_equal(boundary_put(*state, none, BOUNDARY_BODY, "x" A, strlen("x" A), &out,
				      &who),
			 -EACCES);
	assert_string_equal(who->name, "a");
	/* Nothing of a value before the refusal. */
	assert_null(strstr(buf_cstr(&out), "s3cr"));
	buf_done(&out);
}

static void test_controls(void **state)
{
	static const char value[] = "line\r\nX-Injected: 1";
	const struct boundary_secret bad = {
		.name = "bad", .placeholder = A, .value = value, .value_len = sizeof(value) - 1};
	static const bool yes[] = {true};
	const struct boundary_secret *who = NULL;
	struct buf out = BUF_INIT(4096);
	struct boundary b;

	(void)state;
	assert_int_equal(boundary_make(&bad, 1, &b), 0);
	assert_int_equal(boundary_put(&b, yes, BOUNDARY_FIELD, A, strlen(A), &out, &who), -EINVAL);
	assert_int_equal(boundary_put(&b, yes, BOUNDARY_BASIC, A ":x", strlen(A ":x"), &out, &who),
			 -EINVAL);
	buf_clear(&out);
	assert_int_equal(boundary_put(&b, yes, BOUNDARY_QUERY, A, strlen(A), &out, &who), 1);
	assert_string_equal(buf_cstr(&out), "line%0D%0AX-Injected%3A%201");
	buf_clear(&out);
	assert_int_equal(boundary_put(&b, yes, BOUNDARY_JSON, A, strlen(A), &out, &who), 1);
	assert_string_equal(buf_cstr(&out), "line\\u000d\\u000aX-Injected: 1");
	buf_done(&out);
	boundary_done(&b);
}

static void test_basic(void **state)
{
	/* printf 'user:PLACEHOLDER' | base64, and the same with the value */
	static const char in[] =
		"Basic dXNlcjpjb3Jkb24tc2VjcmV0LWItZmZlZWRkY2NiYmFhOTk4ODc3NjY1NTQ0MzMyMjExMDA=";
	static const char want[] = "Basic dXNlcjphbm90aGVyX3ZhbHVlXzAxMjM0NTY3ODk=";
	static const bool both[] = {true, true};
	static const bool none[] = {false, false};
	const struct boundary_secret *who = NULL;
	struct buf out = BUF_INIT(4096);

	assert_int_equal(boundary_put_field(*state, both, in, strlen(in), &out, &who), 1);
	assert_string_equal(buf_cstr(&out), want);
	buf_clear(&out);
	assert_int_equal(boundary_put_field(*state, none, in, strlen(in), &out, &who), -EACCES);
	buf_clear(&out);
	assert_int_equal(boundary_put_field(*state, both, "Basic dTpw", 10, &out, &who), 0);
	assert_string_equal(buf_cstr(&out), "Basic dTpw");
	buf_clear(&out);
	assert_int_equal(boundary_put_field(*state, both, "Basic " A, 6 + strlen(A), &out, &who),
			 1);
	assert_string_equal(buf_cstr(&out), "Basic " VALUE_A);
	buf_done(&out);
}

static void test_bound(void **state)
{
	static const char *const methods[] = {"POST", NULL};
	static const char *const paths[] = {"/v1/**", NULL};
	struct boundary_secret s = secrets[1];
	static const struct {
		const char *host;
		uint16_t port;
		const char *method;
		const char *path;
		bool is_bound;
	} rows[] = {
		{"b.example.org", 8443, "POST", "/v1/x", true},
		{"b.example.org", 443, "POST", "/v1/x", false},
		{"x.wild.example.org", 443, "POST", "/v1/x?q", true},
		{"wild.example.org", 443, "POST", "/v1/x", false},
		{"b.example.org", 8443, "GET", "/v1/x", false},
		{"b.example.org", 8443, "POST", "/v2/x", false},
		{"b.example.org", 8443, "POST", "/v1/../v2", false},
		{"b.example.org", 8443, "POST", "/v1/%2e%2e/v2", false},
		{"bb.example.org", 8443, "POST", "/v1/x", false},
	};

	(void)state;
	s.methods = methods;
	s.paths = paths;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);

		assert_int_equal(boundary_is_bound(&s, &host, rows[i].port, rows[i].method,
						   rows[i].path),
				 rows[i].is_bound);
	}
}

static void test_names(void **state)
{
	assert_non_null(boundary_find_name(*state, "00112233445566778899aabbccddeeff.evil.org"));
	assert_non_null(boundary_find_name(*state, "x.00112233445566.778899AABBCCDDEEFF.evil.org"));
	assert_null(boundary_find_name(*state, "00112233445566778899aabbccddeef.evil.org"));
	assert_null(boundary_find_name(*state, "api.example.org"));
}

static void test_scan(void **state)
{
	static const char text[] = "some words before " A " and after";

	/* Cut at every place. */
	for (size_t cut = 0; cut <= sizeof(text) - 1; cut++) {
		struct boundary_scan s = {0};
		bool found = boundary_scan(*state, &s, text, cut) != NULL;

		found |= boundary_scan(*state, &s, text + cut, sizeof(text) - 1 - cut) != NULL;
		assert_true(found);
	}
	for (size_t step = 1; step < 9; step++) {
		struct boundary_scan s = {0};
		bool found = false;

		for (size_t i = 0; i < sizeof(text) - 1; i += step)
			found |= boundary_scan(*state, &s, text + i,
					       sizeof(text) - 1 - i < step ? sizeof(text) - 1 - i
									   : step) != NULL;
		assert_true(found);
	}
}

static void redact(const struct boundary *b, const char *text, size_t len, size_t step, bool keeps,
		   struct buf *out)
{
	struct boundary_stream s = BOUNDARY_STREAM;

	for (size_t i = 0; i < len; i += step)
		assert_true(boundary_redact(b, &s, text + i, len - i < step ? len - i : step,
					    i + step >= len, keeps, out) >= 0);
	boundary_stream_done(&s);
}

static void test_redact(void **state)
{
	/* The value plain, in JSON, in a URL of both kinds, in base64 at three offsets and with the other alphabet. */
	static const char *const forms[] = {
		VALUE_A,
		"s3cr&t \\\"valu\\\\e\\\"+/=?",
		"s3cr%26t%20%22valu%5Ce%22%2B%2F%3D%3F",
		"s3cr%26t%20%22valu%5ce%22%2b%2f%3d%3f",
		"czNjciZ0ICJ2YWx1XGUiKy89Pw==",
		"eHMzY3ImdCAidmFsdVxlIisvPT8=",
		"eHhzM2NyJnQgInZhbHVcZSIrLz0/",
		"eHhzM2NyJnQgInZhbHVcZSIrLz0_",
	};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		for (size_t step = 1; step < 64; step++) {
			char text[512];
			struct buf kept = BUF_INIT(8192);
			struct buf freely = BUF_INIT(8192);
			int n = snprintf(text, sizeof(text), "before %s between " VALUE_B " after",
					 forms[i]);

			redact(*state, text, (size_t)n, step, true, &kept);
			redact(*state, text, (size_t)n, step, false, &freely);
			assert_int_equal(kept.len, n);
			assert_null(strstr(buf_cstr(&kept), VALUE_B));
			assert_null(strstr(buf_cstr(&freely), VALUE_B));
			assert_non_null(strstr(buf_cstr(&freely), A));
			assert_non_null(strstr(buf_cstr(&freely), B));
			/* Of base64 the digits at the ends depend on what is around. */
			assert_null(strstr(buf_cstr(&freely), "valu"));
			assert_null(strstr(buf_cstr(&freely), "NjciZ0ICJ2"));
			assert_null(strstr(buf_cstr(&kept), "NjciZ0ICJ2"));
			buf_done(&kept);
			buf_done(&freely);
		}
}

/* ---- how much is found, and what else ---- */

static uint32_t random_state = 20260801;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static void to_base64(const struct buf *in, bool is_url, struct buf *out)
{
	const char *last = is_url ? "-_" : "+/";

	for (size_t i = 0; i < in->len; i += 3) {
		unsigned v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < in->len ? (unsigned char)in->data[i + k] : 0u);
		for (size_t k = 0; k < 4; k++) {
			unsigned d = v >> (18 - 6 * k) & 63;

			if (i + k > in->len)
				buf_char(out, '=');
			else
				buf_char(out, d < 26   ? (char)('A' + d)
					      : d < 52 ? (char)('a' + d - 26)
					      : d < 62 ? (char)('0' + d - 52)
						       : last[d - 62]);
		}
	}
}

enum step { SAME, B64, B64_URL, HEX, HEX_UPPER, URL, ENTITY, ENTITY_HEX, UNICODE, BACK, STEPS };

static void encode(enum step how, const struct buf *in, struct buf *out)
{
	if (how == B64 || how == B64_URL) {
		to_base64(in, how == B64_URL, out);
		return;
	}
	for (size_t i = 0; i < in->len; i++) {
		unsigned char c = (unsigned char)in->data[how == BACK ? in->len - 1 - i : i];
		switch (how) {
		case HEX:
			buf_printf(out, "%02x", c);
			break;
		case HEX_UPPER:
			buf_printf(out, "%02X", c);
			break;
		case URL:
			buf_printf(out, "%%%02X", c);
			break;
		case ENTITY:
			buf_printf(out, "&#%u;", c);
			break;
		case ENTITY_HEX:
			buf_printf(out, "&#x%X;", c);
			break;
		case UNICODE:
			buf_printf(out, "\\u%04x", c);
			break;
		case SAME:
		case BACK:
		case B64:
		case B64_URL:
		case STEPS:
			buf_char(out, (char)c);
			break;
		}
	}
}

/* Forms of forms in which a value is found, and those in which it is known not to be. */
static const struct {
	enum step inner;
	enum step outer;
	bool is_found;
} recall_rows[] = {
	{SAME, SAME, true},     {B64, SAME, true},        {B64_URL, SAME, true},
	{HEX, SAME, true},      {HEX_UPPER, SAME, true},  {URL, SAME, true},
	{ENTITY, SAME, true},   {ENTITY_HEX, SAME, true}, {UNICODE, SAME, true},
	{BACK, SAME, true},     {B64, B64, true},         {B64_URL, B64, true},
	{B64, HEX, true},       {B64, HEX_UPPER, true},   {B64_URL, HEX, true},
	{B64, URL, true},       {B64_URL, URL, true},     {HEX, B64, true},
	{HEX_UPPER, B64, true}, {HEX, B64_URL, true},     {B64, UNICODE, false},
	{BACK, B64, false},     {URL, B64, false},        {HEX, HEX, false},
};

static void test_redact_recall(void **state)
{
	size_t tried = 0, found = 0, beyond = 0, beyond_found = 0;

	(void)state;
	for (int round = 0; round < 40; round++)
		for (size_t k = 0; k < ARRAY_LEN(recall_rows); k++) {
			/* some as long as they may be */
			static char value[BOUNDARY_VALUE_MAX];
			size_t len = round % 20 == 19 ? BOUNDARY_VALUE_MAX - draw(5000)
						      : 8 + draw(30);
			struct buf plain = BUF_INIT(1 << 20), inner = BUF_INIT(1 << 20);
			struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
			struct boundary_secret s = {
				.name = "e", .placeholder = A, .value = value, .value_len = len};
			struct boundary b;

			for (size_t i = 0; i < len; i++)
				value[i] = (char)('!' + draw(94));
			assert_int_equal(boundary_make(&s, 1, &b), 0);
			/* in the middle of what was encoded, at any place */
			for (uint32_t i = recall_rows[k].inner == SAME ||
							  recall_rows[k].inner == BACK
						  ? 0
						  : draw(4);
			     i > 0; i--)
				buf_char(&plain, (char)('a' + draw(26)));
			buf_add(&plain, value, len);
			encode(recall_rows[k].inner, &plain, &inner);
			buf_str(&text, "<p>");
			encode(recall_rows[k].outer, &inner, &text);
			buf_str(&text, "</p>");
			redact(&b, text.data, text.len, 1 + draw(60) + (len > 100 ? 1000 : 0),
			       false, &out);
			if (recall_rows[k].is_found) {
				tried++;
				found += strstr(buf_cstr(&out), A) != NULL;
				if (!strstr(buf_cstr(&out), A))
					print_message("missed: %.*s as %s\n", (int)len, value,
						      buf_cstr(&text));
			} else {
				beyond++;
				beyond_found += strstr(buf_cstr(&out), A) != NULL;
			}
			boundary_done(&b);
			buf_done(&plain);
			buf_done(&inner);
			buf_done(&text);
			buf_done(&out);
		}
	print_message("values in answers: %zu forms, %zu found; of %zu that nobody looks for %zu\n",
		      tried, found, beyond, beyond_found);
	assert_true(tried >= 500);
	assert_int_equal(found, tried);
}

/* Text of the same letters and escapes without a value is not touched. */
static void test_redact_benign(void **state)
{
	static const char *const words[] = {"&amp;",   "&#x41;",     "\\u0041", "%41",
					    "aGVsbG8", "68656c6c6f", "value",   "\\n",
					    "=",       " ",          "token",   "+/"};
	struct boundary_secret many[8];
	char values[8][16];
	struct boundary b;
	struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		(void)snprintf(values[i], sizeof(values[i]), "token-%07x", draw(1u << 24));
		many[i] = (struct boundary_secret){.name = "e",
						   .placeholder = A,
						   .value = values[i],
						   .value_len = strlen(values[i])};
	}
	assert_int_equal(boundary_make(many, ARRAY_LEN(many), &b), 0);
	for (int i = 0; i < 100000; i++)
		buf_str(&text, words[draw(ARRAY_LEN(words))]);
	redact(&b, text.data, text.len, 4096, false, &out);
	assert_int_equal(out.len, text.len);
	assert_memory_equal(out.data, text.data, text.len);
	boundary_done(&b);
	buf_done(&text);
	buf_done(&out);
}

/* Values whose bytes programs escape each in its own way. */
static void test_redact_escapes(void **state)
{
	static const struct {
		const char *value;
		const char *text;
	} rows[] = {
		/* JSON: short escapes, those for HTML, and all of Unicode */
		{"-----KEY-----\nab\tc\r/d", "-----KEY-----\\nab\\tc\\r\\/d"},
		{"-----KEY-----\nab\tc\r/d", "-----KEY-----\\u000aab\\u0009c\\u000D/d"},
		{"<tag>&\"q'", "\\u003ctag\\u003E\\u0026\\\"q\\u0027"},
		{"p\xc3\xa4ss\xe2\x82\xacwort", "p\\u00e4ss\\u20ACwort"},
		{"p\xc3\xa4ss\xe2\x82\xacwort", "p\\u00c3\\u00a4ss\\u00e2\\u0082\\u00acwort"},
		{"p\xc3\xa4ss\xe2\x82\xacwort", "p%C3%A4ss%e2%82%acwort"},
		{"key\xf0\x9f\x98\x80key", "key\\ud83d\\ude00key"},
		{"line\nline", "line\\x0aline"},
		/* URLs: quote(), encodeURIComponent(), forms */
		{"ab/cd+e f!'()*~", "ab/cd%2Be%20f%21%27%28%29%2A~"},
		{"ab/cd+e f!'()*~", "ab%2Fcd%2Be%20f!'()*~"},
		{"ab/cd+e f!'()*~", "ab%2Fcd%2Be+f%21%27%28%29*%7E"},
		{" leading blank", "+leading+blank"},
		/* what escapes are made of */
		{"100%25\\n\\\\x", "100%25\\n\\\\x"},
		{"100%25\\n\\\\x", "100%25\\\\n\\\\\\\\x"},
		{"100%25\\n\\\\x", "100%2525%5Cn%5C%5Cx"},
		{"100%25\\n\\\\x", "100\\u002525\\u005cn\\u005c\\u005cx"},
		/* short as it is, not when it is written long */
		{"a&b/c", "a%26b%2Fc"},
		/* HTML and XML */
		{"<tag>&\"q'", "&lt;tag&gt;&amp;&quot;q&#39;"},
		{"<tag>&\"q'", "&#x3C;tag&#62;&#38;&#34;q&apos;"},
		{"a&amp;b/cd", "a&amp;amp;b/cd"},
		{"p\xc3\xa4ss\xe2\x82\xacwort", "p&#xe4;ss&#8364;wort"},
		{"hunter2", "&#104;&#117;&#110;&#116;&#101;&#114;&#50;"},
		/* hex, backwards, and codings of codings that leave nothing at the ends */
		{"hunter2", "68756e74657232"},
		{"hunter2", "68756E74657232"},
		{"hunter2", "2retnuh"},
		{"hunter", "Njg3NTZlNzQ2NTcy"},
		{"hunter", "6148567564475679"},
		{"hunter-99", "YUhWdWRHVnlMVGs1"},
		{"a\?\?>>b~~~", "YT8%2FPj5ifn5%2B"},
		{"a\?\?>>b~~~", "YT8\\/Pj5ifn5\\u002b"},
		/* base64 in lines */
		{"another_value_0123456789", "YW5vdGhl\r\ncl92YWx1\r\nZV8wMTIz\r\nNDU2Nzg5"},
		{"another_value_0123456789", "YW5vdGhlcl92\\nYWx1ZV8wMTIz\\r\\nNDU2Nzg5"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t step = 1; step < 80; step++) {
			const struct boundary_secret s = {.name = "e",
							  .placeholder = A,
							  .value = rows[i].value,
							  .value_len = strlen(rows[i].value)};
			struct buf kept = BUF_INIT(8192);
			struct buf freely = BUF_INIT(8192);
			struct boundary b;
			char text[256];
			int n = snprintf(text, sizeof(text), "<%s>", rows[i].text);

			assert_int_equal(boundary_make(&s, 1, &b), 0);
			redact(&b, text, (size_t)n, step, true, &kept);
			redact(&b, text, (size_t)n, step, false, &freely);
			if (strcmp(buf_cstr(&freely), "<" A ">") != 0)
				fail_msg("%s by %zu: '%s'", text, step, buf_cstr(&freely));
			assert_int_equal(kept.len, n);
			boundary_done(&b);
			buf_done(&kept);
			buf_done(&freely);
		}
}

/* What only begins like one goes on as it is, and is not held for ever. */
static void test_redact_bounds(void **state)
{
	static const char *const rows[] = {"another%5Fvalue%5",
					   "another\\u005fvalue\\u00",
					   "another_value_\\ud83d\\u",
					   "a\\nother_value_0123456789",
					   "YW5vdGhlcl92\n\n\n\n\n\n\n\n\n\nYWx1ZV8wMTIzNDU2Nzg5",
					   "%",
					   "\\",
					   "100% another \\ value"};
	struct boundary_stream s = BOUNDARY_STREAM;
	struct buf out = BUF_INIT(8192);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t step = 1; step < 40; step++) {
			buf_clear(&out);
			redact(*state, rows[i], strlen(rows[i]), step, false, &out);
			assert_string_equal(buf_cstr(&out), rows[i]);
		}
	for (size_t i = 0; i < 4096; i++) {
		buf_clear(&out);
		assert_int_equal(boundary_redact(*state, &s, i ? "\n" : "YW5vdGhlcl92", i ? 1 : 12,
						 false, true, &out),
				 0);
		assert_true(s.held.len < 256);
	}
	boundary_stream_done(&s);
	buf_done(&out);
}

static void test_redact_partial(void **state)
{
	static const char text[] = "another_value_012345678 anot another_value_";
	struct buf out = BUF_INIT(8192);

	for (size_t step = 1; step < sizeof(text); step++) {
		buf_clear(&out);
		redact(*state, text, sizeof(text) - 1, step, false, &out);
		assert_string_equal(buf_cstr(&out), text);
	}
	buf_done(&out);
}

struct request_row {
	const char *what;
	bool is_tls;
	const char *host;
	const char *text; /* head and body */
	const char *want; /* what the server gets; NULL: refused */
	bool is_alarm;
};

static const struct request_row request_rows[] = {
	{"a field", true, "api.example.org",
	 "GET /v1 HTTP/1.1\r\nHost: api.example.org\r\nX-Key: " A "\r\n\r\n", "X-Key: " VALUE_A,
	 false},
	{"the query", true, "api.example.org",
	 "GET /v1?k=" A " HTTP/1.1\r\nHost: api.example.org\r\n\r\n", "/v1?k=s3cr%26t%20", false},
	{"a body in JSON", true, "api.example.org",
	 "POST /v1 HTTP/1.1\r\nHost: api.example.org\r\nContent-Type: application/json\r\nContent-Length: 56\r\n\r\n"
	 "{\"k\":\"" A "\"}",
	 "Content-Length: 30\r\n\r\n{\"k\":\"s3cr&t \\\"valu\\\\e\\\"+/=?\"}", false},
	{"a form", true, "api.example.org",
	 "POST /v1 HTTP/1.1\r\nHost: api.example.org\r\n"
	 "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\nContent-Length: 50\r\n\r\nk=" A,
	 "\r\n\r\nk=s3cr%26t%20%22valu%5Ce%22%2B%2F%3D%3F", false},
	{"the path", true, "api.example.org",
	 "GET /" A " HTTP/1.1\r\nHost: api.example.org\r\n\r\n", NULL, true},
	{"the name of a field", true, "api.example.org",
	 "GET / HTTP/1.1\r\nHost: api.example.org\r\n" A ": x\r\n\r\n", NULL, true},
	{"plain HTTP", false, "api.example.org",
	 "GET / HTTP/1.1\r\nHost: api.example.org\r\nX-Key: " A "\r\n\r\n", NULL, true},
	{"plain HTTP, credentials", false, "api.example.org",
	 "GET / HTTP/1.1\r\nHost: api.example.org\r\nAuthorization: Basic "
	 "dXNlcjpjb3Jkb24tc2VjcmV0LWItZmZlZWRkY2NiYmFhOTk4ODc3NjY1NTQ0MzMyMjExMDA=\r\n\r\n",
	 NULL, true},
	{"the secret of another host", true, "api.example.org",
	 "GET / HTTP/1.1\r\nHost: api.example.org\r\nX-Key: " B "\r\n\r\n", NULL, true},
	{"the query, to another host", true, "other.example.org",
	 "GET /?k=" A " HTTP/1.1\r\nHost: other.example.org\r\n\r\n", NULL, true},
	{"a body to another host", true, "other.example.org",
	 "POST / HTTP/1.1\r\nHost: other.example.org\r\nContent-Length: 48\r\n\r\n" A, NULL, true},
	{"a body too large, to its own host", true, "api.example.org",
	 "POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: 70000\r\n\r\n" A, NULL,
	 false},
};

static void check_request(const struct boundary *b, const struct request_row *row, size_t step)
{
	struct guard *g = guard_new(b);
	struct guard_refusal refusal = {0};
	struct host host = host_of(row->host);
	struct buf out = BUF_INIT(262144);
	struct http_head head;
	char method[16];
	char path[256];
	const char *body;
	size_t len;
	bool is_good;

	assert_non_null(g);
	assert_int_equal(http_request_parse(row->text, strlen(row->text), &head), 1);
	(void)snprintf(method, sizeof(method), "%.*s", (int)head.method.len, head.method.p);
	(void)snprintf(path, sizeof(path), "%.*s", (int)head.path.len, head.path.p);
	body = row->text + head.len;
	len = strlen(body);
	is_good = guard_request(g, row->is_tls, &host, 443, method, path, row->text, &head,
				&refusal) &&
		  guard_put_target(g, head.path, &out, &refusal);
	for (size_t i = 0; is_good && i < head.n; i++) {
		if (guard_drops(g, head.fields[i].name))
			continue;
		buf_printf(&out, "\r\n%.*s: ", (int)head.fields[i].name.len, head.fields[i].name.p);
		is_good = guard_put_field(g, head.fields[i].value, &out, &refusal);
	}
	for (size_t i = 0; is_good && i < len; i += step)
		is_good = guard_body(g, body + i, len - i < step ? len - i : step, len - i <= step,
				     &refusal);
	if (is_good && g->gathers) {
		buf_str(&out, "\r\n");
		is_good = guard_put_body(g, &out, &refusal);
	}
	if (is_good != (row->want != NULL) || (!is_good && refusal.is_alarm != row->is_alarm) ||
	    (row->want && !strstr(buf_cstr(&out), row->want)))
		fail_msg("%s: %s '%s'", row->what, is_good ? "let through" : "refused",
			 buf_cstr(&out));
	buf_done(&out);
	guard_free(g);
}

static void test_requests(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(request_rows); i++)
		for (size_t step = 1; step < 80; step += 3)
			check_request(*state, &request_rows[i], step);
}

static void test_answer(void **state)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: " VALUE_B
				   "\r\n\r\n";
	static const struct {
		const char *fields;
		bool is_good;
	} packed[] = {
		{"", true},
		{"Content-Encoding: identity\r\n", true},
		{"Content-Encoding: gzip\r\n", false},
		{"Content-Encoding: identity, gzip\r\n", false},
		{"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n", false},
		{"Content-Encoding: gzip\r\nContent-Encoding: identity\r\n", false},
		{"Content-Encoding:\r\nContent-Encoding: br\r\n", false},
		{"Content-Encoding: identity, Identity\r\n", true},
	};
	const struct http_slice get = {.p = "GET", .len = 3};
	struct guard *g = guard_new(*state);
	struct buf out = BUF_INIT(4096);
	struct http_head head;

	assert_non_null(g);
	g->searches = true;
	assert_int_equal(http_answer_parse(text, strlen(text), get, &head), 1);
	assert_true(guard_answer(g, &head));
	guard_answer_field(g, http_find(&head, "x")->value, &out);
	assert_string_equal(buf_cstr(&out), B);
	buf_clear(&out);
	assert_int_equal(guard_answer_body(g, "x another_val", 13, false, &out), 0);
	assert_string_equal(buf_cstr(&out), "2\r\nx \r\n");
	assert_int_equal(guard_answer_body(g, "ue_0123456789", 13, false, &out), 0);
	assert_int_equal(guard_answer_body(g, "", 0, true, &out), 0);
	assert_string_equal(buf_cstr(&out),
			    "2\r\nx \r\n18\r\ncordon-secret-b-ffeeddcc\r\n0\r\n\r\n");
	for (size_t i = 0; i < ARRAY_LEN(packed); i++) {
		char answer[256];
		int n = snprintf(answer, sizeof(answer),
				 "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n%s\r\n",
				 packed[i].fields);

		assert_int_equal(http_answer_parse(answer, (size_t)n, get, &head), 1);
		if (guard_answer(g, &head) != packed[i].is_good)
			fail_msg("%s", packed[i].fields);
	}
	buf_done(&out);
	guard_free(g);
}

/* What the command says is what cordon-proxy hears; cut anywhere, or changed in any length, it is nothing. */
static void test_brief(void **state)
{
	static const char *const words[] = {"GET", "HEAD", NULL};
	const struct authority_entry allowed[] = {{.host = rules[0], .name = "first"}};
	const struct authority_rule rule = {
		.host = rules[2], .methods = words, .is_denial = true, .name = "rule"};
	const struct authority authority = {.mode = AUTHORITY_ALLOWLIST,
					    .allowed = allowed,
					    .n_allowed = 1,
					    .rules = &rule,
					    .n_rules = 1};
	const struct proxy_options o = {.authority = &authority,
					.limits = PROXY_LIMITS,
					.trust = "/etc/ssl/x",
					.secrets = secrets,
					.n_secrets = 2};
	struct buf out = BUF_INIT(BRIEF_MAX);
	struct brief b;

	(void)state;
	brief_write(&o, &out);
	assert_int_equal(buf_error(&out), 0);
	assert_int_equal(brief_read(out.data, out.len, &b), 0);
	assert_string_equal(b.version, CORDON_VERSION);
	assert_int_equal(b.authority.n_allowed, 1);
	assert_string_equal(b.authority.allowed[0].name, "first");
	assert_memory_equal(&b.authority.allowed[0].host, &rules[0], sizeof(rules[0]));
	assert_true(b.authority.rules[0].is_denial);
	assert_string_equal(b.authority.rules[0].methods[1], "HEAD");
	assert_null(b.authority.rules[0].methods[2]);
	assert_null(b.authority.rules[0].paths);
	assert_string_equal(b.options.trust, "/etc/ssl/x");
	assert_null(b.options.resolver);
	assert_int_equal(b.options.limits.idle_ms, o.limits.idle_ms);
	assert_int_equal(b.options.n_secrets, 2);
	assert_string_equal(b.options.secrets[0].value, VALUE_A);
	assert_int_equal(b.options.secrets[1].n_hosts, 2);
	brief_done(&b);
	for (size_t len = 0; len < out.len; len++) {
		assert_true(brief_read(out.data, len, &b) < 0);
		brief_done(&b);
	}
	buf_char(&out, 'x');
	assert_int_equal(brief_read(out.data, out.len, &b), -EBADMSG);
	brief_done(&b);
	buf_done(&out);
}

static int collect(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

/* Cut in two at every place, a body opens to the same; one that ends too early is not whole; more than the whole is refused. */
static void test_unpack(void **state)
{
	static const uint8_t gzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
				       0x00, 0x03, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0xc2,
				       0x41, 0x24, 0x35, 0x03, 0x00, 0x00, 0x00};
	char twice[2 * sizeof(gzip)];

	(void)state;
	memcpy(twice, gzip, sizeof(gzip));
	memcpy(twice + sizeof(gzip), gzip, sizeof(gzip));
	for (size_t cut = 0; cut <= sizeof(twice); cut++) {
		struct unpack *u = unpack_new(UNPACK_GZIP);
		struct buf out = BUF_INIT(4096);

		assert_non_null(u);
		assert_int_equal(unpack_feed(u, twice, cut, collect, &out), 0);
		assert_int_equal(unpack_is_whole(u), cut > 0 && cut % sizeof(gzip) == 0);
		assert_int_equal(unpack_feed(u, twice + cut, sizeof(twice) - cut, collect, &out),
				 0);
		assert_true(unpack_is_whole(u));
		assert_string_equal(buf_cstr(&out), "abcabc");
		assert_int_equal(unpack_feed(u, "xy", 2, collect, &out), -EBADMSG);
		unpack_free(u);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_put_refused),
		cmocka_unit_test(test_controls),
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_redact),
		cmocka_unit_test(test_redact_partial),
		cmocka_unit_test(test_redact_escapes),
		cmocka_unit_test(test_redact_recall),
		cmocka_unit_test(test_redact_benign),
		cmocka_unit_test(test_redact_bounds),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_unpack),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
