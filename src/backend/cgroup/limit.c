/* SPDX-License-Identifier: Apache-2.0 */
/* See limit.h. */
#include "backend/cgroup/limit.h"

#include "backend/cgroup/dir.h"
#include "backend/cgroup/value.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int limit_number(int fd, const char *file, uint64_t value, struct cordon_error *err)
{
	char text[32];
	uint64_t got = 0;
	int r;

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	r = cgroup_dir_write(fd, file, text);
	if (r == 0)
		r = cgroup_dir_read_number(fd, file, &got);
	if (r < 0)
		return cordon_fail_leaf(err, r, "set %s to %s", file, text);
	if (got > value)
		return cordon_fail(err, CORDON_E_SYSTEM, "%s is %" PRIu64 " after setting it to %s",
				   file, got, text);
	return 0;
}

/* Swap would make the limit a matter of speed: with it, none may be used. */
static int limit_memory_v1(int fd, uint64_t bytes, struct cordon_error *err)
{
	uint64_t old;
	int r = limit_number(fd, "memory.limit_in_bytes", bytes, err);

	if (r < 0)
		return r;
	/* Memory and swap together; not there when the kernel does not account swap. */
	if (cgroup_dir_read_number(fd, "memory.memsw.limit_in_bytes", &old) == -ENOENT)
		return limit_number(fd, "memory.swappiness", 0, err);
	return limit_number(fd, "memory.memsw.limit_in_bytes", bytes, err);
}

static int limit_memory_v2(int fd, uint64_t bytes, struct cordon_error *err)
{
	uint64_t old;
	int r = limit_number(fd, "memory.max", bytes, err);

	/* Not there when the kernel has no swap at all. */
	if (r == 0 && cgroup_dir_read_number(fd, "memory.swap.max", &old) != -ENOENT)
		r = limit_number(fd, "memory.swap.max", 0, err);
	if (r < 0)
		return r;
	r = cgroup_dir_write(fd, "memory.oom.group", "1");
	return r < 0 ? cordon_fail_leaf(err, r, "set memory.oom.group") : 0;
}

/* The quota as one line, which must come back as it was written. */
static int limit_cpu_max(int fd, uint64_t quota, struct cordon_error *err)
{
	AUTO_FREE char *got = NULL;
	char text[64];
	int r;

	(void)snprintf(text, sizeof(text), "%" PRIu64 " %d\n", quota, CGROUP_PERIOD_US);
	r = cgroup_dir_write(fd, "cpu.max", text);
	if (r == 0)
		r = cgroup_dir_read(fd, "cpu.max", &got);
	if (r < 0)
		return cordon_fail_leaf(err, r, "set cpu.max");
	if (strcmp(got, text) != 0)
		return cordon_fail(err, CORDON_E_SYSTEM, "cpu.max is '%.*s' after setting it",
				   (int)strcspn(got, "\n"), got);
	return 0;
}

static int limit_cpu_v1(int fd, const struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	if (plan->cpu_shares.is_given)
		r = limit_number(fd, "cpu.shares", plan->cpu_shares.value, err);
	if (r == 0 && plan->cpu_percent.is_given) {
		uint64_t period = 0;

		r = limit_number(fd, "cpu.cfs_period_us", CGROUP_PERIOD_US, err);
		if (r == 0)
			r = limit_number(fd, "cpu.cfs_quota_us",
					 cgroup_quota_of_percent(plan->cpu_percent.value), err);
		/* A shorter period would make the same quota a looser limit. */
		if (r == 0 && (cgroup_dir_read_number(fd, "cpu.cfs_period_us", &period) < 0 ||
			       period != CGROUP_PERIOD_US))
			return cordon_fail(err, CORDON_E_SYSTEM, "cpu.cfs_period_us changed");
	}
	return r;
}

static int limit_cpu_v2(int fd, const struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	if (plan->cpu_shares.is_given)
		r = limit_number(fd, "cpu.weight", cgroup_weight_of_shares(plan->cpu_shares.value),
				 err);
	if (r == 0 && plan->cpu_percent.is_given)
		r = limit_cpu_max(fd, cgroup_quota_of_percent(plan->cpu_percent.value), err);
	return r;
}

int cgroup_limit_apply(int fd, bool is_v2, enum cgroup_controller controller,
		       const struct plan *plan, struct cordon_error *err)
{
	if (!cgroup_limit_wants(plan, controller))
		return 0;
	switch (controller) {
	case CGROUP_MEMORY:
		return is_v2 ? limit_memory_v2(fd, plan->memory_bytes.value, err)
			     : limit_memory_v1(fd, plan->memory_bytes.value, err);
	case CGROUP_PIDS:
		return limit_number(fd, "pids.max", plan->max_processes.value, err);
	case CGROUP_CPU:
		return is_v2 ? limit_cpu_v2(fd, plan, err) : limit_cpu_v1(fd, plan, err);
	case CGROUP_FREEZER:
	case CGROUP_CONTROLLER_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_INTERNAL, "no such controller");
}
