/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_view.h.  Records end with NUL: a letter, and then a path; a step's begins with its kind. */
#include "core/keeper_view.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VIEW_FILE "view"
#define VIEW_PLACEHOLDERS "placeholders"
#define VIEW_STEP 'o'      /* "oKIND PATH" */
#define VIEW_PUBLIC 'p'    /* the same, of which only what everybody may read can be seen */
#define VIEW_SENSITIVE 's' /* "sPATH" */
#define VIEW_CUT 'c'       /* alone: there were more of these */

int keeper_view_write(const char *dir, const struct fsplan *view, struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf text = BUF_INIT(LIMIT_SANDBOX_VIEW);
	int r = fd < 0 ? -errno : 0;

	for (size_t i = 0; i < view->n; i++) {
		buf_printf(&text, "%c%d %s", view->ops[i].is_public_only ? VIEW_PUBLIC : VIEW_STEP,
			   (int)view->ops[i].kind, view->ops[i].path);
		buf_char(&text, '\0');
	}
	for (size_t i = 0; i < view->sensitive.n; i++) {
		buf_char(&text, VIEW_SENSITIVE);
		buf_add(&text, view->sensitive.v[i], strlen(view->sensitive.v[i]) + 1);
	}
	if (view->is_sensitive_cut)
		buf_add(&text, (const char[]){VIEW_CUT, '\0'}, 2);
	if (r == 0)
		r = buf_error(&text);
	if (r == 0)
		r = io_write_file_at(fd, VIEW_FILE, text.data, text.len, 0600);
	buf_done(&text);
	return r < 0 ? cordon_fail_leaf(err, r, "write down the view in '%.200s'", dir) : 0;
}

/* 0 or -errno. */
static int view_record(const char *text, void *arg)
{
	struct fsplan *ret = arg;
	struct plan_op op = {.is_public_only = text[0] == VIEW_PUBLIC};
	const char *blank;
	char number[8];
	int64_t kind;

	if (text[0] == VIEW_SENSITIVE)
		return access(text + 1, F_OK) < 0 ? 0 : strv_add(&ret->sensitive, text + 1);
	if (text[0] == VIEW_CUT && !text[1]) {
		ret->is_sensitive_cut = true;
		return 0;
	}
	blank = strchr(text, ' ');
	if ((text[0] != VIEW_STEP && text[0] != VIEW_PUBLIC) || !blank || blank[1] != '/' ||
	    (size_t)(blank - text) >= sizeof(number))
		return -EINVAL;
	(void)snprintf(number, sizeof(number), "%.*s", (int)(blank - text) - 1, text + 1);
	if (parse_int(number, 0, PLAN_OP_COUNT - 1, &kind) < 0)
		return -EINVAL;
	op.kind = (enum plan_op_kind)kind;
	op.path = blank + 1;
	return fsplan_append(ret, op);
}

/* Reads a file of lines that end with a null byte. */
static int view_lines(const char *dir, const char *name, int (*fn)(const char *line, void *arg),
		      void *arg)
{
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = path_join(dir, name, &path);

	if (r == 0)
		r = io_read_file_at(AT_FDCWD, path, LIMIT_SANDBOX_VIEW, &text, &len);
	if (r == 0 && (len == 0 || text[len - 1] != '\0'))
		r = -EINVAL;
	for (size_t at = 0; r == 0 && at < len; at += strlen(text + at) + 1)
		r = fn(text + at, arg);
	return r;
}

int keeper_view_read(const char *dir, struct fsplan *ret, struct cordon_error *err)
{
	int r;

	*ret = (struct fsplan){0};
	r = view_lines(dir, VIEW_FILE, view_record, ret);
	return r < 0 ? cordon_fail_leaf(err, r, "read what the sandbox shows from '%.200s'", dir)
		     : 0;
}

int keeper_placeholders_write(const char *dir, const struct egress_secrets *secrets,
			      struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf text = BUF_INIT(LIMIT_SANDBOX_VIEW);
	int r = fd < 0 ? -errno : 0;

	for (size_t i = 0; i < secrets->n; i++) {
		if (secrets->items[i].is_inside)
			continue;
		buf_printf(&text, "%s=%s", secrets->items[i].name, secrets->items[i].placeholder);
		buf_char(&text, '\0');
	}
	if (r == 0)
		r = buf_error(&text);
	if (r == 0 && text.len == 0)
		r = unlinkat(fd, VIEW_PLACEHOLDERS, 0) < 0 && errno != ENOENT ? -errno : 0;
	else if (r == 0)
		r = io_write_file_at(fd, VIEW_PLACEHOLDERS, text.data, text.len, 0600);
	buf_done(&text);
	return r < 0 ? cordon_fail_leaf(err, r, "write down placeholders in '%.200s'", dir) : 0;
}

static int view_placeholder(const char *line, void *env)
{
	const char *equals = strchr(line, '=');
	AUTO_FREE char *name = equals ? strndup(line, (size_t)(equals - line)) : NULL;

	if (!equals)
		return -EINVAL;
	return name ? egress_secret_name(env, name, equals + 1) : -ENOMEM;
}

int keeper_placeholders_read(const char *dir, struct strv *env, struct cordon_error *err)
{
	int r = view_lines(dir, VIEW_PLACEHOLDERS, view_placeholder, env);

	return r < 0 ? cordon_fail_leaf(err, r, "read the sandbox's placeholders from '%.200s'",
					dir)
		     : 0;
}
