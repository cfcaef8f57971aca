/* SPDX-License-Identifier: Apache-2.0 */
/* The control group that a container is shown: whether what was asked for is in force there, in files of either version. */
#include "backend/container/group.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define OWN 1 /* processes of ours */

static char top[] = "/tmp/test-group-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	if (!text) {
		(void)unlink(path);
		return;
	}
	assert_int_equal(io_write_file_at(AT_FDCWD, path, text, strlen(text), 0600), 0);
}

static int setup(void **state)
{
	static const char *const names[] = {"memory", "pids", "cpu"};

	(void)state;
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return prune_tree(AT_FDCWD, top);
}

static const struct plan asks_memory = {.memory_bytes = {true, 65536}};
static const struct plan asks_processes = {.max_processes = {true, 10}};
static const struct plan asks_processor = {.cpu_percent = {true, 50}};
static const struct plan asks_few = {.cpu_shares = {true, 512}};
static const struct plan asks_usual = {.cpu_shares = {true, 1024}};
static const struct plan asks_many = {.cpu_shares = {true, 4096}};

/* Each file with its content (NULL: there is none; the second for a period of version 1), and what is to be said. */
static const struct {
	const struct plan *plan;
	const char *what;
	const char *file;
	const char *text;
	const char *more;
	const char *more_text;
	int want;
} rows[] = {
	{&asks_memory, "memory", "memory.max", "65536\n", NULL, NULL, 0},
	{&asks_memory, "memory", "memory.max", "4096\n", NULL, NULL, 0},
	{&asks_memory, "memory", "memory.max", "65537\n", NULL, NULL, -EPERM},
	{&asks_memory, "memory", "memory.max", "max\n", NULL, NULL, -EPERM},
	{&asks_memory, "memory", "memory.max", "", NULL, NULL, -EPERM},
	{&asks_memory, "memory", "memory.max", NULL, NULL, NULL, -ENOENT},
	{&asks_memory, "memory", "memory/memory.limit_in_bytes", "65536\n", NULL, NULL, 0},
	{&asks_memory, "memory", "memory/memory.limit_in_bytes", "9223372036854771712\n", NULL,
	 NULL, -EPERM},
	{&asks_processes, "processes", "pids.max", "11\n", NULL, NULL, 0},
	{&asks_processes, "processes", "pids.max", "12\n", NULL, NULL, -EPERM},
	{&asks_processes, "processes", "pids/pids.max", "max\n", NULL, NULL, -EPERM},
	{&asks_processes, "processes", "memory.max", "11\n", NULL, NULL, -ENOENT},
	{&asks_processor, "processor time", "cpu.max", "50000 100000\n", NULL, NULL, 0},
	{&asks_processor, "processor time", "cpu.max", "50001 100000\n", NULL, NULL, -EPERM},
	{&asks_processor, "processor time", "cpu.max", "max 100000\n", NULL, NULL, -EPERM},
	{&asks_processor, "processor time", "cpu.max", "50000\n", NULL, NULL, -EPERM},
	{&asks_processor, "processor time", "cpu/cpu.cfs_quota_us", "50000\n",
	 "cpu/cpu.cfs_period_us", "100000\n", 0},
	{&asks_processor, "processor time", "cpu/cpu.cfs_quota_us", "-1\n", "cpu/cpu.cfs_period_us",
	 "100000\n", -EPERM},
	{&asks_processor, "processor time", "cpu/cpu.cfs_quota_us", "50000\n",
	 "cpu/cpu.cfs_period_us", "50000\n", -EPERM},
	{&asks_processor, "processor time", "cpu/cpu.cfs_quota_us", "50000\n", NULL, NULL, -ENOENT},
	{&asks_few, "processor shares", "cpu/cpu.shares", "512\n", NULL, NULL, 0},
	{&asks_few, "processor shares", "cpu/cpu.shares", "1024\n", NULL, NULL, -EPERM},
	{&asks_few, "processor shares", "cpu.weight", "20\n", NULL, NULL, 0},
	{&asks_few, "processor shares", "cpu.weight", "59\n", NULL, NULL, 0},
	{&asks_few, "processor shares", "cpu.weight", "100\n", NULL, NULL, -EPERM},
	{&asks_few, "processor shares", "cpu.weight", "", NULL, NULL, -EPERM},
	{&asks_few, "processor shares", "cpu.weight", NULL, NULL, NULL, -ENOENT},
	{&asks_usual, "processor shares", "cpu.weight", "39\n", NULL, NULL, 0},
	{&asks_usual, "processor shares", "cpu.weight", "100\n", NULL, NULL, 0},
	{&asks_many, "processor shares", "cpu.weight", "157\n", NULL, NULL, 0},
	{&asks_many, "processor shares", "cpu.weight", "100\n", NULL, NULL, -EPERM},
};

static void test_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct plan nothing = {0};
		const char *what = NULL;

		put(rows[i].file, rows[i].text);
		if (rows[i].more)
			put(rows[i].more, rows[i].more_text);
		print_message("%s: %s\n", rows[i].file, rows[i].text ? rows[i].text : "none");
		assert_int_equal(group_holds(top, rows[i].plan, OWN, &what), rows[i].want);
		assert_string_equal(what, rows[i].what);
		assert_int_equal(group_holds(top, &nothing, OWN, &what), 0);
		put(rows[i].file, NULL);
		if (rows[i].more)
			put(rows[i].more, NULL);
	}
}

/* One that holds does not stand for another. */
static void test_each(void **state)
{
	const struct plan both = {.memory_bytes = {true, 65536}, .max_processes = {true, 10}};
	const char *what = NULL;

	(void)state;
	put("memory.max", "65536\n");
	put("pids.max", "max\n");
	assert_int_equal(group_holds(top, &both, OWN, &what), -EPERM);
	assert_string_equal(what, "processes");
	put("pids.max", "11\n");
	assert_int_equal(group_holds(top, &both, OWN, &what), 0);
	put("memory.max", NULL);
	put("pids.max", NULL);
}

static void test_oom(void **state)
{
	(void)state;
	assert_false(group_is_oom(top));
	put("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 0\n");
	assert_false(group_is_oom(top));
	put("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n");
	assert_true(group_is_oom(top));
	put("memory.events", NULL);
	put("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	assert_true(group_is_oom(top));
	put("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
	assert_false(group_is_oom(top));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_oom),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
