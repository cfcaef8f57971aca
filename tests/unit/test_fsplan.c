/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy becomes: which steps, in which order, and what is refused.  Nothing is mounted. */
#include "base/mem.h"
#include "core/fsplan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/test-fsplan-XXXXXX";
static char work[64], home[64], home_env[80], path_env[256], state_dir[64];

static void make(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(top));
	static const char *const dirs[] = {
		"w",          "w/sub", "home", "home/.cargo", "home/.cargo/bin",
		"home/tools", "state", "other"};
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		make(dirs[i]);
	(void)snprintf(work, sizeof(work), "%s/w", top);
	(void)snprintf(home, sizeof(home), "%s/home", top);
	(void)snprintf(state_dir, sizeof(state_dir), "%s/state", top);
	(void)snprintf(home_env, sizeof(home_env), "HOME=%s", home);
	(void)snprintf(path_env, sizeof(path_env), "PATH=/usr/bin:%s/.cargo/bin:%s:.:", home, home);
	return 0;
}

static int teardown(void **state)
{
	static const char *const dirs[] = {"other",           "state",       "home/tools",
					   "home/.cargo/bin", "home/.cargo", "home",
					   "w/sub",           "w",           ""};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		(void)rmdir(path);
	}
	return 0;
}

/* The index of a step with the kind and the path below top, or -1. */
static int find(const struct fsplan *p, enum plan_op_kind kind, const char *below)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s%s", below[0] == '/' ? "" : top, below);
	if (below[0] != '/')
		(void)snprintf(path, sizeof(path), "%s/%s", top, below);
	for (size_t i = 0; i < p->n; i++)
		if (p->ops[i].kind == kind && strcmp(p->ops[i].path, path) == 0)
			return (int)i;
	return -1;
}

static int build(struct policy *policy, const char *cwd, bool is_root, struct fsplan *ret,
		 struct cordon_error *err)
{
	static char cwd_copy[256];
	struct request request = {.cwd = cwd_copy};
	char *envp[] = {home_env, path_env, NULL};
	struct fsplan_input in = {.policy = policy,
				  .request = &request,
				  .envp = envp,
				  .state_dir = state_dir,
				  .is_root = is_root};

	(void)snprintf(cwd_copy, sizeof(cwd_copy), "%s", cwd);
	return fsplan_build(&in, ret, err);
}

static void test_default(void **state)
{
	struct policy *p = policy_new();
	struct fsplan plan;

	(void)state;
	assert_non_null(p);
	assert_int_equal(policy_default(p, work, NULL), 0);
	assert_int_equal(build(p, work, false, &plan, NULL), 0);
	assert_true(find(&plan, PLAN_OP_SYSTEM, "/usr") >= 0);
	assert_true(find(&plan, PLAN_OP_TMPFS, "/tmp") >= 0);
	assert_true(find(&plan, PLAN_OP_TMPFS, "home") >= 0);
	assert_true(find(&plan, PLAN_OP_FILE, "home/.gitconfig") >
		    find(&plan, PLAN_OP_TMPFS, "home"));
	assert_true(find(&plan, PLAN_OP_BIND_RW, "w") > find(&plan, PLAN_OP_TMPFS, "/tmp"));
	assert_true(find(&plan, PLAN_OP_PROTECT, "w/.claude") > find(&plan, PLAN_OP_BIND_RW, "w"));
	assert_true(find(&plan, PLAN_OP_PROTECT, "w/.mcp.json") >= 0);
	/* A toolchain is read, home on PATH is not given away. */
	assert_true(find(&plan, PLAN_OP_BIND_RO, "home/.cargo") >= 0);
	assert_int_equal(find(&plan, PLAN_OP_BIND_RO, "home"), -1);
	assert_true(find(&plan, PLAN_OP_DENY, "home/.cargo/credentials.toml") >= 0);
	/* Nothing of home is there, so nothing of it needs a guard. */
	assert_int_equal(find(&plan, PLAN_OP_DENY, "home/.ssh"), -1);
	for (size_t i = 0; i < plan.n; i++) {
		assert_true(strncmp(plan.ops[i].path, "/run", 4) != 0);
		assert_false(plan.ops[i].is_public_only);
	}
	fsplan_done(&plan);
	policy_free(p);
}

static void test_root_etc(void **state)
{
	struct policy *p = policy_new();
	struct fsplan plan;
	int i;

	(void)state;
	assert_int_equal(policy_default(p, work, NULL), 0);
	assert_int_equal(build(p, work, true, &plan, NULL), 0);
	i = find(&plan, PLAN_OP_SYSTEM, "/etc");
	assert_true(i >= 0 && plan.ops[i].is_public_only);
	i = find(&plan, PLAN_OP_SYSTEM, "/opt");
	assert_true(i < 0 || plan.ops[i].is_public_only);
	fsplan_done(&plan);
	policy_free(p);
}

static void test_modes(void **state)
{
	static const struct {
		enum fs_mode mode;
		bool has_rw, has_ro, has_tmp;
	} modes[] = {
		{FS_DENY, false, false, true},
		{FS_READ_ONLY, false, true, true},
		{FS_SCOPED, true, false, true},
		{FS_FULL, true, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct policy *p = policy_new();
		struct fsplan plan;

		assert_int_equal(policy_default(p, work, NULL), 0);
		p->fs_mode = (int)modes[i].mode;
		assert_int_equal(build(p, work, false, &plan, NULL), 0);
		assert_int_equal(find(&plan, PLAN_OP_BIND_RW, "w") >= 0, modes[i].has_rw);
		assert_int_equal(find(&plan, PLAN_OP_BIND_RO, "w") >= 0, modes[i].has_ro);
		assert_int_equal(find(&plan, PLAN_OP_TMPFS, "/tmp") >= 0, modes[i].has_tmp);
		assert_true(find(&plan, PLAN_OP_PROC, "/proc") >= 0);
		assert_int_equal(find(&plan, PLAN_OP_BIND_RW, "/run"), -1);
		fsplan_done(&plan);
		policy_free(p);
	}
}

/* Workspaces that would hand over the machine. */
static void test_refused(void **state)
{
	const char *const cwds[] = {"/", "/usr", "/etc", "/proc/self", "/dev/shm", top, state_dir};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cwds); i++) {
		struct policy *p = policy_new();
		struct cordon_error err = {0};
		struct fsplan plan;
		int r;

		assert_int_equal(policy_default(p, cwds[i], NULL), 0);
		r = build(p, cwds[i], false, &plan, &err);
		if (r != CORDON_E_INVALID)
			fail_msg("'%s': %d %s", cwds[i], r, err.message);
		fsplan_done(&plan);
		policy_free(p);
	}
}

static void test_home_is_workspace(void **state)
{
	struct policy *p = policy_new();
	struct fsplan plan;

	(void)state;
	assert_int_equal(policy_default(p, home, NULL), 0);
	assert_int_equal(build(p, home, false, &plan, NULL), 0);
	assert_true(find(&plan, PLAN_OP_BIND_RW, "home") > find(&plan, PLAN_OP_TMPFS, "home"));
	assert_true(find(&plan, PLAN_OP_DENY, "home/.ssh") >= 0);
	assert_true(find(&plan, PLAN_OP_PROTECT, "home/.bashrc") >= 0);
	fsplan_done(&plan);
	policy_free(p);
}

/* Home is listed, not asked name by name; where a link in it leads counts all the same. */
static void test_home_links(void **state)
{
	struct policy *p = policy_new();
	struct fsplan plan;
	char aws[256];
	char config[256];

	(void)state;
	(void)snprintf(aws, sizeof(aws), "%s/.aws", home);
	(void)snprintf(config, sizeof(config), "%s/.config", home);
	assert_int_equal(symlink("../w/sub", aws), 0);
	assert_int_equal(symlink("../w", config), 0);
	assert_int_equal(policy_default(p, work, NULL), 0);
	assert_int_equal(build(p, work, false, &plan, NULL), 0);
	assert_int_equal(unlink(aws), 0);
	assert_int_equal(unlink(config), 0);
	assert_true(find(&plan, PLAN_OP_DENY, "w/sub") >= 0);
	assert_true(find(&plan, PLAN_OP_DENY, "w/gh") >= 0);
	assert_true(find(&plan, PLAN_OP_PROTECT, "w/systemd") >= 0);
	assert_int_equal(find(&plan, PLAN_OP_DENY, "w/.netrc"), -1);
	fsplan_done(&plan);
	policy_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_root_etc),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_home_is_workspace),
		cmocka_unit_test(test_home_links),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
