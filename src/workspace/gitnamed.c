/* SPDX-License-Identifier: Apache-2.0 */
/* See gitnamed.h. */
#include "workspace/gitnamed.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/gitexec.h"
#include "workspace/gitini.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define GITNAMED_INCLUDE_DEPTH 10 /* git follows no more */
#define GITNAMED_FILES_MAX 64     /* that are included */

void gitnamed_done(struct gitnamed *n)
{
	strv_done(&n->hooks);
	strv_done(&n->included);
	strv_done(&n->trees);
	strv_done(&n->programs);
}

/* Not a shell's grammar: what stands between blanks, quotes and operators.  $PWD/x, "$(pwd)/x" and ${X}/x become /x, which is
 * looked for from the top of the working tree, too. */
int gitnamed_words(const char *command, struct gitnamed *ret)
{
	static const char between[] = " \t\n\"'`\\;|&()<>{}$=,!";
	const char *p = command;
	int r = 0;

	while (r == 0 && *(p += strspn(p, between))) {
		size_t len = strcspn(p, between);
		AUTO_FREE char *word = NULL;
		const char *name;

		if (p > command && p[-1] == '$')
			name = memchr(p, '/', len);
		else
			name = p;
		if (name && !strchr("-%*", *name) && len < LIMIT_PATH_BYTES) {
			word = strndup(name, len - (size_t)(name - p));
			if (!word)
				return -ENOMEM;
			if (strpbrk(word, "/.") && !strstr(word, "://") &&
			    !strv_has(&ret->programs, word))
				r = ret->programs.n < GITNAMED_PROGRAMS_MAX
					    ? strv_add(&ret->programs, word)
					    : -E2BIG;
		}
		p += len;
	}
	return r;
}

struct gitnamed_reader {
	const char *dir; /* of the file */
	const char *home;
	struct gitnamed *ret;
};

static int gitnamed_add_path(const struct gitnamed_reader *r, const char *value, struct strv *ret)
{
	AUTO_FREE char *joined = NULL;
	AUTO_FREE char *path = NULL;
	const char *dir = r->dir;

	if (str_starts(value, "~/")) {
		dir = r->home;
		value += 2;
	}
	if (!dir || *value == '~' || path_join(dir, value, &joined) < 0 ||
	    path_normalise(joined, &path) < 0)
		return 0; /* somebody else's home, or no path */
	return strv_has(ret, path) ? 0 : strv_add(ret, path);
}

static int gitnamed_entry(const struct gitini_entry *e, void *arg)
{
	const struct gitnamed_reader *r = arg;
	bool is_core = strcmp(e->section, "core") == 0;

	if (is_core && strcmp(e->key, "hookspath") == 0)
		return str_starts(e->value, "~/") ? gitnamed_add_path(r, e->value, &r->ret->hooks)
		       : *e->value                ? strv_add(&r->ret->hooks, e->value)
						  : 0;
	if (strcmp(e->section, "init") == 0 && strcmp(e->key, "templatedir") == 0)
		return gitnamed_add_path(r, e->value, &r->ret->hooks);
	if (str_starts(e->section, "include") && strcmp(e->key, "path") == 0)
		return r->ret->included.n < GITNAMED_FILES_MAX
			       ? gitnamed_add_path(r, e->value, &r->ret->included)
			       : 0;
	if (is_core && strcmp(e->key, "worktree") == 0)
		return gitnamed_add_path(r, e->value, &r->ret->trees);
	if (is_core && strcmp(e->key, "attributesfile") == 0)
		return 0; /* .gitattributes of the tree say as much */
	if (!gitexec_match(e))
		return 0;
	if (strcmp(e->section, "url") == 0)
		return gitnamed_words(e->subsection, r->ret);
	if (str_starts(e->value, "~/"))
		return gitnamed_add_path(r, e->value, &r->ret->programs);
	return gitnamed_words(e->value, r->ret);
}

static int gitnamed_read_file(const char *file, const char *home, int depth, struct gitnamed *ret)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *dir = strndup(file, (size_t)(path_base(file) - file));
	struct gitnamed_reader reader = {.dir = dir, .home = home, .ret = ret};
	size_t first = ret->included.n;
	size_t len;
	int r;

	if (!dir)
		return -ENOMEM;
	if (io_read_file_at(AT_FDCWD, file, LIMIT_MANIFEST_BYTES, &text, &len) < 0)
		return 0; /* git cannot read it either */
	r = gitini_read(text, len, gitnamed_entry, &reader);
	for (size_t i = first, n = ret->included.n; r == 0 && depth > 0 && i < n; i++) {
		AUTO_FREE char *name = strdup(ret->included.v[i]);

		r = name ? gitnamed_read_file(name, home, depth - 1, ret) : -ENOMEM;
	}
	return r;
}

int gitnamed_read_dir(const char *gitdir, const char *home, struct gitnamed *ret)
{
	static const char *const files[] = {"config", "config.worktree"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = NULL;

		r = path_join(gitdir, files[i], &path);
		if (r == 0)
			r = gitnamed_read_file(path, home, GITNAMED_INCLUDE_DEPTH, ret);
	}
	return r;
}

int gitnamed_read_person(const char *home, struct gitnamed *ret)
{
	static const char *const files[] = {".gitconfig", ".config/git/config"};
	int r = gitnamed_read_file("/etc/gitconfig", home, GITNAMED_INCLUDE_DEPTH, ret);

	for (size_t i = 0; r == 0 && home && i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = NULL;

		r = path_join(home, files[i], &path);
		if (r == 0)
			r = gitnamed_read_file(path, home, GITNAMED_INCLUDE_DEPTH, ret);
	}
	return r;
}
