/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a distribution's kernel for our machines (kernel.h). */
#pragma once

#include "backend/vm/kernel.h"

/* Makes "kernel" and "initrd" in the directory; each appears whole or not at all. */
CORDON_MUST_CHECK int vm_initrd_make(const struct vm_kernel *k, int dir, struct cordon_error *err);
