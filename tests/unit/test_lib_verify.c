/* SPDX-License-Identifier: Apache-2.0 */
/* The code verifier through the public interface: lists, results, and what it refuses. */
#include <cordon/cordon.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct cordon_verification *verify(const struct cordon_verifier *v, const char *language,
					  const char *code)
{
	struct cordon_verification *r = NULL;

	assert_int_equal(cordon_verify(v, code, strlen(code), language, &r, NULL), 0);
	assert_non_null(r);
	return r;
}

static void test_result(void **state)
{
	static const char code[] = "import os\nos.umask(0)\nos.system('ls')\n";
	struct cordon_violation got = {.struct_size = sizeof(got)};
	struct cordon_verification *r;
	struct cordon_verifier *v = NULL;
	char *text = NULL;

	(void)state;
	assert_int_equal(cordon_verifier_new(&v, NULL), 0);
	r = verify(v, "py", code);
	assert_int_equal(cordon_verification_safe(r), 0);
	assert_string_equal(cordon_verification_language(r), "python");
	assert_int_equal(cordon_verification_count(r), 2);
	assert_int_equal(cordon_verification_get(r, 1, &got, NULL), 0);
	assert_string_equal(got.type, "blocked_module");
	assert_string_equal(got.severity, "error");
	assert_string_equal(got.code, "os.system");
	assert_int_equal(got.line, 3);
	assert_true(cordon_verification_get(r, 2, &got, NULL) == CORDON_E_NOT_FOUND);
	assert_non_null(strstr(cordon_verification_warning(r, 0), "os.umask"));
	assert_null(cordon_verification_warning(r, 1));
	assert_int_equal(cordon_verification_format(r, &text, NULL), 0);
	assert_non_null(strstr(text, "1 violation, 1 warning"));
	cordon_free(text);
	cordon_verification_free(r);
	cordon_verifier_free(v);
}

static void test_lists(void **state)
{
	struct cordon_verification *r;
	struct cordon_verifier *v = NULL;

	(void)state;
	assert_int_equal(cordon_verifier_new(&v, NULL), 0);
	assert_string_equal(cordon_verifier_get(v, CORDON_VERIFIER_FUNCTIONS, 0), "rm");
	assert_string_equal(cordon_verifier_get(v, CORDON_VERIFIER_PATHS, 0), "/tmp");
	assert_int_equal(cordon_verifier_add_blocked_module(v, "json", NULL), 0);
	assert_int_equal(cordon_verifier_add_blocked_function(v, "frob", NULL), 0);
	assert_int_equal(cordon_verifier_add_blocked_pattern(v, "blah+", NULL), 0);
	assert_true(cordon_verifier_add_blocked_pattern(v, "[x", NULL) < 0);
	assert_true(cordon_verifier_add(v, CORDON_VERIFIER_PATHS, "relative", NULL) < 0);
	r = verify(v, "python", "import json\nfrob(1)\nx = 'blah'\n");
	assert_int_equal(cordon_verification_count(r), 3);
	cordon_verification_free(r);
	for (int i = 0; i < CORDON_VERIFIER_LIST_COUNT; i++) {
		assert_int_equal(cordon_verifier_clear(v, (enum cordon_verifier_list)i, NULL), 0);
		assert_null(cordon_verifier_get(v, (enum cordon_verifier_list)i, 0));
	}
	r = verify(v, "python", "import json\nfrob(1)\nx = 'blah'\n");
	assert_int_equal(cordon_verification_count(r), 0);
	assert_int_equal(cordon_verification_safe(r), 1);
	cordon_verification_free(r);
	cordon_verifier_free(v);
}

static void test_refused(void **state)
{
	struct cordon_verification *r = NULL;
	struct cordon_verifier *v = NULL;

	(void)state;
	assert_int_equal(cordon_verifier_new(NULL, NULL), CORDON_E_INVALID);
	assert_int_equal(cordon_verifier_new(&v, NULL), 0);
	assert_int_equal(cordon_verifier_add(v, CORDON_VERIFIER_MODULES, "", NULL),
			 CORDON_E_INVALID);
	assert_int_equal(cordon_verifier_add(v, CORDON_VERIFIER_LIST_COUNT, "x", NULL),
			 CORDON_E_INVALID);
	assert_int_equal(cordon_verify(v, NULL, 1, "go", &r, NULL), CORDON_E_INVALID);
	assert_int_equal(cordon_verify(v, "", 0, NULL, &r, NULL), CORDON_E_INVALID);
	assert_int_equal(cordon_verify(NULL, "", 0, "go", &r, NULL), CORDON_E_INVALID);
	assert_null(r);
	assert_int_equal(cordon_verification_safe(NULL), 0);
	cordon_verification_free(NULL);
	cordon_verifier_free(NULL);
	cordon_verifier_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
