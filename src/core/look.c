/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See look.h.  The script is read once, before the call; it may change until the interpreter opens it.  That is
 * known: what is found here only makes the sandbox tighter.
 */
#include "core/look.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "core/judge.h"
#include "inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *name; /* of the program, or how it begins */
	enum inspect_kind kind;
} look_interpreters[] = {
	{"bash", INSPECT_BASH}, {"sh", INSPECT_BASH},  {"dash", INSPECT_BASH},
	{"ksh", INSPECT_BASH},  {"zsh", INSPECT_BASH}, {"python", INSPECT_PYTHON},
};

/* python3, python3.11 and bash5 are what they begin with. */
static enum inspect_kind look_interpreter(const char *program)
{
	const char *base = path_base(program);

	for (size_t i = 0; i < ARRAY_LEN(look_interpreters); i++) {
		size_t n = strlen(look_interpreters[i].name);

		if (strncmp(base, look_interpreters[i].name, n) == 0 &&
		    base[n + strspn(base + n, "0123456789.")] == '\0')
			return look_interpreters[i].kind;
	}
	return INSPECT_KIND_COUNT;
}

/* The word that names a script, and what it is in; NULL when there is none. */
static const char *look_script(const struct request *r, enum inspect_kind *ret_kind)
{
	*ret_kind = look_interpreter(r->argv.v[0]);
	if (*ret_kind == INSPECT_KIND_COUNT) {
		*ret_kind = INSPECT_AUTO;
		return strchr(r->argv.v[0], '/') ? r->argv.v[0] : NULL;
	}
	for (size_t i = 1; i < r->argv.n; i++) {
		const char *word = r->argv.v[i];

		if (word[0] != '-' || word[1] == '\0')
			return word[0] == '-' ? NULL : word;
		/* code in a word, or a module: the inspector of the command sees them */
		if (strcmp(word, "-c") == 0 || strcmp(word, "-m") == 0)
			return NULL;
	}
	return NULL;
}

/* Opens a regular file of the workspace; -1 when it is none. */
static int look_open(const char *cwd, const char *word)
{
	AUTO_FREE char *full = NULL;
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *workspace = NULL;
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (path_join(cwd, word, &full) < 0 || path_resolve(full, &real) < 0 ||
	    path_resolve(cwd, &workspace) < 0 || !path_is_within(real, workspace))
		return -1;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return TAKE_FD(fd);
}

static int look_cut(const char *name, struct findings *ret)
{
	struct finding f = {
		.rule = JUDGE_RULE_CUT,
		.type = FINDING_INPUT,
		.level = THREAT_MEDIUM,
		.confidence = 1,
	};

	(void)snprintf(f.message, sizeof(f.message),
		       "only the first %d bytes of the script '%.100s' were read",
		       LIMIT_SCRIPT_BYTES, name);
	return findings_add(ret, &f);
}

static int look_at_script(const struct inspect_context *c, const struct request *r,
			  struct findings *ret, struct cordon_error *err)
{
	enum inspect_kind kind;
	const char *word = look_script(r, &kind);
	struct inspect_context own = *c;
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = word ? look_open(r->cwd, word) : -1;
	ssize_t n;

	if (fd < 0)
		return 0;
	text = malloc(LIMIT_SCRIPT_BYTES + 2);
	if (!text)
		return cordon_nomem(err);
	n = io_read(fd, text, LIMIT_SCRIPT_BYTES + 1, CLOCK_NEVER);
	if (n < 0)
		return 0; /* the interpreter will not read it either */
	if (n > LIMIT_SCRIPT_BYTES) {
		n = LIMIT_SCRIPT_BYTES;
		if (look_cut(word, ret) < 0)
			return cordon_nomem(err);
	}
	text[n] = '\0';
	/* A program that was compiled is not text. */
	if (kind == INSPECT_AUTO && (n < 2 || text[0] != '#' || text[1] != '!'))
		return 0;
	/* What the kernel runs goes by its first line, whatever it is called. */
	own.path = kind == INSPECT_AUTO ? NULL : word;
	return inspect(&own, kind, text, (size_t)n, ret, err);
}

void look_text(const struct request *r, struct buf *out)
{
	if (r->kind == REQUEST_SHELL) {
		buf_add(out, r->text, r->text_len);
		return;
	}
	for (size_t i = 0; i < r->argv.n; i++) {
		if (i > 0)
			buf_char(out, ' ');
		str_shell_quote(out, r->argv.v[i]);
	}
}

int look_at_call(const struct policy *p, const struct request *r, const char *home,
		 struct findings *ret, struct cordon_error *err)
{
	struct inspect_context c = {.policy = p, .cwd = r->cwd, .home = home};
	struct buf text = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	int e;

	look_text(r, &text);
	e = buf_error(&text);
	if (e < 0)
		e = cordon_fail_leaf(err, e, "read the call");
	if (e == 0)
		e = inspect(&c, INSPECT_COMMAND, buf_cstr(&text), text.len, ret, err);
	if (e == 0 && r->kind == REQUEST_ARGV)
		e = look_at_script(&c, r, ret, err);
	buf_done(&text);
	return e;
}
