/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon policy validate|show|explain|schema`. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/effective.h"
#include "policy/document.h"
#include "policy/explain.h"
#include "policy/schema.h"

#include <string.h>

static void policy_warn(const struct policy *p)
{
	for (size_t i = 0; i < p->warnings.n; i++)
		log_warning("%s", p->warnings.v[i]);
}

/* "CKP manifest, kind Sandbox; CKP manifest, kind Policy" */
static void policy_kinds(unsigned kinds, struct buf *out)
{
	for (unsigned k = 0; k < DOCUMENT_COUNT; k++)
		if (kinds & 1u << k)
			buf_printf(out, "%s%s", out->len ? "; " : "",
				   document_kind_name((enum document_kind)k));
}

static int policy_validate_one(struct cli *cli, const struct effective *e, const char *file)
{
	AUTO(policy_freep) struct policy *p = policy_new();
	struct cordon_error err = {0};
	struct buf kinds = BUF_INIT(1024);
	unsigned seen = 0;

	if (!p)
		return cli_fail(cli, (cordon_nomem(&err), &err));
	if (policy_parse_file(&e->context, file, LAYER_FILE, p, &seen, &err) < 0)
		return cli_fail(cli, &err);
	policy_warn(p);
	policy_kinds(seen, &kinds);
	out_escaped(&cli->out, file);
	out_printf(&cli->out, ": valid (%s)\n", kinds.len ? buf_cstr(&kinds) : "empty");
	buf_done(&kinds);
	return 0;
}

int cmd_policy_validate_main(struct cli *cli, const struct policy_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	struct cordon_error err = {0};
	int code = 0;

	if (effective_init(options->cwd, &e, &err) < 0)
		return cli_fail(cli, &err);
	for (size_t i = 0; i < cli->n_words; i++)
		if (policy_validate_one(cli, &e, cli->words[i]) != 0)
			code = CLI_EXIT_FAILED;
	return code;
}

static int policy_effective(const struct policy_options *o, struct effective *e,
			    struct cordon_error *err)
{
	int r = effective_init(o->cwd, e, err);

	if (r == 0)
		r = effective_load(e, &o->policies, /* options= */ NULL, err);
	if (r == 0)
		policy_warn(e->policy);
	return r;
}

int cmd_policy_show_main(struct cli *cli, const struct policy_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct cordon_error err = {0};
	struct json j = JSON_INIT(&b);
	int r = policy_effective(options, &e, &err);

	if (r == 0 && options->json) {
		policy_show_json(e.policy, /* written_only= */ false, &j);
		buf_char(&b, '\n');
		r = buf_error(&b) < 0 ? cordon_fail_leaf(&err, buf_error(&b), "policy") : 0;
	} else if (r == 0) {
		r = policy_show_yaml(e.policy, /* written_only= */ false, &b, &err);
	}
	if (r == 0)
		out_add(&cli->out, buf_cstr(&b), b.len);
	buf_done(&b);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

static int policy_explain_text(void *data, const struct explain_row *row)
{
	struct table *t = data;

	table_cell(t, row->entry <= 0 ? row->field->path : "");
	table_cell(t, row->value);
	table_styled_cell(t, OUT_DIM, row->from);
	return 0;
}

struct policy_explain_json {
	const struct policy *policy;
	struct json *out;
};

static int policy_explain_row(void *data, const struct explain_row *row)
{
	const struct policy_explain_json *e = data;
	struct json *j = e->out;
	const struct origin *o = row->origin;

	json_object(j, NULL);
	json_str(j, "field", row->field->path);
	if (row->entry >= 0)
		json_int(j, "entry", row->entry);
	json_str(j, "value", row->value);
	json_str(j, "layer", layer_name((enum layer)o->layer));
	if (o->line) {
		json_str(j, "file", e->policy->files.v[o->file]);
		json_int(j, "line", o->line);
		json_int(j, "column", o->column);
	}
	json_bool(j, "implied", o->implied);
	json_end_object(j);
	return 0;
}

int cmd_policy_explain_main(struct cli *cli, const struct policy_options *options)
{
	static const char *const headings[] = {"VALUE OF", "IS", "FROM"};
	AUTO(effective_done) struct effective e = {0};
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	struct cordon_error err = {0};
	struct table table;
	int r = policy_effective(options, &e, &err);

	if (r < 0)
		return cli_fail(cli, &err);
	if (options->json) {
		struct policy_explain_json data = {e.policy, &j};

		json_array(&j, NULL);
		r = policy_explain(e.policy, policy_explain_row, &data, &err);
		json_end_array(&j);
		buf_char(&b, '\n');
		if (r == 0 && buf_error(&b) < 0)
			r = cordon_fail_leaf(&err, buf_error(&b), "policy");
		if (r == 0)
			out_add(&cli->out, buf_cstr(&b), b.len);
	} else {
		table_init(&table, ARRAY_LEN(headings), headings);
		r = policy_explain(e.policy, policy_explain_text, &table, &err);
		if (r == 0 && table_print(&table, &cli->out) < 0)
			r = cordon_nomem(&err);
		table_done(&table);
	}
	buf_done(&b);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

int cmd_policy_schema_main(struct cli *cli)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);

	policy_schema_json(&b);
	out_add(&cli->out, buf_cstr(&b), b.len);
	buf_done(&b);
	return 0;
}
