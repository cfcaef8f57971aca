/* SPDX-License-Identifier: Apache-2.0 */
/* See gitdir.h. */
#include "workspace/gitdir.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Every configuration that git writes has this, and no call can change one that is protected. */
static bool gitdir_has_config(const char *path)
{
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *text = NULL;
	size_t len;

	return path_join(path, "config", &file) == 0 &&
	       io_read_file_at(AT_FDCWD, file, LIMIT_MANIFEST_BYTES, &text, &len) == 0 &&
	       memmem(text, len, "repositoryformatversion", strlen("repositoryformatversion"));
}

bool gitdir_is(const char *path, const struct walk_names *names)
{
	bool head = false, objects = false, refs = false, common = false, back = false;
	bool config = false;

	if (strcmp(path_base(path), ".git") == 0)
		return true;
	for
		WALK_EACH(name, names)
		{
			head |= strcmp(name, "HEAD") == 0;
			objects |= strcmp(name, "objects") == 0;
			refs |= strcmp(name, "refs") == 0;
			common |= strcmp(name, "commondir") == 0;
			back |= strcmp(name, "gitdir") == 0;
			config |= strcmp(name, "config") == 0;
		}
	return (head && ((objects && refs) || common)) || (common && back) ||
	       (config && gitdir_has_config(path));
}

void gitdir_link_done(struct gitdir_link *l)
{
	free(l->gitdir);
	free(l->commondir);
	*l = (struct gitdir_link){0};
}

/* The one line of dir/name, without the end of line. */
static int gitdir_line(const char *dir, const char *name, char **ret)
{
	AUTO_FREE char *path = NULL;
	size_t len;
	int r = path_join(dir, name, &path);

	if (r < 0)
		return r;
	r = io_read_file_at(AT_FDCWD, path, LIMIT_PATH_BYTES, ret, &len);
	if (r < 0)
		return r;
	while (len && ((*ret)[len - 1] == '\n' || (*ret)[len - 1] == '\r'))
		(*ret)[--len] = '\0';
	if (strlen(*ret) == len && len > 0)
		return 0;
	free(*ret);
	*ret = NULL;
	return -EINVAL;
}

/* A path in a line, counted from dir, as the kernel would reach it. */
static int gitdir_target(const char *dir, const char *line, char **ret)
{
	AUTO_FREE char *path = NULL;
	int r = path_join(dir, line, &path);

	return r < 0 ? r : path_resolve(path, ret);
}

bool gitdir_points_back(const char *gitdir, const char *workspace)
{
	AUTO_FREE char *line = NULL;
	AUTO_FREE char *back = NULL;
	AUTO_FREE char *own = NULL;

	return gitdir_line(gitdir, "gitdir", &line) == 0 &&
	       gitdir_target(gitdir, line, &back) == 0 && path_join(workspace, ".git", &own) == 0 &&
	       strcmp(back, own) == 0;
}

/*
 * Is common a repository, and gitdir what it keeps about one worktree?  The pointers alone prove nothing when
 * gitdir lies in the workspace: a call may have written all of them, and any directory above would be
 * granted.  What git makes is at a fixed place in a directory that has a repository's parts.
 */
static bool gitdir_belongs(const char *gitdir, const char *common, const char *workspace)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};
	size_t len = strlen(common);

	if (path_is_within(gitdir, workspace) || !path_is_within(gitdir, common) ||
	    strncmp(gitdir + len, "/worktrees/", strlen("/worktrees/")) != 0 ||
	    strchr(gitdir + len + strlen("/worktrees/"), '/'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		AUTO_FREE char *path = NULL;
		struct stat st;

		if (path_join(common, parts[i], &path) < 0 || lstat(path, &st) < 0)
			return false;
	}
	return true;
}

int gitdir_follow(const char *workspace, struct gitdir_link *ret, struct cordon_error *err)
{
	AUTO_FREE char *line = NULL;
	AUTO_FREE char *common = NULL;
	AUTO_FREE char *path = NULL;
	struct gitdir_link l = {0};
	struct stat st;
	int r = path_join(workspace, ".git", &path);

	if (r < 0)
		return cordon_fail_leaf(err, r, "'%s'", workspace);
	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode))
		return 0;
	r = gitdir_line(workspace, ".git", &line);
	if (r < 0 || !str_starts(line, "gitdir: "))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%s' is no pointer to a git directory", path),
				   "repair or remove it");
	r = gitdir_target(workspace, line + strlen("gitdir: "), &l.gitdir);
	if (r == 0 && gitdir_points_back(l.gitdir, workspace) &&
	    gitdir_line(l.gitdir, "commondir", &common) == 0 &&
	    gitdir_target(l.gitdir, common, &l.commondir) == 0 &&
	    gitdir_belongs(l.gitdir, l.commondir, workspace)) {
		*ret = l;
		return 1;
	}
	gitdir_link_done(&l);
	return 0;
}

int gitdir_pointed(const char *tree, char **ret)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *line = NULL;
	struct stat st;
	int r = path_join(tree, ".git", &path);

	if (r < 0)
		return r;
	if (lstat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return -ENOENT;
	if (S_ISLNK(st.st_mode))
		return path_resolve(path, ret);
	r = gitdir_line(tree, ".git", &line);
	if (r < 0)
		return r;
	return str_starts(line, "gitdir: ") ? gitdir_target(tree, line + strlen("gitdir: "), ret)
					    : -EINVAL;
}

int gitdir_common(const char *gitdir, char **ret)
{
	AUTO_FREE char *line = NULL;
	int r = gitdir_line(gitdir, "commondir", &line);

	return r < 0 ? r : gitdir_target(gitdir, line, ret);
}

bool gitdir_owns_tree(const char *gitdir, const char *tree)
{
	AUTO_FREE char *top = NULL;
	AUTO_FREE char *own = NULL;
	AUTO_FREE char *line = NULL;
	AUTO_FREE char *back = NULL;
	AUTO_FREE char *real = NULL;

	if (gitdir_target(gitdir, tree, &top) < 0 || path_resolve(gitdir, &real) < 0 ||
	    path_join(top, ".git", &own) < 0)
		return false;
	if (strcmp(own, real) == 0)
		return true;
	return gitdir_line(top, ".git", &line) == 0 && str_starts(line, "gitdir: ") &&
	       gitdir_target(top, line + strlen("gitdir: "), &back) == 0 && strcmp(back, real) == 0;
}
