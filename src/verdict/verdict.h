/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings and the verdict that follows from them.  SAFE < SUSPICIOUS < MALICIOUS is a lattice: more
 * findings can only raise it.  A finding claims MALICIOUS when its level is HIGH or CRITICAL and
 * SUSPICIOUS otherwise; its confidence, raised by findings of another kind of evidence (fuse.h), must reach
 * the threshold of what it claims, and a MALICIOUS claim that only reaches the lower threshold makes the call
 * SUSPICIOUS.
 */
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum verdict_kind { VERDICT_SAFE, VERDICT_SUSPICIOUS, VERDICT_MALICIOUS, VERDICT_COUNT };
enum threat { THREAT_NONE, THREAT_LOW, THREAT_MEDIUM, THREAT_HIGH, THREAT_CRITICAL, THREAT_COUNT };

/* X(id, word): what a finding is about; the words are part of the report. */
#define FINDING_TYPES(X)                                                                           \
	X(PROMPT_INJECTION, "prompt_injection")                                                    \
	X(EGRESS, "egress")                                                                        \
	X(DATA_LEAK, "data_leak")                                                                  \
	X(BLOCKED_MODULE, "blocked_module")                                                        \
	X(BLOCKED_FUNCTION, "blocked_function")                                                    \
	X(DANGEROUS_PATTERN, "dangerous_pattern")                                                  \
	X(FILE_ACCESS, "file_access")                                                              \
	X(NETWORK_ACCESS, "network_access")                                                        \
	X(SYSTEM_CALL, "system_call")                                                              \
	X(INPUT, "input")

enum finding_type {
#define FINDING_TYPE_ENUM(id, word) FINDING_##id,
	FINDING_TYPES(FINDING_TYPE_ENUM)
#undef FINDING_TYPE_ENUM
		FINDING_TYPE_COUNT
};

/* X(id, word): what kind of evidence a finding rests on; see fuse.h. */
#define SIGNALS(X)                                                                                 \
	X(PATTERN, "pattern")   /* a rule that matched */                                          \
	X(MODEL, "model")       /* the statistical model */                                        \
	X(SEQUENCE, "sequence") /* what the session did before */

enum signal_kind {
#define SIGNAL_ENUM(id, word) SIGNAL_##id,
	SIGNALS(SIGNAL_ENUM)
#undef SIGNAL_ENUM
		SIGNAL_COUNT
};

struct finding {
	char rule[64];
	enum signal_kind signal;
	enum finding_type type;
	enum threat level;
	double confidence; /* 0 to 1 */
	unsigned line;     /* from 1; 0 when unknown */
	unsigned column;
	char message[256];
	char snippet[128]; /* never shows a secret */
};

struct findings {
	struct finding *items;
	size_t n;
	size_t cap;
	bool is_cut; /* there were more than LIMIT_FINDINGS */
};

void findings_done(struct findings *f);
/* Appends a copy; beyond LIMIT_FINDINGS the weakest is dropped, never the strongest.  0 or -ENOMEM. */
CORDON_MUST_CHECK int findings_add(struct findings *f, const struct finding *item);

/* What a finding says about a call, whatever its confidence. */
enum verdict_kind finding_claim(const struct finding *f);

/* How strictly a text is read: as any other, as a document that agents obey, as a test or fixture. */
enum fuse_mode { FUSE_STANDARD, FUSE_STRICT, FUSE_LENIENT, FUSE_MODE_COUNT };

struct thresholds {
	double suspicious;
	double malicious;
	enum fuse_mode mode; /* which evidence weighs how much */
};

struct verdict {
	enum verdict_kind kind;
	double confidence; /* of the findings that decided (fuse.h); 0 for SAFE */
	char matched[96]; /* "malicious(confidence=0.90)", "suspicious(tool=Bash, confidence=0.50)", "safe" */
};

/* The verdict of findings under thresholds.  tool may be NULL. */
void verdict_of(const struct findings *f, const struct thresholds *t, const char *tool,
		struct verdict *ret);
/* The verdict of one claim, as policy engines of CloneGuard's kind ask it. */
enum verdict_kind verdict_of_claim(enum verdict_kind claim, double confidence,
				   const struct thresholds *t);

const char *verdict_name(enum verdict_kind kind);
const char *threat_name(enum threat level);
const char *finding_type_name(enum finding_type type);
/* Writes at most max findings as a JSON array under name. */
void findings_json(const struct findings *f, const char *name, size_t max, struct json *out);
