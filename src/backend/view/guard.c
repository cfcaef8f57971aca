/* SPDX-License-Identifier: Apache-2.0 */
/* Protected and denied names: where they stand on the host, and what is put under and over them. */
#include "backend/view/build.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>

static int guard_look(struct view_program *p, const struct plan_op *op, struct view_guard *ret)
{
	struct view_guard g = {.op = op, .owner = view_owner(p->plan, op->path)};
	const char *from = g.owner >= 0 ? p->plan->ops[g.owner].path : "";
	const char *end = op->path + strlen(from);

	do {
		const char *next = strchr(end + 1, '/');

		end = next ? next : op->path + strlen(op->path);
		g.is_whole = *end == '\0';
		g.at = g.is_whole ? op->path : view_keep(p, op->path, (size_t)(end - op->path));
		if (!g.at)
			return -ENOMEM;
		if (op->is_missing)
			break;
		g.exists = lstat(g.at, &g.st) == 0;
		if (!g.exists && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return -errno;
		if (!g.exists && errno == EACCES)
			g.is_whole = true; /* nor can the command look there */
	} while (!g.is_whole && g.exists && S_ISDIR(g.st.st_mode));
	for (size_t i = 0; i < p->plan->op_count; i++)
		if (view_op_is_mount(p->plan->ops[i].kind) &&
		    path_is_within(g.at, p->plan->ops[i].path))
			g.is_visible = p->plan->ops[i].kind != PLAN_OP_TMPFS &&
				       p->plan->ops[i].kind != PLAN_OP_PROC;
	*ret = g;
	return 0;
}

/* The entries that a guard needs in the lower layer of the overlay around it. */
static int guard_lower(struct view_program *p, const struct view_guard *g)
{
	const char *top = p->plan->ops[g->owner].path;
	const char *at = g->at + strlen(top) + 1;
	const char *lower = view_lower(p, (size_t)g->owner);
	struct view_step *s;
	const char *slash;

	if (!lower)
		return -ENOMEM;
	if (g->op->is_standard && g->owner == p->base_owner)
		return 0; /* the base has it */
	for (const char *from = at; (slash = strchr(from, '/')); from = slash + 1) {
		if (strv_addf(&p->strings, "%s/%.*s", lower, (int)(slash - at), at) < 0 ||
		    !(s = view_add(p, VIEW_DIRECTORY, p->strings.v[p->strings.n - 1])))
			return -ENOMEM;
		s->mode = 0755;
	}
	if (g->exists)
		return 0;
	if (strv_addf(&p->strings, "%s/%s", lower, at) < 0)
		return -ENOMEM;
	s = view_add(p, VIEW_LINK, p->strings.v[p->strings.n - 1]);
	if (!s)
		return -ENOMEM;
	s->source = VIEW_PASSED_BY;
	if (g->op->is_dir || !g->is_whole) {
		s->kind = VIEW_DIRECTORY;
		s->mode = 0555;
	} else if (g->op->text) {
		s->kind = VIEW_FILE;
		s->source = g->op->text;
		s->mode = 0444;
	}
	return 0;
}

/* A file of its own for a name that needs some content. */
static int guard_cover_text(struct view_program *p, const struct view_guard *g)
{
	size_t first = p->n;
	struct view_step *s;

	if (strv_addf(&p->strings, VIEW_DIR "/text-%zu", p->n) < 0)
		return -ENOMEM;
	s = view_add(p, VIEW_FILE, p->strings.v[p->strings.n - 1]);
	if (!s)
		return -ENOMEM;
	s->source = g->op->text;
	s->mode = 0444;
	if (view_seal(p, s->path) < 0 ||
	    !view_cover_with(p, g->owner, g->at, p->strings.v[p->strings.n - 1]))
		return -ENOMEM;
	for (size_t i = first; i < p->n; i++)
		p->steps[i].is_for_owned = true;
	return 0;
}

/* What is mounted at the guarded path once everything else is in place. */
int view_guard_cover(struct view_program *p, const struct view_guard *g)
{
	bool is_dir = g->op->is_dir || !g->is_whole;

	if (!g->exists && !is_dir && g->op->text)
		return guard_cover_text(p, g);
	if (!g->exists && is_dir)
		return view_cover(p, g->owner, g->at, VIEW_EMPTY_DIR, /* is_for_owned= */ true);
	if (!g->exists)
		return view_cover(p, g->owner, g->at, VIEW_ABSENT, !g->op->is_looked_for);
	if (g->op->kind == PLAN_OP_DENY && g->is_whole)
		return view_cover(p, g->owner, g->at,
				  S_ISDIR(g->st.st_mode) ? VIEW_CLOSED_DIR : VIEW_CLOSED_FILE,
				  /* is_for_owned= */ false);
	/* Itself, read-only.  A link stands for itself and can then not be replaced. */
	return view_bind(p, g->at, &g->st, ATTRS_COMMON | MOUNT_ATTR_RDONLY);
}

static bool guard_is_repeated(const struct view_guard *guards, size_t n, const struct view_guard *g)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(guards[i].at, g->at) == 0 &&
		    (guards[i].op->kind == g->op->kind || guards[i].op->kind == PLAN_OP_DENY))
			return true;
	return false;
}

int view_guards_add(struct view_program *p, struct view_guard *guards, size_t *n)
{
	for (size_t i = 0; i < p->plan->op_count; i++) {
		const struct plan_op *op = &p->plan->ops[i];
		struct view_guard g;
		int r;

		if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY)
			continue;
		r = guard_look(p, op, &g);
		if (r < 0)
			return r;
		/* What nothing grants is not there, and what nobody may write needs no protection. */
		if (!g.is_visible || (g.owner < 0 && (op->kind == PLAN_OP_PROTECT || !g.exists)) ||
		    guard_is_repeated(guards, *n, &g))
			continue;
		guards[(*n)++] = g;
		if (g.owner >= 0 && strcmp(g.at, p->plan->ops[g.owner].path) != 0) {
			r = guard_lower(p, &g);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
