/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See changes.h.  Two trees are walked side by side: the layer, of which every name counts, and what is below it on
 * the host, of which only names are looked up that the layer has.  Where the layer hides the directory below (it is
 * opaque, or the layer is a whole copy) the host's names are listed too: what is not in the layer is deleted.  Of a copy
 * only what is not as it was copied counts, and what was never copied is not deleted.
 */
#include "workspace/cow/changes.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "workspace/cow/base.h"
#include "workspace/cow/node.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct reader {
	const struct cow *cow;
	struct changes *out;
	struct buf path;
	struct base base; /* of a copy: what it was */
	struct cordon_error *err;
};

/* The names of one directory, sorted; they point into text. */
struct names {
	struct buf text;
	const char **v;
	size_t n;
};

static void names_done(struct names *n)
{
	buf_done(&n->text);
	free(n->v);
	*n = (struct names){0};
}

static int names_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_have(const struct names *n, const char *name)
{
	return n->n > 0 && bsearch(&name, n->v, n->n, sizeof(*n->v), names_order);
}

/* 0 or -errno; -E2BIG beyond LIMIT_CHANGES names. */
static int names_read(int dir, struct names *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	size_t n = 0;
	int r;

	*ret = (struct names){.text = BUF_INIT((size_t)LIMIT_CHANGES * 64)};
	if (!d) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			buf_add(&ret->text, e->d_name, strlen(e->d_name) + 1);
			n++;
		}
	(void)closedir(d);
	r = buf_error(&ret->text);
	if (r == 0 && n > 0 && !(ret->v = calloc(n, sizeof(*ret->v))))
		r = -ENOMEM;
	if (r < 0) {
		names_done(ret);
		return r;
	}
	for (const char *s = ret->text.data; ret->n < n; s += strlen(s) + 1)
		ret->v[ret->n++] = s;
	if (n > 0)
		qsort(ret->v, n, sizeof(*ret->v), names_order);
	return 0;
}

/* Adds the current path.  NULL with *stops: no memory, or (0) there are too many. */
static struct change *reader_add(struct reader *r, enum change_op op, int *ret_error)
{
	struct changes *out = r->out;
	void *v = out->v;
	char *path = NULL;
	int e = mem_grow(&v, &out->cap, out->n + 1, sizeof(*out->v), LIMIT_CHANGES);

	out->v = v;
	if (e == 0 && !(path = strdup(r->path.len > 0 ? buf_cstr(&r->path) : ".")))
		e = -ENOMEM;
	if (e < 0) {
		out->is_cut |= e == -E2BIG;
		*ret_error = e == -E2BIG ? 0 : cordon_nomem(r->err);
		return NULL;
	}
	out->v[out->n] = (struct change){.op = op, .path = path};
	return &out->v[out->n++];
}

/* Appends a component.  Too deep a path is not followed: 1; 0; or an error. */
static int reader_enter(struct reader *r, const char *name, int depth)
{
	if (depth > LIMIT_WALK_DEPTH ||
	    r->path.len + strlen(name) + 2 + strlen(r->cow->workspace) >= LIMIT_PATH_BYTES) {
		r->out->is_cut = true;
		return 1;
	}
	if (r->path.len > 0)
		buf_char(&r->path, '/');
	buf_str(&r->path, name);
	return buf_error(&r->path) < 0 ? cordon_nomem(r->err) : 0;
}

/* A directory that is there only for what is in it: are there changes that say so? */
static void reader_imply(struct reader *r, size_t index)
{
	for (size_t i = index + 1; i < r->out->n; i++)
		if (!r->out->v[i].is_implied) {
			r->out->v[index].is_implied = true;
			return;
		}
}

static int reader_children_gone(struct reader *r, int dir, const struct names *but, int depth);

/* What the host has under this name is gone, with all that is in it. */
static int reader_gone(struct reader *r, int dir, const char *name, const struct stat *st,
		       int depth)
{
	size_t len = r->path.len;
	size_t index = r->out->n;
	AUTO_CLOSE int fd = -1;
	struct change *c;
	int e = reader_enter(r, name, depth);

	if (e != 0)
		return e < 0 ? e : 0;
	/* Somebody else made it since. */
	if (r->cow->layers == COW_COPY && !base_find(&r->base, buf_cstr(&r->path))) {
		buf_truncate(&r->path, len);
		return 0;
	}
	c = reader_add(r, CHANGE_DELETED, &e);
	if (c) {
		c->was = *st;
		if (S_ISDIR(st->st_mode))
			fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0) {
			e = reader_children_gone(r, fd, NULL, depth);
			reader_imply(r, index);
		}
	}
	buf_truncate(&r->path, len);
	return e;
}

/* All names of the host's directory but those in but. */
static int reader_children_gone(struct reader *r, int dir, const struct names *but, int depth)
{
	struct names names;
	int e = names_read(dir, &names);

	if (e == -E2BIG)
		r->out->is_cut = true;
	if (e == -ENOMEM)
		return cordon_nomem(r->err);
	if (e < 0)
		return 0; /* what we cannot list the call could not either: it was empty */
	for (size_t i = 0; e == 0 && i < names.n; i++) {
		struct stat st;

		if ((but && names_have(but, names.v[i])) ||
		    fstatat(dir, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		e = reader_gone(r, dir, names.v[i], &st, depth + 1);
	}
	names_done(&names);
	return e;
}

static bool reader_is_whiteout(const struct reader *r, const struct stat *st)
{
	return r->cow->layers == COW_OVERLAY && S_ISCHR(st->st_mode) &&
	       st->st_rdev == makedev(0, 0);
}

/* The pair of one name. */
struct pair {
	int upper; /* the directories */
	int lower; /* or -1 */
	const char *name;
	struct stat now;
	struct stat was; /* zero when the host has nothing there */
	bool has_was;
	const struct base_row *base; /* of a copy: what it was, or NULL */
	bool is_hidden; /* what the host has is not seen through the layer, here and below */
};

static unsigned reader_compare_xattrs(int a, int b)
{
	struct buf x = BUF_INIT(LIMIT_XATTR_BYTES), y = BUF_INIT(LIMIT_XATTR_BYTES);
	unsigned what = 0;

	/* What cannot be read is not known to be equal. */
	if (node_xattrs(a, &x) < 0 || node_xattrs(b, &y) < 0 || x.len != y.len ||
	    memcmp(buf_cstr(&x), buf_cstr(&y), x.len) != 0)
		what = CHANGE_XATTRS;
	buf_done(&x);
	buf_done(&y);
	return what;
}

static unsigned reader_compare_stat(const struct stat *now, const struct stat *was)
{
	unsigned what = 0;

	if ((now->st_mode & S_IFMT) != (was->st_mode & S_IFMT))
		return CHANGE_TYPE | CHANGE_CONTENT;
	if (!S_ISLNK(now->st_mode) && (now->st_mode & 07777) != (was->st_mode & 07777))
		what |= CHANGE_MODE;
	if (now->st_uid != was->st_uid || now->st_gid != was->st_gid)
		what |= CHANGE_OWNER;
	if (node_ns(&now->st_mtim) != node_ns(&was->st_mtim))
		what |= CHANGE_TIMES;
	return what;
}

/* A regular file that the host has too.  Nothing is written down by a leaf: the bits, or -errno. */
static int reader_compare_file(const struct pair *p, int fd)
{
	AUTO_CLOSE int was = openat(p->lower, p->name,
				    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int what;
	int r;

	if (was < 0)
		return CHANGE_CONTENT; /* not ours to read: not known to be equal */
	what = (int)reader_compare_xattrs(fd, was);
	if (p->now.st_size != p->was.st_size)
		return what | CHANGE_CONTENT;
	r = node_same_content(fd, was);
	return r < 0 ? r : what | (r == 0 ? CHANGE_CONTENT : 0);
}

/* What changed of something that is no directory now. */
static int reader_compare(const struct pair *p, bool *ret_origin)
{
	unsigned what = p->has_was ? reader_compare_stat(&p->now, &p->was) : 0;
	struct node node = NODE_NONE;
	int r = 0;

	if (S_ISREG(p->now.st_mode)) {
		r = node_open(p->upper, p->name, &p->now, &node);
		if (r < 0)
			return r;
		*ret_origin = node_has_origin(node.fd);
		if (p->has_was && !(what & CHANGE_TYPE))
			r = reader_compare_file(p, node.fd);
		node_close(&node);
	} else if (p->has_was && !(what & CHANGE_TYPE) && S_ISLNK(p->now.st_mode)) {
		r = node_same_link(p->upper, p->name, p->lower, p->name);
		if (r >= 0)
			r = r ? 0 : CHANGE_CONTENT;
	}
	return r < 0 ? r : (int)what | r;
}

static int reader_leaf(struct reader *r, const struct pair *p, int depth)
{
	bool has_origin = false;
	int what = reader_compare(p, &has_origin);
	struct change *c;
	int e = 0;

	if (what == -ENOMEM)
		return cordon_nomem(r->err);
	if (what < 0)
		return cordon_fail_leaf(r->err, what, "read '%s' of '%s'", buf_cstr(&r->path),
					r->cow->id);
	if (p->has_was && what == 0)
		return 0;
	c = reader_add(r, p->has_was ? CHANGE_MODIFIED : CHANGE_ADDED, &e);
	if (!c)
		return e;
	c->what = (unsigned)what;
	c->now = p->now;
	c->was = p->was;
	c->has_origin = has_origin || p->base;
	if (p->has_was && S_ISDIR(p->was.st_mode)) {
		AUTO_CLOSE int fd =
			openat(p->lower, p->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0)
			e = reader_children_gone(r, fd, NULL, depth);
	}
	return e;
}

static int reader_dir(struct reader *r, int upper, int lower, bool is_opaque, int depth);

/* What changed of a directory that the host has too, or that is new. */
static int reader_add_dir(struct reader *r, const struct pair *p, int upper, int lower)
{
	unsigned what = 0;
	struct change *c;
	int e = 0;

	if (p->has_was) {
		what = reader_compare_stat(&p->now, &p->was);
		if (p->base) /* what is different, and was changed by the call */
			what &= reader_compare_stat(&p->now, &p->base->was) | CHANGE_TYPE |
				CHANGE_CONTENT;
		if (lower >= 0 && !(p->base && base_is_untouched(p->base, &p->now))) {
			AUTO_CLOSE int fd = openat(lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			what |= fd >= 0 ? reader_compare_xattrs(upper, fd) : 0;
		}
		if (what == 0)
			return 0;
	}
	c = reader_add(r, p->has_was ? CHANGE_MODIFIED : CHANGE_ADDED, &e);
	if (!c)
		return e;
	c->what = what;
	c->now = p->now;
	c->was = p->was;
	c->is_implied = p->has_was && what == CHANGE_TIMES;
	c->has_origin = !p->has_was && (node_has_origin(upper) || p->base);
	return 0;
}

static int reader_sub(struct reader *r, const struct pair *p, int depth)
{
	AUTO_CLOSE int lower = -1;
	struct node node = NODE_NONE;
	size_t index = r->out->n;
	int e = node_open(p->upper, p->name, &p->now, &node);

	if (e < 0)
		return cordon_fail_leaf(r->err, e, "read '%s' of '%s'", buf_cstr(&r->path),
					r->cow->id);
	if (p->has_was && S_ISDIR(p->was.st_mode))
		lower = openat(p->lower, p->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	e = reader_add_dir(r, p, node.fd, lower);
	if (e == 0)
		e = reader_dir(r, node.fd, lower, p->is_hidden || node_is_opaque(node.fd), depth);
	node_close(&node);
	if (e == 0 && r->out->n > index && r->out->v[index].op == CHANGE_ADDED)
		reader_imply(r, index);
	/* Removed outside, and the call did nothing to it or in it. */
	if (e == 0 && r->out->n == index + 1 && p->base && base_is_untouched(p->base, &p->now))
		free(r->out->v[--r->out->n].path);
	return e;
}

static int reader_name(struct reader *r, struct pair p, int depth)
{
	const int upper = p.upper, lower = p.lower;
	const char *name = p.name;
	size_t len = r->path.len;
	int e;

	if (fstatat(upper, name, &p.now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : cordon_fail_errno(r->err, errno, "look at '%s'", name);
	p.has_was = lower >= 0 && fstatat(lower, name, &p.was, AT_SYMLINK_NOFOLLOW) == 0;
	if (!p.has_was)
		p.was = (struct stat){0};
	if (reader_is_whiteout(r, &p.now))
		return p.has_was ? reader_gone(r, lower, name, &p.was, depth) : 0;
	e = reader_enter(r, name, depth);
	if (e != 0)
		return e < 0 ? e : 0;
	p.base = base_find(&r->base, buf_cstr(&r->path));
	if (S_ISDIR(p.now.st_mode))
		e = reader_sub(r, &p, depth);
	else if (!p.base || !base_is_untouched(p.base, &p.now))
		e = reader_leaf(r, &p, depth);
	buf_truncate(&r->path, len);
	return e;
}

/* lower: -1 where the host has no directory. */
static int reader_dir(struct reader *r, int upper, int lower, bool is_opaque, int depth)
{
	struct names names;
	int e = names_read(upper, &names);

	if (e == -E2BIG) {
		r->out->is_cut = true;
		return 0;
	}
	if (e < 0)
		return cordon_fail_leaf(r->err, e, "list '%s' of '%s'", buf_cstr(&r->path),
					r->cow->id);
	for (size_t i = 0; e == 0 && i < names.n; i++)
		e = reader_name(r,
				(struct pair){.upper = upper,
					      .lower = lower,
					      .name = names.v[i],
					      .is_hidden = is_opaque},
				depth + 1);
	/* A whiteout is a name of the layer: it was told already. */
	if (e == 0 && is_opaque && lower >= 0)
		e = reader_children_gone(r, lower, &names, depth);
	names_done(&names);
	return e;
}

static int reader_load_base(struct reader *r)
{
	char *text;
	size_t len;
	int e = io_read_file_at(r->cow->fd, COW_BASE, LIMIT_COW_FILE, &text, &len);

	if (e == 0)
		e = base_parse(text, len, &r->base);
	return e < 0 ? cordon_hint(r->err,
				   cordon_fail_leaf(r->err, e, "the list of what '%s' copied",
						    r->cow->id),
				   "'cordon sandbox rm' removes what is damaged")
		     : 0;
}

int changes_read(const struct cow *c, struct changes *ret, struct cordon_error *err)
{
	struct reader r = {.cow = c, .out = ret, .path = BUF_INIT(LIMIT_PATH_BYTES), .err = err};
	AUTO_CLOSE int lower = cow_open_workspace(c, err);
	AUTO_CLOSE int upper = lower < 0 ? lower : cow_open_files(c, err);
	struct pair top = {.upper = -1, .lower = -1, .has_was = true};
	int e;

	*ret = (struct changes){0};
	if (lower < 0 || upper < 0)
		return lower < 0 ? lower : upper;
	if (fstat(upper, &top.now) < 0 || fstat(lower, &top.was) < 0)
		return cordon_fail_errno(err, errno, "look at '%s'", c->id);
	e = c->layers == COW_COPY ? reader_load_base(&r) : 0;
	top.base = base_find(&r.base, ".");
	if (e == 0)
		e = reader_add_dir(&r, &top, upper, lower);
	if (e == 0)
		e = reader_dir(&r, upper, lower, c->layers == COW_COPY || node_is_opaque(upper), 0);
	buf_done(&r.path);
	base_done(&r.base);
	return e;
}

/* Lines are sorted as lines: by word, then by path. */
static int changes_by_line(const void *a, const void *b)
{
	const struct change *x = *(const struct change *const *)a;
	const struct change *y = *(const struct change *const *)b;

	return x->op != y->op ? (int)x->op - (int)y->op : strcmp(x->path, y->path);
}

int changes_sorted(const struct changes *c, const struct change ***ret, size_t *n)
{
	const struct change **v = calloc(c->n + 1, sizeof(*v));

	*n = 0;
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (!c->v[i].is_implied)
			v[(*n)++] = &c->v[i];
	if (*n > 0)
		qsort(v, *n, sizeof(*v), changes_by_line);
	*ret = v;
	return 0;
}

int changes_diff_names(const struct changes *c, struct buf *out)
{
	AUTO_FREE const struct change **v = NULL;
	size_t n;
	int r = changes_sorted(c, &v, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		buf_printf(out, "%s: ", change_word(v[i]->op));
		str_escape(out, v[i]->path, strlen(v[i]->path));
		buf_char(out, '\n');
	}
	return r < 0 ? r : buf_error(out);
}
