/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See gvisor.h.  Which platform works here shows when it is tried.  kvm is not tried: where it does not work it
 * hangs, and it takes the machine's one device for it.
 */
#include "backend/gvisor/gvisor.h"

#include "backend/restrict.h"

#include <assert.h>

static enum gvisor_platform gvisor_platform = GVISOR_SYSTRAP; /* what the last probe found */

static int gvisor_systrap(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_SYSTRAP, out);
}

static int gvisor_ptrace(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_PTRACE, out);
}

#define GVISOR_TOOL(platform, words)                                                               \
	{                                                                                          \
		.info = &backend_infos[BACKEND_GVISOR], .program = "runsc",                        \
		.package = "gVisor (runsc; Debian has it in its backports)", .variant = (platform), \
		.keeps_network = true, .line = (words), .bundle = gvisor_spec,                     \
	}
static const struct launch_tool gvisor_tools[] = {
	[GVISOR_SYSTRAP] = GVISOR_TOOL("systrap", gvisor_systrap),
	[GVISOR_PTRACE] = GVISOR_TOOL("ptrace", gvisor_ptrace),
};
static_assert(ARRAY_LEN(gvisor_tools) == GVISOR_PLATFORM_COUNT, "each platform is tried");

static int gvisor_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return launch_spawn(&gvisor_tools[gvisor_platform], plan, ret, err);
}

/* What the view would give, but gVisor does not take from it. */
#define GVISOR_LACKS GUARANTEE_BIT(DEVICE_GRANT)

static void gvisor_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	/* Its own processes are not those of the call: gVisor's kernel counts these, exactly and for root too. */
	const guarantee_set counted = GUARANTEE_BIT(PIDS);

	for (size_t i = 0; i < GVISOR_PLATFORM_COUNT; i++) {
		gvisor_platform = (enum gvisor_platform)i;
		launch_probe(&gvisor_tools[i], gvisor_spawn, form, wanted & ~counted, ret);
		if (ret->is_available)
			break;
	}
	if (!ret->is_available)
		return;
	ret->guarantees = (ret->guarantees & ~GVISOR_LACKS) | counted;
	ret->by_rlimit |= counted;
}

const struct cordon_backend gvisor_backend = {
	.info = &backend_infos[BACKEND_GVISOR],
	.summary = "gVisor's own kernel (runsc) on the same view, under our filter",
	.takes_cgroup = true,
	.terminal = BACKEND_TERMINAL_NONE,
	.needs_pipes = true,
	.probe = gvisor_probe,
	.spawn = gvisor_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
