/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See fsplan.h.  The order of the steps is the order of precedence: the system, then what is private, then
 * toolchains, then grants (parents before children), and last what is protected and denied, which nothing
 * covers again.
 */
#include "core/fsbuild.h"

#include "base/limits.h"
#include "base/path.h"
#include "core/fsdeny.h"
#include "core/fsgitconfig.h"
#include "core/fsgrant.h"
#include "core/grants.h"
#include "workspace/gitdir.h"
#include "workspace/protected.h"
#include "workspace/system.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In mode full: made anew, or none of the call's business. */
static const char *const fsplan_full_skipped[] = {"dev", "proc", "sys", "run", "lost+found"};

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
	int r = mem_grow(&ops, &p->cap, p->n + 1, sizeof(*p->ops), LIMIT_PLAN_OPS);

	if (r < 0)
		return r;
	p->ops = ops;
	r = strv_add(&p->strings, op.path);
	if (r == 0 && op.text)
		r = strv_add(&p->strings, op.text);
	if (r < 0)
		return r;
	op.path = p->strings.v[p->strings.n - (op.text ? 2 : 1)];
	op.text = op.text ? p->strings.v[p->strings.n - 1] : NULL;
	p->ops[p->n++] = op;
	return 0;
}

int fsbuild_add(struct fsbuild *b, struct plan_op op)
{
	int r = fsplan_append(b->plan, op);

	if (r != -E2BIG)
		return r < 0 ? cordon_nomem(b->err) : 0;
	/* An earlier call may have made so many repositories; who has to remove them must know which. */
	r = cordon_fail(b->err, CORDON_E_LIMIT,
			"more than %d paths to grant, deny or protect; the last is '%.300s'",
			LIMIT_PLAN_OPS, op.path);
	return cordon_hint(b->err, r, PLAN_HINT_TOO_MANY);
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
static int fsplan_top(struct fsbuild *b, const char *path, enum plan_op_kind kind)
{
	char target[LIMIT_PATH_BYTES];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return fsbuild_add(b, (struct plan_op){
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
	return fsbuild_add(b,
			   (struct plan_op){.kind = PLAN_OP_SYMLINK, .path = path, .text = target});
}

static int fsplan_add_system(struct fsbuild *b)
{
	for (size_t i = 0; i < SYSTEM_DIRS; i++) {
		int r = fsplan_top(b, system_dirs[i], PLAN_OP_SYSTEM);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Everything at the top of the file system but what is made anew. */
static int fsplan_add_full(struct fsbuild *b)
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

static int fsplan_gitconfig(struct fsbuild *b)
{
	struct buf text = BUF_INIT(FSGITCONFIG_MAX);
	AUTO_FREE char *target = NULL;
	int r = fsgitconfig_write(b->in->policy, b->home, fsplan_env(b->in->envp, "SSH_AUTH_SOCK"),
				  &text);

	if (r == 0)
		r = path_join(b->home, ".gitconfig", &target);
	r = r < 0 ? cordon_fail_leaf(b->err, r, "git configuration")
		  : fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_FILE,
						    .path = target,
						    .text = buf_cstr(&text)});
	buf_done(&text);
	return r;
}

static int fsplan_grant_under_home(struct fsbuild *b, const char *name)
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
	return fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_BIND_RO, .path = real});
}

/* One entry of PATH below home. */
static int fsplan_toolchain(struct fsbuild *b, const char *entry)
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

static int fsplan_add_toolchains(struct fsbuild *b)
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

static int fsplan_add_private(struct fsbuild *b)
{
	bool is_full = b->in->policy->fs_mode == FS_FULL;
	int r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_DEV, .path = "/dev"});

	if (r == 0)
		r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_PROC, .path = "/proc"});
	if (is_full)
		return r;
	if (r == 0)
		r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,
						    .path = "/tmp",
						    .mode = 01777,
						    .is_noexec = b->in->policy->write_xor_execute});
	if (r < 0 || !b->home || fsdeny_find(b->in->policy, b->home))
		return r;
	/* A home in /tmp (tests, containers) or elsewhere stands on what is there already. */
	r = fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,
					    .path = b->home,
					    .mode = 0700,
					    .is_noexec = b->in->policy->write_xor_execute});
	if (r == 0)
		r = fsplan_gitconfig(b);
	return r < 0 ? r : fsplan_add_toolchains(b);
}

/* In mode deny nothing of the user's is there.  The call starts in an empty directory in the place of its own. */
static int fsplan_add_empty(struct fsbuild *b)
{
	if (b->in->policy->fs_mode != FS_DENY || strcmp(b->workspace, "/") == 0 ||
	    system_has(b->workspace) || path_is_within(b->workspace, "/proc") ||
	    path_is_within(b->workspace, "/dev"))
		return 0;
	for (size_t i = 0; i < b->plan->n; i++)
		if (path_is_within(b->plan->ops[i].path, b->workspace))
			return 0; /* it is there, on the way to something */
	return fsbuild_add(b, (struct plan_op){.kind = PLAN_OP_TMPFS,
					       .path = b->workspace,
					       .mode = 0700,
					       .is_noexec = b->in->policy->write_xor_execute});
}

/* grants */

static int fsplan_grant(struct fsbuild *b, const char *path, bool is_rw)
{
	AUTO_FREE char *real = realpath(path, NULL);
	bool is_cow;
	int r;

	if (!real)
		return cordon_hint(
			b->err, cordon_fail_errno(b->err, errno, "grant '%s'", path),
			"what is granted has to be there: make it first, or take it out of "
			"--read, --write and mount_paths");
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
	return fsbuild_add(
		b, (struct plan_op){.kind = is_cow  ? PLAN_OP_COW
					    : is_rw ? PLAN_OP_BIND_RW
						    : PLAN_OP_BIND_RO,
				    .path = real,
				    .text = is_cow ? b->in->cow_dir : NULL,
				    .is_copied = is_cow && b->in->policy->submounts.n > 0,
				    .is_noexec = is_rw && b->in->policy->write_xor_execute});
}

/* Writable paths that stay executable: whole grants, or parts of one as grants of their own. */
static int fsplan_add_executable(struct fsbuild *b, size_t first)
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

static int fsplan_add_grants(struct fsbuild *b)
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
static int fsplan_add_worktree(struct fsbuild *b)
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

static int fsplan_add_op(void *arg, const struct plan_op *op)
{
	return fsbuild_add(arg, *op);
}

static int fsplan_add_special(struct fsbuild *b, size_t first, size_t last)
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

static int fsplan_all(struct fsbuild *b)
{
	bool is_full = b->in->policy->fs_mode == FS_FULL;
	size_t first;
	size_t last;
	int r = is_full ? fsplan_add_full(b) : fsplan_add_system(b);

	if (r == 0)
		r = fsplan_add_private(b);
	if (r == 0)
		r = fsplan_add_empty(b);
	first = b->plan->n;
	if (r == 0)
		r = fsplan_add_grants(b);
	if (r == 0)
		r = fsplan_add_worktree(b);
	last = b->plan->n;
	if (r == 0)
		r = fsplan_add_special(b, first, last);
	return r == 0 ? fsguard_all(b, first, last) : r;
}

int fsplan_build(const struct fsplan_input *in, struct fsplan *ret, struct cordon_error *err)
{
	const char *home = fsplan_env(in->envp, "HOME");
	AUTO_FREE char *real_home = NULL;
	AUTO_FREE char *workspace = NULL;
	const struct item *denied;
	struct fsbuild b = {.in = in, .plan = ret, .err = err};

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
