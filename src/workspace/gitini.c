/* SPDX-License-Identifier: Apache-2.0 */
/* See gitini.h. */
#include "workspace/gitini.h"

#include "base/limits.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define GITINI_BOM "\xef\xbb\xbf"
#define GITINI_END (-1)

struct gitini {
	const char *p;
	const char *end;
	struct buf section;
	struct buf subsection;
	struct buf key;
	struct buf value;
};

/* The next character, CRLF as one. */
static int gitini_next(struct gitini *g)
{
	if (g->p == g->end)
		return GITINI_END;
	if (*g->p == '\r' && g->end - g->p > 1 && g->p[1] == '\n')
		g->p++;
	return (unsigned char)*g->p++;
}

static void gitini_skip_line(struct gitini *g)
{
	int c = gitini_next(g);

	while (c != '\n' && c != GITINI_END)
		c = gitini_next(g);
}

/* `"sub"]` after the name of a section and blanks. */
static void gitini_subsection(struct gitini *g)
{
	int c = gitini_next(g);

	while (c == ' ' || c == '\t')
		c = gitini_next(g);
	if (c != '"') {
		while (c != ']' && c != '\n' && c != GITINI_END)
			c = gitini_next(g);
		return;
	}
	for (c = gitini_next(g); c != '"' && c != '\n' && c != GITINI_END; c = gitini_next(g)) {
		if (c == '\\')
			c = gitini_next(g);
		if (c == '\n' || c == GITINI_END)
			return;
		buf_char(&g->subsection, (char)c);
	}
	while (c != ']' && c != '\n' && c != GITINI_END)
		c = gitini_next(g);
}

/* After '['.  A part behind a dot is a subsection, too. */
static void gitini_header(struct gitini *g)
{
	bool has_dot = false;
	int c = gitini_next(g);

	buf_clear(&g->section);
	buf_clear(&g->subsection);
	while (c == ' ' || c == '\t') /* git refuses it */
		c = gitini_next(g);
	for (; c != ']' && c != '\n' && c != GITINI_END; c = gitini_next(g)) {
		if (isspace(c)) {
			gitini_subsection(g);
			return;
		}
		if (c == '.' && !has_dot)
			has_dot = true;
		else
			buf_char(has_dot ? &g->subsection : &g->section, (char)tolower(c));
	}
}

/* After a backslash. */
static void gitini_escape(struct gitini *g)
{
	int c = gitini_next(g);

	if (c == '\n' || c == GITINI_END)
		return;
	buf_char(&g->value, (char)(c == 't' ? '\t' : c == 'b' ? '\b' : c == 'n' ? '\n' : c));
}

/* After '='. */
static void gitini_value(struct gitini *g)
{
	bool is_quoted = false;
	bool is_comment = false;
	size_t blanks = 0;
	int c;

	buf_clear(&g->value);
	while ((c = gitini_next(g)) != '\n' && c != GITINI_END) {
		if (is_comment)
			continue;
		if (isspace(c) && !is_quoted) {
			blanks += g->value.len > 0;
			continue;
		}
		if (!is_quoted && (c == ';' || c == '#')) {
			is_comment = true;
			continue;
		}
		for (; blanks > 0; blanks--)
			buf_char(&g->value, ' ');
		if (c == '\\')
			gitini_escape(g);
		else if (c == '"')
			is_quoted = !is_quoted;
		else
			buf_char(&g->value, (char)c);
	}
}

/* From its first letter on.  1: a variable was read; 0: none. */
static int gitini_variable(struct gitini *g, int c)
{
	buf_clear(&g->key);
	while (c != GITINI_END && (isalnum(c) || c == '-')) {
		buf_char(&g->key, (char)tolower(c));
		c = gitini_next(g);
	}
	while (c == ' ' || c == '\t')
		c = gitini_next(g);
	if (c == '=') {
		gitini_value(g);
		return 1;
	}
	buf_clear(&g->value);
	buf_str(&g->value, "true");
	if (c != '\n' && c != GITINI_END) { /* git refuses it */
		gitini_skip_line(g);
		return 0;
	}
	return 1;
}

int gitini_read(const char *text, size_t len, gitini_fn fn, void *arg)
{
	struct gitini g = {
		.p = text,
		.end = text + len,
		.section = BUF_INIT(LIMIT_MANIFEST_BYTES),
		.subsection = BUF_INIT(LIMIT_MANIFEST_BYTES),
		.key = BUF_INIT(LIMIT_MANIFEST_BYTES),
		.value = BUF_INIT(LIMIT_MANIFEST_BYTES),
	};
	int r = 0;
	int c;

	if (len >= strlen(GITINI_BOM) && memcmp(text, GITINI_BOM, strlen(GITINI_BOM)) == 0)
		g.p += strlen(GITINI_BOM);
	while (r == 0 && (c = gitini_next(&g)) != GITINI_END) {
		if (isspace(c))
			continue;
		if (c == '[') {
			gitini_header(&g);
			continue;
		}
		if (!isalpha(c)) { /* comments, and what git refuses */
			gitini_skip_line(&g);
			continue;
		}
		if (gitini_variable(&g, c) == 0)
			continue;
		r = fn(&(struct gitini_entry){.section = buf_cstr(&g.section),
					      .subsection = buf_cstr(&g.subsection),
					      .key = buf_cstr(&g.key),
					      .value = buf_cstr(&g.value)},
		       arg);
		if (r == 0 && (buf_error(&g.section) < 0 || buf_error(&g.subsection) < 0 ||
			       buf_error(&g.key) < 0 || buf_error(&g.value) < 0))
			r = -ENOMEM; /* no text is longer than the limit */
	}
	buf_done(&g.section);
	buf_done(&g.subsection);
	buf_done(&g.key);
	buf_done(&g.value);
	return r;
}
