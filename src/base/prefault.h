/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults ahead.  A program that lives for a few milliseconds spends a good part of them in faults on memory that
 * it is certain to use; one call for many pages costs a fraction of that.
 */
#pragma once

#include <stddef.h>

/* The stack below the caller and the end of the heap, as far as they are mapped.  Trouble is no error: what is not
 * there now will be when it is touched. */
void prefault(size_t stack_bytes, size_t heap_bytes);
