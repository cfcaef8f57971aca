/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership helpers: AUTO_* free at the end of the block, TAKE_* hand ownership over.  Sizes are
 * computed with overflow checks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline void mem_freep(void *p)
{
	free(*(void **)p);
}

#define AUTO(f) __attribute__((cleanup(f)))
#define AUTO_FREE AUTO(mem_freep)

#define TAKE_PTR(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) take_ptr_ = (p);                                                     \
		(p) = NULL;                                                                        \
		take_ptr_;                                                                         \
	})

/* Defines foo_freep() for AUTO(foo_freep) from foo_free(). */
#define DEFINE_FREEP(type, f)                                                                      \
	static inline void f##p(type **p)                                                          \
	{                                                                                          \
		f(*p);                                                                             \
	}

/* Grows *p (an array of *cap elements of size elem) to hold at least need elements, doubling, never
 * beyond max.  Returns 0, -E2BIG or -ENOMEM; *p and *cap are untouched on failure. */
int mem_grow(void **p, size_t *cap, size_t need, size_t elem, size_t max);
