/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See look.h.  A script is read once, before the call; it may change until the interpreter opens it.  That is
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
#include "inspect/kind.h"
#include "inspect/shell/launch.h"
#include "inspect/shell/script.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_COMMANDS = 256 }; /* that code hands to a shell, of one file */

/* A file that the call runs. */
struct look_file {
	char *path;
	enum shell_language language;
};

struct look_files {
	const char *cwd; /* of the call */
	struct look_file items[LIMIT_SCRIPTS];
	size_t n;
	bool is_inner; /* named by a script: what is not there does not count */
	bool is_cut;
	bool is_full; /* no memory */
};

static void look_files_done(struct look_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->items[i].path);
}

static int look_open(const char *cwd, const char *word, mode_t type);

static bool look_is_there(const struct look_files *f, const char *path,
			  enum shell_language language)
{
	AUTO_CLOSE int fd = look_open(f->cwd, path, S_IFREG);

	if (fd < 0 && language == SHELL_GO)
		fd = look_open(f->cwd, path, S_IFDIR);
	return fd >= 0;
}

/* directory: where word begins, when that is known. */
static void look_file_add(struct look_files *f, const char *directory, const char *word,
			  enum shell_language language)
{
	struct buf path = BUF_INIT(LIMIT_PATH_BYTES);

	/* A directory that is not known may be the one where it began. */
	if (directory && word[0] != '/')
		buf_printf(&path, "%s/", directory);
	buf_str(&path, word);
	if (f->is_inner && !look_is_there(f, buf_cstr(&path), language)) {
		buf_done(&path);
		return;
	}
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->items[i].path, buf_cstr(&path)) == 0) {
			buf_done(&path);
			return;
		}
	if (buf_error(&path) == -E2BIG) {
		/* such a file cannot be opened */
	} else if (f->n == LIMIT_SCRIPTS) {
		f->is_cut = true;
	} else if (buf_take(&path, &f->items[f->n].path, NULL) < 0) {
		f->is_full = true;
	} else {
		f->items[f->n++].language = language;
	}
	buf_done(&path);
}

/* Called with the model of the call or of a script that it names: every command in it, wrapped or not. */
static void look_see(void *data, const struct shell_model *m)
{
	for (size_t i = 0; i < m->n; i++) {
		enum shell_language language;

		for (size_t at = 0; launch_file(&m->commands[i], &at, &language); at++)
			look_file_add(data, m->commands[i].cwd, m->commands[i].argv[at].s,
				      language);
	}
}

/* Opens a file or directory of the workspace; -1 when it is none. */
static int look_open(const char *cwd, const char *word, mode_t type)
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
	if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != type)
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

/* Code of a language that only has a light inspector: files are longer than what stands in a command, so only what
 * hardly any program does counts. */
static int look_lightly(const struct inspect_context *c, enum shell_language language,
			const char *text, size_t len, struct findings *ret,
			struct cordon_error *err)
{
	struct shell_code code = {.language = language, .text = text, .len = len, .line = 1};
	struct arena arena = ARENA_INIT(LIMIT_SHELL_MEMORY);
	struct findings found = {0};
	struct finding f;
	const char *command;
	size_t at = 0, n = 0;
	int r = script_judge(&code, &f) && findings_add(&found, &f) < 0 ? cordon_nomem(err) : 0;

	for (int i = 0; r == 0 && i < LOOK_COMMANDS; i++) {
		command = script_next_command(&arena, &code, &at, &n);
		if (!command)
			break;
		r = inspect(c, INSPECT_COMMAND, command, n, &found, err);
	}
	if (r == 0 && arena.error == -ENOMEM)
		r = cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		if (found.items[i].level >= THREAT_HIGH && findings_add(ret, &found.items[i]) < 0)
			r = cordon_nomem(err);
	findings_done(&found);
	arena_done(&arena);
	return r;
}

/* The kernel goes by the first line, and so do we. */
static int look_by_line(const struct inspect_context *c, const char *text, size_t len,
			struct findings *ret, struct cordon_error *err)
{
	return inspect(c, kind_guess(text, len, NULL), text, len, ret, err);
}

static int look_inspect(const struct inspect_context *c, enum shell_language language,
			const char *text, size_t len, struct findings *ret,
			struct cordon_error *err)
{
	switch (language) {
	case SHELL_BASH:
		return inspect(c, INSPECT_BASH, text, len, ret, err);
	case SHELL_PYTHON:
		return inspect(c, INSPECT_PYTHON, text, len, ret, err);
	case SHELL_GO:
		return inspect(c, INSPECT_GO, text, len, ret, err);
	case SHELL_ANY:
		/* A program that was compiled is not text. */
		return len < 2 || text[0] != '#' || text[1] != '!'
			       ? 0
			       : look_by_line(c, text, len, ret, err);
	case SHELL_PERL:
	case SHELL_RUBY:
	case SHELL_NODE:
	case SHELL_PHP:
	case SHELL_LUA:
	case SHELL_AWK:
	case SHELL_OTHER:
		break;
	}
	return look_lightly(c, language, text, len, ret, err);
}

/* Adds the files that `go run` compiles of a directory. */
static void look_package(struct look_files *files, const char *path)
{
	int fd = look_open(files->cwd, path, S_IFDIR);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d && fd >= 0)
		(void)close(fd);
	files->is_inner = true;
	while (d && (e = readdir(d)) != NULL)
		if (str_ends(e->d_name, ".go") && !str_ends(e->d_name, "_test.go"))
			look_file_add(files, path, e->d_name, SHELL_GO);
	if (d)
		(void)closedir(d);
}

static int look_at_file(const struct inspect_context *c, struct look_files *files, size_t at,
			struct findings *ret, struct cordon_error *err)
{
	const struct look_file *file = &files->items[at];
	struct inspect_context own = *c;
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *full = NULL;
	AUTO_CLOSE int fd = look_open(files->cwd, file->path, S_IFREG);
	ssize_t n;

	if (fd < 0 && file->language == SHELL_GO)
		look_package(files, file->path);
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
		if (look_cut(file->path, ret) < 0)
			return cordon_nomem(err);
	}
	text[n] = '\0';
	/* What a script names is looked at as well, as far as the limit goes. */
	files->is_inner = true;
	/* What the kernel runs goes by its first line, whatever it is called. */
	own.path = file->language == SHELL_ANY ? NULL : file->path;
	if (path_join(files->cwd, file->path, &full) == 0)
		own.script = full;
	return look_inspect(&own, file->language, text, (size_t)n, ret, err);
}

static int look_at_files(const struct inspect_context *c, struct look_files *files,
			 struct findings *ret, struct cordon_error *err)
{
	struct finding f = {.rule = JUDGE_RULE_CUT,
			    .type = FINDING_INPUT,
			    .level = THREAT_MEDIUM,
			    .confidence = 1};
	int r = 0;

	/* It grows while it is gone through. */
	for (size_t i = 0; r == 0 && i < files->n; i++)
		r = look_at_file(c, files, i, ret, err);
	if (r == 0 && files->is_full)
		r = cordon_nomem(err);
	if (r < 0 || !files->is_cut)
		return r;
	(void)snprintf(f.message, sizeof(f.message),
		       "only the first %d scripts that the call names were read", LIMIT_SCRIPTS);
	return findings_add(ret, &f) < 0 ? cordon_nomem(err) : 0;
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
	AUTO(look_files_done) struct look_files files = {.cwd = r->cwd};
	struct inspect_context c = {
		.policy = p, .cwd = r->cwd, .home = home, .see = look_see, .see_data = &files};
	struct buf text = BUF_INIT((size_t)8 * LIMIT_ARG_BYTES);
	int e;

	look_text(r, &text);
	e = buf_error(&text);
	if (e < 0)
		e = cordon_fail_leaf(err, e, "read the call");
	if (e == 0)
		e = inspect(&c, INSPECT_COMMAND, buf_cstr(&text), text.len, ret, err);
	if (e == 0)
		e = look_at_files(&c, &files, ret, err);
	buf_done(&text);
	return e;
}
