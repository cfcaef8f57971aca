/* SPDX-License-Identifier: Apache-2.0 */
/* See registry.h.  Which backends there are is a table of the system's: registry_linux.c, registry_darwin.c. */
#include "backend/registry.h"

#include <stdio.h>
#include <string.h>

int registry_find(const char *name, const struct cordon_backend **ret, struct cordon_error *err)
{
	size_t n_all;
	const struct cordon_backend *const *all = registry_all(&n_all);
	const struct backend_info *info;

	for (size_t i = 0; i < n_all; i++) {
		if (strcmp(all[i]->info->name, name) == 0) {
			*ret = all[i];
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
	ret->guarantees &= ~registry_lacks;
}

size_t registry_probe(enum probe_form form, guarantee_set wanted,
		      struct candidate ret[static BACKEND_COUNT])
{
	size_t n_all;
	const struct cordon_backend *const *all = registry_all(&n_all);

	for (size_t i = 0; i < n_all; i++) {
		ret[i] = (struct candidate){.backend = all[i]};
		registry_ask(all[i], form, wanted, &ret[i].probe);
	}
	return n_all;
}

/* What it could give to this request. */
static void registry_try(const struct cordon_backend *b, enum probe_form form,
			 const struct select_request *request, struct candidate *ret)
{
	*ret = (struct candidate){.backend = b};
	registry_ask(b, form, request->needs, &ret->probe);
	if (!request->no_overlay || b->copies_workspace ||
	    !(ret->probe.guarantees & GUARANTEE_BIT(PROTECT_MISSING)))
		return;
	ret->probe.guarantees &= ~GUARANTEE_BIT(PROTECT_MISSING);
	(void)snprintf(ret->probe.lacks, sizeof(ret->probe.lacks), "%s", request->no_overlay);
}

/* Probes those from one level to another, strongest first; true when one of them can run the call. */
static bool registry_probe_levels(enum probe_form form, const struct select_request *request,
				  enum level lowest, enum level highest, struct candidate *ret,
				  size_t *n)
{
	size_t n_all;
	const struct cordon_backend *const *all = registry_all(&n_all);

	for (size_t i = 0; i < n_all; i++) {
		const struct cordon_backend *b = all[i];
		struct candidate *c = &ret[*n];

		if (b->info->level < lowest || b->info->level > highest)
			continue;
		registry_try(b, form, request, c);
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
	size_t n_all;
	const struct cordon_backend *const *all = registry_all(&n_all);
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
	for (size_t i = 0; i < n_all; i++) {
		if (strcmp(all[i]->info->name, name) == 0)
			registry_try(all[i], form, request, &ret[n++]);
	}
	return n;
}
