/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's session remembers what its tools did, also those that run outside of a sandbox: a file of secrets
 * that was read with the agent's own tool taints the session as one that a command opened.
 */
#include "hook/scene.h"

#include "policy/check.h"
#include "session/observe.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* The words by which a session knows tools, whatever the agent calls them. */
static const char *memory_tool(const char *tool, char *buffer, size_t size)
{
	static const char *const words[HOOK_TOOL_COUNT] = {[HOOK_TOOL_SHELL] = "Bash",
							   [HOOK_TOOL_WRITE] = "Write",
							   [HOOK_TOOL_PATCH] = "Edit",
							   [HOOK_TOOL_READ] = "Read",
							   [HOOK_TOOL_FETCH] = "WebFetch"};
	const char *word = words[hook_tool_find(tool)];

	if (word)
		return word;
	if (!str_starts(tool, HOOK_MCP_MARK))
		return tool;
	(void)snprintf(buffer, size, "mcp__cursor__%.80s", tool + strlen(HOOK_MCP_MARK));
	return buffer;
}

static bool memory_denies(const struct hook_scene *s, const struct session_info *info,
			  const struct session_event *event)
{
	const struct policy *p = s->effective->policy;
	enum taint_action action = policy_has(p, POLICY_TAINT_ACTION)
					   ? (enum taint_action)p->taint_action
					   : TAINT_DENY_EGRESS;

	return info->tainted_ms != 0 && action == TAINT_DENY_EGRESS &&
	       (policy_has(p, POLICY_TAINT_ACTION) || policy_is_enforcing(p)) &&
	       (event->facts & SESSION_FETCH) && p->net_mode != NET_ALLOWLIST;
}

/* All of the paths and URLs: an agent that names a harmless one first has named the other too. */
static int memory_observe(struct session_call *call, const struct hook_touched *t,
			  struct observed *ret)
{
	int r = observe_call(call, ret);

	call->command = NULL;
	for (size_t i = 0; r == 0 && i < t->paths->n; i++) {
		call->path = t->paths->v[i];
		r = observe_more(call, ret);
	}
	call->path = NULL;
	for (size_t i = 0; r == 0 && i < t->urls->n; i++) {
		call->url = t->urls->v[i];
		r = observe_more(call, ret);
	}
	return r;
}

int hook_remember(struct hook_scene *s, const struct hook_touched *t, struct hook_answer *a,
		  struct session_store **ret_store, struct session_event *ret_event,
		  struct observed *observed, struct cordon_error *err)
{
	struct session_call call = {
		.tool = memory_tool(s->call->tool, s->tool, sizeof(s->tool)),
		.command = t->command,
		.cwd = s->place.cwd,
		.home = s->place.home,
	};
	struct session_info info = {0};
	int r;

	if (!s->call->session)
		return 0;
	if (memory_observe(&call, t, observed) < 0)
		return cordon_nomem(err);
	*ret_event = observe_event(&call, observed);
	r = session_open(s->effective->state_dir, ret_store, err);
	if (r == 0)
		r = session_judge(*ret_store, s->call->session, ret_event, s->effective->policy,
				  &s->judgement.findings, err);
	if (r == 0)
		r = session_find(*ret_store, s->call->session, &info, err);
	if (r < 0)
		return r;
	if (memory_denies(s, &info, ret_event))
		return hook_refuse(s, a, "network", s->call->tool,
				   "policy.taint: the session is tainted",
				   "a person can run 'cordon session lift'", err);
	return 0;
}
