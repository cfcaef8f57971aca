/* SPDX-License-Identifier: Apache-2.0 */
/* See gitexec.h. */
#include "workspace/gitexec.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/gitdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define GITEXEC(section, subsection, key, value, why, hit, miss)                                   \
	{section, subsection, key, value, why, hit, miss},
const struct gitexec_row gitexec_rows[] = {
#include "workspace/gitexec.def"
};
const size_t gitexec_row_count = ARRAY_LEN(gitexec_rows);
#undef GITEXEC

/* Also of fsmonitor: "true" is git's own monitor. */
static bool gitexec_is_boolean(const char *value)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on",
					    "off",  "1",     "0",   ""};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(words[i], value) == 0)
			return true;
	return false;
}

static bool gitexec_has_key(const char *want, const char *key)
{
	if (!want)
		return true;
	return *want == '*' ? str_ends(key, want + 1) : strcmp(want, key) == 0;
}

static bool gitexec_has_subsection(const char *want, const char *subsection)
{
	if (want && *want == '=')
		return !*subsection;
	return !want || strncasecmp(subsection, want, strlen(want)) == 0;
}

static bool gitexec_has_value(const char *want, const char *value)
{
	if (!want)
		return !gitexec_is_boolean(value);
	return *want == '*' ? strcasestr(value, want + 1) != NULL
			    : strncasecmp(value, want, strlen(want)) == 0;
}

const struct gitexec_row *gitexec_match(const struct gitini_entry *e)
{
	for (size_t i = 0; i < ARRAY_LEN(gitexec_rows); i++) {
		const struct gitexec_row *row = &gitexec_rows[i];

		if ((!row->section || strcmp(row->section, e->section) == 0) &&
		    gitexec_has_key(row->key, e->key) &&
		    gitexec_has_subsection(row->subsection, e->subsection) &&
		    gitexec_has_value(row->value, e->value))
			return row;
	}
	return NULL;
}

struct gitexec_reader {
	const char *gitdir; /* NULL: a configuration by itself */
	struct strv *found;
};

static int gitexec_entry(const struct gitini_entry *e, void *arg)
{
	const struct gitexec_reader *r = arg;

	if (!gitexec_match(e))
		return 0;
	if (r->found->n >= GITEXEC_FOUND_MAX)
		return 0;
	/* As submodules have it. */
	if (r->gitdir && strcmp(e->section, "core") == 0 && strcmp(e->key, "worktree") == 0 &&
	    gitdir_owns_tree(r->gitdir, e->value))
		return 0;
	return strv_addf(r->found, "%.*s%s%.*s.%.*s=%.*s", GITEXEC_VALUE_MAX, e->section,
			 *e->subsection ? "." : "", GITEXEC_VALUE_MAX, e->subsection,
			 GITEXEC_VALUE_MAX, e->key, GITEXEC_VALUE_MAX, e->value);
}

int gitexec_config(const char *text, size_t len, struct strv *ret)
{
	return gitini_read(text, len, gitexec_entry, &(struct gitexec_reader){.found = ret});
}

static int gitexec_hooks(const char *gitdir, struct strv *ret)
{
	AUTO_FREE char *path = NULL;
	const struct dirent *e;
	DIR *dir;
	int r = path_join(gitdir, "hooks", &path);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	dir = opendir(path);
	while (dir && r == 0 && ret->n < GITEXEC_FOUND_MAX && (e = readdir(dir)))
		if (e->d_name[0] != '.' && !str_ends(e->d_name, ".sample"))
			r = strv_addf(ret, "hooks/%.*s", GITEXEC_VALUE_MAX, e->d_name);
	if (dir)
		(void)closedir(dir);
	return r;
}

static int gitexec_files(const char *dir, const char *gitdir, struct strv *ret)
{
	static const char *const files[] = {"config", "config.worktree"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = NULL;
		AUTO_FREE char *text = NULL;
		size_t len;

		if (path_join(dir, files[i], &path) < 0)
			continue;
		r = io_read_file_at(AT_FDCWD, path, LIMIT_MANIFEST_BYTES, &text, &len);
		if (r == 0)
			r = gitini_read(text, len, gitexec_entry,
					&(struct gitexec_reader){.gitdir = gitdir, .found = ret});
		else if (r != -ENOENT && r != -ENOMEM)
			r = strv_addf(ret, "%s, which cannot be read", files[i]);
		else if (r == -ENOENT)
			r = 0;
	}
	return r < 0 ? r : gitexec_hooks(dir, ret);
}

int gitexec_find(const char *gitdir, struct strv *ret)
{
	AUTO_FREE char *common = NULL;
	int r = gitexec_files(gitdir, gitdir, ret);

	/* What a repository shares with others acts for it, and is nobody's repository by itself. */
	if (r == 0 && gitdir_common(gitdir, &common) == 0 && strcmp(common, gitdir) != 0)
		r = gitexec_files(common, gitdir, ret);
	return r;
}
