/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See gvisor.h.  Which platform works here shows when it is tried.  kvm is not tried, only used when a policy names
 * it: there are machines that have the device, and on which it hangs.
 */
#include "backend/gvisor/gvisor.h"

#include "backend/restrict.h"

#include <assert.h>
#include <string.h>

static enum gvisor_platform gvisor_platform = GVISOR_SYSTRAP; /* what the last probe found */

static int gvisor_systrap(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_SYSTRAP, out);
}

static int gvisor_ptrace(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_PTRACE, out);
}

static int gvisor_kvm(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_KVM, out);
}

#define GVISOR_TOOL(platform, words)                                                               \
	{                                                                                          \
		.info = &backend_infos[BACKEND_GVISOR], .program = "runsc",                        \
		.package = "gVisor (runsc; Debian has it in its backports)",                       \
		.variant = (platform), .keeps_network = true, .line = (words),                     \
		.bundle = gvisor_spec, .shows = gvisor_shows,                                      \
	}
static const struct launch_tool gvisor_tools[] = {
	[GVISOR_SYSTRAP] = GVISOR_TOOL("systrap", gvisor_systrap),
	[GVISOR_PTRACE] = GVISOR_TOOL("ptrace", gvisor_ptrace),
	[GVISOR_KVM] = GVISOR_TOOL("kvm", gvisor_kvm),
};
static_assert(ARRAY_LEN(gvisor_tools) == GVISOR_PLATFORM_COUNT, "each platform has its row");

static int gvisor_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	size_t i = plan->platform ? 0 : gvisor_platform;

	while (plan->platform && i < GVISOR_PLATFORM_COUNT &&
	       strcmp(gvisor_tools[i].variant, plan->platform) != 0)
		i++;
	if (i == GVISOR_PLATFORM_COUNT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID, "gVisor has no platform '%s'",
					       plan->platform),
				   "systrap, ptrace or kvm");
	return launch_spawn(&gvisor_tools[i], plan, ret, err);
}

/* What the view would give, but gVisor does not take from it. */
#define GVISOR_LACKS (GUARANTEE_BIT(DEVICE_GRANT) | GUARANTEE_BIT(WRITE_XOR_EXECUTE))

static void gvisor_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	/* Its own processes are not those of the call: gVisor's kernel counts these, exactly and for root too. */
	const guarantee_set counted = GUARANTEE_BIT(PIDS);

	for (size_t i = 0; i < GVISOR_KVM; i++) {
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
	.has_kernel = true,
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
