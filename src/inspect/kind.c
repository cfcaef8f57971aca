/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See kind.h.  The name of the file, the #! line and words at the beginnings of lines decide, in this order;
 * only the first KIND_LOOK bytes are read.  Prose is told from commands by its words: most of them are made of
 * letters, and it begins as a sentence or a heading does.
 */
#include "inspect/kind.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum {
	KIND_LOOK = 8192,
	KIND_PROSE_WORDS = 5,    /* fewer are no prose */
	KIND_PROSE_PERCENT = 70, /* of the words, made of letters */
};

static const struct {
	const char *suffix;
	enum inspect_kind kind;
} kind_suffixes[] = {
	{".py", INSPECT_PYTHON}, {".pyw", INSPECT_PYTHON}, {".go", INSPECT_GO},
	{".sh", INSPECT_BASH},   {".bash", INSPECT_BASH},  {".zsh", INSPECT_BASH},
	{".ksh", INSPECT_BASH},  {".md", INSPECT_TEXT},    {".mdc", INSPECT_TEXT},
	{".txt", INSPECT_TEXT},  {".rst", INSPECT_TEXT},   {".html", INSPECT_TEXT},
};

/* The line of len bytes starts with word and goes on with a blank or the end. */
static bool kind_starts(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && memcmp(line, word, n) == 0 &&
	       (len == n || line[n] == ' ' || line[n] == '\t');
}

static bool kind_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* What follows is names with commas, blanks and `as` between: no sentence. */
static bool kind_is_import(const char *line, size_t len)
{
	size_t names = 0, commas = 0;

	for (size_t i = strlen("import"); i < len; i++) {
		if (kind_is_name(line[i]) && !kind_is_name(line[i - 1])) {
			if (names > 0 && len - i > 3 && memcmp(line + i, "as ", 3) == 0) {
				i += 2;
				continue;
			}
			names++;
		} else if (line[i] == ',' || line[i] == ';') {
			commas++;
		} else if (line[i] == '#') {
			break;
		} else if (!kind_is_name(line[i]) && line[i] != ' ') {
			return false;
		}
	}
	return names > 0 && names <= 2 * (commas + 1);
}

static bool kind_line_is_python(const char *line, size_t len)
{
	if (kind_starts(line, len, "import"))
		return kind_is_import(line, len);
	if (kind_starts(line, len, "from"))
		return memmem(line, len, " import ", 8) != NULL;
	return (kind_starts(line, len, "def") || kind_starts(line, len, "class") ||
		kind_starts(line, len, "async")) &&
	       line[len - 1] == ':';
}

static enum inspect_kind kind_of_shebang(const char *line, size_t len)
{
	if (memmem(line, len, "python", 6))
		return INSPECT_PYTHON;
	return memmem(line, len, "sh", 2) ? INSPECT_BASH : INSPECT_AUTO;
}

static enum inspect_kind kind_of_lines(const char *text, size_t len)
{
	bool has_package = false;

	for (size_t at = 0; at < len;) {
		const char *line = text + at;
		const char *end = memchr(line, '\n', len - at);
		size_t n = end ? (size_t)(end - line) : len - at;

		if (at == 0 && n > 2 && line[0] == '#' && line[1] == '!')
			return kind_of_shebang(line, n);
		if (n > 0 && line[n - 1] == '\r')
			n--;
		if (n > 0 && kind_line_is_python(line, n))
			return INSPECT_PYTHON;
		if (has_package && (kind_starts(line, n, "import") || kind_starts(line, n, "func")))
			return INSPECT_GO;
		has_package |= kind_starts(line, n, "package") && n > strlen("package ");
		at += (end ? (size_t)(end - line) : len - at) + 1;
	}
	return INSPECT_AUTO;
}

/* A word of letters, perhaps with punctuation at its end. */
static bool kind_is_plain(const char *word, size_t len)
{
	while (len > 1 && strchr(".,;:!?)\"'", word[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++)
		if (!isalpha((unsigned char)word[i]) && word[i] != '\'' &&
		    (unsigned char)word[i] < 0x80)
			return false;
	return true;
}

static bool kind_is_prose(const char *text, size_t len)
{
	size_t words = 0, plain = 0, at = 0;
	char first;

	while (at < len && isspace((unsigned char)text[at]))
		at++;
	first = at < len ? text[at] : '\0';
	if (!isupper((unsigned char)first) && !strchr("#*><|=", first))
		return false;
	while (at < len) {
		size_t end = at;

		while (end < len && !isspace((unsigned char)text[end]))
			end++;
		if (end > at) {
			words++;
			plain += kind_is_plain(text + at, end - at);
		}
		at = end + 1;
	}
	return words >= KIND_PROSE_WORDS && plain * 100 >= words * KIND_PROSE_PERCENT;
}

enum inspect_kind kind_of_name(const char *path)
{
	for (size_t i = 0; path && i < ARRAY_LEN(kind_suffixes); i++)
		if (str_ends(path, kind_suffixes[i].suffix))
			return kind_suffixes[i].kind;
	return INSPECT_AUTO;
}

bool kind_may_be(const char *text, size_t len, enum inspect_kind kind)
{
	bool has_package = false;

	for (size_t at = 0; at < len;) {
		const char *line = text + at;
		const char *end = memchr(line, '\n', len - at);
		size_t n = end ? (size_t)(end - line) : len - at;

		at += n + 1;
		if (n > 0 && line[n - 1] == '\r')
			n--;
		if (kind == INSPECT_PYTHON && n > 0 &&
		    (kind_line_is_python(line, n) ||
		     (n > 2 && line[0] == '#' && line[1] == '!' && memmem(line, n, "python", 6))))
			return true;
		if (kind == INSPECT_GO && has_package &&
		    (kind_starts(line, n, "import") || kind_starts(line, n, "func")))
			return true;
		has_package |= kind_starts(line, n, "package") && n > strlen("package ");
	}
	return false;
}

enum inspect_kind kind_guess(const char *text, size_t len, const char *path)
{
	size_t look = len < KIND_LOOK ? len : KIND_LOOK;
	enum inspect_kind kind = kind_of_name(path);

	if (kind != INSPECT_AUTO)
		return kind;
	kind = kind_of_lines(text, look);
	return kind == INSPECT_AUTO && kind_is_prose(text, look) ? INSPECT_TEXT : kind;
}
