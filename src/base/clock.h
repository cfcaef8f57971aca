/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic time, deadlines and RFC 3339 stamps. */
#pragma once

#include "base/error.h"

#include <stdint.h>

#define CLOCK_NEVER INT64_MAX

/* Monotonic milliseconds. */
int64_t clock_ms(void);
/* Monotonic nanoseconds. */
int64_t clock_ns(void);
/* now + ms, saturating; a negative ms means CLOCK_NEVER. */
int64_t clock_deadline(int64_t ms);
/* For poll(): milliseconds until the deadline, 0 when passed, -1 for never. */
int clock_poll_timeout(int64_t deadline_ms);

#define CLOCK_STAMP_LEN 25 /* "2026-01-02T03:04:05.678Z" and the NUL */
/* Writes the wall-clock time, UTC, milliseconds. */
void clock_stamp(char ret_stamp[static CLOCK_STAMP_LEN]);
/* The same for a given time; 1970 for one before that or after the year 9999. */
void clock_stamp_of(int64_t wall_ms, char ret_stamp[static CLOCK_STAMP_LEN]);
#define CLOCK_WALL_END_MS INT64_C(253402300800000) /* 10000-01-01 */
/* RFC 3339, whole string: "2026-01-02T03:04:05Z", with a fraction of up to nine digits (cut to
 * milliseconds) and an offset such as +01:00; capital T and Z; no leap second.  To milliseconds since
 * 1970; 0 or -EINVAL. */
CORDON_MUST_CHECK int clock_stamp_parse(const char *text, int64_t *ret_wall_ms);
/* Wall-clock milliseconds since 1970. */
int64_t clock_wall_ms(void);
