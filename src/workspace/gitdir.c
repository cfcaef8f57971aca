/* SPDX-License-Identifier: Apache-2.0 */
/* See gitdir.h. */
#include "workspace/gitdir.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool gitdir_is(const struct walk_names *names)
{
	bool head = false, objects = false, refs = false, common = false;

	for
		WALK_EACH(name, names)
		{
			head |= strcmp(name, "HEAD") == 0;
			objects |= strcmp(name, "objects") == 0;
			refs |= strcmp(name, "refs") == 0;
			common |= strcmp(name, "commondir") == 0;
		}
	return head && ((objects && refs) || common);
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

/* Does gitdir say that workspace/.git belongs to it? */
static bool gitdir_points_back(const char *gitdir, const char *workspace)
{
	AUTO_FREE char *line = NULL;
	AUTO_FREE char *back = NULL;
	AUTO_FREE char *own = NULL;

	return gitdir_line(gitdir, "gitdir", &line) == 0 &&
	       gitdir_target(gitdir, line, &back) == 0 && path_join(workspace, ".git", &own) == 0 &&
	       strcmp(back, own) == 0;
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
	    path_is_within(l.gitdir, l.commondir)) {
		*ret = l;
		return 1;
	}
	gitdir_link_done(&l);
	return 0;
}

int gitdir_hooks_path(const char *gitdir, struct strv *ret)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	char *save = NULL;
	size_t len;
	int r = path_join(gitdir, "config", &path);

	if (r < 0)
		return r;
	if (io_read_file_at(AT_FDCWD, path, LIMIT_MANIFEST_BYTES, &text, &len) < 0)
		return 0; /* git cannot read it either */
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		while (isspace((unsigned char)*line))
			line++;
		if (strncasecmp(line, "hookspath", strlen("hookspath")) != 0)
			continue;
		line = strchr(line, '=');
		if (!line)
			continue;
		line += strspn(line, "= \t\"");
		line[strcspn(line, "\"\r#;")] = '\0';
		len = strlen(line);
		while (len && isspace((unsigned char)line[len - 1]))
			line[--len] = '\0';
		if (len && strv_add(ret, line) < 0)
			return -ENOMEM;
	}
	return 0;
}
