/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SelectSandbox: the five isolation words and their answers on Linux, in the order and with the
 * sentences that callers of the original know.  `native` confines by the same means as `landlock` and
 * more, so it answers in its place where it works.
 */
#include "backend/isolation.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char *const isolation_names[] = {
#define ISOLATION_ROW(id, name) [ISOLATION_##id] = name,
	ISOLATION_TABLE(ISOLATION_ROW)
#undef ISOLATION_ROW
};
static_assert(ARRAY_LEN(isolation_names) == ISOLATION_COUNT, "one name per isolation");

/* What is tried after the special cases, best first. */
static const struct {
	enum backend_id id;
	const char *reason;
} isolation_order[] = {
	{BACKEND_NATIVE, "Linux namespaces + Landlock + seccomp"},
	{BACKEND_LANDLOCK, "Linux Landlock + seccomp (zero overhead)"},
	{BACKEND_NSJAIL, "nsjail (namespaces + seccomp + cgroups)"},
	{BACKEND_BWRAP, "bubblewrap (user namespaces)"},
	{BACKEND_DOCKER, "Docker container (fallback)"},
};

const char *isolation_name(enum isolation isolation)
{
	return (unsigned)isolation < ISOLATION_COUNT ? isolation_names[isolation] : "invalid";
}

int isolation_from_name(const char *name, enum isolation *ret)
{
	for (size_t i = 0; i < ISOLATION_COUNT; i++) {
		if (strcmp(isolation_names[i], name) == 0) {
			*ret = (enum isolation)i;
			return 0;
		}
	}
	return -EINVAL;
}

static bool isolation_has(const struct candidate *candidates, size_t count, enum backend_id id)
{
	for (size_t i = 0; i < count; i++)
		if (candidates[i].backend->info->id == id && candidates[i].probe.is_available)
			return true;
	return false;
}

struct isolation_choice select_isolation(enum isolation isolation,
					 const struct candidate *candidates, size_t count)
{
	bool has_docker = isolation_has(candidates, count, BACKEND_DOCKER);

	if (isolation == ISOLATION_OFF)
		return (struct isolation_choice){"none", "sandbox disabled by user"};
	if (isolation == ISOLATION_MAXIMUM && has_docker)
		return (struct isolation_choice){"docker", "maximum isolation via container"};
	if (isolation == ISOLATION_CONTAINER && has_docker)
		return (struct isolation_choice){"docker", "container isolation requested"};
	for (size_t i = 0; i < ARRAY_LEN(isolation_order); i++)
		if (isolation_has(candidates, count, isolation_order[i].id))
			return (struct isolation_choice){backend_infos[isolation_order[i].id].name,
							 isolation_order[i].reason};
	return (struct isolation_choice){"none", "no sandbox backend available"};
}
