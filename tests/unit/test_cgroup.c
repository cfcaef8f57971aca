/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups: the parsers and conversions by rows, the values of version 2 against a directory of plain
 * files (the controllers of a machine are in one version only, so the other's files cannot be had), and
 * the rest live where we are root.
 */
#include "backend/cgroup/cgroup.h"
#include "backend/cgroup/dir.h"
#include "backend/cgroup/layout.h"
#include "backend/cgroup/limit.h"
#include "backend/cgroup/parent.h"
#include "backend/cgroup/value.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/proc.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MOUNT_TMPFS "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
#define MOUNT_MEMORY "35 31 0:32 / /cg/memory rw shared:9 master:2 - cgroup cgroup rw,memory\n"
#define MOUNT_CPU "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
#define MOUNT_CPUSET "33 31 0:30 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
#define MOUNT_V2 "41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n"

static void test_layout(void **state)
{
	/* want: memory, pids, cpu, freezer, version 2. */
	static const struct {
		const char *what;
		const char *mounts;
		const char *self;
		int want;
		const char *paths[5];
	} rows[] = {
		{"nothing", "", "", 0, {0}},
		{"version 1", MOUNT_TMPFS MOUNT_MEMORY, "4:memory:/a/b\n", 0, {"/cg/memory/a/b"}},
		{"at the root", MOUNT_MEMORY, "4:memory:/\n", 0, {"/cg/memory"}},
		{"no last newline", MOUNT_MEMORY, "4:memory:/", 0, {"/cg/memory"}},
		{"shared hierarchy", MOUNT_CPU, "1:cpu,cpuacct:/x\n", 0, {[2] = "/cg/cpu/x"}},
		{"freezer",
		 "37 31 0:34 / /cg/freezer rw - cgroup cgroup rw,freezer\n",
		 "6:freezer:/f\n",
		 0,
		 {[3] = "/cg/freezer/f"}},
		{"cpuset is not cpu", MOUNT_CPUSET, "3:cpuset:/\n", 0, {0}},
		{"a hierarchy without controllers", MOUNT_V2, "9:name=memory:/\n", 0, {0}},
		{"version 2", MOUNT_V2, "0::/user/1\n", 0, {[4] = "/cg/unified/user/1"}},
		{"hybrid",
		 MOUNT_MEMORY MOUNT_V2,
		 "4:memory:/m\n0::/u\n",
		 0,
		 {[0] = "/cg/memory/m", [4] = "/cg/unified/u"}},
		{"a colon in the group", MOUNT_V2, "0::/a:b\n", 0, {[4] = "/cg/unified/a:b"}},
		{"a container's part",
		 "1 2 0:3 /docker/c /cg rw - cgroup2 x rw\n",
		 "0::/docker/c/d\n",
		 0,
		 {[4] = "/cg/d"}},
		{"exactly that part",
		 "1 2 0:3 /docker/c /cg rw - cgroup2 x rw\n",
		 "0::/docker/c\n",
		 0,
		 {[4] = "/cg"}},
		{"another's part",
		 "1 2 0:3 /docker/c /cg rw - cgroup2 x rw\n",
		 "0::/docker/cd\n",
		 0,
		 {0}},
		{"another's part, then all of it",
		 "1 2 0:3 /other /no rw - cgroup2 x rw\n" MOUNT_V2,
		 "0::/a\n",
		 0,
		 {[4] = "/cg/unified/a"}},
		{"mounted from above our namespace",
		 "1 2 0:3 /.. /cg rw - cgroup2 x rw\n",
		 "0::/a\n",
		 0,
		 {0}},
		{"we are outside our namespace", MOUNT_V2, "0::/../a\n", 0, {0}},
		{"both outside, the same way",
		 "1 2 0:3 /../p /cg rw - cgroup2 x rw\n",
		 "0::/../p/q\n",
		 0,
		 {[4] = "/cg/q"}},
		{"a slash at the end of the root",
		 "1 2 0:3 /../ /cg rw - cgroup2 x rw\n",
		 "0::/..",
		 0,
		 {0}},
		{"escaped blanks",
		 "1 2 0:3 /a\\040b /c\\011d\\134 rw - cgroup2 x rw\n",
		 "0::/a b/e\n",
		 0,
		 {[4] = "/c\td\\/e"}},
		{"bad escape", "1 2 0:3 / /c\\04 rw - cgroup2 x rw\n", "0::/\n", -EINVAL, {0}},
		{"escaped nothing", "1 2 0:3 / /c\\000 rw - cgroup2 x rw\n", "0::/\n", -EINVAL, {0}},
		{"relative mount point", "1 2 0:3 / c rw - cgroup2 x rw\n", "0::/\n", -EINVAL, {0}},
		{"no dash", "1 2 0:3 / /c rw cgroup2 x rw\n", "0::/\n", -EINVAL, {0}},
		{"too few fields", "1 2 0:3 / /c rw - cgroup2 x\n", "0::/\n", -EINVAL, {0}},
		{"too many fields", "1 2 0:3 / /c rw - cgroup2 x rw rw\n", "0::/\n", -EINVAL, {0}},
		{"no number", "a 2 0:3 / /c rw - cgroup2 x rw\n", "0::/\n", -EINVAL, {0}},
		{"an empty line", MOUNT_V2 "\n" MOUNT_V2, "0::/\n", -EINVAL, {0}},
		{"a controller twice", MOUNT_MEMORY, "4:memory:/a\n5:memory:/b\n", -EINVAL, {0}},
		{"version 2 twice", MOUNT_V2, "0::/a\n0::/b\n", -EINVAL, {0}},
		{"version 2 with a number", MOUNT_V2, "7::/a\n", -EINVAL, {0}},
		{"relative group", MOUNT_V2, "0::a\n", -EINVAL, {0}},
		{"no group", MOUNT_V2, "0:\n", -EINVAL, {0}},
		{"an empty line of self", MOUNT_V2, "0::/\n\n0::/\n", -EINVAL, {0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_layout l = {0};
		int r = cgroup_layout_parse(rows[i].mounts, rows[i].self, &l);
		const char *const got[] = {l.v1[0], l.v1[1], l.v1[2], l.v1[3], l.v2};

		if (r != rows[i].want)
			fail_msg("%s: got %d, want %d", rows[i].what, r, rows[i].want);
		for (size_t p = 0; p < ARRAY_LEN(got); p++)
			if (!got[p] != !rows[i].paths[p] ||
			    (got[p] && strcmp(got[p], rows[i].paths[p]) != 0))
				fail_msg("%s: path %zu is '%s'", rows[i].what, p,
					 got[p] ? got[p] : "none");
		cgroup_layout_done(&l);
	}
}

static void test_layout_long(void **state)
{
	static char group[2 * 4096], self[3 * 4096];
	struct cgroup_layout l = {0};

	(void)state;
	memset(group, 'x', sizeof(group) - 1);
	(void)snprintf(self, sizeof(self), "0::/%s\n", group);
	assert_int_equal(cgroup_layout_parse(MOUNT_V2, self, &l), -ENAMETOOLONG);
	assert_null(l.v2);
}

static void test_values(void **state)
{
	static const struct {
		uint64_t shares, weight;
	} weights[] = {{2, 1},
		       {10, 1},
		       {11, 1},
		       {1024, 100},
		       {512, 50},
		       {2048, 200},
		       {102400, 10000},
		       {102399, 9999},
		       {102401, 10000},
		       {262144, 10000},
		       {UINT64_MAX, 10000}};
	static const struct {
		const char *text;
		int want;
		uint64_t value;
	} numbers[] = {
		{"0\n", 0, 0},
		{"67108864\n", 0, 67108864},
		{"12", 0, 12},
		{"max\n", 0, UINT64_MAX},
		{"", -EINVAL, 0},
		{"\n", -EINVAL, 0},
		{"-1\n", -EINVAL, 0},
		{"1 2\n", -EINVAL, 0},
		{"1\n2\n", -EINVAL, 0},
		{"99999999999999999999\n", -EINVAL, 0},
		{"999999999999999999999999999999999\n", -EINVAL, 0},
	};
	uint64_t v = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(weights); i++)
		assert_int_equal(cgroup_weight_of_shares(weights[i].shares), weights[i].weight);
	assert_int_equal(cgroup_quota_of_percent(1), 1000);
	assert_int_equal(cgroup_quota_of_percent(250), 250000);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		v = 0;
		if (cgroup_number(numbers[i].text, &v) != numbers[i].want || v != numbers[i].value)
			fail_msg("'%s': got %llu", numbers[i].text, (unsigned long long)v);
	}
	assert_int_equal(cgroup_stat("oom 1\noom_kill 3\n", "oom_kill", &v), 0);
	assert_int_equal(v, 3);
	assert_int_equal(cgroup_stat("xoom_kill 3\noom_killer 4\n", "oom_kill", &v), -ENOENT);
	assert_int_equal(cgroup_stat("oom_kill\n", "oom_kill", &v), -ENOENT);
	assert_int_equal(cgroup_stat("oom_kill x\n", "oom_kill", &v), -EINVAL);
	assert_int_equal(cgroup_stat("", "oom_kill", &v), -ENOENT);
	assert_true(cgroup_has_word("cpuset cpu io\n", "cpu"));
	assert_true(cgroup_has_word("memory", "memory"));
	assert_true(cgroup_has_word("io memory\n", "memory"));
	assert_false(cgroup_has_word("cpuset cpus\n", "cpu"));
	assert_false(cgroup_has_word("", "cpu"));
}

/* A directory of plain files in the place of a version 2 group. */
static char fake_path[] = "/tmp/cordon-cgroup-XXXXXX";
static int fake_fd = -1;

static void fake_file(const char *name, const char *text)
{
	AUTO_CLOSE int fd = openat(fake_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text, strlen(text), INT64_MAX), 0);
}

static void fake_expect(const char *name, const char *want)
{
	AUTO_FREE char *got = NULL;

	assert_int_equal(cgroup_dir_read(fake_fd, name, &got), 0);
	assert_string_equal(got, want);
}

static const char *const fake_names[] = {"memory.max", "memory.swap.max", "memory.oom.group",
					 "pids.max",   "cpu.weight",      "cpu.max"};

static int fake_setup(void **state)
{
	(void)state;
	if (!mkdtemp(fake_path))
		return -1;
	fake_fd = open(fake_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fake_fd < 0 ? -1 : 0;
}

static int fake_teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fake_names); i++)
		(void)unlinkat(fake_fd, fake_names[i], 0);
	(void)close(fake_fd);
	(void)rmdir(fake_path);
	(void)snprintf(fake_path + strlen(fake_path) - 6, 7, "XXXXXX");
	return 0;
}

static int fake_apply(const struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	for (int c = 0; r == 0 && c < CGROUP_CONTROLLER_COUNT; c++)
		r = cgroup_limit_apply(fake_fd, /* is_v2= */ true, (enum cgroup_controller)c, plan,
				       err);
	return r;
}

static void test_v2_values(void **state)
{
	const struct plan plan = {
		.memory_bytes = PLAN_LIMIT(67108864),
		.max_processes = PLAN_LIMIT(30),
		.cpu_shares = PLAN_LIMIT(512),
		.cpu_percent = PLAN_LIMIT(20),
	};
	struct cordon_error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fake_names); i++)
		fake_file(fake_names[i], "");
	assert_int_equal(fake_apply(&plan, &err), 0);
	fake_expect("memory.max", "67108864");
	fake_expect("memory.swap.max", "0");
	fake_expect("memory.oom.group", "1");
	fake_expect("pids.max", "30");
	fake_expect("cpu.weight", "50");
	fake_expect("cpu.max", "20000 100000\n");
}

static void test_v2_values_refused(void **state)
{
	struct plan plan = {.memory_bytes = PLAN_LIMIT(4096)};
	struct cordon_error err = {0};

	(void)state;
	/* Nothing is set for what nobody asked. */
	assert_int_equal(fake_apply(&(struct plan){0}, &err), 0);
	/* The controller is not there. */
	assert_int_equal(fake_apply(&plan, &err), CORDON_E_NOT_FOUND);
	/* A kernel without swap has no such file; one that has it must take the value. */
	fake_file("memory.max", "");
	fake_file("memory.oom.group", "");
	assert_int_equal(fake_apply(&plan, &err), 0);
	/* What comes back is looser than what was written: the 4096 stands over the start of it. */
	fake_file("memory.max", "max12345");
	assert_int_equal(fake_apply(&plan, &err), CORDON_E_SYSTEM);
	assert_string_equal(err.message, "memory.max is 40962345 after setting it to 4096");
	fake_file("cpu.max", "20000 100000\nx");
	plan = (struct plan){.cpu_percent = PLAN_LIMIT(20)};
	assert_int_equal(fake_apply(&plan, &err), CORDON_E_SYSTEM);
}

/* Live from here on. */
static char live_id[40];

static bool live_is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("# skip: not root\n");
	return false;
}

static const char *live_next_id(void)
{
	static int number;

	(void)snprintf(live_id, sizeof(live_id), "test-%d-%d", (int)getpid(), number++);
	return live_id;
}

/* How many directories of the machine's hierarchies have the name. */
static int live_count(const char *name)
{
	char command[256];
	AUTO_FREE char *out = NULL;
	size_t len = 0;
	int pipes[2], status = 0;
	pid_t pid;

	(void)snprintf(command, sizeof(command), "find /sys/fs/cgroup -name '%s' | wc -l", name);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(pipes[1], 1);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	(void)close(pipes[1]);
	assert_int_equal(io_read_all(pipes[0], 4096, INT64_MAX, &out, &len), 0);
	(void)close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(len > 1);
	return out[0] - '0';
}

/* A child in the group that forks others and waits.  It has entered when this returns: a group that ends
 * before would leave it outside, to fail by itself. */
static struct proc live_sleepers(const struct cgroup *g, int count)
{
	struct proc p = PROC_NONE;
	int into = cgroup_clone_fd(g);
	int entered[2];
	char word = 0;
	int r;

	assert_int_equal(pipe(entered), 0);
	r = into >= 0 ? proc_clone_into(0, into, &p) : proc_clone(0, &p);
	assert_true(r >= 0);
	if (r == 0) {
		if (cgroup_enter(g, into >= 0) < 0 || write(entered[1], "e", 1) != 1)
			_exit(1);
		for (int i = 1; i < count; i++)
			if (fork() == 0) {
				(void)setsid();
				break;
			}
		for (;;)
			(void)pause();
	}
	(void)close(entered[1]);
	assert_int_equal(read(entered[0], &word, 1), 1);
	(void)close(entered[0]);
	return p;
}

static void live_reap(struct proc *p)
{
	siginfo_t info = {0};

	assert_int_equal(waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED), 0);
	assert_int_equal(info.si_code, CLD_KILLED);
	proc_done(p);
}

static void test_live_probe(void **state)
{
	char why[CGROUP_WHY_MAX];
	char names[64];

	(void)state;
	if (!live_is_root())
		skip();
	(void)snprintf(names, sizeof(names), "cordon-probe-%d-*", (int)getpid());
	for (int entering = 0; entering < 2; entering++) {
		guarantee_set got = cgroup_probe(GUARANTEE_ALL, entering, why);

		if (got != CGROUP_GUARANTEES)
			fail_msg("entering %d: %s", entering, why);
		assert_string_equal(why, "");
	}
	assert_int_equal(cgroup_probe(GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(NET_DENY), false, why),
			 GUARANTEE_BIT(PIDS));
	assert_int_equal(cgroup_probe(GUARANTEE_NONE, false, why), GUARANTEE_NONE);
	assert_int_equal(live_count(names), 0);
}

static void test_live_end(void **state)
{
	const struct plan plan = {.id = live_next_id(),
				  .memory_bytes = PLAN_LIMIT(UINT64_C(64) << 20),
				  .max_processes = PLAN_LIMIT(100),
				  .cpu_percent = PLAN_LIMIT(50),
				  .cpu_shares = PLAN_LIMIT(512)};
	struct cgroup *g = NULL;
	struct cordon_error err = {0};
	struct proc p;
	char name[64];

	(void)state;
	if (!live_is_root())
		skip();
	(void)snprintf(name, sizeof(name), "cordon-%s", plan.id);
	if (cgroup_make(&plan, &g, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(live_count(name) > 0);
	p = live_sleepers(g, 20);
	/* A name in use is not taken again. */
	assert_true(cgroup_make(&plan, &(struct cgroup *){NULL}, &err) < 0);
	assert_int_equal(cgroup_end(g), 0);
	live_reap(&p);
	assert_int_equal(live_count(name), 0);
}

static void test_live_ids(void **state)
{
	static const char long_id[] = "01234567890123456789012345678901234567890123456789"
				      "012345678901234";
	static const char *const bad[] = {"", "a/b", "..", "a b", "é", long_id};
	struct cgroup *g = NULL;
	struct plan plan = {.max_processes = PLAN_LIMIT(10)};

	(void)state;
	assert_int_equal(cgroup_make(&plan, &g, NULL), CORDON_E_INVALID);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		plan.id = bad[i];
		assert_int_equal(cgroup_make(&plan, &g, NULL), CORDON_E_INVALID);
	}
	assert_null(g);
}

/* Our group in a hierarchy that has pids, or -1. */
static int live_pids_parent(void)
{
	AUTO_FREE char *mounts = NULL;
	AUTO_FREE char *self = NULL;
	struct cgroup_layout l = {0};
	size_t len = 0;
	int fd = -1;

	assert_int_equal(io_read_file_at(AT_FDCWD, "/proc/self/mountinfo", 1 << 24, &mounts, &len),
			 0);
	assert_int_equal(io_read_file_at(AT_FDCWD, "/proc/self/cgroup", 1 << 16, &self, &len), 0);
	assert_int_equal(cgroup_layout_parse(mounts, self, &l), 0);
	if (l.v1[CGROUP_PIDS])
		fd = cgroup_parent_open(l.v1[CGROUP_PIDS], false);
	else if (l.v2)
		fd = cgroup_parent_v2(l.v2, (const char *const[]){"pids", NULL});
	cgroup_layout_done(&l);
	return fd;
}

/* The way that needs no cgroup.kill, with groups below and daemons in them. */
static void test_live_kill_listed(void **state)
{
	AUTO_CLOSE int parent = -1;
	AUTO_CLOSE int fd = -1;
	AUTO_CLOSE int below = -1;
	char name[64];
	struct proc procs[2];
	uint64_t count = 0;
	int fds[2];

	(void)state;
	if (!live_is_root())
		skip();
	parent = live_pids_parent();
	assert_true(parent >= 0);
	(void)snprintf(name, sizeof(name), "cordon-%s", live_next_id());
	fd = cgroup_dir_make(parent, name);
	assert_true(fd >= 0);
	below = cgroup_dir_make(fd, "inner");
	assert_true(below >= 0);
	fds[0] = fd;
	fds[1] = below;
	for (int i = 0; i < 2; i++) {
		int r = proc_clone(0, &procs[i]);

		assert_true(r >= 0);
		if (r == 0) {
			if (cgroup_dir_write(fds[i], "cgroup.procs", "0") < 0)
				_exit(1);
			for (int n = 0; n < 99; n++)
				if (fork() == 0)
					break;
			for (;;)
				(void)pause();
		}
	}
	for (int i = 0; i < 5000 && count < 200; i++) {
		(void)usleep(1000);
		assert_int_equal(cgroup_dir_read_number(fd, "pids.current", &count), 0);
	}
	assert_int_equal(count, 200);
	for (int i = 0; i < 2000 && cgroup_dir_remove(parent, name) < 0; i++) {
		cgroup_dir_kill_listed(fd);
		(void)usleep(1000);
	}
	for (int i = 0; i < 2; i++)
		live_reap(&procs[i]);
	assert_int_equal(live_count(name), 0);
}

static void test_live_leftovers(void **state)
{
	AUTO_CLOSE int parent = -1;
	AUTO_CLOSE int alive = -1;
	char stale[64], locked[64], other[64];
	struct proc p = PROC_NONE;
	int fd, r;

	(void)state;
	if (!live_is_root())
		skip();
	parent = live_pids_parent();
	assert_true(parent >= 0);
	(void)snprintf(stale, sizeof(stale), "cordon-%s", live_next_id());
	(void)snprintf(locked, sizeof(locked), "cordon-%s", live_next_id());
	(void)snprintf(other, sizeof(other), "other-%s", live_id);
	fd = cgroup_dir_make(parent, stale);
	alive = cgroup_dir_make(parent, locked);
	assert_true(fd >= 0 && alive >= 0);
	assert_int_equal(mkdirat(parent, other, 0700), 0);
	r = proc_clone(0, &p);
	assert_true(r >= 0);
	if (r == 0) {
		r = cgroup_dir_write(fd, "cgroup.procs", "0");
		(void)close(fd); /* the lock is shared with the parent's descriptor */
		(void)close(alive);
		for (;;)
			(void)pause();
	}
	/* A process in it and the lock held: it stays. */
	(void)usleep(50000);
	assert_int_equal(cgroup_dir_clean(parent), 0);
	assert_int_equal(live_count(stale), 1);
	(void)close(fd);
	/* The lock is free: its process is ended, and it goes; what is locked or not ours stays. */
	assert_true(cgroup_dir_clean(parent) >= 1);
	live_reap(&p);
	assert_int_equal(live_count(stale), 0);
	assert_int_equal(live_count(locked), 1);
	assert_int_equal(live_count(other), 1);
	assert_int_equal(cgroup_dir_remove(parent, locked), 0);
	assert_int_equal(cgroup_dir_remove(parent, other), 0);
}

/* Makers and cleaners at the same time: nobody loses a locked group. */
static void test_live_race(void **state)
{
	pid_t pids[4];

	(void)state;
	if (!live_is_root())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			int parent = live_pids_parent();
			char name[64];

			for (int n = 0; n < 150; n++) {
				int fd;

				(void)snprintf(name, sizeof(name), "cordon-%s", live_next_id());
				fd = cgroup_dir_make(parent, name);
				(void)cgroup_dir_clean(parent);
				if (fd < 0 || cgroup_dir_write(fd, "pids.max", "5") < 0)
					_exit(1);
				if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
					_exit(2);
				(void)close(fd);
			}
			_exit(0);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		int status = 0;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_layout_long),
		cmocka_unit_test(test_values),
		cmocka_unit_test_setup_teardown(test_v2_values, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(test_v2_values_refused, fake_setup, fake_teardown),
		cmocka_unit_test(test_live_probe),
		cmocka_unit_test(test_live_end),
		cmocka_unit_test(test_live_ids),
		cmocka_unit_test(test_live_kill_listed),
		cmocka_unit_test(test_live_leftovers),
		cmocka_unit_test(test_live_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
