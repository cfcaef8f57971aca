/* SPDX-License-Identifier: Apache-2.0 */
/* Backends: what is known, what is here, and the answer of SelectSandbox. */
#include "lib/lib.h"

#include "backend/isolation.h"
#include "backend/registry.h"

#include <string.h>

/* The probe of a known backend, or NULL when this build does not have it. */
static const struct candidate *backend_candidate(const struct candidate *candidates, size_t n,
						 const struct backend_info *info)
{
	for (size_t i = 0; i < n; i++)
		if (candidates[i].backend->info == info)
			return &candidates[i];
	return NULL;
}

static void backend_guarantees(guarantee_set set, const char *ret[static GUARANTEE_COUNT + 1])
{
	size_t n = 0;

	for (int g = 0; g < GUARANTEE_COUNT; g++)
		if (set & ((guarantee_set)1 << g))
			ret[n++] = guarantee_name((enum guarantee)g);
	ret[n] = NULL;
}

int cordon_backends(cordon_backend_fn *fn, void *data, struct cordon_error *err)
{
	struct candidate candidates[BACKEND_COUNT];
	size_t n;

	lib_enter(err);
	if (!fn)
		return lib_leave(lib_missing(err, "callback"), err);
	n = registry_probe(PROBE_FULL, GUARANTEE_ALL, candidates);
	for (size_t i = 0; i < BACKEND_COUNT; i++) {
		const struct backend_info *info = &backend_infos[i];
		const struct candidate *c = backend_candidate(candidates, n, info);
		const char *guarantees[GUARANTEE_COUNT + 1];
		const struct cordon_backend_info out = {
			.struct_size = sizeof(out),
			.name = info->name,
			.level = level_name(info->level),
			.strength = info->strength,
			.available = c && c->probe.is_available,
			.reason = c ? c->probe.reason : REGISTRY_ABSENT_REASON,
			.guarantees = guarantees,
		};

		backend_guarantees(c ? c->probe.guarantees : GUARANTEE_NONE, guarantees);
		if (fn(data, &out) != 0)
			return 1;
	}
	return 0;
}

/* Probes one backend, and no other. */
static bool backend_is_here(enum backend_id id)
{
	const struct cordon_backend *b = NULL;
	struct probe probe = {0};

	if (registry_find(backend_infos[id].name, &b, NULL) < 0)
		return false; /* not in this build */
	registry_ask(b, PROBE_FULL, GUARANTEE_ALL, &probe);
	return probe.is_available;
}

int cordon_backend_available(const char *name, struct cordon_error *err)
{
	const struct backend_info *info;

	lib_enter(err);
	if (!name)
		return lib_leave(lib_missing(err, "name"), err);
	info = backend_info_find(name);
	if (!info)
		return lib_leave(select_unknown_name(name, err), err);
	return backend_is_here(info->id);
}

int cordon_is_available(void)
{
	struct candidate candidates[BACKEND_COUNT];
	size_t n = registry_probe(PROBE_FULL, GUARANTEE_ALL, candidates);

	for (size_t i = 0; i < n; i++)
		if (candidates[i].probe.is_available &&
		    candidates[i].backend->info->level > LEVEL_NONE)
			return 1;
	return 0;
}

int cordon_available(void)
{
	return cordon_is_available();
}

int cordon_docker_available(void)
{
	return backend_is_here(BACKEND_DOCKER);
}

int cordon_gvisor_available(void)
{
	return backend_is_here(BACKEND_GVISOR);
}

int cordon_landlock_available(void)
{
	return backend_is_here(BACKEND_LANDLOCK);
}

const char *const *cordon_gvisor_docker_args(void)
{
	static const char *const words[] = {"--runtime=runsc", NULL};

	return words;
}

int cordon_seatbelt_available(void)
{
	return backend_is_here(BACKEND_SEATBELT);
}

int cordon_select(const char *isolation, struct cordon_selection *ret, struct cordon_error *err)
{
	struct cordon_selection out = {.struct_size = sizeof(out)};
	struct candidate candidates[BACKEND_COUNT];
	struct isolation_choice choice;
	enum isolation wanted;
	int r;

	lib_enter(err);
	if (!isolation)
		return lib_leave(lib_missing(err, "isolation"), err);
	r = lib_struct_check(ret, "struct cordon_selection", err);
	if (r == 0 && isolation_from_name(isolation, &wanted) < 0)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_INVALID, "unknown isolation '%.100s'",
					    isolation),
				"default, enhanced, container, maximum or off");
	if (r < 0)
		return lib_leave(r, err);
	choice = select_isolation(wanted, candidates,
				  registry_probe(PROBE_FULL, GUARANTEE_ALL, candidates));
	out.backend = choice.backend;
	out.reason = choice.reason;
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}
