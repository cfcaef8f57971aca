/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library is built once per kind of processor, with the copies' names prefixed, and chooses by
 * indirect functions.  Those are resolved when a static program starts, whether it scans or not: 22
 * resolvers that each ask the processor, which a hypervisor answers.  posix_spawn + wait of an empty
 * static-pie main(), 1,500 runs interleaved, median (10th percentile):
 *     without the library          639 us (515)
 *     with its own choice          757 us (616)
 *     with the choice made here    639 us (519)
 * So the choice is made here, at the first scan, from what libc already knows about the processor.
 * dbIsValid() is the one such function that the library's common part calls; as it is defined here,
 * the linker has no reason to fetch the resolvers (and would complain about two definitions if it
 * did).
 */
#include "match/engine.h"

#ifdef MATCH_FAT_RUNTIME

#include <stdbool.h>
#include <sys/platform/x86.h>

#define ENGINE(prefix)                                                                             \
	extern __typeof__(hs_scan) prefix##_hs_scan;                                               \
	static const struct match_engine match_engine_##prefix = {                                 \
		.scan = prefix##_hs_scan,                                                          \
	}

ENGINE(avx2);
ENGINE(corei7);

hs_error_t dbIsValid(const hs_database_t *db);

/* What -march=core-avx2 and -march=corei7 let the compiler use. */
static bool match_engine_has_avx2(void)
{
	return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
	       CPU_FEATURE_ACTIVE(LZCNT) && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(MOVBE);
}

const struct match_engine *match_engine_get(void)
{
	if (!CPU_FEATURE_ACTIVE(SSE4_2) || !CPU_FEATURE_ACTIVE(POPCNT))
		return NULL;
	return match_engine_has_avx2() ? &match_engine_avx2 : &match_engine_corei7;
}

/* The library's own would read the whole database for its checksum.  Ours is a constant of the same
 * program as the library, and the generator has had it checked. */
hs_error_t dbIsValid(const hs_database_t *db)
{
	return db && match_engine_get() ? HS_SUCCESS : HS_ARCH_ERROR;
}

#else /* one copy for all processors, or another architecture */

static const struct match_engine match_engine_only = {
	.scan = hs_scan,
};

const struct match_engine *match_engine_get(void)
{
	return hs_valid_platform() == HS_SUCCESS ? &match_engine_only : NULL;
}

#endif
