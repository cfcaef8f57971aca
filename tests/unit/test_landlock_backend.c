/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend landlock below the command line: what a scope keeps (pure), what a plan becomes, what is found of a
 * path, and what the backend says it gives with each Landlock ABI.  tests/cli/landlock.bats has the attempts.
 */
#include "backend/landlock/landlock.h"

#include "backend/landlock/place.h"
#include "backend/landlock/scope.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATHS_MAX 16
#define WAIT_MS 10000

static char base[] = "/tmp/cordon-lockback-XXXXXX";

/* base/name; a ring of buffers. */
static const char *at(const char *name)
{
	static char paths[PATHS_MAX][256];
	static unsigned next;
	char *path = paths[next++ % PATHS_MAX];

	(void)snprintf(path, sizeof(paths[0]), "%s%s%s", base, *name ? "/" : "", name);
	return path;
}

static void test_guards(void **state)
{
	static const struct {
		const char *path;
		bool read;
		bool change;
		bool move;
	} rows[] = {
		{"/w", false, false, true},
		{"/w/file", false, false, false},
		{"/w/p", false, true, true},
		{"/w/p/below", false, true, true},
		{"/w/pq", false, false, false},
		{"/w/p/own", false, true, true},
		{"/w/p/own/x", false, false, false},
		{"/w/p/ownx", false, true, true},
		{"/w/sub", false, false, true},
		{"/w/sub/denied", true, true, true},
		{"/w/sub/denied/x", true, true, true},
		{"/w/sub/deniedx", false, false, false},
		{"/", false, false, true},
		{"pipe:[1]", false, false, false},
		{"/w/p (deleted)", false, false, false},
	};
	struct scope_guard guards[] = {{"/w/p", false, "/w/p/own"},
				       {"/w/sub/denied", true, NULL},
				       {"/w/sub/missing", true, NULL}};
	struct scope_file kept[] = {{1, 7, false}, {1, 8, true}, {3, 8, false}};
	const struct scope s = {.guards = guards,
				.guard_count = ARRAY_LEN(guards),
				.kept = kept,
				.kept_count = ARRAY_LEN(kept)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(scope_is_guarded(&s, rows[i].path, SCOPE_READ), rows[i].read);
		assert_int_equal(scope_is_guarded(&s, rows[i].path, SCOPE_CHANGE), rows[i].change);
		assert_int_equal(scope_is_guarded(&s, rows[i].path, SCOPE_MOVE), rows[i].move);
	}
	assert_true(scope_is_guarded_file(&s, 1, 7, SCOPE_CHANGE));
	assert_false(scope_is_guarded_file(&s, 1, 7, SCOPE_READ));
	assert_true(scope_is_guarded_file(&s, 1, 8, SCOPE_READ));
	assert_false(scope_is_guarded_file(&s, 2, 8, SCOPE_READ));
	assert_true(scope_is_guarded_file(&s, 3, 8, SCOPE_CHANGE));
	assert_false(scope_is_guarded_file(&s, 3, 8, SCOPE_READ));
	assert_false(scope_is_guarded_file(&s, 0, 0, SCOPE_CHANGE));
	assert_false(scope_is_guarded_file(&(struct scope){0}, 1, 7, SCOPE_CHANGE));
}

static void test_writable(void **state)
{
	struct scope_path grants[] = {{"/w", LANDLOCK_WRITE, false},
				      {"/r", LANDLOCK_READ, false},
				      {"/n", LANDLOCK_WRITE_NOEXEC, false}};
	const struct scope s = {.grants = grants, .grant_count = ARRAY_LEN(grants)};

	(void)state;
	assert_true(scope_is_writable(&s, "/w"));
	assert_true(scope_is_writable(&s, "/w/a/b"));
	assert_true(scope_is_writable(&s, "/n/x"));
	assert_false(scope_is_writable(&s, "/wx"));
	assert_false(scope_is_writable(&s, "/r/a"));
	assert_false(scope_is_writable(&s, "/"));
}

static char *const no_env[] = {NULL};

#define PROC_OP                                                                                    \
	{                                                                                          \
		.kind = PLAN_OP_PROC, .path = "/proc"                                              \
	}

static int compile(const struct plan_op *ops, size_t n, struct scope *s, struct cordon_error *err)
{
	static struct plan plan;

	plan = (struct plan){.ops = ops, .op_count = n, .envp = no_env, .scratch_dir = base};
	return scope_compile(&plan, /* tcp_port= */ 0, s, err);
}

static void touch(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && fchmod(fd, mode) == 0);
	(void)close(fd);
}

/* r/{a,b/{c,d},e/}, w/sub */
static void make_tree(void)
{
	assert_int_equal(mkdir(at("r"), 0755) | mkdir(at("r/b"), 0755) | mkdir(at("r/e"), 0755) |
				 mkdir(at("w"), 0755) | mkdir(at("w/sub"), 0755),
			 0);
	touch(at("r/a"), 0644);
	touch(at("r/b/c"), 0644);
	touch(at("r/b/d"), 0600);
	touch(at("w/sub/tool"), 0755);
}

static void test_compile(void **state)
{
	struct scope s;
	struct cordon_error err = {0};
	const struct plan_op plain[] = {PROC_OP,
					{.kind = PLAN_OP_BIND_RO, .path = at("r")},
					{.kind = PLAN_OP_BIND_RW, .path = at("w")}};
	/* a and e as a whole, b/c, and the names of b and of r */
	const struct plan_op denied[] = {PROC_OP,
					 {.kind = PLAN_OP_BIND_RO, .path = at("r")},
					 {.kind = PLAN_OP_DENY, .path = at("r/b/d")}};
	/* no names where a directory is denied */
	const struct plan_op denied_dir[] = {PROC_OP,
					     {.kind = PLAN_OP_BIND_RO, .path = at("r")},
					     {.kind = PLAN_OP_DENY, .path = at("r/b")}};
	const struct plan_op public[] = {
		PROC_OP, {.kind = PLAN_OP_SYSTEM, .path = at("r"), .is_public_only = true}};
	const struct plan_op inner[] = {PROC_OP,
					{.kind = PLAN_OP_BIND_RW, .path = at("w")},
					{.kind = PLAN_OP_BIND_RO, .path = at("w/sub")}};
	const struct plan_op missing[] = {PROC_OP,
					  {.kind = PLAN_OP_BIND_RW, .path = at("w")},
					  {.kind = PLAN_OP_DENY, .path = at("w/none")}};

	(void)state;
	assert_int_equal(compile(plain, ARRAY_LEN(plain), &s, &err), 0);
	assert_int_equal(s.rule_count, 3);
	assert_int_equal(s.files, SECCOMP_FILES_WRITES);
	scope_done(&s);
	assert_int_equal(compile(denied, ARRAY_LEN(denied), &s, &err), 0);
	assert_int_equal(s.rule_count, 1 + 5);
	assert_int_equal(s.files, SECCOMP_FILES_WRITES);
	scope_done(&s);
	assert_int_equal(compile(denied_dir, ARRAY_LEN(denied_dir), &s, &err), 0);
	assert_int_equal(s.rule_count, 1 + 2);
	scope_done(&s);
	assert_int_equal(compile(public, ARRAY_LEN(public), &s, &err), 0);
	assert_int_equal(s.rule_count, 1 + 5);
	scope_done(&s);
	assert_int_equal(compile(inner, ARRAY_LEN(inner), &s, &err), 0);
	assert_true(scope_is_guarded(&s, at("w/sub/x"), SCOPE_CHANGE));
	assert_false(scope_is_guarded(&s, at("w/sub/x"), SCOPE_READ));
	scope_done(&s);
	assert_int_equal(compile(missing, ARRAY_LEN(missing), &s, &err), 0);
	assert_int_equal(s.files, SECCOMP_FILES_ALL);
	scope_done(&s);
}

static void test_compile_refuses(void **state)
{
	struct scope s;
	struct cordon_error err = {0};
	const struct plan_op no_proc[] = {{.kind = PLAN_OP_BIND_RO, .path = at("r")}};
	const struct plan_op link[] = {
		PROC_OP, {.kind = PLAN_OP_SYMLINK, .path = at("r/a"), .text = "elsewhere"}};
	const struct plan_op tmpfs[] = {PROC_OP, {.kind = PLAN_OP_TMPFS, .path = at("r/e")}};
	const struct plan_op exec[] = {PROC_OP,
				       {.kind = PLAN_OP_BIND_RW, .path = at("w")},
				       {.kind = PLAN_OP_DENY, .path = at("w/sub")}};
	const struct plan_op gone[] = {PROC_OP, {.kind = PLAN_OP_BIND_RO, .path = at("none")}};
	const struct plan_op moved[] = {PROC_OP, {.kind = PLAN_OP_BIND_RO, .path = at("l/b")}};

	(void)state;
	assert_int_equal(compile(no_proc, ARRAY_LEN(no_proc), &s, &err), CORDON_E_UNSUPPORTED);
	scope_done(&s);
	assert_int_equal(compile(link, ARRAY_LEN(link), &s, &err), CORDON_E_UNSUPPORTED);
	scope_done(&s);
	assert_int_equal(compile(tmpfs, ARRAY_LEN(tmpfs), &s, &err), CORDON_E_UNSUPPORTED);
	scope_done(&s);
	assert_int_equal(compile(exec, ARRAY_LEN(exec), &s, &err), CORDON_E_UNSUPPORTED);
	scope_done(&s);
	assert_true(compile(gone, ARRAY_LEN(gone), &s, &err) < 0);
	scope_done(&s);
	/* a component of the plan's path became a link */
	assert_int_equal(symlink("r", at("l")), 0);
	assert_int_equal(compile(moved, ARRAY_LEN(moved), &s, &err), CORDON_E_INVALID);
	scope_done(&s);
	assert_int_equal(unlink(at("l")), 0);
}

/* Nothing is left of the private directory. */
static void test_private(void **state)
{
	struct scope s;
	struct cordon_error err = {0};
	struct stat st;
	char home[64];
	char *env[] = {home, (char[]){"PATH=/bin"}, NULL};
	char *file;
	size_t len;
	const struct plan_op ops[] = {
		PROC_OP,
		{.kind = PLAN_OP_DEV, .path = "/dev"},
		{.kind = PLAN_OP_TMPFS, .path = "/tmp", .mode = 01777},
		{.kind = PLAN_OP_TMPFS, .path = at("r"), .mode = 0700},
		{.kind = PLAN_OP_FILE, .path = at("r/.gitconfig"), .text = "[user]\n"},
		{.kind = PLAN_OP_BIND_RO, .path = at("r/b")},
	};
	const struct plan plan = {
		.ops = ops, .op_count = ARRAY_LEN(ops), .envp = env, .scratch_dir = base};
	char path[512];

	(void)state;
	(void)snprintf(home, sizeof(home), "HOME=%s", at("r"));
	assert_int_equal(scope_compile(&plan, /* tcp_port= */ 0, &s, &err), 0);
	assert_int_equal(s.env.n, 3);
	assert_string_equal(s.env.v[0], "PATH=/bin");
	assert_non_null(strstr(s.env.v[1], "TMPDIR=/tmp/"));
	assert_non_null(strstr(s.env.v[2], "HOME=/tmp/"));
	assert_true(stat(s.scratch.path, &st) == 0 && (st.st_mode & 07777) == 0700);
	(void)snprintf(path, sizeof(path), "%s/.gitconfig", strchr(s.env.v[2], '=') + 1);
	assert_int_equal(io_read_file_at(AT_FDCWD, path, 100, &file, &len), 0);
	assert_string_equal(file, "[user]\n");
	free(file);
	(void)snprintf(path, sizeof(path), "%s/b/c", strchr(s.env.v[2], '=') + 1);
	assert_int_equal(access(path, F_OK), 0); /* through the link */
	(void)snprintf(path, sizeof(path), "%s", s.scratch.path);
	scope_done(&s);
	assert_int_equal(access(path, F_OK), -1);
}

/* What the backend says with each ABI, tried. */
static void test_abis(void **state)
{
	const guarantee_set always = GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(WRITE_SCOPE) |
				     GUARANTEE_BIT(DENY_INSIDE_ALLOW) |
				     GUARANTEE_BIT(PROTECT_MISSING) | GUARANTEE_BIT(NET_DENY) |
				     GUARANTEE_BIT(SYSCALL_FILTER);
	int top;

	(void)state;
	landlock_set_abi_for_test(-1);
	top = landlock_abi();
	for (int abi = 0; abi <= top; abi++) {
		struct probe p;

		landlock_set_abi_for_test(abi);
		landlock_backend.probe(PROBE_FULL, GUARANTEE_ALL, &p);
		print_message("# ABI %d: %s; %s\n", abi, p.reason, p.lacks);
		if (abi < LANDLOCK_ABI_TRUNCATE) {
			assert_false(p.is_available);
			assert_int_equal(p.guarantees, GUARANTEE_NONE);
			assert_true(*p.reason);
			continue;
		}
		assert_true(p.is_available);
		assert_int_equal(p.guarantees & always, always);
		assert_int_equal(p.guarantees & (GUARANTEE_BIT(PRIVATE_TMP) |
						 GUARANTEE_BIT(HIDE_METADATA)),
				 0);
		assert_int_equal(!!(p.guarantees & GUARANTEE_BIT(KILL_TREE)),
				 abi >= LANDLOCK_ABI_SCOPES);
	}
	landlock_set_abi_for_test(-1);
	if (top < LANDLOCK_ABI_TRUNCATE) {
		print_message("# skip: Landlock ABI %d\n", top);
		skip();
	}
}

static int group_setup(void **state)
{
	(void)state;
	if (!mkdtemp(base))
		return -1;
	make_tree();
	return 0;
}

static int group_teardown(void **state)
{
	static const char *const made[] = {"w/sub/tool", "w/sub", "w",   "r/b/d", "r/b/c",
					   "r/b",        "r/e",   "r/a", "r",     ""};
	int r = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		r |= remove(at(made[i]));
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guards),  cmocka_unit_test(test_writable),
		cmocka_unit_test(test_compile), cmocka_unit_test(test_compile_refuses),
		cmocka_unit_test(test_private), cmocka_unit_test(test_abis),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
