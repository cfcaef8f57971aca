/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is protected and what is denied: names of tables and of the policy, repositories and patterns that a walk through
 * the grants finds, where links of them lead, and sockets of the system.
 */
#include "core/fsbuild.h"

#include "backend/native/ahead.h"
#include "base/glob.h"
#include "base/io.h"
#include "base/path.h"
#include "core/fsdeny.h"
#include "core/fsgit.h"
#include "core/fsgrant.h"
#include "core/grants.h"
#include "workspace/cow/cow.h"
#include "workspace/gitdir.h"
#include "workspace/protected.h"
#include "workspace/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FSGUARD_SOCKETS_MAX (4 << 20) /* of the kernel's list: some 40,000 sockets */
#define FSGUARD_DIRS 32               /* with sockets in them that are remembered */

static const char *const fsguard_system_denied[] = {"/nix/var/nix/daemon-socket"}; /* sockets */

/* Is there anything of the host's at or above path?  What is not there needs no guard. */
static bool fsguard_is_granted(const struct fsbuild *b, const char *path)
{
	for (size_t i = b->plan->n; i-- > 0;) {
		const struct plan_op *op = &b->plan->ops[i];

		if (op->kind <= PLAN_OP_BIND_RW && path_is_within(path, op->path))
			return true;
		/* Made anew, but as the policy wants it. */
		if ((op->kind == PLAN_OP_DEV || op->kind == PLAN_OP_PROC) &&
		    path_is_within(path, op->path))
			return true;
		if (op->kind == PLAN_OP_TMPFS && strcmp(path, op->path) == 0)
			return true;
	}
	return false;
}

/* Is a directory above path denied?  Then nothing can be seen there, nor mounted on. */
static bool fsguard_is_closed(const struct fsbuild *b, const char *path)
{
	for (size_t i = b->first_guard; i < b->plan->n; i++) {
		const struct plan_op *op = &b->plan->ops[i];

		if (op->kind == PLAN_OP_DENY && path_is_within(path, op->path) &&
		    strcmp(path, op->path) != 0)
			return true;
	}
	return false;
}

static int fsguard_guard_name(struct fsbuild *b, enum plan_op_kind kind, const char *dir,
			      const struct protected_name *n)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *real = NULL;
	bool is_top = strcmp(dir, b->workspace) == 0;
	bool is_missing = is_top && fsnames_lack(&b->names, n->name);
	bool lacks = is_missing || (b->home && strcmp(dir, b->home) == 0 &&
				    fsnames_home_lacks(&b->home_names, n->name));
	int r;

	if (path_join(dir, n->name, &path) < 0)
		return cordon_nomem(b->err);
	if (fsguard_is_closed(b, path))
		return 0;
	r = !fsguard_is_granted(b, path)
		    ? 0
		    : fsbuild_add(b,
				  (struct plan_op){
					  .kind = kind,
					  .path = path,
					  .except = protected_exception(n->name),
					  .text = n->text,
					  .is_dir = n->is_dir,
					  .is_looked_for = is_top &&
							   fsnames_look_for(&b->names, n->name),
					  .is_missing = is_missing,
					  .is_standard = is_missing && n >= protected_names &&
							 n < protected_names + protected_name_count,
				  });
	if (r < 0 || lacks || !path_has_link(path, strlen(dir)))
		return r;
	/* Where a link leads counts as well, also from a directory of the system that is one (/bin). */
	r = path_resolve(path, &real);
	if (r < 0)
		return cordon_fail_leaf(b->err, r, "protect '%s'", path);
	if (!fsguard_is_granted(b, real) || fsguard_is_closed(b, real))
		return 0;
	return fsbuild_add(b, (struct plan_op){.kind = kind, .path = real, .is_dir = n->is_dir});
}

static int fsguard_guard(struct fsbuild *b, enum plan_op_kind kind, const char *dir,
			 const char *name, bool is_dir)
{
	return fsguard_guard_name(b, kind, dir,
				  &(struct protected_name){.name = name, .is_dir = is_dir});
}

int fsguard_protect_name(struct fsbuild *b, const char *dir, const struct protected_name *n)
{
	return fsguard_guard_name(b, PLAN_OP_PROTECT, dir, n);
}

int fsguard_protect(struct fsbuild *b, const char *path, bool is_dir)
{
	return fsguard_guard(b, PLAN_OP_PROTECT, "/", path, is_dir);
}

static int fsguard_deny_matches(struct fsbuild *b, const char *path, const struct walk_names *names)
{
	const struct item_list *denied = &b->in->policy->denied;

	for (size_t i = 0; i < denied->n; i++) {
		if (!glob_has_magic(denied->items[i].text))
			continue;
		for
			WALK_EACH(name, names)
			{
				AUTO_FREE char *full = NULL;
				int r;

				if (path_join(path, name, &full) < 0)
					return cordon_nomem(b->err);
				if (!glob_match(denied->items[i].text, full))
					continue;
				r = fsguard_guard(b, PLAN_OP_DENY, path, name, false);
				if (r < 0)
					return r;
			}
	}
	return 0;
}

/* A `.git` that is a file or a link says which configuration git obeys here.  Only itself: where it leads is
 * a git directory like others. */
static int fsguard_protect_pointer(struct fsbuild *b, const char *path,
				   const struct walk_names *names)
{
	for
		WALK_EACH(name, names)
		{
			AUTO_FREE char *full = NULL;
			struct stat st;

			if (strcmp(name, ".git") != 0)
				continue;
			if (path_join(path, name, &full) < 0)
				return cordon_nomem(b->err);
			if (lstat(full, &st) < 0 || S_ISDIR(st.st_mode))
				return 0;
			if (b->notes_dirs && newgit_note_pointer(&b->plan->newgit, path) < 0)
				return cordon_nomem(b->err);
			return fsbuild_add(b,
					   (struct plan_op){.kind = PLAN_OP_PROTECT, .path = full});
		}
	return 0;
}

/* One directory of a grant: git directories are protected, denied names denied. */
static int fsguard_visit(const char *path, const struct walk_names *names, void *arg,
			 struct cordon_error *err)
{
	struct fsbuild *b = arg;
	bool is_gitdir = gitdir_is(path, names);
	int r = fsguard_deny_matches(b, path, names);
	AUTO_FREE char *modules = NULL;
	AUTO_FREE char *worktrees = NULL;

	if (strcmp(path, b->workspace) == 0)
		fsnames_note(&b->names, names);
	if (r == 0)
		r = fsdeny_note_sensitive(&b->in->policy->taint_paths, path, names,
					  &b->plan->sensitive, &b->plan->is_sensitive_cut, err);
	if (r == 0)
		r = fsguard_protect_pointer(b, path, names);
	if (r == 0 && b->notes_dirs && newgit_note(&b->plan->newgit, path, is_gitdir) < 0)
		r = cordon_nomem(err);
	if (r < 0 || !is_gitdir)
		return r < 0 ? r : WALK_INTO;
	r = fsgit_protect_dir(b, path);
	/* Below it only those of submodules and worktrees are of interest. */
	if (r == 0 && (path_join(path, "modules", &modules) < 0 ||
		       path_join(path, "worktrees", &worktrees) < 0))
		r = cordon_nomem(err);
	if (r == 0)
		r = walk_tree(modules, fsguard_visit, b, err);
	if (r == 0)
		r = walk_tree(worktrees, fsguard_visit, b, err);
	return r < 0 ? r : WALK_SKIP;
}

static int fsguard_walk_grants(struct fsbuild *b, size_t first, size_t last)
{
	bool has_globs = fsdeny_has_globs(b->in->policy);
	struct walk_options options = {
		.fn = fsguard_visit,
		.arg = b,
		.is_plain = fsdeny_is_plain,
		.state_dir = fsdeny_has_patterns(b->in->policy) ? NULL : b->in->state_dir,
		.listed = b->workspace, /* its names tell which protected ones are missing */
		.list_name = COW_DIRS,
	};
	int r = 0;

	for (size_t i = first; r == 0 && i < last; i++) {
		struct plan_op op = b->plan->ops[i];

		if (fsgrant_is_part(&op, b->plan->ops + first, i - first) ||
		    (op.kind == PLAN_OP_BIND_RO && !has_globs))
			continue;
		b->notes_dirs = op.kind == PLAN_OP_BIND_RW;
		if (b->notes_dirs && newgit_note_top(&b->plan->newgit, op.path) < 0)
			return cordon_nomem(b->err);
		options.list_dir = op.kind == PLAN_OP_COW ? op.text : NULL;
		r = walk_tree_with(op.path, &options, b->err);
	}
	return r;
}

static int fsguard_protect_names(struct fsbuild *b, const char *dir)
{
	for (size_t i = 0; i < protected_name_count; i++) {
		int r = fsguard_guard_name(b, PLAN_OP_PROTECT, dir, &protected_names[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* What the policy itself names.  A glob of a bare name at any depth also holds for a name at the top of
 * the workspace that does not exist yet; deeper ones are found by the walk. */
static int fsguard_add_listed(struct fsbuild *b, enum plan_op_kind kind,
			      const struct item_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i].text;
		const char *base = path_base(text);
		int r = 0;

		if (strcmp(text, "/") == 0)
			return cordon_hint(b->err,
					   cordon_fail(b->err, CORDON_E_INVALID,
						       "'/' cannot be protected"),
					   "--fs read-only");
		if (!glob_has_magic(text))
			r = fsguard_guard(b, kind, "/", text, false);
		else if (!glob_has_magic(base) && *base)
			r = fsguard_guard(b, kind, b->workspace, base, false);
		if (r < 0)
			return r;
	}
	return 0;
}

/* On a mount where root owns nothing it is closed already. */
static bool fsguard_is_public_only(const struct fsbuild *b, const char *path)
{
	for (size_t i = b->plan->n; i-- > 0;) {
		const struct plan_op *op = &b->plan->ops[i];

		if (op->kind <= PLAN_OP_BIND_RW && path_is_within(path, op->path))
			return op->is_public_only;
	}
	return false;
}

/*
 * Whoever is in the group of such a file (shadow, ssl-cert) is so inside, too: nobody can give up groups without a right to.
 * Those that the caller cannot read, which is all of them for most, need no mount.  A directory that can be entered
 * and not listed can still be read by names.
 */
static int fsguard_add_system_credentials(struct fsbuild *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < system_credential_path_count; i++) {
		const char *path = system_credential_paths[i];

		if ((faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0 &&
		     faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) ||
		    fsguard_is_public_only(b, path))
			continue;
		r = fsguard_guard(b, PLAN_OP_DENY, "/", path, false);
	}
	return r;
}

static int fsguard_add_denied(struct fsbuild *b)
{
	const char *own[] = {b->in->state_dir, b->in->config_dir, b->in->runtime_dir};
	int r = 0;

	if (b->home)
		fsnames_list_home(&b->home_names, b->home);
	for (size_t i = 0; r == 0 && b->home && i < credential_path_count; i++)
		r = fsguard_guard(b, PLAN_OP_DENY, b->home, credential_paths[i], false);
	if (r == 0)
		r = fsguard_add_system_credentials(b);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(fsguard_system_denied); i++)
		r = fsguard_guard(b, PLAN_OP_DENY, "/", fsguard_system_denied[i], true);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(own); i++)
		if (own[i])
			r = fsguard_guard(b, PLAN_OP_DENY, "/", own[i], true);
	return r < 0 ? r : fsguard_add_listed(b, PLAN_OP_DENY, &b->in->policy->denied);
}

/* Directories of sockets: a machine has hundreds of sockets in a few of them, in no order. */
struct fsguard_dirs {
	char *texts[FSGUARD_DIRS];
	char *reals[FSGUARD_DIRS];
	size_t n; /* how many were ever looked up: the oldest makes room */
};

static void fsguard_dirs_done(struct fsguard_dirs *d)
{
	for (size_t i = 0; i < FSGUARD_DIRS; i++) {
		free(d->texts[i]);
		free(d->reals[i]);
	}
}

/* Where the first len bytes of path lead; NULL without memory, or when they lead nowhere.  Borrows. */
static const char *fsguard_dir(struct fsguard_dirs *d, const char *path, size_t len)
{
	size_t at = d->n % FSGUARD_DIRS;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *real = NULL;

	for (size_t i = 0; i < FSGUARD_DIRS && d->texts[i]; i++)
		if (strncmp(d->texts[i], path, len) == 0 && !d->texts[i][len])
			return d->reals[i];
	text = strndup(path, len);
	if (!text || path_resolve(text, &real) < 0)
		return NULL;
	free(d->texts[at]);
	free(d->reals[at]);
	d->texts[at] = TAKE_PTR(text);
	d->reals[at] = TAKE_PTR(real);
	d->n++;
	return d->reals[at];
}

/* As path_resolve(), but each directory once.  What is no socket by now may be a link to one. */
static int fsguard_resolve(struct fsguard_dirs *d, const char *path, char **ret)
{
	const char *name = path_base(path);
	const char *dir = name > path + 1 ? fsguard_dir(d, path, (size_t)(name - path) - 1) : "/";
	AUTO_FREE char *real = NULL;
	struct stat st;

	if (!dir || path_join(dir, name, &real) < 0 || lstat(real, &st) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return path_resolve(path, ret);
	*ret = TAKE_PTR(real);
	return 0;
}

/* A connection has the path of the socket that took it, and nobody can connect to it.  A line is
 * "Num: RefCount Protocol Flags Type St Inode Path": a stream or packets in order that are connected stay so. */
static bool fsguard_is_connection(const char *line, const char *path)
{
	static const char type[] = ": 00000000 00000000 00000000 "; /* as long as what is before */
	const char *at = strchr(line, ':');

	if (!at || path - at < (ptrdiff_t)(sizeof(type) + 7))
		return false;
	at += sizeof(type) - 1;
	return strncmp(at, "0001 03 ", 8) == 0 || strncmp(at, "0005 03 ", 8) == 0;
}

/*
 * Whoever may search a directory may connect to the sockets in it, read-only or not, and no namespace stands
 * between.  Grants seal Unix sockets altogether; of the system and of toolchains those are closed that are
 * bound now.  The kernel's list is that of our network namespace.  When it cannot be read, all are sealed.
 */
static int fsguard_deny_sockets(struct fsbuild *b)
{
	AUTO(fsguard_dirs_done) struct fsguard_dirs dirs = {.n = 0};
	AUTO_FREE char *text = NULL;
	char *rest;
	char *line;
	size_t len;
	int r = 0;

	if (b->plan->seals_unix)
		return 0;
	rest = native_ahead_sockets();
	if (!rest &&
	    io_read_file_at(AT_FDCWD, "/proc/net/unix", FSGUARD_SOCKETS_MAX, &text, &len) < 0) {
		b->plan->seals_unix = true;
		return 0;
	}
	if (!rest)
		rest = text;
	while (r == 0 && (line = strsep(&rest, "\n"))) {
		const char *path = strchr(line, '/'); /* no field before the last has one */
		AUTO_FREE char *real = NULL;
		struct stat st;

		if (!path || path == line || path[-1] != ' ' || fsguard_is_connection(line, path) ||
		    fsguard_resolve(&dirs, path, &real) < 0 || path_is_within(real, b->workspace) ||
		    !fsguard_is_granted(b, real) || fsguard_is_closed(b, real) ||
		    lstat(real, &st) < 0 || !S_ISSOCK(st.st_mode) ||
		    grants_has_socket(b->in->policy, real))
			continue;
		r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_DENY, .path = real});
	}
	return r;
}

/* The files that the policy in force was read from: who can write them decides about the next call.  Those that have
 * a name are there; a text of a program's own has a name that leads nowhere. */
static int fsguard_protect_policy(struct fsbuild *b)
{
	const struct strv *files = &b->in->policy->files;
	AUTO_FREE char *cwd = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->n; i++) {
		AUTO_FREE char *path = NULL;
		struct stat st;

		if (lstat(files->v[i], &st) < 0)
			continue;
		if (!cwd && !(cwd = getcwd(NULL, 0)))
			return cordon_fail_errno(b->err, errno, "protect '%s'", files->v[i]);
		if (path_join(cwd, files->v[i], &path) < 0)
			return cordon_nomem(b->err);
		r = fsguard_guard(b, PLAN_OP_PROTECT, "/", path, false);
	}
	return r;
}

int fsguard_all(struct fsbuild *b, size_t first, size_t last)
{
	int r;

	b->first_guard = b->plan->n;
	/* What is denied comes first: of two guards on one path the first one holds. */
	r = fsguard_add_denied(b);
	if (r == 0)
		r = fsguard_deny_sockets(b);
	if (r == 0)
		r = fsguard_walk_grants(b, first, last);
	if (r == 0)
		r = fsgit_protect_around(b);
	gitnamed_done(&b->person);
	if (r == 0)
		r = fsguard_protect_names(b, b->workspace);
	if (r == 0 && b->home && strcmp(b->home, b->workspace) != 0)
		r = fsguard_protect_names(b, b->home);
	if (r == 0)
		r = fsguard_protect_policy(b);
	if (r == 0)
		r = fsguard_add_listed(b, PLAN_OP_PROTECT, &b->in->policy->protected_paths);
	return r;
}
