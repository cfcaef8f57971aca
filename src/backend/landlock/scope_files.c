/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a scope keeps whatever they are called.  A second name of a protected file, made before the call and
 * elsewhere in the workspace, would be a way around its first.
 */
#include "backend/landlock/scope.h"

#include "base/limits.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_ENTRIES 200000 /* names looked at below all guarded ones */

struct files {
	struct scope *scope;
	struct cordon_error *err;
	size_t looked_at;
	const struct scope_guard *guard; /* whose files are looked at */
};

static int files_by_number(const void *a, const void *b)
{
	const struct scope_file *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

bool scope_is_guarded_file(const struct scope *s, dev_t dev, ino_t ino, enum scope_act act)
{
	const struct scope_file wanted = {.dev = dev, .ino = ino};
	const struct scope_file *found = s->kept_count ? bsearch(&wanted, s->kept, s->kept_count,
								 sizeof(*s->kept), files_by_number)
						       : NULL;

	return found && (act != SCOPE_READ || found->is_denied);
}

static int files_keep(struct files *f, const struct stat *st)
{
	struct scope *s = f->scope;
	void *kept = s->kept;

	if (mem_grow(&kept, &s->kept_cap, s->kept_count + 1, sizeof(*s->kept), FILES_ENTRIES) < 0)
		return cordon_nomem(f->err);
	s->kept = kept;
	s->kept[s->kept_count++] = (struct scope_file){st->st_dev, st->st_ino, f->guard->is_denied};
	return 0;
}

static int files_below(struct files *f, const char *path, unsigned depth);

static int files_look(struct files *f, const char *path, unsigned depth)
{
	struct stat st;
	int r = 0;

	if (++f->looked_at > FILES_ENTRIES || depth > LIMIT_WALK_DEPTH)
		return cordon_fail(f->err, CORDON_E_LIMIT, "too many files below guarded names");
	if (lstat(path, &st) < 0 || (f->guard->except && strcmp(path, f->guard->except) == 0) ||
	    scope_is_given_back(f->scope, f->guard, path, SCOPE_CHANGE))
		return 0;
	if (depth == 0 || (S_ISREG(st.st_mode) && st.st_nlink > 1))
		r = files_keep(f, &st);
	return r == 0 && S_ISDIR(st.st_mode) ? files_below(f, path, depth) : r;
}

static int files_below(struct files *f, const char *path, unsigned depth)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	int r = 0;

	while (dir && r == 0 && (e = readdir(dir))) {
		AUTO_FREE char *full = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		r = path_join(path, e->d_name, &full) < 0 ? cordon_nomem(f->err)
							  : files_look(f, full, depth + 1);
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

int scope_keep_files(struct scope *s, struct cordon_error *err)
{
	struct files f = {.scope = s, .err = err};
	size_t n = 0;
	int r = 0;

	/* Elsewhere rules of Landlock decide. */
	for (size_t i = 0; r == 0 && i < s->guard_count; i++) {
		f.guard = &s->guards[i];
		if (scope_is_writable(s, f.guard->path))
			r = files_look(&f, f.guard->path, 0);
	}
	if (r < 0 || s->kept_count == 0)
		return r;
	qsort(s->kept, s->kept_count, sizeof(*s->kept), files_by_number);
	/* One file under two guards is denied if one of them denies it. */
	for (size_t i = 1; i < s->kept_count; i++) {
		if (files_by_number(&s->kept[n], &s->kept[i]) == 0)
			s->kept[n].is_denied |= s->kept[i].is_denied;
		else
			s->kept[++n] = s->kept[i];
	}
	s->kept_count = n + 1;
	return 0;
}
