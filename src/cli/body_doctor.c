/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon doctor`: try, look, and print both with the fixes. */
#include "cli/backends_rows.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/limits.h"
#include "core/doctor.h"

struct doctor {
	struct doctor_row mechanisms[DOCTOR_MECHANISMS_MAX];
	size_t n_mechanisms;
	struct candidate candidates[BACKEND_COUNT];
	size_t n_candidates;
	struct effective effective;
	struct doctor_row state, audit, policy;
	struct doctor_file files[DOCTOR_FILE_COUNT];
};

static void doctor_done(struct doctor *d)
{
	doctor_files_done(d->files);
	effective_done(&d->effective);
}

static int doctor_look(struct doctor *d, struct cordon_error *err)
{
	int r = effective_init(/* cwd= */ NULL, &d->effective, err);

	if (r == 0)
		r = doctor_policy(&d->effective, d->files, &d->policy, err);
	if (r < 0)
		return r;
	doctor_state(d->effective.state_dir, &d->state);
	doctor_audit(d->effective.state_dir, &d->audit);
	d->n_mechanisms = doctor_mechanisms(d->mechanisms);
	d->n_candidates = registry_probe(PROBE_FULL, d->candidates);
	return 0;
}

/* works, detail and fix: the members that every row has. */
static void doctor_row_json(const struct doctor_row *row, struct json *j)
{
	json_bool(j, "works", row->works);
	json_str(j, "detail", row->detail);
	json_str(j, "fix", row->works ? NULL : row->fix);
}

static void doctor_policy_json(const struct doctor *d, struct json *j)
{
	json_object(j, "policy");
	doctor_row_json(&d->policy, j);
	json_array(j, "files");
	for (size_t i = 0; i < DOCTOR_FILE_COUNT; i++) {
		json_object(j, NULL);
		json_str(j, "layer", d->files[i].layer);
		json_str(j, "path", d->files[i].path);
		json_bool(j, "found", d->files[i].is_found);
		doctor_row_json(&d->files[i].row, j);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void doctor_json(const struct doctor *d, struct json *j)
{
	json_object(j, NULL);
	json_array(j, "mechanisms");
	for (size_t i = 0; i < d->n_mechanisms; i++) {
		json_object(j, NULL);
		json_str(j, "name", d->mechanisms[i].name);
		doctor_row_json(&d->mechanisms[i], j);
		json_end_object(j);
	}
	json_end_array(j);
	backends_rows_json(d->candidates, d->n_candidates, j);
	json_object(j, "state");
	json_str(j, "dir", d->effective.state_dir);
	doctor_row_json(&d->state, j);
	json_object(j, "audit");
	doctor_row_json(&d->audit, j);
	json_end_object(j);
	json_end_object(j);
	doctor_policy_json(d, j);
	json_end_object(j);
}

static void doctor_cells(struct table *t, const char *name, const struct doctor_row *row)
{
	table_cell(t, name);
	table_styled_cell(t, row->works ? OUT_GREEN : OUT_RED, row->works ? "yes" : "no");
	table_cell(t, row->detail);
}

static void doctor_fix(struct out *o, const char *name, const struct doctor_row *row)
{
	if (row->works)
		return;
	out_styled(o, OUT_BOLD, "fix ");
	out_escaped(o, name);
	out_str(o, ": ");
	out_escaped(o, row->fix);
	out_str(o, "\n");
}

/* What the user has: directory, log, policy. */
static void doctor_own(const struct doctor *d, const struct doctor_row *ret[static 3])
{
	ret[0] = &d->state;
	ret[1] = &d->audit;
	ret[2] = &d->policy;
}

static void doctor_fixes(struct out *o, const struct doctor *d)
{
	const struct doctor_row *own[3];

	doctor_own(d, own);
	for (size_t i = 0; i < d->n_mechanisms; i++)
		doctor_fix(o, d->mechanisms[i].name, &d->mechanisms[i]);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		doctor_fix(o, own[i]->name, own[i]);
	for (size_t i = 0; i < DOCTOR_FILE_COUNT; i++)
		if (d->files[i].is_found)
			doctor_fix(o, d->files[i].path, &d->files[i].row);
}

static int doctor_text(struct out *o, const struct doctor *d)
{
	static const char *const headings[] = {"MECHANISM", "WORKS", "DETAIL"};
	const struct doctor_row *own[3];
	struct table table;
	int r;

	doctor_own(d, own);
	table_init(&table, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < d->n_mechanisms; i++)
		doctor_cells(&table, d->mechanisms[i].name, &d->mechanisms[i]);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		doctor_cells(&table, own[i]->name, own[i]);
	for (size_t i = 0; i < DOCTOR_FILE_COUNT; i++)
		if (d->files[i].is_found)
			doctor_cells(&table, d->files[i].path, &d->files[i].row);
	r = table_print(&table, o);
	table_done(&table);
	doctor_fixes(o, d);
	out_str(o, "\n");
	return r < 0 ? r : backends_rows_text(o, d->candidates, d->n_candidates);
}

int cmd_doctor_main(struct cli *cli, const struct doctor_options *options)
{
	AUTO(doctor_done) struct doctor d = {0};
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	struct cordon_error err = {0};
	int r;

	if (doctor_look(&d, &err) < 0)
		return cli_fail(cli, &err);
	if (options->json) {
		doctor_json(&d, &j);
		buf_char(&b, '\n');
		r = buf_error(&b);
		out_add(&cli->out, buf_cstr(&b), b.len);
		buf_done(&b);
	} else {
		r = doctor_text(&cli->out, &d);
	}
	return r < 0 ? cli_fail(cli, (cordon_nomem(&err), &err)) : 0;
}
