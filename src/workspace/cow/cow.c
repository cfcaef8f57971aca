/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cow.h.  A set is made under its temporary name and gets its own when it is whole; it loses it again before it
 * is removed.  So a set that has an id is whole, whoever was killed when.
 */
#include "workspace/cow/cow.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/prune.h"
#include "workspace/cow/commit.h"
#include "workspace/cow/copy.h"
#include "workspace/cow/node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COW_MOUNTS "mounts"
#define COW_VERSION "cordon-change-set 1"
#define COW_TRIES 16 /* against sweepers that are faster than our lock */

static const char *const cow_layer_names[COW_LAYERS_COUNT] = {"overlay", "copy"};

static bool cow_is_name(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return str_starts(name, prefix) && strlen(name) == len + COW_ID_HEX &&
	       strspn(name + len, "0123456789abcdef") == COW_ID_HEX;
}

bool cow_id_is_valid(const char *id)
{
	return cow_is_name(id, COW_ID_PREFIX);
}

void cow_close(struct cow *c)
{
	/* A process of a call that is about to end may have the descriptor still. */
	if (c->fd >= 0)
		(void)flock(c->fd, LOCK_UN);
	(void)fd_close(c->fd);
	(void)fd_close(c->sets);
	free(c->dir);
	free(c->workspace);
	*c = COW_NONE;
}

/* Is what was opened still what has the name? */
static bool cow_is_there(const struct cow *c, const char *name)
{
	struct stat by_name, by_fd;

	return fstatat(c->sets, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(c->fd, &by_fd) == 0 && by_name.st_ino == by_fd.st_ino &&
	       by_name.st_dev == by_fd.st_dev;
}

static int cow_open_sets(const char *state_dir, bool makes, int *ret)
{
	char path[PATH_MAX]; /* every call looks whether there is one */
	int r;

	if (snprintf(path, sizeof(path), "%s/" COW_DIR, state_dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = makes ? path_make_private_dir(path, 0700) : 0;
	if (r < 0)
		return r;
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? -errno : 0;
}

/* note */

/* Of a set that is only for one call it is enough that others see it whole or not at all: when the machine stops
 * nothing of it is wanted. */
static int cow_write_file(const struct cow *c, const char *name, const struct buf *b)
{
	AUTO_CLOSE int fd = -1;
	int r;

	if (cow_id_is_valid(c->id))
		return io_write_file_at(c->fd, name, b->data, b->len, 0600);
	fd = openat(c->fd, "new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : io_write(fd, b->data, b->len, CLOCK_NEVER);
	if (r == 0 && renameat(c->fd, "new", c->fd, name) < 0)
		r = -errno;
	return r;
}

static int cow_write_note(const struct cow *c)
{
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES + 512);
	int r;

	buf_printf(&b,
		   COW_VERSION "\ndevice %llu\ninode %llu\ncreated %lld\nlayers %s\nworkspace %s\n",
		   (unsigned long long)c->dev, (unsigned long long)c->ino, (long long)c->created_ns,
		   cow_layer_names[c->layers], c->workspace);
	r = buf_error(&b);
	if (r == 0)
		r = cow_write_file(c, "note", &b);
	buf_done(&b);
	return r;
}

/* Takes "key value\n" from the front. */
static int cow_note_field(char **rest, const char *key, char **ret)
{
	size_t len = strlen(key);
	char *line = *rest;
	char *end = strchr(line, '\n');

	if (!end || strncmp(line, key, len) != 0 || line[len] != ' ')
		return -EINVAL;
	*end = '\0';
	*ret = line + len + 1;
	*rest = end + 1;
	return 0;
}

static int cow_note_number(char **rest, const char *key, int64_t *ret)
{
	char *text;
	int r = cow_note_field(rest, key, &text);

	return r < 0 ? r : parse_int(text, INT64_MIN, INT64_MAX, ret);
}

static int cow_parse_note(struct cow *c, char *text, size_t len)
{
	int64_t dev, ino;
	char *layers;
	int r = strlen(text) == len && str_starts(text, COW_VERSION "\n") ? 0 : -EINVAL;

	text += r == 0 ? strlen(COW_VERSION "\n") : 0;
	if (r == 0)
		r = cow_note_number(&text, "device", &dev);
	if (r == 0)
		r = cow_note_number(&text, "inode", &ino);
	if (r == 0)
		r = cow_note_number(&text, "created", &c->created_ns);
	if (r == 0)
		r = cow_note_field(&text, "layers", &layers);
	/* The last one: a path can have any byte, a newline too. */
	len = r == 0 ? strlen(text) : 0;
	if (r < 0 || len < strlen("workspace /\n") || !str_starts(text, "workspace /") ||
	    text[len - 1] != '\n')
		return -EINVAL;
	text[len - 1] = '\0';
	c->dev = (dev_t)dev;
	c->ino = (ino_t)ino;
	c->layers = COW_LAYERS_COUNT;
	for (size_t i = 0; i < COW_LAYERS_COUNT; i++)
		if (strcmp(layers, cow_layer_names[i]) == 0)
			c->layers = (enum cow_layers)i;
	if (c->layers == COW_LAYERS_COUNT)
		return -EINVAL;
	c->workspace = strdup(text + strlen("workspace "));
	return c->workspace ? 0 : -ENOMEM;
}

static int cow_read_note(struct cow *c)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	int r = io_read_file_at(c->fd, "note", LIMIT_PATH_BYTES + 512, &text, &len);

	return r < 0 ? r : cow_parse_note(c, text, len);
}

/* create */

/* The top of the upper layer is what the call sees as the top of its workspace. */
static int cow_make_upper(const struct cow *c, int workspace, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};
	AUTO_CLOSE int from = openat(workspace, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int upper = -1;
	int r;

	if (mkdirat(c->fd, "work", 0700) < 0 || mkdirat(c->fd, "upper", 0700) < 0)
		return -errno;
	upper = openat(c->fd, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper < 0)
		return -errno;
	if (fchown(upper, st->st_uid, st->st_gid) < 0 && errno != EPERM && errno != EINVAL)
		return -errno;
	/* What cannot be listed cannot be asked for its attributes either. */
	r = from < 0 ? 0 : node_copy_xattrs(from, upper);
	if (r == 0 && (fchmod(upper, st->st_mode & 07777) < 0 || futimens(upper, times) < 0))
		r = -errno;
	return r;
}

/* A new directory with our lock on it. */
static int cow_make_dir(struct cow *c)
{
	for (int i = 0; i < COW_TRIES; i++) {
		uint64_t salt = 0;

		if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
			return -EIO;
		(void)snprintf(c->id, sizeof(c->id), COW_TEMP_PREFIX "%012llx",
			       (unsigned long long)(salt & 0xffffffffffffU));
		if (mkdirat(c->sets, c->id, 0700) < 0 && errno != EEXIST)
			return -errno;
		c->fd = openat(c->sets, c->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (c->fd >= 0 && flock(c->fd, LOCK_EX | LOCK_NB) == 0 && cow_is_there(c, c->id))
			return 0;
		c->fd = fd_close(c->fd);
	}
	return -EBUSY;
}

static int cow_name(struct cow *c, const char *state_dir)
{
	struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	int r;

	buf_printf(&path, "%s/" COW_DIR "/%s", state_dir, c->id);
	free(TAKE_PTR(c->dir));
	r = buf_error(&path);
	if (r == 0)
		r = buf_take(&path, &c->dir, NULL);
	buf_done(&path);
	return r;
}

int cow_keep(struct cow *c, struct cordon_error *err)
{
	char id[COW_ID_MAX];
	struct buf dir = BUF_INIT(LIMIT_PATH_BYTES);
	int r;

	if (cow_id_is_valid(c->id))
		return 0;
	(void)snprintf(id, sizeof(id), COW_ID_PREFIX "%.12s", c->id + strlen(COW_TEMP_PREFIX));
	buf_printf(&dir, "%.*s%s", (int)(path_base(c->dir) - c->dir), c->dir, id);
	r = buf_error(&dir);
	if (r == 0 && renameat(c->sets, c->id, c->sets, id) < 0)
		r = -errno;
	if (r == 0) {
		memcpy(c->id, id, sizeof(id));
		free(TAKE_PTR(c->dir));
		r = buf_take(&dir, &c->dir, NULL);
	}
	buf_done(&dir);
	return r < 0 ? cordon_fail_leaf(err, r, "keep the change set") : 0;
}

static int cow_make_copy(const struct cow *c, int workspace, struct cordon_error *err)
{
	struct buf list = BUF_INIT(LIMIT_COW_FILE);
	int r = copy_tree(workspace, c->fd, "copy", /* mounts= */ NULL, &list, err);

	if (r == 0) {
		r = cow_write_file(c, COW_BASE, &list);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "note what was copied of '%s'", c->workspace);
	}
	buf_done(&list);
	return r;
}

int cow_mounts(const struct cow *c, struct strv *ret, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = io_read_file_at(c->fd, COW_MOUNTS, LIMIT_COW_FILE, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r == 0 && (len == 0 || text[len - 1] != '\0'))
		r = -EINVAL;
	for (size_t at = 0; r == 0 && at < len; at += strlen(text + at) + 1)
		r = strv_add(ret, text + at);
	return r < 0 ? cordon_fail_leaf(err, r, "the list of mounts of '%s'", c->id) : 0;
}

/* No overlay can stand on a directory in which something is mounted: the kernel would have to show what is under it. */
static int cow_make_lower(const struct cow *c, int workspace, const struct strv *mounts,
			  struct cordon_error *err)
{
	AUTO(strv_done) struct strv paths = {0};
	struct buf list = BUF_INIT(LIMIT_COW_FILE);
	struct buf text = BUF_INIT(LIMIT_COW_FILE);
	int r = 0;

	for (size_t i = 0; r == 0 && i < mounts->n; i++) {
		const char *path = mounts->v[i] + strlen(c->workspace) + 1;

		buf_add(&text, path, strlen(path) + 1);
		r = strv_add(&paths, path) < 0 ? cordon_nomem(err) : 0;
	}
	if (r == 0)
		r = copy_tree(workspace, c->fd, COW_LOWER, &paths, &list, err);
	if (r == 0 && (buf_error(&text) < 0 || cow_write_file(c, COW_MOUNTS, &text) < 0))
		r = cordon_fail(err, CORDON_E_SYSTEM, "note the mounts in '%s'", c->workspace);
	buf_done(&list);
	buf_done(&text);
	return r;
}

static int cow_fill(struct cow *c, const struct cow_options *o, struct cordon_error *err)
{
	AUTO_CLOSE int workspace =
		open(o->workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct timespec now;
	struct stat st;
	int r;

	if (workspace < 0 || fstat(workspace, &st) < 0)
		return cordon_fail_errno(err, errno, "workspace '%s'", o->workspace);
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	c->created_ns = node_ns(&now);
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	c->layers = o->layers;
	c->workspace = strdup(o->workspace);
	if (!c->workspace)
		return cordon_nomem(err);
	if (o->layers == COW_COPY)
		return cow_make_copy(c, workspace, err);
	if (o->mounts && o->mounts->n > 0) {
		r = cow_make_lower(c, workspace, o->mounts, err);
		if (r < 0)
			return r;
	}
	r = cow_make_upper(c, workspace, &st);
	return r < 0 ? cordon_fail_leaf(err, r, "make a change set") : 0;
}

int cow_create(const struct cow_options *o, struct cow *ret, struct cordon_error *err)
{
	AUTO(cow_close) struct cow c = COW_NONE;
	int r = cow_open_sets(o->state_dir, /* makes= */ true, &c.sets);

	if (r == 0)
		r = cow_make_dir(&c);
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a change set in '%s/" COW_DIR "'",
					o->state_dir);
	r = cow_fill(&c, o, err);
	if (r == 0) {
		r = cow_write_note(&c);
		if (r == 0)
			r = cow_name(&c, o->state_dir);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "make a change set");
		else if (!o->is_temporary)
			r = cow_keep(&c, err);
	}
	if (r < 0) {
		(void)prune_tree(c.sets, c.id); /* or the next sweeper */
		return r;
	}
	*ret = c;
	c = COW_NONE;
	return 0;
}

/* open */

static int cow_take(struct cow *c, const char *name, int lock, int64_t deadline)
{
	struct stat st;
	int r;

	c->fd = openat(c->sets, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->fd < 0 || fstat(c->fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	r = fd_flock(c->fd, lock, deadline);
	if (r < 0)
		return r;
	(void)snprintf(c->id, sizeof(c->id), "%s", name);
	return cow_is_there(c, name) ? 0 : -ENOENT;
}

static int cow_recover(struct cow *c, enum cow_lock lock, struct cordon_error *err)
{
	int64_t deadline = clock_deadline(LIMIT_COW_LOCK_MS);
	int r;

	if (!commit_is_pending(c))
		return 0;
	r = lock == COW_EXCLUSIVE ? 0 : fd_flock(c->fd, LOCK_EX, deadline);
	if (r < 0)
		return cordon_fail_leaf(err, r, "lock '%s'", c->id);
	r = commit_recover(c, err);
	if (r == 0 && lock == COW_SHARED && fd_flock(c->fd, LOCK_SH, deadline) < 0)
		return cordon_fail(err, CORDON_E_TIMEOUT, "lock '%s'", c->id);
	return r < 0 ? cordon_wrap(err, r, "finish the commit of '%s'", c->id) : 0;
}

/* Somebody who emptied it may have been killed. */
static bool cow_has_files(const struct cow *c)
{
	return faccessat(c->fd, c->layers == COW_COPY ? "copy" : "upper", F_OK,
			 AT_SYMLINK_NOFOLLOW) == 0;
}

int cow_open(const char *state_dir, const char *id, enum cow_lock lock, struct cow *ret,
	     struct cordon_error *err)
{
	AUTO(cow_close) struct cow c = COW_NONE;
	int r;

	if (!cow_id_is_valid(id))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.100s' is not the id of a sandbox", id),
				   "ids are like sb-0123456789ab; see 'cordon sandbox list'");
	r = cow_open_sets(state_dir, /* makes= */ false, &c.sets);
	if (r == 0)
		r = cow_take(&c, id, lock == COW_SHARED ? LOCK_SH : LOCK_EX,
			     clock_deadline(LIMIT_COW_LOCK_MS));
	if (r == -ENOENT)
		return cordon_hint(err, cordon_fail(err, CORDON_E_NOT_FOUND, "no sandbox '%s'", id),
				   "see 'cordon sandbox list'");
	if (r == -ETIMEDOUT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_TIMEOUT,
					       "somebody else works with '%s'", id),
				   "wait until that has ended");
	if (r < 0)
		return cordon_fail_leaf(err, r, "open '%s'", id);
	r = cow_read_note(&c);
	if (r == 0)
		r = cow_name(&c, state_dir);
	if (r < 0)
		return cordon_hint(err, cordon_fail_leaf(err, r, "the note of '%s'", id),
				   "'cordon sandbox rm' removes what is damaged");
	r = cow_recover(&c, lock, err);
	if (r == 0 && lock == COW_EXCLUSIVE && !cow_has_files(&c))
		r = cow_reset(&c, err);
	if (r < 0)
		return r;
	*ret = c;
	c = COW_NONE;
	return 0;
}

int cow_list(const char *state_dir, struct strv *ret, struct cordon_error *err)
{
	const struct dirent *e;
	DIR *d;
	int fd = -1;
	int r = cow_open_sets(state_dir, /* makes= */ false, &fd);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return cordon_fail_leaf(err, r, "list '%s/" COW_DIR "'", state_dir);
	d = fdopendir(fd);
	if (!d) {
		(void)fd_close(fd);
		return cordon_nomem(err);
	}
	while (r == 0 && (e = readdir(d)))
		if (cow_id_is_valid(e->d_name))
			r = strv_add(ret, e->d_name);
	(void)closedir(d);
	return r < 0 ? cordon_fail_leaf(err, r, "list '%s/" COW_DIR "'", state_dir) : 0;
}

int cow_recover_all(const char *state_dir, struct cordon_error *err)
{
	AUTO(strv_done) struct strv ids = {0};
	int done = 0;
	int r;

	cow_sweep(state_dir);
	r = cow_list(state_dir, &ids, err);
	for (size_t i = 0; r == 0 && i < ids.n; i++) {
		AUTO_FREE char *journal = NULL;
		struct cow c = COW_NONE;

		if (asprintf(&journal, "%s/" COW_DIR "/%s/journal", state_dir, ids.v[i]) < 0)
			return cordon_nomem(err);
		if (access(journal, F_OK) < 0)
			continue;
		r = cow_open(state_dir, ids.v[i], COW_EXCLUSIVE, &c, err);
		cow_close(&c);
		done += r == 0;
	}
	return r < 0 ? r : done;
}

/* use */

static int cow_remake(const struct cow *c, const char *name)
{
	int r = prune_tree(c->fd, name);

	return r < 0 ? r : mkdirat(c->fd, name, 0700) < 0 ? -errno : 0;
}

/* "-PATH" or "+PATH", unless it is known. */
static int cow_add_guard(struct buf *b, struct strv *known, char mark, const char *path,
			 const char *except, bool *is_new)
{
	int r = strv_addf(known, "%c%s%s%s", mark, path, except ? "/" : "", except ? except : "");
	const char *line = r == 0 ? known->v[known->n - 1] : "";

	for (size_t i = 0; r == 0 && i + 1 < known->n; i++)
		if (strcmp(known->v[i], line) == 0)
			return 0;
	if (r == 0) {
		buf_add(b, line, strlen(line) + 1);
		*is_new = true;
	}
	return r;
}

static int cow_add_guards(const struct cow *c, const struct cow_guard *guards, size_t n)
{
	AUTO(strv_done) struct strv known = {0};
	struct buf b = BUF_INIT(LIMIT_COW_FILE);
	size_t len = strlen(c->workspace);
	bool is_new = false;
	int r = cow_guards(c, &known, NULL);

	for (size_t i = 0; r == 0 && i < known.n; i++)
		buf_add(&b, known.v[i], strlen(known.v[i]) + 1);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const char *below = guards[i].path + len + (strcmp(c->workspace, "/") != 0);

		if (!path_is_within(guards[i].path, c->workspace) || strlen(guards[i].path) <= len)
			continue;
		r = cow_add_guard(&b, &known, '-', below, NULL, &is_new);
		if (r == 0 && guards[i].except)
			r = cow_add_guard(&b, &known, '+', below, guards[i].except, &is_new);
	}
	if (r == 0)
		r = buf_error(&b);
	if (r == 0 && is_new)
		r = cow_write_file(c, "guards", &b);
	buf_done(&b);
	return r;
}

int cow_guards(const struct cow *c, struct strv *ret, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	size_t len;
	int r = io_read_file_at(c->fd, "guards", LIMIT_COW_FILE, &text, &len);

	if (r == -ENOENT)
		return 0;
	for (size_t at = 0; r == 0 && at < len; at += strlen(text + at) + 1)
		r = strv_add(ret, text + at);
	return r < 0 ? cordon_fail_leaf(err, r, "the guards of '%s'", c->id) : 0;
}

int cow_prepare(struct cow *c, const struct cow_guard *guards, size_t n, struct cordon_error *err)
{
	int r = c->layers == COW_OVERLAY ? cow_remake(c, "work") : 0;

	if (r == 0)
		r = cow_add_guards(c, guards, n);
	return r < 0 ? cordon_fail_leaf(err, r, "prepare '%s'", c->id) : 0;
}

int cow_open_workspace(const struct cow *c, struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(c->workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "workspace '%s'", c->workspace);
	if (st.st_dev != c->dev || st.st_ino != c->ino)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "'%s' is not the directory that it was when '%s' was made",
				    c->workspace, c->id),
			"put that one back, or discard the changes");
	return TAKE_FD(fd);
}

int cow_open_files(const struct cow *c, struct cordon_error *err)
{
	const char *name = c->layers == COW_COPY ? "copy" : "upper";
	struct node node = NODE_NONE;
	struct stat st;
	int r = fstatat(c->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;

	if (r == 0)
		r = S_ISDIR(st.st_mode) ? node_open(c->fd, name, &st, &node) : -ENOTDIR;
	if (r < 0)
		return cordon_fail_leaf(err, r, "the files of '%s'", c->id);
	if (node.is_opened_up)
		(void)fchmod(node.fd, node.mode); /* open it is */
	return node.fd;
}

/* Killed on the way: without files the set is as new, see cow_open(). */
int cow_reset(struct cow *c, struct cordon_error *err)
{
	const char *const names[] = {"upper",     "copy",   "work",   COW_LOWER,
				     "committed", COW_DIRS, COW_BASE, COW_MOUNTS};
	AUTO(strv_done) struct strv left_out = {0};
	AUTO(strv_done) struct strv mounts = {0};
	AUTO_FREE char *workspace = NULL;
	int r = cow_mounts(c, &left_out, err);

	for (size_t i = 0; r == 0 && i < left_out.n; i++)
		if (strv_addf(&mounts, "%s/%s", c->workspace, left_out.v[i]) < 0)
			r = cordon_nomem(err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(names); i++)
		r = prune_tree(c->fd, names[i]);
	if (r < 0)
		return cordon_fail_leaf(err, r, "empty '%s'", c->id);
	workspace = TAKE_PTR(c->workspace);
	r = cow_fill(c,
		     &(struct cow_options){
			     .workspace = workspace, .layers = c->layers, .mounts = &mounts},
		     err);
	if (!c->workspace)
		c->workspace = TAKE_PTR(workspace);
	if (r < 0)
		return r;
	r = cow_write_note(c);
	return r < 0 ? cordon_fail_leaf(err, r, "empty '%s'", c->id) : 0;
}

/* "created NS\n" and what was noted of commits.  The name is that of a snapshot: a plain one. */
static int cow_mark_name(const char *name, char **ret)
{
	return asprintf(ret, "mark-%s", name) < 0 ? -ENOMEM : 0;
}

int cow_mark(const struct cow *c, const char *name, struct cordon_error *err)
{
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *noted = NULL;
	struct buf b = BUF_INIT(LIMIT_COW_FILE);
	size_t len = 0;
	int r = cow_mark_name(name, &file);

	if (r == 0)
		r = io_read_file_at(c->fd, "committed", LIMIT_COW_FILE, &noted, &len);
	if (r == -ENOENT)
		r = 0;
	buf_printf(&b, "created %lld\n", (long long)c->created_ns);
	buf_add(&b, noted ? noted : "", len);
	if (r == 0)
		r = buf_error(&b);
	if (r == 0)
		r = cow_write_file(c, file, &b);
	buf_done(&b);
	return r < 0 ? cordon_fail_leaf(err, r, "note the age of '%s'", c->id) : 0;
}

/* Before the content is there: a set that seems older than it is conflicts too often, never too seldom. */
int cow_return(struct cow *c, const char *name, int64_t oldest_ns, struct cordon_error *err)
{
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *text = NULL;
	struct buf noted = BUF_INIT(LIMIT_COW_FILE);
	int64_t since = oldest_ns;
	size_t len = 0;
	char *rest;
	int r = cow_mark_name(name, &file);

	if (r == 0)
		r = io_read_file_at(c->fd, file, LIMIT_COW_FILE, &text, &len);
	rest = text;
	if (r == 0)
		r = cow_note_number(&rest, "created", &since);
	if (r == -ENOENT) /* it was killed before it could say */
		r = 0;
	if (r == 0 && since < c->created_ns) {
		c->created_ns = since;
		r = cow_write_note(c);
		if (r == 0 && unlinkat(c->fd, "committed", 0) < 0 && errno != ENOENT)
			r = -errno;
		if (r == 0 && rest && rest < text + len) {
			buf_add(&noted, rest, len - (size_t)(rest - text));
			r = buf_error(&noted);
			if (r == 0)
				r = cow_write_file(c, "committed", &noted);
		}
	}
	buf_done(&noted);
	return r < 0 ? cordon_fail_leaf(err, r, "find the age of '%s'", c->id) : 0;
}

int cow_discard(struct cow *c, struct cordon_error *err)
{
	AUTO(cow_close) struct cow own = *c;
	char name[COW_ID_MAX];
	int r = 0;

	*c = COW_NONE;
	(void)snprintf(name, sizeof(name), "%s", own.id);
	if (cow_id_is_valid(own.id)) {
		(void)snprintf(name, sizeof(name), COW_TEMP_PREFIX "%.12s",
			       own.id + strlen(COW_ID_PREFIX));
		r = renameat(own.sets, own.id, own.sets, name) < 0 ? -errno : 0;
	}
	if (r == 0)
		r = prune_tree(own.sets, name);
	return r < 0 ? cordon_fail_leaf(err, r, "remove '%s'", own.id) : 0;
}

static void cow_sweep_one(int sets, const char *state_dir, const char *name)
{
	AUTO(cow_close) struct cow c = COW_NONE;
	struct cordon_error err = {0};

	c.sets = fd_dup(sets, 3);
	if (c.sets < 0 || cow_take(&c, name, LOCK_EX, 0) < 0)
		return;
	/* One whose note was never written has nothing to commit. */
	if (commit_is_pending(&c)) {
		int r = cow_read_note(&c);

		if (r == 0)
			r = cow_name(&c, state_dir);
		if (r < 0 || commit_recover(&c, &err) < 0)
			return; /* it stays for a person to look at */
	}
	(void)prune_tree(sets, name);
}

void cow_sweep(const char *state_dir)
{
	const struct dirent *e;
	DIR *d;
	int fd = -1;

	if (!state_dir || cow_open_sets(state_dir, /* makes= */ false, &fd) < 0)
		return;
	d = fdopendir(fd);
	if (!d) {
		(void)fd_close(fd);
		return;
	}
	for (size_t n = 0; n < LIMIT_SCRATCH_ENTRIES && (e = readdir(d)); n++)
		if (cow_is_name(e->d_name, COW_TEMP_PREFIX))
			cow_sweep_one(dirfd(d), state_dir, e->d_name);
	(void)closedir(d);
}
