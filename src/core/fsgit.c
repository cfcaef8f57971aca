/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git on the host reads, and what its configuration names: protected in every repository that a call could write to.
 * A file that a configuration names is run by the person's next git command, so it is as good as the configuration.
 */
#include "core/fsgit.h"

#include "base/path.h"
#include "workspace/gitnamed.h"
#include "workspace/protected.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Can the call write there?  Of the last grant around it. */
static bool fsgit_is_writable(const struct fsbuild *b, const char *path)
{
	const struct plan_op *nearest = NULL;

	for (size_t i = 0; i < b->first_guard; i++) {
		const struct plan_op *op = &b->plan->ops[i];

		if (path_is_within(path, op->path) &&
		    (!nearest || strlen(op->path) >= strlen(nearest->path)))
			nearest = op;
	}
	return nearest && plan_op_is_writable(nearest->kind);
}

/* Most of what is named are programs of the system, which are not worth a mount each. */
static int fsgit_protect(struct fsbuild *b, const char *path, bool is_dir)
{
	AUTO_FREE char *real = NULL;

	if (!fsgit_is_writable(b, path) &&
	    (path_resolve(path, &real) < 0 || !fsgit_is_writable(b, real)))
		return 0;
	return fsguard_protect(b, path, is_dir);
}

/* A path as a configuration has it, counted from dir. */
static int fsgit_protect_from(struct fsbuild *b, const char *dir, const char *name, bool is_dir)
{
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *path = NULL;

	if (*name == '~' || path_join(dir, name, &joined) < 0 || path_normalise(joined, &path) < 0)
		return 0; /* somebody else's home, or no path */
	return fsgit_protect(b, path, is_dir);
}

/* A word of a command.  Directories are left alone: "cd tools && make" names one.  What is not there is taken for a file
 * only where it is written as a path in a directory that there is. */
static int fsgit_protect_word(struct fsbuild *b, const char *dir, const char *word)
{
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *parent = NULL;
	struct stat st;

	if (path_join(dir, word, &joined) < 0 || path_normalise(joined, &path) < 0)
		return 0;
	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode) ? fsgit_protect(b, path, /* is_dir= */ false) : 0;
	if (!strchr(word, '/'))
		return 0;
	parent = strndup(path, (size_t)(path_base(path) - path));
	if (!parent)
		return cordon_nomem(b->err);
	return stat(parent, &st) == 0 && S_ISDIR(st.st_mode)
		       ? fsgit_protect(b, path, /* is_dir= */ false)
		       : 0;
}

static int fsgit_protect_named(struct fsbuild *b, const struct gitnamed *named,
			       const struct strv *trees)
{
	const struct policy *p = b->in->policy;
	int r = 0;

	for (size_t i = 0; r == 0 && !p->git_hooks && i < named->hooks.n; i++)
		for (size_t k = 0; r == 0 && k < trees->n; k++)
			r = fsgit_protect_from(b, trees->v[k], named->hooks.v[i], true);
	for (size_t i = 0; r == 0 && !p->git_config && i < named->included.n; i++)
		r = fsgit_protect_from(b, "/", named->included.v[i], false);
	for (size_t i = 0; r == 0 && !p->git_config && i < named->programs.n; i++)
		for (size_t k = 0; r == 0 && k < trees->n; k++) {
			const char *word = named->programs.v[i];

			r = fsgit_protect_word(b, trees->v[k], word);
			while (*word == '/') /* behind a variable */
				word++;
			if (r == 0 && word != named->programs.v[i])
				r = fsgit_protect_word(b, trees->v[k], word);
		}
	return r;
}

static int fsgit_fail(struct fsbuild *b, int r, const char *whose)
{
	if (r != -E2BIG)
		return cordon_nomem(b->err);
	r = cordon_fail(b->err, CORDON_E_LIMIT,
			"git's configuration of '%s' names more than %d files", whose,
			GITNAMED_PROGRAMS_MAX);
	return cordon_hint(b->err, r,
			   "sandbox.capabilities.git.write_config protects none of them");
}

/* The person's own configuration holds in every repository. */
static int fsgit_person(struct fsbuild *b, const struct strv *trees)
{
	if (!b->has_person && !(b->in->policy->git_hooks && b->in->policy->git_config)) {
		int r = gitnamed_read_person(b->home, &b->person);

		if (r < 0)
			return fsgit_fail(b, r, b->home ? b->home : "/etc");
		b->has_person = true;
	}
	return fsgit_protect_named(b, &b->person, trees);
}

/* What a configuration names acts like what it stands for.  Relative names are counted from the top of the
 * working tree: that of this repository, or of a worktree that is the workspace. */
static int fsgit_configured(struct fsbuild *b, const char *gitdir, const char *tree)
{
	AUTO(gitnamed_done) struct gitnamed named = {0};
	int r = gitnamed_read_dir(gitdir, b->home, &named);

	if (r == 0)
		r = strv_add(&named.trees, b->workspace);
	if (r == 0 && strcmp(tree, b->workspace) != 0)
		r = strv_add(&named.trees, tree);
	if (r < 0)
		return fsgit_fail(b, r, gitdir);
	r = fsgit_protect_named(b, &named, &named.trees);
	return r < 0 ? r : fsgit_person(b, &named.trees);
}

int fsgit_protect_dir(struct fsbuild *b, const char *gitdir)
{
	const struct policy *p = b->in->policy;
	AUTO_FREE char *parent = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < protected_git_name_count; i++) {
		const struct protected_name *n = &protected_git_names[i];

		if ((p->git_hooks && strcmp(n->name, "hooks") == 0) ||
		    (p->git_config && str_starts(n->name, "config")))
			continue;
		r = fsguard_protect_name(b, gitdir, n);
	}
	if (r < 0)
		return r;
	parent = strndup(gitdir, (size_t)(path_base(gitdir) - gitdir));
	if (!parent)
		return cordon_nomem(b->err);
	return fsgit_configured(b, gitdir,
				strcmp(path_base(gitdir), ".git") == 0 ? parent : gitdir);
}

int fsgit_protect_around(struct fsbuild *b)
{
	AUTO_FREE char *dir = strdup(b->workspace);
	const struct strv here = {.v = (char *[]){dir, NULL}, .n = 1};
	int r;

	if (!dir)
		return cordon_nomem(b->err);
	r = fsgit_person(b, &here);
	for (char *slash = strrchr(dir, '/'); r == 0 && slash && slash > dir;
	     slash = strrchr(dir, '/')) {
		AUTO_FREE char *gitdir = NULL;
		struct stat st;

		*slash = '\0';
		if (path_join(dir, ".git", &gitdir) < 0)
			return cordon_nomem(b->err);
		if (lstat(gitdir, &st) == 0 && S_ISDIR(st.st_mode))
			return fsgit_configured(b, gitdir, dir);
	}
	return r;
}
