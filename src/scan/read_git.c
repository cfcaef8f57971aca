/* SPDX-License-Identifier: Apache-2.0 */
/* What makes git run something: configuration, submodules, filters, hooks; and scripts that are run like them. */
#include "scan/line.h"

#include "base/str.h"
#include "inspect/code.h"
#include "workspace/gitexec.h"

#include <string.h>
#include <strings.h>

/* What every installation of a well-known helper writes. */
static bool git_is_usual(const char *line)
{
	static const char *const usual[] = {"filter.lfs.clean=git-lfs clean",
					    "filter.lfs.smudge=git-lfs smudge",
					    "filter.lfs.process=git-lfs filter-process",
					    "credential.helper=store",
					    "credential.helper=cache",
					    "credential.helper=osxkeychain",
					    "credential.helper=manager"};
	const char *value = strchr(line, '=');

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (strncasecmp(line, usual[i], strlen(usual[i])) == 0)
			return true;
	/* A submodule says where it is. */
	if (str_starts(line, "core.worktree=../"))
		return true;
	return value && (strcasecmp(value, "=true") == 0 || strcasecmp(value, "=false") == 0);
}

static bool git_is_usual_hooks_path(const char *value)
{
	static const char *const usual[] = {".husky", ".husky/_", ".githooks", ".git/hooks",
					    "hooks",  ".hooks",   "githooks"};

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (strcmp(value, usual[i]) == 0)
			return true;
	return false;
}

int scan_read_gitconfig(struct scan_reader *r)
{
	struct strv lines = {0};
	int e = 0;

	if (gitexec_config(r->source->text, r->source->len, &lines) < 0)
		e = cordon_nomem(r->err);
	for (size_t i = 0; e == 0 && i < lines.n; i++) {
		const char *line = lines.v[i];

		if (strncasecmp(line, "core.hookspath=", 15) == 0) {
			if (!git_is_usual_hooks_path(line + 15))
				e = scan_found(r, SCAN_GIT_HOOKS_PATH, scan_place(r, line + 15),
					       line);
		} else if (!git_is_usual(line)) {
			const char *value = strchr(line, '=');

			e = scan_found(r, SCAN_GIT_CONFIG, value ? scan_place(r, value + 1) : NULL,
				       line);
		}
	}
	strv_done(&lines);
	return e;
}

int scan_read_gitmodules(struct scan_reader *r)
{
	static const char *const keys[] = {"url", "path", "update"};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		const char *s = line + strspn(line, " \t");
		const char *equals = memchr(line, '=', len);
		const char *value = equals ? equals + 1 + strspn(equals + 1, " \t\"") : NULL;

		/* Its name becomes a path in .git/modules. */
		if (str_starts(s, "[submodule") && scan_line_has(line, len, "../")) {
			e = scan_found(r, SCAN_GIT_MODULE, line, s);
			continue;
		}
		for (size_t i = 0; value && i < ARRAY_LEN(keys); i++) {
			if (strncasecmp(s, keys[i], strlen(keys[i])) != 0)
				continue;
			if (value[0] == '-' || value[0] == '!' || str_starts(value, "ext::") ||
			    str_starts(value, "fd::") ||
			    (i == 1 && (value[0] == '/' || str_starts(value, "../") ||
					memmem(value, len - (size_t)(value - line), "/../", 4))))
				e = scan_found(r, SCAN_GIT_MODULE, line, value);
			break;
		}
	}
	return e;
}

int scan_read_gitattributes(struct scan_reader *r)
{
	static const char *const usual[] = {"lfs", "git-crypt", "nbstripout", "tabify", "-"};
	size_t len = 0;
	int e = 0;

	for (const char *line = scan_next_line(r, NULL, &len); e == 0 && line;
	     line = scan_next_line(r, line, &len)) {
		const char *filter = memmem(line, len, "filter=", 7);
		bool is_usual = !filter || line[0] == '#';

		for (size_t i = 0; !is_usual && i < ARRAY_LEN(usual); i++)
			is_usual = strncmp(filter + 7, usual[i], strlen(usual[i])) == 0;
		if (!is_usual)
			e = scan_found(r, SCAN_GIT_FILTER, line, filter);
	}
	return e;
}

/* A hook or another script that somebody runs without reading it: by its first line. */
int scan_read_script(struct scan_reader *r)
{
	struct inspect_context c = {
		.policy = r->source->policy,
		.home = r->source->home,
		.path = r->source->path,
		.document = INSPECT_DOCUMENT_SOURCE,
	};
	const char *text = r->source->text;
	size_t first = strcspn(text, "\n");

	/* A compiled program is not text.  Some NUL does not make one: a shell reads on unless it is in the first line. */
	if (str_ends(r->source->path, ".sample") ||
	    (text[first] == '\0' && first < r->source->len &&
	     (str_starts(text, "\177ELF") || str_starts(text, "MZ") ||
	      str_starts(text, "\xcf\xfa\xed\xfe"))))
		return 0;
	if (str_starts(text, "#!") && memmem(text, first, "python", 6))
		return code_inspect(&c, CODE_PYTHON, text, r->source->len, r->findings, r->err);
	if (str_starts(text, "#!") && !memmem(text, first, "sh", 2))
		return 0;
	return scan_command(r, text, r->source->len, text);
}
