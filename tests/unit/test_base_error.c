/* SPDX-License-Identifier: Apache-2.0 */
/* The error object: raising, wrapping, hints, what happens when a message does not fit. */
#include "base/error.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_table(void **state)
{
	static const struct {
		int code;
		const char *name;
	} rows[] = {
		{CORDON_E_INTERNAL, "CORDON_E_INTERNAL"},
		{CORDON_E_INVALID, "CORDON_E_INVALID"},
		{CORDON_E_BUSY, "CORDON_E_BUSY"},
		{-1000, "CORDON_E_INTERNAL"},
		{0, "CORDON_E_INTERNAL"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(cordon_error_name(rows[i].code), rows[i].name);
	assert_string_equal(cordon_error_text(CORDON_E_TIMEOUT), "a deadline passed");
	assert_string_equal(cordon_error_text(-1000), "unknown error");
	assert_string_equal(cordon_error_text(0), "no error");
	assert_string_equal(cordon_error_text(7), "no error");
}

static void test_raise(void **state)
{
	struct cordon_error err = {0};

	(void)state;
	assert_int_equal(cordon_fail(&err, CORDON_E_INVALID, "bad port '%s'", "x"),
			 CORDON_E_INVALID);
	assert_int_equal(err.code, CORDON_E_INVALID);
	assert_int_equal(err.sys_errno, 0);
	assert_string_equal(err.message, "bad port 'x'");
	assert_string_equal(err.hint, "");
	assert_int_equal(cordon_hint(&err, CORDON_E_INVALID, "use %d", 80), CORDON_E_INVALID);
	assert_int_equal(cordon_wrap(&err, CORDON_E_INVALID, "rule %d", 3), CORDON_E_INVALID);
	assert_string_equal(err.message, "rule 3: bad port 'x'");
	assert_string_equal(err.hint, "use 80");
	/* A second raise replaces all of it. */
	assert_int_equal(cordon_fail_errno(&err, EACCES, "open '%s'", "/a"), CORDON_E_SYSTEM);
	assert_int_equal(err.sys_errno, EACCES);
	assert_string_equal(err.message, "open '/a': Permission denied");
	assert_string_equal(err.hint, "");
	assert_int_equal(cordon_nomem(&err), CORDON_E_NOMEM);
	assert_int_equal(err.sys_errno, 0);
	cordon_error_clear(&err);
	assert_int_equal(err.code, 0);
	assert_string_equal(err.message, "");
	assert_int_equal(cordon_fail_errno(&err, 99999, "x"), CORDON_E_SYSTEM);
	assert_string_equal(err.message, "x: unknown errno");
}

static void test_leaf_codes(void **state)
{
	static const struct {
		int sys_errno;
		int want;
	} rows[] = {
		{ENOMEM, CORDON_E_NOMEM},      {E2BIG, CORDON_E_LIMIT},
		{EFBIG, CORDON_E_LIMIT},       {ENAMETOOLONG, CORDON_E_LIMIT},
		{ETIMEDOUT, CORDON_E_TIMEOUT}, {ENOENT, CORDON_E_NOT_FOUND},
		{EINVAL, CORDON_E_INVALID},    {ERANGE, CORDON_E_INVALID},
		{EILSEQ, CORDON_E_INVALID},    {EPERM, CORDON_E_SYSTEM},
		{ELOOP, CORDON_E_SYSTEM},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {0};

		assert_int_equal(cordon_fail_leaf(&err, -rows[i].sys_errno, "x"), rows[i].want);
		assert_int_equal(err.code, rows[i].want);
		assert_int_equal(err.sys_errno, rows[i].sys_errno);
		assert_int_equal(cordon_fail_leaf(NULL, -rows[i].sys_errno, "x"), rows[i].want);
	}
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(cordon_fail(NULL, CORDON_E_BUSY, "x"), CORDON_E_BUSY);
	assert_int_equal(cordon_fail_errno(NULL, ENOMEM, "x"), CORDON_E_NOMEM);
	assert_int_equal(cordon_wrap(NULL, CORDON_E_BUSY, "x"), CORDON_E_BUSY);
	assert_int_equal(cordon_hint(NULL, CORDON_E_BUSY, "x"), CORDON_E_BUSY);
	assert_int_equal(cordon_nomem(NULL), CORDON_E_NOMEM);
	cordon_error_clear(NULL);
}

/* What was never raised below still leaves a code and no dangling ": ". */
static void test_wrap_unraised(void **state)
{
	struct cordon_error err = {0};

	(void)state;
	assert_int_equal(cordon_wrap(&err, CORDON_E_LIMIT, "load"), CORDON_E_LIMIT);
	assert_int_equal(err.code, CORDON_E_LIMIT);
	assert_string_equal(err.message, "load");
}

static void test_own_text_as_argument(void **state)
{
	struct cordon_error err = {0};

	(void)state;
	(void)cordon_fail(&err, CORDON_E_INVALID, "inner");
	(void)cordon_fail(&err, CORDON_E_POLICY, "outer (%s)", err.message);
	assert_string_equal(err.message, "outer (inner)");
	(void)cordon_wrap(&err, CORDON_E_POLICY, "twice %s", err.message);
	assert_string_equal(err.message, "twice outer (inner): outer (inner)");
	(void)cordon_hint(&err, CORDON_E_POLICY, "h");
	(void)cordon_hint(&err, CORDON_E_POLICY, "%s%s", err.hint, err.hint);
	assert_string_equal(err.hint, "hh");
}

static void test_overflow(void **state)
{
	static char longer[3 * CORDON_ERROR_MESSAGE_MAX];
	struct cordon_error err = {0};
	const char *cause = "Permission denied";

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	/* Whatever the prefix, the cause stays readable. */
	(void)cordon_fail_errno(&err, EACCES, "open '%s'", longer);
	assert_int_equal(strlen(err.message), CORDON_ERROR_MESSAGE_MAX - 1);
	assert_string_equal(err.message + CORDON_ERROR_MESSAGE_MAX - 1 - strlen(cause), cause);
	assert_non_null(strstr(err.message, "xxx...: Permission"));
	(void)cordon_wrap(&err, err.code, "%s", longer);
	assert_int_equal(strlen(err.message), CORDON_ERROR_MESSAGE_MAX - 1);
	/* Wrapping a thousand times neither overflows nor loses the newest context. */
	(void)cordon_fail(&err, CORDON_E_INVALID, "seed");
	for (int i = 0; i < 1000; i++)
		(void)cordon_wrap(&err, CORDON_E_INVALID, "layer %d", i);
	assert_true(strncmp(err.message, "layer 999: layer 998: ", 22) == 0);
	assert_true(strlen(err.message) < CORDON_ERROR_MESSAGE_MAX);
	(void)cordon_hint(&err, CORDON_E_INVALID, "%s", longer);
	assert_int_equal(strlen(err.hint), CORDON_ERROR_HINT_MAX - 1);
	assert_string_equal(err.hint + CORDON_ERROR_HINT_MAX - 4, "...");
}

static void test_exact_fit(void **state)
{
	static char text[CORDON_ERROR_MESSAGE_MAX + 1];
	struct cordon_error err = {0};

	(void)state;
	memset(text, 'y', CORDON_ERROR_MESSAGE_MAX - 1);
	(void)cordon_fail(&err, CORDON_E_INVALID, "%s", text);
	assert_string_equal(err.message, text);
	text[CORDON_ERROR_MESSAGE_MAX - 1] = 'y';
	(void)cordon_fail(&err, CORDON_E_INVALID, "%s", text);
	assert_string_equal(err.message + CORDON_ERROR_MESSAGE_MAX - 4, "...");
}

/* A cut never leaves half a character. */
static void test_cut_utf8(void **state)
{
	static char text[3 * CORDON_ERROR_MESSAGE_MAX];

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		struct cordon_error err = {0};

		memset(text, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(text); i += 3) {
			memcpy(text + i, "\xe2\x82\xac", 3);
			text[i + 3] = '\0';
		}
		(void)cordon_fail_errno(&err, EIO, "%s", text);
		assert_true(utf8_is_valid(err.message, strlen(err.message)));
		(void)cordon_wrap(&err, err.code, "%s", text);
		assert_true(utf8_is_valid(err.message, strlen(err.message)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),         cmocka_unit_test(test_raise),
		cmocka_unit_test(test_leaf_codes),    cmocka_unit_test(test_null),
		cmocka_unit_test(test_wrap_unraised), cmocka_unit_test(test_own_text_as_argument),
		cmocka_unit_test(test_overflow),      cmocka_unit_test(test_exact_fit),
		cmocka_unit_test(test_cut_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
