/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See redact.h.  One pass from left to right; no regular expressions, so the cost is bounded by the
 * text.  Private keys are cut out first, because they hold blanks; what is between them is looked at
 * word by word, each with what follows it.
 */
#include "secrets/redact.h"

#include "base/mem.h"
#include "base/str.h"
#include "secrets/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define REDACTED "[redacted]"

/* Headers whose value holds blanks. */
static const char *const redact_headers[] = {"authorization", "proxy-authorization", "cookie",
					     "set-cookie"};

/* Beginnings of tokens that are secrets whatever stands around them, and how much must follow.  Those
 * that ordinary names begin with too need more, and a digit. */
static const struct {
	const char *text;
	size_t min;
	bool needs_digit;
} redact_prefixes[] = {
	{"AKIA", 12, false},
	{"ASIA", 12, false},
	{"ghp_", 6, false},
	{"gho_", 6, false},
	{"ghu_", 6, false},
	{"ghs_", 6, false},
	{"ghr_", 6, false},
	{"github_pat_", 6, false},
	{"glpat-", 6, false},
	{"sk-", 12, true},
	{"sk_live_", 6, false},
	{"sk_test_", 6, false},
	{"sk_prod_", 6, false},
	{"rk_test_", 6, false},
	{"rzp_live_", 6, false},
	{"FLWSECK", 6, false},
	{"NRAK-", 6, false},
	{"hooks.slack.com/services/", 6, false},
	{"hooks.slack.com/workflows/", 6, false},
	{"rk_live_", 6, false},
	{"pk_live_", 6, false},
	{"xoxb-", 6, false},
	{"xoxp-", 6, false},
	{"xoxa-", 6, false},
	{"xoxs-", 6, false},
	{"xapp-", 6, false},
	{"AIza", 20, false},
	{"ya29.", 6, false},
	{"eyJ", 12, false},
	{"npm_", 20, true},
	{"pypi-", 16, true},
	{"SG.", 16, false},
	{"hf_", 16, false},
	{"dop_v1_", 6, false},
	{"shpat_", 6, false},
	{"sq0", 16, true},
	{"EAA", 20, true},
	{"hvs.", 6, false},
	{"dckr_pat_", 6, false},
	{"AGE-SECRET-KEY-", 6, false},
	{"age-secret-key-", 6, false},
	{"whsec_", 6, false},
	{"lin_api_", 6, false},
	{"sbp_", 16, true},
	{"akab-", 16, true},
	{"PMAT-", 16, true},
	{"esecret_", 16, true},
	{"vtwn_", 16, true},
	{"sk_car_", 16, true},
	{"sk_sbox_", 16, true},
	{"ucat_", 16, true},
	{"open-apis/bot/v2/hook/", 16, true},
	{"receiver/v1/http/", 20, false},
};

enum {
	REDACT_NAME_MAX = 128,  /* of a longer word only the beginning is looked at for digits */
	REDACT_RANDOM_MIN = 20, /* a lone word this long may be a secret */
	REDACT_RANDOM_RATE = 4, /* a change of class every so many characters makes it one */
	REDACT_SCHEME_MIN = 8,  /* after "Bearer" */
	REDACT_USER_MAX = 16,   /* a longer user of a URL without a password is a token */
};

/* What is being looked at, and the quote that is open there. */
struct redactor {
	struct buf *out;
	const char *p;
	size_t len;
	size_t i;
	char quote;
};

static bool redact_is_blank(char c)
{
	return isspace((unsigned char)c);
}

static bool redact_is_word(char c)
{
	return c && (isalnum((unsigned char)c) || strchr("_-+/.~%", c));
}

static bool redact_word_is(const char *word, size_t len, const char *want)
{
	return len == strlen(want) && strncasecmp(word, want, len) == 0;
}

static bool redact_is_header(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(redact_headers); i++)
		if (redact_word_is(word, len, redact_headers[i]))
			return true;
	return false;
}

static bool redact_has_digit(const char *s, size_t len)
{
	for (size_t i = 0; i < len && i < REDACT_NAME_MAX; i++)
		if (isdigit((unsigned char)s[i]))
			return true;
	return false;
}

/* Where in the word a token with a known beginning starts; len when none does. */
static size_t redact_find_token(const char *word, size_t len)
{
	for (size_t at = 0; at < len; at++) {
		if (at > 0 && isalnum((unsigned char)word[at - 1]))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(redact_prefixes); i++) {
			size_t n = strlen(redact_prefixes[i].text);

			if (len - at >= n + redact_prefixes[i].min &&
			    strncmp(word + at, redact_prefixes[i].text, n) == 0 &&
			    (!redact_prefixes[i].needs_digit ||
			     redact_has_digit(word + at + n, len - at - n)))
				return at;
		}
	}
	return len;
}

/* Long, and changing between upper case, lower case and digits more often than words and file names
 * do. */
static bool redact_is_random(const char *word, size_t len)
{
	size_t changes = 0, digits = 0;
	int before = 0;

	if (len < REDACT_RANDOM_MIN)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)word[i];
		int now = isdigit(c) ? 1 : isupper(c) ? 2 : islower(c) ? 3 : before;

		changes += now != before;
		digits += now == 1;
		before = now;
	}
	return digits >= 2 && changes * REDACT_RANDOM_RATE >= len;
}

/* The whole word, or a component of it; absolute paths are full of hashes and stay. */
static bool redact_has_random(const char *word, size_t len)
{
	size_t from = 0;

	if (word[0] == '/' && !(len > 1 && word[1] == '/'))
		return false;
	if (redact_is_random(word, len))
		return true;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && word[i] != '/')
			continue;
		if (redact_is_random(word + from, i - from))
			return true;
		from = i + 1;
	}
	return false;
}

/* The length of a quoted string from its quote to behind the closing one.  Only double quotes know the
 * backslash. */
static size_t redact_quoted(const char *p, size_t len)
{
	size_t n = 1;

	while (n < len && p[n] != p[0])
		n += p[n] == '\\' && p[0] == '"' && n + 1 < len ? 2 : 1;
	return n < len ? n + 1 : len;
}

/* The length of an object or list of JSON, to its last bracket or the end. */
static size_t redact_brackets(const char *p, size_t len)
{
	size_t n = 0, depth = 0;

	while (n < len) {
		if (p[n] == '"') {
			n += redact_quoted(p + n, len - n);
			continue;
		}
		depth += p[n] == '{' || p[n] == '[';
		if ((p[n] == '}' || p[n] == ']') && --depth == 0)
			return n + 1;
		n++;
	}
	return len;
}

/* The length of the value that starts at p: pieces, quoted or not, up to a blank, an operator of the
 * shell, or the quote that is open around it. */
static size_t redact_value(const char *p, size_t len, char quote)
{
	size_t n = 0;

	if (len && (p[0] == '{' || p[0] == '['))
		n = redact_brackets(p, len);
	while (n < len && !redact_is_blank(p[n]) && !(p[n] && strchr("&;|", p[n]))) {
		if (quote && p[n] == quote)
			break;
		if (p[n] == '"' || p[n] == '\'' || p[n] == '`') {
			n += redact_quoted(p + n, len - n);
			if (n < len && p[n] && strchr(",:)]}", p[n]))
				break; /* JSON goes on */
		} else {
			n += p[n] == '\\' && n + 1 < len ? 2 : 1;
		}
	}
	return n < len ? n : len;
}

/* The rest of the line, or up to the quote that is open. */
static size_t redact_line(const char *p, size_t len, char quote)
{
	size_t n = 0;

	while (n < len && p[n] != '\n' && !(quote && p[n] == quote))
		n++;
	return n;
}

static size_t redact_blanks(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && redact_is_blank(p[n]))
		n++;
	return n;
}

/* Is what follows a word a separator that gives it a value?  Returns its length: `=`, `:`, or the same
 * behind the quote that ends a JSON key. */
static size_t redact_separator(const char *p, size_t len)
{
	size_t n = len && (p[0] == '"' || p[0] == '\'') ? 1 : 0;

	/* \" closes a key in JSON that stands in a string. */
	if (n == 0 && len > 1 && p[0] == '\\' && p[1] == '"')
		n = 2;
	n += redact_blanks(p + n, len - n);
	if (n >= len || (p[n] != '=' && p[n] != ':'))
		return 0;
	n++;
	if (n < len && p[n] == '=')
		n++;
	return n + redact_blanks(p + n, len - n);
}

static void redact_keep(struct redactor *r, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		char c = r->p[r->i + k];

		if (c == r->quote)
			r->quote = 0;
		else if (!r->quote && (c == '"' || c == '\''))
			r->quote = c;
	}
	buf_add(r->out, r->p + r->i, n);
	r->i += n;
}

static void redact_drop(struct redactor *r, size_t n)
{
	buf_str(r->out, REDACTED);
	r->i += n;
}

/* Behind "://": user:password@.  A user alone stays, unless it is long enough to be a token. */
static void redact_userinfo(struct redactor *r)
{
	const char *p = r->p + r->i;
	size_t len = r->len - r->i, at = 0, colon = 0, n = 0;

	while (n < len && !redact_is_blank(p[n]) && !(p[n] && strchr("/?#\"'`<>", p[n]))) {
		if (p[n] == '@')
			at = n;
		if (p[n] == ':' && colon == 0)
			colon = n + 1;
		n++;
	}
	if (at == 0)
		return;
	if (colon > 0 && colon <= at) {
		redact_keep(r, colon);
		redact_drop(r, at - colon);
	} else if (at > REDACT_USER_MAX) {
		redact_drop(r, at);
	} else {
		redact_keep(r, at);
	}
}

/* Is "a:b" there and not just numbers, as in `docker run -u 1000:1000`? */
static bool redact_is_login(const char *p, size_t len)
{
	const char *colon = memchr(p, ':', len);
	bool is_number = true;

	for (size_t i = 0; i < len; i++)
		is_number &= isdigit((unsigned char)p[i]) || p[i] == ':';
	return colon && colon > p && !is_number;
}

/* Upper case behind lower case, as base64 has it and words have not. */
static bool redact_is_mixed(const char *s, size_t len)
{
	for (size_t i = 1; i < len && i < REDACT_NAME_MAX; i++)
		if (islower((unsigned char)s[i - 1]) && isupper((unsigned char)s[i]))
			return true;
	return false;
}

/* Words of which the next one may be a secret. */
enum redact_lead { LEAD_NONE, LEAD_OPTION, LEAD_LOGIN, LEAD_BEARER, LEAD_BASIC };

static enum redact_lead redact_lead(const char *word, size_t n, bool is_secret)
{
	if (redact_word_is(word, n, "-u") || redact_word_is(word, n, "--user") ||
	    redact_word_is(word, n, "--proxy-user"))
		return LEAD_LOGIN;
	if (word[0] == '-' && is_secret)
		return LEAD_OPTION;
	if (redact_word_is(word, n, "bearer"))
		return LEAD_BEARER;
	return redact_word_is(word, n, "basic") ? LEAD_BASIC : LEAD_NONE;
}

static bool redact_is_led(enum redact_lead lead, const char *value, size_t n)
{
	switch (lead) {
	case LEAD_OPTION:
		return !(n > 1 && value[0] == '-' && value[1] == '-'); /* else another option */
	case LEAD_LOGIN:
		return redact_is_login(value, n);
	case LEAD_BEARER:
		return n >= REDACT_SCHEME_MIN;
	case LEAD_BASIC:
		return n >= REDACT_SCHEME_MIN && (redact_has_digit(value, n) ||
						  value[n - 1] == '=' || redact_is_mixed(value, n));
	case LEAD_NONE:
		break;
	}
	return false;
}

/* The length of a value that may itself begin with a name and its value: `key: --password VALUE`.
 * All of it goes. */
static size_t redact_span(const char *p, size_t len, char quote)
{
	size_t n = 0;

	for (;;) {
		size_t word = 0, gap;
		bool is_secret;

		while (n + word < len && redact_is_word(p[n + word]))
			word++;
		is_secret = word > 0 && name_is_secret(p + n, word);
		gap = is_secret ? redact_separator(p + n + word, len - n - word) : 0;
		if (gap > 0 && word > 0 && redact_is_header(p + n, word))
			return n + redact_line(p + n, len - n, quote);
		if (gap == 0 && word > 0 && redact_lead(p + n, word, is_secret) != LEAD_NONE)
			gap = redact_blanks(p + n + word, len - n - word);
		if (gap == 0)
			return n + redact_value(p + n, len - n, quote);
		n += word + gap;
	}
}

/* A value behind blanks: `--password VALUE`, `Bearer VALUE`, `-u USER:VALUE`.  True when it was taken
 * out. */
static bool redact_next_word(struct redactor *r, size_t n, bool is_secret)
{
	const char *next = r->p + r->i + n;
	size_t left = r->len - r->i - n, blanks, value;
	enum redact_lead lead = redact_lead(r->p + r->i, n, is_secret);

	if (lead == LEAD_NONE)
		return false;
	blanks = redact_blanks(next, left);
	if (blanks == 0 || blanks == left)
		return false;
	value = redact_value(next + blanks, left - blanks, r->quote);
	if (!redact_is_led(lead, next + blanks, value))
		return false;
	redact_keep(r, n + blanks);
	redact_drop(r, redact_span(r->p + r->i, r->len - r->i, r->quote));
	return true;
}

/* One word and what belongs to it. */
static void redact_word(struct redactor *r, size_t n)
{
	const char *word = r->p + r->i;
	size_t left = r->len - r->i - n, token;
	bool is_secret = name_is_secret(word, n);
	size_t gap = is_secret ? redact_separator(word + n, left) : 0;

	/* A URL's scheme is no name, and "key:" at the very end has no value. */
	if (gap > 0 && gap < left && !(left > 2 && memcmp(word + n, "://", 3) == 0)) {
		bool is_header = redact_is_header(word, n) && word[n] == ':';
		char quote = r->quote;

		redact_keep(r, n + gap);
		redact_drop(r, is_header ? redact_line(r->p + r->i, r->len - r->i, quote)
					 : redact_span(r->p + r->i, r->len - r->i, r->quote));
		return;
	}
	if (redact_next_word(r, n, is_secret))
		return;
	token = redact_find_token(word, n);
	if (token < n) {
		redact_keep(r, token);
		redact_drop(r, n - token);
	} else if (redact_has_random(word, n)) {
		redact_drop(r, n);
	} else {
		redact_keep(r, n);
	}
}

/* Text without private keys. */
static void redact_plain(struct buf *out, const char *text, size_t len)
{
	struct redactor r = {.out = out, .p = text, .len = len};

	while (r.i < len) {
		size_t n = 0;

		while (r.i + n < len && redact_is_word(text[r.i + n]))
			n++;
		if (n > 0) {
			redact_word(&r, n);
		} else if (len - r.i > 3 && memcmp(text + r.i, "://", 3) == 0) {
			redact_keep(&r, 3);
			redact_userinfo(&r);
		} else {
			redact_keep(&r, 1);
		}
	}
}

/* From "-----BEGIN" to behind the dashes of the matching end, or to the end of the text. */
static size_t redact_key_block(const char *p, size_t len)
{
	const char *end = memmem(p, len, "-----END", 8);
	const char *dashes;
	size_t n;

	if (!end)
		return len;
	n = (size_t)(end - p) + 8;
	dashes = memmem(p + n, len - n < 80 ? len - n : 80, "-----", 5);
	return dashes ? (size_t)(dashes - p) + 5 : n;
}

void redact_text(struct buf *out, const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		const char *key = memmem(text + i, len - i, "-----BEGIN", 10);
		size_t plain = key ? (size_t)(key - text) - i : len - i;

		redact_plain(out, text + i, plain);
		i += plain;
		if (key) {
			buf_str(out, REDACTED);
			i += redact_key_block(text + i, len - i);
		}
	}
}

/* NAME=VALUE, --name=VALUE or "Name: value" with a secret's name at the word's very start: the length up
 * to the value, else 0. */
static size_t redact_whole_value(const char *word, size_t len)
{
	size_t n = 0, gap;

	while (n < len && redact_is_word(word[n]))
		n++;
	if (n == 0 || !name_is_secret(word, n))
		return 0;
	gap = redact_separator(word + n, len - n);
	return gap && n + gap < len && memcmp(word + n, "://", gap < 3 ? gap : 3) != 0 ? n + gap
										       : 0;
}

void redact_words(struct buf *out, char *const *argv)
{
	enum redact_lead lead = LEAD_NONE;

	for (size_t i = 0; argv[i]; i++) {
		struct buf word = BUF_INIT(2 * out->max);
		const char *w = argv[i];
		size_t len = strlen(w), whole = redact_whole_value(w, len);

		if (i > 0)
			buf_char(out, ' ');
		if (len > 0 && redact_is_led(lead, w, len)) {
			buf_str(&word, REDACTED);
		} else if (whole) {
			buf_add(&word, w, whole);
			buf_str(&word, REDACTED);
		} else {
			redact_text(&word, w, len);
		}
		str_shell_quote(out, buf_cstr(&word));
		lead = memchr(w, '=', len) ? LEAD_NONE
					   : redact_lead(w, len, name_is_secret(w, len));
		buf_done(&word);
	}
}
