/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored values in output: values times encodings times ways to cut the stream, with encoders of the test's own; how
 * many are found, what is left of them, and what of harmless text is touched.
 */
#include "core_fixture.h"

#include "base/limits.h"
#include "base/str.h"
#include "secrets/needle.h"

#include <ctype.h>
#include <errno.h>

#define TEXT_MAX 131072
#define TRACE 5 /* as many characters in a row of a value's form must not be left */

static unsigned long seed = 20240117;

static unsigned draw(unsigned below)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(seed >> 33) % below;
}

static const char *const values[] = {
	"ghp_x7Kd9QmPz3LvN2wYb8RtC5sJfA1uEhG4oX6",
	"hunter2-4f9c1d77aa-Zq",
	"correct horse battery staple!",
	"postgres://app:S3cr%t/p@db.example.org:5432/main?ssl=1",
	"\"quoted\" and \\ back & amp;=+",
	"p\xc3\xa4ssw\xc3\xb6rt-\xe2\x82\xac-\xf0\x9f\x94\x91-lang",
	"0123456789abcdef0123456789abcdef",
	"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BA\nAoIBAQC7VJTUt9Us8cKjMz\n-----END KEY-----",
	"tok123",
	"A~B!C@D#E$F%G^H&I*J(K)",
};

struct text {
	char data[TEXT_MAX];
	size_t len;
};

static void put(struct text *t, const char *bytes, size_t n)
{
	assert_true(t->len + n < sizeof(t->data));
	memcpy(t->data + t->len, bytes, n);
	t->len += n;
	t->data[t->len] = '\0';
}

static void put_c(struct text *t, int c)
{
	char byte = (char)c;

	put(t, &byte, 1);
}

static void put_base64(struct text *t, const unsigned char *v, size_t n, const char *last)
{
	static const char common[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	for (size_t i = 0; i < n; i += 3) {
		unsigned long group = (unsigned long)v[i] << 16 |
				      (unsigned long)(i + 1 < n ? v[i + 1] : 0) << 8 |
				      (unsigned long)(i + 2 < n ? v[i + 2] : 0);

		for (size_t k = 0; k < 4; k++) {
			unsigned d = group >> (18 - 6 * k) & 63;

			if (i + k > n)
				put_c(t, '=');
			else
				put_c(t, d < 62 ? common[d] : last[d - 62]);
		}
	}
}

enum coding {
	PLAIN,
	BASE64,
	BASE64_URL,
	BASE64_LINES,
	HEX,
	HEX_UPPER,
	URL,
	URL_LOWER,
	REVERSED,
	JSON,
	JSON_ALL,
	HTML,
	HTML_NUMBERS,
	BASE64_TWICE,
	BASE64_HEX,
	HEX_BASE64,
	BASE64_PERCENT,
	ENCODINGS
};

static void put_percent(struct text *t, const char *v, size_t n, bool is_upper)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)v[i];
		char code[8];

		(void)snprintf(code, sizeof(code), is_upper ? "%%%02X" : "%%%02x", (unsigned)c);
		if (isalnum(c) || strchr("-_.~", c))
			put_c(t, c);
		else
			put(t, code, 3);
	}
}

static void put_json(struct text *t, const char *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i] == '"' || v[i] == '\\')
			put_c(t, '\\');
		if (v[i] == '\n')
			put(t, "\\n", 2);
		else
			put_c(t, v[i]);
	}
}

static void encode(enum coding how, const char *v, size_t n, struct text *t);

static void encode_twice(enum coding inner, enum coding outer, const char *v, size_t n,
			 struct text *t)
{
	static struct text once;

	once.len = 0;
	encode(inner, v, n, &once);
	encode(outer, once.data, once.len, t);
}

/* Appends the value as the encoding has it, in the middle of something else where that matters. */
static void encode(enum coding how, const char *v, size_t n, struct text *t)
{
	static struct text plain, flat;
	char code[4];

	plain.len = flat.len = 0;
	switch (how) {
	case PLAIN:
		put(t, v, n);
		return;
	case BASE64:
	case BASE64_URL:
	case BASE64_LINES:
		for (unsigned i = draw(3); i > 0; i--)
			put_c(&plain, 'a' + (int)draw(26));
		put(&plain, v, n);
		put(&plain, "\n..", draw(4));
		put_base64(&flat, (const unsigned char *)plain.data, plain.len,
			   how == BASE64_URL ? "-_" : "+/");
		for (size_t i = 0; i < flat.len; i++) {
			put_c(t, flat.data[i]);
			if (how == BASE64_LINES && i % 24 == 23)
				put_c(t, '\n');
		}
		return;
	case HEX:
	case HEX_UPPER:
		for (size_t i = 0; i < n; i++) {
			(void)snprintf(code, sizeof(code), how == HEX ? "%02x" : "%02X",
				       (unsigned)(unsigned char)v[i]);
			put(t, code, 2);
		}
		return;
	case URL:
		put_percent(t, v, n, true);
		return;
	case URL_LOWER:
		put_percent(t, v, n, false);
		return;
	case REVERSED:
		for (size_t i = n; i > 0; i--)
			put_c(t, v[i - 1]);
		return;
	case JSON:
		put_json(t, v, n);
		return;
	case JSON_ALL:
	case HTML_NUMBERS:
		for (size_t i = 0; i < n; i++) {
			char all[16];
			int len = snprintf(all, sizeof(all), how == JSON_ALL ? "\\u%04x" : "&#%u;",
					   (unsigned)(unsigned char)v[i]);

			put(t, all, (size_t)len);
		}
		return;
	case HTML:
		for (size_t i = 0; i < n; i++) {
			const char *as = v[i] == '&'    ? "&amp;"
					 : v[i] == '<'  ? "&lt;"
					 : v[i] == '>'  ? "&gt;"
					 : v[i] == '"'  ? "&quot;"
					 : v[i] == '\'' ? "&#x27;"
							: NULL;

			if (as)
				put(t, as, strlen(as));
			else
				put_c(t, v[i]);
		}
		return;
	case BASE64_TWICE:
		encode_twice(BASE64, BASE64, v, n, t);
		return;
	case BASE64_HEX:
		encode_twice(BASE64, HEX_UPPER, v, n, t);
		return;
	case HEX_BASE64:
		encode_twice(HEX, BASE64, v, n, t);
		return;
	case BASE64_PERCENT:
		encode_twice(BASE64, URL, v, n, t);
		return;
	case ENCODINGS:
		break;
	}
	fail();
}

/* How a stream is cut. */
enum cut { WHOLE, BYTES, SEVENS, RANDOM, SLOW, CUTS };

static void push(struct needle_screen *s, enum cut cut, const struct text *in, struct buf *out)
{
	size_t at = 0;

	while (at < in->len) {
		size_t n = cut == WHOLE    ? in->len
			   : cut == SEVENS ? 7
			   : cut == RANDOM ? 1 + draw(40)
					   : 1;

		n = n < in->len - at ? n : in->len - at;
		assert_int_equal(needle_feed(s, in->data + at, n, out), 0);
		if (cut == SLOW)
			assert_int_equal(needle_quiet(s, out), 0);
		at += n;
	}
	assert_int_equal(needle_end(s, out), 0);
	assert_int_equal(needle_held(s), 0);
}

/* Is a part of the form left in the output?  At its margins characters depend on what is around; in a coding of a
 * coding more of them. */
static bool has_trace(const struct text *form, size_t margin, size_t trace, const struct buf *out)
{
	static struct text flat;

	flat.len = 0;
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] != '\n' && out->data[i] != '\r')
			put_c(&flat, out->data[i]);
	for (size_t i = margin; i + trace + margin <= form->len; i++)
		if (memmem(flat.data, flat.len, form->data + i, trace))
			return true;
	return false;
}

static struct needles *needles_of(const char *value, size_t len, struct secret_grants *g)
{
	struct needles *n = NULL;

	g->n = 1;
	g->items[0].name = (char *)(uintptr_t) "NAME";
	g->items[0].value = value;
	g->items[0].len = len;
	assert_int_equal(needles_new(g, &n), 0);
	return n;
}

static bool is_hidden(const char *value, enum coding how, enum cut cut)
{
	static struct text in, form, flat;
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needles *n = needles_of(value, strlen(value), &g);
	struct needle_screen *s = NULL;
	struct buf out = BUF_INIT(4 * TEXT_MAX);
	bool hidden;

	in.len = form.len = flat.len = 0;
	encode(how, value, strlen(value), &form);
	for (size_t i = 0; i < form.len; i++)
		if (form.data[i] != '\n')
			put_c(&flat, form.data[i]);
	put(&in, "<<", 2);
	put(&in, form.data, form.len);
	put(&in, ">>;\n", 4);
	assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
	push(s, cut, &in, &out);
	hidden = needle_count(s, 0) > 0 &&
		 !has_trace(&flat, how >= BASE64_TWICE ? 14 : 3,
			    how >= BASE64_TWICE ? 2 * TRACE : TRACE, &out) &&
		 strstr(out.data, "[hidden: NAME]") && str_starts(out.data, "<<") &&
		 str_ends(out.data, ">>;\n");
	needle_screen_free(s);
	needles_free(n);
	buf_done(&out);
	return hidden;
}

static void test_recall(void **state)
{
	size_t tried = 0, found = 0;

	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(values); v++)
		for (int how = 0; how < ENCODINGS; how++)
			for (int cut = 0; cut < CUTS; cut++) {
				bool ok = is_hidden(values[v], (enum coding)how, (enum cut)cut);

				tried++;
				found += ok;
				if (!ok)
					print_message("missed: value %zu encoding %d cut %d\n", v,
						      how, cut);
			}
	print_message("stored values: %zu forms, %zu found\n", tried, found);
	assert_true(tried >= 500);
	assert_int_equal(found, tried);
}

/* Harmless text goes through as it is, however it is cut. */
static void test_benign(void **state)
{
	static struct text in;
	struct secret_grant items[ARRAY_LEN(values)] = {0};
	struct secret_grants g = {.items = items, .n = ARRAY_LEN(values)};
	struct needles *n = NULL;
	size_t lines = 0, touched = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		items[i].name = (char *)(uintptr_t) "NAME";
		items[i].value = values[i];
		items[i].len = strlen(values[i]);
	}
	assert_int_equal(needles_new(&g, &n), 0);
	for (int round = 0; round < 400; round++) {
		const char *value = values[draw(ARRAY_LEN(values))];
		size_t part = strlen(value) - 1 - draw((unsigned)strlen(value) - 1);
		struct needle_screen *s = NULL;
		struct buf out = BUF_INIT(4 * TEXT_MAX);

		in.len = 0;
		/* a beginning of a value, its like in another case, random letters, words */
		put(&in, value, part < 18 ? part : 18);
		put(&in, "\n", 1);
		for (unsigned i = 200 + draw(400); i > 0; i--)
			put_c(&in, "ghp_hunterABCDEF0123456789+/=%-. \n"[draw(34)]);
		put(&in, "\nthe correct horse was in the token of the postgres app\n", 56);
		assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
		push(s, (enum cut)(round % CUTS), &in, &out);
		lines++;
		touched += out.len != in.len || memcmp(out.data, in.data, in.len) != 0;
		needle_screen_free(s);
		buf_done(&out);
	}
	needles_free(n);
	print_message("harmless outputs: %zu, touched %zu\n", lines, touched);
	assert_int_equal(touched, 0);
}

static void test_actions(void **state)
{
	static const struct {
		enum scan_action action;
		const char *want;
	} rows[] = {
		{SECRET_WARN, "a hunter2-secret b hunter2-secret c"},
		{SECRET_REDACT, "a [hidden: NAME] b [hidden: NAME] c"},
		{SECRET_BLOCK,
		 "a [cordon: the rest of this output is withheld: it holds a stored secret]\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int cut = 0; cut < CUTS; cut++) {
			static struct text in;
			struct secret_grant item = {0};
			struct secret_grants g = {.items = &item};
			struct needles *n = needles_of("hunter2-secret", 14, &g);
			struct needle_screen *s = NULL;
			struct buf out = BUF_INIT(4096);

			in.len = 0;
			put(&in, "a hunter2-secret b hunter2-secret c", 35);
			assert_int_equal(needle_screen_new(n, rows[i].action, &s), 0);
			push(s, (enum cut)cut, &in, &out);
			if (cut != SLOW || rows[i].action == SECRET_WARN)
				assert_string_equal(buf_cstr(&out), rows[i].want);
			assert_int_equal(needle_count(s, 0),
					 rows[i].action == SECRET_BLOCK ? 1 : 2);
			needle_screen_free(s);
			needles_free(n);
			buf_done(&out);
		}
}

/* What cannot become a value does not wait; what can waits for a quiet moment at most, but for a value's middle. */
static void test_hold(void **state)
{
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needles *n = needles_of("hunter2-secret", 14, &g);
	struct needle_screen *s = NULL;
	struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
	assert_int_equal(needle_feed(s, "name? ", 6, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? ");
	assert_int_equal(needle_held(s), 0);
	assert_int_equal(needle_feed(s, "oh", 2, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? o");
	assert_int_equal(needle_quiet(s, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? oh");
	/* the rest of it comes late and is hidden all the same */
	assert_int_equal(needle_feed(s, "unter2-sec", 10, &out), 0);
	assert_int_equal(needle_quiet(s, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? ohun");
	assert_int_equal(needle_feed(s, "ret!", 4, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? ohun[hidden: NAME]!");
	/* or is none after all */
	assert_int_equal(needle_feed(s, "hunter!", 7, &out), 0);
	assert_string_equal(buf_cstr(&out), "name? ohun[hidden: NAME]!hunter!");
	needle_screen_free(s);
	needles_free(n);
	buf_done(&out);
}

/* A stream that is cut off anywhere in a value: of the value nothing goes; when it ends there, what came goes. */
static void test_cut(void **state)
{
	static const char *const forms[] = {"hunter2-secret", "terces-2retnuh",
					    "68756e746572322d736563726574", "aHVudGVyMi1zZWNyZX"};
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needles *n = needles_of("hunter2-secret", 14, &g);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		for (size_t len = 1; len < strlen(forms[i]); len++) {
			struct needle_screen *s[3];
			struct buf out[3] = {BUF_INIT(4096), BUF_INIT(4096), BUF_INIT(4096)};

			for (int k = 0; k < 3; k++) {
				assert_int_equal(
					needle_screen_new(n, k == 2 ? SECRET_WARN : SECRET_REDACT,
							  &s[k]),
					0);
				assert_int_equal(needle_feed(s[k], "| ", 2, &out[k]), 0);
				assert_int_equal(needle_feed(s[k], forms[i], len, &out[k]), 0);
			}
			assert_int_equal(needle_cut(s[0], &out[0]), 0);
			assert_int_equal(needle_end(s[1], &out[1]), 0);
			assert_int_equal(needle_cut(s[2], &out[2]), 0);
			assert_string_equal(buf_cstr(&out[0]), "| ");
			assert_int_equal(out[1].len, 2 + len);
			assert_int_equal(out[2].len, 2 + len);
			for (int k = 0; k < 3; k++) {
				assert_int_equal(needle_held(s[k]), 0);
				needle_screen_free(s[k]);
				buf_done(&out[k]);
			}
		}
	needles_free(n);
}

/* A large value in pieces: all of it goes, and what is held stays small. */
static void test_large(void **state)
{
	AUTO_FREE char *value = malloc(LIMIT_SECRET_BYTES);
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needle_screen *s = NULL;
	struct needles *n;
	struct buf out = BUF_INIT(1 << 20);

	(void)state;
	assert_non_null(value);
	for (size_t i = 0; i < LIMIT_SECRET_BYTES; i++)
		value[i] = (char)('!' + draw(90));
	n = needles_of(value, LIMIT_SECRET_BYTES, &g);
	assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
	for (size_t i = 0; i < LIMIT_SECRET_BYTES; i += 16) {
		assert_int_equal(needle_feed(s, value + i, 16, &out), 0);
		assert_true(needle_held(s) <= LIMIT_NEEDLE_PIECE);
	}
	assert_int_equal(needle_end(s, &out), 0);
	assert_int_equal(needle_count(s, 0), 1); /* its pieces are one finding */
	for (size_t i = 0; i + 16 < LIMIT_SECRET_BYTES; i += 1000)
		assert_null(memmem(out.data, out.len, value + i, 16));
	needle_screen_free(s);
	needles_free(n);
	buf_done(&out);
}

/* Longer than a piece, by no round number: nothing of the last piece is left, in one coding and in two.  Where
 * few bytes of a value have to be escaped most pieces look alike in several forms. */
static void test_pieces(void **state)
{
	static const size_t lengths[] = {1023, 1025, 1500, 2047, 3000, 8191, 16384};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static char value[16385];
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (int is_sparse = 0; is_sparse < 2; is_sparse++) {
			for (size_t k = 0; k < lengths[i]; k++)
				value[k] = !is_sparse       ? (char)('!' + (int)draw(90))
					   : draw(400) == 0 ? "&<\"\n%+"[draw(6)]
							    : letters[draw(52)];
			value[lengths[i]] = '\0';
			for (int how = 0; how < ENCODINGS; how++)
				/* The longest ones whole: they are large. */
				for (int cut = 0; cut < (lengths[i] > 3000 ? 1 : CUTS); cut++) {
					tried++;
					if (!is_hidden(value, (enum coding)how, (enum cut)cut))
						fail_msg(
							"%zu bytes, encoding %d, cut %d, sparse %d",
							lengths[i], how, cut, is_sparse);
				}
		}
	print_message("long values: %zu forms, all found\n", tried);
}

/* Each line of a long value by itself: nothing of it is left. */
static void test_lines(void **state)
{
	static char value[26 * 65 + 1];
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needles *n;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(value); i++)
		value[i] = i % 65 == 64 ? '\n' : (char)('A' + (int)draw(26));
	n = needles_of(value, sizeof(value) - 1, &g);
	for (size_t i = 0; i + 1 < sizeof(value); i += 65) {
		struct needle_screen *s = NULL;
		struct buf out = BUF_INIT(4096);

		assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
		assert_int_equal(needle_feed(s, value + i, 64, &out), 0);
		assert_int_equal(needle_feed(s, " ", 1, &out), 0);
		assert_int_equal(needle_end(s, &out), 0);
		assert_string_equal(buf_cstr(&out), "[hidden: NAME] ");
		needle_screen_free(s);
		buf_done(&out);
	}
	needles_free(n);
}

/* Broken over lines of this width, with so much before it in the first: is all of it hidden? */
static bool is_hidden_in_lines(const char *value, enum coding how, size_t width, size_t before,
			       const char *line_end)
{
	static struct text in, flat;
	struct secret_grant item = {0};
	struct secret_grants g = {.items = &item};
	struct needles *n = needles_of(value, strlen(value), &g);
	struct needle_screen *s = NULL;
	struct buf out = BUF_INIT(4 * TEXT_MAX);
	bool hidden;

	in.len = flat.len = 0;
	if (how == BASE64)
		put_base64(&flat, (const unsigned char *)value, strlen(value), "+/");
	else
		encode(how, value, strlen(value), &flat);
	for (size_t i = 0; i < before + flat.len; i++) {
		put_c(&in, i < before ? '0' : flat.data[i - before]);
		if (i % width == width - 1)
			put(&in, line_end, strlen(line_end));
	}
	put(&in, "\n", 1);
	assert_int_equal(needle_screen_new(n, SECRET_REDACT, &s), 0);
	push(s, WHOLE, &in, &out);
	hidden = needle_count(s, 0) > 0 && !has_trace(&flat, 3, TRACE, &out);
	needle_screen_free(s);
	needles_free(n);
	buf_done(&out);
	return hidden;
}

static void test_alignments(void **state)
{
	static const struct {
		enum coding how;
		size_t width;
	} rows[] = {{BASE64, 76}, {HEX, 60}, {HEX_UPPER, 60}};
	static char long_value[1501];
	const char *const some[] = {values[0], values[1], values[3], long_value};
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(long_value); i++)
		long_value[i] = (char)('!' + draw(90));
	for (size_t v = 0; v < ARRAY_LEN(some); v++)
		for (size_t r = 0; r < ARRAY_LEN(rows); r++)
			for (size_t before = 0; before < rows[r].width; before++)
				for (int is_cr = 0; is_cr < 2; is_cr++)
					missed += !is_hidden_in_lines(some[v], rows[r].how,
								      rows[r].width, before,
								      is_cr ? "\r\n" : "\n");
	if (missed > 0)
		fail_msg("%zu missed", missed);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recall),     cmocka_unit_test(test_benign),
		cmocka_unit_test(test_actions),    cmocka_unit_test(test_hold),
		cmocka_unit_test(test_cut),        cmocka_unit_test(test_large),
		cmocka_unit_test(test_pieces),     cmocka_unit_test(test_lines),
		cmocka_unit_test(test_alignments),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
