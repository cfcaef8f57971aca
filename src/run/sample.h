/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a process and everything below it uses, from /proc: for memory limits without a control
 * group.  Who lost his parent is found only where orphans come to the root of the tree, as in a pid namespace
 * of its own.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sample {
	uint64_t bytes; /* at most what is used; shared pages count in full while this is below enough */
	size_t processes;
};

/* Adds up resident memory.  Only when that is above enough, shared pages are divided among those who share
 * them, which takes the kernel longer.  0, or -errno when root is gone. */
CORDON_MUST_CHECK int sample_tree(pid_t root, uint64_t enough, struct sample *ret);
