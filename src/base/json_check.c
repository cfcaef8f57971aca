/* SPDX-License-Identifier: Apache-2.0 */
/* See json_check.h.  Recursive descent after RFC 8259; the depth is bounded by LIMIT_JSON_DEPTH. */
#include "base/json_check.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct json_check {
	const char *p;
	const char *start;
	const char *end;
	size_t keys; /* of all objects that are open */
	struct {
		uint32_t at; /* from start: half the size of pointers, and this is on the stack */
		uint32_t len;
	} key[JSON_CHECK_KEYS];
};

static int json_check_value(struct json_check *c, unsigned depth);

static void json_check_space(struct json_check *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool json_check_take(struct json_check *c, char want)
{
	if (c->p >= c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static bool json_check_word(struct json_check *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* Four hexadecimal digits.  Gives -1 when they are not there. */
static int json_check_hex4(struct json_check *c)
{
	int v = 0;

	if (c->end - c->p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char ch = *c->p++;
		int digit = ch >= '0' && ch <= '9'   ? ch - '0'
			    : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
			    : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
						     : -1;

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/* After a backslash in a key: only the spelling that json_quote() gives, so that equal keys are equal
 * bytes. */
static int json_check_key_escape(struct json_check *c)
{
	static const char hex[] = "0123456789abcdef";
	int code;

	if (c->p < c->end && *c->p && strchr("\"\\nrt", *c->p)) {
		c->p++;
		return 0;
	}
	if (!json_check_word(c, "u00") || c->end - c->p < 2 || !c->p[1] || !strchr(hex, c->p[1]))
		return -EINVAL;
	c->p -= 2;
	code = json_check_hex4(c);
	if (code == '\n' || code == '\r' || code == '\t')
		return -EINVAL;
	return (code > 0 && code < 0x20) || code == 0x7f ? 0 : -EINVAL;
}

/* After a backslash in a value. */
static int json_check_escape(struct json_check *c)
{
	int code;

	if (c->p >= c->end)
		return -EINVAL;
	if (*c->p != 'u')
		return strchr("\"\\/bfnrt", *c->p++) && c->p[-1] != '\0' ? 0 : -EINVAL;
	c->p++;
	code = json_check_hex4(c);
	if (code < 0 || (code >= 0xdc00 && code <= 0xdfff))
		return -EINVAL;
	if (code < 0xd800 || code > 0xdbff)
		return 0;
	if (!json_check_word(c, "\\u"))
		return -EINVAL;
	code = json_check_hex4(c);
	return code >= 0xdc00 && code <= 0xdfff ? 0 : -EINVAL;
}

static int json_check_string(struct json_check *c, bool is_key)
{
	if (!json_check_take(c, '"'))
		return -EINVAL;
	while (c->p < c->end) {
		unsigned char ch = (unsigned char)*c->p;
		uint32_t code = 0;
		size_t n;
		int r;

		if (ch == '"') {
			c->p++;
			return 0;
		}
		if (ch < 0x20)
			return -EINVAL;
		if (ch == '\\') {
			c->p++;
			r = is_key ? json_check_key_escape(c) : json_check_escape(c);
			if (r < 0)
				return r;
			continue;
		}
		n = ch < 0x80 ? 1 : utf8_decode(c->p, (size_t)(c->end - c->p), &code);
		if (n == 0)
			return -EILSEQ;
		c->p += n;
	}
	return -EINVAL;
}

static size_t json_check_digits(struct json_check *c)
{
	const char *start = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return (size_t)(c->p - start);
}

static int json_check_number(struct json_check *c)
{
	bool is_real = false;
	const char *start;
	size_t n;

	(void)json_check_take(c, '-'); /* optional */
	start = c->p;
	n = json_check_digits(c);
	if (n == 0 || (n > 1 && *start == '0'))
		return -EINVAL;
	if (json_check_take(c, '.')) {
		is_real = true;
		if (json_check_digits(c) == 0)
			return -EINVAL;
	}
	if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
		size_t e;

		c->p++;
		if (!json_check_take(c, '+'))
			(void)json_check_take(c, '-'); /* optional */
		e = json_check_digits(c);
		if (e == 0 || e > 2)
			return e == 0 ? -EINVAL : -E2BIG;
		is_real = true;
	}
	/* 18 digits always fit into int64; 200 and an exponent of 99 always into a double. */
	return n > (is_real ? 200U : 18U) ? -E2BIG : 0;
}

/* Remembers a key; -EEXIST when an earlier one of the same object (from base on) equals it. */
static int json_check_remember(struct json_check *c, size_t base, const char *at, size_t len)
{
	for (size_t i = base; i < c->keys; i++)
		if (c->key[i].len == len && memcmp(c->start + c->key[i].at, at, len) == 0)
			return -EEXIST;
	if (c->keys == JSON_CHECK_KEYS)
		return -E2BIG;
	c->key[c->keys].at = (uint32_t)(at - c->start);
	c->key[c->keys++].len = (uint32_t)len;
	return 0;
}

static int json_check_object(struct json_check *c, unsigned depth)
{
	size_t base = c->keys;
	int r;

	c->p++;
	json_check_space(c);
	if (json_check_take(c, '}'))
		return 0;
	do {
		const char *at;

		json_check_space(c);
		at = c->p;
		r = json_check_string(c, /* is_key= */ true);
		if (r == 0)
			r = json_check_remember(c, base, at, (size_t)(c->p - at));
		if (r < 0)
			return r;
		json_check_space(c);
		if (!json_check_take(c, ':'))
			return -EINVAL;
		r = json_check_value(c, depth + 1);
		if (r < 0)
			return r;
	} while (json_check_take(c, ','));
	c->keys = base;
	return json_check_take(c, '}') ? 0 : -EINVAL;
}

static int json_check_array(struct json_check *c, unsigned depth)
{
	int r;

	c->p++;
	json_check_space(c);
	if (json_check_take(c, ']'))
		return 0;
	do {
		r = json_check_value(c, depth + 1);
		if (r < 0)
			return r;
	} while (json_check_take(c, ','));
	return json_check_take(c, ']') ? 0 : -EINVAL;
}

/* One value and the blanks around it. */
static int json_check_value(struct json_check *c, unsigned depth)
{
	int r;

	if (depth > LIMIT_JSON_DEPTH)
		return -E2BIG;
	json_check_space(c);
	if (c->p >= c->end)
		return -EINVAL;
	switch (*c->p) {
	case '{':
		r = json_check_object(c, depth);
		break;
	case '[':
		r = json_check_array(c, depth);
		break;
	case '"':
		r = json_check_string(c, /* is_key= */ false);
		break;
	case 't':
		r = json_check_word(c, "true") ? 0 : -EINVAL;
		break;
	case 'f':
		r = json_check_word(c, "false") ? 0 : -EINVAL;
		break;
	case 'n':
		r = json_check_word(c, "null") ? 0 : -EINVAL;
		break;
	default:
		r = json_check_number(c);
		break;
	}
	if (r == 0)
		json_check_space(c);
	return r;
}

int json_check(const char *s, size_t len)
{
	struct json_check c;
	int r;

	if (len > UINT32_MAX)
		return -E2BIG;
	c.p = c.start = s;
	c.end = s + len;
	c.keys = 0;
	r = json_check_value(&c, 1);
	if (r < 0)
		return r;
	return c.p == c.end ? 0 : -EINVAL;
}

bool json_check_depth(const char *text, size_t len)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
		} else if (text[i] == '"') {
			in_string = true;
		} else if (text[i] == '{' || text[i] == '[') {
			if (++depth > LIMIT_JSON_DEPTH)
				return false;
		} else if ((text[i] == '}' || text[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return true;
}
