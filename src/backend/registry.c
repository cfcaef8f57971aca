/* SPDX-License-Identifier: Apache-2.0 */
/* See registry.h. */
#include "backend/registry.h"

#include "backend/bwrap/bwrap.h"
#include "backend/landlock/landlock.h"
#include "backend/native/native.h"
#include "backend/noop/noop.h"

#include <assert.h>
#include <string.h>

/* Strongest first. */
static const struct cordon_backend *const registry_list[] = {
	&native_backend,
	&bwrap_backend,
	&landlock_backend,
	&noop_backend,
};
static_assert(ARRAY_LEN(registry_list) <= BACKEND_COUNT, "each backend is listed once");

const struct cordon_backend *const *registry_all(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(registry_list);
	return registry_list;
}

int registry_find(const char *name, const struct cordon_backend **ret, struct cordon_error *err)
{
	const struct backend_info *info;

	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		if (strcmp(registry_list[i]->info->name, name) == 0) {
			*ret = registry_list[i];
			return 0;
		}
	}
	info = backend_info_find(name);
	if (!info)
		return select_unknown_name(name, err);
	return select_absent_name(info, err);
}

size_t registry_probe(enum probe_form form, guarantee_set wanted,
		      struct candidate ret[static BACKEND_COUNT])
{
	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		ret[i] = (struct candidate){.backend = registry_list[i]};
		registry_list[i]->probe(form, wanted, &ret[i].probe);
	}
	return ARRAY_LEN(registry_list);
}

size_t registry_probe_level(enum probe_form form, enum level level, guarantee_set wanted,
			    struct candidate ret[static BACKEND_COUNT])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		if (registry_list[i]->info->level != level)
			continue;
		ret[n] = (struct candidate){.backend = registry_list[i]};
		registry_list[i]->probe(form, wanted, &ret[n++].probe);
	}
	return n;
}
