/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the trail whole?  Every hash, every link, every number, over all files.  Stops at the first damage
 * and says what and where; what stands before it is proven.
 */
#pragma once

#include "audit/line.h"
#include "audit/store.h"

/* X(NAME, "word", "what it means") */
#define AUDIT_DAMAGE_TABLE(X)                                                                      \
	X(NONE, "none", "every record is there and unchanged")                                     \
	X(EDITED, "edited", "a record's bytes do not match its hash")                              \
	X(MALFORMED, "malformed", "a line is not a record at all")                                 \
	X(REMOVED, "removed", "records are missing between two others")                            \
	X(REORDERED, "reordered", "records are there, but not in the order of their numbers")      \
	X(FORGED, "forged", "a record has the right number but does not continue the one before")  \
	X(HEAD_MISSING, "head-missing", "the first records are gone and retention did not do it")  \
	X(TAIL_MISSING, "tail-missing", "the log does not reach the head that was asked for")      \
	X(FILE_NAME, "file-name", "a rotated file's name does not fit its first record")           \
	X(TORN, "torn", "an unfinished write at the end, which the next record will repair")

enum audit_damage {
#define AUDIT_DAMAGE_ENUM(id, word, text) AUDIT_DAMAGE_##id,
	AUDIT_DAMAGE_TABLE(AUDIT_DAMAGE_ENUM)
#undef AUDIT_DAMAGE_ENUM
		AUDIT_DAMAGE_COUNT
};

const char *audit_damage_word(enum audit_damage damage);
const char *audit_damage_text(enum audit_damage damage);

struct audit_verify_result {
	bool is_intact; /* no damage; a torn end alone, which is nobody's tampering, does not count */
	enum audit_damage damage;
	uint64_t records;   /* proven */
	uint64_t files;     /* looked at */
	uint64_t first_seq; /* 0 when there are none */
	uint64_t repairs;   /* audit.repair records */
	uint64_t expired;   /* audit.expire records */
	uint64_t unknown;   /* records of types that this version does not know */
	uint64_t torn_bytes;
	struct audit_head head; /* of the last proven record */
	/* where the damage is; line 0 when it is not in one line */
	char file[AUDIT_NAME_LEN];
	uint64_t line;
	enum audit_line_fault fault; /* for MALFORMED */
};

/* want_head (may be NULL): a record, noted elsewhere before, that must be in the log.  dir NULL:
 * env_state_dir().  Returns 0 whatever the result says; an error only when it could not be looked at. */
CORDON_MUST_CHECK int audit_verify(const char *dir, const struct audit_head *want_head,
				   struct audit_verify_result *ret, struct cordon_error *err);
