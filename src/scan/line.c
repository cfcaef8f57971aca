/* SPDX-License-Identifier: Apache-2.0 */
/* See line.h. */
#include "scan/line.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *scan_next_line(const struct scan_reader *r, const char *after, size_t *len)
{
	const char *end = r->source->text + r->source->len;
	const char *line = r->source->text;
	const char *stop;

	if (after) {
		line = memchr(after, '\n', (size_t)(end - after));
		line = line ? line + 1 : end;
	}
	if (line >= end)
		return NULL;
	stop = memchr(line, '\n', (size_t)(end - line));
	*len = (size_t)((stop ? stop : end) - line);
	return line;
}

bool scan_line_has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

bool scan_line_value(const char *line, size_t len, const char *key, char *ret, size_t size)
{
	size_t n = strlen(key);
	const char *end = line + len;

	while (line < end && strchr(" \t-\"'", *line))
		line++;
	if ((size_t)(end - line) <= n || strncasecmp(line, key, n) != 0)
		return false;
	line += n;
	while (line < end && strchr(" \t\"'", *line))
		line++;
	if (line >= end || (*line != '=' && *line != ':'))
		return false;
	line++;
	while (line < end && strchr(" \t\"'", *line))
		line++;
	while (end > line && strchr(" \t\r\"',", end[-1]))
		end--;
	(void)snprintf(ret, size, "%.*s", (int)(end - line), line);
	return true;
}

bool scan_is_plain_url(const char *url)
{
	static const char *const plain[] = {"http://",     "http\\://",        "ws://",
					    "git+http://", "registry+http://", "git://"};
	static const char *const local[] = {"localhost", "127.", "[::1]", "0.0.0.0",
					    "host.docker.internal"};
	const char *host = NULL;

	for (size_t i = 0; !host && i < ARRAY_LEN(plain); i++)
		if (str_starts(url, plain[i]))
			host = url + strlen(plain[i]);
	for (size_t i = 0; host && i < ARRAY_LEN(local); i++)
		if (str_starts(host, local[i]))
			return false;
	return host != NULL;
}
