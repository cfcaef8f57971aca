/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of paths before a call, and back to it.  Works for every backend whose calls write to files of this
 * machine; what a call has made is known by when it was made.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

#define CHECKPOINT_KEPT 20 /* of one owner; older ones are forgotten */

/* When a call was running, by the wall clock. */
struct checkpoint_span {
	int64_t from_ns;
	int64_t to_ns;
};
void checkpoint_span_begin(struct checkpoint_span *s);
void checkpoint_span_end(struct checkpoint_span *s);

struct checkpoint {
	const char *state_dir; /* NULL: the environment's */
	const char *owner;
	const struct strv *paths; /* absolute: directories, files, or what is not there */
	/* While these went on calls could make files; only what was made then is removed by going back. */
	const struct checkpoint_span *spans;
	size_t n_spans;
	int64_t timeout_ms; /* 0: LIMIT_SNAPSHOT_MS */
	size_t max_files;   /* 0: LIMIT_SNAPSHOT_FILES */
	bool skips_unreadable;
};

/* Saves the state.  Gives its name.  CORDON_E_INVALID when there are no paths. */
CORDON_MUST_CHECK int checkpoint_take(const struct checkpoint *c, char **ret_name,
				      struct cordon_error *err);
/* Gives the paths their state back.  What is there now is saved first, as "undo-NAME": nothing is lost.  Refuses a
 * state of other paths, or of another owner. */
CORDON_MUST_CHECK int checkpoint_back(const struct checkpoint *c, const char *name,
				      struct cordon_error *err);
