/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon check --jsonl`: every line of standard input is answered by one line, in order.  Answers are written
 * before anything is waited for, so that a program can ask one question at a time.
 */
#include "cli/cage.h"
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/json.h"
#include "base/limits.h"
#include "core/checkline.h"
#include "core/effective.h"
#include "core/judge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct check_lines {
	const struct check_options *options;
	struct effective effective;
	enum inspect_kind kind; /* of lines that do not say */
	struct buf line;        /* what was read of the current line */
	bool is_too_long;       /* its end is still to be found */
	struct buf answer;
	struct out *out;
};

static void check_lines_done(struct check_lines *c)
{
	effective_done(&c->effective);
	buf_done(&c->line);
	buf_done(&c->answer);
}

static int check_lines_judge(struct check_lines *c, const struct checkline *line,
			     struct judgement *ret, struct cordon_error *err)
{
	struct judge_input in = {
		.policy = c->effective.policy,
		.kind = line->kind ? inspect_kind_of(line->kind) : c->kind,
		.tool = line->tool         ? line->tool
			: c->options->tool ? c->options->tool
					   : "Bash",
		.agent = line->agent ? line->agent : c->options->agent,
		.cwd = c->effective.workspace,
		.home = c->effective.home,
		.path = line->path,
		.is_cut = line->text_len > LIMIT_CHECK_BYTES,
	};

	if (in.kind == INSPECT_KIND_COUNT)
		return cordon_fail(err, CORDON_E_INVALID, "unknown kind '%.100s'", line->kind);
	if (in.is_cut)
		line->text[LIMIT_CHECK_BYTES] = '\0';
	return judge_text(&in, line->text, in.is_cut ? LIMIT_CHECK_BYTES : line->text_len, ret,
			  err);
}

static void check_lines_write(struct check_lines *c, const char *id, const struct judgement *judged,
			      const char *error)
{
	struct json j = JSON_INIT(&c->answer);

	json_object(&j, NULL);
	if (id)
		json_raw(&j, "id", id, strlen(id));
	else
		json_null(&j, "id");
	if (error) {
		json_str(&j, "error", error);
	} else {
		json_str(&j, "verdict", verdict_name(judged->verdict.kind));
		json_double(&j, "confidence", judged->verdict.confidence, 2);
		findings_json(&judged->findings, "findings", LIMIT_FINDINGS, &j);
	}
	json_end_object(&j);
	buf_char(&c->answer, '\n');
}

/* The whole line, or its beginning when it is too long. */
static int check_lines_answer(struct check_lines *c)
{
	AUTO(checkline_done) struct checkline line = {0};
	AUTO(judgement_done) struct judgement judgement = {0};
	struct cordon_error err = {0};
	int r;

	buf_clear(&c->answer);
	if (c->is_too_long) {
		if (checkline_id(buf_cstr(&c->line), c->line.len, &line.id) < 0)
			return -ENOMEM;
		r = cordon_fail(&err, CORDON_E_LIMIT, "a line of more than %d bytes",
				LIMIT_CHECK_LINE);
	} else {
		r = checkline_parse(buf_cstr(&c->line), c->line.len, &line, &err);
	}
	if (r == 0)
		r = check_lines_judge(c, &line, &judgement, &err);
	check_lines_write(c, line.id, &judgement, r < 0 ? err.message : NULL);
	buf_clear(&c->line);
	c->is_too_long = false;
	if (buf_error(&c->answer) < 0)
		return -ENOMEM;
	out_add(c->out, buf_cstr(&c->answer), c->answer.len);
	return 0;
}

static void check_lines_keep(struct check_lines *c, const char *bytes, size_t len)
{
	size_t room = LIMIT_CHECK_LINE - c->line.len;

	c->is_too_long |= len > room;
	buf_add(&c->line, bytes, len < room ? len : room);
}

static int check_lines_feed(struct check_lines *c, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;
		int r = 0;

		check_lines_keep(c, bytes, n);
		if (buf_error(&c->line) < 0)
			return -ENOMEM;
		if (!end)
			return 0;
		r = check_lines_answer(c);
		if (r < 0)
			return r;
		bytes += n + 1;
		len -= n + 1;
	}
	return 0;
}

static int check_lines_walk(struct check_lines *c, struct cordon_error *err)
{
	char piece[64 * 1024];
	int r = 0;

	while (r == 0 && c->out->error == 0) {
		ssize_t n;

		out_flush(c->out);
		n = read(STDIN_FILENO, piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cordon_fail_errno(err, errno, "read standard input");
		if (n == 0)
			break;
		r = check_lines_feed(c, piece, (size_t)n);
	}
	if (r == 0 && (c->line.len > 0 || c->is_too_long))
		r = check_lines_answer(c);
	return r < 0 ? cordon_nomem(err) : 0;
}

int cmd_check_lines_main(struct cli *cli, const struct check_options *options)
{
	AUTO(check_lines_done)
	struct check_lines c = {
		.options = options,
		.kind = options->kind ? inspect_kind_of(options->kind) : INSPECT_AUTO,
		.line = BUF_INIT(LIMIT_CHECK_LINE),
		.answer = BUF_INIT(LIMIT_REPORT_BYTES),
		.out = &cli->out,
	};
	struct cordon_error err = {0};
	int r = effective_init(options->policy.cwd, &c.effective, &err);

	if (r == 0)
		r = effective_load(&c.effective, &options->policy.policies, /* options= */ NULL,
				   &err);
	if (r == 0)
		r = cage_enter(/* path= */ NULL, &err);
	if (r == 0)
		r = check_lines_walk(&c, &err);
	return r < 0 ? cli_fail(cli, &err) : 0;
}
