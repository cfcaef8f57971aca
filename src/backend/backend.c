/* SPDX-License-Identifier: Apache-2.0 */
/* The shared default operations: what a backend does not do is said, not ignored; see backend.h. */
#include "backend/backend.h"

#include <signal.h>
#include <sys/socket.h>

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

void backend_kill(const struct spawn_result *s)
{
	/* A failure means that it is gone or going, which is what the caller wants. */
	if (s->is_watched)
		(void)shutdown(s->status_fd, SHUT_WR);
	else if (s->has_own_group)
		(void)kill(-s->proc.pid, SIGKILL);
	else if (proc_signal(&s->proc, SIGKILL) < 0)
		return;
}

static int backend_lacks(struct cordon_error *err, const char *operation)
{
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "this backend cannot %s", operation);
}

int backend_default_restrict_filesystem(struct plan *plan, const struct strv *writable,
					const struct strv *readable,
					const struct strv *executable_writable,
					struct cordon_error *err)
{
	(void)plan;
	(void)writable;
	(void)readable;
	(void)executable_writable;
	return backend_lacks(err, "restrict the file system");
}

int backend_default_restrict_network(struct plan *plan, const struct strv *allow,
				     struct cordon_error *err)
{
	(void)plan;
	(void)allow;
	return backend_lacks(err, "restrict the network");
}

int backend_default_restrict_syscalls(struct plan *plan, const struct strv *allowed,
				      struct cordon_error *err)
{
	(void)plan;
	(void)allowed;
	return backend_lacks(err, "restrict system calls");
}

int backend_default_apply_restrictions(const struct plan *plan, struct cordon_error *err)
{
	(void)plan;
	return backend_lacks(err, "confine a process that already runs");
}

int backend_default_get_audit_log(const struct plan *plan, struct json *out,
				  struct cordon_error *err)
{
	(void)plan;
	(void)out;
	return backend_lacks(err, "give an audit log");
}
