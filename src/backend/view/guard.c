/* SPDX-License-Identifier: Apache-2.0 */
/* Protected and denied names: where they stand on the host, and what is put under and over them. */
#include "backend/view/build.h"

#include "base/path.h"
#include "base/shield.h"

#include <errno.h>
#include <string.h>

/* The grant around a guarded path that exists in it, or -1. */
static int guard_owner_of_existing(const struct plan *plan, const struct plan_op *op)
{
	int owner = op->kind == PLAN_OP_PROTECT || op->kind == PLAN_OP_DENY
			    ? view_owner(plan, op->path)
			    : -1;
	struct stat st;

	return owner >= 0 && lstat(op->path, &st) == 0 ? owner : -1;
}

static bool guard_is_pinned(const struct view_program *p, size_t first, const char *path,
			    size_t len)
{
	for (size_t i = first; i < p->n; i++)
		if (strncmp(p->steps[i].path, path + 1, len - 1) == 0 && !p->steps[i].path[len - 1])
			return true;
	return false;
}

int view_pin(struct view_program *p, size_t grant)
{
	const struct plan *plan = p->plan;
	size_t first = p->n;

	for (size_t i = 0; i < plan->op_count; i++) {
		const char *path = plan->ops[i].path;
		const char *at;

		/* The owner last, and only for what the others leave: it looks at every op. */
		if (!path_is_within(path, plan->ops[grant].path) ||
		    strcmp(path, plan->ops[grant].path) == 0 ||
		    guard_owner_of_existing(plan, &plan->ops[i]) != (int)grant)
			continue;
		at = path + strlen(plan->ops[grant].path);
		while ((at = strchr(at + 1, '/'))) {
			const char *dir;
			struct stat st;
			int r;

			if (guard_is_pinned(p, first, path, (size_t)(at - path)))
				continue;
			dir = view_keep(p, path, (size_t)(at - path));
			if (!dir)
				return -ENOMEM;
			r = lstat(dir, &st) < 0 ? -errno : view_bind(p, dir, &st, ATTRS_COMMON);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* What is made anew can be denied too: of a private directory the whole, of /dev and /proc what there is. */
static void guard_look_made(const struct plan *plan, struct view_guard *g)
{
	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == PLAN_OP_TMPFS && strcmp(g->op->path, op->path) == 0)
			g->is_visible = g->exists = true;
		if ((op->kind == PLAN_OP_DEV || op->kind == PLAN_OP_PROC) &&
		    path_is_within(g->op->path, op->path))
			g->is_visible = g->may_be_missing = true;
	}
}

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
	if (op->kind == PLAN_OP_DENY)
		guard_look_made(p->plan, &g);
	*ret = g;
	return 0;
}

static bool guard_is_base_dir(const struct view_program *p, const char *path)
{
	for (size_t i = 0; i < p->n_base; i++)
		if (p->steps[i].kind == VIEW_DIRECTORY && strcmp(p->steps[i].path, path) == 0)
			return true;
	return false;
}

/* The entries that a guard needs in the lower layer of the overlay around it. */
static int guard_lower(struct view_program *p, struct view_guard *g)
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
	g->is_dir_in_base = g->owner == p->base_owner &&
			    guard_is_base_dir(p, p->strings.v[p->strings.n - 1]);
	if (g->is_dir_in_base)
		return 0;
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

static int guard_rebind(struct view_program *p, const char *source, const char *path,
			uint64_t attrs)
{
	struct view_step *s = view_add(p, VIEW_SEAL, path);

	if (!s)
		return -ENOMEM;
	while (*source == '/')
		source++;
	s->source = source;
	s->attrs = attrs;
	return 0;
}

/*
 * A directory, mounted on itself and read-only: as it is in here, with what is closed in it.  The host's own
 * would come without those.  What is excepted is put aside before and back over it.
 */
static int guard_seal(struct view_program *p, const struct view_guard *g)
{
	const char *except = NULL;
	const char *aside = NULL;
	struct view_step *s;
	struct stat st;

	if (g->op->except && g->is_whole) {
		if (strv_addf(&p->strings, "%s/%s", g->at, g->op->except) < 0)
			return -ENOMEM;
		except = p->strings.v[p->strings.n - 1];
	}
	if (except && lstat(except, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (strv_addf(&p->strings, VIEW_DIR "/aside-%zu", p->n) < 0)
			return -ENOMEM;
		aside = p->strings.v[p->strings.n - 1];
		s = view_add(p, VIEW_DIRECTORY, aside);
		if (!s)
			return -ENOMEM;
		s->mode = 0700;
		if (guard_rebind(p, except, aside, ATTRS_COMMON) < 0)
			return -ENOMEM;
	}
	if (guard_rebind(p, g->at, g->at, ATTRS_COMMON | MOUNT_ATTR_RDONLY) < 0)
		return -ENOMEM;
	return aside ? guard_rebind(p, aside, except, ATTRS_COMMON) : 0;
}

static int guard_cover(struct view_program *p, const struct view_guard *g)
{
	bool is_dir = g->op->is_dir || !g->is_whole || g->is_dir_in_base;

	if (shield_is_off(SHIELD_COVERS))
		return 0;
	if (!g->exists && !is_dir && g->op->text)
		return guard_cover_text(p, g);
	if (!g->exists && is_dir)
		return view_cover(p, g->owner, g->at, VIEW_EMPTY_DIR, /* is_for_owned= */ true);
	if (!g->exists)
		return view_cover(p, g->owner, g->at, VIEW_ABSENT, !g->op->is_looked_for);
	if (g->op->kind == PLAN_OP_DENY && g->is_whole) {
		int r = view_cover(p, g->owner, g->at,
				   S_ISDIR(g->st.st_mode) ? VIEW_CLOSED_DIR : VIEW_CLOSED_FILE,
				   /* is_for_owned= */ false);

		if (r == 0)
			p->steps[p->n - 1].may_be_missing = g->may_be_missing;
		return r;
	}
	if (S_ISDIR(g->st.st_mode) && g->owner >= 0)
		return guard_seal(p, g);
	/* As it is in here: an earlier call of the same change set may not have been kept from it. */
	if (view_is_cow(p, g->owner))
		return guard_rebind(p, g->at, g->at, ATTRS_COMMON | MOUNT_ATTR_RDONLY);
	/* Itself, read-only.  A link stands for itself and can then not be replaced. */
	return view_bind(p, g->at, &g->st, ATTRS_COMMON | MOUNT_ATTR_RDONLY);
}

/* What is mounted at the guarded path once everything else is in place. */
int view_guard_cover(struct view_program *p, const struct view_guard *g)
{
	size_t first = p->n;
	int r = guard_cover(p, g);

	/* Calls before this one may have removed what the host has there from their common change set. */
	for (size_t i = first; g->exists && view_is_cow(p, g->owner) && i < p->n; i++)
		if (p->steps[i].kind == VIEW_SEAL || p->steps[i].kind == VIEW_COVER)
			p->steps[i].may_be_missing = true;
	return r;
}

/* Is it somewhere in a directory that is closed already? */
static bool guard_is_below(const struct view_guard *g, const struct view_guard *other)
{
	return other->op->kind == PLAN_OP_DENY && other->exists && other->is_whole &&
	       path_is_within(g->at, other->at);
}

static bool guard_is_repeated(const struct view_guard *guards, size_t n, const struct view_guard *g)
{
	for (size_t i = 0; i < n; i++)
		/* Where nothing is, whatever is put there first keeps the name: there is nothing to read. */
		if ((strcmp(guards[i].at, g->at) == 0 &&
		     (guards[i].op->kind == g->op->kind || guards[i].op->kind == PLAN_OP_DENY ||
		      !g->exists)) ||
		    guard_is_below(g, &guards[i]))
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
		    guard_is_repeated(guards, *n, &g) ||
		    (shield_is_off(SHIELD_PLACEHOLDERS) && !g.exists))
			continue;
		guards[(*n)++] = g;
		if (g.owner >= 0 && strcmp(g.at, p->plan->ops[g.owner].path) != 0 &&
		    p->guarded[g.owner]) {
			r = guard_lower(p, &guards[*n - 1]);
			if (r < 0)
				return r;
		}
	}
	return 0;
}
