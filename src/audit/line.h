/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of the audit trail: making it, checking its shape and hash (cheap, for writers), and
 * parsing it in full (for readers).  Pure: bytes in, bytes or a struct out.
 */
#pragma once

#include "audit/audit.h"
#include "base/buf.h"

/* Where a chain stands after a record. */
struct audit_head {
	uint64_t seq;
	char hash[SHA256_HEX_LEN];
};

#define AUDIT_ZERO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* The members between seq and prev_hash, starting with `,"id":`, for both kinds of records. */
void audit_line_middle(struct buf *out, const struct audit_event *ev, const char id[static 17],
		       const char *exe);
/* Would a line with this middle be well-formed?  0 or json_check()'s errors, -E2BIG for too long. */
CORDON_MUST_CHECK int audit_line_check(struct buf *scratch, const struct buf *middle);
/* Appends the whole line with its newline and moves *head (the record before) on to it. */
void audit_line_seal(struct buf *out, const char *stamp, const struct buf *middle,
		     struct audit_head *head);

/* What is wrong with a line, from a writer's or reader's point of view. */
enum audit_line_fault {
	AUDIT_LINE_OK,
	AUDIT_LINE_LONG,  /* beyond LIMIT_AUDIT_RECORD */
	AUDIT_LINE_BYTES, /* NUL or invalid UTF-8 */
	AUDIT_LINE_JSON,  /* not one JSON object, or duplicate keys */
	AUDIT_LINE_SHAPE, /* members missing, in other places or of other types */
	AUDIT_LINE_HASH,  /* well-formed, but the hash is not that of the bytes */
	AUDIT_LINE_COUNT
};

const char *audit_line_fault_text(enum audit_line_fault fault);
/* Checks everything but the types of the inner members and reads the chain members; line is without its
 * newline.  ret_prev may be NULL.  The outputs are also filled with AUDIT_LINE_HASH. */
enum audit_line_fault audit_line_head(const char *line, size_t len, struct audit_head *ret_head,
				      char ret_prev[static SHA256_HEX_LEN]);
/* The seq at the start of a line of which only the first bytes are there.  0 or -EBADMSG. */
CORDON_MUST_CHECK int audit_line_first_seq(const char *line, size_t len, uint64_t *ret_seq);

/* A parsed line.  Strings are borrowed from the object and NULL where the record has null. */
struct audit_line {
	const char *text; /* borrowed from the caller, without the newline */
	size_t len;
	struct audit_head head;
	char prev_hash[SHA256_HEX_LEN];
	bool is_hash_right;
	int64_t time_ms;
	enum audit_event_type event; /* AUDIT_EVENT_COUNT for a type from a newer version */
	const char *ts, *id, *type, *session_id, *call_id, *decision, *rule;
	int64_t pid, uid;
	const char *exe; /* or NULL */
	void *object;    /* the parsed JSON; use the functions below */
};

/* A finding inside a record, as in a report.  Strings may be NULL, numbers 0. */
struct audit_finding {
	const char *rule, *type, *level, *severity, *message, *path;
	int64_t line, column;
};

/* Parses one line.  A wrong hash alone is not an error here: see is_hash_right.  ret_fault may be NULL. */
CORDON_MUST_CHECK int audit_line_parse(const char *text, size_t len, struct audit_line *ret,
				       enum audit_line_fault *ret_fault, struct cordon_error *err);
void audit_line_done(struct audit_line *line);
/* A member of the object, "a" or "a.b"; NULL when it is not there or not a string.  Borrows. */
const char *audit_line_str(const struct audit_line *line, const char *name);
/* As above for integers; false when not there. */
bool audit_line_int(const struct audit_line *line, const char *name, int64_t *ret);
/* "verdict" as a string, or the member of that name in it.  Borrows, may be NULL. */
const char *audit_line_verdict(const struct audit_line *line);
size_t audit_line_findings(const struct audit_line *line);
void audit_line_finding(const struct audit_line *line, size_t index, struct audit_finding *ret);
/* RFC 3339 UTC with milliseconds, exactly as we write it, to milliseconds since 1970. */
CORDON_MUST_CHECK int audit_time_parse(const char *ts, size_t len, int64_t *ret_ms);
