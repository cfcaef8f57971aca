/* SPDX-License-Identifier: Apache-2.0 */
/* See cues.h. */
#include "inspect/text/cues.h"

#include "base/mem.h"

const struct cue cues[] = {
#define CUE(id, class, level, percent, reason, expression, hit, miss)                              \
	{id, CUE_##class, THREAT_##level, percent, reason, hit, miss},
#include "inspect/text/cues.def"
#undef CUE
};

const size_t cues_n = ARRAY_LEN(cues);
