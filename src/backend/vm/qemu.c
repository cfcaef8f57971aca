/* SPDX-License-Identifier: Apache-2.0 */
/* See qemu.h. */
#include "backend/vm/qemu.h"

#include "backend/restrict.h"
#include "backend/vm/spawn.h"

static int qemu_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err);

static const struct vm_kind qemu_kind = {
	.info = &backend_infos[BACKEND_QEMU],
	.program = MACHINE_PROGRAM,
	.package = MACHINE_PACKAGE,
	.engine = &monitor_qemu,
	.line = machine_line,
	.spawn = qemu_spawn,
};

static int qemu_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return vm_spawn(&qemu_kind, plan, ret, err);
}

static void qemu_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	vm_probe(&qemu_kind, form, wanted, ret);
}

const struct cordon_backend qemu_backend = {
	.info = &backend_infos[BACKEND_QEMU],
	.summary = "a virtual machine for each call, with a kernel of its own",
	.takes_cgroup = false,
	.terminal = BACKEND_TERMINAL_HOST,
	.probe = qemu_probe,
	.spawn = qemu_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
