/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limits.tool_calls_per_minute, kept across processes in <state dir>/rate: the times of the last
 * minute's calls, under a lock.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts this call unless the limit is reached already.  *ret_allowed tells. */
CORDON_MUST_CHECK int rate_take(const char *state_dir, int64_t calls_per_minute, bool *ret_allowed,
				struct cordon_error *err);
