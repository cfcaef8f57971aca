/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_plan.h. */
#include "core/keeper_plan.h"

#include "backend/registry.h"
#include "base/env.h"
#include "core/calls.h"
#include "core/grants.h"
#include "core/needs.h"

#include <errno.h>
#include <unistd.h>

int keeper_plan_check(const struct policy *p, struct cordon_error *err)
{
	const struct {
		bool is_asked;
		const char *what;
		const char *hint;
	} rows[] = {
		{p->net_ask, "network.ask: between calls nobody is there who could be asked",
		 "name the hosts with --allow-host"},
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

/* Only native can serve (backend/native/serve.h); it has to be able to hold the whole policy. */
static int keeper_select(const struct policy *p, struct selection *ret, guarantee_set *ret_needs,
			 struct cordon_error *err)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.backend = "native", .floor = (enum level)p->level};
	struct needs needs;
	size_t n;
	int r = needs_of(p, &needs, err);

	if (r < 0)
		return r;
	request.needs = needs.guarantees;
	request.may_give_up = needs.may_give_up;
	n = registry_probe_for(PROBE_QUICK, &request, candidates);
	r = backend_select(candidates, n, &request, ret, err);
	*ret_needs = needs.guarantees;
	return r < 0 ? cordon_wrap(err, r, "a sandbox that stays needs backend 'native'") : 0;
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

int keeper_plan_make(const struct policy *p, const struct sandbox_row *row, const char *state_dir,
		     struct keeper_plan *ret, struct cordon_error *err)
{
	static char word[] = "true";
	char *argv[] = {word, NULL};
	struct plan *plan = &ret->plan;
	guarantee_set needs = GUARANTEE_NONE;
	int r;

	*ret = (struct keeper_plan){.egress = EGRESS_CALL, .cow = COW_NONE};
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
		r = keeper_select(p, &ret->selection, &needs, err);
	if (r == 0)
		r = keeper_secrets(p, state_dir, needs, ret, err);
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
