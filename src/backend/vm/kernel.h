/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of virtual machines: a distribution's own, found with its modules, and what we make of it once: the
 * kernel itself out of its compressed image (which a machine starts twice as fast) and an initramfs with our first
 * process, the launcher and the few modules that they need.  Kept in the state directory.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

#define VM_KEY_LEN 17 /* sixteen digits and the NUL */
#define VM_WHY_MAX 200

struct vm_kernel {
	char *image;          /* /boot/vmlinuz-6.1.0-13-amd64 */
	char *modules;        /* /lib/modules/6.1.0-13-amd64 */
	char key[VM_KEY_LEN]; /* of these and of this build: other answers than for another key */
};

/* Looks in $CORDON_VM_KERNEL, then in vm/kernel of the state directory, then on the machine, for a boot/vmlinuz-V
 * and lib/modules/V; the highest V.  *ret is given.  0, or -errno with the reason and the fix in ret_why. */
CORDON_MUST_CHECK int vm_kernel_find(struct vm_kernel *ret, char ret_why[static VM_WHY_MAX]);
void vm_kernel_done(struct vm_kernel *k);

/* The directory in which all of a key is kept, made if it is not there; locked while files are made in it. */
struct vm_store {
	int dir;
	int lock; /* -1: not held */
};
#define VM_STORE_NONE ((struct vm_store){.dir = -1, .lock = -1})

CORDON_MUST_CHECK int vm_store_open(const char *key, struct vm_store *ret,
				    struct cordon_error *err);
/* Waits for others who make something.  0 or a code. */
CORDON_MUST_CHECK int vm_store_lock(struct vm_store *s, struct cordon_error *err);
void vm_store_unlock(struct vm_store *s);
void vm_store_done(struct vm_store *s);

/* What the failure r of a file in the store came to (code, in err), with what to do about a disk that is full. */
CORDON_MUST_CHECK int vm_store_full(struct cordon_error *err, int r, int code);

/* Opens kernel and initramfs, and makes them if need be. */
CORDON_MUST_CHECK int vm_kernel_open(const struct vm_kernel *k, struct vm_store *store,
				     int *ret_kernel, int *ret_initrd, struct cordon_error *err);
/* No machine boots with them: the next call makes them anew. */
void vm_kernel_forget(const struct vm_store *store);
