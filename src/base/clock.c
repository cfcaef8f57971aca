/* SPDX-License-Identifier: Apache-2.0 */
/* See clock.h. */
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Reads so many decimal digits and moves *text behind them. */
static bool clock_number(const char **text, int digits, unsigned *ret)
{
	*ret = 0;
	for (int i = 0; i < digits; i++, ++*text) {
		if (**text < '0' || **text > '9')
			return false;
		*ret = *ret * 10 + (unsigned)(**text - '0');
	}
	return true;
}

static bool clock_char(const char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

/* The inverse of clock_civil(). */
static int64_t clock_days(unsigned year, unsigned month, unsigned day)
{
	int64_t y = (int64_t)year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t month_from_march = month > 2 ? month - 3 : month + 9;
	int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

/* ".5", ".123456789": milliseconds, cut. */
static bool clock_fraction(const char **text, unsigned *ret_ms)
{
	unsigned scale = 100, digit;
	int digits = 0;

	*ret_ms = 0;
	if (!clock_char(text, '.'))
		return true;
	for (; clock_number(text, 1, &digit); digits++, scale /= 10)
		*ret_ms += digit * scale;
	return digits >= 1 && digits <= 9;
}

/* "Z", "+01:00", "-08:30": minutes east. */
static bool clock_offset(const char **text, int64_t *ret_minutes)
{
	unsigned hours, minutes;
	int64_t sign = **text == '-' ? -1 : 1;

	*ret_minutes = 0;
	if (clock_char(text, 'Z'))
		return true;
	if (!clock_char(text, '+') && !clock_char(text, '-'))
		return false;
	if (!clock_number(text, 2, &hours) || !clock_char(text, ':') ||
	    !clock_number(text, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_minutes = sign * (int64_t)(hours * 60 + minutes);
	return true;
}

int clock_stamp_parse(const char *text, int64_t *ret_wall_ms)
{
	unsigned year, month, day, hour, minute, second, ms, back_year, back_month, back_day;
	int64_t offset, days, wall_ms;

	if (!clock_number(&text, 4, &year) || !clock_char(&text, '-') ||
	    !clock_number(&text, 2, &month) || !clock_char(&text, '-') ||
	    !clock_number(&text, 2, &day) || !clock_char(&text, 'T') ||
	    !clock_number(&text, 2, &hour) || !clock_char(&text, ':') ||
	    !clock_number(&text, 2, &minute) || !clock_char(&text, ':') ||
	    !clock_number(&text, 2, &second) || !clock_fraction(&text, &ms) ||
	    !clock_offset(&text, &offset) || *text != '\0')
		return -EINVAL;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
	    minute > 59 || second > 59)
		return -EINVAL;
	days = clock_days(year, month, day);
	/* February 30 comes back as March 2. */
	clock_civil(days, &back_year, &back_month, &back_day);
	if (back_day != day || back_month != month || back_year != year)
		return -EINVAL;
	wall_ms = ((days * 24 + hour) * 60 + minute - offset) * 60000 + second * INT64_C(1000) + ms;
	if (wall_ms < 0)
		return -EINVAL;
	*ret_wall_ms = wall_ms;
	return 0;
}
