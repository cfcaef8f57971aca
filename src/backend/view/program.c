/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  Each op of the plan becomes a few steps.  Three things need thought:
 *
 * Places to mount on.  In the new root and in every tmpfs we make them; in a bind they exist, because
 * paths are canonical and the same on both sides.  Which of the two holds is decided here, from the ops
 * so far: the child never makes a directory where somebody else's link could lead it astray.
 *
 * Protected names.  A directory that holds some is not bound but mounted as an overlay whose upper layer is
 * the host's directory and whose lower layer is a directory of placeholders in our own tmpfs.  So a name
 * that does not exist on the host has an entry, and the host never sees it.  Nobody owns the entry (public.c),
 * so nobody can change it or put something in its place.  It is a socket: programs that list the directory
 * and go by the type (git, find, ripgrep) pass it by.  Where programs look for a name while they work, a link to
 * nowhere is mounted on it, and they find nothing.  The directories above a protected
 * name exist in both layers; overlayfs refuses to rename such a directory (EXDEV), so no protected path can
 * be moved aside and made anew.  Nothing here ever needs the overlay's work directory (no entry of the lower
 * layer can be written, removed or copied up), so it is removed as soon as the command runs.
 *
 * On kernels that cannot take the owner from a tmpfs (before 6.3) something is mounted on every entry.  Those
 * are the steps "for owned".  Else somebody holds on to the entries (view_hold()) from before the command
 * starts: what appears on the host under such a name later is not seen, as if it were mounted upon.
 *
 * Denied names exist or are protected from creation; an unreadable file or directory is mounted over them.
 *
 * A workspace whose changes are kept apart is an overlay in any case: the host's directory is its first lower layer,
 * the placeholders are the second, and the upper one is the change set.
 */
#include "backend/view/build.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/shield.h"
#include "workspace/protected.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct view_step *view_add(struct view_program *p, enum view_step_kind kind, const char *path)
{
	void *steps = p->steps;

	if (mem_grow(&steps, &p->cap, p->n + 1, sizeof(*p->steps), VIEW_STEPS_MAX) < 0)
		return NULL;
	p->steps = steps;
	while (*path == '/')
		path++;
	p->steps[p->n] = (struct view_step){.kind = kind, .path = path, .fd = -1};
	return &p->steps[p->n++];
}

/* Keeps a copy of the first len bytes of s. */
const char *view_keep(struct view_program *p, const char *s, size_t len)
{
	if (strv_addf(&p->strings, "%.*s", (int)len, s) < 0)
		return NULL;
	return p->strings.v[p->strings.n - 1];
}

int view_rule_add(struct view_program *p, const char *path, enum landlock_access access)
{
	void *rules = p->rules;

	if (mem_grow(&rules, &p->rules_cap, p->n_rules + 1, sizeof(*p->rules), VIEW_STEPS_MAX) < 0)
		return -ENOMEM;
	p->rules = rules;
	p->rules[p->n_rules++] = (struct view_rule){.path = path, .access = access};
	return 0;
}

bool view_op_is_mount(enum plan_op_kind kind)
{
	return kind <= PLAN_OP_TMPFS || kind == PLAN_OP_PROC;
}

/* The directory in which path stands, as far as the ops before `before` have built it: NULL when that is
 * the host's, else the path of the tmpfs. */
static const char *program_tmpfs_above(const struct plan *plan, size_t before, const char *path)
{
	const struct plan_op *found = NULL;

	for (size_t i = 0; i < before; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (view_op_is_mount(op->kind) && path_is_within(path, op->path) &&
		    strcmp(path, op->path) != 0)
			found = op; /* later ones cover earlier ones */
	}
	if (!found)
		return "";
	return found->kind == PLAN_OP_TMPFS ? found->path : NULL;
}

/* Makes path (a directory, or an empty file) where it stands in a tmpfs of ours. */
int view_place(struct view_program *p, size_t before, const char *path, bool is_dir)
{
	const char *top = program_tmpfs_above(p->plan, before, path);
	const char *at;

	if (!top)
		return 0;
	for (at = path + strlen(top) + 1; (at = strchr(at, '/')); at++) {
		const char *parent = view_keep(p, path, (size_t)(at - path));
		struct view_step *s = parent ? view_add(p, VIEW_DIRECTORY, parent) : NULL;

		if (!s)
			return -ENOMEM;
		s->mode = 0755;
	}
	if (!view_add(p, is_dir ? VIEW_DIRECTORY : VIEW_EMPTY, path))
		return -ENOMEM;
	p->steps[p->n - 1].mode = is_dir ? 0755 : 0444;
	return 0;
}

/* Mounts the host's path at itself. */
int view_bind(struct view_program *p, const char *path, const struct stat *st, uint64_t attrs)
{
	struct view_step *s = view_add(p, VIEW_BIND, path);

	if (!s)
		return -ENOMEM;
	s->source = path;
	s->attrs = attrs;
	s->dev = st->st_dev;
	s->ino = st->st_ino;
	return 0;
}

/* Clones of the placeholder have its attributes from now on. */
int view_seal(struct view_program *p, const char *path)
{
	struct view_step *s = view_add(p, VIEW_SEAL, path);

	if (!s)
		return -ENOMEM;
	s->source = s->path;
	s->attrs = ATTRS_SEALED;
	return 0;
}

static const struct {
	enum view_step_kind kind;
	const char *path;
	const char *target;
	unsigned mode;
	bool is_for_owned;
} program_placeholders[VIEW_PLACEHOLDER_COUNT] = {
	[VIEW_EMPTY_DIR] = {VIEW_DIRECTORY, VIEW_DIR "/dir", NULL, 0555, true},
	[VIEW_CLOSED_FILE] = {VIEW_EMPTY, VIEW_DIR "/closed-file", NULL, 0, false},
	[VIEW_CLOSED_DIR] = {VIEW_DIRECTORY, VIEW_DIR "/closed-dir", NULL, 0, false},
	[VIEW_ABSENT] = {VIEW_SYMLINK, VIEW_DIR "/absent", VIEW_ABSENT_TARGET, 0, false},
};

/* The placeholder, made and sealed at its first use: clones of it have its attributes. */
static const char *program_placeholder(struct view_program *p, enum view_placeholder which)
{
	const char *path = program_placeholders[which].path;
	size_t first = p->n;
	struct view_step *s;

	if (p->made & 1U << which)
		return path;
	s = view_add(p, program_placeholders[which].kind, path);
	if (!s)
		return NULL;
	s->mode = program_placeholders[which].mode;
	s->source = program_placeholders[which].target;
	if (view_seal(p, path) < 0)
		return NULL;
	for (size_t i = first; i < p->n; i++)
		p->steps[i].is_for_owned = program_placeholders[which].is_for_owned;
	p->made |= 1U << which;
	return path;
}

/* owner: the grant around path, or -1. */
int view_cover(struct view_program *p, int owner, const char *path, enum view_placeholder which,
	       bool is_for_owned)
{
	const char *with = program_placeholder(p, which);
	struct view_step *s = with ? view_cover_with(p, owner, path, with) : NULL;

	if (!s)
		return -ENOMEM;
	s->is_for_owned = is_for_owned;
	return 0;
}

struct view_step *view_cover_with(struct view_program *p, int owner, const char *path,
				  const char *with)
{
	struct view_step *s = view_add(p, VIEW_COVER, path);
	const char *dir = owner >= 0 ? p->plan->ops[owner].path : NULL;
	const char *name = dir ? path + strlen(dir) + 1 : NULL;

	if (!s)
		return NULL;
	s->source = with;
	if (name && path_is_within(path, dir) && strlen(path) > strlen(dir) && !strchr(name, '/')) {
		s->dir = dir + 1;
		s->name = name;
	}
	return s;
}

/* Where nothing that is written may be executed, what is read-only has to say that it may. */
static int program_executable(struct view_program *p, const struct plan_op *op)
{
	if (!p->plan->separates_exec || op->is_noexec)
		return 0;
	return view_rule_add(p, op->path, LANDLOCK_READ);
}

/* A bind of the op, writable or not. */
static int program_grant(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	uint64_t attrs = op->kind == PLAN_OP_DEVICE ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC
						    : ATTRS_COMMON;
	const char *source = op->kind == PLAN_OP_SYSTEM && op->text ? op->text : op->path;
	struct stat st;
	int r;

	if (lstat(source, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", source);
	if (S_ISLNK(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is a symbolic link", source);
	if (op->kind == PLAN_OP_SYSTEM || op->kind == PLAN_OP_BIND_RO)
		attrs |= MOUNT_ATTR_RDONLY;
	if (op->is_noexec)
		attrs |= MOUNT_ATTR_NOEXEC;
	r = view_place(p, i, op->path, S_ISDIR(st.st_mode));
	if (r == 0 && (op->kind == PLAN_OP_BIND_RW || op->kind == PLAN_OP_DEVICE))
		r = view_rule_add(p, op->path, view_write_access(op->is_noexec));
	else if (r == 0)
		r = program_executable(p, op);
	if (r == 0)
		r = view_bind(p, op->path, &st, attrs);
	if (r == 0)
		p->steps[p->n - 1].source = source;
	return r < 0 ? cordon_fail_leaf(err, r, "'%s'", op->path) : 0;
}

/* A directory of ours at another path. */
static int program_cache(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct stat st;

	if (lstat(op->text, &st) < 0 || !S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "cache '%s' is not a directory",
				   op->text);
	if (view_place(p, i, op->path, true) < 0 ||
	    view_rule_add(p, op->path, LANDLOCK_WRITE) < 0 ||
	    view_bind(p, op->path, &st, ATTRS_COMMON) < 0)
		return cordon_nomem(err);
	p->steps[p->n - 1].source = op->text;
	return 0;
}

/* A socket on which we listen, seen at the path of the host's. */
static int program_socket(struct view_program *p, size_t i)
{
	const char *path = p->plan->ops[i].path;
	const char *own;

	if (strv_addf(&p->strings, VIEW_DIR "/socket-%zu", i) < 0)
		return -ENOMEM;
	own = p->strings.v[p->strings.n - 1];
	if (!view_add(p, VIEW_LISTEN, own) || view_place(p, i, path, false) < 0)
		return -ENOMEM;
	return view_cover_with(p, -1, path, own) ? 0 : -ENOMEM;
}

/* A file of ours, seen at the path of the host's. */
static int program_shown(struct view_program *p, size_t i)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct view_step *s;
	const char *own;

	if (strv_addf(&p->strings, VIEW_DIR "/shown-%zu", i) < 0)
		return -ENOMEM;
	own = p->strings.v[p->strings.n - 1];
	s = view_add(p, VIEW_FILE, own);
	if (!s)
		return -ENOMEM;
	s->source = op->text;
	s->mode = 0444;
	if (view_place(p, i, op->path, false) < 0 || !(s = view_add(p, VIEW_PRIVATE, op->path)))
		return -ENOMEM;
	s->source = own;
	s->attrs = ATTRS_COMMON | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC;
	return 0;
}

/* A directory of the system of which root shall see only what everybody may see.  Its mount is made last:
 * until then somebody else may have made the namespace that it takes. */
static int program_public(struct view_program *p, size_t i, struct cordon_error *err)
{
	struct view_step *s;

	if (p->n_trees == ARRAY_LEN(p->trees))
		return cordon_fail(err, CORDON_E_LIMIT, "too many system directories");
	if (view_place(p, i, p->plan->ops[i].path, true) < 0 ||
	    program_executable(p, &p->plan->ops[i]) < 0 ||
	    !(s = view_add(p, VIEW_TREE, p->plan->ops[i].path)))
		return cordon_nomem(err);
	s->source = p->plan->ops[i].path;
	s->attrs = ATTRS_COMMON | MOUNT_ATTR_RDONLY;
	p->trees[p->n_trees++] = -1;
	return 0;
}

int view_public_tree(const char *path, const struct view_maps *maps, int *nobody_ns)
{
	AUTO_CLOSE int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, path,
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	int r;

	if (tree < 0)
		return -errno;
	if (*nobody_ns < 0)
		*nobody_ns = view_nobody_namespace(maps);
	if (*nobody_ns < 0)
		return *nobody_ns;
	r = view_disown(tree, *nobody_ns);
	return r < 0 ? r : TAKE_FD(tree);
}

static int program_public_trees(struct view_program *p, int (*nobody)(void),
				struct cordon_error *err)
{
	size_t done = 0;

	if (p->plan->public_trees && p->plan->n_public_trees != p->n_trees)
		return cordon_fail(err, CORDON_E_INTERNAL, "public directories are missing");
	if (p->n_trees > 0 && nobody)
		p->nobody_ns = nobody();
	for (size_t i = 0; i < p->n; i++) {
		struct view_step *s = &p->steps[i];

		if (s->kind != VIEW_TREE)
			continue;
		s->fd = p->plan->public_trees
				? fd_dup(p->plan->public_trees[done], 0)
				: view_public_tree(s->source, &p->maps, &p->nobody_ns);
		p->trees[done++] = s->fd;
		if (s->fd < 0)
			return cordon_hint(err,
					   cordon_fail_errno(err, -s->fd,
							     "close private files in '%s'",
							     s->source),
					   "its file system cannot be mounted with other owners; "
					   "run cordon as an ordinary user");
	}
	return 0;
}

int view_private(struct view_program *p, const char *path, unsigned mode, bool is_noexec)
{
	struct view_step *s;

	if (strv_addf(&p->strings, VIEW_DIR "/private-%zu", p->n) < 0 ||
	    !(s = view_add(p, VIEW_DIRECTORY, p->strings.v[p->strings.n - 1])))
		return -ENOMEM;
	s->mode = mode;
	s = view_add(p, VIEW_PRIVATE, path);
	if (!s)
		return -ENOMEM;
	s->source = p->strings.v[p->strings.n - 1];
	s->attrs = is_noexec ? MOUNT_ATTR_NOEXEC : 0; /* beside those of the root */
	return 0;
}

static const char *view_bytes(struct view_program *p, uint64_t bytes)
{
	if (strv_addf(&p->strings, "%llu", (unsigned long long)bytes) < 0)
		return NULL;
	return p->strings.v[p->strings.n - 1];
}

const char *view_tmpfs_size(struct view_program *p)
{
	return view_bytes(p, p->plan->memory_bytes.value / 4 + 1);
}

static int program_tmpfs(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct view_step *s;

	if (view_place(p, i, op->path, true) < 0 ||
	    view_rule_add(p, op->path, view_write_access(op->is_noexec)) < 0)
		return cordon_nomem(err);
	if (!op->size_bytes && !plan_memory_by_process(p->plan))
		return view_private(p, op->path, op->mode ? op->mode : 0755, op->is_noexec) < 0
			       ? cordon_nomem(err)
			       : 0;
	s = view_add(p, VIEW_TMPFS, op->path);
	if (!s)
		return cordon_nomem(err);
	s->mode = op->mode ? op->mode : 0755;
	s->attrs = ATTRS_COMMON | (op->is_noexec ? MOUNT_ATTR_NOEXEC : 0);
	s->source = op->size_bytes ? view_bytes(p, op->size_bytes) : view_tmpfs_size(p);
	return s->source ? 0 : cordon_nomem(err);
}

/* The writable grant that path stands in, by index, or -1: the last one that covers it. */
int view_owner(const struct plan *plan, const char *path)
{
	int found = -1;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (view_op_is_mount(op->kind) && path_is_within(path, op->path))
			found = (int)i;
	}
	return found >= 0 && plan_op_is_writable(plan->ops[found].kind) ? found : -1;
}

static bool view_is_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Which writable grants hold a guarded path that is missing.  Where all are there mounts can hold them, and an
 * overlay would ask for more: directories of the caller's own and no mounts in them. */
static void program_find_guarded(struct view_program *p)
{
	const struct plan *plan = p->plan;

	for (size_t i = 0; i < plan->op_count && !shield_is_off(SHIELD_PLACEHOLDERS); i++) {
		const struct plan_op *op = &plan->ops[i];
		struct stat st;
		int owner;

		if (op->kind == PLAN_OP_COW)
			p->has_overlay = p->guarded[i] = true;
		/* A file cannot be an overlay, and is no directory with sockets. */
		if (op->is_sealed && view_is_dir(op->path))
			p->guarded[i] = true;
		if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY)
			continue;
		owner = view_owner(plan, op->path);
		if (owner >= 0 && strcmp(op->path, plan->ops[owner].path) != 0 &&
		    !p->guarded[owner] && (op->is_missing || lstat(op->path, &st) < 0))
			p->has_overlay = p->guarded[owner] = true;
	}
}

static int program_op(struct view_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct view_step *s;
	int r;

	switch (op->kind) {
	case PLAN_OP_SYSTEM:
		return op->is_public_only && !shield_is_off(SHIELD_PUBLIC)
			       ? program_public(p, i, err)
			       : program_grant(p, i, err);
	case PLAN_OP_BIND_RW:
	case PLAN_OP_BIND_RO:
		if (p->guarded[i])
			return view_overlay(p, i, err);
		r = program_grant(p, i, err);
		if (r == 0 && op->kind == PLAN_OP_BIND_RW && view_pin(p, i) < 0)
			return cordon_fail(err, CORDON_E_SYSTEM, "hold what is protected in '%s'",
					   op->path);
		return r;
	case PLAN_OP_COW:
		return view_cow(p, i, err);
	case PLAN_OP_DEVICE:
		return program_grant(p, i, err);
	case PLAN_OP_CACHE:
		return program_cache(p, i, err);
	case PLAN_OP_SOCKET:
		return program_socket(p, i) < 0 ? cordon_nomem(err) : 0;
	case PLAN_OP_SHOWN:
		return program_shown(p, i) < 0 ? cordon_nomem(err) : 0;
	case PLAN_OP_TMPFS:
		return program_tmpfs(p, i, err);
	case PLAN_OP_SYMLINK:
	case PLAN_OP_FILE:
		s = view_add(p, op->kind == PLAN_OP_FILE ? VIEW_FILE : VIEW_SYMLINK, op->path);
		if (!s)
			return cordon_nomem(err);
		s->source = op->text;
		s->len = op->text_len;
		s->mode = op->mode ? op->mode : 0644;
		return 0;
	case PLAN_OP_DEV:
		/* The base has it. */
		if (strcmp(op->path, "/dev") != 0)
			return cordon_fail(err, CORDON_E_UNSUPPORTED, "/dev at '%s'", op->path);
		return view_dev_of_plan(p) < 0 ? cordon_nomem(err) : 0;
	case PLAN_OP_PROC:
		/* Nowhere else: what is closed in it is known by path. */
		if (strcmp(op->path, "/proc") != 0)
			return cordon_fail(err, CORDON_E_UNSUPPORTED, "/proc at '%s'", op->path);
		return view_proc(p, i) < 0 ? cordon_nomem(err) : 0;
	case PLAN_OP_PROTECT:
	case PLAN_OP_DENY:
		return 0; /* before and after the others: view_guards_add(), view_guard_cover() */
	case PLAN_OP_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "no step for op %d", (int)op->kind);
}

/* The placeholders of the protected names that are nowhere, each once. */
static int program_base_names(struct view_program *p)
{
	struct view_step *s = view_add(p, VIEW_DIRECTORY, VIEW_LOWER_BASE);
	size_t last = 0; /* bytes of the last name's first part */

	if (!s)
		return -ENOMEM;
	s->mode = 0755;
	for (size_t i = 0; i < protected_name_count; i++) {
		const struct protected_name *n = &protected_names[i];
		size_t len = strcspn(n->name, "/");
		bool is_dir = n->is_dir || n->name[len];

		if (i > 0 && len == last && strncmp(n->name, protected_names[i - 1].name, len) == 0)
			continue;
		last = len;
		if (strv_addf(&p->strings, VIEW_LOWER_BASE "/%.*s", (int)len, n->name) < 0 ||
		    !(s = view_add(p, is_dir ? VIEW_DIRECTORY : VIEW_LINK,
				   p->strings.v[p->strings.n - 1])))
			return -ENOMEM;
		s->source = VIEW_PASSED_BY;
		s->mode = 0555;
	}
	return 0;
}

int view_base(struct view_program *ret)
{
	struct view_step *s;
	int r;

	*ret = (struct view_program){.nobody_ns = -1, .base_owner = -1};
	s = view_add(ret, VIEW_DIRECTORY, VIEW_DIR);
	if (!s)
		return -ENOMEM;
	s->mode = 0700;
	s = view_add(ret, VIEW_SOCKET, VIEW_PASSED_BY);
	if (!s)
		return -ENOMEM;
	s->mode = 0444;
	r = program_base_names(ret);
	if (r == 0)
		r = view_dev(ret);
	ret->n_base = ret->n;
	return r;
}

/* The steps of base, whose strings outlive the program. */
static int program_begin(struct view_program *p, const struct view_program *base)
{
	void *steps = p->steps;

	if (mem_grow(&steps, &p->cap, base->n, sizeof(*p->steps), VIEW_STEPS_MAX) < 0)
		return -ENOMEM;
	p->steps = steps;
	memcpy(p->steps, base->steps, base->n * sizeof(*p->steps));
	p->n = p->n_base = p->n_lower = base->n;
	return 0;
}

/* Whose lower layer is the base's: the one with names that are all missing, which is the workspace. */
static void program_find_base_owner(struct view_program *p)
{
	for (size_t i = 0; i < p->plan->op_count && p->base_owner < 0; i++)
		if (p->plan->ops[i].is_standard)
			p->base_owner = view_owner(p->plan, p->plan->ops[i].path);
}

const char *view_lower(struct view_program *p, size_t owner)
{
	if ((int)owner == p->base_owner)
		return VIEW_LOWER_BASE;
	return strv_addf(&p->strings, VIEW_DIR "/lower-%zu", owner) < 0
		       ? NULL
		       : p->strings.v[p->strings.n - 1];
}

/* The lower layers of overlays. */
static int program_lowers(struct view_program *p)
{
	program_find_base_owner(p);
	for (size_t i = 0; i < p->plan->op_count; i++) {
		const char *lower = p->guarded[i] ? view_lower(p, i) : "";
		struct view_step *s;

		if (!p->guarded[i] || (int)i == p->base_owner)
			continue;
		if (!lower || !(s = view_add(p, VIEW_DIRECTORY, lower)))
			return -ENOMEM;
		s->mode = 0755;
	}
	return 0;
}

/* What is closed cannot be opened for a rule, nor does it need one. */
static void program_drop_rules(struct view_program *p, const char *denied)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_rules; i++)
		if (!path_is_within(p->rules[i].path, denied))
			p->rules[n++] = p->rules[i];
	p->n_rules = n;
}

static int program_build(struct view_program *p, struct view_guard *guards,
			 const struct view_made *made, struct cordon_error *err)
{
	AUTO(view_program_done) struct view_program own = {.nobody_ns = -1};
	size_t n = 0;
	int r = made->base ? 0 : view_base(&own);

	if (r == 0)
		r = program_begin(p, made->base ? made->base : &own);
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare /dev");
	/* The strings of a base of our own are ours to keep. */
	if (!made->base) {
		p->strings = own.strings;
		own.strings = (struct strv){0};
	}
	program_find_guarded(p);
	r = program_lowers(p);
	if (r == 0)
		r = view_guards_add(p, guards, &n);
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare protected paths");
	p->n_lower = p->n;
	for (size_t i = 0; i < p->plan->op_count; i++) {
		r = program_op(p, i, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n; i++) {
		if (view_guard_cover(p, &guards[i]) < 0)
			return cordon_nomem(err);
		if (guards[i].op->kind == PLAN_OP_DENY)
			program_drop_rules(p, guards[i].op->path);
	}
	p->open_rules = calloc(p->n_rules + 1, sizeof(*p->open_rules));
	return p->open_rules ? program_public_trees(p, made->nobody, err) : cordon_nomem(err);
}

int view_compile(const struct plan *plan, struct view_program *ret, struct cordon_error *err)
{
	return view_compile_with(plan, &(struct view_made){0}, ret, err);
}

int view_compile_with(const struct plan *plan, const struct view_made *made,
		      struct view_program *ret, struct cordon_error *err)
{
	AUTO_FREE struct view_guard *guards = calloc(plan->op_count + 1, sizeof(*guards));
	int r;

	*ret = (struct view_program){.plan = plan, .nobody_ns = -1, .base_owner = -1};
	view_nobody_maps(&ret->maps);
	ret->guarded = calloc(plan->op_count + 1, sizeof(*ret->guarded));
	if (!guards || !ret->guarded)
		return cordon_nomem(err);
	r = program_build(ret, guards, made, err);
	/* An earlier call may have made so many repositories: that is not our running out of memory. */
	if (r < 0 && (ret->n >= VIEW_STEPS_MAX || ret->strings.n >= LIMIT_ARGV))
		r = cordon_hint(
			err,
			cordon_fail(err, CORDON_E_LIMIT,
				    "more paths to grant, deny or protect than a view can hold"),
			PLAN_HINT_TOO_MANY);
	return r;
}

void view_program_done(struct view_program *p)
{
	view_traces_remove(p);
	for (size_t i = 0; i < p->n_trees; i++)
		(void)fd_close(p->trees[i]);
	if (p->nobody_ns > 0) /* 0: never set up */
		(void)fd_close(p->nobody_ns);
	for (size_t i = 0; i < p->n_work; i++)
		scratch_done(&p->work[i]);
	free(p->work);
	free(p->steps);
	free(p->rules);
	free(p->open_rules);
	free(p->guarded);
	strv_done(&p->strings);
	*p = (struct view_program){.nobody_ns = -1};
}
