/* SPDX-License-Identifier: Apache-2.0 */
/* See apply.h. */
#include "workspace/snap/apply.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"
#include "workspace/snap/object.h"
#include "workspace/snap/step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define APPLY_NAME 24 /* of a prepared file: its number */
#define APPLY_COPY (256 * 1024)

static int apply_fail(struct snap_apply *a, int r, const char *what, const struct snap_entry *e)
{
	struct buf shown = BUF_INIT(512);

	str_escape(&shown, e->path, e->path_len);
	r = cordon_fail_leaf(a->plan->err, r, "%s '%s/%s'", what, a->plan->paths[e->root],
			     buf_cstr(&shown));
	buf_done(&shown);
	return r;
}

static void apply_name(size_t i, char ret[static APPLY_NAME])
{
	(void)snprintf(ret, APPLY_NAME, "%zu", i);
}

int snap_apply_begin(struct snap_apply *a)
{
	size_t n = a->plan->manifest->n_trees;
	struct stat st;

	a->stages = calloc(n, sizeof(*a->stages));
	a->roots = calloc(n, sizeof(*a->roots));
	if (!a->stages || !a->roots) {
		free(a->stages);
		a->stages = NULL;
		return cordon_nomem(a->plan->err);
	}
	for (size_t i = 0; i < n; i++) {
		a->stages[i] = -1;
		if (fstat(a->plan->places[i].root, &st) < 0)
			return cordon_fail_errno(a->plan->err, errno, "look at '%s'",
						 a->plan->paths[i]);
		a->roots[i] = st.st_mtim;
	}
	return 0;
}

void snap_apply_done(struct snap_apply *a)
{
	for (size_t i = 0; a->stages && i < a->plan->manifest->n_trees; i++)
		(void)fd_close(a->stages[i]);
	free(a->stages);
	free(a->roots);
	a->stages = NULL;
	a->roots = NULL;
}

void snap_apply_clean(struct snap_apply *a)
{
	char name[JOURNAL_STAGE_NAME];

	snap_journal_stage_name(a->stage, name);
	for (size_t i = 0; i < a->plan->manifest->n_trees; i++) {
		a->stages[i] = fd_close(a->stages[i]);
		snap_store_remove_tree(a->plan->places[i].root, name);
	}
}

/* The directory of prepared files in a tree. */
static int apply_stage(struct snap_apply *a, size_t root)
{
	int dir = a->plan->places[root].root;
	char name[JOURNAL_STAGE_NAME];

	if (a->stages[root] >= 0)
		return a->stages[root];
	snap_journal_stage_name(a->stage, name);
	if (mkdirat(dir, name, 0700) < 0)
		return -errno;
	snap_step();
	a->stages[root] =
		path_open_beneath(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, PLACE_RESOLVE);
	return a->stages[root];
}

/* Writes what lies in the extents of one chunk. */
static int apply_write_chunk(int fd, const struct snap_entry *e, uint64_t offset, size_t len,
			     const char *data)
{
	for (size_t i = 0; i < e->n_extents; i++) {
		uint64_t at, n, from, to;

		snap_extent(e, i, &at, &n);
		from = at > offset ? at : offset;
		to = at + n < offset + len ? at + n : offset + len;
		if (from >= to)
			continue;
		if (lseek(fd, (off_t)from, SEEK_SET) < 0)
			return -errno;
		if (io_write(fd, data + (from - offset), (size_t)(to - from), CLOCK_NEVER) < 0)
			return -errno;
	}
	if (e->n_extents > 0)
		return 0;
	return io_write(fd, data, len, CLOCK_NEVER);
}

static int apply_content(struct snap_apply *a, int fd, const struct snap_entry *e)
{
	struct snap_store *s = a->plan->store;
	int r;

	if (e->n_extents > 0 && ftruncate(fd, (off_t)e->size) < 0)
		return apply_fail(a, -errno, "write", e);
	for (size_t i = 0; i < e->n_chunks; i++) {
		const uint8_t *digest = e->chunks + SNAP_DIGEST * i;
		uint64_t offset = (uint64_t)i * SNAP_CHUNK;
		size_t len = snap_chunk_len(e, i);

		if (snap_digest_is_hole(digest)) {
			if (ftruncate(fd, (off_t)(e->n_extents ? e->size : offset + len)) < 0 ||
			    lseek(fd, (off_t)(offset + len), SEEK_SET) < 0)
				return apply_fail(a, -errno, "write", e);
			continue;
		}
		r = snap_object_read(s, digest, len, s->chunk, a->plan->err);
		if (r < 0)
			return cordon_wrap(a->plan->err, r, "restore '%s/%s'",
					   a->plan->paths[e->root], e->path);
		r = apply_write_chunk(fd, e, offset, len, s->chunk);
		if (r < 0)
			return apply_fail(a, r, "write", e);
		r = snap_store_check_deadline(a->plan->deadline_ms, a->plan->err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_prepare_file(struct snap_apply *a, int stage, const char *name,
			      const struct snap_entry *e)
{
	AUTO_CLOSE int fd =
		openat(stage, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return apply_fail(a, -errno, "write", e);
	r = apply_content(a, fd, e);
	if (r < 0)
		return r;
	r = snap_meta_apply(fd, e, /* is_new= */ true, &a->rights);
	return r < 0 ? apply_fail(a, r, "set the mode, owner or attributes of", e) : 0;
}

static int apply_prepare_other(struct snap_apply *a, int stage, const char *name,
			       const struct snap_entry *e)
{
	AUTO_CLOSE int fd = -1;
	int r = 0;

	switch (e->kind) {
	case SNAP_LINK:
		r = symlinkat(e->target, stage, name);
		break;
	case SNAP_FIFO:
		r = mkfifoat(stage, name, 0600);
		break;
	case SNAP_WHITEOUT:
		r = mknodat(stage, name, S_IFCHR, makedev(0, 0));
		break;
	case SNAP_FILE:
	case SNAP_DIR:
	case SNAP_KIND_COUNT:
		return 0;
	}
	if (r == 0)
		fd = openat(stage, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (r < 0 || fd < 0)
		return apply_fail(a, -errno, "write", e);
	r = snap_meta_apply(fd, e, /* is_new= */ true, &a->rights);
	return r < 0 ? apply_fail(a, r, "set the mode, owner or attributes of", e) : 0;
}

int snap_apply_prepare(struct snap_apply *a)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->plan->n; i++) {
		const struct snap_action *act = &a->plan->actions[i];
		const struct snap_entry *e = act->entry;
		char name[APPLY_NAME];
		int stage;

		if (act->act == ACT_META || (act->act == ACT_MAKE && e->kind == SNAP_DIR))
			continue;
		stage = apply_stage(a, e->root);
		if (stage < 0)
			return apply_fail(a, stage, "prepare", e);
		apply_name(i, name);
		if (act->act == ACT_MAKE)
			r = apply_prepare_other(a, stage, name, e);
		else if (act->act != ACT_JOIN)
			r = apply_prepare_file(a, stage, name, e);
		snap_step();
	}
	return r;
}

/* A directory has to be writable for us while it is changed; its own mode comes back at the end. */
static int apply_parent(struct snap_apply *a, const struct snap_entry *e, const char **ret_name)
{
	int dir = snap_place_parent(&a->plan->places[e->root], e->path, ret_name);
	char path[32];
	struct stat st;

	if (dir < 0 || geteuid() == 0 || fstat(dir, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 0300) == 0300)
		return dir;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	(void)chmod(path, (st.st_mode & 07777) | 0700); /* if not, the next step says so */
	return dir;
}

static int apply_goners(struct snap_apply *a)
{
	struct snap_plan *p = a->plan;

	for (size_t i = 0; i < p->n_goners; i++) {
		struct snap_entry e = {.root = p->goners[i].root, .path = p->goners[i].path};
		const char *name;
		int dir = apply_parent(a, &e, &name);

		e.path_len = strlen(e.path);
		if (dir < 0 && dir != -ENOENT && dir != -ENOTDIR && dir != -ELOOP)
			return apply_fail(a, dir, "remove", &e);
		if (dir < 0)
			continue;
		snap_step();
		if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
			continue;
		snap_place_forget(&p->places[e.root]);
		dir = snap_place_parent(&p->places[e.root], e.path, &name);
		/* A directory goes when nothing is left in it. */
		if (dir >= 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY &&
		    errno != EEXIST && errno != ENOENT)
			return apply_fail(a, -errno, "remove", &e);
	}
	for (size_t i = 0; i < p->manifest->n_trees; i++)
		snap_place_forget(&p->places[i]);
	return 0;
}

static int apply_copy(int from, int to)
{
	AUTO_FREE char *data = malloc(APPLY_COPY);
	struct stat st;
	off_t at = 0;

	if (!data)
		return -ENOMEM;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return -errno;
	/* What grows has room before anything is overwritten. */
	while (at < st.st_size) {
		ssize_t n = pread(from, data, APPLY_COPY, at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		if (lseek(to, at, SEEK_SET) < 0)
			return -errno;
		if (io_write(to, data, (size_t)n, CLOCK_NEVER) < 0)
			return -EIO;
		at += n;
		snap_step();
	}
	return 0;
}

/* A file of several names keeps its inode.  What is written here may be half there when we die: the journal says so,
 * and it is written again. */
static int apply_in_place(struct snap_apply *a, const char *prepared, const struct snap_entry *e)
{
	AUTO_CLOSE int from =
		openat(a->stages[e->root], prepared, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_CLOSE int path = snap_place_open_name(&a->plan->places[e->root], e->path, O_PATH);
	AUTO_CLOSE int to = -1;
	char proc[32];
	struct stat st;
	int r;

	if (from < 0 || path < 0 || fstat(path, &st) < 0)
		return apply_fail(a, path < 0 ? path : -errno, "write", e);
	if (st.st_ino != e->link || !S_ISREG(st.st_mode))
		return apply_fail(a, -EAGAIN, "somebody else has changed", e);
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", path);
	to = open(proc, O_WRONLY | O_CLOEXEC);
	if (to < 0 && errno == EACCES && chmod(proc, 0600) == 0)
		to = open(proc, O_WRONLY | O_CLOEXEC);
	if (to < 0)
		return apply_fail(a, -errno, "write", e);
	r = apply_copy(from, to);
	if (r == 0 && fsync(to) < 0)
		r = -errno;
	if (r == 0)
		r = snap_meta_apply(to, e, /* is_new= */ false, &a->rights);
	if (r < 0)
		return apply_fail(a, r, "write", e);
	(void)unlinkat(a->stages[e->root], prepared, 0); /* removed with the directory otherwise */
	return 0;
}

static int apply_join(struct snap_apply *a, const char *prepared, const struct snap_action *act)
{
	const struct snap_entry *e = act->entry;
	int stage = a->stages[e->root];
	AUTO_CLOSE int from = -1;
	const char *name;
	char proc[32];
	int dir;

	from = snap_place_open_name(&a->plan->places[e->root], act->leader->path, O_PATH);
	if (from < 0)
		return apply_fail(a, from, "find another name of", e);
	(void)unlinkat(stage, prepared, 0); /* of a run before this one; mostly there is none */
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", from);
	if (linkat(AT_FDCWD, proc, stage, prepared, AT_SYMLINK_FOLLOW) < 0)
		return apply_fail(a, -errno, "link", e);
	snap_step();
	dir = apply_parent(a, e, &name);
	if (dir < 0)
		return apply_fail(a, dir, "write", e);
	if (act->is_dir_in_place && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return apply_fail(a, -errno, "replace the directory", e);
	if (renameat(stage, prepared, dir, name) < 0)
		return apply_fail(a, -errno, "write", e);
	/* Two names of one inode: rename() does nothing then, and says that all is well. */
	(void)unlinkat(stage, prepared, 0);
	return 0;
}

static int apply_make_dir(struct snap_apply *a, const struct snap_action *act)
{
	const struct snap_entry *e = act->entry;
	const char *name;
	int dir = apply_parent(a, e, &name);

	if (dir < 0)
		return apply_fail(a, dir, "make the directory", e);
	if (act->is_other && unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return apply_fail(a, -errno, "replace", e);
	snap_step();
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return apply_fail(a, -errno, "make the directory", e);
	return 0;
}

static int apply_move(struct snap_apply *a, const char *prepared, const struct snap_action *act)
{
	const struct snap_entry *e = act->entry;
	const char *name;
	int dir = apply_parent(a, e, &name);

	if (dir < 0)
		return apply_fail(a, dir, "write", e);
	if (act->is_dir_in_place && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return apply_fail(a, -errno, "replace the directory", e);
	snap_step();
	if (renameat(a->stages[e->root], prepared, dir, name) < 0)
		return apply_fail(a, -errno, "write", e);
	return 0;
}

/* Also of links: O_PATH with O_NOFOLLOW, in a directory that was reached over none. */
static int apply_meta(struct snap_apply *a, const struct snap_entry *e)
{
	AUTO_CLOSE int fd = -1;
	struct statx st;
	const char *name;
	int dir = snap_place_parent(&a->plan->places[e->root], e->path, &name);
	int r;

	fd = dir < 0 ? dir : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return apply_fail(a, dir < 0 ? dir : -errno, "find", e);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
		return apply_fail(a, -errno, "look at", e);
	if (snap_meta_kind(&st) != e->kind)
		return apply_fail(a, -EAGAIN, "somebody else has changed", e);
	r = snap_meta_apply(fd, e, /* is_new= */ false, &a->rights);
	return r < 0 ? apply_fail(a, r, "set the mode, owner or attributes of", e) : 0;
}

static int apply_names(struct snap_apply *a)
{
	struct snap_plan *p = a->plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct snap_action *act = &p->actions[i];
		char prepared[APPLY_NAME];

		apply_name(i, prepared);
		snap_step();
		if (act->act == ACT_MAKE && act->entry->kind == SNAP_DIR)
			r = apply_make_dir(a, act);
		else if (act->act == ACT_MAKE || act->act == ACT_WRITE)
			r = apply_move(a, prepared, act);
		else if (act->act == ACT_IN_PLACE)
			r = apply_in_place(a, prepared, act->entry);
		else if (act->act == ACT_META && act->entry->kind != SNAP_DIR)
			r = apply_meta(a, act->entry);
	}
	for (size_t i = 0; r == 0 && i < p->n; i++) {
		char prepared[APPLY_NAME];

		apply_name(i, prepared);
		snap_step();
		if (p->actions[i].act == ACT_JOIN)
			r = apply_join(a, prepared, &p->actions[i]);
	}
	return r;
}

/* Directories last and the inner ones first: whatever is done in one changes its times. */
static int apply_dirs(struct snap_apply *a)
{
	struct snap_plan *p = a->plan;
	size_t act = p->n;

	for (size_t i = p->manifest->n; i-- > 0;) {
		const struct snap_entry *e = &p->manifest->entries[i];
		bool is_planned;
		struct statx st;
		int r;

		while (act > 0 && p->actions[act - 1].entry > e)
			act--;
		is_planned = act > 0 && p->actions[act - 1].entry == e;
		if (e->kind != SNAP_DIR || (!is_planned && !snap_plan_is_chosen(p, e)))
			continue;
		r = snap_place_stat(&p->places[e->root], e->path, &st);
		if (r < 0)
			return apply_fail(a, r, "look at", e);
		if (!is_planned && snap_meta_is_equal(e, &st))
			continue;
		snap_step();
		r = apply_meta(a, e);
		if (r < 0)
			return r;
	}
	return 0;
}

void snap_apply_root_times(struct snap_apply *a)
{
	struct snap_plan *p = a->plan;

	for (size_t i = 0; i < p->manifest->n_trees; i++) {
		const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, a->roots[i]};

		(void)futimens(p->places[i].root, times); /* times alone: nothing depends on them */
	}
}

int snap_apply_change(struct snap_apply *a)
{
	struct snap_plan *p = a->plan;
	int r = apply_goners(a);

	if (r == 0)
		r = apply_names(a);
	for (size_t i = 0; i < p->manifest->n_trees; i++)
		snap_place_forget(&p->places[i]);
	if (r < 0)
		return r;
	snap_apply_clean(a);
	snap_apply_root_times(a);
	r = apply_dirs(a);
	for (size_t i = 0; r == 0 && i < p->manifest->n_trees; i++)
		if (syncfs(p->places[i].root) < 0)
			r = cordon_fail_errno(p->err, errno, "write '%s' to the disk", p->paths[i]);
	snap_step();
	return r;
}
