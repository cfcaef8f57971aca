/* SPDX-License-Identifier: Apache-2.0 */
/* See jsonc.h. */
#include "base/jsonc.h"

#include <string.h>

#define JSONC_NONE ((size_t)-1)

/* From i on, a comment: blanks it and returns where it ends. */
static size_t jsonc_comment(char *text, size_t len, size_t i)
{
	bool is_line = text[i + 1] == '/';

	text[i] = text[i + 1] = ' ';
	for (i += 2; i < len; i++) {
		if (is_line && text[i] == '\n')
			return i;
		if (!is_line && text[i] == '*' && i + 1 < len && text[i + 1] == '/') {
			text[i] = text[i + 1] = ' ';
			return i + 2;
		}
		if (text[i] != '\n' && text[i] != '\r')
			text[i] = ' ';
	}
	return len;
}

void jsonc_blank(char *text, size_t len, unsigned flags)
{
	size_t comma = JSONC_NONE;
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
			continue;
		}
		if ((flags & JSONC_COMMENTS) && c == '/' && i + 1 < len &&
		    (text[i + 1] == '/' || text[i + 1] == '*')) {
			i = jsonc_comment(text, len, i) - 1;
			continue;
		}
		if (strchr(" \t\r\n", c) && c != '\0')
			continue;
		if ((flags & JSONC_TRAILING_COMMAS) && comma != JSONC_NONE &&
		    (c == ']' || c == '}'))
			text[comma] = ' ';
		comma = c == ',' ? i : JSONC_NONE;
		in_string = c == '"';
	}
}
