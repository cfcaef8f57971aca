/* SPDX-License-Identifier: Apache-2.0 */
/* See tree.h. */
#include "workspace/snap/tree.h"

#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void snap_trees_done(struct snap_trees *t)
{
	strv_done(&t->text);
	t->n = 0;
}

int snap_tree_path(const char *tree, const char *path, char **ret)
{
	if (asprintf(ret, "%s%s%s", tree[1] ? tree : *path ? "" : "/", *path ? "/" : "", path) < 0)
		return -ENOMEM;
	return 0;
}

/* Adds path, or its directory and its last part. */
static int trees_add(struct snap_trees *t, const char *path)
{
	struct stat st;
	const char *slash = strrchr(path, '/');
	bool is_dir = lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
	int r;

	if (is_dir || !slash[1]) {
		r = strv_add(&t->text, path);
		if (r == 0)
			r = strv_add(&t->text, "");
	} else {
		r = strv_addf(&t->text, "%.*s", slash == path ? 1 : (int)(slash - path), path);
		if (r == 0)
			r = strv_add(&t->text, slash + 1);
	}
	if (r == 0)
		t->n++;
	return r;
}

static bool trees_covers(char *const *paths, size_t n, size_t which)
{
	for (size_t i = 0; i < n; i++)
		if (i != which && path_is_within(paths[which], paths[i]) &&
		    (strcmp(paths[which], paths[i]) != 0 || i < which)) {
			struct stat st;

			if (lstat(paths[i], &st) == 0 && S_ISDIR(st.st_mode))
				return true;
			if (strcmp(paths[which], paths[i]) == 0)
				return true;
		}
	return false;
}

int snap_trees_make(const char *const *paths, size_t n, struct snap_trees *ret,
		    struct cordon_error *err)
{
	struct strv resolved = {0};
	struct snap_trees t = {0};
	int r = 0;

	if (n == 0 || n > LIMIT_SNAPSHOT_ROOTS)
		return cordon_fail(err, n ? CORDON_E_LIMIT : CORDON_E_INVALID,
				   "a snapshot is of 1 to %d paths", LIMIT_SNAPSHOT_ROOTS);
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *path = NULL;

		r = path_resolve(paths[i], &path);
		if (r == 0)
			r = strv_add(&resolved, path);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "find '%s'", paths[i]);
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!trees_covers(resolved.v, n, i) && trees_add(&t, resolved.v[i]) < 0)
			r = cordon_nomem(err);
	strv_done(&resolved);
	if (r < 0) {
		snap_trees_done(&t);
		return r;
	}
	for (size_t i = 0; i < t.n; i++)
		t.v[i] = (struct snap_tree){.path = t.text.v[2 * i], .only = t.text.v[2 * i + 1]};
	*ret = t;
	return 0;
}
