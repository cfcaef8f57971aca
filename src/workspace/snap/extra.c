/* SPDX-License-Identifier: Apache-2.0 */
/* See extra.h. */
#include "workspace/snap/extra.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/snap/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *snap_extra_below(const char *tree, const char *path)
{
	size_t len = strcmp(tree, "/") == 0 ? 0 : strlen(tree);

	if (strncmp(path, tree, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	return path[len] ? path + len + 1 : "";
}

static int extra_compare(const void *a, const void *b)
{
	const struct snap_goner *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? 1 : -1;
	return snap_path_compare(y->path, x->path);
}

static bool extra_is_goner(const struct snap_plan *p, size_t root, const char *path)
{
	struct snap_goner key = {.root = root};
	size_t low = 0, high = p->n_goners;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct snap_goner *g = &p->goners[middle];
		int c = g->root != key.root ? (g->root > root ? -1 : 1)
					    : snap_path_compare(path, g->path);

		if (c == 0)
			return true;
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool extra_is_chosen(const struct snap_plan *p, size_t root, const char *path)
{
	struct snap_entry e = {.root = root, .path = path};

	return snap_plan_is_chosen(p, &e);
}

static int extra_add(struct snap_plan *p, size_t root, const char *path)
{
	AUTO_FREE char *copy = NULL;

	if (snap_manifest_find(p->manifest, root, path) || !extra_is_chosen(p, root, path))
		return 0;
	copy = strdup(path);
	if (!copy || mem_grow((void **)&p->goners, &p->goner_cap, p->n_goners + 1,
			      sizeof(*p->goners), 2 * (size_t)LIMIT_SNAPSHOT_FILES) < 0)
		return -ENOMEM;
	p->goners[p->n_goners++] = (struct snap_goner){.root = root, .path = TAKE_PTR(copy)};
	return 0;
}

/* The listed ones that are there. */
static int extra_listed(struct snap_plan *p)
{
	const struct snap_restore_options *o = p->options;
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->removable_count; i++) {
		for (size_t k = 0; r == 0 && k < p->manifest->n_trees; k++) {
			const char *only = p->manifest->trees[k].only;
			const char *below = snap_extra_below(p->paths[k], o->removable[i]);
			struct statx st;

			if (!below || !*below || !snap_path_is_plain(below) ||
			    !snap_path_within(below, only) ||
			    snap_place_stat(&p->places[k], below, &st) < 0)
				continue;
			r = extra_add(p, k, below);
		}
	}
	return r;
}

struct extra_walk {
	struct snap_plan *plan;
	size_t root;
	struct buf path;
	size_t seen;
	/* What is done with a name that is not in the listing; 1 stops. */
	int (*found)(struct extra_walk *w);
	char *kept;
};

static int extra_walk_dir(struct extra_walk *w, int fd, size_t depth);

static int extra_walk_name(struct extra_walk *w, int dir, const char *name, bool is_dir,
			   size_t depth)
{
	AUTO_CLOSE int fd = -1;
	struct statx st;
	int r = 0;

	if (++w->seen > LIMIT_WALK_ENTRIES || depth > LIMIT_SNAPSHOT_DEPTH)
		return -E2BIG;
	if (is_dir) {
		fd = path_open_beneath(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
				       PLACE_RESOLVE);
		if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_INO, &st) == 0 &&
		    snap_store_is_home(w->plan->store, &st))
			return 0;
		if (fd >= 0)
			r = extra_walk_dir(w, fd, depth + 1);
	}
	if (r != 0 || snap_manifest_find(w->plan->manifest, w->root, buf_cstr(&w->path)))
		return r;
	return w->found(w);
}

static int extra_walk_dir(struct extra_walk *w, int fd, size_t depth)
{
	DIR *dir = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	size_t len = w->path.len;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0) {
		struct dirent *d;
		struct stat st;

		errno = 0;
		d = readdir(dir);
		if (!d) {
			r = -errno;
			break;
		}
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (len > 0)
			buf_char(&w->path, '/');
		buf_str(&w->path, d->d_name);
		r = buf_error(&w->path);
		if (r == 0)
			r = extra_walk_name(
				w, fd, d->d_name,
				d->d_type == DT_DIR ||
					(d->d_type == DT_UNKNOWN &&
					 fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
					 S_ISDIR(st.st_mode)),
				depth);
		if (r == 0)
			buf_truncate(&w->path, len);
	}
	(void)closedir(dir);
	return r;
}

static int extra_ask(struct extra_walk *w)
{
	struct snap_plan *p = w->plan;
	AUTO_FREE char *full = NULL;

	if (snap_tree_path(p->paths[w->root], buf_cstr(&w->path), &full) < 0)
		return -ENOMEM;
	return p->options->may_remove(p->options->may_remove_arg, full)
		       ? extra_add(p, w->root, buf_cstr(&w->path))
		       : 0;
}

static int extra_asked(struct snap_plan *p)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < p->manifest->n_trees; k++) {
		struct extra_walk w = {.plan = p,
				       .root = k,
				       .path = BUF_INIT(LIMIT_PATH_BYTES - 1),
				       .found = extra_ask};
		const char *only = p->manifest->trees[k].only;
		struct statx st;

		if (!*only) {
			r = extra_walk_dir(&w, p->places[k].root, 0);
		} else if (snap_place_stat(&p->places[k], only, &st) == 0) {
			buf_str(&w.path, only);
			r = extra_walk_name(&w, p->places[k].root, only, S_ISDIR(st.stx_mode), 0);
		}
		buf_done(&w.path);
	}
	return r;
}

/* Sorts, and drops what is there twice. */
static void extra_sort(struct snap_plan *p)
{
	size_t n = 0;

	if (p->n_goners > 1)
		qsort(p->goners, p->n_goners, sizeof(*p->goners), extra_compare);
	for (size_t i = 0; i < p->n_goners; i++) {
		if (n > 0 && extra_compare(&p->goners[n - 1], &p->goners[i]) == 0)
			free(p->goners[i].path);
		else
			p->goners[n++] = p->goners[i];
	}
	p->n_goners = n;
}

int snap_extra_find(struct snap_plan *p)
{
	int r = extra_listed(p);

	if (r == 0 && p->options->may_remove)
		r = extra_asked(p);
	extra_sort(p);
	return r < 0 ? cordon_fail_leaf(p->err, r, "look for what is not in the snapshot") : 0;
}

int snap_extra_again(struct snap_plan *p, const struct snap_journal *j)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->goner_count; i++)
		if (j->goners[i].root < p->manifest->n_trees)
			r = extra_add(p, j->goners[i].root, j->goners[i].path);
	extra_sort(p);
	return r < 0 ? cordon_nomem(p->err) : 0;
}

static int extra_keep(struct extra_walk *w)
{
	if (extra_is_goner(w->plan, w->root, buf_cstr(&w->path)))
		return 0;
	w->kept = strdup(buf_cstr(&w->path));
	return w->kept ? 1 : -ENOMEM;
}

int snap_extra_find_kept(struct snap_plan *p, size_t root, const char *path, char **ret)
{
	AUTO_CLOSE int fd = snap_place_open_name(&p->places[root], path, O_RDONLY | O_DIRECTORY);
	struct extra_walk w = {.plan = p,
			       .root = root,
			       .path = BUF_INIT(LIMIT_PATH_BYTES - 1),
			       .found = extra_keep};
	int r;

	if (fd < 0)
		return fd;
	buf_str(&w.path, path);
	r = extra_walk_dir(&w, fd, 0);
	buf_done(&w.path);
	*ret = w.kept;
	return r < 0 ? r : 0;
}
