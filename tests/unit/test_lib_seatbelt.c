/* SPDX-License-Identifier: Apache-2.0 */
/* The public way to macOS's profiles; what they mean is tested in test_seatbelt. */
#include <cordon/cordon.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_default(void **state)
{
	struct cordon_seatbelt_policy *policy = NULL;
	struct cordon_error err = {0};
	char *profile = NULL;
	char **argv = NULL;

	(void)state;
	assert_int_equal(cordon_seatbelt_default("/Users/u/w", &policy, &err), 0);
	assert_false(policy->allow_network);
	assert_true(policy->allow_write && policy->allow_process && policy->allow_sysctl);
	assert_string_equal(policy->writable_paths[0], "/Users/u/w");
	assert_null(policy->writable_paths[1]);
	assert_int_equal(cordon_seatbelt_profile(policy, &profile, &err), 0);
	assert_non_null(strstr(profile, "(allow file-read* file-write* (subpath \"/Users/u/w\"))"));
	assert_null(strstr(profile, "network"));
	assert_int_equal(cordon_seatbelt_command("echo \"$HOME\"", policy, &argv, &err), 0);
	assert_string_equal(argv[0], "/usr/bin/sandbox-exec");
	assert_string_equal(argv[2], profile);
	assert_string_equal(argv[6], "echo \"$HOME\"");
	assert_null(argv[7]);
	cordon_free(argv);
	cordon_free(profile);
	policy->allow_write = 0;
	policy->allow_network = 1;
	assert_int_equal(cordon_seatbelt_profile(policy, &profile, &err), 0);
	assert_null(strstr(profile, "file-write* (subpath"));
	assert_non_null(strstr(profile, "(allow network*)"));
	cordon_free(profile);
	cordon_free(policy);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"relative", NULL};
	struct cordon_seatbelt_policy policy = {.struct_size = sizeof(policy),
						.readable_paths = bad};
	struct cordon_seatbelt_policy *made = NULL;
	struct cordon_error err = {0};
	char *profile = NULL;
	char **argv = NULL;

	(void)state;
	assert_int_equal(cordon_seatbelt_profile(&policy, &profile, &err), CORDON_E_INVALID);
	assert_non_null(strstr(err.message, "'relative' is not absolute"));
	policy.readable_paths = NULL;
	assert_int_equal(cordon_seatbelt_command("x", &policy, &argv, &err), CORDON_E_INVALID);
	assert_non_null(strstr(err.message, "lets no command start"));
	policy.struct_size = 0;
	assert_int_equal(cordon_seatbelt_profile(&policy, &profile, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_seatbelt_default("w", &made, &err), CORDON_E_INVALID);
	assert_int_equal(cordon_seatbelt_default(NULL, &made, &err), CORDON_E_INVALID);
	assert_null(profile);
	assert_null(argv);
	assert_null(made);
}

static void test_docker_words(void **state)
{
	const char *const *words = cordon_gvisor_docker_args();

	(void)state;
	assert_string_equal(words[0], "--runtime=runsc");
	assert_null(words[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_docker_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
