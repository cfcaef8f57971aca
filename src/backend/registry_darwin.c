/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of a build for macOS. */
#include "backend/registry.h"

#include "backend/apple/apple.h"
#include "backend/noop/noop.h"
#include "backend/seatbelt/seatbelt.h"

/* Strongest first. */
static const struct cordon_backend *const registry_list[] = {
	&apple_backend,
	&seatbelt_backend,
	&noop_backend,
};

/* Snapshots, change sets, and values that only the proxy has, are Linux's alone. */
const guarantee_set registry_lacks = GUARANTEE_BIT(SNAPSHOT) | GUARANTEE_BIT(COW_WORKSPACE) |
				     GUARANTEE_BIT(ROLLBACK) | GUARANTEE_BIT(NET_ALLOWLIST) |
				     GUARANTEE_BIT(NET_SSRF) | GUARANTEE_BIT(SECRET_BOUNDARY);

const struct cordon_backend *const *registry_all(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(registry_list);
	return registry_list;
}
