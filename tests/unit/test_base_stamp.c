/* SPDX-License-Identifier: Apache-2.0 */
/* Reading RFC 3339 times: by table, and as the inverse of writing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00.001Z", 1},
		{"2000-02-29T00:00:00Z", INT64_C(951782400000)},
		{"2026-01-02T03:04:05.678Z", INT64_C(1767323045678)},
		{"2026-01-02T03:04:05.6Z", INT64_C(1767323045600)},
		{"2026-01-02T03:04:05.678999999Z", INT64_C(1767323045678)},
		{"2026-01-02T04:04:05+01:00", INT64_C(1767323045000)},
		{"2026-01-01T18:34:05-08:30", INT64_C(1767323045000)},
		{"9999-12-31T23:59:59.999Z", CLOCK_WALL_END_MS - 1},
		{"", -1},
		{"2026-01-02", -1},
		{"2026-01-02T03:04Z", -1},
		{"2026-01-02T03:04:05", -1},
		{"2026-01-02 03:04:05Z", -1},
		{"2026-01-02t03:04:05z", -1},
		{"2026-01-02T03:04:05Z ", -1},
		{" 2026-01-02T03:04:05Z", -1},
		{"2026-01-02T03:04:05ZZ", -1},
		{"2026-01-02T03:04:05.Z", -1},
		{"2026-01-02T03:04:05.1234567890Z", -1},
		{"2026-01-02T03:04:05,5Z", -1},
		{"2026-01-02T03:04:05+0100", -1},
		{"2026-01-02T03:04:05+24:00", -1},
		{"2026-01-02T03:04:05+01:60", -1},
		{"2026-02-29T00:00:00Z", -1},
		{"2100-02-29T00:00:00Z", -1},
		{"2026-04-31T00:00:00Z", -1},
		{"2026-00-01T00:00:00Z", -1},
		{"2026-13-01T00:00:00Z", -1},
		{"2026-01-00T00:00:00Z", -1},
		{"2026-01-02T24:00:00Z", -1},
		{"2026-01-02T00:60:00Z", -1},
		{"2026-01-02T00:00:60Z", -1},
		{"1969-12-31T23:59:59Z", -1},
		{"1970-01-01T00:00:00+00:01", -1},
		{"-026-01-02T03:04:05Z", -1},
		{"20260-1-02T03:04:05Z", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t got = -1;
		int r = clock_stamp_parse(rows[i].text, &got);

		if (got != rows[i].want || r != (rows[i].want < 0 ? -EINVAL : 0))
			fail_msg("'%s': %d, %lld", rows[i].text, r, (long long)got);
	}
}

static void test_inverse(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms < CLOCK_WALL_END_MS; ms += INT64_C(86400000) * 13 + 12345678) {
		char stamp[CLOCK_STAMP_LEN];
		int64_t back = -1;

		clock_stamp_of(ms, stamp);
		assert_int_equal(clock_stamp_parse(stamp, &back), 0);
		assert_int_equal(back, ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_inverse),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
