/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: the lists go to the backend's own operations, which check them and keep what
 * apply_restrictions() needs, and from there into a policy for run().
 */
#include "backend/registry.h"
#include "backend/restrict.h"
#include "base/limits.h"
#include "lib/lib.h"

#include <cordon/adapter.h>

#include <string.h>

struct cordon_adapter {
	const struct cordon_backend *backend;
	struct plan plan;
	struct restrict_room room;
	/* As they were given, for run(). */
	struct strv writable;
	struct strv readable;
	struct strv executable;
	struct strv network;
	struct strv calls;
	bool has_calls;
};

DEFINE_FREEP(struct cordon_adapter, cordon_adapter_free)

void cordon_adapter_free(struct cordon_adapter *a)
{
	if (!a)
		return;
	restrict_done(&a->room);
	strv_done(&a->writable);
	strv_done(&a->readable);
	strv_done(&a->executable);
	strv_done(&a->network);
	strv_done(&a->calls);
	free(a);
}

static int adapter_probe(const struct cordon_backend *backend, struct cordon_error *err)
{
	struct probe probe;

	registry_ask(backend, PROBE_QUICK, GUARANTEE_NONE, &probe);
	return probe.is_available ? 0
				  : cordon_fail(err, CORDON_E_NO_BACKEND, "backend '%s': %s",
						backend->info->name, probe.reason);
}

static int adapter_pick(const char *name, const struct cordon_backend **ret,
			struct cordon_error *err)
{
	const struct cordon_backend *const *all;
	size_t n;
	int r = cordon_fail(err, CORDON_E_NO_BACKEND, "this build has no adapter of level process");

	if (name && strcmp(name, "auto") != 0) {
		r = registry_find(name, ret, err);
		return r < 0 ? r : adapter_probe(*ret, err);
	}
	all = registry_all(&n);
	for (size_t i = 0; i < n; i++) {
		if (all[i]->info->level != LEVEL_PROCESS ||
		    all[i]->apply_restrictions == backend_default_apply_restrictions)
			continue; /* the caller may want to confine itself */
		r = adapter_probe(all[i], err);
		if (r == 0) {
			*ret = all[i];
			return 0;
		}
	}
	return r;
}

int cordon_adapter_new(const char *backend, struct cordon_adapter **ret, struct cordon_error *err)
{
	AUTO(cordon_adapter_freep) struct cordon_adapter *a = NULL;
	int r;

	lib_enter(err);
	if (!ret)
		return lib_leave(lib_missing(err, "place for the adapter"), err);
	a = calloc(1, sizeof(*a));
	if (!a)
		return lib_leave(cordon_nomem(err), err);
	r = adapter_pick(backend, &a->backend, err);
	if (r < 0)
		return lib_leave(r, err);
	restrict_init(&a->plan, &a->room);
	*ret = TAKE_PTR(a);
	return lib_leave(0, err);
}

const char *cordon_adapter_name(const struct cordon_adapter *a)
{
	return a ? a->backend->info->name : NULL;
}

/* What was said last holds: also when it was refused, it grants nothing of what was said before. */
static void adapter_replace(struct strv *to, struct strv *from, int r)
{
	strv_done(to);
	*to = r == 0 ? *from : (struct strv){0};
	if (r == 0)
		*from = (struct strv){0};
	strv_done(from);
}

/* What a snapshot is of: also for a backend that cannot restrict anything to it. */
static int adapter_note_saved(struct cordon_adapter *a, const struct strv *writable,
			      const struct strv *executable, int r, struct cordon_error *err)
{
	struct strv saved = {0};
	int n = r == CORDON_E_UNSUPPORTED ? 0 : r;

	if (a->room.is_applied)
		return r;
	for (size_t i = 0; n == 0 && i < writable->n; i++)
		n = strv_add(&saved, writable->v[i]);
	for (size_t i = 0; n == 0 && i < executable->n; i++)
		n = strv_add(&saved, executable->v[i]);
	adapter_replace(&a->room.saved, &saved, n);
	return r == 0 && n < 0 ? cordon_fail_leaf(err, n, "note the writable paths") : r;
}

int cordon_adapter_restrict_filesystem(struct cordon_adapter *a, const char *const *writable,
				       const char *const *readable,
				       const char *const *executable_writable,
				       struct cordon_error *err)
{
	struct strv w = {0}, rd = {0}, x = {0};
	struct cordon_error own = {0};
	int r;

	lib_enter(err);
	if (!a)
		return lib_leave(lib_missing(err, "adapter"), err);
	r = lib_list(writable, &w, &own);
	if (r == 0)
		r = lib_list(readable, &rd, &own);
	if (r == 0)
		r = lib_list(executable_writable, &x, &own);
	if (r == 0)
		r = a->backend->restrict_filesystem(&a->plan, &w, &rd, &x, &own);
	r = adapter_note_saved(a, &w, &x, r, &own);
	if (r < 0 && err)
		*err = own;
	if (!a->room.is_applied) {
		adapter_replace(&a->writable, &w, r);
		adapter_replace(&a->readable, &rd, r);
		adapter_replace(&a->executable, &x, r);
	}
	strv_done(&w);
	strv_done(&rd);
	strv_done(&x);
	return lib_leave(r, err);
}

/* Can the backend hold a list of hosts here? */
static int adapter_check_hosts(const struct cordon_adapter *a, struct cordon_error *err)
{
	const guarantee_set wanted = GUARANTEE_BIT(NET_ALLOWLIST);
	struct probe probe;

	if (a->plan.net != PLAN_NET_PROXY)
		return 0;
	registry_ask(a->backend, PROBE_QUICK, wanted, &probe);
	if ((probe.guarantees & wanted) == wanted)
		return 0;
	return cordon_fail(err, CORDON_E_UNSUPPORTED,
			   "backend '%s' cannot hold a list of hosts here%s%s",
			   a->backend->info->name, probe.lacks[0] ? ": " : "", probe.lacks);
}

int cordon_adapter_restrict_network(struct cordon_adapter *a, const char *const *allow,
				    struct cordon_error *err)
{
	struct cordon_error own = {0};
	struct strv list = {0};
	int r;

	lib_enter(err);
	if (!a)
		return lib_leave(lib_missing(err, "adapter"), err);
	r = lib_list(allow, &list, &own);
	if (r == 0)
		r = a->backend->restrict_network(&a->plan, &list, &own);
	if (r == 0) {
		r = adapter_check_hosts(a, &own);
		if (r < 0)
			a->plan.net = PLAN_NET_NONE;
	}
	if (r < 0 && err)
		*err = own;
	if (!a->room.is_applied)
		adapter_replace(&a->network, &list, r);
	strv_done(&list);
	return lib_leave(r, err);
}

int cordon_adapter_restrict_syscalls(struct cordon_adapter *a, const char *const *allowed,
				     struct cordon_error *err)
{
	struct cordon_error own = {0};
	struct strv list = {0};
	int r;

	lib_enter(err);
	if (!a)
		return lib_leave(lib_missing(err, "adapter"), err);
	r = lib_list(allowed, &list, &own);
	if (r == 0)
		r = a->backend->restrict_syscalls(&a->plan, &list, &own);
	if (r < 0 && err)
		*err = own;
	if (r == 0) {
		adapter_replace(&a->calls, &list, r);
		a->has_calls = true;
	}
	strv_done(&list);
	return lib_leave(r, err);
}

int cordon_adapter_apply_restrictions(struct cordon_adapter *a, struct cordon_error *err)
{
	lib_enter(err);
	if (!a)
		return lib_leave(lib_missing(err, "adapter"), err);
	return lib_leave(a->backend->apply_restrictions(&a->plan, err), err);
}

static int adapter_set(struct cordon_policy_options *o, const char *option, const struct strv *list,
		       struct cordon_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->n; i++)
		r = cordon_policy_options_set(o, option, list->v[i], err);
	return r;
}

/* A list of what is allowed, as a list of what is not. */
static int adapter_set_calls(struct cordon_policy_options *o, const struct strv *allowed,
			     struct cordon_error *err)
{
	const struct callname *c;
	int r = 0;

	for (size_t i = 0; r == 0 && (c = callname_at(i)); i++)
		if (!strv_has(allowed, c->name) && !strv_has(allowed, c->set) &&
		    !callname_is_needed(c->name))
			r = cordon_policy_options_set(o, "deny-syscall", c->name, err);
	return r;
}

static int adapter_set_network(struct cordon_policy_options *o, const struct cordon_adapter *a,
			       struct cordon_error *err)
{
	if (a->plan.net == PLAN_NET_PROXY)
		return adapter_set(o, "allow-host", &a->network, err); /* implies the mode */
	return cordon_policy_options_set(o, "net",
					 a->plan.net == PLAN_NET_HOST ? "allow-all" : "deny", err);
}

static int adapter_policy(const struct cordon_adapter *a, const char *cwd,
			  struct cordon_policy **ret, struct cordon_error *err)
{
	/* The built-in policy grants the workspace; an adapter grants what its lists say. */
	static const char nothing[] = "cordon: 1\nsandbox: {level: process, capabilities: "
				      "{filesystem: {mode: scoped, mount_paths: []}}}\n";
	AUTO(cordon_policy_options_freep) struct cordon_policy_options *o = NULL;
	int r = cordon_policy_options_new(cwd, &o, err);

	if (r == 0)
		r = cordon_policy_options_flags(o, CORDON_POLICY_NO_USER | CORDON_POLICY_NO_PROJECT,
						err);
	if (r == 0)
		r = cordon_policy_options_text(o, nothing, sizeof(nothing) - 1, "adapter", err);
	if (r == 0)
		r = cordon_policy_options_backend(o, a->backend->info->name, err);
	if (r == 0)
		r = cordon_policy_options_set(o, "write-xor-execute", NULL, err);
	if (r == 0)
		r = adapter_set(o, "read", &a->readable, err);
	if (r == 0)
		r = adapter_set(o, "write", &a->writable, err);
	if (r == 0)
		r = adapter_set(o, "write", &a->executable, err);
	if (r == 0)
		r = adapter_set(o, "exec", &a->executable, err);
	if (r == 0)
		r = adapter_set_network(o, a, err);
	if (r == 0 && a->has_calls)
		r = adapter_set_calls(o, &a->calls, err);
	return r == 0 ? cordon_policy_load(o, ret, err) : r;
}

static int adapter_note_run(struct cordon_adapter *a, const struct report *report)
{
	struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	int r;

	buf_str(&text, "\"id\":");
	json_quote(&text, report->request->id, strlen(report->request->id));
	buf_printf(&text, ",\"exit_code\":%d", report->exit_code);
	r = buf_error(&text);
	if (r == 0)
		r = restrict_note(&a->room, "run", buf_cstr(&text), NULL);
	for (size_t i = 0; r == 0 && i < report->n_denied; i++) {
		const struct denied *d = &report->denied[i];

		buf_clear(&text);
		buf_str(&text, "\"kind\":");
		json_quote(&text, d->kind, strlen(d->kind));
		buf_str(&text, ",\"target\":");
		json_quote(&text, d->target, strlen(d->target));
		r = buf_error(&text);
		if (r == 0)
			r = restrict_note(&a->room, "denied", buf_cstr(&text), NULL);
	}
	buf_done(&text);
	return r;
}

/* What files it makes is known by when it was running. */
static int adapter_run(struct cordon_adapter *a, const struct cordon_policy *policy,
		       const struct cordon_request *request,
		       const struct cordon_run_options *options, struct cordon_report **ret,
		       struct cordon_error *err)
{
	struct checkpoint_span *span = NULL;
	int r = restrict_span(&a->room, &span);

	if (r < 0)
		return cordon_fail_leaf(err, r, "note the run");
	r = cordon_run(policy, request, options, ret, err);
	if (span)
		checkpoint_span_end(span);
	return r;
}

int cordon_adapter_run(struct cordon_adapter *a, const struct cordon_request *request,
		       const struct cordon_run_options *options, struct cordon_report **ret,
		       struct cordon_error *err)
{
	struct cordon_policy *policy = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error own = {0};
	int n;
	int r;

	lib_enter(err);
	if (!a || !request || !ret)
		return lib_leave(lib_missing(err, !a         ? "adapter"
						  : !request ? "request"
							     : "place for the report"),
				 err);
	r = adapter_policy(a, request->request->cwd, &policy, &own);
	if (r == 0)
		r = adapter_run(a, policy, request, options, &report, &own);
	n = r == 0 ? adapter_note_run(a, &report->report)
		   : restrict_note(&a->room, "run", NULL, &own);
	cordon_policy_free(policy);
	if (r == 0 && n < 0) {
		cordon_report_free(report);
		r = cordon_fail_leaf(&own, n, "note the run");
	}
	if (r < 0 && err)
		*err = own;
	else if (r == 0)
		*ret = report;
	return lib_leave(r, err);
}

/* Notes how a snapshot or rollback went. */
static int adapter_note_state(struct cordon_adapter *a, const char *event, const char *name, int r,
			      struct cordon_error *own, struct cordon_error *err)
{
	struct buf text = BUF_INIT(1024);
	int n;

	if (name) {
		buf_str(&text, "\"name\":");
		json_quote(&text, name, strlen(name));
	}
	n = buf_error(&text);
	if (n == 0)
		n = restrict_note(&a->room, event, buf_cstr(&text), own);
	buf_done(&text);
	if (r == 0 && n < 0)
		r = cordon_fail_leaf(own, n, "note the %s", event);
	if (r < 0 && err)
		*err = *own;
	return r;
}

int cordon_adapter_snapshot(struct cordon_adapter *a, char **ret_name, struct cordon_error *err)
{
	struct cordon_error own = {0};
	char *name = NULL;
	int r;

	lib_enter(err);
	if (!a || !ret_name)
		return lib_leave(lib_missing(err, a ? "place for the name" : "adapter"), err);
	r = a->backend->snapshot(&a->plan, &name, &own);
	r = adapter_note_state(a, "snapshot", name, r, &own, err);
	if (r == 0)
		*ret_name = TAKE_PTR(name);
	free(name);
	return lib_leave(r, err);
}

int cordon_adapter_rollback(struct cordon_adapter *a, const char *name, struct cordon_error *err)
{
	struct cordon_error own = {0};
	int r;

	lib_enter(err);
	if (!a || !name)
		return lib_leave(lib_missing(err, a ? "name" : "adapter"), err);
	r = a->backend->rollback(&a->plan, name, &own);
	return lib_leave(adapter_note_state(a, "rollback", name, r, &own, err), err);
}

int cordon_adapter_get_audit_log(struct cordon_adapter *a, char **ret_json, size_t *ret_len,
				 struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	lib_enter(err);
	if (!a || !ret_json)
		return lib_leave(lib_missing(err, a ? "place for the log" : "adapter"), err);
	json_array(&j, NULL);
	r = a->backend->get_audit_log(&a->plan, &j, err);
	json_end_array(&j);
	if (r == 0)
		r = lib_give(&b, "audit log", ret_json, ret_len, err);
	buf_done(&b);
	return lib_leave(r, err);
}
