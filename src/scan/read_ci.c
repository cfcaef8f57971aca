/* SPDX-License-Identifier: Apache-2.0 */
/* Workflows: what their steps run, and whose text and code they trust. */
#include "scan/reader.h"

#include "base/str.h"
#include "policy/yaml.h"

#include <ctype.h>
#include <string.h>

/* Texts that strangers choose. */
static bool ci_is_strange(const char *expression, size_t len)
{
	static const char *const bad[] = {"github.event.issue.title",
					  "github.event.issue.body",
					  "github.event.pull_request.title",
					  "github.event.pull_request.body",
					  "github.event.comment.body",
					  "github.event.review.body",
					  "github.event.review_comment.body",
					  "github.event.pages",
					  "github.event.commits",
					  "github.event.head_commit.message",
					  "github.event.head_commit.author",
					  "github.event.discussion.title",
					  "github.event.discussion.body",
					  "github.event.pull_request.head.ref",
					  "github.event.pull_request.head.label",
					  "github.event.workflow_run.head_branch",
					  "github.event.workflow_run.head_commit.message",
					  "github.event.workflow_run.display_title",
					  "github.head_ref"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (memmem(expression, len, bad[i], strlen(bad[i])))
			return true;
	return false;
}

/* toJSON(secrets), with any blanks and case: nobody needs them all. */
static bool ci_is_all_secrets(const char *expression, size_t len)
{
	static const char want[] = "tojson(secrets)";
	size_t n = 0;

	for (size_t i = 0; i < len && want[n]; i++) {
		char c = (char)tolower((unsigned char)expression[i]);

		if (c != ' ')
			n = c == want[n] ? n + 1 : c == want[0];
	}
	return !want[n];
}

static const char *ci_at(const struct scan_reader *r, const struct ynode *node)
{
	const char *s = r->source->text;

	for (uint32_t line = 1; line < node->line; line++) {
		const char *next = strchr(s, '\n');

		if (!next)
			return NULL;
		s = next + 1;
	}
	return s;
}

/* A script with its ${{ expressions }} made words. */
static int ci_script(struct scan_reader *r, const struct ynode *node)
{
	struct buf b = BUF_INIT(node->len * 2 + 64);
	const char *s = node->text, *at = ci_at(r, node);
	int e = 0;

	while (e == 0 && *s) {
		const char *open = strstr(s, "${{");
		const char *close = open ? strstr(open, "}}") : NULL;

		if (!close) {
			buf_str(&b, s);
			break;
		}
		buf_add(&b, s, (size_t)(open - s));
		buf_str(&b, "CI_VALUE");
		if (ci_is_strange(open, (size_t)(close - open)))
			e = scan_found(r, SCAN_CI_EXPRESSION, at, open);
		else if (ci_is_all_secrets(open, (size_t)(close - open)))
			e = scan_found(r, SCAN_CI_SECRETS, at, open);
		s = close + 2;
	}
	if (e == 0 && buf_error(&b) < 0)
		e = cordon_nomem(r->err);
	if (e == 0)
		e = scan_command(r, buf_cstr(&b), b.len, at);
	buf_done(&b);
	return e;
}

/* Inputs of actions that are scripts, or orders to a model. */
static int ci_inputs(struct scan_reader *r, const struct ynode *with)
{
	static const char *const keys[] = {"script", "prompt", "direct_prompt", "run",
					   "inlineScript"};
	int e = 0;

	for (size_t i = 0; with && with->kind == YNODE_MAP && e == 0 && i < ARRAY_LEN(keys); i++) {
		const struct ynode *input = ynode_get(with, keys[i]);
		const char *open = NULL, *close = NULL;

		if (input && input->kind == YNODE_SCALAR)
			open = strstr(input->text, "${{");
		for (; open && (close = strstr(open, "}}")); open = strstr(close, "${{"))
			if (ci_is_strange(open, (size_t)(close - open))) {
				e = scan_found(r, SCAN_CI_EXPRESSION, ci_at(r, input), open);
				break;
			}
	}
	return e;
}

struct ci {
	struct scan_reader *reader;
	bool checks_out; /* what a stranger changed */
};

static bool ci_is_strange_ref(const struct ynode *with)
{
	const struct ynode *ref = with && with->kind == YNODE_MAP ? ynode_get(with, "ref") : NULL;

	return ref && ref->kind == YNODE_SCALAR &&
	       (strstr(ref->text, "head.sha") || strstr(ref->text, "head.ref") ||
		strstr(ref->text, "head_ref") || strstr(ref->text, "refs/pull/"));
}

/* Steps can be anywhere below: jobs, composite actions.  The parser bounds the depth. */
static int ci_walk(struct ci *ci, const struct ynode *node)
{
	int e = 0;

	if (node->kind == YNODE_SCALAR)
		return 0;
	if (node->kind == YNODE_MAP) {
		const struct ynode *run = ynode_get(node, "run");
		const struct ynode *uses = ynode_get(node, "uses");
		const struct ynode *shell = ynode_get(node, "shell");
		bool is_sh = !shell || shell->kind != YNODE_SCALAR || strstr(shell->text, "sh");

		if (shell && shell->kind == YNODE_SCALAR && str_starts(shell->text, "p"))
			is_sh = false; /* pwsh, python */
		if (run && run->kind == YNODE_SCALAR && is_sh)
			e = ci_script(ci->reader, run);
		if (run && run->kind == YNODE_SCALAR && strstr(run->text, "gh pr checkout"))
			ci->checks_out = true;
		if (e == 0 && uses)
			e = ci_inputs(ci->reader, ynode_get(node, "with"));
		if (uses && uses->kind == YNODE_SCALAR && strstr(uses->text, "checkout") &&
		    ci_is_strange_ref(ynode_get(node, "with")))
			ci->checks_out = true;
	}
	for (size_t i = 0; e == 0 && i < node->n; i++)
		e = ci_walk(ci, node->kind == YNODE_MAP ? node->items[2 * i + 1] : node->items[i]);
	return e;
}

/* Does the workflow run with secrets on somebody else's event? */
static const struct ynode *ci_trusts(const struct ynode *root)
{
	static const char *const events[] = {"pull_request_target", "workflow_run",
					     "issue_comment"};
	const struct ynode *on = ynode_get(root, "on");

	for (size_t i = 0; on && i < ARRAY_LEN(events); i++) {
		if (on->kind == YNODE_SCALAR && strcmp(on->text, events[i]) == 0)
			return on;
		if (on->kind == YNODE_MAP && ynode_get(on, events[i]))
			return on;
		for (size_t k = 0; on->kind == YNODE_SEQ && k < on->n; k++)
			if (on->items[k]->kind == YNODE_SCALAR &&
			    strcmp(on->items[k]->text, events[i]) == 0)
				return on->items[k];
	}
	return NULL;
}

int scan_read_workflow(struct scan_reader *r)
{
	struct ci ci = {.reader = r};
	struct ystream stream = {0};
	int e = ystream_parse(r->source->text, r->source->len, r->source->path, &stream, NULL);

	if (e == CORDON_E_NOMEM)
		return cordon_nomem(r->err);
	if (e < 0)
		return r->source->is_part ? 0 : scan_found(r, SCAN_MALFORMED, NULL, NULL);
	for (size_t i = 0; e == 0 && i < stream.n_docs; i++) {
		const struct ynode *root = stream.docs[i];
		const struct ynode *trusted = NULL;

		if (!root || root->kind != YNODE_MAP)
			continue;
		trusted = ci_trusts(root);
		e = ci_walk(&ci, root);
		if (e == 0 && trusted && ci.checks_out)
			e = scan_found(r, SCAN_CI_TARGET, ci_at(r, trusted),
				       trusted->kind == YNODE_SCALAR ? trusted->text : NULL);
	}
	ystream_done(&stream);
	return e;
}

/* Other services: the entries of lists are the commands.  Line by line, because they use what our YAML refuses. */
int scan_read_ci(struct scan_reader *r)
{
	const char *s = r->source->text, *end = s + r->source->len;
	int e = 0;

	while (e == 0 && s < end) {
		size_t len = strcspn(s, "\n");
		size_t blanks = strspn(s, " \t");

		if (blanks + 2 < len && s[blanks] == '-' && s[blanks + 1] == ' ')
			e = scan_command(r, s + blanks + 2, len - blanks - 2, s);
		s += len + 1;
	}
	return e;
}
