/* SPDX-License-Identifier: Apache-2.0 */
/* Guarantees, the table of backends, the registry, looking commands up, and what noop refuses. */
#include "backend/lookup.h"
#include "backend/noop/noop.h"
#include "backend/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_levels(void **state)
{
	enum level level;

	(void)state;
	for (int i = 0; i < LEVEL_COUNT; i++) {
		assert_int_equal(level_from_name(level_name((enum level)i), &level), 0);
		assert_int_equal(level, i);
		assert_true(strlen(level_doc((enum level)i)) > 0);
	}
	assert_int_equal(level_from_name("Process", &level), -EINVAL);
	assert_int_equal(level_from_name("", &level), -EINVAL);
	assert_string_equal(level_name(LEVEL_COUNT), "invalid");
	assert_true(LEVEL_NONE < LEVEL_PROCESS && LEVEL_PROCESS < LEVEL_WASM &&
		    LEVEL_WASM < LEVEL_CONTAINER && LEVEL_CONTAINER < LEVEL_VM);
}

static void test_guarantee_names(void **state)
{
	enum guarantee g;

	(void)state;
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		assert_int_equal(guarantee_from_name(guarantee_name((enum guarantee)i), &g), 0);
		assert_int_equal(g, i); /* also: no name is there twice */
		assert_true(strlen(guarantee_doc((enum guarantee)i)) > 0);
	}
	assert_int_equal(guarantee_from_name("net", &g), -EINVAL);
	assert_string_equal(guarantee_name(GUARANTEE_COUNT), "invalid");
}

static const struct {
	const char *what;
	guarantee_set set;
	const char *list;
	const char *json;
} set_rows[] = {
	{"empty", GUARANTEE_NONE, "nothing", "[]"},
	{"one", GUARANTEE_BIT(NET_DENY), "net-deny", "[\"net-deny\"]"},
	{"in the order of the table", GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(READ_SCOPE),
	 "read-scope, pids", "[\"read-scope\",\"pids\"]"},
	{"the first and the last", GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(IMAGE_ROOT),
	 "read-scope, image-root", "[\"read-scope\",\"image-root\"]"},
};

static void test_guarantee_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(set_rows); i++) {
		struct buf list = BUF_INIT(1024);
		struct buf text = BUF_INIT(1024);
		struct json json = JSON_INIT(&text);

		guarantee_list(set_rows[i].set, &list);
		guarantee_json(set_rows[i].set, NULL, &json);
		assert_string_equal(buf_cstr(&list), set_rows[i].list);
		assert_string_equal(buf_cstr(&text), set_rows[i].json);
		buf_done(&list);
		buf_done(&text);
	}
	assert_int_equal(guarantee_first_missing(GUARANTEE_ALL, GUARANTEE_ALL), GUARANTEE_COUNT);
	assert_int_equal(guarantee_first_missing(GUARANTEE_NONE, GUARANTEE_NONE), GUARANTEE_COUNT);
	assert_int_equal(guarantee_first_missing(GUARANTEE_ALL, GUARANTEE_NONE),
			 GUARANTEE_NATIVE_CODE);
	assert_int_equal(guarantee_first_missing(GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(NET_DENY),
						 GUARANTEE_BIT(NET_DENY)),
			 GUARANTEE_PIDS);
}

/* The contract's strength table, written out once more on purpose: it is what people rely on. */
static const struct {
	const char *name;
	const char *level;
	int strength;
} contract_rows[] = {
	{"firecracker", "vm", 100},  {"qemu", "vm", 95},
	{"gvisor", "container", 80}, {"apple-container", "container", 75},
	{"docker", "container", 70}, {"podman", "container", 69},
	{"wasm", "wasm", 60},        {"native", "process", 50},
	{"bwrap", "process", 45},    {"nsjail", "process", 44},
	{"landlock", "process", 40}, {"seatbelt", "process", 30},
	{"chroot", "process", 20},   {"noop", "none", 0},
};

static void test_contract(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(contract_rows), BACKEND_COUNT);
	for (size_t i = 0; i < BACKEND_COUNT; i++) {
		const struct backend_info *info = backend_info_find(contract_rows[i].name);

		assert_non_null(info);
		assert_string_equal(level_name(info->level), contract_rows[i].level);
		assert_int_equal(info->strength, contract_rows[i].strength);
		assert_ptr_equal(info, &backend_infos[info->id]);
	}
}

static void test_registry(void **state)
{
	struct candidate candidates[BACKEND_COUNT];
	size_t count;
	const struct cordon_backend *const *all = registry_all(&count);

	(void)state;
	assert_true(count >= 1);
	assert_int_equal(registry_probe(PROBE_QUICK, GUARANTEE_NONE, candidates), count);
	for (size_t i = 0; i < count; i++) {
		const struct cordon_backend *b = all[i];
		const struct cordon_backend *found = NULL;

		assert_true(b->probe && b->spawn && b->restrict_filesystem && b->restrict_network &&
			    b->restrict_syscalls && b->apply_restrictions && b->snapshot &&
			    b->rollback && b->get_audit_log && b->summary);
		assert_int_equal(registry_find(b->info->name, &found, NULL), 0);
		assert_ptr_equal(found, b);
		assert_ptr_equal(candidates[i].backend, b);
		assert_true(strlen(candidates[i].probe.reason) > 0);
		if (i > 0)
			assert_true(all[i - 1]->info->strength >= b->info->strength);
	}
}

static const struct {
	const char *name;
	int want_code;
	const char *want_message;
} find_rows[] = {
	{"dokcer", CORDON_E_INVALID, "unknown backend 'dokcer' (did you mean 'docker'?)"},
	{"nop", CORDON_E_INVALID, "unknown backend 'nop' (did you mean 'noop'?)"},
	{"strongst", CORDON_E_INVALID, "unknown backend 'strongst' (did you mean 'strongest'?)"},
	{"something-else", CORDON_E_INVALID, "unknown backend 'something-else'"},
};

static void test_registry_find(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(find_rows); i++) {
		const struct cordon_backend *found = NULL;
		struct cordon_error err = {0};

		assert_int_equal(registry_find(find_rows[i].name, &found, &err),
				 find_rows[i].want_code);
		assert_string_equal(err.message, find_rows[i].want_message);
		assert_null(found);
	}
}

#define NOOP_ALWAYS                                                                                \
	(GUARANTEE_BIT(WALL_CLOCK) | GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(OPEN_FILES) |     \
	 GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(SECRET_ENV) |       \
	 GUARANTEE_BIT(SNAPSHOT))
#define NOOP_LIMITS                                                                                \
	(GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_SHARES) |            \
	 GUARANTEE_BIT(CPU_PERCENT))

/* The quick form tries only what is wanted; what it tried and cannot give has a reason. */
static void test_noop_guarantees(void **state)
{
	static const guarantee_set wanted[] = {GUARANTEE_NONE, GUARANTEE_BIT(NET_DENY),
					       GUARANTEE_BIT(PIDS), NOOP_LIMITS, GUARANTEE_ALL};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		struct probe probe;
		guarantee_set limits = wanted[i] & NOOP_LIMITS;

		noop_backend.probe(PROBE_QUICK, wanted[i], &probe);
		assert_true(probe.is_available);
		assert_int_equal(probe.guarantees & NOOP_ALWAYS, NOOP_ALWAYS);
		/* Who gives memory-tree gives memory-process; without it, only by limits of processes. */
		if (probe.guarantees & GUARANTEE_BIT(MEMORY_PROCESS))
			assert_int_equal(!(probe.guarantees & GUARANTEE_BIT(MEMORY_TREE)),
					 probe.by_rlimit == GUARANTEE_BIT(MEMORY_PROCESS));
		if (wanted[i] & (GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(MEMORY_PROCESS)))
			limits |= GUARANTEE_BIT(MEMORY_PROCESS);
		assert_int_equal(probe.guarantees & ~(NOOP_ALWAYS | limits), GUARANTEE_NONE);
		limits &= NOOP_LIMITS;
		assert_int_equal(probe.lacks[0] == '\0', (probe.guarantees & limits) == limits);
		noop_backend.probe(PROBE_FULL, wanted[i], &probe);
		assert_int_equal(probe.guarantees & ~(NOOP_ALWAYS | NOOP_LIMITS |
						      GUARANTEE_BIT(MEMORY_PROCESS)),
				 GUARANTEE_NONE);
		assert_int_equal(probe.lacks[0] == '\0',
				 (probe.guarantees & NOOP_LIMITS) == NOOP_LIMITS);
	}
}

static void test_noop_operations(void **state)
{
	struct plan plan = {0};
	struct strv none = {0};
	struct buf text = BUF_INIT(64);
	struct json json = JSON_INIT(&text);
	const struct cordon_backend *b = &noop_backend;
	char *name = NULL;

	(void)state;
	assert_int_equal(b->restrict_filesystem(&plan, &none, &none, &none, NULL),
			 CORDON_E_UNSUPPORTED);
	assert_int_equal(b->restrict_network(&plan, &none, NULL), CORDON_E_UNSUPPORTED);
	assert_int_equal(b->restrict_syscalls(&plan, &none, NULL), CORDON_E_UNSUPPORTED);
	assert_int_equal(b->apply_restrictions(&plan, NULL), CORDON_E_UNSUPPORTED);
	assert_int_equal(b->snapshot(&plan, &name, NULL), CORDON_E_INVALID); /* of nothing */
	assert_int_equal(b->get_audit_log(&plan, &json, NULL), CORDON_E_UNSUPPORTED);
	assert_null(name);
}

/* A plan that noop cannot hold is refused at the last moment too, not only by selection. */
static void test_noop_refuses(void **state)
{
	char *const argv[] = {(char[]){"true"}, NULL};
	char *const envp[] = {NULL};
	char *const nothing[] = {NULL};
	const struct plan good = {.argv = argv, .envp = envp, .stdout_fd = 1, .stderr_fd = 2};
	struct plan plans[9];
	static const int want[9] = {CORDON_E_UNSUPPORTED, CORDON_E_UNSUPPORTED,
				    CORDON_E_UNSUPPORTED, CORDON_E_UNSUPPORTED,
				    CORDON_E_UNSUPPORTED, CORDON_E_INVALID,
				    CORDON_E_INVALID,     CORDON_E_INVALID,
				    CORDON_E_UNSUPPORTED};
	struct spawn_result spawned = {.proc = PROC_NONE};
	struct cordon_error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		plans[i] = good;
	plans[0].needs = GUARANTEE_BIT(NET_DENY);
	plans[1].memory_bytes = PLAN_LIMIT(1);
	plans[2].cpu_shares = PLAN_LIMIT(1);
	plans[3].max_processes = PLAN_LIMIT(1);
	plans[4].op_count = 1;
	plans[5].argv = nothing;
	plans[6].stdout_fd = -1;
	plans[7].argv = NULL;
	plans[8].cpu_percent = PLAN_LIMIT(1); /* without a control group, as 1 to 3 */
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		int r = noop_backend.spawn(&plans[i], &spawned, &err);

		if (r != want[i])
			fail_msg("plan %zu: got %d, want %d (%s)", i, r, want[i], err.message);
		assert_int_equal(spawned.proc.pid, -1);
	}
}

static char lookup_dir[] = "/tmp/cordon-lookup-XXXXXX";

static void lookup_make(const char *name, mode_t mode)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", lookup_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	(void)close(fd);
}

static void test_lookup(void **state)
{
	/* %s in path and want is the test's directory; PATH NULL leaves the variable out. */
	static const struct {
		const char *what;
		const char *name;
		const char *path;
		bool has_cwd;
		int want;
		const char *want_path;
	} lookup_rows[] = {
		{"plain", "tool", "%s/b", false, 0, "%s/b/tool"},
		{"the first wins", "tool", "%s/a:%s/b", false, 0, "%s/b/tool"},
		{"not executable here, executable later", "data", "%s/a:%s/b", false, 0,
		 "%s/b/data"},
		{"nowhere executable", "data", "%s/a", false, -EACCES, NULL},
		{"a directory is not a command", "dir", "%s/a", false, -EACCES, NULL},
		{"nowhere", "none", "%s/a:%s/b", false, -ENOENT, NULL},
		{"empty name", "", "%s/b", false, -ENOENT, NULL},
		{"a slash needs no search", "./x/y", "%s/b", false, 0, "./x/y"},
		{"an empty entry is the planned directory", "here", ":%s/b", true, 0, "%s/here"},
		{"an entry at the end too", "here", "%s/b:", true, 0, "%s/here"},
		{"a relative entry counts from it", "tool", "b", true, 0, "%s/b/tool"},
		{"a relative entry elsewhere", "tool", "b", false, -ENOENT, NULL},
		{"default path", "sh", NULL, false, 0, "/usr/bin/sh"},
		{"empty path is the planned directory", "sh", "", true, -ENOENT, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lookup_rows); i++) {
		char variable[512] = "OTHER=1";
		char want[256];
		char got[LIMIT_PATH_BYTES];
		char *const envp[] = {(char[]){"XPATH=/bin"}, variable, NULL};
		struct buf b = BUF_INIT(400);
		int r;

		if (lookup_rows[i].path) {
			for (const char *p = lookup_rows[i].path; *p; p++) {
				if (*p == '%') {
					buf_str(&b, lookup_dir);
					p++;
				} else {
					buf_char(&b, *p);
				}
			}
			(void)snprintf(variable, sizeof(variable), "PATH=%s", buf_cstr(&b));
		}
		buf_done(&b);
		r = lookup_command(lookup_rows[i].name, envp,
				   lookup_rows[i].has_cwd ? lookup_dir : NULL, got);
		if (r != lookup_rows[i].want)
			fail_msg("%s: got %d, want %d", lookup_rows[i].what, r,
				 lookup_rows[i].want);
		if (r < 0)
			continue;
		want[0] = '\0';
		if (str_starts(lookup_rows[i].want_path, "%s"))
			(void)snprintf(want, sizeof(want), "%s%s", lookup_dir,
				       lookup_rows[i].want_path + 2);
		else
			(void)snprintf(want, sizeof(want), "%s", lookup_rows[i].want_path);
		assert_string_equal(got, want);
	}
}

static int lookup_setup(void **state)
{
	char path[256];
	static const char *const dirs[] = {"a", "b", "a/dir"};

	(void)state;
	if (!mkdtemp(lookup_dir))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", lookup_dir, dirs[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	lookup_make("a/data", 0600);
	lookup_make("b/data", 0700);
	lookup_make("b/tool", 0700);
	lookup_make("here", 0700);
	return 0;
}

static int lookup_teardown(void **state)
{
	static const char *const names[] = {"a/data", "b/data", "b/tool", "here",
					    "a/dir",  "a",      "b",      ""};
	char path[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", lookup_dir, names[i]);
		(void)remove(path);
	}
	return 0;
}

static void test_lookup_too_long(void **state)
{
	char name[LIMIT_PATH_BYTES + 2];
	char got[LIMIT_PATH_BYTES];
	char *const envp[] = {NULL};

	(void)state;
	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(lookup_command(name, envp, NULL, got), -ENAMETOOLONG);
	assert_int_equal(lookup_command(name + 1, envp, NULL, got), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_guarantee_names),
		cmocka_unit_test(test_guarantee_sets),
		cmocka_unit_test(test_contract),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_registry_find),
		cmocka_unit_test(test_noop_guarantees),
		cmocka_unit_test(test_noop_operations),
		cmocka_unit_test(test_noop_refuses),
		cmocka_unit_test_setup_teardown(test_lookup, lookup_setup, lookup_teardown),
		cmocka_unit_test(test_lookup_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
