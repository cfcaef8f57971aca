/* SPDX-License-Identifier: Apache-2.0 */
/* Reports.  Every question has an answer for NULL too: that of a call that never was. */
#include "lib/lib.h"

#include "base/limits.h"

void cordon_report_free(struct cordon_report *r)
{
	if (!r)
		return;
	report_done(&r->report);
	request_free(r->request);
	free(r->backend);
	free(r);
}

int cordon_report_exit_code(const struct cordon_report *r)
{
	return r ? r->report.exit_code : 125;
}

const char *cordon_report_id(const struct cordon_report *r)
{
	return r ? r->request->id : NULL;
}

enum cordon_verdict cordon_report_verdict(const struct cordon_report *r)
{
	return r ? (enum cordon_verdict)r->report.verdict.kind : CORDON_VERDICT_SAFE;
}

double cordon_report_confidence(const struct cordon_report *r)
{
	return r ? r->report.verdict.confidence : 0;
}

enum cordon_action cordon_report_action(const struct cordon_report *r)
{
	return r ? (enum cordon_action)r->report.action : CORDON_ACTION_ALLOW;
}

int cordon_report_dry_run(const struct cordon_report *r)
{
	return r && r->report.is_dry_run;
}

int cordon_report_refused(const struct cordon_report *r)
{
	return r && r->report.is_refused;
}

const struct cordon_error *cordon_report_error(const struct cordon_report *r)
{
	return r ? &r->why : NULL;
}

const char *cordon_report_backend(const struct cordon_report *r)
{
	return r && r->report.selection.backend ? r->report.selection.backend->info->name : NULL;
}

const char *cordon_report_level(const struct cordon_report *r)
{
	return r && r->report.selection.backend
		       ? level_name(r->report.selection.backend->info->level)
		       : NULL;
}

/* The index-th member of a set, in the order of the table. */
static const char *report_member(guarantee_set set, size_t index)
{
	for (int g = 0; g < GUARANTEE_COUNT; g++)
		if ((set & ((guarantee_set)1 << g)) && index-- == 0)
			return guarantee_name((enum guarantee)g);
	return NULL;
}

const char *cordon_report_guarantee(const struct cordon_report *r, size_t index)
{
	return r ? report_member(r->report.selection.guarantees, index) : NULL;
}

const char *cordon_report_degraded(const struct cordon_report *r, size_t index)
{
	return r ? report_member(r->report.selection.degraded, index) : NULL;
}

int cordon_report_signal(const struct cordon_report *r)
{
	return r && r->report.has_run ? r->report.result.signal : 0;
}

int cordon_report_timed_out(const struct cordon_report *r)
{
	return r && r->report.has_run && r->report.result.is_timed_out;
}

int cordon_report_output_truncated(const struct cordon_report *r)
{
	return r && r->report.has_run && r->report.result.is_output_truncated;
}

double cordon_report_duration_ms(const struct cordon_report *r)
{
	return r && r->report.has_run ? r->report.result.duration_ms : 0;
}

static const char *report_bytes(const struct buf *b, size_t *ret_len)
{
	if (ret_len)
		*ret_len = b ? b->len : 0;
	return b ? buf_cstr(b) : "";
}

const char *cordon_report_stdout(const struct cordon_report *r, size_t *ret_len)
{
	return report_bytes(r && r->report.has_run ? &r->report.result.stdout_data : NULL, ret_len);
}

const char *cordon_report_stderr(const struct cordon_report *r, size_t *ret_len)
{
	return report_bytes(r && r->report.has_run ? &r->report.result.stderr_data : NULL, ret_len);
}

const struct cordon_findings *cordon_report_findings(const struct cordon_report *r)
{
	return r ? &r->findings : NULL;
}

int cordon_report_denied(const struct cordon_report *r, size_t index, struct cordon_denied *ret,
			 struct cordon_error *err)
{
	struct cordon_denied out = {.struct_size = sizeof(out)};
	const struct denied *d;
	int e;

	lib_enter(err);
	if (!r)
		return lib_leave(lib_missing(err, "report"), err);
	e = lib_struct_check(ret, "struct cordon_denied", err);
	if (e < 0 || index >= r->report.n_denied)
		return lib_leave(e, err);
	d = &r->report.denied[index];
	out.kind = d->kind;
	out.target = d->target;
	out.rule = d->rule;
	out.remedy = d->remedy;
	lib_struct_out(ret, &out, sizeof(out));
	return 1;
}

int cordon_report_json(const struct cordon_report *r, char **ret_json, size_t *ret_len,
		       struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int e;

	lib_enter(err);
	if (!r || !ret_json)
		return lib_leave(lib_missing(err, r ? "place for the JSON" : "report"), err);
	report_json(&r->report, &j);
	e = lib_give(&b, "report", ret_json, ret_len, err);
	buf_done(&b);
	return lib_leave(e, err);
}
