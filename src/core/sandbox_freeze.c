/* SPDX-License-Identifier: Apache-2.0 */
/* See sandbox_freeze.h. */
#include "core/sandbox_freeze.h"

#include "base/limits.h"
#include "core/checks.h"
#include "core/egress.h"
#include "core/needs.h"
#include "core/sandbox.h"
#include "policy/explain.h"

#include <string.h>

int sandbox_policy(const struct sandbox_row *row, const char *home, const struct policy *options,
		   struct policy **ret, struct cordon_error *err)
{
	const struct policy_text text = {
		.name = row->id, .text = row->policy, .len = strlen(row->policy)};
	struct policy_sources s = {
		.workspace = row->workspace,
		.home = home,
		.no_user = true,
		.no_project = true,
		.texts = &text,
		.n_texts = 1,
		.options = options,
		.checks = &core_checks,
	};
	int r = policy_load(&s, ret, err);

	return r < 0 ? cordon_wrap(err, r, "the policy of sandbox '%s'", row->id) : 0;
}

/* Rules of several files are asked one after the other, which one text cannot say. */
static bool freeze_has_one_set(const struct policy *p)
{
	for (size_t i = 1; i < p->rules.n; i++) {
		const struct rule *a = p->rules.records[0];
		const struct rule *b = p->rules.records[i];

		if (a->origin[RULE_ID_ROW].layer != b->origin[RULE_ID_ROW].layer ||
		    a->origin[RULE_ID_ROW].root != b->origin[RULE_ID_ROW].root)
			return false;
	}
	return true;
}

static int freeze_show(const struct policy *p, bool written_only, char **ret,
		       struct cordon_error *err)
{
	struct buf text = BUF_INIT(LIMIT_MANIFEST_BYTES);
	int r = policy_show_yaml(p, written_only, &text, err);

	if (r == 0 && buf_take(&text, ret, NULL) < 0)
		r = cordon_nomem(err);
	buf_done(&text);
	return r;
}

/* Does the text say what the policy says: each value, what it asks of a backend, and its network? */
static int freeze_is_same(const struct policy *p, struct sandbox_row *row, const char *home,
			  bool *ret, struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *again = NULL;
	AUTO_FREE char *one = NULL;
	AUTO_FREE char *other = NULL;
	struct needs a, b;
	int r = sandbox_policy(row, home, /* options= */ NULL, &again, err);

	if (r == 0)
		r = freeze_show(p, /* written_only= */ false, &one, err);
	if (r == 0)
		r = freeze_show(again, /* written_only= */ false, &other, err);
	if (r == 0)
		r = needs_of(p, &a, err);
	if (r == 0)
		r = needs_of(again, &b, err);
	if (r < 0)
		return r;
	*ret = strcmp(one, other) == 0 && (a.guarantees & ~b.guarantees) == 0 &&
	       (b.may_give_up & ~a.may_give_up) == 0 &&
	       egress_is_needed(p) == egress_is_needed(again) &&
	       policy_is_enforcing(p) == policy_is_enforcing(again);
	return 0;
}

int sandbox_freeze(const struct policy *p, const struct sandbox_row *row, const char *home,
		   char **ret, struct cordon_error *err)
{
	struct sandbox_row trial = *row;
	bool is_same = false;

	if (!freeze_has_one_set(p))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "a sandbox that stays cannot keep rules of several "
					       "policy files"),
				   "put them into one file");
	/* What nobody wrote is left out if that can be: a default and a wish for it are not the same. */
	for (int written_only = 1; !is_same && written_only >= 0; written_only--) {
		AUTO_FREE char *text = NULL;
		int r = freeze_show(p, written_only, &text, err);

		trial.policy = text;
		if (r == 0)
			r = freeze_is_same(p, &trial, home, &is_same, err);
		if (r < 0 && !written_only)
			return r;
		if (r == 0 && is_same)
			*ret = TAKE_PTR(text);
	}
	return is_same ? 0
		       : cordon_fail(err, CORDON_E_UNSUPPORTED,
				     "a sandbox that stays cannot keep this policy");
}
