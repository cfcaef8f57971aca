/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes, durations and truth values from text: the whole string or an error. */
#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_int(void **state)
{
	static const struct {
		const char *s;
		int r;
		int64_t want;
	} rows[] = {
		{"0", 0, 0},
		{"-0", 0, 0},
		{"7", 0, 7},
		{"-7", 0, -7},
		{"9223372036854775807", 0, INT64_MAX},
		{"-9223372036854775808", 0, INT64_MIN},
		{"9223372036854775808", -ERANGE, 0},
		{"-9223372036854775809", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-", -EINVAL, 0},
		{"--1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"- 1", -EINVAL, 0},
		{"1\n", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"010", -EINVAL, 0},
		{"-01", -EINVAL, 0},
		{"00", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"1a", -EINVAL, 0},
		{"99999999999999999999999x", -EINVAL, 0},
		{"\xd9\xa1", -EINVAL, 0}, /* an Arabic digit */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 4711;
		int r = parse_int(rows[i].s, INT64_MIN, INT64_MAX, &v);

		if (r != rows[i].r || v != (r == 0 ? rows[i].want : 4711))
			fail_msg("'%s': %d, %lld", rows[i].s, r, (long long)v);
	}
}

static void test_int_range(void **state)
{
	int64_t v = 0;

	(void)state;
	assert_int_equal(parse_int("1", 1, 65535, &v), 0);
	assert_int_equal(parse_int("65535", 1, 65535, &v), 0);
	assert_int_equal(parse_int("0", 1, 65535, &v), -ERANGE);
	assert_int_equal(parse_int("65536", 1, 65535, &v), -ERANGE);
	assert_int_equal(parse_int("-1", 0, 10, &v), -ERANGE);
}

static void test_double(void **state)
{
	static const struct {
		const char *s;
		int r;
		double want;
	} rows[] = {
		{"0", 0, 0},
		{"0.35", 0, 0.35},
		{"1e-3", 0, 0.001},
		{"1E3", 0, 1000},
		{"1e+3", 0, 1000},
		{"-2.5", 0, -2.5},
		{"1.", 0, 1},
		{"1e999", -ERANGE, 0},
		{"-1e999", -ERANGE, 0},
		{"1e-999", -ERANGE, 0},
		{"1e9", -ERANGE, 0}, /* beyond max */
		{"", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"-.5", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"-", -EINVAL, 0},
		{"--1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1e", -EINVAL, 0},
		{"1e+", -EINVAL, 0},
		{"1.2.3", -EINVAL, 0},
		{"1,5", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"1-1", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double v = 4711;
		int r = parse_double(rows[i].s, -1e6, 1e6, &v);
		double want = r == 0 ? rows[i].want : 4711;

		if (r != rows[i].r || v < want || v > want)
			fail_msg("'%s': %d, %g", rows[i].s, r, v);
	}
}

static void test_size(void **state)
{
	static const struct {
		const char *s;
		int r;
		uint64_t want;
	} rows[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"64K", 0, 65536},
		{"1k", 0, 1024},
		{"1Ki", 0, 1024},
		{"1KiB", 0, 1024},
		{"1kb", 0, 1024},
		{"1KB", 0, 1024},
		{"512M", 0, 512ull << 20},
		{"512Mi", 0, 512ull << 20},
		{"1G", 0, 1ull << 30},
		{"2T", 0, 2ull << 40},
		{"100B", 0, 100},
		{"9223372036854775807", 0, INT64_MAX},
		{"9223372036854775808", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"8388607T", 0, 8388607ull << 40},
		{"8388608T", -ERANGE, 0},
		{"16777216T", -ERANGE, 0},
		{"18446744073709551615K", -ERANGE, 0},
		{"16E", -EINVAL, 0},
		{"1P", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1 K", -EINVAL, 0},
		{"1i", -EINVAL, 0},
		{"1iB", -EINVAL, 0},
		{"1KK", -EINVAL, 0},
		{"1KBB", -EINVAL, 0},
		{"1BK", -EINVAL, 0},
		{"1.5G", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 4711;
		int r = parse_size(rows[i].s, &v);

		if (r != rows[i].r || v != (r == 0 ? rows[i].want : 4711))
			fail_msg("'%s': %d, %llu", rows[i].s, r, (unsigned long long)v);
	}
}

static void test_duration(void **state)
{
	static const struct {
		const char *s;
		int r;
		int64_t want;
	} rows[] = {
		{"0", 0, 0},
		{"0ms", 0, 0},
		{"250ms", 0, 250},
		{"30s", 0, 30000},
		{"30", 0, 30000},
		{"5m", 0, 300000},
		{"2h", 0, 7200000},
		{"7d", 0, 604800000},
		{"1.5h", 0, 5400000},
		{"0.5", 0, 500},
		{"1.000001s", 0, 1001},
		/* never down to 0 */
		{"1.5ms", 0, 2},
		{"0.1ms", 0, 1},
		{"0.000001s", 0, 1},
		{"0.0s", 0, 0},
		{"9999999999d", 0, 863999999913600000},
		{"106751991167d", 0, 9223372036828800000},
		{"106751991168d", -ERANGE, 0},
		{"9223372036854775807ms", 0, INT64_MAX},
		{"9223372036854775807.5ms", -ERANGE, 0},
		{"9223372036854775808ms", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{".5s", -EINVAL, 0},
		{"5.s", -EINVAL, 0},
		{"5 s", -EINVAL, 0},
		{" 5s", -EINVAL, 0},
		{"5s ", -EINVAL, 0},
		{"-5s", -EINVAL, 0},
		{"+5s", -EINVAL, 0},
		{"5S", -EINVAL, 0},
		{"5M", -EINVAL, 0},
		{"5us", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"1.2.3s", -EINVAL, 0},
		{"1.1234567s", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 4711;
		int r = parse_duration(rows[i].s, &v);

		if (r != rows[i].r || v != (r == 0 ? rows[i].want : 4711))
			fail_msg("'%s': %d, %lld", rows[i].s, r, (long long)v);
	}
}

static void test_bool(void **state)
{
	static const struct {
		const char *s;
		int r;
		bool want;
	} rows[] = {
		{"true", 0, true},     {"True", 0, true},     {"TRUE", 0, true},
		{"false", 0, false},   {"False", 0, false},   {"FALSE", 0, false},
		{"yes", 0, true},      {"No", 0, false},      {"NO", 0, false},
		{"on", 0, true},       {"ON", 0, true},       {"Off", 0, false},
		{"tRUE", -EINVAL, 0},  {"TRue", -EINVAL, 0},  {"oN", -EINVAL, 0},
		{"truE", -EINVAL, 0},  {"", -EINVAL, 0},      {"1", -EINVAL, 0},
		{"y", -EINVAL, 0},     {"true ", -EINVAL, 0}, {"tru", -EINVAL, 0},
		{"truee", -EINVAL, 0}, {"nO", -EINVAL, 0},    {"4RUE", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool v = !rows[i].want;
		int r = parse_bool(rows[i].s, &v);

		if (r != rows[i].r || (r == 0 && v != rows[i].want))
			fail_msg("'%s': %d, %d", rows[i].s, r, v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int),      cmocka_unit_test(test_int_range),
		cmocka_unit_test(test_double),   cmocka_unit_test(test_size),
		cmocka_unit_test(test_duration), cmocka_unit_test(test_bool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
