/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The isolation levels, weakest first: a policy names one as a floor, a backend has exactly one.
 * The order of the enum is the order of strength, so that "at least this level" is a comparison.
 */
#pragma once

#include "base/error.h"

/* X(NAME, name, what it means) */
#define LEVEL_TABLE(X)                                                                             \
	X(NONE, "none", "no isolation: detection and supervision only")                            \
	X(PROCESS, "process", "a process confined by the host's kernel")                           \
	X(WASM, "wasm", "a WebAssembly module with only the capabilities it was given")            \
	X(CONTAINER, "container", "a container engine or a user-space kernel")                     \
	X(VM, "vm", "a virtual machine with a kernel of its own")

enum level {
#define LEVEL_ENUM(id, name, doc) LEVEL_##id,
	LEVEL_TABLE(LEVEL_ENUM)
#undef LEVEL_ENUM
		LEVEL_COUNT
};

/* Borrows; "invalid" for a value outside the enum. */
const char *level_name(enum level level);
const char *level_doc(enum level level);
/* 0 or -EINVAL. */
CORDON_MUST_CHECK int level_from_name(const char *name, enum level *ret);
