/* SPDX-License-Identifier: Apache-2.0 */
/* See ignore.h. */
#include "scan/ignore.h"

#include "base/buf.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

struct ignore_rule {
	char *glob; /* for the path below dir, or for the name */
	char *dir;  /* relative to the top */
	bool takes_back;
	bool only_dirs;
	bool is_for_names; /* at any depth */
};

struct ignore {
	struct ignore_rule *rules;
	size_t n;
	size_t cap;
};

int ignore_new(struct ignore **ret, struct cordon_error *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : cordon_nomem(err);
}

size_t ignore_mark(const struct ignore *i)
{
	return i->n;
}

void ignore_drop(struct ignore *i, size_t mark)
{
	while (i->n > mark) {
		i->n--;
		free(i->rules[i->n].glob);
		free(i->rules[i->n].dir);
	}
}

void ignore_free(struct ignore *i)
{
	if (!i)
		return;
	ignore_drop(i, 0);
	free(i->rules);
	free(i);
}

/* One line without its end.  Blanks at the end go unless they are quoted. */
static int ignore_line(struct ignore *i, const char *dir, const char *line, size_t len)
{
	struct ignore_rule rule = {0};
	size_t slash;
	int r;

	while (len > 0 &&
	       (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r') &&
	       !(len > 1 && line[len - 2] == '\\'))
		len--;
	if (len == 0 || line[0] == '#' || len > LIMIT_PATH_BYTES || memchr(line, '\0', len))
		return 0;
	if (line[0] == '!') {
		rule.takes_back = true;
		line++;
		len--;
	}
	if (len > 0 && line[len - 1] == '/') {
		rule.only_dirs = true;
		len--;
	}
	if (len == 0)
		return 0;
	slash = (size_t)((const char *)(memchr(line, '/', len) ?: line + len) - line);
	rule.is_for_names = slash == len;
	if (line[0] == '/') {
		line++;
		len--;
	}
	rule.glob = strndup(line, len);
	rule.dir = strdup(dir);
	r = rule.glob && rule.dir ? 0 : -ENOMEM;
	if (r == 0 && glob_check(rule.glob) < 0) {
		/* git and we differ about it: then it hides nothing */
		free(rule.glob);
		free(rule.dir);
		return 0;
	}
	if (r == 0)
		r = mem_grow((void **)&i->rules, &i->cap, i->n + 1, sizeof(rule),
			     LIMIT_IGNORE_RULES);
	if (r < 0) {
		free(rule.glob);
		free(rule.dir);
		return r == -E2BIG ? 0 : r;
	}
	i->rules[i->n++] = rule;
	return 0;
}

int ignore_add(struct ignore *i, const char *dir, const char *text, size_t len,
	       struct cordon_error *err)
{
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		if (ignore_line(i, dir, text + at, n) < 0)
			return cordon_nomem(err);
		at += n + 1;
	}
	return 0;
}

bool ignore_match(const struct ignore *i, const char *path, bool is_dir)
{
	for (size_t k = i->n; k-- > 0;) {
		const struct ignore_rule *rule = &i->rules[k];
		size_t n = strlen(rule->dir);
		const char *below = path;

		if (rule->only_dirs && !is_dir)
			continue;
		if (n > 0) {
			if (strncmp(path, rule->dir, n) != 0 || path[n] != '/')
				continue;
			below = path + n + 1;
		}
		if (glob_match(rule->glob, rule->is_for_names ? path_base(below) : below))
			return !rule->takes_back;
	}
	return false;
}
