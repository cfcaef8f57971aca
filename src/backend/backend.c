/* SPDX-License-Identifier: Apache-2.0 */
/* The shared default operations: what a backend does not do is said, not ignored; see backend.h. */
#include "backend/backend.h"

#include <signal.h>
#include <sys/socket.h>

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
