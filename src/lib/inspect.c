/* SPDX-License-Identifier: Apache-2.0 */
/* The inspectors at the border. */
#include "core/judge.h"
#include "inspect/adversary.h"
#include "inspect/egress.h"
#include "lib/lib.h"
#include "secrets/leak.h"

#include <cordon/inspect.h>

static int inspect_begin(const char *text, size_t len, struct cordon_findings *const *ret,
			 struct cordon_error *err)
{
	lib_enter(err);
	return (!text && len) || !ret ? lib_missing(err, "text or place for the findings") : 0;
}

/* Takes the findings, or frees them after a failure.  Snippets are cleaned: they are shown and kept. */
static int inspect_end(struct findings *found, int r, struct cordon_findings **ret,
		       struct cordon_error *err)
{
	struct cordon_findings *own;

	if (r < 0) {
		findings_done(found);
		return lib_leave(r, err);
	}
	own = calloc(1, sizeof(*own));
	if (!own) {
		findings_done(found);
		return lib_leave(cordon_nomem(err), err);
	}
	judge_hide(found);
	own->list = *found;
	*ret = own;
	return 0;
}

int cordon_inspect(const char *text, size_t len, const struct cordon_inspect_options *options,
		   struct cordon_findings **ret, struct cordon_error *err)
{
	struct cordon_inspect_options o = {0};
	struct judge_input in = {.kind = INSPECT_AUTO};
	AUTO(policy_freep) struct policy *none = NULL;
	struct judgement judged = {0};
	int r = inspect_begin(text, len, ret, err);

	if (r == 0 && options)
		r = lib_struct_in(&o, sizeof(o), options, "struct cordon_inspect_options", err);
	if (r == 0 && o.kind) {
		in.kind = inspect_kind_of(o.kind);
		if (in.kind == INSPECT_KIND_COUNT)
			r = cordon_fail(err, CORDON_E_INVALID, "unknown kind of text '%.100s'",
					o.kind);
	}
	if (r == 0 && o.path)
		r = lib_text(o.path, "path", err);
	if (r == 0 && !o.policy) {
		none = policy_new();
		r = none ? 0 : cordon_nomem(err);
	}
	if (r < 0)
		return lib_leave(r, err);
	in.policy = o.policy ? o.policy->policy : none;
	in.cwd = o.policy ? o.policy->workspace : NULL;
	in.path = o.path;
	r = judge_text(&in, text ? text : "", len, &judged, err);
	return inspect_end(&judged.findings, r, ret, err);
}

int cordon_inspect_adversary(const char *text, size_t len, struct cordon_findings **ret,
			     struct cordon_error *err)
{
	struct inspect_context c = {.document = INSPECT_DOCUMENT_OUTPUT};
	struct findings found = {0};
	int r = inspect_begin(text, len, ret, err);

	if (r < 0)
		return lib_leave(r, err);
	r = adversary_inspect(&c, text ? text : "", len, &found, err);
	return inspect_end(&found, r, ret, err);
}

int cordon_inspect_egress(const char *const *allowed_domains, const char *text, size_t len,
			  struct cordon_findings **ret, struct cordon_error *err)
{
	struct inspect_context c = {0};
	struct findings found = {0};
	struct strv allowed = {0};
	int r = inspect_begin(text, len, ret, err);

	if (r < 0)
		return lib_leave(r, err);
	r = lib_list(allowed_domains, &allowed, err);
	if (r == 0)
		r = egress_check_list(&allowed, err);
	if (r == 0)
		r = egress_inspect(&c, &allowed, text ? text : "", len, &found, err);
	if (r == 0)
		r = leak_inspect(text ? text : "", len, &found, err);
	strv_done(&allowed);
	return inspect_end(&found, r, ret, err);
}

int cordon_inspect_secrets(const char *text, size_t len, struct cordon_findings **ret,
			   struct cordon_error *err)
{
	struct findings found = {0};
	int r = inspect_begin(text, len, ret, err);

	if (r < 0)
		return lib_leave(r, err);
	r = leak_inspect(text ? text : "", len, &found, err);
	return inspect_end(&found, r, ret, err);
}

enum cordon_threat cordon_findings_threat(const struct cordon_findings *f)
{
	enum threat highest = THREAT_NONE;

	for (size_t i = 0; f && i < f->list.n; i++)
		if (f->list.items[i].level > highest)
			highest = f->list.items[i].level;
	return (enum cordon_threat)highest;
}
