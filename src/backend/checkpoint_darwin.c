/* SPDX-License-Identifier: Apache-2.0 */
/* See checkpoint.h: snapshots are Linux's.  No backend of macOS's says that it gives them. */
#include "backend/checkpoint.h"

static int checkpoint_fail(struct cordon_error *err)
{
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "there are no snapshots on macOS");
}

int checkpoint_take(const struct checkpoint *c, char **ret_name, struct cordon_error *err)
{
	(void)c;
	(void)ret_name;
	return checkpoint_fail(err);
}

int checkpoint_back(const struct checkpoint *c, const char *name, struct cordon_error *err)
{
	(void)c;
	(void)name;
	return checkpoint_fail(err);
}

void checkpoint_span_begin(struct checkpoint_span *s)
{
	*s = (struct checkpoint_span){0};
}

void checkpoint_span_end(struct checkpoint_span *s)
{
	*s = (struct checkpoint_span){0};
}
