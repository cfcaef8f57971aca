/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's memory and its time.  tree-sitter stops the process when there is no memory; here a parse that runs out of it
 * is left and all that it took is given back.  A parse that is late is left the same way: tree-sitter asks whether to
 * go on once for each hundred tokens, but where it recovers from errors it copies its stacks again and again between two
 * of them, for seconds.  All of that takes memory, so the clock is looked at where memory is taken.
 * Only parses between heap_enter() and heap_leave() are caught.
 */
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block {
	struct heap_block *prev, *next;
};

struct heap {
	struct heap_block blocks; /* a ring */
	jmp_buf out;
	int64_t deadline_ms;
	size_t taken; /* since the clock was looked at */
};

/* What setjmp() gives of `out`, when it was jumped to. */
enum heap_end { HEAP_FULL = 1, HEAP_LATE };

void heap_init(struct heap *h);
/* From here on this thread's parser takes from h; without memory, and after the deadline, it jumps to h->out.  What the parser
 * left half done must then not be used any more, only given back. */
void heap_enter(struct heap *h, int64_t deadline_ms);
void heap_leave(void);
/* Gives everything back. */
void heap_done(struct heap *h);
