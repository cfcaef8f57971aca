/* SPDX-License-Identifier: Apache-2.0 */
/* claw:// URIs: what is accepted and into which parts, and what is not. */
#include "base/mem.h"
#include "policy/uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct uri_row {
	const char *text;
	enum uri_authority authority;
	const char *kind, *space, *name, *version;
};

static const struct uri_row good_rows[] = {
	{"claw://local/sandbox/standard", URI_LOCAL, "sandbox", "", "standard", ""},
	{"claw://local/policy/a@1.0.0", URI_LOCAL, "policy", "", "a", "1.0.0"},
	{"claw://local/world-model/w-1", URI_LOCAL, "world-model", "", "w-1", ""},
	{"claw://sandbox/standard", URI_LOCAL, "sandbox", "", "standard", ""},
	{"claw://sandbox/standard@0.1.2-rc.1", URI_LOCAL, "sandbox", "", "standard", "0.1.2-rc.1"},
	{"claw://registry/acme.tools/x@2.1.0", URI_REGISTRY, "", "acme.tools", "x", "2.1.0"},
	{"claw://local/sandbox/" N63, URI_LOCAL, "sandbox", "", N63, ""},
	{"claw://local/tool/A9", URI_LOCAL, "tool", "", "A9", ""},
};

static const char *const bad_rows[] = {
	"",
	"claw:",
	"claw://",
	"claw:///",
	"CLAW://local/sandbox/a",
	" claw://local/sandbox/a",
	"mcp://local/sandbox/a",
	"https://local/sandbox/a",
	"claw://local",
	"claw://local/",
	"claw://local/sandbox",
	"claw://local/sandbox/",
	"claw://local//a",
	"claw://local/sandbox/a/",
	"claw://local/sandbox/a/b",
	"claw://local/sandbox/../a",
	"claw://local/sandbox/..",
	"claw://local/../sandbox/a",
	"claw://local/Sandbox/a",
	"claw://local/sandwich/a",
	"claw://remote/sandbox/a",
	"claw://local/sandbox/-a",
	"claw://local/sandbox/a_b",
	"claw://local/sandbox/a.b",
	"claw://local/sandbox/a%2fb",
	"claw://local/sandbox/a b",
	"claw://local/sandbox/a\n",
	"claw://local/sandbox/\xc3\xa9",
	"claw://local/sandbox/a?x",
	"claw://local/sandbox/a#x",
	"claw://local/sandbox/" N63 "a",
	"claw://local/sandbox/@1.0.0",
	"claw://local/sandbox/a@",
	"claw://local/sandbox/a@1",
	"claw://local/sandbox/a@1.0",
	"claw://local/sandbox/a@1.0.0.0",
	"claw://local/sandbox/a@v1.0.0",
	"claw://local/sandbox/a@1.0.0-",
	"claw://local/sandbox/a@1.0.0@2.0.0",
	"claw://local/sandbox/a@1.0.0/b",
	"claw://local/sandbox/a@latest",
	"claw://registry/acme/x",
	"claw://registry/acme/",
	"claw://registry//x@1.0.0",
	"claw://registry/-acme/x@1.0.0",
	"claw://registry/ac me/x@1.0.0",
	"claw://registry/acme/x/y@1.0.0",
	"claw://user@local/sandbox/a",
	"claw://local:80/sandbox/a",
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good_rows); i++) {
		const struct uri_row *row = &good_rows[i];
		struct cordon_error err = {0};
		struct claw_uri u;

		if (claw_uri_parse(row->text, &u, &err) < 0)
			fail_msg("%s: %s", row->text, err.message);
		assert_true(claw_uri_is(row->text));
		assert_int_equal(u.authority, row->authority);
		assert_string_equal(u.kind, row->kind);
		assert_string_equal(u.space, row->space);
		assert_string_equal(u.name, row->name);
		assert_string_equal(u.version, row->version);
	}
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad_rows); i++) {
		struct cordon_error err = {0};
		struct claw_uri u = {.name = "untouched"};

		if (claw_uri_parse(bad_rows[i], &u, &err) != CORDON_E_INVALID || !err.message[0] ||
		    !err.hint[0])
			fail_msg("accepted or without a word: '%s'", bad_rows[i]);
		assert_string_equal(u.name, "untouched");
	}
}

static void test_long(void **state)
{
	char text[2048] = "claw://local/sandbox/a@1.0.0-";
	struct claw_uri u;

	(void)state;
	memset(text + strlen(text), 'a', sizeof(text) - strlen(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(claw_uri_parse(text, &u, NULL), CORDON_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
