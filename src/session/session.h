/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of sessions between processes: state.db in the state directory (SQLite, mode 0600, WAL).
 * It is opened only for calls that name a session.  A database that cannot be read is an error: a session whose
 * past is not known must not look like one without a past.
 */
#pragma once

#include "session/sequence.h"

struct session_store;

CORDON_MUST_CHECK int session_open(const char *state_dir, struct session_store **ret,
				   struct cordon_error *err);
void session_close(struct session_store *s);
DEFINE_FREEP(struct session_store, session_close)

struct session_info {
	char id[257];
	int64_t created_ms; /* wall clock */
	int64_t used_ms;
	int64_t calls;
	unsigned marks;     /* facts of any call so far */
	int64_t tainted_ms; /* 0: not tainted */
	char taint[512];    /* what tainted it */
	int64_t lifted_ms;  /* 0: never */
};

/* Judges the call by what the session remembers; nothing is kept.  A session that is not known has no past. */
CORDON_MUST_CHECK int session_judge(struct session_store *s, const char *id,
				    const struct session_event *event, const struct policy *p,
				    struct findings *ret, struct cordon_error *err);
/* Remembers n events of one call.  A SENSITIVE one taints the session. */
CORDON_MUST_CHECK int session_add(struct session_store *s, const char *id,
				  const struct session_event *events, size_t n,
				  struct cordon_error *err);
/* 1 and *ret; 0 when it is not known. */
CORDON_MUST_CHECK int session_find(struct session_store *s, const char *id,
				   struct session_info *ret, struct cordon_error *err);
/* Forgets the taint and the marks that sequences wait for.  0 when it was not known, 1 when it was. */
CORDON_MUST_CHECK int session_lift(struct session_store *s, const char *id,
				   struct cordon_error *err);

typedef void session_info_fn(void *data, const struct session_info *info);
/* Newest use first. */
CORDON_MUST_CHECK int session_each(struct session_store *s, session_info_fn *fn, void *data,
				   struct cordon_error *err);

struct session_past {
	int64_t at_ms;
	enum session_source source;
	unsigned facts;
	const char *tool;
	const char *target;
};
typedef void session_past_fn(void *data, const struct session_past *past);
/* What is remembered of one session, oldest first. */
CORDON_MUST_CHECK int session_past(struct session_store *s, const char *id, session_past_fn *fn,
				   void *data, struct cordon_error *err);
