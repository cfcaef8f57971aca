/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock rules of a scope.  A grant without a denied path inside is one rule.  Otherwise its directories are
 * listed down to the denied path; what has nothing denied inside is one rule again.
 */
#include "backend/landlock/scope.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RULES_MAX 32768      /* of one set; each is a small object in the kernel */
#define RULES_ENTRIES 200000 /* names looked at for one set */
#define RULES_FD_PATH_MAX 32 /* "/proc/self/fd/" and a number */

struct rule {
	char *path; /* owned */
	enum landlock_access access;
};

struct rules {
	struct scope *scope;
	struct cordon_error *err;
	size_t looked_at;
	struct rule *list;
	size_t n;
	size_t cap;
};

/* Takes back what was added after the first n. */
static void rules_cut(struct rules *b, size_t n)
{
	while (b->n > n)
		free(b->list[--b->n].path);
}

static void rules_done(struct rules *b)
{
	rules_cut(b, 0);
	free(b->list);
}

static int rules_add(struct rules *b, const char *path, enum landlock_access access)
{
	void *list = b->list;
	char *copy;
	int r = mem_grow(&list, &b->cap, b->n + 1, sizeof(*b->list), RULES_MAX);

	if (r < 0)
		return cordon_fail_leaf(b->err, r, "Landlock rules");
	b->list = list;
	copy = strdup(path);
	if (!copy)
		return cordon_nomem(b->err);
	b->list[b->n++] = (struct rule){copy, access};
	return 0;
}

enum rules_part { PART_CLEAR, PART_HAS_DENIED, PART_IS_DENIED };

static enum rules_part rules_part(const struct rules *b, const char *path)
{
	enum rules_part part = PART_CLEAR;

	for (size_t i = 0; i < b->scope->guard_count; i++) {
		const struct scope_guard *g = &b->scope->guards[i];

		if (!g->is_denied)
			continue;
		if (path_is_within(path, g->path))
			return PART_IS_DENIED;
		if (path_is_within(g->path, path))
			part = PART_HAS_DENIED;
	}
	return part;
}

/* What everybody may read, or search. */
static bool rules_is_public(const struct stat *st)
{
	return st->st_mode & (S_ISDIR(st->st_mode) ? S_IXOTH : S_IROTH);
}

/* What an entry is made of. */
enum rules_kind {
	RULES_OPEN,   /* all of it can be granted by one rule */
	RULES_NONE,   /* needs none: a link, or gone */
	RULES_PARTLY, /* has its rules already */
	RULES_FILE,   /* a closed file */
	RULES_DIR     /* a closed directory: not even its names */
};

static int rules_list(struct rules *b, const char *path, const struct scope_path *grant,
		      unsigned depth);

static int rules_entry(struct rules *b, const char *path, const struct scope_path *grant,
		       unsigned depth)
{
	enum rules_part part = rules_part(b, path);
	struct stat st;

	if (++b->looked_at > RULES_ENTRIES)
		return cordon_fail(b->err, CORDON_E_LIMIT, "too many names beside a denied one");
	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == EACCES
			       ? RULES_NONE
			       : cordon_fail_errno(b->err, errno, "look at '%s'", path);
	if (S_ISLNK(st.st_mode))
		return RULES_NONE;
	if (part == PART_IS_DENIED)
		return S_ISDIR(st.st_mode) ? RULES_DIR : RULES_FILE;
	/* Of what only root may read, the names are no secret. */
	if (grant->is_public_only && !rules_is_public(&st))
		return RULES_FILE;
	if (S_ISDIR(st.st_mode) && (part == PART_HAS_DENIED || grant->is_public_only))
		return rules_list(b, path, grant, depth + 1);
	return RULES_OPEN;
}

/* Rules for the entries of a directory.  If it turns out that all of it is open none are added. */
static int rules_list(struct rules *b, const char *path, const struct scope_path *grant,
		      unsigned depth)
{
	size_t first = b->n;
	bool is_open = rules_part(b, path) == PART_CLEAR; /* a missing denied name closes it too */
	bool has_closed_dir = false;
	const struct dirent *e;
	DIR *dir;
	int r = 0;

	if (depth > LIMIT_WALK_DEPTH)
		return cordon_fail(b->err, CORDON_E_LIMIT, "'%s' is too deep", path);
	dir = opendir(path);
	if (!dir) /* closed to us as well */
		return errno == EACCES || errno == ENOENT
			       ? RULES_NONE
			       : cordon_fail_errno(b->err, errno, "list '%s'", path);
	while (r >= 0 && (e = readdir(dir))) {
		AUTO_FREE char *full = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (path_join(path, e->d_name, &full) < 0) {
			r = cordon_nomem(b->err);
			break;
		}
		r = rules_entry(b, full, grant, depth);
		is_open &= r == RULES_OPEN || r == RULES_NONE;
		has_closed_dir |= r == RULES_DIR;
		if (r == RULES_OPEN)
			r = rules_add(b, full, grant->access);
	}
	(void)closedir(dir);
	if (r < 0)
		return r;
	if (is_open) {
		rules_cut(b, first);
		return RULES_OPEN;
	}
	if (has_closed_dir)
		return RULES_DIR;
	/* Names, here and below: of closed files, but of no closed directory. */
	r = rules_add(b, path, LANDLOCK_LIST);
	return r < 0 ? r : RULES_PARTLY;
}

/* The path of the plan has no link in it.  One that was put there since leads elsewhere. */
static bool rules_is_at(int fd, const char *path)
{
	char link[RULES_FD_PATH_MAX];
	char real[LIMIT_PATH_BYTES];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	return strcmp(real, path) == 0;
}

static int rules_enter(struct rules *b, const struct rule *rule)
{
	AUTO_CLOSE int fd = open(rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct landlock_rule own = {.fd = fd, .access = rule->access};
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0) /* gone again: then it needs no rule */
		return errno == ENOENT || errno == EACCES
			       ? 0
			       : cordon_fail_errno(b->err, errno, "open '%s'", rule->path);
	own.is_dir = S_ISDIR(st.st_mode);
	if (S_ISLNK(st.st_mode))
		return 0;
	if (!rules_is_at(fd, rule->path))
		return cordon_hint(b->err,
				   cordon_fail(b->err, CORDON_E_INVALID,
					       "'%s' was replaced while the call started",
					       rule->path),
				   "try again");
	r = landlock_set_rule(b->scope->set, &b->scope->policy, &own);
	return r < 0 ? cordon_fail_errno(b->err, -r, "Landlock rule for '%s'", rule->path) : 0;
}

static bool rules_writes(enum landlock_access access)
{
	return access == LANDLOCK_WRITE || access == LANDLOCK_WRITE_NOEXEC;
}

/* No denied file that can be executed may be inside what can be written: execve() asks no broker. */
static int rules_check_exec(struct rules *b, const char *path, unsigned depth)
{
	struct stat st;
	const struct dirent *e;
	DIR *dir;
	int r = 0;

	if (lstat(path, &st) < 0)
		return 0;
	if (++b->looked_at > RULES_ENTRIES || depth > LIMIT_WALK_DEPTH)
		return cordon_fail(b->err, CORDON_E_LIMIT, "too many denied files below '%s'",
				   path);
	if (S_ISREG(st.st_mode) && st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH))
		return cordon_hint(
			b->err,
			cordon_fail(b->err, CORDON_E_UNSUPPORTED,
				    "backend 'landlock' cannot deny '%s', which can be executed",
				    path),
			"take its x permission away, or use --backend native");
	dir = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	while (dir && r == 0 && (e = readdir(dir))) {
		AUTO_FREE char *full = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		r = path_join(path, e->d_name, &full) < 0 ? cordon_nomem(b->err)
							  : rules_check_exec(b, full, depth + 1);
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

static int rules_grant(struct rules *b, const struct scope_path *grant)
{
	enum rules_part part = rules_part(b, grant->path);
	struct stat st;
	int r;

	if (part == PART_IS_DENIED)
		return 0;
	if (stat(grant->path, &st) < 0)
		return cordon_fail_errno(b->err, errno, "grant '%s'", grant->path);
	if (rules_writes(grant->access) || !S_ISDIR(st.st_mode) ||
	    (part == PART_CLEAR && !grant->is_public_only))
		return rules_add(b, grant->path, grant->access);
	r = rules_list(b, grant->path, grant, 0);
	return r == RULES_OPEN ? rules_add(b, grant->path, grant->access) : r < 0 ? r : 0;
}

int scope_add_rules(struct scope *s, struct cordon_error *err)
{
	AUTO(rules_done) struct rules b = {.scope = s, .err = err};
	int r = 0;

	s->set = landlock_set_make(&s->policy);
	if (s->set < 0)
		return cordon_fail_errno(err, -s->set, "make a set of Landlock rules");
	for (size_t i = 0; r == 0 && i < s->grant_count; i++)
		r = rules_grant(&b, &s->grants[i]);
	for (size_t i = 0; r == 0 && i < s->guard_count; i++)
		if (s->guards[i].is_denied && scope_is_writable(s, s->guards[i].path))
			r = rules_check_exec(&b, s->guards[i].path, 0);
	for (size_t i = 0; r == 0 && i < b.n; i++)
		r = rules_enter(&b, &b.list[i]);
	s->rule_count = b.n;
	return r;
}
