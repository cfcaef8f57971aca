/* SPDX-License-Identifier: Apache-2.0 */
/* What a Dockerfile takes from outside, and .dockerignore. */
#include "backend/devenv/dockerfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const struct {
	const char *what;
	const char *text;
	const char *path;
	bool is_taken;
} takes[] = {
	{"a file", "FROM x\nCOPY a /a\n", "a", true},
	{"another", "FROM x\nCOPY a /a\n", "b", false},
	{"in a directory", "FROM x\nCOPY ./d/ /d\n", "d/e/f", true},
	{"beside it", "FROM x\nCOPY d /d\n", "d2/e", false},
	{"several", "FROM x\nADD a b c /d/\n", "b", true},
	{"the target is none", "FROM x\nCOPY a b\n", "b", false},
	{"a glob", "FROM x\nCOPY *.c /s/\n", "m.c", true},
	{"a glob stops at a slash", "FROM x\nCOPY *.c /s/\n", "s/m.c", false},
	{"JSON", "FROM x\nCOPY [\"a b\", \"/d\"]\n", "a b", true},
	{"options", "FROM x\nCOPY --chown=1:1 a /d\n", "a", true},
	{"of another stage", "FROM x AS s\nFROM y\nCOPY --from=s a /d\n", "a", false},
	{"everything", "FROM x\nCOPY . /d\n", "any/thing", true},
	{"above is everything", "FROM x\nCOPY ../.. /d\n", "any", true},
	{"a variable is everything", "FROM x\nCOPY $A /d\n", "any", true},
	{"a quote is everything", "FROM x\nCOPY 'a' /d\n", "any", true},
	{"a continued line", "FROM x\nCOPY a \\\n  # no\n b \\\n /d\n", "b", true},
	{"small letters", "from x\ncopy a /d\n", "a", true},
	{"a comment", "FROM x\n# COPY a /d\n", "a", false},
	{"a mount is everything", "FROM x\nRUN --mount=type=bind,target=/s ls\n", "any", true},
};

static void test_takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		struct dockerfile d;

		assert_int_equal(dockerfile_read(takes[i].text, strlen(takes[i].text), &d, NULL),
				 0);
		if (dockerfile_takes(&d, takes[i].path, /* is_dir= */ false) != takes[i].is_taken)
			fail_msg("%s", takes[i].what);
		dockerfile_done(&d);
	}
}

/* A directory above what is named has to be looked into. */
static void test_leads(void **state)
{
	static const char text[] = "FROM x\nCOPY a/b*/c /d\n";
	struct dockerfile d;

	(void)state;
	assert_int_equal(dockerfile_read(text, strlen(text), &d, NULL), 0);
	assert_true(dockerfile_takes(&d, "a", true));
	assert_true(dockerfile_takes(&d, "a/bb", true));
	assert_true(dockerfile_takes(&d, "a/bb/c", true));
	assert_false(dockerfile_takes(&d, "a/x", true));
	assert_false(dockerfile_takes(&d, "z", true));
	assert_false(dockerfile_takes(&d, "a", false));
	dockerfile_done(&d);
}

static void test_outside(void **state)
{
	static const char text[] = "FROM --platform=x one AS s\nFROM s\nFROM scratch\n"
				   "COPY --from=two a /\nCOPY --from=0 a /\n";
	static const char fetches[] = "FROM x\nADD https://h/f /\n";
	static const char variable[] = "ARG V=x\nFROM ${V}\n";
	struct dockerfile d;

	(void)state;
	assert_int_equal(dockerfile_read(text, strlen(text), &d, NULL), 0);
	assert_int_equal(d.images.n, 2);
	assert_string_equal(d.images.v[0], "one");
	assert_string_equal(d.images.v[1], "two");
	assert_false(d.fetches || d.has_variable || d.takes_all);
	dockerfile_done(&d);
	assert_int_equal(dockerfile_read(fetches, strlen(fetches), &d, NULL), 0);
	assert_true(d.fetches);
	dockerfile_done(&d);
	assert_int_equal(dockerfile_read(variable, strlen(variable), &d, NULL), 0);
	assert_true(d.has_variable);
	dockerfile_done(&d);
	assert_int_equal(dockerfile_read("# escape=`\nFROM x\n", 18, &d, NULL),
			 CORDON_E_UNSUPPORTED);
	dockerfile_done(&d);
	assert_int_equal(dockerfile_read("FROM\0x", 6, &d, NULL), CORDON_E_INVALID);
	dockerfile_done(&d);
}

static void test_ignore(void **state)
{
	static const char text[] = "# c\n*.log\n/d/\n!d/keep\n**/deep\n\n";
	struct strv p = {0};

	(void)state;
	assert_int_equal(dockerignore_read(text, strlen(text), &p, NULL), 0);
	assert_true(dockerignore_has(&p, "a.log"));
	assert_false(dockerignore_has(&p, "x/a.log"));
	assert_true(dockerignore_has(&p, "d/other"));
	assert_false(dockerignore_has(&p, "d/keep"));
	assert_true(dockerignore_has(&p, "deep"));
	assert_true(dockerignore_has(&p, "x/y/deep/z"));
	assert_false(dockerignore_has(&p, "free"));
	assert_false(dockerignore_is_plain(&p));
	strv_done(&p);
	assert_int_equal(dockerignore_read("[a", 2, &p, NULL), CORDON_E_INVALID);
	strv_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes),
		cmocka_unit_test(test_leads),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_ignore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
