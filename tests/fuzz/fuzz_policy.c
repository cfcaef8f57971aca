/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy reader.  "Parsing never widens the default": the input is read as a project's file and laid
 * over the built-in default; when that is accepted, every value is compared with the default by plain
 * code that knows nothing of the table's tighten rules.  Also: a refusal has a message of one line, an
 * accepted text reads the same twice, and what was accepted as a first --policy file or as a ceiling can
 * be merged without harm.
 */
#include "../unit/policy_kit.h"

#include "base/path.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
	if (!claim)
		abort();
}

static void check_message(int r, const struct cordon_error *err)
{
	require(r < 0 && r == err->code && err->message[0]);
	for (const char *s = err->message; *s; s++)
		require((unsigned char)*s >= 0x20 && *s != 0x7f);
	for (const char *s = err->hint; *s; s++)
		require((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static struct policy *default_policy(void)
{
	struct policy *p = policy_new();

	require(p && policy_default(p, kit_context.workspace, NULL) == 0);
	return p;
}

/* Reads the text; NULL when it is refused. */
static struct policy *parse(const char *text, size_t size, enum layer layer, unsigned *kinds)
{
	struct policy *p = policy_new();
	struct cordon_error err = {0};
	int r;

	require(p);
	r = policy_parse(&kit_context, text, size, "f.yaml", layer, /* follow= */ false, p, kinds,
			 &err);
	if (r == 0)
		return p;
	check_message(r, &err);
	policy_free(p);
	return NULL;
}

/* Nothing of the default may open: each line one thing that a call may do. */
static void check_not_wider(const struct policy *p)
{
	require(p->level >= LEVEL_PROCESS);
	require(!policy_has(p, POLICY_RUNTIME) && !policy_has(p, POLICY_IMAGE));
	require(p->net_mode == NET_DENY && p->allowed_hosts.n == 0 && p->allow_private.n == 0);
	require(p->publish.n == 0 && p->sockets.n == 0 && p->devices.n == 0 && p->caches.n == 0);
	for (size_t i = 0; i < p->egress.n; i++)
		require(((const struct egress *)p->egress.records[i])->action == EGRESS_DENY);
	require(p->ssrf && p->ssrf_block_private && p->ssrf_pinning);
	require(p->fs_mode <= FS_SCOPED);
	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];
		size_t n = strlen(kit_context.workspace);

		require(strncmp(m->path, kit_context.workspace, n) == 0 &&
			(m->path[n] == '\0' || m->path[n] == '/') && !strstr(m->path, "/../") &&
			!str_ends(m->path, "/.."));
	}
	require(!p->git_hooks && !p->git_config && !p->gpu);
	require(p->env_pass.n == 0 && p->env_set.n == 0 && p->secret_grants.n == 0);
	require(!policy_has(p, POLICY_INJECTION) || p->injection == INJECT_HOST_BOUNDARY);
	require(strcmp(p->encryption, "aes-256-gcm") == 0);
	require(p->grace_ms >= 0 && p->grace_ms <= 2000 && p->approval_timeout_s <= 60);
	require(!p->log_inputs && !p->log_outputs && p->log_approvals);
	require(!policy_has(p, POLICY_RETENTION) && p->audit_destination == AUDIT_FILE);
	require(p->adapter == ADAPTER_AUTO && p->fallback == FALLBACK_REFUSE);
	require(p->suspicious_floor <= 0.3 && p->malicious_floor <= 0.7);
	require(p->tool_overrides.n == 0 && p->agent_overrides.n == 0 && p->constraints.n == 0);
	require(p->sequences.n == 0 && p->scan_modes.n == 0);
	require(p->action_suspicious >= ACTION_CONSTRAIN && p->action_malicious == ACTION_BLOCK);
	require(!(policy_has(p, POLICY_DRY_RUN) && p->dry_run));
	require(!(policy_has(p, POLICY_ENABLED) && !p->enabled));
	require(p->landlock_read.n == 0 && p->landlock_write.n == 0 && p->docker_mounts.n == 0);
	require(p->landlock_net == SIMPLE_NET_DENY && p->docker_net == ENGINE_NET_NONE);
	require(!(policy_has(p, POLICY_DOCKER_READ_ONLY) && !p->docker_read_only));
	require(!p->seatbelt_profile && !p->docker_image && !p->gvisor_platform && !p->fc_kernel);
	/* Limits that are set are limits. */
	require(!policy_has(p, POLICY_MEMORY) || p->memory_bytes > 0);
	require(!policy_has(p, POLICY_TIMEOUT) || p->timeout_ms > 0);
	require(!policy_has(p, POLICY_PROCESSES) || p->max_processes > 0);
	require(!policy_has(p, POLICY_OPEN_FILES) || p->max_open_files > 0);
	require(!policy_has(p, POLICY_OUTPUT) || p->max_output_bytes > 0);
}

/* Two readings of one text say the same. */
static void check_same(const struct policy *a, const struct policy *b)
{
	for (size_t row = 0; row < POLICY_ROWS; row++) {
		struct buf x = BUF_INIT(1 << 24), y = BUF_INIT(1 << 24);

		policy_value_text(&shape_policy, row, a, &x);
		policy_value_text(&shape_policy, row, b, &y);
		require(strcmp(buf_cstr(&x), buf_cstr(&y)) == 0);
		require(a->origin[row].line == b->origin[row].line);
		buf_done(&x);
		buf_done(&y);
	}
}

/* Lays a layer over the default; what is in force, or NULL when that is refused. */
static struct policy *over_default(const struct policy *layer, enum merge_mode mode)
{
	struct policy *p = default_policy();
	struct cordon_error err = {0};
	int r = policy_merge(p, layer, mode, &kit_context, &err);

	if (r == 0)
		return p;
	check_message(r, &err);
	policy_free(p);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct policy *layer = parse(text, size, LAYER_PROJECT, NULL);
	struct policy *again, *p;

	if (!layer)
		return 0;
	again = parse(text, size, LAYER_PROJECT, NULL);
	require(again);
	check_same(layer, again);
	policy_free(again);
	p = over_default(layer, MERGE_TIGHTEN);
	if (p)
		check_not_wider(p);
	policy_free(p);
	/* A ceiling only lowers. */
	p = over_default(layer, MERGE_CEILING);
	if (p && !policy_has(layer, POLICY_NET_MODE))
		require(p->net_mode == NET_DENY);
	if (p)
		require(p->level >= LEVEL_PROCESS && p->fs_mode <= FS_SCOPED && p->mounts.n <= 1 &&
			p->env_pass.n == 0 && p->sockets.n == 0 && p->secret_grants.n == 0);
	policy_free(p);
	p = over_default(layer, MERGE_REPLACE);
	require(p);
	policy_free(p);
	policy_free(layer);
	return 0;
}
