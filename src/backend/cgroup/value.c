/* SPDX-License-Identifier: Apache-2.0 */
/* See value.h. */
#include "backend/cgroup/value.h"

#include "base/parse.h"

#include <errno.h>
#include <string.h>

#define VALUE_DIGITS 24 /* more than a 64-bit number has */

uint64_t cgroup_weight_of_shares(uint64_t shares)
{
	uint64_t weight;

	if (shares > UINT64_C(1024) * 100)
		return 10000;
	weight = shares * 100 / 1024;
	return weight < 1 ? 1 : weight;
}

uint64_t cgroup_quota_of_percent(uint64_t percent)
{
	return percent * (CGROUP_PERIOD_US / 100);
}

/* The number from s to the end of its line. */
static int value_line(const char *s, uint64_t *ret)
{
	size_t len = strcspn(s, "\n");
	char digits[VALUE_DIGITS];
	int64_t v;

	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, s, len);
	digits[len] = '\0';
	if (strcmp(digits, "max") == 0) {
		*ret = UINT64_MAX;
		return 0;
	}
	if (parse_int(digits, 0, INT64_MAX, &v) < 0)
		return -EINVAL;
	*ret = (uint64_t)v;
	return 0;
}

int cgroup_number(const char *text, uint64_t *ret)
{
	const char *end = strchr(text, '\n');

	return end && end[1] != '\0' ? -EINVAL : value_line(text, ret);
}

int cgroup_stat(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, key, len) == 0 && p[len] == ' ')
			return value_line(p + len + 1, ret);
	return -ENOENT;
}

bool cgroup_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \n");

		if (n == len && strncmp(p, word, len) == 0)
			return true;
		p += n;
		p += strspn(p, " \n");
	}
	return false;
}
