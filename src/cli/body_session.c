/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of `cordon session`. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/approvals.h"
#include "core/approve.h"
#include "core/effective.h"
#include "core/record.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_ASK_MS 60000

static const char *const session_sources[SESSION_SOURCE_COUNT] = {"claimed", "seen"};

struct session_door {
	struct effective effective;
	struct session_store *store;
};

static void session_door_done(struct session_door *d)
{
	session_close(d->store);
	effective_done(&d->effective);
}

static int session_door_open(struct session_door *d, struct cordon_error *err)
{
	int r = effective_init(/* cwd= */ NULL, &d->effective, err);

	return r < 0 ? r : session_open(d->effective.state_dir, &d->store, err);
}

static void session_facts_text(unsigned facts, struct buf *b)
{
	for (unsigned i = 0; i < SESSION_FACT_COUNT; i++)
		if (facts & 1u << i)
			buf_printf(b, "%s%s", b->len ? " " : "",
				   session_fact_word((enum session_fact_bit)i));
}

static void session_facts_json(unsigned facts, struct json *j)
{
	json_array(j, "facts");
	for (unsigned i = 0; i < SESSION_FACT_COUNT; i++)
		if (facts & 1u << i)
			json_str(j, NULL, session_fact_word((enum session_fact_bit)i));
	json_end_array(j);
}

static void session_info_json(void *data, const struct session_info *info)
{
	struct json *j = data;

	json_object(j, NULL);
	json_str(j, "id", info->id);
	json_stamp(j, "created", info->created_ms);
	json_stamp(j, "used", info->used_ms);
	json_int(j, "events", info->calls);
	json_bool(j, "tainted", info->tainted_ms != 0);
	json_str(j, "taint", info->tainted_ms ? info->taint : NULL);
	json_stamp(j, "lifted", info->lifted_ms);
	session_facts_json(info->marks, j);
	json_end_object(j);
}

static void session_info_row(void *data, const struct session_info *info)
{
	struct table *t = data;
	char stamp[CLOCK_STAMP_LEN], calls[24];

	clock_stamp_of(info->used_ms, stamp);
	(void)snprintf(calls, sizeof(calls), "%lld", (long long)info->calls);
	table_cell(t, info->id);
	table_cell(t, stamp);
	table_cell(t, calls);
	table_styled_cell(t, OUT_YELLOW, info->tainted_ms ? info->taint : "");
}

/* Gives each row of what `from` holds to a JSON array or to a table. */
typedef int session_rows_fn(void *from, struct json *j, struct table *t, struct cordon_error *err);

static int session_print(struct cli *cli, bool is_json, const char *name,
			 const char *const *headings, size_t n, session_rows_fn *rows, void *from,
			 struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	struct table t;
	int r;

	if (is_json) {
		json_object(&j, NULL);
		json_array(&j, name);
		r = rows(from, &j, NULL, err);
		json_end_array(&j);
		json_end_object(&j);
		if (r == 0)
			return cli_print_line(cli, &b, err);
		buf_done(&b);
		return r;
	}
	table_init(&t, n, headings);
	r = rows(from, NULL, &t, err);
	if (r == 0 && table_print(&t, &cli->out) < 0)
		r = cordon_nomem(err);
	table_done(&t);
	return r;
}

static int session_list_rows(void *from, struct json *j, struct table *t, struct cordon_error *err)
{
	return j ? session_each(from, session_info_json, j, err)
		 : session_each(from, session_info_row, t, err);
}

int cmd_session_list_main(struct cli *cli, const struct session_options *options)
{
	static const char *const headings[] = {"SESSION", "LAST CALL", "EVENTS", "TAINTED BY"};
	AUTO(session_door_done) struct session_door d = {0};
	struct cordon_error err = {0};
	int r = session_door_open(&d, &err);

	if (r == 0)
		r = session_print(cli, options->json, "sessions", headings, ARRAY_LEN(headings),
				  session_list_rows, d.store, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

static void session_past_json(void *data, const struct session_past *past)
{
	struct json *j = data;

	json_object(j, NULL);
	json_stamp(j, "at", past->at_ms);
	json_str(j, "source",
		 session_sources[past->source < SESSION_SOURCE_COUNT ? past->source : 0]);
	json_str(j, "tool", past->tool);
	json_str(j, "target", past->target);
	session_facts_json(past->facts, j);
	json_end_object(j);
}

static void session_past_row(void *data, const struct session_past *past)
{
	struct table *t = data;
	struct buf facts = BUF_INIT(1024);
	char stamp[CLOCK_STAMP_LEN];

	clock_stamp_of(past->at_ms, stamp);
	session_facts_text(past->facts, &facts);
	table_cell(t, stamp);
	table_cell(t, session_sources[past->source < SESSION_SOURCE_COUNT ? past->source : 0]);
	table_cell(t, past->tool);
	table_cell(t, buf_cstr(&facts));
	table_cell(t, past->target);
	buf_done(&facts);
}

static int session_known(struct session_door *d, const char *id, struct session_info *ret,
			 struct cordon_error *err)
{
	int r = session_find(d->store, id, ret, err);

	if (r == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND, "no session '%.100s'", id),
				   "'cordon session list' lists them");
	return r < 0 ? r : 0;
}

static int session_show_json(struct cli *cli, struct session_door *d,
			     const struct session_info *info, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	json_object(&j, NULL);
	json_array(&j, "sessions");
	session_info_json(&j, info);
	json_end_array(&j);
	json_array(&j, "past");
	r = session_past(d->store, info->id, session_past_json, &j, err);
	json_end_array(&j);
	json_end_object(&j);
	return r < 0 ? r : cli_print_line(cli, &b, err);
}

int cmd_session_show_main(struct cli *cli, const struct session_options *options)
{
	static const char *const headings[] = {"TIME", "KNOWN", "TOOL", "FACTS", "ABOUT"};
	AUTO(session_door_done) struct session_door d = {0};
	struct session_info info;
	struct cordon_error err = {0};
	int r = session_door_open(&d, &err);

	if (r == 0)
		r = session_known(&d, cli->words[0], &info, &err);
	if (r == 0 && options->json) {
		r = session_show_json(cli, &d, &info, &err);
	} else if (r == 0) {
		struct table t;

		if (info.tainted_ms) {
			out_styled(&cli->out, OUT_YELLOW, "tainted by ");
			out_escaped(&cli->out, info.taint);
			out_str(&cli->out, "\n");
		}
		table_init(&t, ARRAY_LEN(headings), headings);
		r = session_past(d.store, info.id, session_past_row, &t, &err);
		if (r == 0 && table_print(&t, &cli->out) < 0)
			r = cordon_nomem(&err);
		table_done(&t);
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}

/* A person, not a program: the terminal is asked and nothing else. */
static int session_ask(struct session_door *d, const struct session_info *info,
		       struct cordon_error *err)
{
	AUTO(request_freep) struct request *request = NULL;
	struct request_options ro = {.cwd = d->effective.workspace};
	struct buf command = BUF_INIT(LIMIT_NAME_BYTES * 8);
	char reason[640];
	enum approval answer;
	int r;

	buf_str(&command, "cordon session lift ");
	str_shell_quote(&command, info->id);
	r = buf_error(&command) < 0 ? cordon_nomem(err)
				    : request_from_shell(buf_cstr(&command), &ro, &request, err);
	buf_done(&command);
	if (r < 0)
		return r;
	(void)snprintf(reason, sizeof(reason), "the session opened '%.500s'", info->taint);
	answer = approve_ask(&(struct approve_call){.request = request}, reason, SESSION_ASK_MS);
	return answer == APPROVAL_GRANTED ? 0
					  : cordon_fail(err, CORDON_E_REFUSED, "not lifted: %s",
							approval_name(answer));
}

int cmd_session_lift_main(struct cli *cli)
{
	AUTO(session_door_done) struct session_door d = {0};
	struct session_info info;
	struct cordon_error err = {0};
	int r = session_door_open(&d, &err);

	if (r == 0)
		r = session_known(&d, cli->words[0], &info, &err);
	if (r == 0 && info.tainted_ms == 0) {
		out_str(&cli->out, "not tainted\n");
		return 0;
	}
	if (r == 0)
		r = session_ask(&d, &info, &err);
	if (r == 0)
		r = record_lifted(d.effective.state_dir, info.id, info.taint, &err);
	if (r == 0)
		r = session_lift(d.store, info.id, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	out_str(&cli->out, "lifted\n");
	return 0;
}

/* ---- hosts that were allowed ---- */

static int session_approval_json(void *data, const struct approval_kept *a,
				 struct cordon_error *err)
{
	struct json *j = data;

	(void)err;
	json_object(j, NULL);
	json_str(j, "host", a->host);
	json_str(j, "scope", approval_scope_name(a->scope));
	json_str(j, "owner", a->owner);
	json_stamp(j, "until", a->until_ms);
	json_str(j, "by", a->who);
	json_end_object(j);
	return 0;
}

static int session_approval_row(void *data, const struct approval_kept *a, struct cordon_error *err)
{
	struct table *t = data;
	char stamp[CLOCK_STAMP_LEN];

	(void)err;
	clock_stamp_of(a->until_ms, stamp);
	table_cell(t, a->host);
	table_cell(t, approval_scope_name(a->scope));
	table_cell(t, a->owner ? a->owner : "?");
	table_cell(t, stamp);
	table_cell(t, a->who);
	return 0;
}

static int session_approval_rows(void *from, struct json *j, struct table *t,
				 struct cordon_error *err)
{
	return j ? approvals_each(from, session_approval_json, j, err)
		 : approvals_each(from, session_approval_row, t, err);
}

int cmd_session_approvals_main(struct cli *cli, const struct session_options *options)
{
	static const char *const headings[] = {"HOST", "FOR", "WHICH", "UNTIL", "BY"};
	AUTO(effective_done) struct effective e = {0};
	struct cordon_error err = {0};
	int r = effective_init(/* cwd= */ NULL, &e, &err);

	if (r == 0)
		r = session_print(cli, options->json, "approvals", headings, ARRAY_LEN(headings),
				  session_approval_rows, e.state_dir, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}

struct session_revoking {
	struct cli *cli;
	const char *state_dir;
};

/* What cannot be written down is not done. */
static int session_revoked(void *data, const struct approval_kept *a, struct cordon_error *err)
{
	const struct session_revoking *s = data;
	int r = record_revoked(s->state_dir, a->scope == APPROVAL_SESSION ? a->owner : NULL,
			       a->host, err);

	if (r < 0)
		return r;
	out_str(&s->cli->out, "revoked ");
	out_escaped(&s->cli->out, a->host);
	out_str(&s->cli->out, a->scope == APPROVAL_SESSION ? " for session " : " for project ");
	out_escaped(&s->cli->out, a->owner ? a->owner : "?");
	out_str(&s->cli->out, "\n");
	return 0;
}

int cmd_session_revoke_main(struct cli *cli, const struct session_revoke_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO_FREE char *project = NULL;
	struct approval_choice which = {.session = options->session};
	struct session_revoking s = {.cli = cli};
	struct cordon_error err = {0};
	int r = 0;

	if (options->all == (cli->n_words > 0))
		r = cordon_fail(&err, CORDON_E_INVALID, "name hosts, or use --all");
	if (r == 0)
		r = effective_init(/* cwd= */ NULL, &e, &err);
	if (r == 0 && options->project) {
		project = realpath(options->project, NULL);
		/* It may be gone. */
		if (!project && path_resolve(options->project, &project) < 0)
			r = cordon_fail(&err, CORDON_E_INVALID, "no directory '%s'",
					options->project);
	}
	s.state_dir = e.state_dir;
	which.project = project;
	for (size_t i = 0; r >= 0 && (options->all ? i == 0 : i < cli->n_words); i++) {
		which.host = options->all ? NULL : cli->words[i];
		r = approvals_revoke(e.state_dir, &which, session_revoked, &s, &err);
		if (r == 0 && which.host)
			r = cordon_hint(&err,
					cordon_fail(&err, CORDON_E_NOT_FOUND,
						    "'%.200s' was not allowed", which.host),
					"'cordon session approvals' lists what is");
	}
	return r < 0 ? cli_fail(cli, &err) : 0;
}
