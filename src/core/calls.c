/* SPDX-License-Identifier: Apache-2.0 */
/* See calls.h. */
#include "core/calls.h"

int calls_plan(const struct policy *p, struct callset *room, struct plan *plan,
	       struct cordon_error *err)
{
	const struct item_list *denied = &p->denied_syscalls;

	for (size_t i = 0; i < denied->n; i++) {
		int r = seccomp_callset_add(room, denied->items[i].text);

		if (r < 0)
			return cordon_fail_leaf(err, r, "system call '%s'", denied->items[i].text);
		plan->denied_calls = room;
	}
	return 0;
}
