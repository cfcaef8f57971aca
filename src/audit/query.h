/* SPDX-License-Identifier: Apache-2.0 */
/* Picking records: the filters of `audit show`, and following the log as `audit tail -f` does. */
#pragma once

#include "audit/reader.h"

/* All that are set must match; zero and NULL match everything.  Borrows. */
struct audit_filter {
	const char *type; /* exact, or a prefix when it ends with a dot: "audit." */
	const char *call_id;
	const char *session_id;
	const char *verdict; /* without regard to case */
	const char *decision;
	int64_t since_ms; /* wall clock, included */
	int64_t until_ms; /* excluded; 0: no end */
};

bool audit_filter_match(const struct audit_filter *filter, const struct audit_line *line);
/* As audit_reader_next(), skipping what does not match. */
CORDON_MUST_CHECK int audit_query_next(struct audit_reader *reader,
				       const struct audit_filter *filter, struct audit_line *ret,
				       struct cordon_error *err);

/* Called for each record; borrows.  A value other than 0 ends the walk and is its result. */
typedef int audit_visit_fn(void *userdata, const struct audit_line *line);
/* Calls visit for every matching record behind *position (from the start when its inode is 0) and leaves
 * *position behind the last one looked at.  0, visit's value, or an error. */
CORDON_MUST_CHECK int audit_walk(const char *dir, struct audit_position *position,
				 const struct audit_filter *filter, audit_visit_fn *visit,
				 void *userdata, struct cordon_error *err);
/* Waits until there may be something behind *position: 1, or 0 at the deadline (monotonic ms). */
CORDON_MUST_CHECK int audit_wait(const char *dir, const struct audit_position *position,
				 int64_t deadline_ms, struct cordon_error *err);
