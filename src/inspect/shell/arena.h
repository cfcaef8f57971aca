/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one inspection: many small pieces that are freed together.  It has a ceiling; beyond it an
 * allocation gives NULL and the arena remembers why, so that a reader of many words checks once.
 */
#pragma once

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used; /* of the first block */
	size_t total;
	size_t max;
	int error; /* 0, -ENOMEM or -E2BIG */
};

#define ARENA_INIT(max_bytes) ((struct arena){.max = (max_bytes)})

void arena_done(struct arena *a);
/* Zeroed bytes, aligned for everything that we keep; NULL beyond the ceiling. */
void *arena_take(struct arena *a, size_t bytes);
/* A copy with a NUL behind it; "" when there is no memory, which arena_error() tells. */
const char *arena_copy(struct arena *a, const char *s, size_t len);
