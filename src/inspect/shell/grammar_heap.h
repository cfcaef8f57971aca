/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put before the sources of grammars when they are compiled: their scanners then take memory as tree-sitter's core
 * does (heap.h), and not past it.
 */
#pragma once

#include <stdlib.h>

extern void *(*ts_current_malloc)(size_t size);
extern void *(*ts_current_calloc)(size_t n, size_t size);
extern void *(*ts_current_realloc)(void *p, size_t size);
extern void (*ts_current_free)(void *p);

#define malloc ts_current_malloc
#define calloc ts_current_calloc
#define realloc ts_current_realloc
#define free ts_current_free
