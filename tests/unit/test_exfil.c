/* SPDX-License-Identifier: Apache-2.0 */
/* What must not leave: values and credentials in requests, however they are cut, and in names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/exfil.h"
#include "proxy/guard.h"

#define VALUE "Tr4vel-l1ght-&-far_0987"
#define SHORT "zx81cv7q"
#define TOKEN "ghp_aZ3kQ9xW1mN7bV5cR2tY8uL4pD6sF0gH1jK2"

static struct hostrule rule;
static struct boundary_secret secrets[] = {
	{.name = "v", .is_inside = true, .value = VALUE, .value_len = sizeof(VALUE) - 1},
	{.name = "s",
	 .is_inside = true,
	 .value = SHORT,
	 .value_len = sizeof(SHORT) - 1,
	 .hosts = &rule,
	 .n_hosts = 1},
};

static struct host host_of(const char *text)
{
	struct host host;

	assert_int_equal(host_parse(text, strlen(text), 0, &host, NULL), 0);
	return host;
}

static struct proxy_tally tally;
static struct authority authority;
static struct authority_entry listed;

static void setup_loop(struct loop *l, struct boundary *b, enum scan_action action)
{
	static const char text[] = "own.example.org";

	memset(&tally, 0, sizeof(tally));
	*l = (struct loop){.tally = &tally,
			   .boundary = b,
			   .authority = &authority,
			   .leaks = {.is_on = true, .has_rules = true, .action = action}};
	assert_int_equal(hostrule_parse(text, strlen(text), &rule, NULL), 0);
	assert_int_equal(hostrule_parse("zx81cv7q.example.org", 20, &listed.host, NULL), 0);
	authority = (struct authority){.allowed = &listed, .n_allowed = 1};
	assert_int_equal(boundary_make(secrets, ARRAY_LEN(secrets), b), 0);
	assert_int_equal(exfil_prepare(l), 0);
}

static void done_loop(struct loop *l, struct boundary *b)
{
	grams_done(&l->grams);
	boundary_done(b);
}

static void test_bodies(void **state)
{
	static const char body[] = "one " VALUE " two\nthree " TOKEN " four\n" SHORT " five";
	static const char want[] = "one *********************** two\nthree "
				   "**************************************** four\n******** five";
	struct host host = host_of("web.example.org");
	struct boundary b;
	struct loop l;

	(void)state;
	assert_int_equal(sizeof(body), sizeof(want));
	setup_loop(&l, &b, SECRET_REDACT);
	for (size_t piece = 1; piece < sizeof(body); piece++) {
		struct exfil *e = exfil_new(&l, &host, 80);
		struct buf out = BUF_INIT(4096);

		for (size_t at = 0; at < sizeof(body) - 1; at += piece) {
			size_t n = sizeof(body) - 1 - at < piece ? sizeof(body) - 1 - at : piece;

			assert_int_equal(
				exfil_body(e, body + at, n, at + n == sizeof(body) - 1, &out), 0);
			/* Of what must not go nothing is out at any time. */
			assert_null(strstr(buf_cstr(&out), "Tr4v"));
			assert_null(strstr(buf_cstr(&out), "ghp_"));
		}
		assert_string_equal(buf_cstr(&out), want);
		buf_done(&out);
		exfil_free(e);
	}
	assert_int_equal(tally.n_leaks, 3);
	done_loop(&l, &b);
}

static void test_actions(void **state)
{
	static const char text[] = "POST /?k=" VALUE " HTTP/1.1\r\nHost: x\r\n\r\n";
	static const struct {
		enum scan_action action;
		int head;
		int body;
		int coded;
		enum proxy_leak_end end;
	} rows[] = {
		{SECRET_WARN, 0, 0, 0, PROXY_LEAK_PASSED},
		{SECRET_REDACT, 1, 0, -EACCES, PROXY_LEAK_HIDDEN},
		{SECRET_BLOCK, -EACCES, -EACCES, -EACCES, PROXY_LEAK_REFUSED},
	};
	struct host host = host_of("web.example.org");
	struct boundary b;
	struct loop l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT(4096);
		char head[sizeof(text)];
		struct exfil *e;

		setup_loop(&l, &b, rows[i].action);
		memcpy(head, text, sizeof(text));
		e = exfil_new(&l, &host, 80);
		assert_int_equal(exfil_head(e, head, sizeof(text) - 1), rows[i].head);
		assert_int_equal(strcmp(head, text) != 0, rows[i].action == SECRET_REDACT);
		assert_int_equal(tally.leaks[0].end, rows[i].end);
		assert_string_equal(tally.leaks[0].rule, PROXY_LEAK_STORED);
		exfil_free(e);
		e = exfil_new(&l, &host, 80);
		assert_int_equal(exfil_body(e, text, sizeof(text) - 1, true, &out), rows[i].body);
		exfil_free(e);
		e = exfil_new(&l, &host, 80);
		assert_int_equal(exfil_look(e, text, sizeof(text) - 1, true), rows[i].coded);
		exfil_free(e);
		buf_done(&out);
		done_loop(&l, &b);
	}
}

static void test_bound(void **state)
{
	char head[] = "GET /?" SHORT " HTTP/1.1\r\nX-Api-Key: " SHORT "\r\n\r\n";
	struct host host = host_of("own.example.org");
	struct boundary b;
	struct loop l;
	struct exfil *e;

	(void)state;
	setup_loop(&l, &b, SECRET_BLOCK);
	e = exfil_new(&l, &host, 80);
	assert_int_equal(exfil_head(e, head, sizeof(head) - 1), 0);
	assert_int_equal(tally.n_leaks, 0);
	exfil_free(e);
	/* On another port it is another host. */
	e = exfil_new(&l, &host, 8080);
	assert_int_equal(exfil_head(e, head, sizeof(head) - 1), -EACCES);
	exfil_free(e);
	done_loop(&l, &b);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool is_refused;
	} rows[] = {
		{"web.example.org", false},
		{"tr4vel-l1ght-.example.org", false},            /* too little of it */
		{"547234.76656c2d6c31676874.example.org", true}, /* hex, cut */
		{"76656c2d6c316768.example.org", true},          /* a piece of it */
		{"76656c2d6c31676.example.org", false},          /* one less */
		{"KRZDI5TFNQWWYMLHNB2C.x.example.org", true},    /* base32 */
		{"VHI0dmVsLWwxZ2h0LS.x.example.org", true},      /* base64 */
		{"7890-raf.example.org", false},
		{SHORT ".other.example.org", true},
		{"zx81.cv7q.other.example.org", true},
		{"q7vc18xz.example.org", true},  /* backwards */
		{"zx81cv7q.example.org", false}, /* the policy names it */
		{"AKIAZ7Q2M4N6P5R3T3V5.example.org", true},
	};
	struct boundary b;
	struct loop l;

	(void)state;
	setup_loop(&l, &b, SECRET_REDACT);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (exfil_name(&l, rows[i].name, 0) != rows[i].is_refused)
			fail_msg("'%s'", rows[i].name);
	l.leaks.action = SECRET_WARN;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_false(exfil_name(&l, rows[i].name, 0));
	l.leaks.is_on = false;
	tally.n_leaks = 0;
	assert_false(exfil_name(&l, SHORT ".other.example.org", 0));
	assert_int_equal(tally.n_leaks, 0);
	done_loop(&l, &b);
}

/* A value that speaks of a host does not close the host. */
static void test_speaks_of(void **state)
{
	static const char url[] = "postgres://u:Pw92_zz@production-database-1.example.org/x";
	const struct boundary_secret one = {
		.name = "u", .is_inside = true, .value = url, .value_len = sizeof(url) - 1};
	struct boundary b;
	struct grams g;

	(void)state;
	assert_int_equal(boundary_make(&one, 1, &b), 0);
	assert_int_equal(grams_make(&b, &g), 0);
	assert_null(grams_find(&g, &b, "production-database-1.example.org"));
	assert_non_null(grams_find(&g, &b, "production-database-1.evil.example"));
	grams_done(&g);
	boundary_done(&b);
}

/* The status of a refusal of a body in a coding that nobody opens; 0: it goes. */
static unsigned refusal_of_coding(struct loop *l, struct boundary *b, const char *name)
{
	char text[] = "POST /x HTTP/1.1\r\nHost: h.example.org\r\nContent-Length: 3\r\n"
		      "Content-Encoding: br\r\n\r\n";
	struct host host = host_of(name);
	struct guard *g = guard_new(b);
	struct guard_refusal refusal = {0};
	struct http_head head;
	bool has_changed;
	bool is_good;

	assert_non_null(g);
	assert_int_equal(http_request_parse(text, sizeof(text) - 1, &head), 1);
	assert_true(guard_screen(g, l, &host, 80, text, head.len, &has_changed, &refusal));
	is_good = guard_request(g, /* is_tls= */ false, &host, 80, "POST", "/x", text, &head,
				&refusal);
	guard_free(g);
	return is_good ? 0 : refusal.status;
}

/* What cannot be looked at does not go where something is sought that the call has, by rules or not. */
static void test_codings(void **state)
{
	struct boundary b;
	struct loop l;

	(void)state;
	setup_loop(&l, &b, SECRET_BLOCK);
	assert_int_equal(refusal_of_coding(&l, &b, "web.example.org"), 415);
	l.leaks.has_rules = false;
	assert_int_equal(refusal_of_coding(&l, &b, "web.example.org"), 415);
	/* The first secret is bound to no host, the second to this one. */
	assert_int_equal(refusal_of_coding(&l, &b, "own.example.org"), 415);
	l.leaks.action = SECRET_WARN;
	assert_int_equal(refusal_of_coding(&l, &b, "web.example.org"), 0);
	done_loop(&l, &b);
	/* One that may go there hides nothing from us. */
	setup_loop(&l, &b, SECRET_BLOCK);
	l.leaks.has_rules = false;
	boundary_done(&b);
	assert_int_equal(boundary_make(&secrets[1], 1, &b), 0);
	assert_int_equal(refusal_of_coding(&l, &b, "own.example.org"), 0);
	assert_int_equal(refusal_of_coding(&l, &b, "web.example.org"), 415);
	done_loop(&l, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),    cmocka_unit_test(test_actions),
		cmocka_unit_test(test_bound),     cmocka_unit_test(test_names),
		cmocka_unit_test(test_speaks_of), cmocka_unit_test(test_codings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
