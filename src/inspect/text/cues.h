/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cues (cues.def) as a table, in the order of their numbers in the database of patterns.
 */
#pragma once

#include "match/match.h"
#include "verdict/verdict.h"

/* X(id): what a cue does.  Cues of different classes support one another. */
#define CUE_CLASSES(X)                                                                             \
	X(OVERRIDE)                                                                                \
	X(SPOOF)                                                                                   \
	X(ADDRESS)                                                                                 \
	X(URGENCY)                                                                                 \
	X(SECRECY)                                                                                 \
	X(EXFIL)                                                                                   \
	X(EXECUTE)                                                                                 \
	X(SECRET)                                                                                  \
	X(PERSONA)                                                                                 \
	X(EXTRACT)                                                                                 \
	X(ANSWER)                                                                                  \
	X(CONFIG)                                                                                  \
	X(PERSIST)                                                                                 \
	X(ENCODED)                                                                                 \
	X(HIDE)                                                                                    \
	X(MODEL) /* what the statistical model says, as if it were a cue */

enum cue_class {
#define CUE_CLASS_ENUM(id) CUE_##id,
	CUE_CLASSES(CUE_CLASS_ENUM)
#undef CUE_CLASS_ENUM
		CUE_CLASS_COUNT
};

struct cue {
	const char *id;
	enum cue_class class;
	enum threat level;
	unsigned percent;
	const char *reason;
	const char *hit;  /* a text that has it */
	const char *miss; /* a text that must not */
};

extern const struct cue cues[];
extern const size_t cues_n;

MATCH_DB(text);
