/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine's host program (host.c) has to know, as pairs of strings, each with its NUL.  Written by our own
 * process into a private file of the sandbox, so that nothing of it is in a command line or in an environment,
 * where the machine's other users or a loader would read it.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define WASM_CALL_MAX (8 * 1024 * 1024) /* words, variables and preopened directories together */
#define WASM_MODULE_MAX (512 * 1024 * 1024) /* bytes of a module */
#define WASM_PAGE_BYTES 65536

/* Exit codes of the host program: those of both engines' own programs and of the shell. */
#define WASM_EXIT_TROUBLE 125
#define WASM_EXIT_NO_MODULE 126
#define WASM_EXIT_NOT_FOUND 127
#define WASM_EXIT_TRAP 134
/* It ends itself by this one when the fuel is used up: no exit code of a module can look like that. */
#define WASM_FUEL_SIGNAL SIGXCPU

/* X(ID, key) */
#define WASM_KEY_TABLE(X)                                                                          \
	X(LIBRARY, "library") /* of the engine, as dlopen() takes it */                            \
	X(MODULE, "module")   /* path */                                                           \
	X(FUEL, "fuel")       /* instructions */                                                   \
	X(PAGES, "pages")     /* of memory */                                                      \
	X(DIR, "dir")         /* guest:host, with :readonly */                                     \
	X(ENV, "env")                                                                              \
	X(ARG, "arg")                                                                              \
	X(OWN, "own")         /* the module is a product of COMPILE: its machine code is ours */   \
	X(COMPILE, "compile") /* path of what is to be made of the module; nothing runs */         \
	X(END, "end")

enum wasm_key {
#define WASM_KEY_ENUM(id, key) WASM_KEY_##id,
	WASM_KEY_TABLE(WASM_KEY_ENUM)
#undef WASM_KEY_ENUM
		WASM_KEY_COUNT
};

void wasm_call_add(struct buf *out, enum wasm_key key, const char *value);
void wasm_call_number(struct buf *out, enum wasm_key key, uint64_t value);

/* The next pair of what is left between *at and end.  1, 0 after END, or -EINVAL. */
CORDON_MUST_CHECK int wasm_call_next(const char **at, const char *end, enum wasm_key *ret_key,
				     const char **ret_value);
