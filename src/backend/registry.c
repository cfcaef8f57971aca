/* SPDX-License-Identifier: Apache-2.0 */
/* See registry.h. */
#include "backend/registry.h"

#include "backend/apple/apple.h"
#include "backend/bwrap/bwrap.h"
#include "backend/chroot/chroot.h"
#include "backend/container/container.h"
#include "backend/firecracker/firecracker.h"
#include "backend/gvisor/gvisor.h"
#include "backend/landlock/landlock.h"
#include "backend/native/native.h"
#include "backend/noop/noop.h"
#include "backend/nsjail/nsjail.h"
#include "backend/seatbelt/seatbelt.h"
#include "backend/vm/qemu.h"
#include "backend/wasm/wasm.h"

#include <assert.h>
#include <string.h>

/* Strongest first. */
static const struct cordon_backend *const registry_list[] = {
	&firecracker_backend, &qemu_backend,     &gvisor_backend, &apple_backend, &docker_backend,
	&podman_backend,      &wasm_backend,     &native_backend, &bwrap_backend, &nsjail_backend,
	&landlock_backend,    &seatbelt_backend, &chroot_backend, &noop_backend,
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

void registry_ask(const struct cordon_backend *b, enum probe_form form, guarantee_set wanted,
		  struct probe *ret)
{
	b->probe(form, wanted, ret);
	if (ret->is_available && b->info->level < LEVEL_VM)
		ret->guarantees |= GUARANTEE_BIT(UNEMULATED);
}

size_t registry_probe(enum probe_form form, guarantee_set wanted,
		      struct candidate ret[static BACKEND_COUNT])
{
	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		ret[i] = (struct candidate){.backend = registry_list[i]};
		registry_ask(registry_list[i], form, wanted, &ret[i].probe);
	}
	return ARRAY_LEN(registry_list);
}

/* Probes those from one level to another, strongest first; true when one of them can run the call. */
static bool registry_probe_levels(enum probe_form form, const struct select_request *request,
				  enum level lowest, enum level highest, struct candidate *ret,
				  size_t *n)
{
	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		const struct cordon_backend *b = registry_list[i];
		struct candidate *c = &ret[*n];

		if (b->info->level < lowest || b->info->level > highest)
			continue;
		*c = (struct candidate){.backend = b};
		registry_ask(b, form, request->needs, &c->probe);
		(*n)++;
		if (select_is_eligible(c, request))
			return true;
	}
	return false;
}

size_t registry_probe_for(enum probe_form form, const struct select_request *request,
			  struct candidate ret[static BACKEND_COUNT])
{
	const char *name = request->backend ? request->backend : "auto";
	size_t n = 0;

	if (strcmp(name, "strongest") == 0) {
		(void)registry_probe_levels(form, request, request->floor, LEVEL_COUNT - 1, ret,
					    &n);
		return n;
	}
	if (strcmp(name, "auto") == 0) {
		for (enum level l = request->floor; l < LEVEL_COUNT; l++)
			if (registry_probe_levels(form, request, l, l, ret, &n))
				break;
		return n;
	}
	for (size_t i = 0; i < ARRAY_LEN(registry_list); i++) {
		if (strcmp(registry_list[i]->info->name, name) != 0)
			continue;
		ret[n] = (struct candidate){.backend = registry_list[i]};
		registry_ask(registry_list[i], form, request->needs, &ret[n++].probe);
	}
	return n;
}
