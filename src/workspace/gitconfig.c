/* SPDX-License-Identifier: Apache-2.0 */
/* See gitconfig.h. */
#include "workspace/gitconfig.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum gitconfig_section { SECTION_OTHER, SECTION_USER, SECTION_INIT, SECTION_CORE, SECTION_COUNT };

static const char *const gitconfig_headers[SECTION_COUNT] = {
	[SECTION_USER] = "[user]",
	[SECTION_INIT] = "[init]",
	[SECTION_CORE] = "[core]",
};

/* What names a file or a program, and signing, which needs a key that is not there. */
static const char *const gitconfig_left_out[] = {"signingkey", "templatedir"};

static bool gitconfig_key_is(const char *line, size_t len, const char *key)
{
	size_t n = strlen(key);

	return len > n && strncasecmp(line, key, n) == 0 && !isalnum((unsigned char)line[n]) &&
	       line[n] != '-';
}

static bool gitconfig_is_kept(enum gitconfig_section section, const char *line, size_t len)
{
	if (len == 0 || !isalpha((unsigned char)*line) || line[len - 1] == '\\' ||
	    memchr(line, '\0', len))
		return false;
	for (size_t i = 0; i < sizeof(gitconfig_left_out) / sizeof(gitconfig_left_out[0]); i++)
		if (gitconfig_key_is(line, len, gitconfig_left_out[i]))
			return false;
	switch (section) {
	case SECTION_USER:
	case SECTION_INIT:
		return true;
	case SECTION_CORE:
		return gitconfig_key_is(line, len, "autocrlf");
	case SECTION_OTHER:
	case SECTION_COUNT:
		break;
	}
	return false;
}

static enum gitconfig_section gitconfig_section_of(const char *line, size_t len)
{
	for (int s = SECTION_USER; s < SECTION_COUNT; s++) {
		size_t n = strlen(gitconfig_headers[s]);

		if (len == n && strncasecmp(line, gitconfig_headers[s], n) == 0)
			return (enum gitconfig_section)s;
	}
	return SECTION_OTHER;
}

void gitconfig_subset(const char *text, size_t len, struct buf *out)
{
	enum gitconfig_section section = SECTION_OTHER;
	const char *end = text + len;
	bool continues = false;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *line = text;
		bool is_rest = continues;

		text = newline ? newline + 1 : end;
		while (line < stop && isspace((unsigned char)*line))
			line++;
		while (stop > line && isspace((unsigned char)stop[-1]))
			stop--;
		continues = stop > line && stop[-1] == '\\';
		if (is_rest || line == stop)
			continue;
		if (*line == '[') {
			section = gitconfig_section_of(line, (size_t)(stop - line));
			continue;
		}
		if (!gitconfig_is_kept(section, line, (size_t)(stop - line)))
			continue;
		buf_printf(out, "%s\n\t%.*s\n", gitconfig_headers[section], (int)(stop - line),
			   line);
	}
}
