/* SPDX-License-Identifier: Apache-2.0 */
/* The audit trail: reading it, and finding out whether it is whole. */
#pragma once

#include <cordon/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_audit_result {
	size_t struct_size;
	int intact;         /* an unfinished write at the end alone does not count */
	const char *damage; /* none, edited, malformed, removed, reordered, forged…; constant */
	const char *text;   /* what that means; constant */
	uint64_t records;   /* proven */
	uint64_t files;
	uint64_t first_seq; /* 0 when there are no records */
	uint64_t head_seq;  /* of the last proven record */
	uint64_t torn_bytes;
	uint64_t line;      /* of the damage; 0 when it is not in one line */
	char head_hash[65]; /* note it elsewhere, to notice a missing tail later */
	char file[64];      /* of the damage */
};
/* Checks every hash, link and number of the log in a state directory (NULL: the user's).  want_hash
 * (may be NULL) and want_seq name a record that must be there.  Set ret->struct_size before.
 * Return: 0 whatever was found; a negative code when it could not be looked at. */
CORDON_API CORDON_MUST_CHECK int cordon_audit_verify(const char *dir, uint64_t want_seq,
						     const char *want_hash,
						     struct cordon_audit_result *ret,
						     struct cordon_error *err);

/* Borrows; valid during the callback.  Strings are NULL where the record has null. */
struct cordon_audit_record {
	size_t struct_size;
	const char *json; /* the record itself, not terminated */
	size_t json_len;
	uint64_t seq;
	int64_t time_ms;  /* since 1970 */
	const char *time; /* the same, RFC 3339 in UTC */
	const char *id;
	const char *type; /* start, call, refused, approval… */
	const char *session_id;
	const char *call_id;
	const char *decision;
	const char *rule;
	const char *verdict;
	const char *hash;
};
/* What to look at; zero and NULL match everything. */
struct cordon_audit_filter {
	size_t struct_size;
	const char *type; /* exact, or a prefix when it ends with a dot */
	const char *call_id;
	const char *session_id;
	const char *decision;
	const char *verdict;
	int64_t since_ms; /* included */
	int64_t until_ms; /* excluded; 0: no end */
};
/* Returns 0 to go on, anything else to end the walk. */
typedef int cordon_audit_fn(void *data, const struct cordon_audit_record *record);
/* Every record, oldest first, as the log was when it was opened.  filter may be NULL.  A record that was
 * tampered with is an error.  0, or 1 when the callback ended it. */
CORDON_API CORDON_MUST_CHECK int cordon_audit_each(const char *dir,
						   const struct cordon_audit_filter *filter,
						   cordon_audit_fn *fn, void *data,
						   struct cordon_error *err);

#ifdef __cplusplus
}
#endif
