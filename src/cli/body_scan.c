/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon scan`. */
#include "cli/cage.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/progress.h"

#include "base/json.h"
#include "base/limits.h"
#include "core/effective.h"
#include "core/judge.h"
#include "scan/tree.h"

#include <unistd.h>

static const enum out_style scan_styles[VERDICT_COUNT] = {
	[VERDICT_SAFE] = OUT_GREEN,
	[VERDICT_SUSPICIOUS] = OUT_YELLOW,
	[VERDICT_MALICIOUS] = OUT_RED,
};

static void scan_step(void *data, size_t files, const char *path)
{
	progress_step(data, files, /* total= */ 0, *path ? path : ".");
}

static void scan_finding_json(const struct scan_hit *hit, struct json *j)
{
	const struct finding *f = &hit->finding;

	json_object(j, NULL);
	json_str(j, "path", hit->path);
	json_str(j, "rule", f->rule);
	json_str(j, "type", finding_type_name(f->type));
	json_str(j, "level", threat_name(f->level));
	json_str(j, "severity", f->level >= THREAT_HIGH ? "error" : "warning");
	json_double(j, "confidence", f->confidence, 2);
	json_int(j, "line", f->line);
	json_int(j, "column", f->column);
	json_str(j, "message", f->message);
	json_str(j, "snippet", f->snippet);
	json_end_object(j);
}

static void scan_json(const struct scan_report *r, const struct judgement *judged, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "verdict", verdict_name(judged->verdict.kind));
	json_double(j, "confidence", judged->verdict.confidence, 2);
	json_int(j, "files", (int64_t)r->files);
	json_int(j, "ignored", (int64_t)r->passed);
	json_bool(j, "complete", !r->is_cut);
	json_array(j, "findings");
	for (size_t i = 0; i < r->n; i++)
		scan_finding_json(&r->hits[i], j);
	json_end_array(j);
	json_end_object(j);
}

static void scan_text(struct out *out, const struct scan_report *r, const struct judgement *judged)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct finding *f = &r->hits[i].finding;

		out_escaped(out, r->hits[i].path);
		if (f->line)
			out_printf(out, ":%u", f->line);
		out_str(out, ": ");
		out_styled(out, f->level >= THREAT_HIGH ? OUT_RED : OUT_YELLOW,
			   threat_name(f->level));
		out_str(out, " ");
		out_escaped(out, f->message);
		out_str(out, " (");
		out_escaped(out, f->rule);
		out_str(out, ")");
		if (f->snippet[0]) {
			out_str(out, ": ");
			out_styled(out, OUT_DIM, f->snippet);
		}
		out_str(out, "\n");
	}
	out_styled(out, scan_styles[judged->verdict.kind], verdict_name(judged->verdict.kind));
	out_printf(out, ": %zu file%s, %zu finding%s%s\n", r->files, r->files == 1 ? "" : "s", r->n,
		   r->n == 1 ? "" : "s", r->is_cut ? ", not complete" : "");
}

static int scan_print(struct cli *cli, const struct scan_cli_options *o,
		      const struct scan_report *r, const struct judgement *judged)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int e;

	if (!o->sarif && !o->policy.json) {
		scan_text(&cli->out, r, judged);
		return 0;
	}
	if (o->sarif)
		scan_report_sarif(r, &b);
	else
		scan_json(r, judged, &j);
	buf_char(&b, '\n');
	e = buf_error(&b);
	if (e == 0)
		out_add(&cli->out, buf_cstr(&b), b.len);
	buf_done(&b);
	return e;
}

int cmd_scan_main(struct cli *cli, const struct scan_cli_options *options)
{
	AUTO(effective_done) struct effective e = {.no_project = true};
	AUTO(scan_report_done) struct scan_report report = {0};
	AUTO(judgement_done) struct judgement judged = {0};
	struct cordon_error err = {0};
	struct progress progress;
	struct scan_options o = {.step = scan_step, .data = &progress};
	int r = effective_init(/* cwd= */ NULL, &e, &err);

	e.no_project = true; /* whoever made the project does not judge it */
	if (r == 0)
		r = effective_load(&e, &options->policy.policies, /* options= */ NULL, &err);
	o.policy = e.policy;
	o.home = e.home;
	progress_begin(&progress);
	if (r == 0)
		r = cage_enter(cli->words[0], &err);
	if (r == 0)
		r = scan_tree(cli->words[0], &o, &report, &err);
	progress_clear(&progress);
	if (r == 0 && scan_report_findings(&report, &judged.findings) < 0)
		r = cordon_nomem(&err);
	if (r == 0) {
		judge_findings(e.policy, NULL, NULL, &judged);
		if (scan_print(cli, options, &report, &judged) < 0)
			r = cordon_nomem(&err);
	}
	if (r < 0)
		return cli_fail(cli, &err);
	/* What was not looked at is not SAFE, whatever the policy's thresholds are. */
	return report.is_cut && judged.verdict.kind == VERDICT_SAFE ? VERDICT_SUSPICIOUS
								    : (int)judged.verdict.kind;
}
