/* SPDX-License-Identifier: Apache-2.0 */
/* See arena.h. */
#include "inspect/shell/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 16384, ARENA_ALIGN = 16 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	_Alignas(ARENA_ALIGN) char data[];
};

void arena_done(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	*a = ARENA_INIT(a->max);
}

static struct arena_block *arena_block(struct arena *a, size_t bytes)
{
	size_t size = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
	struct arena_block *b;

	if (a->error || size > a->max - a->total) {
		a->error = a->error ? a->error : -E2BIG;
		return NULL;
	}
	b = malloc(sizeof(*b) + size);
	if (!b) {
		a->error = -ENOMEM;
		return NULL;
	}
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	a->total += size;
	a->used = 0;
	return b;
}

void *arena_take(struct arena *a, size_t bytes)
{
	void *p;

	if (bytes > a->max) {
		a->error = a->error ? a->error : -E2BIG;
		return NULL;
	}
	bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if ((!a->blocks || bytes > a->blocks->size - a->used) && !arena_block(a, bytes))
		return NULL;
	p = a->blocks->data + a->used;
	a->used += bytes;
	return memset(p, 0, bytes);
}

const char *arena_copy(struct arena *a, const char *s, size_t len)
{
	char *p = arena_take(a, len + 1);

	if (!p)
		return "";
	if (len > 0)
		memcpy(p, s, len);
	return p;
}
