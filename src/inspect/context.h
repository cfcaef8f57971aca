/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an inspector may know besides the text.  All of it may be missing: then the built-in lists are
 * used.  Strings belong to the caller and live as long as the inspection.
 */
#pragma once

#include "base/error.h"
#include "policy/policy.h"
#include "verdict/verdict.h"

/* X(id, word): what kind of document a text is.  It changes thresholds: text about attacks is no attack. */
#define INSPECT_DOCUMENTS(X)                                                                       \
	X(ANY, "any")                                                                              \
	X(OUTPUT, "output")             /* what a tool returned to an agent */                     \
	X(INSTRUCTIONS, "instructions") /* CLAUDE.md, AGENTS.md, .cursorrules */                   \
	X(SOURCE, "source")                                                                        \
	X(TEST, "test")                                                                            \
	X(SECURITY, "security") /* writing about attacks */                                        \
	X(PROSE, "prose")

enum inspect_document {
#define INSPECT_DOCUMENT_ENUM(id, word) INSPECT_DOCUMENT_##id,
	INSPECT_DOCUMENTS(INSPECT_DOCUMENT_ENUM)
#undef INSPECT_DOCUMENT_ENUM
		INSPECT_DOCUMENT_COUNT
};

struct shell_model;

struct inspect_context {
	const struct policy *policy; /* its allowed hosts and paths; may be NULL */
	const char *cwd;             /* absolute; may be NULL */
	const char *home;            /* may be NULL */
	const char *path;            /* of the document; may be NULL */
	const char *script; /* what $0 is, absolute, when the text is a script; may be NULL */
	enum inspect_document document;
	unsigned depth; /* of texts inside texts, which inspectors hand to one another */
	/* Is shown what each command would run, also one that code hands to a shell; may be NULL. */
	void (*see)(void *see_data, const struct shell_model *m);
	void *see_data;
};
