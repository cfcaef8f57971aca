/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon backends` and `cordon select`. */
#include "cli/backends_rows.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "backend/isolation.h"
#include "backend/registry.h"
#include "base/limits.h"
#include "core/effective.h"
#include "core/needs.h"

#include <stdio.h>

/* What `auto` would pick under the policy in force here. */
struct backends_auto {
	struct selection selection;
	struct cordon_error err;
	bool is_found;
};

static int backends_pick(const struct candidate *candidates, size_t n, struct backends_auto *ret,
			 struct cordon_error *err)
{
	AUTO(effective_done) struct effective e = {0};
	struct select_request request = {0};
	struct needs needs;
	int r = effective_init(NULL, &e, err);

	if (r == 0)
		r = effective_load(&e, /* files= */ NULL, /* options= */ NULL, err);
	if (r < 0)
		return r;
	if (needs_of(e.policy, &needs, &ret->err) < 0)
		return 0;
	request.floor = (enum level)e.policy->level;
	request.needs = needs.guarantees;
	request.may_give_up = needs.may_give_up;
	ret->is_found = backend_select(candidates, n, &request, &ret->selection, &ret->err) == 0;
	return 0;
}

/* The probe of a known backend, or NULL when this build does not have it. */
static const struct candidate *backends_find(const struct candidate *candidates, size_t n,
					     const struct backend_info *info)
{
	for (size_t i = 0; i < n; i++)
		if (candidates[i].backend->info == info)
			return &candidates[i];
	return NULL;
}

void backends_rows_json(const struct candidate *candidates, size_t n, struct json *j)
{
	json_array(j, "backends");
	for (size_t i = 0; i < BACKEND_COUNT; i++) {
		const struct backend_info *info = &backend_infos[i];
		const struct candidate *c = backends_find(candidates, n, info);

		json_object(j, NULL);
		json_str(j, "name", info->name);
		json_str(j, "level", level_name(info->level));
		json_int(j, "strength", info->strength);
		json_bool(j, "available", c && c->probe.is_available);
		json_str(j, "reason", c ? c->probe.reason : REGISTRY_ABSENT_REASON);
		guarantee_json(c ? c->probe.guarantees : GUARANTEE_NONE, "guarantees", j);
		json_end_object(j);
	}
	json_end_array(j);
}

static void backends_json(const struct candidate *candidates, size_t n,
			  const struct backends_auto *picked, struct json *j)
{
	json_object(j, NULL);
	backends_rows_json(candidates, n, j);
	json_object(j, "auto");
	json_str(j, "backend", picked->is_found ? picked->selection.backend->info->name : NULL);
	json_str(j, "reason", picked->is_found ? picked->selection.reason : picked->err.message);
	json_end_object(j);
	json_end_object(j);
}

int backends_rows_text(struct out *out, const struct candidate *candidates, size_t n)
{
	static const char *const headings[] = {"BACKEND", "LEVEL", "STRENGTH", "HERE", "WHY"};
	struct table table;
	int r;

	table_init(&table, ARRAY_LEN(headings), headings);
	for (size_t i = 0; i < BACKEND_COUNT; i++) {
		const struct backend_info *info = &backend_infos[i];
		const struct candidate *c = backends_find(candidates, n, info);
		bool here = c && c->probe.is_available;
		char strength[16];

		(void)snprintf(strength, sizeof(strength), "%d", info->strength);
		table_cell(&table, info->name);
		table_cell(&table, level_name(info->level));
		table_cell(&table, strength);
		table_styled_cell(&table, here ? OUT_GREEN : OUT_DIM, here ? "yes" : "no");
		table_cell(&table, c ? c->probe.reason : REGISTRY_ABSENT_REASON);
	}
	r = table_print(&table, out);
	table_done(&table);
	return r;
}

static int backends_text(struct cli *cli, const struct candidate *candidates, size_t n,
			 const struct backends_auto *picked)
{
	int r = backends_rows_text(&cli->out, candidates, n);

	out_str(&cli->out, "\nauto: ");
	out_escaped(&cli->out, picked->is_found ? picked->selection.backend->info->name : "none");
	out_str(&cli->out, ": ");
	out_escaped(&cli->out, picked->is_found ? picked->selection.reason : picked->err.message);
	out_str(&cli->out, "\n");
	return r;
}

int cmd_backends_main(struct cli *cli, const struct backends_options *options)
{
	struct candidate candidates[BACKEND_COUNT];
	struct backends_auto picked = {0};
	struct cordon_error err = {0};
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	size_t n = registry_probe(PROBE_FULL, candidates);

	if (backends_pick(candidates, n, &picked, &err) < 0)
		return cli_fail(cli, &err);
	if (options->json) {
		backends_json(candidates, n, &picked, &j);
		buf_char(&b, '\n');
		out_add(&cli->out, buf_cstr(&b), b.len);
	} else if (backends_text(cli, candidates, n, &picked) < 0) {
		return cli_fail(cli, (cordon_nomem(&err), &err));
	}
	buf_done(&b);
	return 0;
}

int cmd_select_main(struct cli *cli, const struct select_options *options)
{
	struct candidate candidates[BACKEND_COUNT];
	enum isolation isolation = ISOLATION_DEFAULT;
	struct isolation_choice choice;
	struct cordon_error err = {0};

	if (isolation_from_name(options->isolation, &isolation) < 0)
		return cli_fail(cli, (cordon_fail(&err, CORDON_E_INVALID,
						  "unknown isolation '%.100s'", options->isolation),
				      &err));
	choice = select_isolation(isolation, candidates, registry_probe(PROBE_FULL, candidates));
	if (options->json) {
		struct buf b = BUF_INIT(4096);
		struct json j = JSON_INIT(&b);

		json_object(&j, NULL);
		json_str(&j, "backend", choice.backend);
		json_str(&j, "reason", choice.reason);
		json_end_object(&j);
		buf_char(&b, '\n');
		out_add(&cli->out, buf_cstr(&b), b.len);
		buf_done(&b);
	} else {
		out_printf(&cli->out, "%s: %s\n", choice.backend, choice.reason);
	}
	return 0;
}
