/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See fsplan.h.  The order of the steps is the order of precedence: the system, then what is private, then
 * toolchains, then grants (parents before children), and last what is protected and denied, which nothing
 * covers again.
 */
#include "core/fsplan.h"

#include "base/glob.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/fsdeny.h"
#include "core/fsgitconfig.h"
#include "core/fsgrant.h"
#include "core/fsnames.h"
#include "core/grants.h"
#include "workspace/cow/cow.h"
#include "workspace/gitdir.h"
#include "workspace/protected.h"
#include "workspace/system.h"
#include "workspace/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FSPLAN_SOCKETS_MAX (4 << 20) /* of the kernel's list: some 40,000 sockets */

static const char *const fsplan_system_denied[] = {"/nix/var/nix/daemon-socket"}; /* sockets */

/* In mode full: made anew, or none of the call's business. */
static const char *const fsplan_full_skipped[] = {"dev", "proc", "sys", "run", "lost+found"};

struct builder {
	const struct fsplan_input *in;
	struct fsplan *plan;
	const char *home;      /* canonical, or NULL */
	const char *workspace; /* canonical */
	struct fsnames names;  /* in it */
	struct fsnames_home home_names;
	size_t first_guard; /* where the steps that protect and deny begin */
	bool notes_dirs;    /* the call may make repositories in what is walked */
	bool has_cow;       /* the workspace is written to a change set */
	struct cordon_error *err;
};

void fsplan_done(struct fsplan *p)
{
	free(p->ops);
	strv_done(&p->strings);
	newgit_done(&p->newgit);
	strv_done(&p->sensitive);
	*p = (struct fsplan){0};
}

int fsplan_append(struct fsplan *p, struct plan_op op)
{
	void *ops = p->ops;

	if (mem_grow(&ops, &p->cap, p->n + 1, sizeof(*p->ops), LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	p->ops = ops;
	if (strv_add(&p->strings, op.path) < 0 || (op.text && strv_add(&p->strings, op.text) < 0))
		return -ENOMEM;
	op.path = p->strings.v[p->strings.n - (op.text ? 2 : 1)];
	op.text = op.text ? p->strings.v[p->strings.n - 1] : NULL;
	p->ops[p->n++] = op;
	return 0;
}

static int fsplan_add(struct builder *b, struct plan_op op)
{
	return fsplan_append(b->plan, op) < 0 ? cordon_nomem(b->err) : 0;
}

static const char *fsplan_env(char *const *envp, const char *name)
{
	size_t len = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=')
			return *envp + len + 1;
	return NULL;
}

/* the system */

/* A top-level directory of the system, or the link that stands in its place. */
static int fsplan_top(struct builder *b, const char *path, enum plan_op_kind kind)
{
	char target[LIMIT_PATH_BYTES];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return fsplan_add(b, (struct plan_op){
					     .kind = kind,
					     .path = path,
					     .is_noexec = kind == PLAN_OP_BIND_RW &&
							  b->in->policy->write_xor_execute,
					     .is_public_only = b->in->is_root &&
							       kind == PLAN_OP_SYSTEM &&
							       (strcmp(path, "/etc") == 0 ||
								strcmp(path, "/opt") == 0),
				     });
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return cordon_fail_errno(b->err, errno, "read the link '%s'", path);
	target[n] = '\0';
	return fsplan_add(b,
			  (struct plan_op){.kind = PLAN_OP_SYMLINK, .path = path, .text = target});
}

static int fsplan_add_system(struct builder *b)
{
	for (size_t i = 0; i < SYSTEM_DIRS; i++) {
		int r = fsplan_top(b, system_dirs[i], PLAN_OP_SYSTEM);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Everything at the top of the file system but what is made anew. */
static int fsplan_add_full(struct builder *b)
{
	bool is_wx = b->in->policy->write_xor_execute;
	DIR *dir = opendir("/");
	const struct dirent *e;
	int r = 0;

	if (!dir)
		return cordon_fail_errno(b->err, errno, "list '/'");
	b->plan->seals_unix = true;
	while (r == 0 && (e = readdir(dir))) {
		struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
		bool skip = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;

		for (size_t i = 0; i < ARRAY_LEN(fsplan_full_skipped); i++)
			skip |= strcmp(e->d_name, fsplan_full_skipped[i]) == 0;
		if (skip)
			continue;
		buf_printf(&path, "/%s", e->d_name);
		/* What is writable is not executable then: the system has to be read-only. */
		r = buf_error(&path) < 0
			    ? cordon_nomem(b->err)
			    : fsplan_top(b, buf_cstr(&path),
					 is_wx && system_has(buf_cstr(&path)) ? PLAN_OP_BIND_RO
									      : PLAN_OP_BIND_RW);
		buf_done(&path);
	}
	(void)closedir(dir);
	return r;
}

/* home */

static int fsplan_gitconfig(struct builder *b)
{
	struct buf text = BUF_INIT(FSGITCONFIG_MAX);
	AUTO_FREE char *target = NULL;
	int r = fsgitconfig_write(b->in->policy, b->home, fsplan_env(b->in->envp, "SSH_AUTH_SOCK"),
				  &text);

	if (r == 0)
		r = path_join(b->home, ".gitconfig", &target);
	r = r < 0 ? cordon_fail_leaf(b->err, r, "git configuration")
		  : fsplan_add(b, (struct plan_op){.kind = PLAN_OP_FILE,
						   .path = target,
						   .text = buf_cstr(&text)});
	buf_done(&text);
	return r;
}

static int fsplan_grant_under_home(struct builder *b, const char *name)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *real = NULL;
	struct stat st;

	if (path_join(b->home, name, &path) < 0)
		return cordon_nomem(b->err);
	for (size_t i = 0; i < b->plan->n; i++)
		if (b->plan->ops[i].kind == PLAN_OP_BIND_RO &&
		    path_is_within(path, b->plan->ops[i].path))
			return 0;
	/* A link out of home would grant something else under this name. */
	if (path_resolve(path, &real) < 0)
		return cordon_nomem(b->err);
	if (strcmp(path, real) != 0 || lstat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return fsplan_add(b, (struct plan_op){.kind = PLAN_OP_BIND_RO, .path = real});
}

/* One entry of PATH below home. */
static int fsplan_toolchain(struct builder *b, const char *entry)
{
	const char *below = entry + strlen(b->home);
	int r;

	if (*below == '\0')
		return 0; /* home itself is not given away */
	below++;
	for (size_t i = 0; i < toolchain_root_count; i++) {
		const struct toolchain_root *t = &toolchain_roots[i];

		if (!path_is_within(below, t->root))
			continue;
		r = fsplan_grant_under_home(b, t->root);
		if (r == 0 && t->also)
			r = fsplan_grant_under_home(b, t->also);
		return r;
	}
	return fsplan_grant_under_home(b, below);
}

static int fsplan_add_toolchains(struct builder *b)
{
	const char *path = fsplan_env(b->in->envp, "PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		AUTO_FREE char *raw = strndup(path, len);
		AUTO_FREE char *entry = NULL;
		int r;

		path += len + (path[len] == ':');
		if (!raw)
			return cordon_nomem(b->err);
		if (path_normalise(raw, &entry) < 0 || !path_is_within(entry, b->home))
			continue; /* relative ones name nothing that is granted */
		r = fsplan_toolchain(b, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fsplan_add_private(struct builder *b)
{
	bool is_full = b->in->policy->fs_mode == FS_FULL;
	int r = fsplan_add(b, (struct plan_op){.kind = PLAN_OP_DEV, .path = "/dev"});

	if (r == 0)
		r = fsplan_add(b, (struct plan_op){.kind = PLAN_OP_PROC, .path = "/proc"});
	if (is_full)
		return r;
	if (r == 0)
		r = fsplan_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,
						   .path = "/tmp",
						   .mode = 01777,
						   .is_noexec = b->in->policy->write_xor_execute});
	if (r < 0 || !b->home || fsdeny_find(b->in->policy, b->home))
		return r;
	/* A home in /tmp (tests, containers) or elsewhere stands on what is there already. */
	r = fsplan_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,
					   .path = b->home,
					   .mode = 0700,
					   .is_noexec = b->in->policy->write_xor_execute});
	if (r == 0)
		r = fsplan_gitconfig(b);
	return r < 0 ? r : fsplan_add_toolchains(b);
}

/* grants */

static int fsplan_grant(struct builder *b, const char *path, bool is_rw)
{
	AUTO_FREE char *real = realpath(path, NULL);
	bool is_cow;
	int r;

	if (!real)
		return cordon_fail_errno(b->err, errno, "grant '%s'", path);
	/* What an earlier call may have made of a name in the workspace is not what was meant. */
	if (fsgrant_leads_out(b->workspace, path, real))
		return cordon_hint(b->err,
				   cordon_fail(b->err, CORDON_E_INVALID,
					       "grant '%s': a link leads out of the workspace",
					       path),
				   "grant '%s' by its own name", real);
	is_rw = is_rw && !path_is_read_only(real) && fsgrant_may_write(b->in->policy, real);
	r = fsgrant_check(real, is_rw, b->home, b->in->state_dir, b->err);
	if (r < 0)
		return r;
	/* What is denied is not granted; nor would a guard find it where a parent is closed. */
	if (fsdeny_find(b->in->policy, real))
		return 0;
	is_cow = is_rw && b->in->cow_dir && path_is_within(real, b->workspace) &&
		 !fsgrant_is_submount(b->in->policy, real);
	/* A part of it is in the change set with the whole. */
	if (is_cow && (b->has_cow || strcmp(real, b->workspace) != 0))
		return 0;
	b->has_cow |= is_cow;
	/* The writable workspace is an overlay, and nobody listens on the sockets of an overlay. */
	if (!is_rw || strcmp(real, b->workspace) != 0)
		b->plan->seals_unix = true;
	return fsplan_add(b,
			  (struct plan_op){.kind = is_cow  ? PLAN_OP_COW
						   : is_rw ? PLAN_OP_BIND_RW
							   : PLAN_OP_BIND_RO,
					   .path = real,
					   .text = is_cow ? b->in->cow_dir : NULL,
					   .is_copied = is_cow && b->in->policy->submounts.n > 0,
					   .is_noexec = is_rw && b->in->policy->write_xor_execute});
}

/* Writable paths that stay executable: whole grants, or parts of one as grants of their own. */
static int fsplan_add_executable(struct builder *b, size_t first)
{
	struct strv parts = {0};
	int r = fsgrant_executable(b->in->policy, b->plan->ops + first, b->plan->n - first, &parts,
				   b->err);

	if (r == 0 && b->has_cow)
		r = fsgrant_check_parts(&parts, b->workspace, b->err);
	for (size_t i = 0; r == 0 && i < parts.n; i++) {
		r = fsplan_grant(b, parts.v[i], true);
		if (r == 0)
			b->plan->ops[b->plan->n - 1].is_noexec = false;
	}
	strv_done(&parts);
	return r;
}

static int fsplan_add_grants(struct builder *b)
{
	const struct policy *p = b->in->policy;
	size_t first = b->plan->n;
	int r = 0;

	if (p->fs_mode == FS_DENY)
		return 0;
	if (p->fs_mode == FS_FULL) {
		/* Grants of their own, so that what is protected in them can be. */
		r = fsplan_grant(b, b->workspace, true);
		if (r == 0 && b->home && strcmp(b->home, b->workspace) != 0 &&
		    access(b->home, F_OK) == 0)
			r = fsplan_grant(b, b->home, true);
	}
	if (p->fs_mode == FS_READ_ONLY)
		r = fsplan_grant(b, b->workspace, false);
	for (size_t i = 0; r == 0 && i < p->mounts.n; i++) {
		const struct mount *m = p->mounts.records[i];

		r = fsplan_grant(b, m->path,
				 m->permissions == PERMISSION_RW && p->fs_mode != FS_READ_ONLY);
	}
	for (size_t i = 0; r == 0 && i < p->submounts.n; i++)
		if (!fsgrant_is_writable(p, p->submounts.items[i].text))
			r = fsplan_grant(b, p->submounts.items[i].text, false);
	if (r == 0)
		r = fsplan_add_executable(b, first);
	if (r == 0 && b->plan->n > first)
		qsort(b->plan->ops + first, b->plan->n - first, sizeof(*b->plan->ops),
		      fsgrant_by_path);
	return r;
}

/* A worktree's repository lies elsewhere; without it git does not work. */
static int fsplan_add_worktree(struct builder *b)
{
	const struct policy *p = b->in->policy;
	struct gitdir_link link;
	bool is_rw = p->git_commit && p->fs_mode == FS_SCOPED;
	int r;

	if (p->fs_mode == FS_DENY || p->fs_mode == FS_FULL)
		return 0;
	r = gitdir_follow(b->workspace, &link, b->err);
	if (r <= 0)
		return r;
	r = path_is_within(link.commondir, b->workspace) ? 0
							 : fsplan_grant(b, link.commondir, is_rw);
	gitdir_link_done(&link);
	return r;
}

/* guards */

/* Is there anything of the host's at or above path?  What is not there needs no guard. */
static bool fsplan_is_granted(const struct builder *b, const char *path)
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
static bool fsplan_is_closed(const struct builder *b, const char *path)
{
	for (size_t i = b->first_guard; i < b->plan->n; i++) {
		const struct plan_op *op = &b->plan->ops[i];

		if (op->kind == PLAN_OP_DENY && path_is_within(path, op->path) &&
		    strcmp(path, op->path) != 0)
			return true;
	}
	return false;
}

static int fsplan_guard_name(struct builder *b, enum plan_op_kind kind, const char *dir,
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
	if (fsplan_is_closed(b, path))
		return 0;
	r = !fsplan_is_granted(b, path)
		    ? 0
		    : fsplan_add(b,
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
	if (!fsplan_is_granted(b, real) || fsplan_is_closed(b, real))
		return 0;
	return fsplan_add(b, (struct plan_op){.kind = kind, .path = real, .is_dir = n->is_dir});
}

static int fsplan_guard(struct builder *b, enum plan_op_kind kind, const char *dir,
			const char *name, bool is_dir)
{
	return fsplan_guard_name(b, kind, dir,
				 &(struct protected_name){.name = name, .is_dir = is_dir});
}

/* A path as a configuration has it, counted from dir. */
static int fsplan_protect_from(struct builder *b, const char *dir, const char *name, bool is_dir)
{
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *path = NULL;

	if (*name == '~' || path_join(dir, name, &joined) < 0 || path_normalise(joined, &path) < 0)
		return 0; /* in home, which is private, or no path */
	return fsplan_guard(b, PLAN_OP_PROTECT, "/", path, is_dir);
}

/* What a configuration names acts like what it stands for.  Relative hooks are counted from the top of the
 * working tree: that of this repository, or of a worktree that is the workspace. */
static int fsplan_protect_configured(struct builder *b, const char *gitdir)
{
	const struct policy *p = b->in->policy;
	AUTO(gitdir_paths_done) struct gitdir_paths paths = {0};
	AUTO_FREE char *parent = strndup(gitdir, (size_t)(path_base(gitdir) - gitdir));
	int r = 0;

	if (!parent || gitdir_paths(gitdir, &paths) < 0 ||
	    strv_add(&paths.trees, b->workspace) < 0 ||
	    strv_add(&paths.trees, strcmp(path_base(gitdir), ".git") == 0 ? parent : gitdir) < 0)
		return cordon_nomem(b->err);
	for (size_t i = 0; r == 0 && !p->git_hooks && i < paths.hooks.n; i++)
		for (size_t k = 0; r == 0 && k < paths.trees.n; k++)
			r = fsplan_protect_from(b, paths.trees.v[k], paths.hooks.v[i], true);
	for (size_t i = 0; r == 0 && !p->git_config && i < paths.included.n; i++)
		r = fsplan_protect_from(b, "/", paths.included.v[i], false);
	return r;
}

static int fsplan_protect_gitdir(struct builder *b, const char *gitdir)
{
	const struct policy *p = b->in->policy;
	int r = 0;

	for (size_t i = 0; r == 0 && i < protected_git_name_count; i++) {
		const struct protected_name *n = &protected_git_names[i];

		if ((p->git_hooks && strcmp(n->name, "hooks") == 0) ||
		    (p->git_config && str_starts(n->name, "config")))
			continue;
		r = fsplan_guard_name(b, PLAN_OP_PROTECT, gitdir, n);
	}
	return r < 0 ? r : fsplan_protect_configured(b, gitdir);
}

static int fsplan_deny_matches(struct builder *b, const char *path, const struct walk_names *names)
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
				r = fsplan_guard(b, PLAN_OP_DENY, path, name, false);
				if (r < 0)
					return r;
			}
	}
	return 0;
}

/* A `.git` that is a file or a link says which configuration git obeys here.  Only itself: where it leads is
 * a git directory like others. */
static int fsplan_protect_pointer(struct builder *b, const char *path,
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
			return fsplan_add(b,
					  (struct plan_op){.kind = PLAN_OP_PROTECT, .path = full});
		}
	return 0;
}

/* One directory of a grant: git directories are protected, denied names denied. */
static int fsplan_visit(const char *path, const struct walk_names *names, void *arg,
			struct cordon_error *err)
{
	struct builder *b = arg;
	bool is_gitdir = gitdir_is(path, names);
	int r = fsplan_deny_matches(b, path, names);
	AUTO_FREE char *modules = NULL;
	AUTO_FREE char *worktrees = NULL;

	if (strcmp(path, b->workspace) == 0)
		fsnames_note(&b->names, names);
	if (r == 0)
		r = fsdeny_note_sensitive(&b->in->policy->taint_paths, path, names,
					  &b->plan->sensitive, err);
	if (r == 0)
		r = fsplan_protect_pointer(b, path, names);
	if (r == 0 && b->notes_dirs && newgit_note(&b->plan->newgit, path, is_gitdir) < 0)
		r = cordon_nomem(err);
	if (r < 0 || !is_gitdir)
		return r < 0 ? r : WALK_INTO;
	r = fsplan_protect_gitdir(b, path);
	/* Below it only those of submodules and worktrees are of interest. */
	if (r == 0 && (path_join(path, "modules", &modules) < 0 ||
		       path_join(path, "worktrees", &worktrees) < 0))
		r = cordon_nomem(err);
	if (r == 0)
		r = walk_tree(modules, fsplan_visit, b, err);
	if (r == 0)
		r = walk_tree(worktrees, fsplan_visit, b, err);
	return r < 0 ? r : WALK_SKIP;
}

static int fsplan_walk_grants(struct builder *b, size_t first, size_t last)
{
	bool has_globs = fsdeny_has_globs(b->in->policy);
	struct walk_options options = {
		.fn = fsplan_visit,
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

static int fsplan_protect_names(struct builder *b, const char *dir)
{
	for (size_t i = 0; i < protected_name_count; i++) {
		int r = fsplan_guard_name(b, PLAN_OP_PROTECT, dir, &protected_names[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* What the policy itself names.  A glob of a bare name at any depth also holds for a name at the top of
 * the workspace that does not exist yet; deeper ones are found by the walk. */
static int fsplan_add_listed(struct builder *b, enum plan_op_kind kind,
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
			r = fsplan_guard(b, kind, "/", text, false);
		else if (!glob_has_magic(base) && *base)
			r = fsplan_guard(b, kind, b->workspace, base, false);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fsplan_add_denied(struct builder *b)
{
	const char *own[] = {b->in->state_dir, b->in->config_dir, b->in->runtime_dir};
	int r = 0;

	if (b->home)
		fsnames_list_home(&b->home_names, b->home);
	for (size_t i = 0; r == 0 && b->home && i < credential_path_count; i++)
		r = fsplan_guard(b, PLAN_OP_DENY, b->home, credential_paths[i], false);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(fsplan_system_denied); i++)
		r = fsplan_guard(b, PLAN_OP_DENY, "/", fsplan_system_denied[i], true);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(own); i++)
		if (own[i])
			r = fsplan_guard(b, PLAN_OP_DENY, "/", own[i], true);
	return r < 0 ? r : fsplan_add_listed(b, PLAN_OP_DENY, &b->in->policy->denied);
}

/*
 * Whoever may search a directory may connect to the sockets in it, read-only or not, and no namespace stands
 * between.  Grants seal Unix sockets altogether; of the system and of toolchains those are closed that are
 * bound now.  The kernel's list is that of our network namespace.  When it cannot be read, all are sealed.
 */
static int fsplan_deny_sockets(struct builder *b)
{
	AUTO_FREE char *text = NULL;
	char *rest;
	char *line;
	size_t len;
	int r = 0;

	if (b->plan->seals_unix)
		return 0;
	if (io_read_file_at(AT_FDCWD, "/proc/net/unix", FSPLAN_SOCKETS_MAX, &text, &len) < 0) {
		b->plan->seals_unix = true;
		return 0;
	}
	rest = text;
	while (r == 0 && (line = strsep(&rest, "\n"))) {
		const char *path = strchr(line, '/'); /* no field before the last has one */
		AUTO_FREE char *real = NULL;
		struct stat st;

		if (!path || path == line || path[-1] != ' ' || path_resolve(path, &real) < 0 ||
		    path_is_within(real, b->workspace) || !fsplan_is_granted(b, real) ||
		    fsplan_is_closed(b, real) || lstat(real, &st) < 0 || !S_ISSOCK(st.st_mode) ||
		    grants_has_socket(b->in->policy, real))
			continue;
		r = fsplan_add(b, (struct plan_op){.kind = PLAN_OP_DENY, .path = real});
	}
	return r;
}

static int fsplan_add_op(void *arg, const struct plan_op *op)
{
	return fsplan_add(arg, *op);
}

static int fsplan_add_special(struct builder *b, size_t first, size_t last)
{
	const struct grants_input in = {
		.policy = b->in->policy,
		.workspace = b->workspace,
		.state_dir = b->in->state_dir,
		.add = fsplan_add_op,
		.arg = b,
	};
	int r = grants_seal(&in, b->plan->ops + first, last - first, b->err);

	/* Sealed one by one: then Unix sockets need not be taken away altogether. */
	if (in.policy->sockets.n > 0)
		b->plan->seals_unix = false;
	return r == 0 ? grants_add(&in, b->err) : r;
}

static int fsplan_all(struct builder *b)
{
	bool is_full = b->in->policy->fs_mode == FS_FULL;
	size_t first;
	size_t last;
	int r = is_full ? fsplan_add_full(b) : fsplan_add_system(b);

	if (r == 0)
		r = fsplan_add_private(b);
	first = b->plan->n;
	if (r == 0)
		r = fsplan_add_grants(b);
	if (r == 0)
		r = fsplan_add_worktree(b);
	last = b->plan->n;
	if (r == 0)
		r = fsplan_add_special(b, first, last);
	b->first_guard = b->plan->n;
	/* What is denied comes first: of two guards on one path the first one holds. */
	if (r == 0)
		r = fsplan_add_denied(b);
	if (r == 0)
		r = fsplan_deny_sockets(b);
	if (r == 0)
		r = fsplan_walk_grants(b, first, last);
	if (r == 0)
		r = fsplan_protect_names(b, b->workspace);
	if (r == 0 && b->home && strcmp(b->home, b->workspace) != 0)
		r = fsplan_protect_names(b, b->home);
	if (r == 0)
		r = fsplan_add_listed(b, PLAN_OP_PROTECT, &b->in->policy->protected_paths);
	return r;
}

int fsplan_build(const struct fsplan_input *in, struct fsplan *ret, struct cordon_error *err)
{
	const char *home = fsplan_env(in->envp, "HOME");
	AUTO_FREE char *real_home = NULL;
	AUTO_FREE char *workspace = NULL;
	const struct item *denied;
	struct builder b = {.in = in, .plan = ret, .err = err};

	*ret = (struct fsplan){0};
	/* A home that is the root, or no path at all, is nobody's. */
	if (home && home[0] == '/' && path_resolve(home, &real_home) == 0 &&
	    strcmp(real_home, "/") != 0)
		b.home = real_home;
	if (path_resolve(in->request->cwd, &workspace) < 0)
		return cordon_nomem(err);
	b.workspace = workspace;
	if (fsgrant_check_submounts(in->policy, in->cow_dir, err) < 0)
		return CORDON_E_UNSUPPORTED;
	denied = fsdeny_find(in->policy, workspace);
	if (denied)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "the working directory '%s' is denied by '%s'",
					       workspace, denied->raw),
				   "run elsewhere, or do not deny it");
	return fsplan_all(&b);
}
