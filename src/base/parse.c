/* SPDX-License-Identifier: Apache-2.0 */
/* See parse.h.  The only file that may call strto*(). */
#include "base/parse.h"

#include "base/darwin.h"
#include "base/mem.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

static bool parse_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int parse_int(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	const char *p = s;
	char *end = NULL;
	long long v;

	if (*p == '-')
		p++;
	if (!parse_is_digit(*p))
		return -EINVAL;
	if (p[0] == '0' && p[1] != '\0')
		return -EINVAL; /* 010 is octal to some readers and decimal to others */
	errno = 0;
	v = strtoll(s, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE || v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_double(const char *s, double min, double max, double *ret)
{
	static const char allowed[] = "0123456789+-.eE";
	char *end = NULL;
	locale_t c_locale;
	double v;

	/* strtod() takes inf, nan and hex; those have letters outside this set. */
	if (!parse_is_digit(s[*s == '-']) || s[strspn(s, allowed)] != '\0')
		return -EINVAL;
	/* A program that uses libcordon may have set a locale whose decimal point is a comma. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	errno = 0;
	v = strtod_l(s, &end, c_locale);
	freelocale(c_locale); /* does not touch errno: the C locale is a constant of libc */
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE || !(v >= min && v <= max))
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	static const char units[] = "KkMmGgTt";
	uint64_t v = 0;
	const char *p = s, *unit;

	if (!parse_is_digit(*p))
		return -EINVAL;
	for (; parse_is_digit(*p); p++) {
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	if (*p && (unit = strchr(units, *p))) {
		unsigned shift = 10u * (unsigned)((unit - units) / 2 + 1);

		if (v > UINT64_MAX >> shift)
			return -ERANGE;
		v <<= shift;
		p++;
		if (*p == 'i')
			p++;
	}
	if (*p == 'B' || *p == 'b')
		p++;
	if (*p != '\0')
		return -EINVAL;
	if (v > INT64_MAX)
		return -ERANGE;
	*ret_bytes = v;
	return 0;
}

int parse_duration(const char *s, int64_t *ret_ms)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"ms", 1},    {"s", 1000},    {"", 1000},
		     {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
	int64_t whole = 0, fraction = 0, scale = 1;
	const char *p = s;

	if (!parse_is_digit(*p))
		return -EINVAL;
	for (; parse_is_digit(*p); p++)
		if (__builtin_mul_overflow(whole, (int64_t)10, &whole) ||
		    __builtin_add_overflow(whole, (int64_t)(*p - '0'), &whole))
			return -ERANGE;
	if (*p == '.') {
		p++;
		if (!parse_is_digit(*p))
			return -EINVAL;
		for (; parse_is_digit(*p); p++) {
			if (scale >= 1000000)
				return -EINVAL;
			fraction = fraction * 10 + (*p - '0');
			scale *= 10;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		/* Up, never down: a positive time must not become 0, which may mean "no limit". */
		int64_t ms, part = (fraction * units[i].ms + scale - 1) / scale;

		if (strcmp(p, units[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].ms, &ms) ||
		    __builtin_add_overflow(ms, part, &ms))
			return -ERANGE;
		*ret_ms = ms;
		return 0;
	}
	return -EINVAL;
}

/* Is s the lower-case word, or the word capitalised, or all of it in capitals? */
static bool parse_is_word(const char *s, const char *word)
{
	size_t n = strlen(word), upper = 0;

	if (strlen(s) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool is_upper = s[i] == word[i] - 'a' + 'A';

		if (s[i] != word[i] && !is_upper)
			return false;
		if (is_upper && upper++ != i)
			return false;
	}
	return upper <= 1 || upper == n;
}

int parse_bool(const char *s, bool *ret)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"true", true}, {"false", false}, {"yes", true},
		     {"no", false},  {"on", true},     {"off", false}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (parse_is_word(s, words[i].word)) {
			*ret = words[i].value;
			return 0;
		}
	}
	return -EINVAL;
}

int parse_base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}
