/* SPDX-License-Identifier: Apache-2.0 */
/* See inject.h. */
#include "core/inject.h"

#include "base/limits.h"

#include <string.h>

#define INJECT_FILES_BYTES ((uint64_t)32 * 1024 * 1024) /* as many secrets as there may be */

void inject_done(struct inject *in)
{
	secret_grants_done(&in->grants);
	free(in->envp);
	in->envp = NULL;
}

/* Is everything that the rule allows among the hosts that the secret is bound to? */
static bool inject_covers(const struct secret_grant *g, const char *text)
{
	struct hostrule rule;

	if (hostrule_parse(text, strlen(text), &rule, NULL) < 0)
		return false;
	for (size_t i = 0; i < g->n_hosts; i++)
		if (hostrule_covers(&g->hosts[i], &rule))
			return true;
	return false;
}

/* A host that the call can reach and that is not the secret's, or NULL. */
static const char *inject_elsewhere(const struct policy *p, guarantee_set needs,
				    const struct secret_grant *g)
{
	/* What is not needed is not held: at level none a network that nobody wrote about is open. */
	if (p->net_mode == NET_ALLOW_ALL ||
	    !(needs & (GUARANTEE_BIT(NET_DENY) | GUARANTEE_BIT(NET_ALLOWLIST))))
		return "any host";
	/* Ways out that no list of hosts is asked about. */
	if (p->ports.n > 0)
		return "a port of this machine";
	if (p->sockets.n > 0)
		return "a socket of this machine";
	if (p->publish.n > 0)
		return "whoever reaches a published port";
	if (p->net_ask)
		return "a host that somebody allows while it runs";
	if (!(needs & GUARANTEE_BIT(NET_ALLOWLIST)))
		return NULL;
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		if (!inject_covers(g, p->allowed_hosts.items[i].text))
			return p->allowed_hosts.items[i].text;
	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];

		if (e->action == EGRESS_ALLOW && !inject_covers(g, e->host))
			return e->host;
	}
	return NULL;
}

static int inject_check(const struct policy *p, guarantee_set needs, const struct secret_grant *g,
			struct cordon_error *err)
{
	const char *other;
	int r;

	if (g->n_hosts == 0)
		return 0;
	other = inject_elsewhere(p, needs, g);
	if (other)
		r = cordon_fail(
			err, CORDON_E_REFUSED,
			"secret '%s' is bound to hosts, and the call could send it to %.200s",
			g->name, other);
	else if ((g->methods || g->paths) && needs & GUARANTEE_BIT(NET_ALLOWLIST))
		r = cordon_fail(
			err, CORDON_E_REFUSED,
			"secret '%s' is bound to methods or paths, which nobody holds once it "
			"is inside",
			g->name);
	else
		return 0;
	return cordon_hint(err, r,
			   "allow the call its hosts alone, or secrets.injection: host-boundary");
}

int inject_begin(const struct policy *p, const char *state_dir, guarantee_set needs,
		 struct inject *ret, struct cordon_error *err)
{
	int r = secret_grants_resolve(p, state_dir, &ret->grants, err);

	for (size_t i = 0; r == 0 && i < ret->grants.n; i++)
		if (ret->grants.injection != INJECT_HOST_BOUNDARY)
			r = inject_check(p, needs, &ret->grants.items[i], err);
	return r;
}

static bool inject_is_set(const struct strv *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			return true;
	return false;
}

int inject_environment(struct inject *in, const struct strv *env, char *const **ret,
		       struct cordon_error *err)
{
	const struct secret_grants *g = &in->grants;
	size_t n = env->n;

	*ret = env->v;
	if (g->n == 0 || g->injection != INJECT_ENVIRONMENT)
		return 0;
	in->envp = calloc(env->n + g->n + 1, sizeof(*in->envp));
	if (!in->envp)
		return cordon_nomem(err);
	memcpy(in->envp, env->v, env->n * sizeof(*in->envp));
	for (size_t i = 0; i < g->n; i++) {
		if (inject_is_set(env, g->items[i].name))
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_INVALID,
					    "secret '%s' and a variable of the call have one name",
					    g->items[i].name),
				"take the variable out of the environment, or store the secret under "
				"another name");
		in->envp[n++] = g->items[i].entry;
	}
	*ret = in->envp;
	return 0;
}

/* Appends; the path is copied, the text is not: it stays where it can be wiped. */
static int inject_step(struct fsplan *view, struct plan_op op)
{
	void *ops = view->ops;
	int r = mem_grow(&ops, &view->cap, view->n + 1, sizeof(*view->ops), LIMIT_PLAN_OPS);

	view->ops = ops;
	if (r == 0)
		r = strv_add(&view->strings, op.path);
	if (r < 0)
		return r;
	op.path = view->strings.v[view->strings.n - 1];
	view->ops[view->n++] = op;
	return 0;
}

int inject_files(const struct inject *in, struct fsplan *view, struct cordon_error *err)
{
	const struct secret_grants *g = &in->grants;
	int r;

	if (g->n == 0 || g->injection != INJECT_FILE_MOUNT)
		return 0;
	r = inject_step(view, (struct plan_op){.kind = PLAN_OP_TMPFS,
					       .path = SECRET_FILE_DIR,
					       .mode = 0700,
					       .size_bytes = INJECT_FILES_BYTES,
					       .is_noexec = true});
	for (size_t i = 0; r == 0 && i < g->n; i++) {
		struct buf path = BUF_INIT(LIMIT_PATH_BYTES);

		buf_printf(&path, SECRET_FILE_DIR "/%s", g->items[i].name);
		r = buf_error(&path);
		if (r == 0)
			r = inject_step(view, (struct plan_op){.kind = PLAN_OP_FILE,
							       .path = path.data,
							       .text = g->items[i].value,
							       .text_len = g->items[i].len,
							       .mode = 0400});
		buf_done(&path);
	}
	return r < 0 ? cordon_fail_leaf(err, r, "files of secrets") : 0;
}

int inject_report(const struct inject *in, struct report *report)
{
	int r = 0;

	report->injection = in->grants.injection;
	report->secrets_locked = in->grants.is_locked;
	for (size_t i = 0; r == 0 && i < in->grants.n; i++)
		r = strv_add(&report->secrets, in->grants.items[i].name);
	return r;
}
