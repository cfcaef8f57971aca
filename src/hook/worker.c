/* SPDX-License-Identifier: Apache-2.0 */
/* See worker.h. */
#include "hook/worker.h"

#include "hook/scene.h"
#include "hook/withhold.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "core/record.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void scene_done(struct hook_scene *s)
{
	findings_done(&s->judgement.findings);
	report_done(&s->report);
	request_free(s->request);
}

/* The project's directory, where the agent says it and the call is in it: the policy of the project holds in
 * its subdirectories too. */
static const char *worker_project(const struct hook_call *call)
{
	const char *project = call->dialect->project ? env_get(call->dialect->project) : NULL;

	return project && project[0] == '/' && call->cwd && path_is_within(call->cwd, project)
		       ? project
		       : call->cwd;
}

static int worker_record(struct hook_scene *s, const struct hook_answer *a,
			 struct cordon_error *err)
{
	struct record record;
	struct report *report = &s->report;
	int r = record_open(s->effective->policy, s->effective->state_dir, &record, err);

	if (r < 0)
		return r;
	report->request = s->request;
	report->findings = s->judgement.findings;
	report->verdict = s->judgement.verdict;
	report->action = s->judgement.action;
	report->is_dry_run = s->judgement.is_dry_run;
	r = record_hook(&record, report, s->call->event->name, hook_act_name(a->act), err);
	report->findings = (struct findings){0}; /* they stay the judgement's */
	record_done(&record);
	return r;
}

static int worker_answer(const struct hook_options *o, const struct hook_call *call,
			 struct hook_answer *ret, struct cordon_error *err)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(scene_done) struct hook_scene s = {.call = call, .effective = &e};
	char exe[PATH_MAX];
	int r = effective_init(worker_project(call), &e, err);

	if (r == 0)
		r = effective_load(&e, o->policies, /* options= */ NULL, err);
	if (r < 0) {
		if (e.state_dir) /* the answer is "no" either way */
			(void)!record_rejected(e.state_dir, err, NULL);
		return r;
	}
	if (proc_exe(exe, sizeof(exe)) == 0)
		s.exe = exe;
	s.policies = o->policies;
	s.place = (struct look_place){
		.workspace = e.workspace,
		.cwd = call->cwd && call->cwd[0] == '/' ? call->cwd : e.workspace,
		.home = e.home,
		.config_dir = e.config_dir,
		.state_dir = e.state_dir,
	};
	r = call->event->phase == HOOK_BEFORE ? hook_before(&s, ret, err)
					      : hook_after(&s, ret, err);
	/* What is not written down does not happen. */
	return r == 0 ? worker_record(&s, ret, err) : r;
}

static void worker_line(const struct cordon_error *err, struct buf *line)
{
	buf_str(line, "cordon: hook: ");
	str_escape(line, err->message, strlen(err->message));
	if (err->hint[0]) {
		buf_str(line, "; ");
		str_escape(line, err->hint, strlen(err->hint));
	}
	buf_char(line, '\n');
}

void hook_work(const struct hook_options *o, const char *text, size_t len, struct buf *out,
	       struct buf *line, int *ret_code)
{
	AUTO(hook_call_done) struct hook_call call = {0};
	AUTO(hook_answer_done) struct hook_answer answer = {0};
	struct cordon_error err = {0};
	int r = hook_call_parse(o->dialect, text, len, &call, &err);

	if (r == 0 && call.event)
		r = worker_answer(o, &call, &answer, &err);
	if (r == 0 && hook_reply_write(&call, &answer, o->always_replies, out, ret_code) < 0)
		r = cordon_nomem(&err);
	if (r < 0) {
		buf_clear(out);
		hook_withhold(o->dialect, text, len, err.message, out, ret_code);
		worker_line(&err, line);
		return;
	}
	if (*ret_code == HOOK_EXIT_DENY) {
		str_escape(line, answer.reason, strlen(answer.reason));
		buf_char(line, '\n');
	}
}
