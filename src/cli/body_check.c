/* SPDX-License-Identifier: Apache-2.0 */
/* The body of `cordon check`: read the text, judge it, print the verdict. */
#include "cli/cage.h"
#include "cli/check_explain.h"
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/constrain.h"
#include "core/effective.h"
#include "core/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CHECK_TOOL "Bash" /* what a call is unless somebody says otherwise */

static const enum out_style check_styles[VERDICT_COUNT] = {
	[VERDICT_SAFE] = OUT_GREEN,
	[VERDICT_SUSPICIOUS] = OUT_YELLOW,
	[VERDICT_MALICIOUS] = OUT_RED,
};

struct check_text {
	char *data;
	size_t len;
	bool is_cut;
};

static void check_text_done(struct check_text *t)
{
	free(t->data);
}

/* The beginning of a stream that may have no end. */
static int check_read(int fd, struct check_text *ret)
{
	struct buf b = BUF_INIT(LIMIT_CHECK_BYTES + 1);
	char piece[64 * 1024];
	int r = 0;

	while (b.len <= LIMIT_CHECK_BYTES) {
		size_t room = LIMIT_CHECK_BYTES + 1 - b.len;
		ssize_t n = io_read(fd, piece, room < sizeof(piece) ? room : sizeof(piece),
				    CLOCK_NEVER);

		if (n <= 0) {
			r = (int)n;
			break;
		}
		buf_add(&b, piece, (size_t)n);
	}
	ret->is_cut = b.len > LIMIT_CHECK_BYTES;
	if (ret->is_cut)
		buf_truncate(&b, LIMIT_CHECK_BYTES);
	if (r == 0)
		r = buf_take(&b, &ret->data, &ret->len);
	buf_done(&b);
	return r;
}

static int check_open(const char *file, struct check_text *ret, struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	int r;

	if (!file || strcmp(file, "-") == 0) {
		r = check_read(STDIN_FILENO, ret);
		return r < 0 ? cordon_fail_leaf(err, r, "read standard input") : 0;
	}
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", file);
	r = check_read(fd, ret);
	return r < 0 ? cordon_fail_leaf(err, r, "read '%.200s'", file) : 0;
}

static int check_input(const struct cli *cli, const struct check_options *o, struct check_text *ret,
		       struct cordon_error *err)
{
	if (!o->command)
		return check_open(cli->n_words ? cli->words[0] : NULL, ret, err);
	ret->data = strdup(o->command);
	if (!ret->data)
		return cordon_nomem(err);
	ret->len = strlen(ret->data);
	return 0;
}

static enum inspect_kind check_kind(const struct check_options *o)
{
	enum inspect_kind kind = o->kind ? inspect_kind_of(o->kind) : INSPECT_AUTO;

	return kind == INSPECT_AUTO && o->command ? INSPECT_COMMAND : kind;
}

static void check_print(struct out *out, const struct judgement *j)
{
	out_styled(out, check_styles[j->verdict.kind], verdict_name(j->verdict.kind));
	if (j->verdict.kind != VERDICT_SAFE)
		out_printf(out, " %.2f", j->verdict.confidence);
	out_str(out, "\n");
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct finding *f = &j->findings.items[i];

		out_printf(out, "%u:%u: %s ", f->line, f->column, threat_name(f->level));
		out_escaped(out, f->rule);
		out_str(out, ": ");
		out_escaped(out, f->message);
		out_str(out, "\n");
	}
}

static int check_json(struct out *out, const struct check_explanation *e, bool explains)
{
	const struct judgement *judged = e->judgement;
	struct buf b = BUF_INIT(LIMIT_REPORT_BYTES);
	struct json j = JSON_INIT(&b);
	int r;

	json_object(&j, NULL);
	json_str(&j, "verdict", verdict_name(judged->verdict.kind));
	json_double(&j, "confidence", judged->verdict.confidence, 2);
	json_str(&j, "action", names_word(&names_action, (int)judged->action));
	json_bool(&j, "dry_run", judged->is_dry_run);
	findings_json(&judged->findings, "findings", LIMIT_FINDINGS, &j);
	if (judged->findings.is_cut)
		json_bool(&j, "findings_cut", true);
	if (explains)
		check_explain_json(e, &j);
	json_end_object(&j);
	buf_char(&b, '\n');
	r = buf_error(&b);
	out_add(out, buf_cstr(&b), b.len);
	buf_done(&b);
	return r;
}

/* The plan of a constrained call, for --explain.  Made before the text is read, because nothing can be asked of the
 * machine afterwards; whether it is needed shows then. */
struct check_plan {
	struct constrained constrained;
	struct cordon_error err;
	int r;
};

static void check_plan_done(struct check_plan *plan)
{
	constrained_done(&plan->constrained);
}

/* Prints; the exit code is the verdict. */
static int check_answer(struct cli *cli, const struct check_options *o, const struct policy *p,
			struct check_plan *plan, const struct judgement *j)
{
	struct check_explanation e = {
		.policy = p,
		.judgement = j,
		.tool = o->tool ? o->tool : CHECK_TOOL,
		.agent = o->agent,
	};
	struct cordon_error err = {0};
	int r = 0;

	if (o->explain && j->action == ACTION_CONSTRAIN) {
		if (plan->r < 0)
			return cli_fail(cli, &plan->err);
		e.constrained = &plan->constrained;
	}
	if (o->policy.json)
		r = check_json(&cli->out, &e, o->explain);
	else if (o->explain)
		check_explain_text(&e, &cli->out);
	else
		check_print(&cli->out, j);
	return r < 0 ? cli_fail(cli, (cordon_nomem(&err), &err)) : (int)j->verdict.kind;
}

int cmd_check_main(struct cli *cli, const struct check_options *options)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(check_text_done) struct check_text text = {0};
	AUTO(judgement_done) struct judgement judgement = {0};
	AUTO(check_plan_done) struct check_plan plan = {0};
	struct judge_input in = {
		.kind = check_kind(options),
		.tool = options->tool ? options->tool : CHECK_TOOL,
		.agent = options->agent,
		/* standard input has no name, and does not get one from the directory that we are in */
		.path = options->command || cli->n_words == 0 || strcmp(cli->words[0], "-") == 0
				? NULL
				: cli->words[0],
	};
	struct cordon_error err = {0};
	int r = effective_init(options->policy.cwd, &e, &err);

	if (r == 0)
		r = effective_load(&e, &options->policy.policies, /* options= */ NULL, &err);
	if (r == 0)
		r = check_input(cli, options, &text, &err);
	in.policy = e.policy;
	in.cwd = e.workspace;
	in.home = e.home;
	in.is_cut = text.is_cut;
	if (r == 0 && options->explain)
		plan.r = constrain_plan(e.policy, in.tool, in.agent, /* chosen= */ NULL,
					&plan.constrained, &plan.err);
	/* Whatever the text does to a grammar, there is nothing here to do it with. */
	if (r == 0)
		r = cage_enter(/* path= */ NULL, &err);
	if (r == 0)
		r = judge_text(&in, text.data ? text.data : "", text.len, &judgement, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	return check_answer(cli, options, e.policy, &plan, &judgement);
}
