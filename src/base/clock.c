/* SPDX-License-Identifier: Apache-2.0 */
/* See clock.h. */
#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

int64_t clock_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail with this clock */
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

int64_t clock_wall_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts); /* cannot fail with this clock */
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_deadline(int64_t ms)
{
	int64_t at;

	if (ms < 0 || __builtin_add_overflow(clock_ms(), ms, &at))
		return CLOCK_NEVER;
	return at;
}

int clock_poll_timeout(int64_t deadline_ms)
{
	int64_t now = clock_ms();

	if (deadline_ms == CLOCK_NEVER)
		return -1;
	if (deadline_ms <= now)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

void clock_stamp(char ret_stamp[static CLOCK_STAMP_LEN])
{
	int64_t now = clock_wall_ms();
	time_t seconds = (time_t)(now / 1000);
	struct tm tm;

	/* The year is bounded so that the stamp keeps its width on a machine with an absurd clock. */
	if (!gmtime_r(&seconds, &tm) || tm.tm_year > 8099 || tm.tm_year < 0)
		tm = (struct tm){.tm_year = 70, .tm_mday = 1};
	(void)snprintf(ret_stamp, CLOCK_STAMP_LEN, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		       (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
		       (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
		       (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100,
		       (unsigned)(now % 1000) % 1000);
}
