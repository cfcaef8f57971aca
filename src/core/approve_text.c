/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person is shown before they answer.  Who wants the approval wrote nearly all of it, so nothing of it may hide
 * the rest: controls are escaped, long runs of blanks are counted, what is too long is cut in the middle and the cut is
 * told, and where much of it could scroll the call away, how that begins is said once more beside the question.
 */
#include "core/approve.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "policy/explain.h"

#include <errno.h>
#include <string.h>

enum {
	APPROVE_TEXT_MAX = 8192, /* of the call, as it is shown */
	APPROVE_VALUE_MAX = 512, /* of one value beside it, likewise */
	APPROVE_LONG = 1024,     /* after more than this the call is named again */
	APPROVE_BEGIN_MAX = 160, /* how much of it */
	APPROVE_ROWS_MAX = 24,   /* of options, and of variables */
	APPROVE_BLANKS = 8,      /* more than these in a row are counted instead */
};

/* Shown as nothing, and not one of those that str_escape() makes visible. */
static bool approve_is_blank(uint32_t c)
{
	return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	       c == 0x202f || c == 0x205f || c == 0x2800 || c == 0x3000;
}

/* How many bytes of blanks s begins with, and how many blanks that are. */
static size_t approve_blanks(const char *s, size_t len, size_t *ret_count)
{
	size_t at = 0;
	size_t count = 0;
	uint32_t c;
	size_t n;

	while (at < len && (n = utf8_decode(s + at, len - at, &c)) > 0 && approve_is_blank(c)) {
		at += n;
		count++;
	}
	*ret_count = count;
	return at;
}

/* All of it, folded and escaped. */
static void approve_fold(struct buf *out, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t at = 0; at < len;) {
		size_t count;
		size_t n = approve_blanks(s + at, len - at, &count);

		if (count > APPROVE_BLANKS) {
			str_escape(out, s + from, at - from);
			buf_printf(out, " <%zu blanks> ", count);
			from = at + n;
		}
		at += n ? n : 1;
	}
	str_escape(out, s + from, len - from);
}

/* The length of a head of at most max bytes, and where a tail of at most max begins: not inside a character. */
static size_t approve_head(const struct buf *b, size_t max)
{
	while (max > 0 && ((unsigned char)b->data[max] & 0xc0) == 0x80)
		max--;
	return max;
}

static size_t approve_tail(const struct buf *b, size_t max)
{
	size_t at = b->len - max;

	while (at < b->len && ((unsigned char)b->data[at] & 0xc0) == 0x80)
		at++;
	return at;
}

/* s as a person may see it: at most max bytes, of which the last quarter is its end. */
static void approve_show(struct buf *out, const char *s, size_t len, size_t max)
{
	struct buf shown = BUF_INIT(SIZE_MAX / 4);
	size_t head, tail;

	approve_fold(&shown, s, len);
	if (buf_error(&shown) < 0) {
		out->error = out->error ? out->error : buf_error(&shown);
	} else if (shown.len <= max) {
		buf_add(out, buf_cstr(&shown), shown.len);
	} else {
		head = approve_head(&shown, max - max / 4);
		tail = approve_tail(&shown, max / 4);
		buf_add(out, shown.data, head);
		buf_printf(out, "\ncordon: here %zu MORE BYTES are not shown\ncordon: ...",
			   tail - head);
		buf_add(out, shown.data + tail, shown.len - tail);
	}
	buf_done(&shown);
}

/* Words are shown with their edges: `rm "a b"` is not `rm a b`. */
static void approve_words(const struct request *request, struct buf *out)
{
	if (request->kind != REQUEST_ARGV) {
		buf_add(out, request->text, request->text_len);
		return;
	}
	for (size_t i = 0; i < request->argv.n; i++) {
		if (i > 0)
			buf_char(out, ' ');
		str_shell_quote(out, request->argv.v[i]);
	}
}

/* The call once more, or how it begins. */
static void approve_again(const struct buf *words, struct buf *out)
{
	struct buf shown = BUF_INIT(SIZE_MAX / 4);

	approve_fold(&shown, buf_cstr(words), words->len);
	if (shown.len > APPROVE_BEGIN_MAX) {
		buf_printf(out, "\ncordon: all that is for a call of %zu bytes that begins: ",
			   words->len);
		buf_add(out, shown.data, approve_head(&shown, APPROVE_BEGIN_MAX));
		buf_str(out, "...");
	} else {
		buf_str(out, "\ncordon: all that is for: ");
		buf_add(out, buf_cstr(&shown), shown.len);
	}
	if (buf_error(&shown) < 0)
		out->error = out->error ? out->error : buf_error(&shown);
	buf_done(&shown);
}

/* What options made of the policy, on the way through policy_explain(). */
struct approve_rows {
	const struct approve_call *call;
	struct buf *out;
	bool of_environment; /* these now, or the others */
	size_t n;
};

/* The caller's value of a variable that is passed on. */
static const char *approve_variable(const struct approve_call *call, const char *name)
{
	size_t len = strlen(name);

	for (char *const *e = call->environ; e && *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

static int approve_row(void *data, const struct explain_row *row)
{
	struct approve_rows *rows = data;
	const struct field *f = row->field;
	bool is_passed = f == &shape_policy.fields[POLICY_ENV_PASS];
	bool is_environment = is_passed || f == &shape_policy.fields[POLICY_ENV_SET];
	const char *value;

	if (row->origin->layer != LAYER_OPTION || is_environment != rows->of_environment ||
	    rows->n++ >= APPROVE_ROWS_MAX)
		return 0;
	buf_printf(rows->out, "\ncordon: option: %s: ", f->path);
	approve_show(rows->out, row->value, strlen(row->value), APPROVE_VALUE_MAX);
	value = is_passed ? approve_variable(rows->call, row->value) : NULL;
	if (value) {
		buf_char(rows->out, '=');
		approve_show(rows->out, value, strlen(value), APPROVE_VALUE_MAX);
	}
	return 0;
}

/* The files of --policy: what they say is not repeated, that they speak is. */
static int approve_file(void *data, const struct explain_row *row)
{
	struct approve_rows *rows = data;
	const struct policy *p = rows->call->policy;
	const struct origin *o = row->origin;
	uint64_t bit;

	if ((o->layer != LAYER_FILE && o->layer != LAYER_FILE_NEXT) || o->root >= p->files.n)
		return 0;
	bit = UINT64_C(1) << (o->root % 64);
	if (rows->n & bit)
		return 0;
	rows->n |= bit;
	buf_str(rows->out, "\ncordon: option: --policy ");
	approve_show(rows->out, p->files.v[o->root], strlen(p->files.v[o->root]),
		     APPROVE_VALUE_MAX);
	return 0;
}

static void approve_place(const struct approve_call *call, struct buf *out)
{
	const struct policy *p = call->policy;

	buf_str(out, "\ncordon: tool ");
	approve_show(out, call->request->tool, strlen(call->request->tool), APPROVE_VALUE_MAX);
	buf_str(out, ", in ");
	approve_show(out, call->request->cwd, strlen(call->request->cwd), APPROVE_VALUE_MAX);
	if (call->sandbox) {
		buf_str(out, ", sandbox ");
		approve_show(out, call->sandbox, strlen(call->sandbox), APPROVE_VALUE_MAX);
	}
	buf_printf(out, "\ncordon: level %s", level_name((enum level)p->level));
	if (p->level == LEVEL_NONE)
		buf_str(out, " (NO SANDBOX: it reads, writes and connects as you do)");
	else
		buf_printf(out, ", network %s", names_net_mode.words[p->net_mode]);
	if (call->backend) {
		buf_str(out, ", backend ");
		approve_show(out, call->backend, strlen(call->backend), APPROVE_VALUE_MAX);
	}
}

int approve_scene(const struct approve_call *call, struct buf *out, struct cordon_error *err)
{
	struct approve_rows rows = {.call = call, .out = out};
	int r;

	if (!call->policy)
		return 0;
	r = policy_explain(call->policy, approve_file, &rows, err);
	for (int pass = 0; r == 0 && pass < 2; pass++) {
		rows.n = 0;
		rows.of_environment = pass == 1;
		r = policy_explain(call->policy, approve_row, &rows, err);
		if (r == 0 && rows.n > APPROVE_ROWS_MAX)
			buf_printf(out, "\ncordon: %zu MORE %s by options are not shown",
				   rows.n - APPROVE_ROWS_MAX,
				   rows.of_environment ? "VARIABLES" : "VALUES");
	}
	approve_place(call, out); /* last, where it is seen */
	return r;
}

void approve_text(const struct request *request, struct buf *out)
{
	struct buf words = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);

	approve_words(request, &words);
	approve_show(out, buf_cstr(&words), words.len, APPROVE_TEXT_MAX);
	if (buf_error(&words) < 0)
		out->error = out->error ? out->error : buf_error(&words);
	buf_done(&words);
}

int approve_question(const struct approve_call *call, const char *reason, struct buf *out,
		     struct cordon_error *err)
{
	struct buf words = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	int r;

	buf_str(out, "cordon: approval needed: ");
	approve_text(call->request, out);
	r = approve_scene(call, out, err);
	if (reason) {
		buf_str(out, "\ncordon: because ");
		approve_show(out, reason, strlen(reason), APPROVE_VALUE_MAX);
	}
	approve_words(call->request, &words);
	if (out->len > APPROVE_LONG)
		approve_again(&words, out);
	buf_str(out, "\ncordon: run it? [y/N] ");
	if (r == 0)
		r = buf_error(&words) < 0 ? buf_error(&words) : buf_error(out);
	buf_done(&words);
	return r;
}
