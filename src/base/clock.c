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

/* Days since 1970-01-01 to year, month and day, in the proleptic Gregorian calendar.  Years are counted
 * from March, so that the leap day is the last one and months follow one formula. */
static void clock_civil(int64_t days, unsigned *ret_year, unsigned *ret_month, unsigned *ret_day)
{
	int64_t from_0000_march = days + 719468;
	int64_t era = from_0000_march / 146097; /* of 400 years */
	int64_t day_of_era = from_0000_march % 146097;
	int64_t year =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day = day_of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * day + 2) / 153; /* 0 is March */

	*ret_day = (unsigned)(day - (153 * month + 2) / 5 + 1);
	*ret_month = (unsigned)(month < 10 ? month + 3 : month - 9);
	*ret_year = (unsigned)(year + era * 400 + (*ret_month <= 2));
}

void clock_stamp_of(int64_t wall_ms, char ret_stamp[static CLOCK_STAMP_LEN])
{
	unsigned year, month, day, second;
	int64_t seconds;

	/* The year is bounded so that the stamp keeps its width on a machine with an absurd clock. */
	if (wall_ms < 0 || wall_ms >= CLOCK_WALL_END_MS)
		wall_ms = 0;
	seconds = wall_ms / 1000;
	/* Not gmtime_r(): in glibc it reads the time zone's file first. */
	clock_civil(seconds / 86400, &year, &month, &day);
	second = (unsigned)(seconds % 86400);
	(void)snprintf(ret_stamp, CLOCK_STAMP_LEN, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		       year % 10000, month % 100, day % 100, second / 3600 % 100, second / 60 % 60,
		       second % 60, (unsigned)(wall_ms % 1000));
}

void clock_stamp(char ret_stamp[static CLOCK_STAMP_LEN])
{
	clock_stamp_of(clock_wall_ms(), ret_stamp);
}
