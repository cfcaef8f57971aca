/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of connections, row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "net/authority.h"
#include "net/httpclaim.h"

static struct host host_of(const char *text)
{
	struct host host;

	assert_int_equal(host_parse(text, strlen(text), 0, &host, NULL), 0);
	return host;
}

static struct hostrule rule_of(const char *text)
{
	struct hostrule rule;

	assert_int_equal(hostrule_parse(text, strlen(text), &rule, NULL), 0);
	return rule;
}

static void test_hosts(void **state)
{
	const struct authority_entry allowed[] = {
		{rule_of("a.example.com"), "one"},        {rule_of("*.b.example.com"), "two"},
		{rule_of("c.example.com:2222"), "three"}, {rule_of("198.51.100.1"), "four"},
		{rule_of("localhost:5432"), "five"},
	};
	static const struct {
		const char *host;
		uint16_t port;
		bool is_allowed;
		bool is_exact;
		const char *rule; /* a part of it */
	} rows[] = {
		{"a.example.com", 443, true, false, "one"},
		{"a.example.com", 80, true, false, "one"},
		{"a.example.com", 8080, false, false, "no entry"},
		{"x.a.example.com", 443, false, false, "no entry"},
		{"b.example.com", 443, false, false, "no entry"},
		{"x.y.b.example.com", 443, true, false, "two"},
		{"c.example.com", 2222, true, true, "three"},
		{"c.example.com", 443, false, false, "no entry"},
		{"198.51.100.1", 80, false, false, "documentation"},
		{"localhost", 5432, false, false, "ssrf"},
		{"evil.com", 443, false, false, "no entry"},
	};
	struct authority a = {
		.mode = AUTHORITY_ALLOWLIST, .allowed = allowed, .n_allowed = ARRAY_LEN(allowed)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);
		struct authority_answer answer;

		authority_host(&a, &host, rows[i].port, &answer);
		if (answer.is_allowed != rows[i].is_allowed || !strstr(answer.rule, rows[i].rule) ||
		    (answer.is_allowed && answer.is_exact_port != rows[i].is_exact))
			fail_msg("%s:%u: %d '%s'", rows[i].host, rows[i].port, answer.is_allowed,
				 answer.rule);
		if (!answer.is_allowed)
			assert_true(answer.remedy[0] != '\0');
	}
	a.mode = AUTHORITY_CLOSED;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);
		struct authority_answer answer;

		authority_host(&a, &host, rows[i].port, &answer);
		assert_false(answer.is_allowed);
	}
}

static void test_requests(void **state)
{
	static const char *const reads[] = {"GET", "HEAD", NULL};
	static const char *const api[] = {"/api/**", NULL};
	static const char *const secret[] = {"/api/secret*", NULL};
	const struct authority_rule rules[] = {
		{rule_of("api.example.com"), NULL, secret, true, "no secrets"},
		{rule_of("api.example.com"), reads, api, false, "read the api"},
		{rule_of("closed.example.com"), NULL, NULL, true, "closed"},
	};
	const struct authority_entry allowed[] = {{rule_of("*.example.com"), "all"}};
	const struct authority a = {
		.mode = AUTHORITY_ALLOWLIST,
		.allowed = allowed,
		.n_allowed = 1,
		.rules = rules,
		.n_rules = ARRAY_LEN(rules),
	};
	static const struct {
		const char *host;
		const char *method;
		const char *path;
		bool is_allowed;
		const char *rule;
	} rows[] = {
		{"api.example.com", "GET", "/api/users?x=1", true, "read the api"},
		{"api.example.com", "get", "/api/users", false, "small letters"},
		{"api.example.com", "Get", "/api/users", false, "small letters"},
		{"api.example.com", "GET", "/api/Secrets", false, "no secrets"},
		{"api.example.com", "GET", "/api/secret./x", true, "read the api"},
		{"api.example.com", "GET", "/api/secret./", false, "no secrets"},
		{"api.example.com", "GET", "/api/secret%20", false, "no secrets"},
		{"api.example.com", "GET", "/api/x.", true, "read the api"},
		{"api.example.com", "GET", "/api/Z%C3%BCrich", true, "read the api"},
		{"api.example.com", "GET", "/api/%c0%ae%c0%ae/other", false, "no secrets"},
		{"api.example.com", "GET", "/api/%EF%BC%8Fx", false, "no secrets"},
		{"api.example.com", "GET", "/api/x%3Fy", false, "no secrets"},
		{"api.example.com", "GET", "/api/x%23y", false, "no secrets"},
		{"api.example.com", "GET", "/api/.../x", false, "no secrets"},
		{"other.example.com", "delete", "/x", true, "all"},
		{"api.example.com", "POST", "/api/users", false, "no rule"},
		{"api.example.com", "GET", "/api/secrets", false, "no secrets"},
		{"api.example.com", "GET", "/api/%73ecrets", false, "no secrets"},
		{"api.example.com", "GET", "/other", false, "no rule"},
		{"api.example.com", "GET", "/api/../other", false, "no secrets"},
		{"api.example.com", "GET", "/api/%2e%2e/other", false, "no secrets"},
		{"api.example.com", "GET", "/api%2fusers", false, "no secrets"},
		{"api.example.com", "GET", "/api//users", false, "no secrets"},
		{"closed.example.com", "GET", "/", false, "closed"},
		{"other.example.com", "DELETE", "/x", true, "all"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);
		struct authority_answer answer;

		authority_request(&a, &host, 443, rows[i].method, rows[i].path, &answer);
		if (answer.is_allowed != rows[i].is_allowed || !strstr(answer.rule, rows[i].rule))
			fail_msg("%s %s %s: %d '%s'", rows[i].method, rows[i].host, rows[i].path,
				 answer.is_allowed, answer.rule);
	}
	assert_true(authority_reads(&a, &(struct host[]){host_of("api.example.com")}[0], 443));
	assert_false(authority_reads(&a, &(struct host[]){host_of("other.example.com")}[0], 443));
}

/* A body with a method that only asks goes where one may go anyway. */
static void test_bodies(void **state)
{
	static const char *const reads[] = {"GET", "DELETE", NULL};
	static const char *const writes[] = {"put", NULL};
	static const char *const forms[] = {"/forms/*", NULL};
	static const char *const closed[] = {"/forms/closed", NULL};
	const struct authority_rule rules[] = {
		{rule_of("a.example.com"), writes, closed, true, "closed"},
		{rule_of("a.example.com"), writes, forms, false, "forms"},
		{rule_of("a.example.com"), reads, NULL, false, "asks"},
		{rule_of("p.example.com"), NULL, forms, false, "all methods"},
	};
	const struct authority a = {
		.mode = AUTHORITY_OPEN, .rules = rules, .n_rules = ARRAY_LEN(rules)};
	static const struct {
		const char *host;
		const char *method;
		const char *path;
		bool is_allowed;
	} rows[] = {
		{"a.example.com", "GET", "/x", false},
		{"a.example.com", "HEAD", "/x", false},
		{"a.example.com", "OPTIONS", "/x", false},
		{"a.example.com", "TRACE", "/x", false},
		{"a.example.com", "DELETE", "/x", true},
		{"a.example.com", "GET", "/forms/x", true},
		{"a.example.com", "GET", "/forms/closed", false},
		{"a.example.com", "GET", "/forms/../x", false},
		{"p.example.com", "GET", "/forms/x", true},
		{"o.example.com", "GET", "/x", true}, /* nobody reads there */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);
		struct authority_answer answer;

		authority_body(&a, &host, 443, rows[i].method, rows[i].path, &answer);
		if (answer.is_allowed != rows[i].is_allowed)
			fail_msg("row %zu: '%s'", i, answer.rule);
		if (!answer.is_allowed)
			assert_true(strstr(answer.rule, "a body with") && answer.remedy[0]);
	}
}

static void test_claims(void **state)
{
	static const struct {
		const char *target;
		const char *name;
	} queries[] = {
		{"/x", NULL},
		{"/_method=PUT", NULL},
		{"/x?", NULL},
		{"/x?_method", "-method"},
		{"/x?_method=PUT", "-method"},
		{"/x?a&b&_METHOD=PUT", "-method"},
		{"/x?a;_method=PUT", "-method"},
		{"/x?a??_method=PUT", "-method"},
		{"/x?%5Fmethod=PUT", "-method"},
		{"/x?+%20_method=PUT", "-method"},
		{"/x?.method=PUT", "-method"}, /* PHP makes '_' of it */
		{"/x?_method%5B%5D=PUT", "-method"},
		{"/x?_method[]=PUT", "-method"},
		{"/x?_HttpMethod=PUT", "-httpmethod"},
		{"/x?X-HTTP-Method-Override=PUT", "x-http-method-override"},
		{"/x?method=PUT", NULL},
		{"/x?a=_method", NULL},
		{"/x?my_method=PUT", NULL},
		{"/x?_method_=PUT", NULL},
		{"/x?%", NULL},
		{"/x?0123456789012345678901234567890123456789_method=x", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		struct http_slice s = {queries[i].target, strlen(queries[i].target)};
		const char *got = httpclaim_query(s);

		if (!got != !queries[i].name || (got && strcmp(got, queries[i].name) != 0))
			fail_msg("'%s': %s", queries[i].target, got ? got : "nothing");
	}
}

/* A denial without a port holds on every port, also when it names methods or paths. */
static void test_denials(void **state)
{
	static const char *const writes[] = {"POST", NULL};
	static const char *const admin[] = {"/admin/**", NULL};
	const struct authority_rule rules[] = {
		{rule_of("m.example.com"), writes, NULL, true, "no writing"},
		{rule_of("p.example.com"), NULL, admin, true, "no admin"},
		{rule_of("q.example.com:8080"), NULL, admin, true, "no admin there"},
		{rule_of("m.example.com:8080"), NULL, NULL, false, "open"},
		{rule_of("p.example.com:8080"), NULL, NULL, false, "open"},
		{rule_of("w.example.com"), NULL, NULL, true, "closed"},
	};
	static const struct {
		const char *host;
		uint16_t port;
		const char *method;
		const char *path;
		bool is_allowed;
		bool reads;
		const char *rule;
	} rows[] = {
		{"m.example.com", 443, "POST", "/", false, true, "no writing"},
		{"m.example.com", 8080, "POST", "/", false, true, "no writing"},
		{"m.example.com", 8080, "GET", "/", true, true, "open"},
		{"p.example.com", 8080, "GET", "/admin/x", false, true, "no admin"},
		{"p.example.com", 8080, "GET", "/x", true, true, "open"},
		{"q.example.com", 8080, "GET", "/admin/x", false, true, "no admin there"},
		{"q.example.com", 8081, "GET", "/admin/x", true, false, "open"},
		{"w.example.com", 8080, "GET", "/", false, false, "closed"},
	};
	const struct authority a = {
		.mode = AUTHORITY_OPEN, .rules = rules, .n_rules = ARRAY_LEN(rules)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host = host_of(rows[i].host);
		struct authority_answer answer;

		authority_request(&a, &host, rows[i].port, rows[i].method, rows[i].path, &answer);
		if (answer.is_allowed != rows[i].is_allowed ||
		    (!answer.is_allowed && !strstr(answer.rule, rows[i].rule)) ||
		    authority_reads(&a, &host, rows[i].port) != rows[i].reads)
			fail_msg("%s %s:%u %s: %d '%s'", rows[i].method, rows[i].host, rows[i].port,
				 rows[i].path, answer.is_allowed, answer.rule);
	}
}

static void test_addresses(void **state)
{
	static const struct {
		const char *address;
		bool is_own;
		bool is_allowed;
	} rows[] = {
		{"93.184.216.34", false, true},    {"93.184.216.34", true, false},
		{"127.0.0.1", false, false},       {"10.1.2.3", false, true},
		{"10.1.2.4", false, false},        {"10.1.2.3", true, true},
		{"169.254.169.254", false, false}, {"::1", false, false},
	};
	struct addr_cidr exception;
	struct authority a = {.mode = AUTHORITY_OPEN, .exceptions = &exception, .n_exceptions = 1};
	struct host name = host_of("a.example.com");

	(void)state;
	assert_int_equal(addr_cidr_parse("10.1.2.3/32", &exception, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct authority_answer answer = {.is_allowed = true};
		struct host host = host_of(rows[i].address);

		authority_address(&a, &name, host.addr, rows[i].is_own, &answer);
		if (answer.is_allowed != rows[i].is_allowed)
			fail_msg("%s: '%s'", rows[i].address, answer.rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),   cmocka_unit_test(test_requests),
		cmocka_unit_test(test_bodies),  cmocka_unit_test(test_claims),
		cmocka_unit_test(test_denials), cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
