/* SPDX-License-Identifier: Apache-2.0 */
/* See cgroup.h: macOS has no control groups.  A plan that needs one is refused when it is to be made; the rest is what there is
 * to say of a group that never is. */
#include "backend/cgroup/cgroup.h"

#include <errno.h>
#include <stdio.h>

int cgroup_make(const struct plan *plan, struct cgroup **ret, struct cordon_error *err)
{
	(void)plan;
	(void)ret;
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "this system has no control groups");
}

int cgroup_enter(const struct cgroup *g, bool was_cloned_into)
{
	(void)g;
	(void)was_cloned_into;
	return -ENOSYS;
}

bool cgroup_is_unified(void)
{
	return false;
}

struct pollfd cgroup_poll(const struct cgroup *g)
{
	(void)g;
	return (struct pollfd){.fd = -1};
}

void cgroup_look(const struct cgroup *g, struct cgroup_events *ret)
{
	(void)g;
	*ret = (struct cgroup_events){0};
}

void cgroup_measure(const struct cgroup *g, struct cgroup_usage *ret)
{
	(void)g;
	*ret = (struct cgroup_usage){-1, -1, -1, -1};
}

void cgroup_kill(struct cgroup *g)
{
	(void)g;
}

int cgroup_end(struct cgroup *g)
{
	(void)g;
	return 0;
}

void cgroup_sweep(const char *path)
{
	(void)path;
}

void cgroup_expect(const char *id, const char *scratch_dir)
{
	(void)id;
	(void)scratch_dir;
}

guarantee_set cgroup_probe(guarantee_set wanted, bool tries_entering,
			   char ret_why[static CGROUP_WHY_MAX])
{
	(void)wanted;
	(void)tries_entering;
	(void)snprintf(ret_why, CGROUP_WHY_MAX, "this system has no control groups");
	return GUARANTEE_NONE;
}
