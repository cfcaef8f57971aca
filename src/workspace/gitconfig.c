/* SPDX-License-Identifier: Apache-2.0 */
/* See gitconfig.h. */
#include "workspace/gitconfig.h"

#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define GITCONFIG_KEY_MAX 16384 /* a public key: RSA of 16,384 bits has 2,800 characters */

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

bool gitconfig_value(const char *text, size_t len, const char *section, const char *key, char *ret,
		     size_t size)
{
	const char *end = text + len;
	bool is_inside = false;
	bool is_found = false;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *line = text;

		text = newline ? newline + 1 : end;
		while (line < stop && isspace((unsigned char)*line))
			line++;
		while (stop > line && isspace((unsigned char)stop[-1]))
			stop--;
		if (line < stop && *line == '[')
			is_inside = (size_t)(stop - line) == strlen(section) &&
				    strncasecmp(line, section, strlen(section)) == 0;
		if (!is_inside || !gitconfig_key_is(line, (size_t)(stop - line), key))
			continue;
		line += strlen(key);
		while (line < stop && isspace((unsigned char)*line))
			line++;
		if (line == stop || *line != '=')
			continue;
		line++;
		while (line < stop && (isspace((unsigned char)*line) || *line == '"'))
			line++;
		if (stop > line && stop[-1] == '"')
			stop--;
		is_found = (size_t)(stop - line) < size &&
			   !memchr(line, '\\', (size_t)(stop - line));
		if (is_found) {
			memcpy(ret, line, (size_t)(stop - line));
			ret[stop - line] = '\0';
		}
	}
	return is_found;
}

/* The first line of a public key's file: NAME, or NAME.pub. */
static int gitconfig_public_key(const char *name, const char *home, struct buf *out)
{
	static const char *const endings[] = {"", ".pub"};

	if (*name == '~' && name[1] == '/')
		name += 2;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		AUTO_FREE char *path = NULL;
		AUTO_FREE char *text = NULL;
		struct buf file = BUF_INIT(LIMIT_PATH_BYTES);
		size_t len;
		int r;

		buf_printf(&file, "%s%s", name, endings[i]);
		r = path_join(home, buf_cstr(&file), &path);
		buf_done(&file);
		if (r < 0 || io_read_file_at(AT_FDCWD, path, GITCONFIG_KEY_MAX, &text, &len) < 0)
			continue;
		text[strcspn(text, "\n")] = '\0';
		/* Never a private key. */
		if (!str_starts(text, "ssh-") && !str_starts(text, "ecdsa-") &&
		    !str_starts(text, "sk-"))
			continue;
		buf_str(out, text);
		return 0;
	}
	return -ENOENT;
}

bool gitconfig_signing(const char *text, size_t len, const char *home, struct buf *out)
{
	static const char *const signs[][2] = {{"[commit]", "gpgsign"}, {"[tag]", "gpgsign"}};
	char value[GITCONFIG_KEY_MAX];
	struct buf key = BUF_INIT(GITCONFIG_KEY_MAX);
	bool has_key;

	if (!gitconfig_value(text, len, "[gpg]", "format", value, sizeof(value)) ||
	    strcasecmp(value, "ssh") != 0 ||
	    !gitconfig_value(text, len, "[user]", "signingkey", value, sizeof(value)))
		return false;
	if (str_starts(value, "key::"))
		buf_str(&key, value + strlen("key::"));
	else if (str_starts(value, "ssh-"))
		buf_str(&key, value);
	has_key = key.len > 0 || gitconfig_public_key(value, home, &key) == 0;
	/* Nothing that could end the value. */
	has_key = has_key && buf_error(&key) == 0 && !strpbrk(buf_cstr(&key), "\"\\");
	if (has_key) {
		buf_printf(out, "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = \"key::%s\"\n",
			   buf_cstr(&key));
		for (size_t i = 0; i < ARRAY_LEN(signs); i++)
			if (gitconfig_value(text, len, signs[i][0], signs[i][1], value,
					    sizeof(value)))
				buf_printf(out, "%s\n\tgpgSign = %s\n", signs[i][0],
					   strcasecmp(value, "true") == 0 ? "true" : "false");
	}
	buf_done(&key);
	return has_key;
}
