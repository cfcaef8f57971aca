/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_plan.h. */
#include "core/keeper_plan.h"

#include "backend/native/native.h"
#include "backend/registry.h"
#include "base/env.h"
#include "core/calls.h"
#include "core/grants.h"
#include "core/needs.h"
#include "policy/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int keeper_plan_check(const struct policy *p, struct cordon_error *err)
{
	const struct {
		bool is_asked;
		const char *what;
		const char *hint;
	} rows[] = {
		{p->level != LEVEL_PROCESS, "another level than process",
		 "--level process is the one that can hold processes between calls"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].is_asked)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_UNSUPPORTED,
						       "a sandbox that stays cannot have %s",
						       rows[i].what),
					   "%s", rows[i].hint);
	return 0;
}

static struct plan_limit keeper_limit(const struct policy *p, enum policy_row row)
{
	int64_t v = *(const int64_t *)field_value_const(&shape_policy.fields[row], p);

	return policy_has(p, row) ? PLAN_LIMIT((uint64_t)v) : (struct plan_limit){0};
}

/* Why a backend has no sandboxes that stay. */
static int keeper_cannot_stay(const char *backend, struct cordon_error *err)
{
	static const struct {
		const char *backend;
		const char *why;
	} rows[] = {
		{"nsjail", "it ends with the command that it started"},
		{"chroot", "nothing ends what a call left behind when its keeper is killed"},
		{"noop", "it holds nothing"},
	};
	const char *why = "it lives as long as its call";

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(backend, rows[i].backend) == 0)
			why = rows[i].why;
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "backend '%s' cannot hold a sandbox that stays: %s", backend,
				       why),
			   "use native, bwrap or landlock, or leave '--backend' out");
}

/* One of them.  What it does not see to its end it does not begin: without a way to end everything there is none. */
static int keeper_try(const struct policy *p, const struct cordon_backend *b, struct selection *ret,
		      struct cordon_error *err)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.backend = b->info->name, .floor = (enum level)p->level};
	struct needs needs;
	size_t n;
	int r = needs_of(p, &needs, err);

	if (r < 0)
		return r;
	/* It has no network of its own: what leads to a proxy there belongs to one call. */
	if (b->copies_workspace && egress_is_needed(p))
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "a sandbox that stays cannot have a list of hosts under "
				    "backend '%s'",
				    b->info->name),
			"use --backend native or bwrap, or --net deny");
	request.needs = needs.guarantees | GUARANTEE_BIT(KILL_TREE) | GUARANTEE_BIT(COW_WORKSPACE);
	request.may_give_up = needs.may_give_up;
	n = registry_probe_for(PROBE_QUICK, &request, candidates);
	return backend_select(candidates, n, &request, ret, err);
}

int keeper_plan_select(const struct policy *p, const char *backend, struct selection *ret,
		       struct cordon_error *err)
{
	const struct cordon_backend *const *all;
	const struct cordon_backend *named = NULL;
	size_t n;
	int r;

	if (!backend && policy_has(p, POLICY_RUNTIME))
		backend = runtime_backend((enum runtime)p->runtime);
	if (backend && strcmp(backend, "auto") != 0 && strcmp(backend, "strongest") != 0) {
		r = registry_find(backend, &named, err);
		if (r < 0)
			return r;
		return named->can_stay ? keeper_try(p, named, ret, err)
				       : keeper_cannot_stay(backend, err);
	}
	all = registry_all(&n);
	r = keeper_try(p, &native_backend, ret, err); /* whose reasons count */
	for (size_t i = 0; i < n && r == CORDON_E_NO_BACKEND; i++) {
		struct cordon_error why = {0};

		if (all[i]->can_stay && all[i] != &native_backend &&
		    keeper_try(p, all[i], ret, &why) == 0)
			r = 0;
	}
	return r < 0 ? cordon_wrap(err, r, "no backend can hold a sandbox that stays") : 0;
}

/* The stored secrets that are the sandbox's own: those in files, and the placeholders of those at the boundary.  What is a
 * variable belongs to each call. */
static int keeper_secrets(const struct policy *p, const char *state_dir, guarantee_set needs,
			  struct keeper_plan *k, struct cordon_error *err)
{
	int r;

	if (p->secret_grants.n == 0 || secret_injection(p) == INJECT_ENVIRONMENT)
		return 0;
	r = inject_begin(p, state_dir, needs, &k->inject, err);
	if (r == 0)
		r = egress_secrets_make(p, &k->inject.grants, &k->secrets, err);
	return r;
}

static int keeper_view(const struct policy *p, const char *state_dir, const struct sandbox_row *row,
		       struct keeper_plan *k, struct cordon_error *err)
{
	struct fsplan_input in = {
		.policy = p,
		.request = k->request,
		.envp = row->environment.v,
		.state_dir = state_dir,
		.is_root = geteuid() == 0,
	};
	struct workset set = WORKSET_NONE;
	int r = env_config_dir(&k->config_dir);

	if (r == 0 || r == -ENOENT)
		r = env_runtime_dir(&k->runtime_dir);
	if (r < 0 && r != -ENOENT)
		return cordon_fail_leaf(err, r, "find our directories");
	in.config_dir = k->config_dir;
	in.runtime_dir = k->runtime_dir;
	r = cow_open(state_dir, row->id, COW_EXCLUSIVE, &k->cow, err);
	if (r < 0)
		return r;
	in.cow_dir = k->cow.dir;
	r = grants_make_caches(p, row->workspace, state_dir, err);
	if (r == 0)
		r = fsplan_build(&in, &k->view, err);
	if (r == 0)
		r = inject_files(&k->inject, &k->view, err);
	set.cow = &k->cow;
	return r < 0 ? r : workset_prepare(&set, &k->view, &k->plan, err);
}

int keeper_plan_make(const struct policy *p, const struct selection *selection,
		     const struct sandbox_row *row, const char *state_dir, struct keeper_plan *ret,
		     struct cordon_error *err)
{
	static char word[] = "true";
	char *argv[] = {word, NULL};
	struct plan *plan = &ret->plan;
	struct needs needs;
	int r;

	*ret = (struct keeper_plan){
		.egress = EGRESS_CALL, .cow = COW_NONE, .selection = *selection};
	*plan = (struct plan){
		.id = row->id,
		.serves = true,
		.cwd = row->workspace,
		.stdin_fd = STDIN_FILENO,
		.stdout_fd = STDOUT_FILENO,
		.stderr_fd = STDERR_FILENO,
		.envp = row->environment.v,
		.scratch_dir = state_dir,
		.memory_bytes = keeper_limit(p, POLICY_MEMORY),
		.cpu_shares = keeper_limit(p, POLICY_CPU_SHARES),
		.cpu_percent = keeper_limit(p, POLICY_CPU_PERCENT),
		.max_processes = keeper_limit(p, POLICY_PROCESSES),
		.max_open_files = keeper_limit(p, POLICY_OPEN_FILES),
		.separates_exec = p->write_xor_execute,
		.allows_ptrace = p->debug,
		.net = egress_is_needed(p)            ? PLAN_NET_PROXY
		       : p->net_mode == NET_ALLOW_ALL ? PLAN_NET_HOST
						      : PLAN_NET_NONE,
	};
	r = keeper_plan_check(p, err);
	if (r == 0)
		r = needs_of(p, &needs, err);
	if (r == 0)
		r = keeper_secrets(p, state_dir, needs.guarantees, ret, err);
	if (r == 0)
		r = ports_plan(p, &ret->ports, plan, err);
	if (r == 0)
		r = request_from_argv(argv, &(struct request_options){.cwd = row->workspace},
				      &ret->request, err);
	if (r == 0)
		r = keeper_view(p, state_dir, row, ret, err);
	plan->ops = ret->view.ops;
	plan->op_count = ret->view.n;
	plan->seals_unix = ret->view.seals_unix;
	plan->by_rlimit = ret->selection.by_rlimit;
	if (r == 0)
		r = calls_plan(p, &ret->calls, plan, err);
	return r;
}

void keeper_plan_forget_secrets(struct keeper_plan *k)
{
	egress_secrets_done(&k->secrets);
	inject_done(&k->inject);
	k->inject = (struct inject){0};
}

void keeper_plan_done(struct keeper_plan *k)
{
	egress_done(&k->egress);
	keeper_plan_forget_secrets(k);
	fsplan_done(&k->view);
	cow_close(&k->cow);
	request_free(k->request);
	free(k->config_dir);
	free(k->runtime_dir);
	*k = (struct keeper_plan){.egress = EGRESS_CALL, .cow = COW_NONE};
}
