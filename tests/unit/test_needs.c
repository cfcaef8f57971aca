/* SPDX-License-Identifier: Apache-2.0 */
/* Which value of a policy makes which guarantee necessary, at level none and above. */
#include "core_fixture.h"

#include "core/needs.h"

#define G(id) GUARANTEE_BIT(id)
#define SUPERVISED (G(WALL_CLOCK) | G(OUTPUT_LIMIT) | G(OPEN_FILES) | G(ENV_SCRUB))

/* {written at level none, what is needed besides what every call needs} */
static const struct {
	const char *sandbox;
	guarantee_set want;
} none_rows[] = {
	{"", 0},
	{"capabilities: {network: {mode: deny}}", G(NET_DENY)},
	{"capabilities: {network: {mode: allowlist, allowed_hosts: [a.b]}}", G(NET_ALLOWLIST)},
	{"capabilities: {network: {mode: allow-all}}", 0},
	{"capabilities: {network: {mode: allow-all, ssrf_protection: {enabled: true}}}",
	 G(NET_SSRF)},
	{"capabilities: {network: {mode: allow-all, ssrf_protection: {enabled: false}}}", 0},
	{"capabilities: {filesystem: {mode: full}}", 0},
	{"capabilities: {filesystem: {mode: deny}}",
	 G(READ_SCOPE) | G(WRITE_SCOPE) | G(PRIVATE_TMP) | G(HIDE_METADATA)},
	{"capabilities: {filesystem: {mode: read-only}}",
	 G(READ_SCOPE) | G(WRITE_SCOPE) | G(PRIVATE_TMP) | G(HIDE_METADATA)},
	{"capabilities: {filesystem: {denied_paths: [/x]}}", G(DENY_INSIDE_ALLOW)},
	{"capabilities: {filesystem: {protected_paths: [/x]}}", G(PROTECT_MISSING)},
	{"capabilities: {git: {commit: false}}", G(WRITE_SCOPE)},
	{"capabilities: {git: {write_hooks: false}}", G(PROTECT_MISSING)},
	{"capabilities: {git: {write_config: false}}", G(PROTECT_MISSING)},
	{"capabilities: {git: {commit: true, write_hooks: true, write_config: true}}", 0},
	{"workspace: cow", G(COW_WORKSPACE)},
	{"workspace: discard", G(COW_WORKSPACE)},
	{"workspace: direct", 0},
	{"image: debian", G(IMAGE_ROOT)},
	{"capabilities: {gpu: true}", G(DEVICE_GRANT)},
	{"capabilities: {gpu: false}", 0},
	{"capabilities: {devices: [/dev/fuse]}", G(DEVICE_GRANT)},
	{"capabilities: {caches: [npm]}", G(CACHE_GRANT)},
	{"capabilities: {debug: true}", G(DEBUG_GRANT)},
	{"capabilities: {denied_syscalls: [mkdir]}", G(SYSCALL_LIST)},
	{"capabilities: {filesystem: {write_xor_execute: true}}", G(WRITE_XOR_EXECUTE)},
	{"capabilities: {network: {sockets: [/s]}}", G(SOCKET_GRANT)},
	{"capabilities: {network: {publish: [80]}}", G(PORT_PUBLISH)},
	{"capabilities: {secrets: {grants: [{name: a}]}}", G(SECRET_BOUNDARY)},
	{"capabilities: {secrets: {injection: file-mount, grants: [{name: a}]}}", G(SECRET_FILE)},
	{"capabilities: {secrets: {injection: environment, grants: [{name: a}]}}", G(SECRET_ENV)},
	{"resource_limits: {memory_mb: 64}", G(MEMORY_TREE)},
	{"resource_limits: {cpu_shares: 64}", G(CPU_SHARES)},
	{"resource_limits: {max_cpu_pct: 64}", G(CPU_PERCENT)},
	{"resource_limits: {max_processes: 64}", G(PIDS)},
	{"resource_limits: {max_open_files: 64}", G(OPEN_FILES)},
	{"resource_limits: {timeout_ms: 64}", G(WALL_CLOCK)},
	{"resource_limits: {max_output_bytes: 64}", G(OUTPUT_LIMIT)},
};

static guarantee_set needs_in(const char *yaml, guarantee_set *ret_give_up)
{
	AUTO(policy_freep) struct policy *p = fixture_policy(yaml);
	struct cordon_error err = {0};
	struct needs needs = {0};

	if (needs_of(p, &needs, &err) < 0)
		fail_msg("%s: %s", yaml, err.message);
	if (ret_give_up)
		*ret_give_up = needs.may_give_up;
	return needs.guarantees;
}

static void test_none(void **state)
{
	guarantee_set always = needs_in("sandbox: {level: none}\n", NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(none_rows); i++) {
		char yaml[512];
		guarantee_set got;

		(void)snprintf(yaml, sizeof(yaml), "sandbox:\n  level: none\n  %s\n",
			       none_rows[i].sandbox);
		got = needs_in(yaml, NULL) & ~always;
		if (got != (none_rows[i].want & ~always)) {
			struct buf b = BUF_INIT(4096);

			guarantee_list(got, &b);
			fail_msg("%s: %s", none_rows[i].sandbox, buf_cstr(&b));
		}
	}
	/* Nothing written, nothing needed but what noop gives. */
	assert_false(always & (G(NET_DENY) | G(READ_SCOPE) | G(WRITE_SCOPE) | G(DENY_INSIDE_ALLOW) |
			       G(PROTECT_MISSING) | G(KILL_TREE) | G(PRIVATE_TMP)));
}

/* A CKP manifest of level none implies deny and deny: implied values have no effect there. */
static void test_implied(void **state)
{
	guarantee_set none = needs_in("sandbox: {level: none}\n", NULL);

	(void)state;
	assert_int_equal(
		needs_in(
			"claw: \"0.3.0\"\nkind: Sandbox\nmetadata: {name: a}\nspec: {level: none}\n",
			NULL),
		none);
	assert_int_equal(needs_in("claw: \"0.3.0\"\nkind: Sandbox\nmetadata: {name: a}\n"
				  "spec: {level: none, capabilities: {network: {mode: deny}}}\n",
				  NULL) &
				 ~none,
			 G(NET_DENY));
}

static void test_process(void **state)
{
	guarantee_set give_up = 0, got = needs_in(NULL, &give_up);
	const guarantee_set all = G(NET_DENY) | G(READ_SCOPE) | G(WRITE_SCOPE) |
				  G(DENY_INSIDE_ALLOW) | G(PROTECT_MISSING) | G(KILL_TREE) |
				  G(ENV_SCRUB) | G(PRIVATE_TMP) | G(HIDE_METADATA);

	(void)state;
	assert_int_equal(got & all, all);
	assert_int_equal(give_up, SELECT_DEFAULT_GIVES_UP);
	(void)needs_in("sandbox: {capabilities: {filesystem: {mode: scoped}}}\n", &give_up);
	assert_int_equal(give_up, 0);
	(void)needs_in(
		"claw: \"0.3.0\"\nkind: Sandbox\nmetadata: {name: a}\nspec: {level: process}\n",
		&give_up);
	assert_int_equal(give_up, 0);
}

/* What this build cannot do is an error that names the value, not a shrug. */
static void test_absent(void **state)
{
	static const struct {
		const char *yaml, *error; /* NULL: accepted */
	} rows[] = {
		{"prompt_injection: {detection: pattern, action: warn}", NULL},
		{"prompt_injection: {detection: llm-based, action: warn}", "prompt_injection"},
		{"prompt_injection: {detection: none}", NULL},
		{"prompt_injection: {detection: hybrid, action: ignore}", NULL},
		{"secret_scanning: {enabled: true}", NULL},
		{"prompt_injection: {detection: pattern, pattern_count: 20}", NULL},
		{"prompt_injection: {detection: pattern, pattern_count: 99999}",
		 "prompt_injection.pattern_count"},
		{"prompt_injection: {detection: none, pattern_count: 99999}", NULL},
		{"secret_scanning: {enabled: true, patterns: 22}", NULL},
		{"secret_scanning: {enabled: true, patterns: 99999}", "secret_scanning.patterns"},
		{"secret_scanning: {enabled: false}", NULL},
		{"taint: {action: deny-egress}", NULL},
		{"taint: {action: ignore}", NULL},
		{"audit: {destination: webhook}", "audit.destination"},
		{"audit: {destination: file}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = NULL;
		struct cordon_error err = {0};
		struct needs needs;
		char yaml[256];
		int r;

		(void)snprintf(yaml, sizeof(yaml), "policy: {%s}\n", rows[i].yaml);
		p = fixture_policy(yaml);
		r = needs_of(p, &needs, &err);
		if ((r < 0) != (rows[i].error != NULL) ||
		    (r < 0 && (r != CORDON_E_UNSUPPORTED || !strstr(err.message, rows[i].error) ||
			       !err.hint[0])))
			fail_msg("%s: %d %s", rows[i].yaml, r, err.message);
	}
}

static void test_reason(void **state)
{
	AUTO(policy_freep)
	struct policy *p =
		fixture_policy("sandbox:\n  level: none\n  resource_limits:\n    memory_mb: 64\n");
	struct buf b = BUF_INIT(1024);

	(void)state;
	needs_reason(p, GUARANTEE_MEMORY_TREE, &b);
	assert_non_null(strstr(buf_cstr(&b), "sandbox.resource_limits.memory_mb (user "));
	assert_non_null(strstr(buf_cstr(&b), "policy.yaml:4:"));
	buf_clear(&b);
	needs_reason(p, GUARANTEE_PIDS, &b);
	assert_int_equal(b.len, 0);
	buf_done(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),    cmocka_unit_test(test_implied),
		cmocka_unit_test(test_process), cmocka_unit_test(test_absent),
		cmocka_unit_test(test_reason),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
