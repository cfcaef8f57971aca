/* SPDX-License-Identifier: Apache-2.0 */
/* See links.h: a call on macOS has the host's network or none, and no socket of ours inside.  A plan that wants one passed
 * on is refused; no backend there gives the guarantees that such a plan needs. */
#include "run/links.h"

#include <errno.h>

int links_init(struct links *l, const struct plan *plan, struct cordon_error *err)
{
	*l = (struct links){0};
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_SOCKET)
			return cordon_fail(err, CORDON_E_UNSUPPORTED,
					   "no socket can be passed on: '%s'", plan->ops[i].path);
	if (doors_are_wanted(plan))
		return cordon_fail(err, CORDON_E_UNSUPPORTED, "no port can be passed on");
	return 0;
}

int links_listen(struct links *l, struct doors *doors)
{
	(void)l;
	(void)doors;
	return -EINVAL;
}

void links_done(struct links *l)
{
	*l = (struct links){0};
}

size_t links_poll(const struct links *l, struct pollfd polls[static LINKS_POLLS])
{
	(void)l;
	(void)polls;
	return 0;
}

void links_move(struct links *l, const struct pollfd *polls)
{
	(void)l;
	(void)polls;
}
