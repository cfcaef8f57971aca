/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Package caches that outlive a call: one directory per project and tool under our own state directory,
 * keyed by the canonical path of the workspace.  What a call puts there later calls of the same project
 * find, nobody else's; and it is never the user's own cache, which a call could poison for everybody.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

#define CACHE_VARIABLES_MAX 2
#define CACHE_PLACE "/run/cordon/cache" /* inside; a directory for each name */

struct cache_kind {
	const char *name;
	/* Set for the command; the second word is appended to the place. */
	struct {
		const char *name;
		const char *below;
	} variables[CACHE_VARIABLES_MAX];
};

/* NULL when there is none of that name. */
const struct cache_kind *cache_find(const char *name);
/* Gives "STATE/caches/KEY/NAME". */
CORDON_MUST_CHECK int cache_dir(const char *state_dir, const char *workspace, const char *name,
				char **ret);
/* Makes it, for us alone, with a note of the workspace beside it. */
CORDON_MUST_CHECK int cache_make(const char *state_dir, const char *workspace, const char *name,
				 struct cordon_error *err);
/* Bytes on the disk below dir.  Negative code when it is too large to count (walk.h). */
CORDON_MUST_CHECK int cache_size(const char *dir, uint64_t *ret_bytes, struct cordon_error *err);
