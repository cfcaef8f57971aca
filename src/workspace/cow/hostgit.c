/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See hostgit.h.  Changes come with parents before what is in them, so that the directories on the way to the last
 * path are mostly those on the way to the next one: each is looked at once.
 */
#include "workspace/cow/hostgit.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"
#include "workspace/gitdir.h"
#include "workspace/gitexec.h"
#include "workspace/protected.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTGIT_PROC_MAX 40
#define HOSTGIT_NAMES_MAX 256
#define HOSTGIT_SHOWN 3

void hostgit_done(struct hostgit *h)
{
	while (h->n > 0)
		free(h->v[--h->n].path);
}

/* By these a directory is git's; "config.worktree" and "hooks" only say more about one that is. */
static const char *const hostgit_parts[] = {
	"HEAD", "objects", "refs", "commondir", "gitdir", "config", "config.worktree", "hooks"};

bool hostgit_is(int dir, const char *name)
{
	struct buf names = BUF_INIT(HOSTGIT_NAMES_MAX);
	char path[HOSTGIT_PROC_MAX];
	bool is_gitdir = true;

	if (strcmp(name, ".git") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(hostgit_parts); i++)
		/* What cannot be looked at is taken to be there. */
		if (faccessat(dir, hostgit_parts[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		    errno != ENOENT)
			buf_add(&names, hostgit_parts[i], strlen(hostgit_parts[i]) + 1);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	if (buf_error(&names) == 0)
		is_gitdir = names.len > 0 &&
			    gitdir_is(path, &(struct walk_names){names.data, names.len});
	buf_done(&names);
	return is_gitdir;
}

/* Looks at one more directory.  1 when it is there, 0 when it is not, or -errno. */
static int hostgit_enter(struct hostgit *h, const char *path, size_t len)
{
	AUTO_FREE char *dir = strndup(path, len);
	AUTO_CLOSE int fd = -1;

	if (!dir)
		return -ENOMEM;
	if (h->n == ARRAY_LEN(h->v))
		return -ENAMETOOLONG;
	fd = path_open_beneath(h->workspace, len ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			       RESOLVE_NO_SYMLINKS);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return 0; /* nothing of the host's */
	if (fd < 0)
		return fd;
	h->v[h->n].is_gitdir = hostgit_is(fd, path_base(dir));
	h->v[h->n++].path = TAKE_PTR(dir);
	return 1;
}

static bool hostgit_is_in(const char *path, const char *dir)
{
	return !*dir || (path_is_within(path, dir) && strcmp(path, dir) != 0);
}

/* All directories on the way to path that the host has.  0 or -errno. */
static int hostgit_reach(struct hostgit *h, const char *path)
{
	size_t at;
	int r = 1;

	while (h->n > 0 && !hostgit_is_in(path, h->v[h->n - 1].path))
		free(h->v[--h->n].path);
	if (h->n == 0)
		r = hostgit_enter(h, path, 0);
	at = h->n > 0 ? strlen(h->v[h->n - 1].path) : 0;
	while (r > 0) {
		const char *slash = strchr(path + at + (at > 0), '/');

		if (!slash)
			break;
		at = (size_t)(slash - path);
		r = hostgit_enter(h, path, at);
	}
	return r < 0 ? r : 0;
}

int hostgit_holds_link(struct hostgit *h, const struct change *c)
{
	int r;

	if (c->op == CHANGE_DELETED || !S_ISLNK(c->now.st_mode) ||
	    (c->op == CHANGE_MODIFIED && !(c->what & (CHANGE_CONTENT | CHANGE_TYPE))))
		return 0;
	/* Also of one that is only being made. */
	if (str_starts(c->path, ".git/") || strstr(c->path, "/.git/"))
		return 1;
	r = hostgit_reach(h, c->path);
	for (size_t i = 0; r == 0 && i < h->n; i++)
		r = h->v[i].is_gitdir;
	return r;
}

int hostgit_protects(struct hostgit *h, const char *path, const char **ret)
{
	int r = hostgit_reach(h, path);

	if (r < 0)
		return r;
	for (size_t i = 0; i < h->n; i++) {
		size_t len = strlen(h->v[i].path);
		const char *rest = path + len + (len > 0);

		for (size_t k = 0; h->v[i].is_gitdir && k < protected_git_name_count; k++)
			if (path_is_within(rest, protected_git_names[k].name)) {
				*ret = h->v[i].path;
				return 1;
			}
	}
	return 0;
}

bool hostgit_is_part(const char *path)
{
	if (strcmp(path_base(path), ".git") == 0)
		return true; /* or one that leads to a repository elsewhere */
	for (size_t i = 0; i < ARRAY_LEN(hostgit_parts); i++)
		if (strcmp(path_base(path), hostgit_parts[i]) == 0)
			return true;
	return false;
}

static int hostgit_open(int root, const char *path)
{
	return path_open_beneath(root, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				 RESOLVE_NO_SYMLINKS);
}

int hostgit_note(int workspace, const char *path, struct strv *ret)
{
	AUTO_FREE char *dir = NULL;
	AUTO_CLOSE int fd = -1;

	if (!hostgit_is_part(path))
		return 0;
	dir = strndup(path, path_base(path) > path ? (size_t)(path_base(path) - path) - 1 : 0);
	if (!dir)
		return -ENOMEM;
	/* Its parts mostly follow each other. */
	if (ret->n > 0 && strcmp(ret->v[ret->n - 1], dir) == 0)
		return 0;
	fd = hostgit_open(workspace, dir);
	/* One that is there already is the person's, with what it runs; that part of it no commit changes. */
	return fd >= 0 && hostgit_is(fd, path_base(dir)) ? 0 : strv_add(ret, dir);
}

/* As a call sees the layer on top of the workspace: is the name there?  A device 0:0 stands for one that was deleted. */
static bool hostgit_has(int layer, int host, const char *name)
{
	struct stat st;

	if (layer >= 0 && fstatat(layer, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return !S_ISCHR(st.st_mode) || st.st_rdev != 0;
	return host >= 0 && fstatat(host, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int hostgit_find(int files, int workspace, const char *path, bool *ret_is_git, struct strv *ret)
{
	AUTO_CLOSE int layer = hostgit_open(files, path);
	AUTO_CLOSE int host = hostgit_open(workspace, path);
	struct buf names = BUF_INIT(HOSTGIT_NAMES_MAX);
	char dir[HOSTGIT_PROC_MAX];
	int r;

	for (size_t i = 0; i < ARRAY_LEN(hostgit_parts); i++)
		if (hostgit_has(layer, host, hostgit_parts[i]))
			buf_add(&names, hostgit_parts[i], strlen(hostgit_parts[i]) + 1);
	(void)snprintf(dir, sizeof(dir), "/proc/self/fd/%d", layer);
	*ret_is_git =
		strcmp(path_base(path), ".git") == 0 ||
		(names.len > 0 && gitdir_is(dir, &(struct walk_names){names.data, names.len}));
	r = buf_error(&names);
	buf_done(&names);
	if (r < 0 || !*ret_is_git)
		return r;
	/* Of either: which of them a part is in may change until it is committed. */
	r = layer >= 0 ? gitexec_find(dir, ret) : 0;
	(void)snprintf(dir, sizeof(dir), "/proc/self/fd/%d", host);
	return r == 0 && host >= 0 ? gitexec_find(dir, ret) : r;
}

/* Where the directory's `.git` leads, unless what is there knows it.  dir: as in /proc.  0, -ENOENT or another -errno. */
static int hostgit_elsewhere(const char *dir, char **ret)
{
	AUTO_FREE char *tree = NULL;
	AUTO_FREE char *gitdir = NULL;
	int r = path_resolve(dir, &tree);

	if (r == 0)
		r = gitdir_pointed(tree, &gitdir);
	if (r == 0 && gitdir_points_back(gitdir, tree))
		return -ENOENT;
	*ret = TAKE_PTR(gitdir);
	return r;
}

int hostgit_warn(int workspace, const char *path, struct strv *ret)
{
	AUTO_CLOSE int fd = hostgit_open(workspace, path);
	AUTO_FREE char *elsewhere = NULL;
	AUTO(strv_done) struct strv found = {0};
	struct buf line = BUF_INIT(LIMIT_PATH_BYTES * 2);
	char dir[HOSTGIT_PROC_MAX];
	int r;

	if (fd < 0)
		return 0;
	(void)snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fd);
	if (!hostgit_is(fd, path_base(path))) {
		r = hostgit_elsewhere(dir, &elsewhere);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
	}
	r = gitexec_find(elsewhere ? elsewhere : dir, &found);
	if (r < 0 || found.n == 0)
		return r;
	buf_printf(&line,
		   elsewhere ? "%s: a new working tree of a repository in which git runs commands:"
			     : "%s: a new repository in which git runs commands:",
		   *path ? path : ".");
	for (size_t i = 0; i < found.n && i < HOSTGIT_SHOWN; i++)
		buf_printf(&line, "%s %s", i ? "," : "", found.v[i]);
	if (found.n > HOSTGIT_SHOWN)
		buf_str(&line, ", …");
	r = buf_error(&line) < 0 ? -ENOMEM : 0;
	if (r == 0 && !strv_has(ret, buf_cstr(&line)))
		r = strv_add(ret, buf_cstr(&line));
	buf_done(&line);
	return r;
}
