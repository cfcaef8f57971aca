/* SPDX-License-Identifier: Apache-2.0 */
/* See select.h. */
#include "backend/select.h"

#include <stdio.h>
#include <string.h>

enum eligibility {
	ELIGIBLE,
	INELIGIBLE_FLOOR,
	INELIGIBLE_ABSENT,
	INELIGIBLE_LACKS,
};

static enum eligibility select_judge(const struct candidate *c,
				     const struct select_request *request)
{
	guarantee_set strict = request->needs & ~request->may_give_up;

	if (c->backend->info->level < request->floor)
		return INELIGIBLE_FLOOR;
	if (!c->probe.is_available)
		return INELIGIBLE_ABSENT;
	if (guarantee_first_missing(strict, c->probe.guarantees) != GUARANTEE_COUNT)
		return INELIGIBLE_LACKS;
	return ELIGIBLE;
}

bool select_is_eligible(const struct candidate *c, const struct select_request *request)
{
	return select_judge(c, request) == ELIGIBLE;
}

/* Appends "native: not available: …", the reason why a candidate was not taken. */
static void select_explain(const struct candidate *c, const struct select_request *request,
			   struct buf *out)
{
	guarantee_set strict = request->needs & ~request->may_give_up;

	buf_printf(out, "%s: ", c->backend->info->name);
	switch (select_judge(c, request)) {
	case INELIGIBLE_FLOOR:
		buf_printf(out, "below the level floor '%s'", level_name(request->floor));
		break;
	case INELIGIBLE_ABSENT:
		buf_printf(out, "not available: %s", c->probe.reason);
		break;
	case INELIGIBLE_LACKS:
		buf_str(out, "cannot give ");
		guarantee_list(strict & ~c->probe.guarantees, out);
		if (c->probe.lacks[0])
			buf_printf(out, " (%s)", c->probe.lacks);
		break;
	case ELIGIBLE:
		buf_str(out, "eligible");
		break;
	}
}

int select_unknown_name(const char *name, struct cordon_error *err)
{
	const char *nearest = backend_info_nearest(name);

	if (nearest)
		return cordon_fail(err, CORDON_E_INVALID,
				   "unknown backend '%s' (did you mean '%s'?)", name, nearest);
	return cordon_fail(err, CORDON_E_INVALID, "unknown backend '%s'", name);
}

int select_absent_name(const struct backend_info *info, struct cordon_error *err)
{
	return cordon_fail(err, CORDON_E_NO_BACKEND, "backend '%s' is not part of this build",
			   info->name);
}

static void select_fill(struct selection *ret, const struct candidate *c,
			const struct select_request *request, const char *why)
{
	*ret = (struct selection){
		.backend = c->backend,
		.guarantees = c->probe.guarantees,
		.by_rlimit = c->probe.by_rlimit,
		.degraded = request->needs & request->may_give_up & ~c->probe.guarantees,
	};
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", why);
}

static int select_named(const struct candidate *candidates, size_t count,
			const struct select_request *request, struct selection *ret,
			struct cordon_error *err)
{
	const struct backend_info *info = backend_info_find(request->backend);

	if (!info)
		return select_unknown_name(request->backend, err);
	for (size_t i = 0; i < count; i++) {
		const struct candidate *c = &candidates[i];
		struct buf why = BUF_INIT(CORDON_ERROR_MESSAGE_MAX);

		if (c->backend->info != info)
			continue;
		if (select_judge(c, request) == ELIGIBLE) {
			select_fill(ret, c, request, "requested by name");
			return 0;
		}
		select_explain(c, request, &why);
		(void)cordon_fail(err, CORDON_E_NO_BACKEND, "backend %s", buf_cstr(&why));
		if (select_judge(c, request) == INELIGIBLE_FLOOR)
			(void)cordon_hint(err, CORDON_E_NO_BACKEND, "--level %s lowers the floor",
					  level_name(info->level));
		buf_done(&why);
		return CORDON_E_NO_BACKEND;
	}
	return select_absent_name(info, err);
}

/* The strongest eligible candidate between two levels, or NULL. */
static const struct candidate *select_best(const struct candidate *candidates, size_t count,
					   const struct select_request *request, enum level lowest,
					   enum level highest)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct candidate *c = &candidates[i];

		if (c->backend->info->level < lowest || c->backend->info->level > highest)
			continue;
		if (select_judge(c, request) != ELIGIBLE)
			continue;
		if (!best || c->backend->info->strength > best->backend->info->strength)
			best = c;
	}
	return best;
}

static int select_none(const struct candidate *candidates, size_t count,
		       const struct select_request *request, struct cordon_error *err)
{
	struct buf why = BUF_INIT(CORDON_ERROR_MESSAGE_MAX);

	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_str(&why, "; ");
		select_explain(&candidates[i], request, &why);
	}
	if (count == 0)
		buf_str(&why, "this build has no backends");
	(void)cordon_fail(err, CORDON_E_NO_BACKEND, "no backend can hold this policy: %s",
			  buf_cstr(&why));
	buf_done(&why);
	return cordon_hint(err, CORDON_E_NO_BACKEND,
			   "'cordon backends' shows what each one needs on this machine");
}

int backend_select(const struct candidate *candidates, size_t count,
		   const struct select_request *request, struct selection *ret,
		   struct cordon_error *err)
{
	const char *name = request->backend ? request->backend : "auto";
	const struct candidate *best;
	char why[SELECT_REASON_MAX];

	if ((unsigned)request->floor >= LEVEL_COUNT || (request->needs & ~GUARANTEE_ALL))
		return cordon_fail(err, CORDON_E_INVALID, "no such level or guarantee");
	if (strcmp(name, "strongest") == 0) {
		best = select_best(candidates, count, request, request->floor, LEVEL_COUNT - 1);
		if (!best)
			return select_none(candidates, count, request, err);
		select_fill(ret, best, request, "the strongest that can hold this policy");
		return 0;
	}
	if (strcmp(name, "auto") != 0)
		return select_named(candidates, count, request, ret, err);
	for (enum level level = request->floor; level < LEVEL_COUNT; level++) {
		best = select_best(candidates, count, request, level, level);
		if (!best)
			continue;
		(void)snprintf(
			why, sizeof(why), "the strongest of level '%s' that can hold this policy%s",
			level_name(level),
			level == request->floor ? "" : "; no backend of the level asked for can");
		select_fill(ret, best, request, why);
		return 0;
	}
	return select_none(candidates, count, request, err);
}
