/* SPDX-License-Identifier: Apache-2.0 */
/* See judge.h.  Inspectors and credentials stand side by side on one floor; they meet here. */
#include "core/judge.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/path.h"
#include "policy/rules.h"
#include "secrets/leak.h"
#include "secrets/redact.h"

#include <stdio.h>
#include <string.h>

void judgement_done(struct judgement *j)
{
	findings_done(&j->findings);
}

static int judge_cut(const struct judge_input *in, size_t len, struct findings *ret,
		     struct cordon_error *err)
{
	struct finding f = {
		.rule = JUDGE_RULE_CUT,
		.type = FINDING_INPUT,
		.level = THREAT_MEDIUM,
		.confidence = 1,
	};

	if (!in->is_cut)
		return 0;
	(void)snprintf(f.message, sizeof(f.message), "only the first %zu bytes were read", len);
	return findings_add(ret, &f) < 0 ? cordon_nomem(err) : 0;
}

/* Credentials are looked for in what an agent reads; in a command they are its own. */
static bool judge_has_leaks(enum inspect_kind kind)
{
	return kind == INSPECT_TEXT || kind == INSPECT_OUTPUT || kind == INSPECT_AUTO;
}

void judge_hide(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct finding *item = &f->items[i];
		struct buf clean = BUF_INIT(sizeof(item->snippet) * 4);

		redact_text(&clean, item->snippet, strlen(item->snippet));
		(void)snprintf(item->snippet, sizeof(item->snippet), "%s",
			       buf_error(&clean) < 0 ? "" : buf_cstr(&clean));
		buf_done(&clean);
	}
}

void judge_findings(const struct policy *p, const char *tool, const char *agent,
		    struct judgement *j)
{
	static const enum policy_row rows[VERDICT_COUNT] = {
		POLICY_ACTION_SAFE, POLICY_ACTION_SUSPICIOUS, POLICY_ACTION_MALICIOUS};

	policy_thresholds(p, tool, agent, &j->thresholds.suspicious, &j->thresholds.malicious);
	verdict_of(&j->findings, &j->thresholds, tool, &j->verdict);
	j->action = (enum action) *
		    (const int *)field_value_const(&shape_policy.fields[rows[j->verdict.kind]], p);
	j->is_dry_run = !policy_is_enforcing(p);
	judge_hide(&j->findings);
}

/* How strictly a file is read, by its name, where the policy (enforcement.scan_modes) does not say. */
static const struct {
	const char *glob;
	enum fuse_mode mode;
} judge_modes[] = {
	{"**/CLAUDE.md", FUSE_STRICT},     {"**/CLAUDE.local.md", FUSE_STRICT},
	{"**/AGENTS.md", FUSE_STRICT},     {"**/GEMINI.md", FUSE_STRICT},
	{"**/.cursorrules", FUSE_STRICT},  {"**/.windsurfrules", FUSE_STRICT},
	{"**/guidelines.md", FUSE_STRICT}, {"**/copilot-instructions.md", FUSE_STRICT},
	{"**/.claude/**", FUSE_STRICT},    {"**/.cursor/**", FUSE_STRICT},
	{"**/test/**", FUSE_LENIENT},      {"**/tests/**", FUSE_LENIENT},
	{"**/__tests__/**", FUSE_LENIENT}, {"**/__mocks__/**", FUSE_LENIENT},
	{"**/fixture/**", FUSE_LENIENT},   {"**/fixtures/**", FUSE_LENIENT},
	{"**/testdata/**", FUSE_LENIENT},
};

enum fuse_mode judge_mode(const struct policy *p, const char *cwd, const char *path)
{
	static const enum fuse_mode modes[SCAN_MODE_COUNT] = {
		[SCAN_LENIENT] = FUSE_LENIENT,
		[SCAN_STANDARD] = FUSE_STANDARD,
		[SCAN_STRICT] = FUSE_STRICT,
	};
	AUTO_FREE char *full = NULL;

	if (!path || path_join(cwd ? cwd : "/", path, &full) < 0)
		return FUSE_STANDARD;
	for (size_t i = 0; i < p->scan_modes.n; i++) {
		const struct word *w = p->scan_modes.records[i];
		int mode = names_find(&names_scan_mode, w->value);

		if (mode >= 0 && (glob_match(w->name, path) || glob_match(w->name, full) ||
				  strcmp(w->name, path_base(full)) == 0))
			return modes[mode];
	}
	for (size_t i = 0; i < ARRAY_LEN(judge_modes); i++)
		if (glob_match(judge_modes[i].glob, full))
			return judge_modes[i].mode;
	return FUSE_STANDARD;
}

int judge_text(const struct judge_input *in, const char *text, size_t len, struct judgement *ret,
	       struct cordon_error *err)
{
	struct inspect_context c = {
		.policy = in->policy,
		.cwd = in->cwd,
		.home = in->home,
		.path = in->path,
	};
	static const enum inspect_document documents[FUSE_MODE_COUNT] = {
		[FUSE_STANDARD] = INSPECT_DOCUMENT_ANY,
		[FUSE_STRICT] = INSPECT_DOCUMENT_INSTRUCTIONS,
		[FUSE_LENIENT] = INSPECT_DOCUMENT_TEST,
	};
	int r = judge_cut(in, len, &ret->findings, err);

	ret->thresholds.mode = judge_mode(in->policy, in->cwd, in->path);
	c.document = documents[ret->thresholds.mode];

	if (r == 0)
		r = inspect(&c, in->kind, text, len, &ret->findings, err);
	if (r == 0 && judge_has_leaks(in->kind))
		r = leak_inspect_all(text, len, &ret->findings, err);
	if (r == 0)
		judge_findings(in->policy, in->tool, in->agent, ret);
	return r;
}
