/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon why`: load the policy, ask, print the answer. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/json.h"
#include "base/limits.h"
#include "core/effective.h"
#include "core/why.h"

static const enum out_style why_styles[WHY_DECISION_COUNT] = {
	[WHY_ALLOW] = OUT_GREEN,
	[WHY_DENY] = OUT_RED,
	[WHY_ASK] = OUT_YELLOW,
};

static int why_ask(const struct why_options *o, const struct effective *e, struct why *ret,
		   struct cordon_error *err)
{
	if (o->path)
		return why_path(e->policy, &e->context, o->path, o->write, ret, err);
	if (o->host)
		return why_host(e->policy, o->host, ret, err);
	return why_command(e->policy, &e->context, o->command, ret, err);
}

static void why_question_json(const struct why_options *o, const struct why *w, struct json *j)
{
	json_object(j, "question");
	if (o->path) {
		json_str(j, "path", o->path);
		json_bool(j, "write", o->write);
		json_str(j, "resolved", w->resolved);
	} else if (o->host) {
		json_str(j, "host", o->host);
		json_str(j, "canonical", w->resolved);
	} else {
		json_str(j, "command", o->command);
	}
	json_end_object(j);
}

static void why_json(const struct why_options *o, const struct policy *p, const struct why *w,
		     struct json *j)
{
	bool has_place = w->origin.line && w->origin.file < p->files.n;

	json_object(j, NULL);
	why_question_json(o, w, j);
	json_str(j, "decision", why_decision_name(w->decision));
	json_str(j, "rule", buf_cstr(&w->rule));
	json_object(j, "origin");
	json_str(j, "layer", layer_name((enum layer)w->origin.layer));
	json_str(j, "file", has_place ? p->files.v[w->origin.file] : NULL);
	if (has_place) {
		json_int(j, "line", w->origin.line);
		json_int(j, "column", w->origin.column);
	} else {
		json_null(j, "line");
		json_null(j, "column");
	}
	json_end_object(j);
	json_str(j, "remedy", buf_cstr(&w->remedy));
	json_array(j, "notes");
	for (size_t i = 0; i < w->notes.n; i++)
		json_str(j, NULL, w->notes.v[i]);
	json_end_array(j);
	json_end_object(j);
}

static void why_line(struct out *out, const char *label, const char *text)
{
	out_styled(out, OUT_DIM, label);
	out_escaped(out, text);
	out_str(out, "\n");
}

static void why_text(struct cli *cli, const struct why_options *o, const struct policy *p,
		     const struct why *w)
{
	struct buf from = BUF_INIT(LIMIT_PATH_BYTES + 256);
	struct out *out = &cli->out;

	out_styled(out, why_styles[w->decision], why_decision_name(w->decision));
	out_printf(out, ": %s ", o->path ? o->write ? "write" : "read" : o->host ? "reach" : "run");
	out_escaped(out, o->path ? o->path : o->host ? o->host : o->command);
	out_str(out, "\n");
	why_line(out, "rule:   ", buf_cstr(&w->rule));
	if (origin_is_written(&w->origin) || w->origin.implied)
		policy_origin_text(p, &w->origin, &from);
	else
		buf_str(&from, "built-in default");
	why_line(out, "from:   ", buf_cstr(&from));
	why_line(out, "change: ", buf_cstr(&w->remedy));
	for (size_t i = 0; i < w->notes.n; i++)
		why_line(out, "note:   ", w->notes.v[i]);
	buf_done(&from);
}

int cmd_why_main(struct cli *cli, const struct why_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(why_done) struct why why = {0};
	struct cordon_error err = {0};
	int r = effective_init(options->policy.cwd, &e, &err);

	if (r == 0)
		r = effective_load(&e, &options->policy.policies, /* options= */ NULL, &err);
	if (r == 0)
		r = why_ask(options, &e, &why, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	if (options->policy.json) {
		struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
		struct json j = JSON_INIT(&b);

		why_json(options, e.policy, &why, &j);
		buf_char(&b, '\n');
		r = buf_error(&b);
		out_add(&cli->out, buf_cstr(&b), b.len);
		buf_done(&b);
	} else {
		why_text(cli, options, e.policy, &why);
	}
	return r < 0 ? cli_fail(cli, (cordon_nomem(&err), &err)) : 0;
}
