/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the library's copies runs the scans.  For the files of this folder only.
 */
#pragma once

#include <hs/hs_common.h>
#include <hs/hs_runtime.h>

/* The calls that exist once per kind of processor. */
struct match_engine {
	__typeof__(hs_scan) *scan;
};

/* NULL when the processor is too old. */
const struct match_engine *match_engine_get(void);
