/* SPDX-License-Identifier: Apache-2.0 */
/* See doors.h: the list itself, for every system; doors.c makes and sends them. */
#include "backend/doors.h"

#include "base/fd.h"

#define DOORS_ALL (sizeof(struct doors) / sizeof(int))

void doors_init(struct doors *d)
{
	int *fds = (int *)d;

	for (size_t i = 0; i < DOORS_ALL; i++)
		fds[i] = -1;
}

void doors_done(struct doors *d)
{
	int *fds = (int *)d;

	for (size_t i = 0; i < DOORS_ALL; i++)
		fds[i] = fd_close(fds[i]);
}

bool doors_are_wanted(const struct plan *plan)
{
	return plan->net != PLAN_NET_HOST &&
	       (plan->net == PLAN_NET_PROXY || plan->n_ports > 0 || plan->n_publish > 0);
}
