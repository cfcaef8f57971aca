/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's memory.  tree-sitter stops the process when there is none; here a parse that runs out of memory is left
 * and all that it took is given back.  Only parses between heap_enter() and heap_leave() are caught.
 */
#pragma once

#include <setjmp.h>
#include <stddef.h>

struct heap_block {
	struct heap_block *prev, *next;
};

struct heap {
	struct heap_block blocks; /* a ring */
	jmp_buf out;
};

void heap_init(struct heap *h);
/* From here on this thread's parser takes from h, and a failure jumps to h->out. */
void heap_enter(struct heap *h);
void heap_leave(void);
/* Gives everything back. */
void heap_done(struct heap *h);
