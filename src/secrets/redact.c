/* SPDX-License-Identifier: Apache-2.0 */
/* See redact.h.  One pass over words; no regular expressions, so its cost is bounded by the text. */
#include "secrets/redact.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Names whose value is a secret, matched anywhere in the name, without regard to case. */
static const char *const redact_names[] = {
	"password", "passwd", "secret",     "token",   "apikey",     "api_key",
	"api-key",  "auth",   "credential", "private", "access_key", "access-key",
	"session",  "cookie", "bearer",     "pass",    "pwd",        "key",
};

/* Beginnings of tokens that are secrets whatever stands around them. */
static const char *const redact_prefixes[] = {
	"AKIA",    "ASIA",   "ghp_",  "gho_", "ghu_",       "ghs_",  "ghr_",      "github_pat_",
	"glpat-",  "sk-",    "sk_",   "rk_",  "pk_live_",   "xoxb-", "xoxp-",     "xoxa-",
	"xapp-",   "AIza",   "ya29.", "eyJ",  "npm_",       "pypi-", "SG.",       "hf_",
	"dop_v1_", "shpat_", "sq0",   "EAA",  "-----BEGIN", "hvs.",  "dckr_pat_", "age-secret-key-",
};

enum {
	REDACT_WORD_MIN = 6,    /* shorter values after a name are taken out too, but not alone */
	REDACT_RANDOM_MIN = 20, /* a lone word this long may be a secret */
	REDACT_RANDOM_RATE = 4, /* a change of class every so many characters makes it one */
};

static bool redact_is_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_-+/=.~%", c);
}

static bool redact_name_is_secret(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(redact_names); i++) {
		size_t n = strlen(redact_names[i]);

		for (size_t at = 0; at + n <= len; at++)
			if (strncasecmp(name + at, redact_names[i], n) == 0)
				return true;
	}
	return false;
}

static bool redact_prefix_is_secret(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(redact_prefixes); i++) {
		size_t n = strlen(redact_prefixes[i]);

		if (len >= n + REDACT_WORD_MIN && strncmp(word, redact_prefixes[i], n) == 0)
			return true;
	}
	return false;
}

/* Long, and changing between upper case, lower case and digits more often than words and file names
 * do. */
static bool redact_is_random(const char *word, size_t len)
{
	size_t changes = 0, digits = 0;
	int before = 0;

	if (len < REDACT_RANDOM_MIN || word[0] == '/')
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

/* The length of the value that starts at p: a quoted string, or up to a blank. */
static size_t redact_value(const char *p, size_t len)
{
	size_t n = 0;

	if (len && (p[0] == '"' || p[0] == '\'')) {
		for (n = 1; n < len && p[n] != p[0]; n++)
			;
		return n < len ? n + 1 : n;
	}
	while (n < len && !isspace((unsigned char)p[n]) && !strchr("&;|,", p[n]))
		n++;
	return n;
}

/* From "-----BEGIN" to the end of the matching line, or to the end of the text. */
static size_t redact_key_block(const char *p, size_t len)
{
	const char *end = memmem(p, len, "-----END", 8);
	size_t n = end ? (size_t)(end - p) + 8 : len;

	while (n < len && p[n] != '\n')
		n++;
	return n;
}

/* Is the text after a word a separator that gives it a value?  Returns its length. */
static size_t redact_separator(const char *p, size_t len, bool is_option)
{
	size_t n = 0;

	while (n < len && (p[n] == ' ' || p[n] == '"' || p[n] == '\''))
		n++;
	if (n < len && (p[n] == '=' || p[n] == ':')) {
		n++;
		while (n < len && p[n] == ' ')
			n++;
		return n;
	}
	/* --password VALUE */
	return is_option && n > 0 && n < len ? n : 0;
}

static size_t redact_name_len(const char *word, size_t len)
{
	const char *equals = memchr(word, '=', len);

	return equals ? (size_t)(equals - word) : len;
}

void redact_text(struct buf *out, const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = 0, name;

		if (len - i >= 10 && memcmp(text + i, "-----BEGIN", 10) == 0) {
			buf_str(out, "[redacted]");
			i += redact_key_block(text + i, len - i);
			continue;
		}
		while (i + n < len && redact_is_word(text[i + n]))
			n++;
		if (n == 0) {
			buf_char(out, text[i++]);
			continue;
		}
		/* NAME=VALUE is one word here: cut it at the first '='. */
		name = redact_name_len(text + i, n);
		if (redact_name_is_secret(text + i, name)) {
			size_t gap =
				redact_separator(text + i + name, len - i - name, text[i] == '-');

			if (gap > 0 && i + name + gap < len) {
				buf_add(out, text + i, name + gap);
				buf_str(out, "[redacted]");
				i += name + gap;
				i += redact_value(text + i, len - i);
				continue;
			}
		}
		if (redact_prefix_is_secret(text + i, n) || redact_is_random(text + i, n))
			buf_str(out, "[redacted]");
		else
			buf_add(out, text + i, n);
		i += n;
	}
}
