/* SPDX-License-Identifier: Apache-2.0 */
/* See prefault.h. */
#include "base/prefault.h"

#include "base/raw.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MADV_POPULATE_WRITE
#define PREFAULT_PAGE_BYTES 4096 /* or a multiple: then the call is refused */

/* The bytes below end, without the page that end is in. */
static void prefault_below(uintptr_t end, size_t bytes)
{
	end &= ~(uintptr_t)(PREFAULT_PAGE_BYTES - 1);
	bytes &= ~(size_t)(PREFAULT_PAGE_BYTES - 1);
	if (bytes < end)
		(void)raw_call(SYS_madvise, end - bytes, bytes, MADV_POPULATE_WRITE);
}

void prefault(size_t stack_bytes, size_t heap_bytes)
{
	void *heap_end = sbrk(0);

	prefault_below((uintptr_t)__builtin_frame_address(0), stack_bytes);
	if (heap_end != (void *)-1)
		prefault_below((uintptr_t)heap_end, heap_bytes);
}
#else
void prefault(size_t stack_bytes, size_t heap_bytes)
{
	(void)stack_bytes, (void)heap_bytes;
}
#endif
