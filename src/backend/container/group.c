/* SPDX-License-Identifier: Apache-2.0 */
/* See group.h. */
#include "backend/container/group.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUP_TEXT_MAX 4096
#define GROUP_WEIGHT_USUAL 100 /* what a group of version 2 has that nobody gave one */
#define GROUP_SHARES_LOW 1000
#define GROUP_SHARES_HIGH 2623

/* One limit: its file in a group of version 2, and in the hierarchies of version 1. */
struct group_limit {
	const char *what;
	const char *file;
	const char *file_v1;
	const char *
		period_v1; /* NULL, or what the number is a part of; version 2 has it as a second word */
};

/* The text of a file below dir.  0 or -errno. */
static int group_read(const char *dir, const char *name, char ret[static GROUP_TEXT_MAX])
{
	char path[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, ret, GROUP_TEXT_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

bool group_is_oom(const char *dir)
{
	static const char *const files[] = {"memory.events", "memory/memory.oom_control"};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char text[GROUP_TEXT_MAX];
		const char *count;

		if (group_read(dir, files[i], text) < 0 || !*text)
			continue;
		count = strstr(text, "oom_kill ");
		return count && count[strlen("oom_kill ")] != '0';
	}
	return false;
}

/* Is the word a number up to most?  "max", and the -1 of version 1, are none. */
static bool group_is_within(const char *word, uint64_t most)
{
	int64_t value;

	return word && parse_int(word, 1, INT64_MAX, &value) == 0 && (uint64_t)value <= most;
}

/* Is quota at most so many hundredths of period?  Neither of them is large: both are microseconds of a second or so. */
static bool group_is_part(const char *quota, const char *period, uint64_t percent)
{
	int64_t whole;

	return period && parse_int(period, 1, INT32_MAX, &whole) == 0 && percent <= INT32_MAX &&
	       group_is_within(quota, (uint64_t)whole * percent / 100);
}

static int group_check(const char *dir, const struct group_limit *l, uint64_t most)
{
	char text[GROUP_TEXT_MAX];
	char period[GROUP_TEXT_MAX] = "";
	char *rest = text;
	char *second = period;
	const char *first;
	int r = group_read(dir, l->file, text);

	if (r < 0) {
		r = group_read(dir, l->file_v1, text);
		if (r == 0 && l->period_v1)
			r = group_read(dir, l->period_v1, period);
		if (r < 0)
			return -ENOENT;
	}
	first = strsep(&rest, " \n");
	if (!l->period_v1)
		return group_is_within(first, most) ? 0 : -EPERM;
	if (!*period && rest)
		second = rest;
	return group_is_part(first, strsep(&second, "\n"), most) ? 0 : -EPERM;
}

/* Version 2 has weights, and runtimes two ways to make one of shares.  Either of them leaves the kernel's own weight for
 * numbers around what is usual, and none else. */
static bool group_is_weight(const char *word, uint64_t shares)
{
	int64_t weight;

	if (!word || parse_int(word, 1, 10000, &weight) < 0)
		return false;
	if (shares < GROUP_SHARES_LOW)
		return weight < GROUP_WEIGHT_USUAL;
	return shares <= GROUP_SHARES_HIGH || weight > GROUP_WEIGHT_USUAL;
}

static int group_check_shares(const char *dir, uint64_t shares)
{
	char text[GROUP_TEXT_MAX];
	char *rest = text;

	if (group_read(dir, "cpu.weight", text) == 0)
		return group_is_weight(strsep(&rest, "\n"), shares) ? 0 : -EPERM;
	if (group_read(dir, "cpu/cpu.shares", text) < 0)
		return -ENOENT;
	return group_is_within(strsep(&rest, "\n"), shares) ? 0 : -EPERM;
}

int group_holds(const char *dir, const struct plan *plan, unsigned own_processes,
		const char **ret_what)
{
	static const struct group_limit memory = {
		.what = "memory", .file = "memory.max", .file_v1 = "memory/memory.limit_in_bytes"};
	static const struct group_limit processes = {
		.what = "processes", .file = "pids.max", .file_v1 = "pids/pids.max"};
	static const struct group_limit processor = {.what = "processor time",
						     .file = "cpu.max",
						     .file_v1 = "cpu/cpu.cfs_quota_us",
						     .period_v1 = "cpu/cpu.cfs_period_us"};
	const struct {
		const struct group_limit *limit;
		const struct plan_limit *asked;
		uint64_t more;
	} rows[] = {{&memory, &plan->memory_bytes, 0},
		    {&processes, &plan->max_processes, own_processes},
		    {&processor, &plan->cpu_percent, 0}};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(rows); i++) {
		if (!rows[i].asked->is_given)
			continue;
		*ret_what = rows[i].limit->what;
		r = group_check(dir, rows[i].limit, rows[i].asked->value + rows[i].more);
	}
	if (r == 0 && plan->cpu_shares.is_given) {
		*ret_what = "processor shares";
		r = group_check_shares(dir, plan->cpu_shares.value);
	}
	return r;
}
