/* SPDX-License-Identifier: Apache-2.0 */
/* See needs.h.  One table row per guarantee that a value can make necessary. */
#include "core/needs.h"

#include "inspect/text/cues.h"
#include "secrets/leak.h"

/* Does the value of the row ask for the guarantee? */
typedef bool (*need_test)(const struct policy *p);

static bool need_net_deny(const struct policy *p)
{
	return p->net_mode == NET_DENY;
}

static bool need_net_allowlist(const struct policy *p)
{
	return p->net_mode == NET_ALLOWLIST;
}

/* With an allowlist the proxy does it; an open network needs somebody else to.  The built-in default
 * does not ask for it: who opens the network by hand gets an open network. */
static bool need_ssrf(const struct policy *p)
{
	return p->net_mode == NET_ALLOW_ALL && p->ssrf && p->ssrf_block_private &&
	       (policy_is_written(p, POLICY_SSRF) || policy_is_written(p, POLICY_SSRF_PRIVATE));
}

static bool need_egress(const struct policy *p)
{
	return p->egress.n > 0;
}

static bool need_no_commit(const struct policy *p)
{
	return !p->git_commit;
}

static bool need_no_hooks(const struct policy *p)
{
	return !p->git_hooks;
}

static bool need_no_config(const struct policy *p)
{
	return !p->git_config;
}

static bool need_scope(const struct policy *p)
{
	return p->fs_mode != FS_FULL;
}

/* A list of what may be touched says that nothing else may. */
static bool need_mounts(const struct policy *p)
{
	return p->mounts.n > 0 && p->fs_mode != FS_FULL;
}

static bool need_denied(const struct policy *p)
{
	return p->denied.n > 0;
}

static bool need_protected(const struct policy *p)
{
	return p->protected_paths.n > 0;
}

static bool need_cow(const struct policy *p)
{
	return p->workspace != WORKSPACE_DIRECT;
}

static bool need_boundary(const struct policy *p)
{
	return p->secret_grants.n > 0 &&
	       (!policy_has(p, POLICY_INJECTION) || p->injection == INJECT_HOST_BOUNDARY);
}

static bool need_secret_file(const struct policy *p)
{
	return p->secret_grants.n > 0 && policy_has(p, POLICY_INJECTION) &&
	       p->injection == INJECT_FILE_MOUNT;
}

static bool need_secret_env(const struct policy *p)
{
	return p->secret_grants.n > 0 && policy_has(p, POLICY_INJECTION) &&
	       p->injection == INJECT_ENVIRONMENT;
}

static bool need_gpu(const struct policy *p)
{
	return p->gpu;
}

static bool need_list_sockets(const struct policy *p)
{
	return p->sockets.n > 0;
}

static bool need_list_publish(const struct policy *p)
{
	return p->publish.n > 0;
}

static bool need_list_ports(const struct policy *p)
{
	return p->ports.n > 0 && p->net_mode != NET_ALLOW_ALL;
}

static bool need_list_devices(const struct policy *p)
{
	return p->devices.n > 0;
}

static bool need_list_caches(const struct policy *p)
{
	return p->caches.n > 0;
}

static bool need_wx(const struct policy *p)
{
	return p->write_xor_execute;
}

static bool need_debug(const struct policy *p)
{
	return p->debug;
}

static bool need_calls(const struct policy *p)
{
	return p->denied_syscalls.n > 0;
}

static bool need_given(const struct policy *p)
{
	(void)p;
	return true; /* that the row is set is enough */
}

/* What has to hold where memory-tree may be given up. */
static bool need_process(const struct policy *p)
{
	return p->memory_scope == MEMORY_SCOPE_PROCESS;
}

static const struct {
	enum policy_row row;
	enum guarantee guarantee;
	need_test test;
} need_rows[] = {
	{POLICY_NET_MODE, GUARANTEE_NET_DENY, need_net_deny},
	{POLICY_NET_MODE, GUARANTEE_NET_ALLOWLIST, need_net_allowlist},
	{POLICY_SSRF_PRIVATE, GUARANTEE_NET_SSRF, need_ssrf},
	{POLICY_SSRF, GUARANTEE_NET_SSRF, need_ssrf},
	{POLICY_EGRESS, GUARANTEE_NET_ALLOWLIST, need_egress},
	{POLICY_GIT_COMMIT, GUARANTEE_WRITE_SCOPE, need_no_commit},
	{POLICY_GIT_HOOKS, GUARANTEE_PROTECT_MISSING, need_no_hooks},
	{POLICY_GIT_CONFIG, GUARANTEE_PROTECT_MISSING, need_no_config},
	{POLICY_FS_MODE, GUARANTEE_READ_SCOPE, need_scope},
	{POLICY_FS_MODE, GUARANTEE_WRITE_SCOPE, need_scope},
	{POLICY_FS_MODE, GUARANTEE_PRIVATE_TMP, need_scope},
	{POLICY_FS_MODE, GUARANTEE_HIDE_METADATA, need_scope},
	{POLICY_MOUNTS, GUARANTEE_READ_SCOPE, need_mounts},
	{POLICY_MOUNTS, GUARANTEE_WRITE_SCOPE, need_mounts},
	{POLICY_DENIED, GUARANTEE_DENY_INSIDE_ALLOW, need_denied},
	{POLICY_PROTECTED, GUARANTEE_PROTECT_MISSING, need_protected},
	{POLICY_WRITE_XOR_EXECUTE, GUARANTEE_WRITE_XOR_EXECUTE, need_wx},
	{POLICY_DEBUG, GUARANTEE_DEBUG_GRANT, need_debug},
	{POLICY_DENIED_SYSCALLS, GUARANTEE_SYSCALL_LIST, need_calls},
	{POLICY_WORKSPACE, GUARANTEE_COW_WORKSPACE, need_cow},
	{POLICY_IMAGE, GUARANTEE_IMAGE_ROOT, need_given},
	{POLICY_SECRET_GRANTS, GUARANTEE_SECRET_BOUNDARY, need_boundary},
	{POLICY_SECRET_GRANTS, GUARANTEE_SECRET_FILE, need_secret_file},
	{POLICY_SECRET_GRANTS, GUARANTEE_SECRET_ENV, need_secret_env},
	{POLICY_SOCKETS, GUARANTEE_SOCKET_GRANT, need_list_sockets},
	{POLICY_PUBLISH, GUARANTEE_PORT_PUBLISH, need_list_publish},
	{POLICY_PORTS, GUARANTEE_PORT_GRANT, need_list_ports},
	{POLICY_DEVICES, GUARANTEE_DEVICE_GRANT, need_list_devices},
	{POLICY_GPU, GUARANTEE_DEVICE_GRANT, need_gpu},
	{POLICY_CACHES, GUARANTEE_CACHE_GRANT, need_list_caches},
	{POLICY_MEMORY, GUARANTEE_MEMORY_TREE, need_given},
	{POLICY_MEMORY, GUARANTEE_MEMORY_PROCESS, need_process},
	{POLICY_CPU_SHARES, GUARANTEE_CPU_SHARES, need_given},
	{POLICY_CPU_PERCENT, GUARANTEE_CPU_PERCENT, need_given},
	{POLICY_PROCESSES, GUARANTEE_PIDS, need_given},
	{POLICY_OPEN_FILES, GUARANTEE_OPEN_FILES, need_given},
	{POLICY_TIMEOUT, GUARANTEE_WALL_CLOCK, need_given},
	{POLICY_OUTPUT, GUARANTEE_OUTPUT_LIMIT, need_given},
};

static bool need_counts(const struct policy *p, enum policy_row row)
{
	return p->level == LEVEL_NONE ? policy_is_written(p, row) : policy_has(p, row);
}

void needs_reason(const struct policy *p, enum guarantee g, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(need_rows); i++) {
		enum policy_row row = need_rows[i].row;

		if (need_rows[i].guarantee != g || !need_counts(p, row) || !need_rows[i].test(p))
			continue;
		buf_printf(out, "%s (", shape_policy.fields[row].path);
		policy_origin_text(p, &p->origin[row], out);
		buf_char(out, ')');
		return;
	}
}

/* Values that need a part of cordon which this build does not have. */
static bool absent_injection(const struct policy *p)
{
	return policy_has(p, POLICY_PI_DETECTION) && p->pi_detection == DETECT_LLM &&
	       p->pi_action != PI_IGNORE;
}

/* A policy may say how many patterns have to be looked for: each cue is one. */
static bool absent_patterns(const struct policy *p)
{
	return policy_has(p, POLICY_PI_COUNT) && p->pi_action != PI_IGNORE &&
	       !(policy_has(p, POLICY_PI_DETECTION) && p->pi_detection == DETECT_NONE) &&
	       p->pi_count > (int64_t)cues_n;
}

/* A policy may say how many families of secrets have to be looked for. */
static bool absent_scan(const struct policy *p)
{
	return p->secret_scan && policy_has(p, POLICY_SCAN_PATTERNS) &&
	       p->scan_patterns > (int64_t)leak_rule_count();
}

static bool absent_leaks(const struct policy *p)
{
	return p->leak_detection && policy_has(p, POLICY_LEAK_PATTERNS) &&
	       p->leak_patterns > (int64_t)leak_rule_count();
}

static bool absent_destination(const struct policy *p)
{
	return p->audit_destination != AUDIT_FILE;
}

static const struct {
	enum policy_row row;
	need_test test;
	const char *what;
	const char *remedy;
} absent_rows[] = {
	{POLICY_PI_DETECTION, absent_injection, "prompt-injection detection by a language model",
	 "set prompt_injection.detection to pattern or hybrid"},
	{POLICY_PI_COUNT, absent_patterns, "more patterns of prompt injection",
	 "lower prompt_injection.pattern_count"},
	{POLICY_SCAN_PATTERNS, absent_scan, "more pattern families of secrets",
	 "lower secret_scanning.patterns"},
	{POLICY_LEAK_PATTERNS, absent_leaks, "more pattern families of secrets",
	 "lower leak_detection.patterns"},
	{POLICY_DESTINATION, absent_destination, "audit destinations other than the file",
	 "set audit.destination to file; 'cordon audit export' feeds other tools"},
};

static int needs_absent(const struct policy *p, struct cordon_error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(absent_rows); i++) {
		struct buf from = BUF_INIT(1024);
		int r;

		if (!absent_rows[i].test(p))
			continue;
		policy_origin_text(p, &p->origin[absent_rows[i].row], &from);
		r = cordon_fail(err, CORDON_E_UNSUPPORTED,
				"the policy asks for %s, which this build does not have: '%s' (%s)",
				absent_rows[i].what, shape_policy.fields[absent_rows[i].row].path,
				buf_cstr(&from));
		buf_done(&from);
		return cordon_hint(err, r, "%s", absent_rows[i].remedy);
	}
	return 0;
}

int needs_of(const struct policy *p, struct needs *ret, struct cordon_error *err)
{
	/* A call is a program of this machine: a level that runs other code is not a stronger one. */
	struct needs n = {.guarantees = GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(NATIVE_CODE)};
	int r = needs_absent(p, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(need_rows); i++)
		if (need_counts(p, need_rows[i].row) && need_rows[i].test(p))
			n.guarantees |= (guarantee_set)1 << need_rows[i].guarantee;
	if (p->level > LEVEL_NONE) {
		/* An emulator has more to break, and takes more time: only for who asks for it. */
		n.guarantees |= GUARANTEE_BIT(UNEMULATED);
		/* Credentials and protected names hold in every sandbox, and nothing outlives its call. */
		n.guarantees |= GUARANTEE_BIT(DENY_INSIDE_ALLOW) | GUARANTEE_BIT(PROTECT_MISSING) |
				GUARANTEE_BIT(KILL_TREE);
		if (!policy_is_written(p, POLICY_FS_MODE) && !p->origin[POLICY_FS_MODE].implied)
			n.may_give_up = SELECT_DEFAULT_GIVES_UP;
	}
	if (p->memory_scope == MEMORY_SCOPE_PROCESS)
		n.may_give_up |= GUARANTEE_BIT(MEMORY_TREE);
	if (p->vm_emulation)
		n.may_give_up |= GUARANTEE_BIT(UNEMULATED);
	*ret = n;
	return 0;
}
