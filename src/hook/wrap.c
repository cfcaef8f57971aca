/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constrained form of a command.  It is a string for the agent's shell, so everything in it is quoted for a
 * shell; and because agents ask again about what was rewritten, it can be told from what an agent typed itself:
 * only the exact text counts, since options after ours could open the sandbox again.
 */
#include "hook/scene.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>

/* "CORDON run --constrain --tool NAME [--session ID] [-p FILE]… -c " */
static void wrap_front(const struct hook_scene *s, struct buf *out)
{
	str_shell_quote(out, s->exe);
	buf_str(out, " run --constrain --tool ");
	str_shell_quote(out, s->call->tool);
	if (s->call->session) {
		buf_str(out, " --session ");
		str_shell_quote(out, s->call->session);
	}
	for (size_t i = 0; s->policies && i < s->policies->n; i++) {
		buf_str(out, " -p ");
		str_shell_quote(out, s->policies->v[i]);
	}
	buf_str(out, " -c ");
}

int hook_wrap(const struct hook_scene *s, const char *command, char **ret)
{
	struct buf b = BUF_INIT(4 * (size_t)LIMIT_ARG_BYTES);
	int r;

	*ret = NULL;
	if (!s->exe)
		return 0;
	wrap_front(s, &b);
	str_shell_quote(&b, command);
	r = buf_take(&b, ret, NULL);
	buf_done(&b);
	return r == -E2BIG ? 0 : r;
}

/* A word in the quotes that str_shell_quote() gives: 'a'\''b'\\'c'.  False when it is something else. */
static bool wrap_unquote(const char *s, struct buf *out)
{
	if (*s != '\'') {
		buf_str(out, s);
		return true;
	}
	while (*s == '\'') {
		const char *end = strchr(s + 1, '\'');

		if (!end)
			return false;
		buf_add(out, s + 1, (size_t)(end - s - 1));
		s = end + 1;
		if (s[0] == '\\' && (s[1] == '\'' || s[1] == '\\') && s[2] == '\'') {
			buf_char(out, s[1]);
			s += 2;
		}
	}
	return *s == '\0';
}

int hook_unwrap(const struct hook_scene *s, const char *text, char **ret)
{
	struct buf front = BUF_INIT((size_t)16 * LIMIT_PATH_BYTES),
		   inner = BUF_INIT((size_t)LIMIT_ARG_BYTES);
	AUTO_FREE char *again = NULL;
	int r = 0;

	*ret = NULL;
	if (!s->exe)
		return 0;
	wrap_front(s, &front);
	if (buf_error(&front) == 0 && str_starts(text, buf_cstr(&front)) &&
	    wrap_unquote(text + front.len, &inner) && buf_error(&inner) == 0)
		r = hook_wrap(s, buf_cstr(&inner), &again);
	if (r == 0 && again && strcmp(again, text) == 0)
		r = buf_take(&inner, ret, NULL);
	buf_done(&front);
	buf_done(&inner);
	return r;
}
