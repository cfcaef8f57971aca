/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One door to all inspectors: a text of a kind gives findings.  An inspector that fails is an error, never
 * a text without findings.
 */
#pragma once

#include "inspect/context.h"

/* X(id, word): the words of `cordon check -k`. */
#define INSPECT_KINDS(X)                                                                           \
	X(AUTO, "auto")       /* told apart by the text itself */                                  \
	X(COMMAND, "command") /* what an agent would run: a string for a shell */                  \
	X(BASH, "bash")       /* a script */                                                       \
	X(PYTHON, "python")                                                                        \
	X(GO, "go")                                                                                \
	X(TEXT, "text")                                                                            \
	X(OUTPUT, "output") /* what a tool returned */

enum inspect_kind {
#define INSPECT_KIND_ENUM(id, word) INSPECT_##id,
	INSPECT_KINDS(INSPECT_KIND_ENUM)
#undef INSPECT_KIND_ENUM
		INSPECT_KIND_COUNT
};

const char *inspect_kind_name(enum inspect_kind kind);
/* The kind of that name, or INSPECT_KIND_COUNT. */
enum inspect_kind inspect_kind_of(const char *name);

/* Adds what the inspectors for that kind find.  The secrets of the text are not looked for here (secrets/leak.h). */
CORDON_MUST_CHECK int inspect(const struct inspect_context *c, enum inspect_kind kind,
			      const char *text, size_t len, struct findings *ret,
			      struct cordon_error *err);
