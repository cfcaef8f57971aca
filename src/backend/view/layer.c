/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the steps that are overlays: their layers, who owns what is in the lowest, and the mount. */
#include "backend/view/step_tree.h"

#include "base/fd.h"
#include "base/raw.h"
#include "base/shield.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernels from 6.13 on take the descriptor itself, all others its path in /proc, which takes them longer.  The same directory
 * either way; what is wrong with it is said by the path. */
static int step_fd_given(int fs, const char *key, int fd)
{
	return (int)raw_call(SYS_fsconfig, fs, FSCONFIG_SET_FD, key, NULL, fd);
}

static int step_fd_option(int fs, const char *key, int fd)
{
	char path[STEP_FD_PATH_MAX];

	if (step_fd_given(fs, key, fd) == 0)
		return 0;
	step_fd_path(fd, path);
	return step_option(fs, key, path);
}

/* Sockets in an overlay are not those that somebody listens on, so a directory of the host is mounted as one
 * although nothing is added to it.  It takes two layers: the other one is empty. */
static int step_overlay_read(int top, int empty, uint64_t attrs)
{
	char layers[2 * STEP_FD_PATH_MAX];
	size_t n;
	int fs = step_fsopen("overlay");
	int r = fs;

	step_fd_path(top, layers);
	n = strlen(layers);
	layers[n++] = ':';
	step_fd_path(empty, layers + n);
	if (r >= 0)
		r = step_option(fs, "lowerdir", layers);
	if (r >= 0)
		r = step_option(fs, "userxattr", NULL);
	if (r >= 0)
		r = step_create(fs, attrs);
	step_close(fs);
	return r;
}

static int step_overlay_try(int upper, int top, int lower, int work, uint64_t attrs,
			    bool is_nameless)
{
	char layers[2 * STEP_FD_PATH_MAX];
	size_t n = 0;
	int fs = step_fsopen("overlay");
	int r = fs;

	if (top >= 0) {
		step_fd_path(top, layers);
		n = strlen(layers);
		layers[n++] = ':';
	}
	step_fd_path(lower, layers + n);
	if (r >= 0 && (top >= 0 || step_fd_given(fs, "lowerdir+", lower) < 0))
		r = step_option(fs, "lowerdir", layers);
	if (r >= 0)
		r = step_fd_option(fs, "upperdir", upper);
	if (r >= 0)
		r = step_fd_option(fs, "workdir", work);
	if (r >= 0)
		r = step_option(fs, "userxattr", NULL);
	/* Both off: then overlayfs puts no attribute of its own on new directories. */
	if (r >= 0)
		r = step_option(fs, "index", "off");
	if (r >= 0)
		r = step_option(fs, "xino", "off");
	if (r >= 0 && is_nameless)
		r = step_option(fs, "uuid", "null");
	/* Else the end of every call would wait until all of the host's file system is on the disk.  The
	 * price: fsync() inside waits for nothing; the host writes what it was given in its own time. */
	if (r >= 0)
		r = step_option(fs, "volatile", NULL);
	if (r >= 0)
		r = step_create(fs, attrs);
	step_close(fs);
	return r;
}

/* top: above lower, below upper; or -1. */
static int step_overlay_create(int upper, int top, int lower, int work, uint64_t attrs)
{
	/* Else overlayfs writes an attribute on the host's directory before every call, which is then taken away again.
	 * Kernels that do not know this value (before 6.6; some say so only at the end) do not do that either; "off",
	 * which they know, makes all of them complain in the log about layers of two file systems. */
	int r = step_overlay_try(upper, top, lower, work, attrs, /* is_nameless= */ true);

	return r == -EINVAL ? step_overlay_try(upper, top, lower, work, attrs, false) : r;
}

/* Takes the owner from what is in the lower layer, and verifies it: not even the capabilities that we still
 * have let anybody write what belongs to nobody. */
static int step_disown(int lower, struct view_cache *cache)
{
	int r = cache->nobody_ns < 0 ? cache->nobody_ns : view_disown(lower, cache->nobody_ns);
	struct stat st;

	if (r < 0)
		return r;
	if (fstat(lower, &st) < 0)
		return -errno;
	cache->nobody = st.st_uid;
	return faccessat(lower, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) < 0 && errno == EACCES
		       ? 0
		       : -ENOTRECOVERABLE;
}

/* The lower layer.  Where its entries keep their owner all of them are mounted upon: the program has both
 * ways, and the first overlay decides. */
static int step_lower(int root, const struct view_step *step, struct view_cache *cache)
{
	int lower = (int)syscall(SYS_open_tree, root, step->lower,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	int r;

	if (lower < 0)
		return -errno;
	if (shield_is_off(SHIELD_DISOWNED))
		cache->is_owned = true;
	r = cache->is_owned ? 0 : step_disown(lower, cache);
	if (r < 0 && r != -ENOTRECOVERABLE && !cache->is_disowned) {
		cache->is_owned = true;
		r = 0;
	}
	/* Somewhere: to let go of a mount that is nowhere would wait for all processors. */
	if (r == 0)
		r = step_attach(root, lower, step->lower);
	if (r < 0) {
		step_close(lower);
		return r;
	}
	cache->is_disowned = !cache->is_owned;
	return lower;
}

/* The overlay, detached. */
static int step_overlay_tree(int root, const struct view_step *step, struct view_cache *cache)
{
	AUTO_CLOSE int upper = step_source(step);
	AUTO_CLOSE int lower = upper < 0 ? -1 : step_lower(root, step, cache);
	AUTO_CLOSE int work =
		lower < 0 || !step->work ? -1 : open(step->work, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int set =
		work < 0 || !step->upper
			? -1
			: open(step->upper, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (upper < 0)
		return upper;
	if (lower < 0)
		return lower;
	if ((work < 0 && step->work) || (set < 0 && step->upper))
		return -errno;
	if (step->upper)
		return step_overlay_create(set, upper, lower, work, step->attrs);
	return step->work ? step_overlay_create(upper, -1, lower, work, step->attrs)
			  : step_overlay_read(upper, lower, step->attrs);
}

int step_overlay(int root, const struct view_step *step, struct view_cache *cache)
{
	AUTO_CLOSE int tree = step->fd >= 0 ? step->fd : step_overlay_tree(root, step, cache);

	return tree < 0 ? tree : step_attach(root, tree, step->path);
}

bool step_is_held_overlay(const struct view_step *step)
{
	return step->kind == VIEW_OVERLAY && step->work;
}

size_t view_overlays_count(const struct view_program *p)
{
	size_t n = 0;

	for (size_t i = p->n_lower; i < p->n; i++)
		n += step_is_held_overlay(&p->steps[i]);
	return n;
}

int view_overlays_make(int root, const struct view_program *p, struct view_cache *cache,
		       size_t *ret_step)
{
	for (size_t i = p->n_lower; i < p->n && !cache->is_owned; i++) {
		int tree;

		if (!step_is_held_overlay(&p->steps[i]))
			continue;
		tree = step_overlay_tree(root, &p->steps[i], cache);
		if (tree < 0) {
			*ret_step = i;
			return tree;
		}
		p->steps[i].fd = tree;
	}
	return 0;
}
