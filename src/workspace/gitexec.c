/* SPDX-License-Identifier: Apache-2.0 */
/* See gitexec.h. */
#include "workspace/gitexec.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define GITEXEC_BOM "\xef\xbb\xbf"

/* Section and key; a section ends at its name, whatever subsection follows.  Values that are harmless (booleans,
 * aliases without '!') are passed by. */
static const struct gitexec_row {
	const char *section;
	const char *key;    /* NULL: every key */
	const char *begins; /* of the value; NULL: any but a boolean */
} gitexec_rows[] = {
	{"core", "fsmonitor", NULL},
	{"core", "hookspath", NULL},
	{"core", "sshcommand", NULL},
	{"core", "pager", NULL},
	{"core", "editor", NULL},
	{"core", "askpass", NULL},
	{"core", "gitproxy", NULL},
	{"core", "alternaterefscommand", NULL},
	{"sequence", "editor", NULL},
	{"alias", NULL, "!"},
	{"pager", NULL, NULL},
	{"browser", NULL, NULL},
	{"credential", "helper", NULL},
	{"diff", "external", NULL},
	{"diff", "command", NULL},
	{"diff", "textconv", NULL},
	{"difftool", NULL, NULL},
	{"filter", NULL, NULL},
	{"gc", "recentobjectshook", NULL},
	{"gpg", "program", NULL},
	{"gpg", "defaultkeycommand", NULL},
	{"include", "path", NULL},
	{"includeif", "path", NULL},
	{"interactive", "difffilter", NULL},
	{"man", NULL, NULL},
	{"merge", "driver", NULL},
	{"mergetool", NULL, NULL},
	{"protocol", "allow", "always"},
	{"receive", "procreceiverefs", NULL},
	{"remote", "receivepack", NULL},
	{"remote", "uploadpack", NULL},
	{"remote", "url", "ext::"},
	{"remote", "vcs", NULL},
	{"sendemail", NULL, NULL},
	{"submodule", "update", "!"},
	{"trailer", "command", NULL},
	{"trailer", "cmd", NULL},
	{"uploadpack", "packobjectshook", NULL},
	{"web", "browser", NULL},
};

/* Also of fsmonitor: "true" is git's own monitor. */
static bool gitexec_is_boolean(const char *value, size_t len)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on",
					    "off",  "1",     "0",   ""};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == len && strncasecmp(words[i], value, len) == 0)
			return true;
	return false;
}

static bool gitexec_matches(const char *word, size_t len, const char *want)
{
	return strlen(want) == len && strncasecmp(word, want, len) == 0;
}

static bool gitexec_runs(const char *section, size_t section_len, const char *key, size_t key_len,
			 const char *value, size_t value_len)
{
	const char *plain = value;
	size_t plain_len = value_len;
	bool goes_on = value_len && value[value_len - 1] == '\\'; /* in the next line */

	/* "quoted" and quo"ted" are the same to git */
	while (plain_len && (*plain == '"' || *plain == '\\')) {
		plain++;
		plain_len--;
	}
	while (plain_len && plain[plain_len - 1] == '"')
		plain_len--;
	for (size_t i = 0; i < ARRAY_LEN(gitexec_rows); i++) {
		const struct gitexec_row *row = &gitexec_rows[i];

		if (!gitexec_matches(section, section_len, row->section) ||
		    (row->key && !gitexec_matches(key, key_len, row->key)))
			continue;
		if (row->begins)
			return goes_on ||
			       (plain_len >= strlen(row->begins) &&
				strncasecmp(plain, row->begins, strlen(row->begins)) == 0);
		return goes_on || !gitexec_is_boolean(plain, plain_len);
	}
	return false;
}

/* One variable: what stands before '=' and after it, without blanks around. */
static int gitexec_variable(const char *section, size_t section_len, const char *line,
			    const char *stop, struct strv *ret)
{
	const char *key = line;
	const char *value;
	size_t key_len = 0;

	while (key + key_len < stop &&
	       (isalnum((unsigned char)key[key_len]) || key[key_len] == '-'))
		key_len++;
	if (key_len == 0)
		return 0;
	for (value = key + key_len; value < stop && strchr(" \t=", *value); value++)
		;
	if (!gitexec_runs(section, section_len, key, key_len, value, (size_t)(stop - value)))
		return 0;
	return strv_addf(ret, "%.*s.%.*s=%.*s", (int)section_len, section, (int)key_len, key,
			 stop - value > GITEXEC_VALUE_MAX ? GITEXEC_VALUE_MAX : (int)(stop - value),
			 value);
}

/* The end of a header: [section], [section "sub"] or [section.sub].  A variable may follow on the same line. */
static const char *gitexec_after_header(const char *line, const char *stop)
{
	const char *close = memchr(line, ']', (size_t)(stop - line));
	const char *quote = memchr(line, '"', (size_t)(stop - line));

	if (quote && quote < close) {
		const char *end = memmem(quote + 1, (size_t)(stop - quote - 1), "\"]", 2);

		close = end ? end + 1 : close;
	}
	line = close ? close + 1 : stop;
	while (line < stop && isspace((unsigned char)*line))
		line++;
	return line;
}

int gitexec_config(const char *text, size_t len, struct strv *ret)
{
	const char *end = text + len;
	const char *section = "";
	size_t section_len = 0;

	if (len >= strlen(GITEXEC_BOM) && memcmp(text, GITEXEC_BOM, strlen(GITEXEC_BOM)) == 0)
		text += strlen(GITEXEC_BOM); /* as git does */
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *line = text;
		int r;

		text = newline ? newline + 1 : end;
		while (line < stop && isspace((unsigned char)*line))
			line++;
		while (stop > line && isspace((unsigned char)stop[-1]))
			stop--;
		while (line < stop && *line == '[') {
			section = line + 1;
			while (section < stop && isspace((unsigned char)*section))
				section++;
			section_len = 0;
			while (section + section_len < stop &&
			       (isalnum((unsigned char)section[section_len]) ||
				section[section_len] == '-'))
				section_len++;
			line = gitexec_after_header(line, stop);
		}
		r = gitexec_variable(section, section_len, line, stop, ret);
		if (r < 0)
			return r;
	}
	return 0;
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
	while (dir && r == 0 && (e = readdir(dir)))
		if (e->d_name[0] != '.' && !str_ends(e->d_name, ".sample"))
			r = strv_addf(ret, "hooks/%.*s", GITEXEC_VALUE_MAX, e->d_name);
	if (dir)
		(void)closedir(dir);
	return r;
}

int gitexec_find(const char *gitdir, struct strv *ret)
{
	static const char *const files[] = {"config", "config.worktree"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = NULL;
		AUTO_FREE char *text = NULL;
		size_t len;

		if (path_join(gitdir, files[i], &path) < 0)
			continue;
		r = io_read_file_at(AT_FDCWD, path, LIMIT_MANIFEST_BYTES, &text, &len);
		if (r == 0)
			r = gitexec_config(text, len, ret);
		else if (r != -ENOENT && r != -ENOMEM)
			r = strv_addf(ret, "%s, which cannot be read", files[i]);
		else if (r == -ENOENT)
			r = 0;
	}
	return r < 0 ? r : gitexec_hooks(gitdir, ret);
}
