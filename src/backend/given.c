/* SPDX-License-Identifier: Apache-2.0 */
/* What views and networks of our own making give, for the backends that have them; see backend.h. */
#include "backend/backend.h"

void backend_view_guarantees(struct probe *ret)
{
	/* The same mounts as those that were tried: of a device, a directory, a socket or a file of ours. */
	if (ret->is_available)
		ret->guarantees |= GUARANTEE_BIT(WRITE_XOR_EXECUTE) | GUARANTEE_BIT(DEBUG_GRANT) |
				   GUARANTEE_BIT(DEVICE_GRANT) | GUARANTEE_BIT(CACHE_GRANT) |
				   GUARANTEE_BIT(SOCKET_GRANT) | GUARANTEE_BIT(SECRET_ENV) |
				   GUARANTEE_BIT(SECRET_FILE);
	if (ret->guarantees & GUARANTEE_BIT(SYSCALL_FILTER))
		ret->guarantees |= GUARANTEE_BIT(SYSCALL_LIST);
	/* An overlay was tried: it holds the names that are missing. */
	if (ret->guarantees & GUARANTEE_BIT(PROTECT_MISSING))
		ret->guarantees |= GUARANTEE_BIT(COW_WORKSPACE) | GUARANTEE_BIT(ROLLBACK);
}

void backend_network_guarantees(uint64_t flags, enum probe_form form, guarantee_set wanted,
				struct probe *ret)
{
	static const guarantee_set given = GUARANTEE_BIT(NET_ALLOWLIST) | GUARANTEE_BIT(NET_SSRF) |
					   GUARANTEE_BIT(SECRET_BOUNDARY);

	/* Sockets on the loopback of a network that was seen to be one of its own. */
	if (ret->guarantees & GUARANTEE_BIT(NET_DENY))
		ret->guarantees |= GUARANTEE_BIT(PORT_PUBLISH) | GUARANTEE_BIT(PORT_GRANT);
	if (ret->is_available && (form == PROBE_FULL || wanted & given & ~ret->guarantees) &&
	    capture_works(flags))
		ret->guarantees |= given;
}
