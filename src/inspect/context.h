/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an inspector may know besides the text.  All of it may be missing: then the built-in lists are
 * used.  Strings belong to the caller and live as long as the inspection.
 */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
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
	unsigned depth;      /* of texts inside texts, which inspectors hand to one another */
	int64_t deadline_ms; /* for all of them together; 0: the inspector of the outermost sets it */
	/* Is shown what each command would run, also one that code hands to a shell; may be NULL. */
	void (*see)(void *see_data, const struct shell_model *m);
	void *see_data;
};

/* Many small texts inside one must not take the time of as many large ones.  *own is the caller's copy of its context,
 * with a deadline in any case. */
static inline void inspect_context_begin(struct inspect_context *own, size_t len)
{
	if (own->deadline_ms == 0)
		own->deadline_ms =
			clock_deadline(LIMIT_INSPECT_MS + (int64_t)(len / LIMIT_INSPECT_MS_BYTES));
}

/* So many milliseconds from now, or sooner where the whole inspection ends sooner.  c may be NULL. */
static inline int64_t inspect_deadline(const struct inspect_context *c, int64_t ms)
{
	int64_t own = clock_deadline(ms);

	return c && c->deadline_ms != 0 && c->deadline_ms < own ? c->deadline_ms : own;
}
