/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes that stay: the manager of src/core behind the border.  The state is opened for each call and closed
 * after it, as the command does: a program that holds a manager keeps nobody from it.
 */
#include "lib/lib.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/limits.h"
#include "core/sandbox_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SANDBOX_TEXT_BYTES (4 * 1024 * 1024)

static_assert(sizeof(((struct cordon_sandbox_state *)NULL)->id) == SANDBOX_ID_LEN &&
		      sizeof(((struct cordon_sandbox_state *)NULL)->name) == SANDBOX_NAME_LEN &&
		      (int)CORDON_SANDBOX_ERROR == (int)SANDBOX_ERROR &&
		      (int)CORDON_SANDBOX_ERROR + 1 == (int)SANDBOX_STATE_COUNT,
	      "the public struct differs");

struct cordon_sandbox_manager {
	char *state_dir;
	int64_t max;
};

/* One sandbox in one call of ours. */
struct sandbox_visit {
	struct sandbox_manager manager;
	struct sandbox sandbox;
};

static void sandbox_visit_done(struct sandbox_visit *v)
{
	sandbox_done(&v->sandbox);
	sandbox_manager_done(&v->manager);
}

#define SANDBOX_VISIT ((struct sandbox_visit){.sandbox = {.lock = -1}})

/* id NULL: none yet. */
static int sandbox_visit(const struct cordon_sandbox_manager *m, const char *id, bool only_looks,
			 struct sandbox_visit *v, struct cordon_error *err)
{
	int r = sandbox_manager_open(m->state_dir, m->max, &v->manager, err);

	if (r < 0 || !id)
		return r;
	return only_looks ? sandbox_look_at(&v->manager, id, &v->sandbox, err)
			  : sandbox_acquire(&v->manager, id, &v->sandbox, err);
}

/* The keeper is a fork that goes on: what other threads were doing would be broken off in it. */
static int sandbox_check_threads(struct cordon_error *err)
{
	struct stat st;

	if (stat("/proc/self/task", &st) == 0 && st.st_nlink > 3)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "this process has more than one thread"),
				   "start the sandbox from a process of its own");
	return 0;
}

int cordon_sandbox_manager_new(const char *state_dir, size_t max_sandboxes,
			       struct cordon_sandbox_manager **ret, struct cordon_error *err)
{
	AUTO_FREE struct cordon_sandbox_manager *m = NULL;
	int r = 0;

	lib_enter(err);
	if (!ret)
		return lib_leave(lib_missing(err, "place for the manager"), err);
	if (state_dir && state_dir[0] != '/')
		return lib_leave(cordon_fail(err, CORDON_E_INVALID,
					     "the state directory must be absolute"),
				 err);
	m = calloc(1, sizeof(*m));
	if (!m)
		return lib_leave(cordon_nomem(err), err);
	m->max = max_sandboxes < LIMIT_SANDBOXES ? (int64_t)max_sandboxes : LIMIT_SANDBOXES;
	if (state_dir) {
		m->state_dir = strdup(state_dir);
		r = m->state_dir ? 0 : cordon_nomem(err);
	} else {
		r = env_state_dir(&m->state_dir);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "find the state directory");
	}
	if (r == 0)
		*ret = TAKE_PTR(m);
	return lib_leave(r, err);
}

void cordon_sandbox_manager_free(struct cordon_sandbox_manager *m)
{
	if (!m)
		return;
	free(m->state_dir);
	free(m);
}

const char *cordon_sandbox_status_name(enum cordon_sandbox_status status)
{
	return sandbox_state_word((enum sandbox_state)status);
}

static void sandbox_state_out(const struct sandbox_row *row, struct cordon_sandbox_state *ret)
{
	struct cordon_sandbox_state out = {
		.struct_size = sizeof(out),
		.status = (enum cordon_sandbox_status)row->state,
		.created_ms = row->created_ms,
		.used_ms = row->used_ms,
		.paused_ms = row->paused_ms,
		.resumed_ms = row->resumed_ms,
	};

	memcpy(out.id, row->id, sizeof(out.id));
	memcpy(out.name, row->name, sizeof(out.name));
	(void)snprintf(out.why, sizeof(out.why), "%s", row->why);
	(void)snprintf(out.work_dir, sizeof(out.work_dir), "%s", row->workspace);
	lib_struct_out(ret, &out, sizeof(out));
}

int cordon_sandbox_create(struct cordon_sandbox_manager *m, const struct cordon_policy *policy,
			  const struct cordon_sandbox_options *options,
			  struct cordon_sandbox_state *ret, struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	AUTO_FREE char *home = NULL;
	struct cordon_sandbox_options o = {0};
	struct sandbox_options so = {.environ = environ};
	int r = 0;

	lib_enter(err);
	if (!m || !policy)
		return lib_leave(lib_missing(err, m ? "policy" : "manager"), err);
	if (options)
		r = lib_struct_in(&o, sizeof(o), options, "struct cordon_sandbox_options", err);
	if (r == 0 && ret)
		r = lib_struct_check(ret, "struct cordon_sandbox_state", err);
	if (r == 0 && o.idle_timeout_ms < 0)
		r = cordon_fail(err, CORDON_E_INVALID, "a time-out below 0");
	if (r == 0)
		r = sandbox_check_threads(err);
	if (r == 0)
		r = sandbox_visit(m, /* id= */ NULL, /* only_looks= */ false, &v, err);
	if (r < 0)
		return lib_leave(r, err);
	if (o.environment)
		memcpy(&so.environ, &o.environment, sizeof(so.environ)); /* only read */
	so.policy = policy->policy;
	so.workspace = policy->workspace;
	so.name = o.name;
	so.idle_ms = o.idle_timeout_ms;
	if (env_home(&home) == 0)
		so.home = home;
	r = sandbox_create(&v.manager, &so, &v.sandbox, err);
	if (r == 0 && ret)
		sandbox_state_out(&v.sandbox.row, ret);
	return lib_leave(r, err);
}

static int sandbox_exec(struct sandbox_visit *v, const struct cordon_request *request,
			const struct cordon_run_options *options, struct cordon_report **ret,
			struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *p = NULL;
	AUTO_FREE char *home = NULL;
	AUTO(sandbox_way_done) struct sandbox_way in = {.sandbox = &v->sandbox, .keeper = -1};
	const struct plan_entry entry = {
		.reach = sandbox_reach, .channel = sandbox_channel, .data = &in};
	struct selection held = {0};
	struct cordon_policy policy = {.workspace = v->sandbox.row.workspace,
				       .state_dir = v->manager.state_dir};
	const struct lib_entry way = {&entry, &held, &v->sandbox, v->sandbox.row.environment.v};
	int r = sandbox_held(&v->sandbox.row, &held, err);

	if (r == 0)
		r = sandbox_use(&v->manager, &v->sandbox, err);
	if (r < 0)
		return r;
	(void)!env_home(&home); /* a policy may do without */
	r = sandbox_policy(&v->sandbox.row, home, /* options= */ NULL, &p, err);
	if (r < 0)
		return r;
	policy.policy = p;
	session_close(TAKE_PTR(v->manager.store));
	return lib_run(&policy, request, options, &way, ret, err);
}

int cordon_sandbox_exec(struct cordon_sandbox_manager *m, const char *id,
			const struct cordon_request *request,
			const struct cordon_run_options *options, struct cordon_report **ret,
			struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	int r;

	lib_enter(err);
	if (!m || !id || !request || !ret)
		return lib_leave(lib_missing(err, !m         ? "manager"
						  : !id      ? "id"
						  : !request ? "request"
							     : "place for the report"),
				 err);
	r = sandbox_visit(m, id, /* only_looks= */ false, &v, err);
	if (r == 0)
		r = sandbox_exec(&v, request, options, ret, err);
	return lib_leave(r, err);
}

int cordon_sandbox_get(struct cordon_sandbox_manager *m, const char *id,
		       struct cordon_sandbox_state *ret, struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	int r;

	lib_enter(err);
	if (!m || !id)
		return lib_leave(lib_missing(err, m ? "id" : "manager"), err);
	r = lib_struct_check(ret, "struct cordon_sandbox_state", err);
	if (r == 0)
		r = sandbox_visit(m, id, /* only_looks= */ true, &v, err);
	if (r == 0)
		sandbox_state_out(&v.sandbox.row, ret);
	return lib_leave(r, err);
}

int cordon_sandbox_env(struct cordon_sandbox_manager *m, const char *id, char ***ret_env,
		       struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	int r;

	lib_enter(err);
	if (!m || !id || !ret_env)
		return lib_leave(lib_missing(err, !m    ? "manager"
						  : !id ? "id"
							: "place for the variables"),
				 err);
	r = sandbox_visit(m, id, /* only_looks= */ true, &v, err);
	if (r == 0)
		r = lib_pack(&v.sandbox.row.environment, ret_env, err);
	return lib_leave(r, err);
}

/* What the functions that only take a sandbox have in common. */
enum sandbox_act { ACT_PAUSE, ACT_RESUME, ACT_RESTORE, ACT_COMMIT, ACT_DISCARD, ACT_REMOVE };

static int sandbox_act(enum sandbox_act act, struct sandbox_visit *v, bool forced, const char *name,
		       struct cordon_error *err)
{
	const struct commit_options co = {.is_forced = forced};
	struct commit_result result = {0};
	struct sandbox_restore o = {.name = name};
	bool is_anew = false;
	int r;

	switch (act) {
	case ACT_PAUSE:
		return sandbox_pause(&v->manager, &v->sandbox, err);
	case ACT_RESUME:
		r = sandbox_resume(&v->manager, &v->sandbox, &is_anew, err);
		return r < 0 ? r : is_anew;
	case ACT_RESTORE:
		return sandbox_restore(&v->manager, &v->sandbox, &o, /* ret= */ NULL, err);
	case ACT_COMMIT:
		r = sandbox_commit(&v->manager, &v->sandbox, &co, &result, err);
		if (r == 0)
			r = (int)result.n;
		commit_result_done(&result);
		return r;
	case ACT_DISCARD:
		return sandbox_discard(&v->manager, &v->sandbox, &is_anew, err);
	case ACT_REMOVE:
		return sandbox_delete(&v->manager, &v->sandbox, forced, err);
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "no such act");
}

static int sandbox_do(enum sandbox_act act, const struct cordon_sandbox_manager *m, const char *id,
		      bool forced, const char *name, struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	int r = 0;

	lib_enter(err);
	if (!m || !id)
		return lib_leave(lib_missing(err, m ? "id" : "manager"), err);
	if (act == ACT_RESUME || act == ACT_RESTORE || act == ACT_DISCARD)
		r = sandbox_check_threads(err);
	if (r == 0)
		r = sandbox_visit(m, id, /* only_looks= */ false, &v, err);
	if (r == 0)
		r = sandbox_act(act, &v, forced, name, err);
	return lib_leave(r, err);
}

int cordon_sandbox_pause(struct cordon_sandbox_manager *m, const char *id, struct cordon_error *err)
{
	return sandbox_do(ACT_PAUSE, m, id, /* forced= */ false, /* name= */ NULL, err);
}

int cordon_sandbox_resume(struct cordon_sandbox_manager *m, const char *id,
			  struct cordon_error *err)
{
	return sandbox_do(ACT_RESUME, m, id, /* forced= */ false, /* name= */ NULL, err);
}

int cordon_sandbox_restore(struct cordon_sandbox_manager *m, const char *id, const char *name,
			   struct cordon_error *err)
{
	return sandbox_do(ACT_RESTORE, m, id, /* forced= */ false, name, err);
}

int cordon_sandbox_commit(struct cordon_sandbox_manager *m, const char *id, int forced,
			  struct cordon_error *err)
{
	return sandbox_do(ACT_COMMIT, m, id, forced != 0, /* name= */ NULL, err);
}

int cordon_sandbox_discard(struct cordon_sandbox_manager *m, const char *id,
			   struct cordon_error *err)
{
	return sandbox_do(ACT_DISCARD, m, id, /* forced= */ false, /* name= */ NULL, err);
}

int cordon_sandbox_remove(struct cordon_sandbox_manager *m, const char *id, int forced,
			  struct cordon_error *err)
{
	return sandbox_do(ACT_REMOVE, m, id, forced != 0, /* name= */ NULL, err);
}

int cordon_sandbox_snapshot(struct cordon_sandbox_manager *m, const char *id, const char *name,
			    char **ret_name, struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	AUTO_FREE char *made = NULL;
	int r;

	lib_enter(err);
	if (!m || !id)
		return lib_leave(lib_missing(err, m ? "id" : "manager"), err);
	r = sandbox_visit(m, id, /* only_looks= */ false, &v, err);
	if (r == 0)
		r = sandbox_snapshot(&v.manager, &v.sandbox, name, &made, err);
	if (r == 0 && ret_name)
		*ret_name = TAKE_PTR(made);
	return lib_leave(r, err);
}

/* Lines become strings; each of them ends with a newline. */
static int sandbox_lines(const struct buf *text, struct strv *ret)
{
	const char *p = buf_cstr(text);
	int r = 0;

	while (r == 0 && *p) {
		size_t len = strcspn(p, "\n");

		r = strv_addf(ret, "%.*s", (int)len, p);
		p += len + (p[len] == '\n');
	}
	return r;
}

int cordon_sandbox_diff(struct cordon_sandbox_manager *m, const char *id, char ***ret_lines,
			struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	AUTO(strv_done) struct strv lines = {0};
	struct buf text = BUF_INIT(LIMIT_REPORT_BYTES);
	int r;

	lib_enter(err);
	if (!m || !id || !ret_lines)
		return lib_leave(lib_missing(err, !m    ? "manager"
						  : !id ? "id"
							: "place for the lines"),
				 err);
	r = sandbox_visit(m, id, /* only_looks= */ false, &v, err);
	if (r == 0)
		r = sandbox_diff(&v.manager, &v.sandbox, /* is_unified= */ false, &text, err);
	if (r == 0) {
		r = sandbox_lines(&text, &lines);
		r = r < 0 ? cordon_fail_leaf(err, r, "changes") : lib_pack(&lines, ret_lines, err);
	}
	buf_done(&text);
	return lib_leave(r, err);
}

static int sandbox_all(const struct cordon_sandbox_manager *m, struct sandbox_list *ret,
		       struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	int r = sandbox_visit(m, /* id= */ NULL, /* only_looks= */ true, &v, err);

	return r < 0 ? r : sandbox_manager_list(&v.manager, ret, err);
}

int cordon_sandbox_list(struct cordon_sandbox_manager *m, struct cordon_sandbox_state *ret,
			size_t n, struct cordon_error *err)
{
	AUTO(sandbox_list_done) struct sandbox_list all = {0};
	size_t size = 0;
	int r = 0;

	lib_enter(err);
	if (!m || (n > 0 && !ret))
		return lib_leave(lib_missing(err, m ? "place for the states" : "manager"), err);
	if (n > 0)
		r = lib_struct_check(ret, "struct cordon_sandbox_state", err);
	if (r == 0)
		r = sandbox_all(m, &all, err);
	if (r < 0)
		return lib_leave(r, err);
	if (n > 0)
		size = ret->struct_size;
	for (size_t i = 0; i < n && i < all.n; i++) {
		/* As far apart as the caller's struct is long. */
		struct cordon_sandbox_state *one =
			(struct cordon_sandbox_state *)(void *)((char *)ret + i * size);

		one->struct_size = size;
		sandbox_state_out(&all.rows[i], one);
	}
	return (int)all.n;
}

int cordon_sandbox_cleanup(struct cordon_sandbox_manager *m, int64_t max_age_ms,
			   struct cordon_error *err)
{
	AUTO(sandbox_visit_done) struct sandbox_visit v = SANDBOX_VISIT;
	AUTO(strv_done) struct strv removed = {0};
	int r;

	lib_enter(err);
	if (!m)
		return lib_leave(lib_missing(err, "manager"), err);
	if (max_age_ms < 0)
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "an age below 0"), err);
	r = sandbox_visit(m, /* id= */ NULL, /* only_looks= */ false, &v, err);
	if (r == 0)
		r = sandbox_manager_cleanup(&v.manager, max_age_ms, &removed, err);
	return lib_leave(r < 0 ? r : (int)removed.n, err);
}

int cordon_sandbox_format_status(struct cordon_sandbox_manager *m, char **ret,
				 struct cordon_error *err)
{
	AUTO(sandbox_list_done) struct sandbox_list all = {0};
	struct buf text = BUF_INIT(SANDBOX_TEXT_BYTES);
	size_t counts[SANDBOX_STATE_COUNT] = {0};
	int r;

	lib_enter(err);
	if (!m || !ret)
		return lib_leave(lib_missing(err, m ? "place for the text" : "manager"), err);
	r = sandbox_all(m, &all, err);
	for (size_t i = 0; r == 0 && i < all.n; i++)
		counts[all.rows[i].state]++;
	buf_printf(&text, "%zu sandboxes: %zu running, %zu paused, %zu stopped\n", all.n,
		   counts[SANDBOX_RUNNING], counts[SANDBOX_PAUSED], counts[SANDBOX_STOPPED]);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		const struct sandbox_row *row = &all.rows[i];
		char stamp[CLOCK_STAMP_LEN];

		clock_stamp_of(row->created_ms, stamp);
		buf_printf(&text, "%s  %-8s %s  ", row->id, sandbox_state_word(row->state), stamp);
		str_escape(&text, row->workspace, strlen(row->workspace));
		buf_char(&text, '\n');
	}
	if (r == 0)
		r = lib_give(&text, "the text", ret, /* ret_len= */ NULL, err);
	buf_done(&text);
	return lib_leave(r, err);
}
