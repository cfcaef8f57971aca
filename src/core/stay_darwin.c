/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes that stay are Linux's: what the corridor asks of one (keeper.h, keeper_view.h, sandbox_set.h, since.h) fails. */
#include "core/keeper.h"
#include "core/keeper_view.h"
#include "core/sandbox_set.h"
#include "core/since.h"

#include <errno.h>

static int stay_fail(struct cordon_error *err)
{
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "no sandbox stays on macOS");
}

int keeper_connect(const char *dir, const char *socket_path)
{
	(void)dir;
	(void)socket_path;
	return -ENOSYS;
}

int keeper_ask(int fd, enum serve_kind kind, struct serve_answer *ret)
{
	(void)fd;
	(void)kind;
	(void)ret;
	return -ENOSYS;
}

int keeper_view_read(const char *dir, struct fsplan *ret, struct cordon_error *err)
{
	(void)dir;
	(void)ret;
	return stay_fail(err);
}

int keeper_placeholders_read(const char *dir, struct strv *env, struct cordon_error *err)
{
	(void)dir;
	(void)env;
	return stay_fail(err);
}

int sandbox_checkpoint(const char *state_dir, const char *id, char **ret_name,
		       struct cordon_error *err)
{
	(void)state_dir;
	(void)id;
	(void)ret_name;
	return stay_fail(err);
}

int since_begin(const char *state_dir, const struct sandbox_row *row, bool is_copy,
		const struct policy *p, struct since *ret, struct fsplan *view,
		struct cordon_error *err)
{
	(void)state_dir;
	(void)row;
	(void)is_copy;
	(void)p;
	(void)view;
	*ret = (struct since){0};
	return stay_fail(err);
}

int since_read(struct since *s, struct report *report, struct cordon_error *err)
{
	(void)s;
	(void)report;
	return stay_fail(err);
}

void since_done(struct since *s)
{
	*s = (struct since){0};
}
