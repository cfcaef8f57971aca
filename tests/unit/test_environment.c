/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a call: exactly the kept list, what the policy passes and sets, and ours. */
#include "core_fixture.h"

#include "core/environment.h"

static void test_rows(void **state)
{
	char *const from[] = {(char[]){"PATH=/bin"},    (char[]){"HOME=/h"},
			      (char[]){"LC_ALL=C"},     (char[]){"LCX=1"},
			      (char[]){"AWS_SECRET=x"}, (char[]){"LD_PRELOAD=/x.so"},
			      (char[]){"CORDON_ID=f"},  (char[]){"CORDON_SANDBOX=0"},
			      (char[]){"FOO=outer"},    (char[]){"FOO=twice"},
			      (char[]){"=odd"},         (char[]){"novalue"},
			      (char[]){"TERM="},        (char[]){"FOOBAR=1"},
			      (char[]){"PATH=/second"}, NULL};
	static const struct {
		const char *yaml, *want; /* names and values, sorted by nobody: in order */
	} rows[] = {
		{NULL, "PATH=/bin HOME=/h LC_ALL=C TERM= "},
		{"sandbox: {environment: {pass: [FOO]}}\n",
		 "PATH=/bin HOME=/h LC_ALL=C FOO=outer TERM= "},
		{"sandbox: {environment: {set: {FOO: inner, A: b}}}\n",
		 "PATH=/bin HOME=/h LC_ALL=C TERM= FOO=inner A=b "},
		{"sandbox: {environment: {pass: [FOO], set: {FOO: inner}}}\n",
		 "PATH=/bin HOME=/h LC_ALL=C TERM= FOO=inner "},
		{"sandbox: {environment: {set: {PATH: /x}}}\n", "HOME=/h LC_ALL=C TERM= PATH=/x "},
		{"sandbox: {environment: {pass: [CORDON_ID], set: {CORDON_SANDBOX: \"0\"}}}\n",
		 "PATH=/bin HOME=/h LC_ALL=C TERM= "},
		{"sandbox: {environment: {pass: [NOT_THERE]}}\n",
		 "PATH=/bin HOME=/h LC_ALL=C TERM= "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(policy_freep) struct policy *p = fixture_policy(rows[i].yaml);
		AUTO(request_freep) struct request *r = fixture_shell("x");
		struct buf got = BUF_INIT(4096), want = BUF_INIT(4096);
		struct strv env = {0};

		assert_int_equal(environment_build(p, r, from, &env, NULL), 0);
		for (size_t k = 0; k < env.n; k++)
			buf_printf(&got, "%s ", env.v[k]);
		buf_printf(&want, "%sCORDON_SANDBOX=1 CORDON_ID=%s ", rows[i].want, r->id);
		assert_string_equal(buf_cstr(&got), buf_cstr(&want));
		assert_null(env.v[env.n]);
		buf_done(&got);
		buf_done(&want);
		strv_done(&env);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
