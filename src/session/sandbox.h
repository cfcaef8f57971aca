/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persistent sandboxes as they stand in the state database: who they are, what they were made with, and what
 * was last known of them.  What is alive is not decided here: a row says what was true when it was written, and
 * whoever reads it compares it with the keeper (core/keeper.h).
 */
#pragma once

#include "session/session.h"

#include "base/str.h"

#define SANDBOX_ID_LEN 16 /* "sb-", 12 hex digits, NUL */
#define SANDBOX_NAME_LEN 65
#define SANDBOX_BOOT_LEN 40
#define SANDBOX_BACKEND_LEN 32

/* X(ID, word) */
#define SANDBOX_STATE_TABLE(X)                                                                     \
	X(CREATED, "created") /* it is being made, or that was broken off */                       \
	X(RUNNING, "running")                                                                      \
	X(PAUSED, "paused")                                                                        \
	X(STOPPED, "stopped") /* its files are there, its processes are gone */                    \
	X(ERROR, "error")

enum sandbox_state {
#define SANDBOX_STATE_ENUM(id, word) SANDBOX_##id,
	SANDBOX_STATE_TABLE(SANDBOX_STATE_ENUM)
#undef SANDBOX_STATE_ENUM
		SANDBOX_STATE_COUNT
};

const char *sandbox_state_word(enum sandbox_state state);

struct sandbox_row {
	char id[SANDBOX_ID_LEN];
	char name[SANDBOX_NAME_LEN]; /* or "" */
	char *workspace;             /* absolute, real */
	char *policy;                /* in force since it was made, as a cordon.yaml */
	struct strv environment;     /* "NAME=VALUE" */
	enum sandbox_state state;
	char why[256];      /* of an error or an end; may be "" */
	int64_t created_ms; /* wall clock, as all of these */
	int64_t used_ms;
	int64_t paused_ms; /* 0: never */
	int64_t resumed_ms;
	int64_t keeper;              /* its process, 0: none */
	int64_t started;             /* when that started, in the kernel's ticks since boot */
	char boot[SANDBOX_BOOT_LEN]; /* which boot that was */
	int64_t idle_ms;             /* ended after so long without a call; 0: never */
	char *socket;                /* of the keeper, absolute */
	uint64_t guarantees;         /* guarantee_set of what holds it */
	uint64_t degraded;
	char backend[SANDBOX_BACKEND_LEN]; /* the name of what holds it, since it was made */
};

/* Frees the contents; zeroed is allowed. */
void sandbox_row_done(struct sandbox_row *row);

/* Letters, digits, '.', '_' and '-', a letter or digit first, and nothing that looks like an id. */
CORDON_MUST_CHECK int sandbox_check_name(const char *name, struct cordon_error *err);

/* Adds a row, unless there are max already (CORDON_E_LIMIT) or one of that name. */
CORDON_MUST_CHECK int sandbox_add(struct session_store *s, const struct sandbox_row *row,
				  int64_t max, struct cordon_error *err);
/* By id, by the beginning of an id that only one has, or by name.  *ret is given. */
CORDON_MUST_CHECK int sandbox_find(struct session_store *s, const char *word,
				   struct sandbox_row *ret, struct cordon_error *err);
/* Writes what may change: state, why, times, keeper, socket, guarantees. */
CORDON_MUST_CHECK int sandbox_update(struct session_store *s, const struct sandbox_row *row,
				     struct cordon_error *err);
CORDON_MUST_CHECK int sandbox_remove(struct session_store *s, const char *id,
				     struct cordon_error *err);

struct sandbox_list {
	struct sandbox_row *rows;
	size_t n;
	size_t cap;
};
/* Newest first.  *ret is given: sandbox_list_done(). */
CORDON_MUST_CHECK int sandbox_list(struct session_store *s, struct sandbox_list *ret,
				   struct cordon_error *err);
void sandbox_list_done(struct sandbox_list *l);
