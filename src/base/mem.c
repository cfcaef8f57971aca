/* SPDX-License-Identifier: Apache-2.0 */
/* Array growth with ceilings; see mem.h. */
#include "base/mem.h"

#include <errno.h>

int mem_grow(void **p, size_t *cap, size_t need, size_t elem, size_t max)
{
	size_t want = *cap ? *cap : 8, bytes;
	void *grown;

	if (need <= *cap)
		return 0;
	if (need > max)
		return -E2BIG;
	while (want < need) {
		if (__builtin_mul_overflow(want, (size_t)2, &want))
			return -E2BIG;
	}
	if (want > max)
		want = max;
	if (__builtin_mul_overflow(want, elem, &bytes))
		return -E2BIG;
	grown = realloc(*p, bytes);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}
