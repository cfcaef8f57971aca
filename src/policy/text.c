/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a string in a policy has to be, by the row's check: paths are expanded (~, ${VAR}, relative to
 * the workspace) and normalised here, once, so that everything after compares one form.
 */
#include "policy/read.h"

#include "base/callname.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/path.h"
#include "policy/pattern.h"
#include "policy/publish.h"

#include <errno.h>
#include <string.h>

struct text_variable {
	const char *name;
	const char *value; /* NULL: known but not set here */
};

/* Appends a directory that we put in: in a glob its characters stand for themselves. */
static void text_literal(struct buf *out, const char *s, bool is_glob)
{
	for (; *s; s++) {
		if (is_glob && strchr("*?[]\\", *s))
			buf_char(out, '\\');
		buf_char(out, *s);
	}
}

/* Appends the value of the variable at *p ("${NAME}…") and moves past it.  1: not set here. */
static int text_variable(const struct policy_context *c, const char **p, bool is_glob,
			 struct buf *out, struct cordon_error *err)
{
	const struct text_variable known[] = {
		{"PROJECT_DIR", c->workspace}, {"WORKSPACE", c->workspace}, {"HOME", c->home},
		{"VENV_DIR", c->venv},         {"TMPDIR", c->tmp},
	};
	const char *name = *p + 2;
	const char *end = strchr(name, '}');
	int r;

	if (end) {
		for (size_t i = 0; i < ARRAY_LEN(known); i++) {
			if (strlen(known[i].name) != (size_t)(end - name) ||
			    strncmp(known[i].name, name, (size_t)(end - name)) != 0)
				continue;
			*p = end + 1;
			if (!known[i].value)
				return 1;
			text_literal(out, known[i].value, is_glob);
			return 0;
		}
	}
	r = cordon_fail(err, CORDON_E_INVALID, "unknown variable in '%.200s'", *p);
	return cordon_hint(err, r,
			   "known: ${PROJECT_DIR}, ${WORKSPACE}, ${HOME}, ${VENV_DIR}, "
			   "${TMPDIR}");
}

static int text_expand(const struct policy_context *c, const char *text, bool is_glob,
		       struct buf *out, struct cordon_error *err)
{
	const char *p = text;

	if (*p == '~') {
		if (p[1] != '/' && p[1] != '\0')
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_INVALID,
					    "'%.200s': other users' homes are not looked up", text),
				"write the path out");
		if (!c->home)
			return 1;
		text_literal(out, c->home, is_glob);
		p++;
	}
	while (*p) {
		if (*p == '$') {
			int r;

			if (p[1] != '{')
				return cordon_hint(err,
						   cordon_fail(err, CORDON_E_INVALID,
							       "'$' without braces in '%.200s'",
							       text),
						   "write ${NAME}");
			r = text_variable(c, &p, is_glob, out, err);
			if (r != 0)
				return r;
		} else {
			buf_char(out, *p++);
		}
	}
	return 0;
}

/* Is it a name alone, not a path from somewhere? */
static bool text_is_name(const char *text)
{
	return !strchr(text, '/') && text[0] != '~' && text[0] != '$' && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}

static int text_path(const struct policy_context *c, const struct field *f, const char *text,
		     char **ret, struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_PATH_BYTES), base = BUF_INIT(2 * LIMIT_PATH_BYTES);
	bool is_glob = f->check == CHECK_GLOB;
	int r = text_expand(c, text, is_glob, &b, err);

	if (r == 0 && buf_error(&b) == -ENOMEM)
		r = cordon_nomem(err);
	else if (r == 0 && buf_error(&b) < 0)
		r = cordon_fail(err, CORDON_E_LIMIT, "a path of more than %d bytes",
				LIMIT_PATH_BYTES);
	text_literal(&base, c->workspace, is_glob);
	if (r == 0 && buf_error(&base) < 0)
		r = cordon_nomem(err);
	if (r == 0 && !is_glob && glob_has_magic(text))
		r = cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "a glob where one path is meant: '%.200s'", text),
			"grant the directory; globs work in denied_paths and protected_paths");
	if (r == 0 && is_glob && glob_check(buf_cstr(&b)) < 0)
		r = cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "not a valid glob: '%.200s'", text),
			"close every [ and put \\ before characters that are meant literally");
	if (r == 0 && is_glob && text_is_name(text)) {
		/* A bare name, as in denied_paths: [".env"], means that name at any depth. */
		buf_printf(&base, "/**/%s", buf_cstr(&b));
		r = buf_error(&base) < 0 || base.len > LIMIT_PATH_BYTES
			    ? cordon_fail(err, CORDON_E_LIMIT, "a path that is too long")
			    : buf_take(&base, ret, NULL);
	} else if (r == 0) {
		r = path_join(buf_cstr(&base), buf_cstr(&b), ret);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "path '%.200s'", text);
	}
	buf_done(&base);
	buf_done(&b);
	return r;
}

/* Are all bytes of text in set? */
static bool text_only(const char *text, const char *set)
{
	return text[strspn(text, set)] == '\0';
}

/* The tools whose caches can be kept (workspace/cache.c). */
static const char *const text_caches[] = {"npm", "pip", "cargo", "go"};

#define TEXT_ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static int text_check(const struct policy_context *c, const struct field *f, const char *text,
		      struct cordon_error *err)
{
	struct publish published;
	int64_t port;

	switch (f->check) {
	case CHECK_TEXT:
		return 0;
	case CHECK_HOST:
		return c->checks->host(text, err);
	case CHECK_CIDR:
		return c->checks->cidr(text, err);
	case CHECK_REGEX:
		return pattern_check(text, err);
	case CHECK_NAME:
		if (text_only(text, TEXT_ALNUM "-_.:"))
			return 0;
		return cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not a name", text);
	case CHECK_ENV:
		if (text_only(text, TEXT_ALNUM "_") && !(text[0] >= '0' && text[0] <= '9'))
			return 0;
		return cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not the name of a variable",
				   text);
	case CHECK_CIPHER:
		if (strcmp(text, "aes-256-gcm") == 0)
			return 0;
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "unknown cipher '%.100s'", text),
			"aes-256-gcm is the one that there is");
	case CHECK_CACHE:
		for (size_t i = 0; i < ARRAY_LEN(text_caches); i++)
			if (strcmp(text, text_caches[i]) == 0)
				return 0;
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "unknown cache '%.100s'", text),
			"npm, pip, cargo and go are those that there are");
	case CHECK_VERSION:
		if (strcmp(text, "1") == 0 || strcmp(text, "1.0") == 0)
			return 0;
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "unknown version '%.100s'", text),
			"\"1\" is the one that there is");
	case CHECK_PATTERN:
		if (glob_check(text) == 0)
			return 0;
		return cordon_fail(err, CORDON_E_INVALID, "not a valid glob: '%.100s'", text);
	case CHECK_PORT:
		if (parse_int(text, 1, 65535, &port) == 0)
			return 0;
		return cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not a port", text);
	case CHECK_PUBLISH:
		return publish_parse(text, &published, err);
	case CHECK_CALL:
		if (callname_is_needed(text))
			return cordon_fail(err, CORDON_E_INVALID,
					   "'%s' cannot be refused: no command runs without it",
					   text);
		if (callname_is_known(text))
			return 0;
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.100s' is not a system call", text),
				   "a name as in syscalls(2), or a set: " CALLNAME_SETS);
	case CHECK_TARGET:
		if (text[0] == '/' && !strstr(text, "/../") && !str_ends(text, "/.."))
			return 0;
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.100s' is not an absolute path", text),
				   "targets inside a container start with '/'");
	case CHECK_PATH:
	case CHECK_GLOB:
	case CHECK_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "a row without a check");
}

int policy_check_text(const struct policy_context *c, const struct field *f, const char *text,
		      char **ret, struct cordon_error *err)
{
	char *copy;
	int r;

	if (text[0] == '\0')
		return cordon_fail(err, CORDON_E_INVALID, "an empty string");
	if (f->check == CHECK_PATH || f->check == CHECK_GLOB)
		return text_path(c, f, text, ret, err);
	r = text_check(c, f, text, err);
	if (r < 0)
		return r;
	copy = strdup(text);
	if (!copy)
		return cordon_nomem(err);
	*ret = copy;
	return 0;
}
