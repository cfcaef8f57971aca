/* SPDX-License-Identifier: Apache-2.0 */
/* The database behind session.h and sandbox.h, for these two alone. */
#pragma once

#include "session/session.h"

#include "base/limits.h"

#include <sqlite3.h>

struct session_store {
	sqlite3 *db;
	char lock[LIMIT_PATH_BYTES];
};

/* Raises what SQLite says. */
int session_fail(struct session_store *s, const char *what, struct cordon_error *err);
CORDON_MUST_CHECK int session_exec(struct session_store *s, const char *sql, const char *what,
				   struct cordon_error *err);
/* A statement with its parameters: i for int64_t, s for a string.  Gives a code of SQLite's. */
CORDON_MUST_CHECK int session_prepare(struct session_store *s, sqlite3_stmt **ret, const char *sql,
				      const char *types, ...) __attribute__((sentinel(0)));
/* Runs a statement that gives no rows. */
CORDON_MUST_CHECK int session_run(struct session_store *s, sqlite3_stmt *q, int prepared,
				  struct cordon_error *err);
/* A text column, cut if it is longer. */
void session_column(sqlite3_stmt *q, int column, char *dst, size_t size);

static inline void session_finalizep(sqlite3_stmt **q)
{
	(void)sqlite3_finalize(*q);
}
#define AUTO_QUERY AUTO(session_finalizep)
