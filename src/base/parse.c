/* SPDX-License-Identifier: Apache-2.0 */
/* See parse.h.  The only file that may call strto*(). */
#include "base/parse.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

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
	double v;

	/* strtod() takes inf, nan and hex; those have letters outside this set. */
	if (!parse_is_digit(s[*s == '-']) || s[strspn(s, allowed)] != '\0')
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE || !(v >= min && v <= max))
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	uint64_t v = 0;
	const char *p = s, *unit;

	if (!parse_is_digit(*p))
		return -EINVAL;
	for (; parse_is_digit(*p); p++) {
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	if (*p && (unit = strchr(units, toupper((unsigned char)*p)))) {
		unsigned shift = 10u * (unsigned)(unit - units + 1);

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
	} units[] = {{"ms", 1},       {"s", 1000},      {"", 1000},
		     {"m", 60000},    {"h", 3600000},   {"d", 86400000}};
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
		int64_t ms;

		if (strcmp(p, units[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].ms, &ms) ||
		    __builtin_add_overflow(ms, fraction * units[i].ms / scale, &ms))
			return -ERANGE;
		*ret_ms = ms;
		return 0;
	}
	return -EINVAL;
}

int parse_bool(const char *s, bool *ret)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"true", true}, {"false", false}, {"yes", true},
		     {"no", false},  {"on", true},     {"off", false}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcasecmp(s, words[i].word) == 0) {
			*ret = words[i].value;
			return 0;
		}
	}
	return -EINVAL;
}
