/* SPDX-License-Identifier: Apache-2.0 */
/* See heap.h.  Every block has a header that links it into its heap, so that free() needs no heap. */
#include "inspect/shell/heap.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

static _Thread_local struct heap *heap_current;
static pthread_once_t heap_once = PTHREAD_ONCE_INIT;

enum {
	HEAP_BLOCK = 64,       /* what one more block weighs, however small it is */
	HEAP_LOOK = 64 * 1024, /* taken between two looks at the clock */
};

/* Leaves the parse when it is late.  Called when all blocks are linked: nothing is lost. */
static void heap_tick(size_t size)
{
	struct heap *h = heap_current;

	if (!h)
		return;
	if (size < HEAP_LOOK && h->taken < HEAP_LOOK) {
		h->taken += size + HEAP_BLOCK;
		return;
	}
	h->taken = 0;
	if (clock_ms() > h->deadline_ms)
		longjmp(h->out, HEAP_LATE);
}

static void *heap_link(struct heap_block *b)
{
	struct heap *h = heap_current;

	if (!b) {
		if (!h)
			__builtin_trap(); /* a parse that nobody entered */
		longjmp(h->out, HEAP_FULL);
	}
	b->prev = h ? &h->blocks : b;
	b->next = h ? h->blocks.next : b;
	if (h) {
		b->next->prev = b;
		h->blocks.next = b;
	}
	return b + 1;
}

static void heap_unlink(struct heap_block *b)
{
	b->prev->next = b->next;
	b->next->prev = b->prev;
}

static void *heap_malloc(size_t size)
{
	heap_tick(size);
	return heap_link(size > SIZE_MAX - sizeof(struct heap_block)
				 ? NULL
				 : malloc(sizeof(struct heap_block) + size));
}

static void *heap_calloc(size_t n, size_t size)
{
	size_t bytes;
	struct heap_block *b = NULL;

	if (!__builtin_mul_overflow(n, size, &bytes) && bytes <= SIZE_MAX - sizeof(*b)) {
		heap_tick(bytes);
		b = calloc(1, sizeof(*b) + bytes);
	}
	return heap_link(b);
}

static void heap_free(void *p)
{
	struct heap_block *b = p;

	if (!p)
		return;
	heap_unlink(b - 1);
	free(b - 1);
}

static void *heap_realloc(void *p, size_t size)
{
	struct heap_block *b = p, *moved;

	if (!p)
		return heap_malloc(size);
	heap_tick(size);
	b--;
	heap_unlink(b);
	moved = size > SIZE_MAX - sizeof(*b) ? NULL : realloc(b, sizeof(*b) + size);
	if (!moved)
		(void)heap_link(b); /* the old one is still there, and given back with the rest */
	return heap_link(moved);
}

static void heap_install(void)
{
	ts_set_allocator(heap_malloc, heap_calloc, heap_realloc, heap_free);
}

void heap_init(struct heap *h)
{
	/* Before the first block: one that malloc() gave has no header. */
	if (pthread_once(&heap_once, heap_install) != 0)
		__builtin_trap(); /* cannot fail with a valid pointer */
	h->blocks.prev = h->blocks.next = &h->blocks;
}

void heap_enter(struct heap *h, int64_t deadline_ms)
{
	h->deadline_ms = deadline_ms;
	h->taken = 0;
	heap_current = h;
}

void heap_leave(void)
{
	heap_current = NULL;
}

void heap_done(struct heap *h)
{
	while (h->blocks.next != &h->blocks) {
		struct heap_block *b = h->blocks.next;

		heap_unlink(b);
		free(b);
	}
}
