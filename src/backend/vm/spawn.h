/* SPDX-License-Identifier: Apache-2.0 */
/* A call in a virtual machine of its own: what the backends of level vm share. */
#pragma once

#include "backend/backend.h"
#include "backend/vm/monitor.h"

struct vm_kind {
	const struct backend_info *info;
	const char *program; /* the emulator */
	const char *package; /* where it comes from, for who has not got it */
	bool needs_kvm;      /* it runs machines on the processor itself or not at all */
	const struct monitor_engine *engine;
	/* Appends the emulator's words, its name first.  0 or -errno. */
	int (*line)(const struct machine *m, struct strv *out);
	/* vm_spawn() of this kind, for a trial. */
	int (*spawn)(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err);
};

CORDON_MUST_CHECK int vm_spawn(const struct vm_kind *kind, const struct plan *plan,
			       struct spawn_result *ret, struct cordon_error *err);
void vm_probe(const struct vm_kind *kind, enum probe_form form, guarantee_set wanted,
	      struct probe *ret);
