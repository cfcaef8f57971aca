/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates: a machine that booted once, saved as it waits for its call.  Two files in the store of the kernel
 * (kernel.h), for the emulator, the kind of processor and the size of the memory: the devices, and the memory.  Nothing
 * of a call is ever in them.
 *
 * Theory of operation.  Every machine of a template starts from the same memory.  The emulator opens that for writing
 * and must not be able to change it for others: so each machine has a copy in sealed memory, of which it maps what it
 * writes to for itself.  Only pages that the template ever used are copied.
 */
#pragma once

#include "backend/vm/kernel.h"
#include "backend/vm/machine.h"

#define VM_TEMPLATE_NAME_MAX 48

/* The name for a machine and the open emulator.  0 or -errno. */
CORDON_MUST_CHECK int vm_template_name(const struct machine *m, int tool,
				       char ret[static VM_TEMPLATE_NAME_MAX]);
/* What one machine is resumed from; -1: none. */
struct vm_template {
	int source; /* the memory of all */
	int ram;    /* of this machine: as large, and empty until vm_template_fill() */
	int state;  /* the devices */
};
#define VM_TEMPLATE_NONE ((struct vm_template){.source = -1, .ram = -1, .state = -1})

/* 0, -ENOENT when there is no template, or -errno. */
CORDON_MUST_CHECK int vm_template_open(const struct vm_store *store, const char *name,
				       unsigned memory_mb, struct vm_template *ret);
/* Copies the memory, and seals it.  While the emulator starts, and before it loads the devices.  0 or -errno. */
CORDON_MUST_CHECK int vm_template_fill(int source, int ram);
void vm_template_done(struct vm_template *t);

/* It does not work: the next call makes another. */
void vm_template_forget(const struct vm_store *store, const char *name);

/* Files for one that is about to be made, under other names; the store is locked. */
struct vm_draft {
	int ram;
	int state;
};
CORDON_MUST_CHECK int vm_draft_make(const struct vm_store *store, unsigned memory_mb,
				    struct vm_draft *ret);
/* It is whole: gets its name, once it is on the disk. */
CORDON_MUST_CHECK int vm_draft_keep(const struct vm_store *store, const char *name,
				    struct vm_draft *d);
void vm_draft_done(const struct vm_store *store, struct vm_draft *d);
