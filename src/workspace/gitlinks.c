/* SPDX-License-Identifier: Apache-2.0 */
/* See gitlinks.h.  A link is found by the kind that its directory says, and most directories need not be read: one that has not
 * changed has no new link, and one without directories in it leads to none. */
#include "workspace/gitlinks.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/protected.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GITLINKS_SHOWN 200 /* bytes of a path that are shown */

struct gitlinks {
	const char *gitdir;
	char *real; /* of gitdir */
	int64_t since_s;
	size_t names;
	struct strv *found;
};

/* Directories in which git makes names, and how deep. */
static const struct {
	const char *name;
	int depth;
} gitlinks_dirs[] = {{"logs", LIMIT_WALK_DEPTH}, {"refs", LIMIT_WALK_DEPTH}, {"objects", 0}};

/* Is the target in this directory, nothing protected, and where a link that takes its place would be found, too? */
static bool gitlinks_is_inside(const struct gitlinks *g, const char *target)
{
	const char *rest = target + strlen(g->real);

	if (!path_is_within(target, g->real))
		return false;
	rest += *rest == '/';
	for (size_t i = 0; i < protected_git_name_count; i++)
		if (path_is_within(rest, protected_git_names[i].name))
			return false;
	return !strchr(rest, '/') || path_is_within(rest, "logs") || path_is_within(rest, "refs");
}

static int gitlinks_link(struct gitlinks *g, int dir, const char *name, const char *relative)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *target = NULL;
	struct stat st;
	int r;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode) ||
	    st.st_ctim.tv_sec < g->since_s || g->found->n >= GITLINKS_FOUND_MAX)
		return 0;
	r = path_join(g->gitdir, relative, &path);
	if (r == 0)
		r = path_resolve(path, &target);
	if (r < 0)
		return r == -ENOMEM
			       ? r
			       : 0; /* in a circle, or too long: nothing can be written there */
	if (gitlinks_is_inside(g, target))
		return 0;
	return strv_addf(g->found, "%.*s -> %.*s", GITLINKS_SHOWN, relative, GITLINKS_SHOWN,
			 target);
}

/* The same for all names of a directory.  depth: how many levels more are looked at; -1: the top. */
static int gitlinks_dir(struct gitlinks *g, int at, const char *name, const char *relative,
			int depth)
{
	const struct dirent *e;
	struct stat st;
	DIR *d;
	int fd;
	int r = 0;

	/* Most are of no interest and are not opened: where directories are counted by their links, two are those of one that
	 * has no other in it. */
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    (st.st_ctim.tv_sec < g->since_s && (depth == 0 || st.st_nlink == 2)))
		return 0;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		(void)fd_close(fd);
		return 0;
	}
	while (r == 0 && g->names < GITLINKS_NAMES_MAX && (e = readdir(d))) {
		AUTO_FREE char *sub = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		g->names++;
		if (e->d_type != DT_LNK && e->d_type != DT_UNKNOWN &&
		    (e->d_type != DT_DIR || depth == 0))
			continue;
		if (asprintf(&sub, "%s%s%s", relative, *relative ? "/" : "", e->d_name) < 0) {
			sub = NULL;
			r = -ENOMEM;
			break;
		}
		if (e->d_type != DT_DIR)
			r = gitlinks_link(g, fd, e->d_name, sub);
		for (size_t i = 0; r == 0 && depth < 0 && i < ARRAY_LEN(gitlinks_dirs); i++)
			if (strcmp(e->d_name, gitlinks_dirs[i].name) == 0)
				r = gitlinks_dir(g, fd, e->d_name, sub, gitlinks_dirs[i].depth);
		if (r == 0 && depth > 0 && e->d_type != DT_LNK)
			r = gitlinks_dir(g, fd, e->d_name, sub, depth - 1);
	}
	(void)closedir(d);
	return r;
}

int gitlinks_find(const char *gitdir, int64_t since_s, struct strv *ret)
{
	AUTO_FREE char *real = NULL;
	struct gitlinks g = {.gitdir = gitdir, .since_s = since_s, .found = ret};
	int r = path_resolve(gitdir, &real);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	g.real = real;
	r = gitlinks_dir(&g, AT_FDCWD, gitdir, "", -1);
	if (r == 0 && g.names >= GITLINKS_NAMES_MAX)
		r = strv_addf(ret, "more than %d names, of which not all were looked at",
			      GITLINKS_NAMES_MAX);
	return r;
}
