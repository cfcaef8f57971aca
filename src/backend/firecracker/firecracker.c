/* SPDX-License-Identifier: Apache-2.0 */
/* See firecracker.h; the work is done in vm/spawn.c, and beside the machine in engine.c. */
#include "backend/firecracker/firecracker.h"

#include "backend/firecracker/engine.h"
#include "backend/restrict.h"
#include "backend/vm/spawn.h"

#include <errno.h>

static int firecracker_line(const struct machine *m, struct strv *out)
{
	(void)m; /* all of it goes over the socket */
	return strv_add(out, ENGINE_PROGRAM) < 0 || strv_add(out, "--api-sock") < 0 ||
			       strv_add(out, ENGINE_SOCKET) < 0 || strv_add(out, "--id") < 0 ||
			       strv_add(out, "cordon") < 0
		       ? -ENOMEM
		       : 0;
}

static int firecracker_spawn(const struct plan *plan, struct spawn_result *ret,
			     struct cordon_error *err);

static const struct vm_kind firecracker_kind = {
	.info = &backend_infos[BACKEND_FIRECRACKER],
	.program = ENGINE_PROGRAM,
	.package = "Firecracker 1.8 or later (its release has one static program) as "
		   "/usr/local/bin/firecracker",
	.needs_kvm = true,
	.engine = &firecracker_engine,
	.line = firecracker_line,
	.spawn = firecracker_spawn,
};

static int firecracker_spawn(const struct plan *plan, struct spawn_result *ret,
			     struct cordon_error *err)
{
	return vm_spawn(&firecracker_kind, plan, ret, err);
}

static void firecracker_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	vm_probe(&firecracker_kind, form, wanted, ret);
}

const struct cordon_backend firecracker_backend = {
	.info = &backend_infos[BACKEND_FIRECRACKER],
	.summary = "a small virtual machine for each call, without devices to attack",
	.takes_cgroup = false,
	.terminal = BACKEND_TERMINAL_NONE,
	.probe = firecracker_probe,
	.spawn = firecracker_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
