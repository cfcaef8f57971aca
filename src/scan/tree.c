/* SPDX-License-Identifier: Apache-2.0 */
/* See tree.h. */
#include "scan/tree.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/str.h"
#include "scan/document.h"
#include "scan/gitindex.h"
#include "scan/ignore.h"
#include "scan/rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	const struct scan_options *options;
	struct scan_report *report;
	struct ignore *ignore;
	struct gitindex index; /* empty: there is none */
	bool is_over;          /* the time is up */
	bool is_full;          /* there are too many files: only those that act are read */
	bool has_lost;         /* there were more findings than are kept */
	bool is_last;          /* which is said in a place of its own */
	char *top;             /* real */
	int64_t deadline;
	size_t limit_files;
	struct cordon_error *err;
};

void scan_report_done(struct scan_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->hits[i].path);
	free(r->hits);
	*r = (struct scan_report){0};
}

int scan_report_findings(const struct scan_report *r, struct findings *ret)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < r->n; i++)
		e = findings_add(ret, &r->hits[i].finding);
	return e;
}

/* The least grave of the findings, where it is less than f; NULL: none is.  What was found first stays. */
static struct scan_hit *tree_least(const struct scan_report *r, const struct finding *f)
{
	struct scan_hit *least = NULL;

	for (size_t i = r->n; i-- > 0;)
		if (r->hits[i].finding.level < (least ? least->finding.level : f->level))
			least = &r->hits[i];
	return least;
}

/* A flood of small findings must not hide a grave one: that takes the place of one of them. */
static int tree_add(struct tree *t, const char *path, const struct finding *f)
{
	struct scan_report *r = t->report;
	struct scan_hit *slot;
	int e = mem_grow((void **)&r->hits, &r->cap, r->n + 1, sizeof(*r->hits),
			 (size_t)LIMIT_SCAN_FINDINGS + t->is_last);
	char *copy;

	if (e == -E2BIG) {
		t->has_lost = true;
		slot = tree_least(r, f);
		if (!slot)
			return 0;
	} else {
		slot = e == 0 ? &r->hits[r->n] : NULL;
	}
	copy = slot ? strdup(path) : NULL;
	if (!copy)
		return cordon_nomem(t->err);
	if (slot == &r->hits[r->n])
		r->n++;
	else
		free(slot->path);
	*slot = (struct scan_hit){copy, *f};
	return 0;
}

static int tree_add_all(struct tree *t, const char *path, const struct findings *found)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < found->n; i++)
		e = tree_add(t, path, &found->items[i]);
	return e;
}

/* What could not be looked at is never nothing. */
static int tree_missed(struct tree *t, const char *path, enum scan_rule_id id, const char *why)
{
	const struct scan_rule *rule = &scan_rules[id];
	struct finding f = {
		.type = rule->type, .level = rule->level, .confidence = rule->confidence};

	t->report->is_cut |= id == SCAN_LIMIT;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule->id);
	(void)snprintf(f.message, sizeof(f.message), "%s: %s", rule->reason, why);
	return tree_add(t, path, &f);
}

/* Directories of agents and editors, which are read although they are ignored. */
static bool tree_is_special(const char *name)
{
	static const char *const names[] = {".claude",   ".codex",  ".cursor",       ".gemini",
					    ".github",   ".vscode", ".devcontainer", ".husky",
					    ".windsurf", ".agents", ".githooks"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* as: what it is read as, or NULL: what its path says. */
static int tree_file(struct tree *t, int dirfd, const char *name, const char *path, const char *as)
{
	AUTO(findings_done) struct findings found = {0};
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd =
		openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct scan_source source = {
		.policy = t->options->policy,
		.home = t->options->home,
		.path = path,
		.as = as,
		.is_tracked = gitindex_has(&t->index, path),
	};
	struct stat st;
	ssize_t n;
	int e;

	if (fd < 0 || fstat(fd, &st) < 0)
		return tree_missed(t, path, SCAN_UNREADABLE, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0; /* it was one a moment ago */
	t->report->files++;
	text = malloc(LIMIT_SCAN_FILE + 1 > st.st_size ? (size_t)st.st_size + 1
						       : (size_t)LIMIT_SCAN_FILE + 1);
	if (!text)
		return cordon_nomem(t->err);
	n = io_read(fd, text, LIMIT_SCAN_FILE > st.st_size ? (size_t)st.st_size : LIMIT_SCAN_FILE,
		    t->deadline);
	if (n < 0)
		return tree_missed(t, path, SCAN_UNREADABLE, strerror((int)-n));
	text[n] = '\0';
	source.text = text;
	source.len = (size_t)n;
	e = scan_document(&source, &found, t->err);
	/* Large data is ordinary; a large file that acts is not read to its end. */
	if (e == 0 && st.st_size > LIMIT_SCAN_FILE && scan_is_known(path))
		e = tree_missed(t, path, SCAN_LIMIT, "it is too large");
	return e == 0 ? tree_add_all(t, path, &found) : e;
}

static int tree_link(struct tree *t, int dirfd, const char *name, const char *path)
{
	AUTO(findings_done) struct findings found = {0};
	AUTO_FREE char *to = NULL;
	struct scan_source source = {.path = path, .text = ""};
	char target[PATH_MAX];
	ssize_t n = readlinkat(dirfd, name, target, sizeof(target) - 1);
	char full[2 * PATH_MAX];
	int e;

	if (n < 0)
		return tree_missed(t, path, SCAN_UNREADABLE, strerror(errno));
	target[n] = '\0';
	(void)snprintf(full, sizeof(full), "%s/%s", t->top, path);
	/* Where the kernel would arrive; the link is not opened. */
	e = path_resolve(full, &to);
	if (e < 0)
		return e == -ENOMEM ? cordon_nomem(t->err)
				    : tree_missed(t, path, SCAN_UNREADABLE, strerror(-e));
	e = scan_link(&source, to, !path_is_within(to, t->top), &found, t->err);
	return e == 0 ? tree_add_all(t, path, &found) : e;
}

/* The whole of a file that git reads.  Anything else of that name would be waited for until the scan's time is up. */
static int tree_read(const struct tree *t, int dirfd, const char *name, size_t max, char **ret,
		     size_t *ret_len)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? io_read_all(fd, max, t->deadline, ret, ret_len) : -EINVAL;
}

static int tree_ignore_file(struct tree *t, int dirfd, const char *name, const char *dir)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;

	/* Without it nothing is passed by. */
	if (tree_read(t, dirfd, name, LIMIT_IGNORE_BYTES, &text, &len) < 0)
		return 0;
	return ignore_add(t->ignore, dir, text, len, t->err);
}

static int tree_dir(struct tree *t, int dirfd, const char *path, unsigned depth);

static int tree_enter(struct tree *t, int dirfd, const char *name, const char *path, unsigned depth)
{
	AUTO_CLOSE int fd =
		openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);

	if (fd < 0)
		return tree_missed(t, path, SCAN_UNREADABLE, strerror(errno));
	if (depth >= LIMIT_SCAN_DEPTH)
		return tree_missed(t, path, SCAN_LIMIT, "it is nested too deeply");
	return tree_dir(t, fd, path, depth + 1);
}

/* Of a git directory only what acts; objects are data. */
static int tree_git(struct tree *t, int fd, const char *path)
{
	static const char *const files[] = {"config", "config.worktree", "info/attributes"};
	char full[PATH_MAX];
	int e = 0;

	for (size_t i = 0; e == 0 && i < ARRAY_LEN(files); i++) {
		if (snprintf(full, sizeof(full), "%s/%s", path, files[i]) < (int)sizeof(full) &&
		    faccessat(fd, files[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			e = tree_file(t, fd, files[i], full, NULL);
	}
	if (e == 0 && snprintf(full, sizeof(full), "%s/hooks", path) < (int)sizeof(full) &&
	    faccessat(fd, "hooks", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		e = tree_enter(t, fd, "hooks", full, 1);
	return e;
}

static int tree_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a directory, sorted, so that reports can be compared. */
static int tree_names(int dirfd, struct strv *ret)
{
	int fd = fd_dup(dirfd, 3);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = strv_add(ret, entry->d_name);
	(void)closedir(dir);
	if (r == 0 && ret->n > 1)
		qsort(ret->v, ret->n, sizeof(ret->v[0]), tree_compare);
	return r;
}

/*
 * A directory that git takes for a repository when somebody stands in it, whatever its name is: a clone brings such a
 * one as ordinary files, and its configuration and hooks act.  The rest of it is walked like any directory.
 */
static int tree_bare(struct tree *t, int fd, const char *path)
{
	static const char *const signs[] = {"HEAD", "objects", "refs", "config"};
	AUTO_CLOSE int hooks = -1;
	AUTO(strv_done) struct strv names = {0};
	char full[PATH_MAX], as[PATH_MAX];
	int e;

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (faccessat(fd, signs[i], F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			return 0;
	if (snprintf(full, sizeof(full), "%s%sconfig", path, *path ? "/" : "") >= (int)sizeof(full))
		return 0; /* the walk says so */
	e = tree_file(t, fd, "config", full, ".git/config");
	hooks = e == 0 ? openat(fd, "hooks", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (hooks >= 0 && tree_names(hooks, &names) == -ENOMEM)
		return cordon_nomem(t->err);
	for (size_t i = 0; e == 0 && i < names.n; i++)
		if (snprintf(full, sizeof(full), "%s%shooks/%s", path, *path ? "/" : "",
			     names.v[i]) < (int)sizeof(full) &&
		    snprintf(as, sizeof(as), ".git/hooks/%s", names.v[i]) < (int)sizeof(as))
			e = tree_file(t, hooks, names.v[i], full, as);
	return e;
}

/* The directory that `.git` means: itself, or where a link or a file ("gitdir: PATH") of that name leads, as long as
 * that is in the tree: git takes its configuration and hooks from there.  -1 when there is none. */
static int tree_git_dir(struct tree *t, int dirfd, const char *path)
{
	AUTO_CLOSE int fd = openat(dirfd, ".git", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AUTO_FREE char *to = NULL;
	char named[2 * PATH_MAX], text[PATH_MAX + 16] = "";
	struct stat st = {0};
	ssize_t n;
	int r;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return TAKE_FD(fd);
	if (fd >= 0 && S_ISREG(st.st_mode)) {
		n = io_read(fd, text, sizeof(text) - 1, t->deadline);
		if (n <= 0 || !str_starts(text, "gitdir: "))
			return -1;
		text[strcspn(text, "\n")] = '\0';
		r = text[8] == '/'
			    ? snprintf(named, sizeof(named), "%s", text + 8)
			    : snprintf(named, sizeof(named), "%s/%s/../%s", t->top, path, text + 8);
	} else {
		r = snprintf(named, sizeof(named), "%s/%s", t->top, path);
	}
	if (r < 0 || r >= (int)sizeof(named) || path_resolve(named, &to) < 0 ||
	    !path_is_within(to, t->top))
		return -1;
	return open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int tree_dot_git(struct tree *t, int dirfd, const char *path, bool is_link)
{
	AUTO_CLOSE int fd = tree_git_dir(t, dirfd, path);
	int e = is_link ? tree_link(t, dirfd, ".git", path) : 0;

	return e == 0 && fd >= 0 ? tree_git(t, fd, path) : e;
}

/* Is it passed by?  What git has is not ignored, whatever .gitignore says. */
static bool tree_passes(const struct tree *t, const char *name, const char *path, bool is_dir)
{
	if (!ignore_match(t->ignore, path, is_dir))
		return false;
	return is_dir ? !tree_is_special(name) && !gitindex_may_have_below(&t->index, path)
		      : !scan_is_known(path) && !gitindex_has(&t->index, path);
}

static int tree_name(struct tree *t, int dirfd, const char *name, const char *path, unsigned depth)
{
	struct stat st;
	bool is_dir;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : tree_missed(t, path, SCAN_UNREADABLE, strerror(errno));
	is_dir = S_ISDIR(st.st_mode);
	if (strcmp(name, ".git") == 0)
		return tree_dot_git(t, dirfd, path, S_ISLNK(st.st_mode));
	if (tree_passes(t, name, path, is_dir)) {
		t->report->passed++;
		return 0;
	}
	if (S_ISLNK(st.st_mode))
		return tree_link(t, dirfd, name, path);
	if (is_dir)
		return tree_enter(t, dirfd, name, path, depth);
	if (t->is_full && !scan_is_known(path))
		return 0;
	return S_ISREG(st.st_mode) ? tree_file(t, dirfd, name, path, NULL) : 0;
}

/* 1 when the walk has to end.  After too many files it goes on, for those that act. */
static int tree_is_over(struct tree *t, const char *path)
{
	if (t->is_over)
		return 1;
	if (clock_ms() > t->deadline) {
		t->is_over = true;
		return tree_missed(t, path, SCAN_LIMIT, "the time is up") < 0 ? -1 : 1;
	}
	if (t->is_full || t->report->files < t->limit_files)
		return 0;
	t->is_full = true;
	return tree_missed(t, path, SCAN_LIMIT, "there are too many files") < 0 ? -1 : 0;
}

/* LIMIT_SCAN_DEPTH bounds the recursion. */
static int tree_dir(struct tree *t, int dirfd, const char *path, unsigned depth)
{
	AUTO(strv_done) struct strv names = {0};
	size_t mark = ignore_mark(t->ignore);
	char full[PATH_MAX];
	int e = tree_names(dirfd, &names);

	if (e < 0)
		return e == -ENOMEM ? cordon_nomem(t->err)
				    : tree_missed(t, *path ? path : ".", SCAN_LIMIT, strerror(-e));
	if (t->options->step)
		t->options->step(t->options->data, t->report->files, path);
	e = tree_ignore_file(t, dirfd, ".gitignore", path);
	if (e == 0)
		e = tree_bare(t, dirfd, path);
	for (size_t i = 0; e == 0 && i < names.n; i++) {
		if (snprintf(full, sizeof(full), "%s%s%s", path, *path ? "/" : "", names.v[i]) >=
		    (int)sizeof(full)) {
			e = tree_missed(t, path, SCAN_LIMIT, "a path is too long");
			continue;
		}
		e = tree_is_over(t, full);
		if (e == 0)
			e = tree_name(t, dirfd, names.v[i], full, depth);
		else if (e > 0)
			break;
	}
	ignore_drop(t->ignore, mark);
	return e < 0 ? e : 0;
}

/* Git's list of files; without one nothing counts as tracked. */
static int tree_index(struct tree *t, int git)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = tree_read(t, git, "index", LIMIT_SCAN_INDEX, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		t->index.is_partial = true;
		return 0;
	}
	return gitindex_read(text, len, &t->index) < 0 ? cordon_nomem(t->err) : 0;
}

static int tree_scan(struct tree *t, int fd)
{
	AUTO_CLOSE int git = tree_git_dir(t, fd, ".git");
	int e = ignore_new(&t->ignore, t->err);

	if (e == 0 && git >= 0) {
		e = tree_index(t, git);
		if (e == 0)
			e = tree_ignore_file(t, git, "info/exclude", "");
	}
	if (e == 0)
		e = tree_dir(t, fd, "", 0);
	t->is_last = true;
	if (e == 0 && t->has_lost)
		e = tree_missed(t, ".", SCAN_LIMIT, "there are more findings than are kept");
	return e;
}

int scan_tree(const char *path, const struct scan_options *o, struct scan_report *ret,
	      struct cordon_error *err)
{
	struct tree t = {
		.options = o,
		.report = ret,
		.deadline = clock_deadline(o->limit_ms ? o->limit_ms : LIMIT_SCAN_MS),
		.limit_files = o->limit_files ? o->limit_files : LIMIT_SCAN_FILES,
		.err = err,
	};
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
	char real[PATH_MAX];
	int e = 0;

	*ret = (struct scan_report){0};
	if (fd < 0 && errno != ENOTDIR)
		return cordon_fail_errno(err, errno, "scan '%.200s'", path);
	if (!realpath(path, real) || !(t.top = strdup(real)))
		return cordon_fail_errno(err, errno, "scan '%.200s'", path);
	if (fd >= 0)
		e = tree_scan(&t, fd);
	else
		e = tree_file(&t, AT_FDCWD, real, path_base(real), NULL);
	ignore_free(t.ignore);
	gitindex_done(&t.index);
	free(t.top);
	if (e == 0 && ret->files == 0 && fd < 0)
		e = cordon_fail(err, CORDON_E_INVALID, "scan '%.200s': not a file or directory",
				path);
	return e;
}
