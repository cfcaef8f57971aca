/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that every sandbox adds to a policy: credentials, which stay closed whatever is granted,
 * and names that stay as they are although the directory around them may be written.  The same rows
 * that fsguard.c makes its guards of.  Git directories count where they exist now.
 */
#include "core/why_answer.h"

#include "base/limits.h"
#include "base/path.h"
#include "workspace/gitnamed.h"
#include "workspace/protected.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The part of path below dir, or NULL. */
static const char *why_below(const char *path, const char *dir)
{
	size_t len = dir ? strlen(dir) : 0;

	return len > 1 && path_is_within(path, dir) && path[len] == '/' ? path + len + 1 : NULL;
}

static bool why_is_credential(struct why *w, const char *prefix, const char *name)
{
	why_decide_builtin(w, WHY_DENY, "built-in table of credentials '");
	buf_printf(&w->rule, "%s%s'", prefix, name);
	buf_str(&w->remedy, "none: credentials stay closed whatever is granted; "
			    "pass what is needed with --secret");
	return true;
}

static bool why_table_credential(struct why *w, const char *path, const char *home)
{
	const char *below = why_below(path, home);

	for (size_t i = 0; below && i < credential_path_count; i++)
		if (path_is_within(below, credential_paths[i]))
			return why_is_credential(w, "~/", credential_paths[i]);
	for (size_t i = 0; i < system_credential_path_count; i++)
		if (path_is_within(path, system_credential_paths[i]))
			return why_is_credential(w, "", system_credential_paths[i]);
	return false;
}

static bool why_table_name(struct why *w, const char *path, const char *dir)
{
	const char *below = why_below(path, dir);

	for (size_t i = 0; below && i < protected_name_count; i++)
		if (path_is_within(below, protected_names[i].name)) {
			why_decide_builtin(w, WHY_DENY, "built-in table of protected names '");
			buf_printf(&w->rule, "%s'", protected_names[i].name);
			buf_str(&w->remedy,
				"none: programs of the host act on it; write it outside a sandbox");
			return true;
		}
	return false;
}

/* What opens a name in a git directory; POLICY_ROWS when nothing does. */
static enum policy_row why_git_row(const char *name)
{
	if (strcmp(name, "hooks") == 0)
		return POLICY_GIT_HOOKS;
	return str_starts(name, "config") ? POLICY_GIT_CONFIG : POLICY_ROWS;
}

static void why_git_remedy(struct why *w, enum policy_row row)
{
	const char *path;
	const char *key;

	if (row == POLICY_ROWS) {
		buf_str(&w->remedy, "none: git on the host acts on it");
		return;
	}
	path = shape_policy.fields[row].path;
	key = strrchr(path, '.');
	buf_printf(&w->remedy, "%s: true", path);
	buf_add(&w->under, path, (size_t)(key - path));
	buf_printf(&w->yaml, "%s: true", key + 1);
}

static bool why_table_git(struct why *w, const struct policy *p, const char *path)
{
	for (const char *at = path; (at = strstr(at, "/.git/")); at++) {
		const char *name = at + strlen("/.git/");
		size_t len = (size_t)(name - 1 - path);
		char gitdir[LIMIT_PATH_BYTES];
		struct stat st;

		if (len >= sizeof(gitdir))
			return false;
		memcpy(gitdir, path, len);
		gitdir[len] = '\0';
		if (lstat(gitdir, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		for (size_t i = 0; i < protected_git_name_count; i++) {
			const char *row_name = protected_git_names[i].name;
			enum policy_row row = why_git_row(row_name);

			if (!path_is_within(name, row_name) ||
			    (row == POLICY_GIT_HOOKS && p->git_hooks) ||
			    (row == POLICY_GIT_CONFIG && p->git_config))
				continue;
			if (row != POLICY_ROWS && policy_is_written(p, row))
				why_decide(w, WHY_DENY, row, NULL, &p->origin[row]);
			else {
				why_decide_builtin(w, WHY_DENY, "built-in protection of '");
				buf_printf(&w->rule, "%s/%s'", gitdir, row_name);
			}
			why_git_remedy(w, row);
			return true;
		}
	}
	return false;
}

/* Is path, counted from tree, one of the names, or below it? */
static bool why_is_named(const struct strv *names, const char *tree, const char *path)
{
	for (size_t i = 0; i < names->n; i++) {
		/* Behind a variable the slash is the tree's. */
		for (const char *name = names->v[i];; name++) {
			AUTO_FREE char *joined = NULL;
			AUTO_FREE char *full = NULL;

			if (path_join(tree, name, &joined) == 0 &&
			    path_normalise(joined, &full) == 0 && strcmp(full, tree) != 0 &&
			    path_is_within(path, full))
				return true;
			if (*name != '/')
				break;
		}
	}
	return false;
}

/* What a configuration of git names: fsgit.c protects it. */
static bool why_table_named(struct why *w, const struct policy *p, const struct policy_context *c,
			    const char *path)
{
	AUTO_FREE char *tree = strdup(path);
	AUTO(gitnamed_done) struct gitnamed named = {0};
	enum policy_row row = POLICY_ROWS;

	for (char *slash;
	     tree && row == POLICY_ROWS && (slash = strrchr(tree, '/')) && slash > tree;) {
		AUTO_FREE char *gitdir = NULL;
		struct stat st;

		*slash = '\0';
		if (path_join(tree, ".git", &gitdir) < 0 || lstat(gitdir, &st) < 0 ||
		    !S_ISDIR(st.st_mode) || gitnamed_read_dir(gitdir, c->home, &named) < 0 ||
		    gitnamed_read_person(c->home, &named) < 0)
			continue;
		if (!p->git_hooks && why_is_named(&named.hooks, tree, path))
			row = POLICY_GIT_HOOKS;
		else if (!p->git_config && (why_is_named(&named.included, tree, path) ||
					    why_is_named(&named.programs, tree, path)))
			row = POLICY_GIT_CONFIG;
	}
	if (row == POLICY_ROWS)
		return false;
	why_decide_builtin(w, WHY_DENY, "built-in: git's configuration of '");
	buf_printf(&w->rule, "%s' names it", tree);
	why_git_remedy(w, row);
	return true;
}

/* The files that the policy was read from. */
static bool why_table_policy(struct why *w, const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->files.n; i++) {
		AUTO_FREE char *cwd = getcwd(NULL, 0);
		AUTO_FREE char *named = NULL;
		AUTO_FREE char *real = NULL;

		if (!cwd || path_join(cwd, p->files.v[i], &named) < 0 ||
		    path_resolve(named, &real) < 0 ||
		    (strcmp(path, named) != 0 && strcmp(path, real) != 0))
			continue;
		why_decide_builtin(w, WHY_DENY, "built-in: the policy in force is read from it");
		buf_str(&w->remedy,
			"none: it decides about the next call; write it outside a sandbox");
		return true;
	}
	return false;
}

bool why_by_table(struct why *w, const struct policy *p, const struct policy_context *c,
		  const char *path, bool write)
{
	if (why_table_credential(w, path, c->home))
		return true;
	if (!write)
		return false;
	return why_table_name(w, path, c->workspace) || why_table_name(w, path, c->home) ||
	       why_table_git(w, p, path) || why_table_named(w, p, c, path) ||
	       why_table_policy(w, p, path);
}
