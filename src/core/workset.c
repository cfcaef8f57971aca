/* SPDX-License-Identifier: Apache-2.0 */
/* See workset.h. */
#include "core/workset.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/fsgrant.h"
#include "workspace/cow/hostgit.h"
#include "workspace/sensitive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int workset_begin(const struct workset_input *in, struct workset *ret, struct cordon_error *err)
{
	enum workspace mode = (enum workspace)in->policy->workspace;
	AUTO(strv_done) struct strv mounts = {0};
	const struct cow_options o = {
		.state_dir = in->state_dir,
		.workspace = in->workspace,
		.layers = in->copies ? COW_COPY : COW_OVERLAY,
		.mounts = &mounts,
		.is_temporary = true, /* until the call has ended */
	};
	int r;

	*ret = WORKSET_NONE;
	ret->mode = mode;
	ret->rolls_back = in->rolls_back;
	if (in->cow && in->cow->layers != o.layers)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "'%s' was made for backends %s mounts", in->cow->id,
					       in->copies ? "with" : "without"),
				   "use the backend that it was made with");
	if (in->policy->submounts.n > 0 && (in->copies || in->level != LEVEL_PROCESS))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "a backend %s cannot leave mounts out of a change "
					       "set",
					       in->copies ? "without mounts of its own"
							  : "beyond level process"),
				   "use --backend native or bwrap");
	if (in->cow) {
		ret->cow = in->cow;
		return 0;
	}
	r = fsgrant_submounts(in->policy, in->workspace, &mounts, err);
	if (r == 0)
		r = cow_create(&o, &ret->own, err);
	if (r == 0)
		ret->cow = &ret->own;
	return r;
}

/* path, in the copy if it is in the workspace.  Borrows from the view; NULL without memory. */
static const char *workset_moved(const struct workset *w, struct fsplan *view, const char *path)
{
	const char *top = w->cow->workspace;

	if (!path_is_within(path, top))
		return path;
	if (strv_addf(&view->strings, "%s/copy%s", w->cow->dir,
		      path + (strcmp(top, "/") == 0 ? 0 : strlen(top))) < 0)
		return NULL;
	return view->strings.v[view->strings.n - 1];
}

static int workset_move(const struct workset *w, struct fsplan *view, struct plan *plan,
			struct cordon_error *err)
{
	for (size_t i = 0; i < view->n; i++) {
		struct plan_op *op = &view->ops[i];

		if (op->kind == PLAN_OP_DENY && path_is_within(w->cow->dir, op->path))
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "the copy of the workspace would be in what '%s' "
					    "denies",
					    op->path),
				"set CORDON_STATE_DIR to a directory outside of what is "
				"granted");
		if (op->kind == PLAN_OP_COW) {
			op->kind = PLAN_OP_BIND_RW;
			op->text = NULL;
		} else if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY &&
			   op->kind != PLAN_OP_BIND_RO) {
			continue;
		}
		op->path = workset_moved(w, view, op->path);
		if (!op->path)
			return cordon_nomem(err);
	}
	plan->cwd = workset_moved(w, view, plan->cwd);
	return plan->cwd ? 0 : cordon_nomem(err);
}

int workset_prepare(struct workset *w, struct fsplan *view, struct plan *plan,
		    struct cordon_error *err)
{
	AUTO_FREE struct cow_guard *guards = NULL;
	size_t used = 0;
	int r;

	if (!w->cow)
		return 0;
	guards = calloc(view->n + 1, sizeof(*guards));
	if (!guards)
		return cordon_nomem(err);
	for (size_t i = 0; i < view->n; i++)
		if (view->ops[i].kind == PLAN_OP_PROTECT || view->ops[i].kind == PLAN_OP_DENY)
			guards[used++] = (struct cow_guard){.path = view->ops[i].path,
							    .except = view->ops[i].except};
	r = cow_prepare(w->cow, guards, used, err);
	return r == 0 && w->cow->layers == COW_COPY ? workset_move(w, view, plan, err) : r;
}

struct workset_dirs {
	int files; /* of the change set */
	int workspace;
};

static int workset_finding(struct report *report, const char *rule, enum threat level,
			   const char *what, const char *path)
{
	struct finding f = {.type = FINDING_FILE_ACCESS, .level = level, .confidence = 1};

	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule);
	(void)snprintf(f.message, sizeof(f.message), "%s '%.180s'", what, path);
	(void)snprintf(f.snippet, sizeof(f.snippet), "%.120s", path);
	for (size_t i = 0; i < report->findings.n; i++)
		if (strcmp(report->findings.items[i].message, f.message) == 0)
			return 0; /* another part of the same */
	return findings_add(&report->findings, &f);
}

static bool workset_is_guarded(const struct strv *guards, const char *path)
{
	bool is_guarded = false;

	for (size_t i = 0; i < guards->n; i++)
		if (path_is_within(path, guards->v[i] + 1)) {
			if (guards->v[i][0] == '+')
				return false;
			is_guarded = true;
		}
	return is_guarded;
}

/* Is the directory in which the change is git's since this change set, and what does git run for it? */
static int workset_new_git(const struct workset_dirs *dirs, const struct change *c,
			   struct report *report)
{
	AUTO(strv_done) struct strv at = {0};
	AUTO(strv_done) struct strv runs = {0};
	bool is_made = c->op == CHANGE_ADDED && strcmp(path_base(c->path), "HEAD") == 0;
	bool is_git = false;
	char what[160];
	int r = c->op == CHANGE_DELETED ? 0 : hostgit_note(dirs->workspace, c->path, &at);

	if (r < 0 || at.n == 0)
		return r;
	r = hostgit_find(dirs->files, dirs->workspace, at.v[0], &is_git, &runs);
	/* That there is one more is said once; what it runs whenever a part of it was written. */
	if (r < 0 || !is_git || (runs.n == 0 && !is_made))
		return r;
	(void)snprintf(what, sizeof(what),
		       runs.n > 0 ? "git runs commands (%.80s) for the new"
				  : "new git directory%.0s",
		       runs.n > 0 ? runs.v[0] : "");
	return workset_finding(report, FINDING_RULE_NEW_GIT,
			       runs.n > 0 ? THREAT_MEDIUM : THREAT_LOW, what,
			       *at.v[0] ? at.v[0] : ".");
}

int workset_judge(const struct cow *cow, struct report *report, struct cordon_error *err)
{
	AUTO(strv_done) struct strv guards = {0};
	AUTO_CLOSE int files = cow_open_files(cow, err);
	AUTO_CLOSE int workspace = files < 0 ? -1 : cow_open_workspace(cow, err);
	const struct workset_dirs dirs = {.files = files, .workspace = workspace};
	AUTO(hostgit_done) struct hostgit git = {.workspace = workspace};
	int r = files < 0 ? files : workspace < 0 ? workspace : cow_guards(cow, &guards, err);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < report->changes.n; i++) {
		const struct change *c = &report->changes.v[i];

		if (c->is_implied)
			continue;
		if (workset_is_guarded(&guards, c->path))
			r = workset_finding(report, FINDING_RULE_PROTECTED, THREAT_HIGH,
					    "a protected path was changed:", c->path);
		else if (sensitive_name(path_base(c->path)))
			r = workset_finding(report, FINDING_RULE_SENSITIVE, THREAT_LOW,
					    "a file that may hold secrets was changed:", c->path);
		if (r == 0 && hostgit_holds_link(&git, c) != 0)
			r = workset_finding(
				report, FINDING_RULE_GIT_LINK, THREAT_MEDIUM,
				"git would write through a link that the call made:", c->path);
		if (r == 0)
			r = workset_new_git(&dirs, c, report);
	}
	return r < 0 ? cordon_nomem(err) : 0;
}

int workset_read(struct workset *w, struct report *report, struct cordon_error *err)
{
	int r;

	w->has_run = report->result.is_started;
	if (!w->cow)
		return 0;
	r = changes_read(w->cow, &report->changes, err);
	if (r < 0)
		return r;
	report->has_changes = true;
	return workset_judge(w->cow, report, err);
}

static int workset_commit(struct workset *w, struct report *report, struct cordon_error *err)
{
	struct commit_result result;
	int r = changes_commit(w->cow, &(struct commit_options){0}, &result, err);
	struct cordon_error late = {0};

	report->committed = result.n;
	for (size_t i = 0; i < result.left_out.n; i++)
		if (strv_add(&report->left_out, result.left_out.v[i]) < 0 && r == 0)
			r = cordon_nomem(err);
	commit_result_done(&result);
	if (r == 0)
		return cow_discard(w->cow, err);
	/* What cannot be written now is not lost. */
	if (cow_keep(w->cow, &late) == 0) {
		(void)snprintf(report->sandbox, sizeof(report->sandbox), "%s", w->cow->id);
		r = cordon_hint(err, r, "the changes are kept: 'cordon sandbox commit %s'",
				w->cow->id);
		cow_close(w->cow);
	}
	return r;
}

int workset_end(struct workset *w, struct report *report, struct cordon_error *err)
{
	bool is_bad = report->exit_code != 0 || report->verdict.kind == VERDICT_MALICIOUS;
	int r;

	if (!w->cow || w->cow != &w->own)
		return 0;
	if (w->mode == WORKSPACE_DISCARD || !w->has_run || (w->rolls_back && is_bad)) {
		report->is_rolled_back = w->rolls_back && is_bad;
		r = cow_discard(w->cow, err);
	} else if (w->mode == WORKSPACE_COW) {
		r = cow_keep(w->cow, err);
		if (r == 0)
			(void)snprintf(report->sandbox, sizeof(report->sandbox), "%s", w->cow->id);
		cow_close(w->cow);
	} else {
		r = workset_commit(w, report, err);
	}
	w->cow = NULL;
	return r;
}

void workset_done(struct workset *w)
{
	struct cordon_error late = {0};

	/* Something went wrong after the call: what it did is not lost for that. */
	if (w->cow == &w->own && w->has_run && w->mode == WORKSPACE_COW)
		(void)!cow_keep(w->cow, &late);
	else if (w->cow == &w->own && w->cow->fd >= 0)
		(void)!cow_discard(w->cow, &late); /* or the next command */
	cow_close(&w->own);
	*w = WORKSET_NONE;
}
