/* SPDX-License-Identifier: Apache-2.0 */
/* A constrained policy grants what enforcement.suspicious names, of what was granted anyway. */
#include "core_fixture.h"

#include "core/constrain.h"

#define SUSPICIOUS                                                                                 \
	"enforcement: {suspicious: {Bash: {filesystem_writable: [\"${PROJECT_DIR}/out\", /tmp], "  \
	"filesystem_readable: [\"${PROJECT_DIR}\", /usr], network_allow: [a.org, b.org]}}}\n"

static const struct {
	const char *what, *yaml, *tool;
	enum fs_mode fs;
	const char *mounts; /* "rw @/out, ro @" with @ for the workspace */
	enum net_mode net;
	const char *hosts;
} rows[] = {
	{"default: the workspace is granted, nothing else", SUSPICIOUS, "Bash", FS_SCOPED,
	 "rw @/out, ro @, ", NET_DENY, ""},
	{"a tool that is not listed gets nothing", SUSPICIOUS, "Other", FS_DENY, "", NET_DENY, ""},
	{"no block at all", "enforcement: {enabled: true}\n", "Bash", FS_DENY, "", NET_DENY, ""},
	{"full view: all that is named",
	 "sandbox: {capabilities: {filesystem: {mode: full}}}\n" SUSPICIOUS, "Bash", FS_SCOPED,
	 "rw @/out, rw /tmp, ro @, ro /usr, ", NET_DENY, ""},
	{"a view of nothing stays that",
	 "sandbox: {capabilities: {filesystem: {mode: deny}}}\n" SUSPICIOUS, "Bash", FS_DENY, "",
	 NET_DENY, ""},
	{"read-only grants do not become writable",
	 "sandbox: {capabilities: {filesystem: {mode: scoped, mount_paths: [{path: ., permissions: ro}]}}}\n" SUSPICIOUS,
	 "Bash", FS_SCOPED, "ro @, ", NET_DENY, ""},
	{"hosts of the allowlist that are named too",
	 "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: [a.org, c.org]}}}\n" SUSPICIOUS,
	 "Bash", FS_SCOPED, "rw @/out, ro @, ", NET_ALLOWLIST, "a.org, "},
	{"an open network closes to the named",
	 "sandbox: {capabilities: {network: {mode: allow-all}}}\n" SUSPICIOUS, "Bash", FS_SCOPED,
	 "rw @/out, ro @, ", NET_ALLOWLIST, "a.org, b.org, "},
	{"an open network closes",
	 "sandbox: {capabilities: {network: {mode: allow-all}}}\n" SUSPICIOUS, "Other", FS_DENY, "",
	 NET_DENY, ""},
};

static void describe(const struct policy *p, struct buf *mounts, struct buf *hosts)
{
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];
		bool inside = str_starts(m->path, fixture_dir);

		buf_printf(mounts, "%s %s%s, ", m->permissions == PERMISSION_RW ? "rw" : "ro",
			   inside ? "@" : "", m->path + (inside ? strlen(fixture_dir) : 0));
	}
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		buf_printf(hosts, "%s, ", p->allowed_hosts.items[i].text);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(rows[i].yaml);
		AUTO(policy_freep) struct policy *tight = NULL;
		struct buf mounts = BUF_INIT(4096), hosts = BUF_INIT(4096);

		assert_int_equal(constrain_policy(p, rows[i].tool, "auto", &tight, NULL), 0);
		describe(tight, &mounts, &hosts);
		if ((int)rows[i].fs != tight->fs_mode || (int)rows[i].net != tight->net_mode ||
		    strcmp(buf_cstr(&mounts), rows[i].mounts) != 0 ||
		    strcmp(buf_cstr(&hosts), rows[i].hosts) != 0)
			fail_msg("%s: %s [%s] %s [%s]", rows[i].what,
				 names_word(&names_fs_mode, tight->fs_mode), buf_cstr(&mounts),
				 names_word(&names_net_mode, tight->net_mode), buf_cstr(&hosts));
		/* it counts as written, at every level */
		assert_true(policy_is_written(tight, POLICY_FS_MODE) &&
			    policy_is_written(tight, POLICY_NET_MODE));
		assert_true(tight->level >= LEVEL_PROCESS);
		buf_done(&mounts);
		buf_done(&hosts);
	}
}

/* Grants that cannot be named there do not stay, restrictions do. */
static void test_others(void **state)
{
	AUTO(policy_freep)
	struct policy *p = fixture_policy(
		"sandbox:\n  level: none\n  capabilities:\n    gpu: true\n    devices: [/dev/fuse]\n    caches: [npm]\n"
		"    network: {sockets: [/s], publish: [80], ports: [81], mode: allow-all, allow_private: [10.0.0.0/8]}\n"
		"    secrets: {grants: [{name: a}]}\n    filesystem: {denied_paths: [/x]}\n"
		"  resource_limits: {timeout_ms: 5}\n" SUSPICIOUS);
	AUTO(policy_freep) struct policy *tight = NULL;

	(void)state;
	assert_int_equal(constrain_policy(p, "Bash", "auto", &tight, NULL), 0);
	assert_int_equal(tight->level, LEVEL_PROCESS);
	assert_false(tight->gpu);
	assert_int_equal(tight->devices.n + tight->caches.n + tight->sockets.n + tight->publish.n +
				 tight->ports.n + tight->allow_private.n + tight->secret_grants.n,
			 0);
	assert_int_equal(tight->denied.n, 1);
	assert_int_equal(tight->timeout_ms, 5);
}

/* The block of the adapter, only where the call goes to it, and only what the policy grants. */
static void test_engine(void **state)
{
	static const char yaml[] =
		"sandbox: {capabilities: {network: {mode: allow-all}}}\n"
		"enforcement: {docker: {image: 'img:1', network: none, mounts: [{source: /etc, target: /etc}, "
		"{source: ., target: @}]}}\n";
	char text[sizeof(yaml) + 4096];
	AUTO(policy_freep) struct policy *p = NULL;
	AUTO(policy_freep) struct policy *tight = NULL;
	AUTO(policy_freep) struct policy *other = NULL;
	AUTO(policy_freep) struct policy *moved = NULL;
	struct constrained shown = {0};
	struct buf mounts = BUF_INIT(4096), hosts = BUF_INIT(4096);
	const char *at = strchr(yaml, '@');

	(void)state;
	(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - yaml), yaml, fixture_dir, at + 1);
	p = fixture_policy(text);
	assert_int_equal(constrain_policy(p, "T", "docker", &tight, NULL), 0);
	describe(tight, &mounts, &hosts);
	assert_string_equal(buf_cstr(&mounts), "ro @, ");
	assert_string_equal(tight->image, "img:1");
	assert_int_equal(tight->net_mode, NET_DENY);
	assert_int_equal(tight->fs_mode, FS_SCOPED);
	assert_int_equal(constrain_policy(p, "T", "native", &other, NULL), 0);
	assert_null(other->image);
	assert_int_equal(other->fs_mode, FS_DENY);
	policy_free(p);
	p = fixture_policy("enforcement: {docker: {mounts: [{source: ., target: /elsewhere}]}}\n");
	assert_int_equal(constrain_policy(p, "T", "docker", &moved, NULL), CORDON_E_UNSUPPORTED);
	/* where it is only shown, it is shown as a problem */
	assert_int_equal(constrain_plan(p, "T", NULL, "docker", &shown, NULL), 0);
	assert_non_null(shown.policy);
	assert_null(shown.selection.backend);
	assert_non_null(strstr(shown.problem, "cannot be mounted"));
	constrained_done(&shown);
	buf_done(&mounts);
	buf_done(&hosts);
}

static void test_backend(void **state)
{
	static const struct {
		const char *yaml, *chosen, *tool, *agent, *want;
	} rows_[] = {
		{NULL, NULL, "T", NULL, "strongest"},
		{NULL, "auto", "T", NULL, "strongest"},
		{NULL, "noop", "T", NULL, "noop"},
		{"enforcement: {adapter: docker}\n", NULL, "T", NULL, "docker"},
		{"enforcement: {adapter: docker}\n", "bwrap", "T", NULL, "bwrap"},
		{"enforcement: {adapter: docker, overrides: {tool_name: {T: {adapter: wasm}}}}\n",
		 NULL, "T", "g", "wasm"},
		{"enforcement: {adapter: docker, overrides: {tool_name: {T: {adapter: wasm}}}}\n",
		 NULL, "U", "g", "docker"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows_); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(rows_[i].yaml);

		assert_string_equal(constrain_backend(p, rows_[i].tool, rows_[i].agent,
						      rows_[i].chosen),
				    rows_[i].want);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_engine),
		cmocka_unit_test(test_backend),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
