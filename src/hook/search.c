/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See look.h.  Searching tools read what they find, whatever directory they were given: one that starts at home and asks for
 * `.ssh/` + `*` reads what Read may not.  What is judged is the glob, as ripgrep and the agents' own matchers take it, against the
 * places of credentials:
 *
 *   a glob that names such a place, or a file in it, is a read of it;
 *   one of a kind of files (`*.json`) that fits one there, and a search without a glob from home or above, is told
 *   as such: it mostly looks for something else, so that a person is asked.
 *
 * Not judged is what lies elsewhere below: to list a home for each search would take seconds.  Nor is the content of large
 * stores (profiles of browsers): a glob for `*.js` fits there by accident.
 */
#include "hook/look.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/protected.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	SEARCH_GLOBS_MAX = 256,   /* after braces are opened */
	SEARCH_DEPTH_MAX = 8,     /* of braces */
	SEARCH_ENTRIES_MAX = 512, /* of one place of credentials */
};

enum search_hit { SEARCH_NOTHING, SEARCH_KIND, SEARCH_NAMED };

struct search {
	const struct look_place *place;
	char *root; /* absolute */
	struct strv globs;
	struct strv not ; /* those with '!' */
	bool is_all;      /* there is a glob that fits everything, or that we cannot read */
	bool lists_only;
	struct look_searched *ret;
};

static void search_done(struct search *s)
{
	strv_done(&s->globs);
	strv_done(&s->not );
	free(s->root);
}

/* Does the part of a glob say nothing about a name? */
static bool search_is_stars(const char *part, size_t len)
{
	return strspn(part, "*") >= len;
}

static int search_add(struct search *s, const char *glob)
{
	bool is_not = glob[0] == '!';
	AUTO_FREE char *text = strdup(glob + is_not);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return -ENOMEM;
	while (len > 1 && text[len - 1] == '/')
		text[--len] = '\0';
	if (len == 0)
		return 0;
	if (!is_not && (s->globs.n >= SEARCH_GLOBS_MAX || glob_check(text) < 0 ||
			strspn(text, "*/.") == len)) {
		s->is_all = true;
		return 0;
	}
	if (is_not && s->not .n >= SEARCH_GLOBS_MAX)
		return 0;
	return strv_add(is_not ? &s->not : &s->globs, text);
}

/* The end of a part between braces: a comma of this level, if they count, or what closes it.  NULL: nothing does. */
static const char *search_end(const char *part, bool by_comma)
{
	size_t level = 0;

	for (const char *c = part; *c; c++) {
		if (level == 0 && (*c == '}' || (by_comma && *c == ',')))
			return c;
		level += *c == '{';
		level -= *c == '}';
	}
	return NULL;
}

/* `{a,b}` is one glob for each.  What is not closed stays as it is. */
static int search_open(struct search *s, const char *glob, int depth)
{
	const char *open = strchr(glob, '{');
	const char *close = open ? search_end(open + 1, false) : NULL;
	int r = 0;

	if (!close)
		return search_add(s, glob);
	if (depth == 0 || s->globs.n >= SEARCH_GLOBS_MAX) {
		s->is_all = true;
		return 0;
	}
	for (const char *part = open + 1; r == 0 && part <= close;) {
		const char *end = search_end(part, true);
		AUTO_FREE char *one = NULL;

		if (asprintf(&one, "%.*s%.*s%s", (int)(open - glob), glob, (int)(end - part), part,
			     close + 1) < 0) {
			one = NULL;
			return -ENOMEM;
		}
		r = search_open(s, one, depth - 1);
		part = end + 1;
	}
	return r;
}

/* A list in one text, as agents take it: blanks between, or commas where there are no braces. */
static int search_split(struct search *s, const char *text)
{
	int r = 0;

	while (r == 0 && *text) {
		size_t len = strcspn(text, " \t\r\n");

		if (!memchr(text, '{', len))
			len = strcspn(text, " \t\r\n,");
		if (len > 0) {
			AUTO_FREE char *one = strndup(text, len);

			r = one ? search_open(s, one, SEARCH_DEPTH_MAX) : -ENOMEM;
		}
		text += len + (text[len] != '\0');
	}
	return r;
}

/* What the pattern says about a path, both relative to one directory. */
static enum search_hit search_fits(const char *pattern, const char *path)
{
	char prefix[LIMIT_PATH_BYTES];

	if (glob_match(pattern, path))
		return path_base(pattern)[0] == '*' ? SEARCH_KIND : SEARCH_NAMED;
	/* It names the directory, and goes on below. */
	for (const char *slash = strchr(pattern, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - pattern);
		const char *part = memrchr(pattern, '/', len);

		part = part ? part + 1 : pattern;
		if (len >= sizeof(prefix) || search_is_stars(part, (size_t)(slash - part)))
			continue;
		memcpy(prefix, pattern, len);
		prefix[len] = '\0';
		if (glob_match(prefix, path))
			return SEARCH_NAMED;
	}
	return SEARCH_NOTHING;
}

/* A name alone fits at any depth.  Gives a new string, or NULL without memory. */
static char *search_pattern(const char *glob)
{
	char *pattern = NULL;

	if (strchr(glob, '/'))
		return strdup(glob + strspn(glob, "/"));
	return asprintf(&pattern, "**/%s", glob) < 0 ? NULL : pattern;
}

static const char *search_rest(const char *dir, const char *path)
{
	const char *rest = path + (strcmp(dir, "/") == 0 ? 0 : strlen(dir));

	return rest + strspn(rest, "/");
}

static bool search_is_left_out(const struct search *s, const char *path)
{
	for (size_t i = 0; path_is_within(path, s->root) && i < s->not .n; i++) {
		AUTO_FREE char *pattern = search_pattern(s->not .v[i]);

		if (pattern && search_fits(pattern, search_rest(s->root, path)) != SEARCH_NOTHING)
			return true;
	}
	return false;
}

/* One place of credentials below dir, and the names in it.  pattern NULL: all. */
static enum search_hit search_place(const struct search *s, const char *dir, const char *pattern,
				    const char *path)
{
	enum search_hit best = SEARCH_KIND;
	const struct dirent *e;
	size_t n = 0;
	DIR *names;

	if (search_is_left_out(s, path))
		return SEARCH_NOTHING;
	if (pattern)
		best = search_fits(pattern, search_rest(dir, path));
	names = best == SEARCH_NOTHING ? opendir(path) : NULL;
	while (names && best < SEARCH_NAMED && (e = readdir(names))) {
		AUTO_FREE char *name = NULL;
		enum search_hit hit = SEARCH_KIND; /* of what is too much */

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++n <= SEARCH_ENTRIES_MAX && path_join(path, e->d_name, &name) == 0)
			hit = search_is_left_out(s, name)
				      ? SEARCH_NOTHING
				      : search_fits(pattern, search_rest(dir, name));
		best = hit > best ? hit : best;
		if (n > SEARCH_ENTRIES_MAX)
			break;
	}
	if (names)
		(void)closedir(names);
	return best;
}

/* All places of credentials below one directory. */
static int search_below(const struct search *s, const char *dir, const char *pattern)
{
	static const char *const of_system[] = {"/etc/shadow", "/etc/gshadow", "/etc/sudoers",
						"/etc/ssl/private", "/proc/self/environ"};
	const char *home = s->place->home;
	/* From home or above it is sure that there are some; a part of home may have none of them. */
	bool is_above = home && path_is_within(home, dir);
	int r = 0;

	for (size_t i = 0; r == 0 && i < credential_path_count + ARRAY_LEN(of_system); i++) {
		bool is_ours = i < credential_path_count;
		AUTO_FREE char *path = NULL;
		enum search_hit hit;

		if (is_ours && (!home || path_join(home, credential_paths[i], &path) < 0))
			continue;
		if (!is_ours && !(path = strdup(of_system[i - credential_path_count])))
			return -ENOMEM;
		if (!path_is_within(path, dir) || strcmp(path, dir) == 0 ||
		    (!(is_ours && is_above) && access(path, R_OK) < 0))
			continue;
		hit = search_place(s, dir, pattern, path);
		s->ret->is_kind |= hit == SEARCH_KIND;
		if (hit == SEARCH_NAMED)
			r = strv_add(&s->ret->named, path);
	}
	return r;
}

/* Below the directory as it is named, and where its links lead. */
static int search_both(const struct search *s, const char *dir, const char *pattern)
{
	AUTO_FREE char *real = NULL;
	int r = search_below(s, dir, pattern);

	if (r == 0)
		r = path_resolve(dir, &real);
	return r == 0 && strcmp(real, dir) != 0 ? search_below(s, real, pattern) : r;
}

/* The part of a glob from its first star on, below the directory that is before it. */
static int search_from(const struct search *s, const char *dir, const char *glob, const char *rest)
{
	AUTO_FREE char *pattern = NULL;

	if (rest > glob + strspn(glob, "/") && strv_add(&s->ret->named, dir) < 0)
		return -ENOMEM;
	if (!*rest)
		return 0;
	if (strstr(rest, "..")) {
		s->ret->is_kind = true;
		return 0;
	}
	pattern = strchr(glob, '/') ? strdup(rest) : search_pattern(rest);
	return pattern ? search_both(s, dir, pattern) : -ENOMEM;
}

/* The parts before the first star are a directory, also one out of the root (`../`): the rest is sought below that, and
 * where it leads by links before "..". */
static int search_glob(const struct search *s, const char *root, const char *glob)
{
	const char *rest = glob + strspn(glob, "/");
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *behind = NULL;
	int r;

	for (const char *slash = strchrnul(rest, '/');; slash = strchrnul(rest, '/')) {
		AUTO_FREE char *part = strndup(rest, (size_t)(slash - rest));

		if (!part)
			return -ENOMEM;
		if (glob_has_magic(part) || strchr(part, '\\') || !*part ||
		    (!*slash && s->lists_only))
			break;
		rest = slash + strspn(slash, "/");
	}
	if (asprintf(&named, "%s/%.*s", root, (int)(rest - glob), glob) < 0) {
		named = NULL;
		return -ENOMEM;
	}
	if (path_join("/", named, &dir) < 0)
		return 0; /* longer than any path */
	r = search_from(s, dir, glob, rest);
	if (r == 0)
		r = look_behind_links(s->place, named, &behind);
	if (r == -ENAMETOOLONG)
		return 0;
	return r == 0 && behind ? search_from(s, behind, glob, rest) : r;
}

int look_search(const struct look_place *p, const char *dir, const struct strv *globs,
		bool lists_only, struct look_searched *ret)
{
	AUTO(search_done)
	struct search s = {.place = p, .lists_only = lists_only, .ret = ret};
	int r = look_absolute(p, dir, &s.root);

	for (size_t i = 0; r == 0 && globs && i < globs->n; i++)
		r = search_split(&s, globs->v[i]);
	if (r == 0 && (s.is_all || s.globs.n == 0))
		r = search_both(&s, s.root, NULL);
	for (size_t i = 0; r == 0 && i < s.globs.n; i++) {
		const char *glob = s.globs.v[i];

		if (glob[0] == '~' && glob[1] == '/' && p->home) {
			r = search_glob(&s, p->home, glob + 1);
			continue;
		}
		r = search_glob(&s, s.root, glob);
		/* For some tools an absolute path, for ripgrep one from the root of the search. */
		if (r == 0 && glob[0] == '/')
			r = search_glob(&s, "/", glob);
	}
	return r;
}
