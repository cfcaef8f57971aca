/* SPDX-License-Identifier: Apache-2.0 */
/* See dockerfile.h. */
#include "backend/devenv/dockerfile.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A file on the way through its lines. */
struct reader {
	struct dockerfile *file;
	struct strv stages;
	const char *text;
	size_t len;
	size_t at;
	unsigned line; /* where the instruction begins */
	unsigned next;
};

void dockerfile_done(struct dockerfile *d)
{
	strv_done(&d->sources);
	strv_done(&d->images);
}

/* "./a//b/" becomes "a/b"; "" for the directory itself, and for all that is above it. */
static int dockerfile_clean(const char *path, char **ret)
{
	AUTO_FREE char *joined = NULL;
	int r = path_join("/", path, &joined);

	if (r < 0)
		return r;
	*ret = strdup(joined + 1);
	return *ret ? 0 : -ENOMEM;
}

/* One instruction, its continued lines joined and comments between them left out.  1, 0 at the end, or -errno. */
static int reader_next(struct reader *r, struct buf *ret)
{
	bool goes_on = true;

	buf_clear(ret);
	r->line = r->next;
	while (goes_on && r->at < r->len) {
		const char *start = r->text + r->at;
		const char *newline = memchr(start, '\n', r->len - r->at);
		size_t n = newline ? (size_t)(newline - start) : r->len - r->at;

		r->at += n + (newline != NULL);
		r->next++;
		while (n > 0 && isspace((unsigned char)start[n - 1]))
			n--;
		while (n > 0 && isspace((unsigned char)*start) && ret->len == 0) {
			start++;
			n--;
		}
		for (size_t i = 0; i < n && isspace((unsigned char)start[i]); i++)
			if (start[i + 1] == '#')
				n = 0;
		if (n == 0 || *start == '#') {
			if (ret->len == 0)
				r->line = r->next;
			continue;
		}
		goes_on = start[n - 1] == '\\';
		buf_add(ret, start, n - goes_on);
	}
	return buf_error(ret) < 0 ? buf_error(ret) : ret->len > 0;
}

/* The words after the instruction: a JSON array of plain strings, or what blanks separate.  Anything else is not told
 * (false). */
static bool reader_words(char *rest, struct strv *ret, int *error)
{
	bool is_json = *rest == '[';
	char *save = NULL;

	if (strpbrk(rest, is_json ? "\\$'" : "\\$'\"") || strstr(rest, "<<"))
		return false;
	if (is_json && (rest[strlen(rest) - 1] != ']'))
		return false;
	if (is_json)
		rest[strlen(rest) - 1] = '\0';
	for (char *word = strtok_r(rest + is_json, is_json ? "," : " \t", &save); word;
	     word = strtok_r(NULL, is_json ? "," : " \t", &save)) {
		size_t n;

		word += strspn(word, " \t");
		n = strcspn(word, is_json ? "" : " \t");
		while (n > 0 && isspace((unsigned char)word[n - 1]))
			n--;
		if (is_json && (n < 2 || word[0] != '"' || word[n - 1] != '"'))
			return false;
		word[is_json ? n - 1 : n] = '\0';
		*error = strv_add(ret, word + is_json);
		if (*error < 0)
			return true;
	}
	return true;
}

static int reader_image(struct reader *r, const char *name)
{
	if (strchr(name, '$')) {
		r->file->has_variable = true;
		return 0;
	}
	/* Stages have numbers, too. */
	if (strcasecmp(name, "scratch") == 0 || strv_has(&r->stages, name) ||
	    strspn(name, "0123456789") == strlen(name) || strv_has(&r->file->images, name))
		return 0;
	return strv_add(&r->file->images, name);
}

static int reader_from(struct reader *r, char *rest)
{
	char *save = NULL;
	char *word = strtok_r(rest, " \t", &save);
	int error;

	while (word && str_starts(word, "--"))
		word = strtok_r(NULL, " \t", &save);
	error = word ? reader_image(r, word) : 0;
	word = word ? strtok_r(NULL, " \t", &save) : NULL;
	if (error == 0 && word && strcasecmp(word, "as") == 0 &&
	    (word = strtok_r(NULL, " \t", &save)))
		error = strv_add(&r->stages, word);
	return error;
}

static int reader_source(struct dockerfile *d, const char *source)
{
	AUTO_FREE char *clean = NULL;
	int r;

	if (strstr(source, "://") || str_starts(source, "git@")) {
		d->fetches = true;
		return 0;
	}
	r = dockerfile_clean(source, &clean);
	if (r < 0)
		return r;
	if (!*clean || glob_check(clean) < 0) {
		d->takes_all = true;
		return 0;
	}
	return strv_add(&d->sources, clean);
}

static int reader_copy(struct reader *r, char *rest)
{
	AUTO(strv_done) struct strv words = {0};
	int error = 0;

	while (str_starts(rest, "--")) {
		size_t n = strcspn(rest, " \t");
		char *next = rest + n + strspn(rest + n, " \t");

		rest[n] = '\0';
		if (str_starts(rest, "--from="))
			return reader_image(r, rest + strlen("--from="));
		rest = next;
	}
	if (strstr(rest, "://"))
		r->file->fetches = true;
	if (!reader_words(rest, &words, &error)) {
		r->file->takes_all = true;
		/* An address could come out of a variable. */
		r->file->fetches |= strchr(rest, '$') != NULL;
		return 0;
	}
	for (size_t i = 0; error == 0 && i + 1 < words.n; i++)
		error = reader_source(r->file, words.v[i]);
	return error;
}

static int reader_instruction(struct reader *r, char *line)
{
	size_t n = strcspn(line, " \t");
	char *rest = line + n + strspn(line + n, " \t");

	line[n] = '\0';
	if (strcasecmp(line, "FROM") == 0)
		return reader_from(r, rest);
	if (strcasecmp(line, "COPY") == 0 || strcasecmp(line, "ADD") == 0)
		return reader_copy(r, rest);
	/* A mount of the newer builders. */
	if (strcasecmp(line, "RUN") == 0 && str_starts(rest, "--mount"))
		r->file->takes_all = true;
	return 0;
}

static bool reader_escapes_otherwise(const struct reader *r)
{
	AUTO_FREE char *head = strndup(r->text, r->len < 512 ? r->len : 512);

	return !head || strcasestr(head, "escape=`") || strcasestr(head, "escape = `");
}

int dockerfile_read(const char *text, size_t len, struct dockerfile *ret, struct cordon_error *err)
{
	struct reader reader = {.file = ret, .text = text, .len = len, .next = 1};
	struct buf line = BUF_INIT(DOCKERFILE_BYTES);
	int r;

	*ret = (struct dockerfile){0};
	if (memchr(text, '\0', len))
		return cordon_fail(err, CORDON_E_INVALID, "the Dockerfile has a NUL byte");
	if (reader_escapes_otherwise(&reader))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "the Dockerfile has an escape directive"),
				   "write it with backslashes");
	while ((r = reader_next(&reader, &line)) > 0) {
		r = reader_instruction(&reader, line.data);
		if (r < 0)
			break;
	}
	buf_done(&line);
	strv_done(&reader.stages);
	if (r < 0)
		return cordon_fail_leaf(err, r, "Dockerfile, line %u", reader.line);
	if (ret->images.n == 0 && !ret->has_variable && !reader.len)
		return cordon_fail(err, CORDON_E_INVALID, "the Dockerfile is empty");
	return 0;
}

/* Does the pattern name the path, or a directory that it is in? */
static bool dockerfile_covers(const char *pattern, const char *path)
{
	char part[LIMIT_PATH_BYTES];

	for (const char *end = strchr(path, '/');; end = strchr(end + 1, '/')) {
		size_t n = end ? (size_t)(end - path) : strlen(path);

		if (n >= sizeof(part))
			return true; /* the engine will say what it thinks of it */
		memcpy(part, path, n);
		part[n] = '\0';
		if (glob_match(pattern, part))
			return true;
		if (!end)
			return false;
	}
}

/* Could something below the directory be named?  As many parts of the pattern as it has are compared. */
static bool dockerfile_leads_to(const char *pattern, const char *dir)
{
	char part[LIMIT_PATH_BYTES];
	const char *end = pattern;

	if (strstr(pattern, "**"))
		return true;
	for (const char *p = dir; p; p = strchr(p, '/')) {
		p += *p == '/';
		end = strchr(end + (end != pattern), '/');
		if (!end)
			return false;
	}
	(void)snprintf(part, sizeof(part), "%.*s", (int)(end - pattern), pattern);
	return glob_match(part, dir);
}

bool dockerfile_takes(const struct dockerfile *d, const char *path, bool is_dir)
{
	if (d->takes_all)
		return true;
	for (size_t i = 0; i < d->sources.n; i++)
		if (dockerfile_covers(d->sources.v[i], path) ||
		    (is_dir && dockerfile_leads_to(d->sources.v[i], path)))
			return true;
	return false;
}

int dockerignore_read(const char *text, size_t len, struct strv *ret, struct cordon_error *err)
{
	unsigned number = 0;

	for (size_t at = 0; at < len;) {
		const char *start = text + at;
		const char *newline = memchr(start, '\n', len - at);
		size_t n = newline ? (size_t)(newline - start) : len - at;
		AUTO_FREE char *line = NULL;
		AUTO_FREE char *clean = NULL;
		bool takes_back;
		int r;

		at += n + (newline != NULL);
		number++;
		while (n > 0 && isspace((unsigned char)start[n - 1]))
			n--;
		while (n > 0 && isspace((unsigned char)*start)) {
			start++;
			n--;
		}
		if (n == 0 || *start == '#')
			continue;
		takes_back = *start == '!';
		line = strndup(start + takes_back, n - takes_back);
		if (!line || dockerfile_clean(line, &clean) < 0)
			return cordon_nomem(err);
		if (!*clean)
			continue;
		if (glob_check(clean) < 0)
			return cordon_fail(err, CORDON_E_INVALID,
					   ".dockerignore:%u: '%.200s' is not a pattern", number,
					   clean);
		r = ret->n >= DOCKERFILE_ITEMS
			    ? -E2BIG
			    : strv_addf(ret, "%s%s", takes_back ? "!" : "", clean);
		if (r < 0)
			return cordon_fail_leaf(err, r, ".dockerignore:%u", number);
	}
	return 0;
}

bool dockerignore_has(const struct strv *patterns, const char *path)
{
	bool is_out = false;

	for (size_t i = 0; i < patterns->n; i++) {
		bool takes_back = patterns->v[i][0] == '!';

		if (dockerfile_covers(patterns->v[i] + takes_back, path))
			is_out = !takes_back;
	}
	return is_out;
}

bool dockerignore_is_plain(const struct strv *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (patterns->v[i][0] == '!')
			return false;
	return true;
}
