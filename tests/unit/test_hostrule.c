/* SPDX-License-Identifier: Apache-2.0 */
/* Allow rules: what parses, what each allows, and which rule covers which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "net/hostrule.h"

static struct hostrule rule_of(const char *text)
{
	struct cordon_error err = {0};
	struct hostrule rule;

	if (hostrule_parse(text, strlen(text), &rule, &err) < 0)
		fail_msg("'%s': %s", text, err.message);
	return rule;
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		const char *want; /* hostrule_format() */
	} rows[] = {
		{"example.com", "example.com"},
		{"Example.COM.", "example.com"},
		{"example.com:8443", "example.com:8443"},
		{"*.example.com", "*.example.com"},
		{"*.Example.com:22", "*.example.com:22"},
		{"*.m\xc3\xbcnchen.de", "*.xn--mnchen-3ya.de"},
		{"*.a.b.example.com", "*.a.b.example.com"},
		{"*.example.co.uk", "*.example.co.uk"},
		{"*.corp.uk", "*.corp.uk"},
		{"localhost:3000", "localhost:3000"},
		{"10.0.0.1", "10.0.0.1"},
		{"10.0.0.1:5432", "10.0.0.1:5432"},
		{"::1", "[::1]"},
		{"[2001:DB8::1]:443", "[2001:db8::1]:443"},
		{"[::ffff:10.0.0.1]:80", "10.0.0.1:80"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hostrule rule = rule_of(rows[i].text);
		char text[HOSTRULE_FORMAT_SIZE];
		struct hostrule again;

		hostrule_format(&rule, text);
		assert_string_equal(text, rows[i].want);
		again = rule_of(text);
		assert_memory_equal(&rule, &again, sizeof(rule));
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		const char *reason;
		const char *hint; /* NULL: none is needed */
	} rows[] = {
		{"", "empty", NULL},
		{"*", "every host", "allow-all"},
		{"*.", "every host", "allow-all"},
		{"*:443", "every host", "allow-all"},
		{"**", "'**'", "any depth"},
		{"**.example.com", "'**'", "any depth"},
		{"*.com", "everybody can register", "*.example.com"},
		{"*.com.", "everybody can register", "*.example.com"},
		{"*.com:443", "everybody can register", "*.example.com"},
		{"*.localhost", "everybody can register", "*.example.com"},
		{"*.co.uk", "everybody can register", "*.example.com"},
		{"*.com.au", "everybody can register", "*.example.com"},
		{"*.xn--p1ai", "everybody can register", "*.example.com"},
		{".example.com", "leading '.'", "*.example.com"},
		{"169.254.*", "at the end", "first label"},
		{"example.*", "at the end", "first label"},
		{"registry.*.io", "whole first label", "first label"},
		{"a.*.example.com", "whole first label", "first label"},
		{"api-*.example.com", "whole first label", "first label"},
		{"*api.example.com", "whole first label", "first label"},
		{"*.*.example.com", "whole first label", "first label"},
		{"example.com:*", "port", "per port"},
		{"https://example.com", "URL", "only the host"},
		{"example.com/path", "'/'", "only the host"},
		{"10.0.0.0/8", "'/'", "--allow-private"},
		{"*.10.0.0.1", "before an address", "each address"},
		{"*.[::1]", "before an address", "each address"},
		{"*.::1", "before an address", "each address"},
		{"*.0.0.1", "fewer than four", "four decimal"},
		{"*.example.com:0", "1 to 65535", NULL},
		{"example.com:99999", "1 to 65535", NULL},
		{"*.-a.com", "'-'", NULL},
		{"*..com", "empty label", NULL},
		{"0x7f.1", "hexadecimal", "four decimal"},
		{"user@example.com", "'@'", NULL},
		{"example.com\n", "line break", NULL},
		{"\xef\xbc\x8a.example.com", "character that host names",
		 NULL}, /* full-width star */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {0};
		struct hostrule rule;
		int r;

		memset(&rule, 0x55, sizeof(rule));
		r = hostrule_parse(rows[i].text, strlen(rows[i].text), &rule, &err);
		if (r != CORDON_E_INVALID || !strstr(err.message, rows[i].reason))
			fail_msg("'%s': %d '%s'", rows[i].text, r, err.message);
		if (rows[i].hint && !strstr(err.hint, rows[i].hint))
			fail_msg("'%s': hint '%s'", rows[i].text, err.hint);
		assert_int_equal(((const uint8_t *)&rule)[sizeof(rule) - 1], 0x55);
	}
}

static void test_match(void **state)
{
	static const struct {
		const char *rule;
		const char *host;
		uint16_t port;
		bool want;
	} rows[] = {
		{"example.com", "example.com", 443, true},
		{"example.com", "EXAMPLE.com.", 80, true},
		{"example.com", "example.com", 8080, false},
		{"example.com", "example.com", 0, false},
		{"example.com:8080", "example.com", 8080, true},
		{"example.com:8080", "example.com", 443, false},
		{"example.com", "www.example.com", 443, false},
		{"example.com", "example.com.evil.org", 443, false},
		{"example.com", "notexample.com", 443, false},
		{"*.example.com", "www.example.com", 443, true},
		{"*.example.com", "a.b.c.example.com", 80, true},
		{"*.example.com", "example.com", 443, false},
		{"*.example.com", "notexample.com", 443, false},
		{"*.example.com", "xexample.com", 443, false},
		{"*.example.com", "www.example.com.evil.org", 443, false},
		{"*.example.com", "www.example.com", 22, false},
		{"*.example.com:22", "www.example.com", 22, true},
		{"*.example.com:22", "www.example.com", 443, false},
		{"10.0.0.1", "10.0.0.1", 443, true},
		{"10.0.0.1", "[::ffff:10.0.0.1]", 443, true},
		{"10.0.0.1", "[::ffff:a00:1]", 443, true},
		{"[::ffff:10.0.0.1]", "10.0.0.1", 443, true},
		{"10.0.0.1", "[::10.0.0.1]", 443, false},
		{"10.0.0.1", "10.0.0.10", 443, false},
		{"::1", "[0:0:0:0:0:0:0:1]", 80, true},
		{"::1", "127.0.0.1", 80, false},
		{"xn--mnchen-3ya.de", "m\xc3\xbcnchen.de", 443, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hostrule rule = rule_of(rows[i].rule);
		struct host host;

		assert_int_equal(host_parse(rows[i].host, strlen(rows[i].host), 0, &host, NULL), 0);
		if (hostrule_match(&rule, &host, rows[i].port) != rows[i].want)
			fail_msg("%s for %s port %u: not %d", rows[i].rule, rows[i].host,
				 rows[i].port, rows[i].want);
	}
}

static void test_covers(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		bool want;
	} rows[] = {
		{"example.com", "example.com", true},
		{"example.com", "example.com:443", true},
		{"example.com", "example.com:80", true},
		{"example.com", "example.com:8080", false},
		{"example.com:443", "example.com", false},
		{"example.com:443", "example.com:443", true},
		{"example.com:443", "example.com:80", false},
		{"example.com", "*.example.com", false},
		{"*.example.com", "example.com", false},
		{"*.example.com", "www.example.com", true},
		{"*.example.com", "www.example.com:443", true},
		{"*.example.com", "www.example.com:22", false},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "*.www.example.com", true},
		{"*.example.com", "*.notexample.com", false},
		{"*.example.com", "notexample.com", false},
		{"*.www.example.com", "*.example.com", false},
		{"www.example.com", "*.www.example.com", false},
		{"*.example.com:22", "*.example.com:22", true},
		{"*.example.com:22", "*.example.com", false},
		{"10.0.0.1", "10.0.0.1:443", true},
		{"10.0.0.1", "[::ffff:10.0.0.1]", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"[::1]", "[::1]:80", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hostrule a = rule_of(rows[i].a);
		struct hostrule b = rule_of(rows[i].b);

		if (hostrule_covers(&a, &b) != rows[i].want)
			fail_msg("%s covers %s: not %d", rows[i].a, rows[i].b, rows[i].want);
	}
}

/* What covers() promises, tried on every pair of rules with every host and port. */
static void test_covers_means_match(void **state)
{
	static const char *const rules[] = {
		"example.com",       "example.com:80",  "example.com:22", "*.example.com",
		"*.example.com:443", "*.a.example.com", "a.example.com",  "*.b.a.example.com",
		"*.notexample.com",  "10.0.0.1",        "10.0.0.1:22",    "::1"};
	static const char *const hosts[] = {"example.com",     "a.example.com",
					    "b.a.example.com", "c.b.a.example.com",
					    "notexample.com",  "x.notexample.com",
					    "10.0.0.1",        "::1"};
	static const uint16_t ports[] = {22, 80, 443};
	int covering = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rules) * ARRAY_LEN(rules); i++) {
		struct hostrule a = rule_of(rules[i / ARRAY_LEN(rules)]);
		struct hostrule b = rule_of(rules[i % ARRAY_LEN(rules)]);
		bool is_subset = true;

		for (size_t k = 0; k < ARRAY_LEN(hosts) * ARRAY_LEN(ports); k++) {
			const char *text = hosts[k / ARRAY_LEN(ports)];
			uint16_t port = ports[k % ARRAY_LEN(ports)];
			struct host host;

			assert_int_equal(host_parse(text, strlen(text), 0, &host, NULL), 0);
			if (hostrule_match(&b, &host, port) && !hostrule_match(&a, &host, port))
				is_subset = false;
		}
		if (hostrule_covers(&a, &b) && !is_subset)
			fail_msg("%s does not cover %s", rules[i / ARRAY_LEN(rules)],
				 rules[i % ARRAY_LEN(rules)]);
		covering += hostrule_covers(&a, &b);
	}
	assert_true(covering > (int)ARRAY_LEN(rules));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_covers),
		cmocka_unit_test(test_covers_means_match),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
