/* SPDX-License-Identifier: Apache-2.0 */
/* What the proxy reads off the wire: DNS questions, TLS hellos, heads of HTTP, SOCKS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "net/dns.h"
#include "net/hatch.h"
#include "net/hello.h"
#include "net/httphead.h"
#include "net/socks.h"
#include "net/trace.h"

/* ---- DNS ---- */

static size_t question(const char *name, unsigned type, unsigned class, uint8_t *out)
{
	static const uint8_t head[12] = {0x12, 0x34, 1, 0, 0, 1};
	size_t n = sizeof(head);

	memcpy(out, head, sizeof(head));
	while (*name) {
		size_t len = strcspn(name, ".");

		out[n++] = (uint8_t)len;
		memcpy(out + n, name, len);
		n += len;
		name += len + (name[len] == '.');
	}
	out[n++] = 0;
	out[n++] = (uint8_t)(type >> 8);
	out[n++] = (uint8_t)type;
	out[n++] = (uint8_t)(class >> 8);
	out[n++] = (uint8_t) class;
	return n;
}

static void test_dns(void **state)
{
	static const struct {
		const char *name;
		unsigned type;
		unsigned class;
		enum dns_code code;
	} rows[] = {
		{"web.example.org", DNS_A, 1, DNS_NOERROR},
		{"WEB.Example.ORG", DNS_AAAA, 1, DNS_NOERROR},
		{"web.example.org", DNS_A, 3, DNS_REFUSED},
		{"a b.example.org", DNS_A, 1, DNS_NXDOMAIN},
		{"1.2.3.4", DNS_A, 1, DNS_NXDOMAIN},
		{"-x.example.org", DNS_A, 1, DNS_NXDOMAIN},
		{"", DNS_A, 1, DNS_NXDOMAIN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t bytes[512];
		uint8_t out[DNS_QUERY_MAX + DNS_UDP_MAX];
		struct dns_query q;
		size_t n = question(rows[i].name, rows[i].type, rows[i].class, bytes);

		assert_int_equal(dns_parse(bytes, n, &q), 0);
		assert_int_equal(q.code, rows[i].code);
		assert_int_equal(q.id, 0x1234);
		if (q.code == DNS_NOERROR) {
			assert_string_equal(q.host.name, "web.example.org");
			assert_int_equal(q.type, rows[i].type);
		}
		/* Every prefix is harmless. */
		for (size_t len = 0; len < n; len++)
			if (dns_parse(bytes, len, &q) == 0)
				assert_int_not_equal(q.code, DNS_NOERROR);
		assert_int_equal(dns_parse(bytes, n, &q), 0);
		n = dns_answer(&q, DNS_NOERROR, (const uint8_t[]){198, 18, 1, 0}, 4, 60, out);
		assert_int_equal(out[2] & 0x80, 0x80);
		assert_int_equal(out[7], 1);
		assert_memory_equal(out + n - 4, ((const uint8_t[]){198, 18, 1, 0}), 4);
	}
}

static void test_dns_bad(void **state)
{
	uint8_t bytes[512];
	struct dns_query q;
	size_t n = question("web.example.org", DNS_A, 1, bytes);

	(void)state;
	bytes[2] |= 0x80; /* an answer */
	assert_int_equal(dns_parse(bytes, n, &q), -EBADMSG);
	bytes[2] = 0x28; /* another operation */
	assert_int_equal(dns_parse(bytes, n, &q), 0);
	assert_int_equal(q.code, DNS_NOTIMP);
	bytes[2] = 1;
	bytes[5] = 2; /* two questions */
	assert_int_equal(dns_parse(bytes, n, &q), 0);
	assert_int_equal(q.code, DNS_FORMERR);
	bytes[5] = 1;
	bytes[12] = 0xc0; /* a pointer */
	assert_int_equal(dns_parse(bytes, n, &q), 0);
	assert_int_equal(q.code, DNS_FORMERR);
	bytes[12] = 3;
	bytes[13] = '.'; /* a dot inside a label */
	assert_int_equal(dns_parse(bytes, n, &q), 0);
	assert_int_equal(q.code, DNS_NXDOMAIN);
}

/* ---- TLS ---- */

/* A hello with these extensions; records of at most `cut` bytes. */
static size_t hello(const uint8_t *extensions, size_t n_ext, size_t cut, uint8_t *out)
{
	uint8_t body[2048] = {1, 0, 0, 0, 3, 3};
	size_t n = 6 + 32;
	size_t len = 0;

	body[n++] = 0; /* session */
	body[n++] = 0;
	body[n++] = 2; /* ciphers */
	body[n++] = 0x13;
	body[n++] = 1;
	body[n++] = 1; /* compression */
	body[n++] = 0;
	body[n++] = (uint8_t)(n_ext >> 8);
	body[n++] = (uint8_t)n_ext;
	memcpy(body + n, extensions, n_ext);
	n += n_ext;
	body[2] = (uint8_t)((n - 4) >> 8);
	body[3] = (uint8_t)(n - 4);
	for (size_t at = 0; at < n;) {
		size_t part = n - at < cut ? n - at : cut;

		out[len++] = 0x16;
		out[len++] = 3;
		out[len++] = 1;
		out[len++] = (uint8_t)(part >> 8);
		out[len++] = (uint8_t)part;
		memcpy(out + len, body + at, part);
		len += part;
		at += part;
	}
	return len;
}

static const uint8_t sni[] = {0,   0,   0,   20,  0,   18,  0,   0,   15,  'w', 'e', 'b',
			      '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e', '.', 'o', 'r', 'g'};

/* An encrypted hello inside changes nothing about the name that can be read, wherever it stands. */
static void test_hello_encrypted(void **state)
{
	static const uint8_t first[] = {0xfe, 0x0d, 0, 3, 0, 1, 2,   0,   0,  0,
					8,    0,    6, 0, 0, 3, 'a', '.', 'b'};
	static const uint8_t last[] = {0,   0,   0,    8,    0, 6, 0, 0, 3, 'a',
				       '.', 'b', 0xfe, 0x0d, 0, 3, 0, 1, 2};
	static const uint8_t alone[] = {0xfe, 0x0d, 0, 3, 0, 1, 2};
	uint8_t bytes[2048];
	struct hello h;

	(void)state;
	assert_int_equal(hello_parse(bytes, hello(first, sizeof(first), 500, bytes), &h),
			 HELLO_NAME);
	assert_true(h.has_ech && strcmp(h.name.name, "a.b") == 0);
	assert_int_equal(hello_parse(bytes, hello(last, sizeof(last), 3, bytes), &h), HELLO_NAME);
	assert_true(h.has_ech && strcmp(h.name.name, "a.b") == 0);
	assert_int_equal(hello_parse(bytes, hello(alone, sizeof(alone), 500, bytes), &h),
			 HELLO_NONE);
	assert_true(h.has_ech);
	assert_int_equal(hello_parse(bytes, hello(last, 12, 500, bytes), &h), HELLO_NAME);
	assert_false(h.has_ech);
}

static void test_hello(void **state)
{
	uint8_t bytes[8192];
	uint8_t twice[2 * sizeof(sni)];
	struct hello h;

	(void)state;
	memcpy(twice, sni, sizeof(sni));
	memcpy(twice + sizeof(sni), sni, sizeof(sni));
	for (size_t cut = 1; cut < 200; cut++) {
		size_t n = hello(sni, sizeof(sni), cut, bytes);

		assert_int_equal(hello_parse(bytes, n, &h), HELLO_NAME);
		assert_string_equal(h.name.name, "web.example.org");
		for (size_t len = 0; len < n; len++)
			assert_int_equal(hello_parse(bytes, len, &h), HELLO_MORE);
	}
	assert_int_equal(hello_parse(bytes, hello(sni, 0, 500, bytes), &h), HELLO_NONE);
	assert_int_equal(hello_parse(bytes, hello(twice, sizeof(twice), 500, bytes), &h),
			 HELLO_REFUSED);
	twice[9] = 0; /* a NUL in the name */
	assert_int_equal(hello_parse(bytes, hello(twice, sizeof(sni), 500, bytes), &h),
			 HELLO_REFUSED);
	assert_int_equal(hello_parse((const uint8_t *)"GET / HTTP/1.1\r\n", 16, &h), HELLO_REFUSED);
	assert_int_equal(hello_parse((const uint8_t *)"\x16\x03\x01\x00\x00", 5, &h),
			 HELLO_REFUSED);
}

static void test_hello_form(void **state)
{
	static const struct {
		const char *what;
		const char *bytes;
		size_t len;
		enum hello_form want;
	} rows[] = {
		{"nothing", "", 0, HELLO_FORM_SHORT},
		{"a byte that may begin a record", "\x16", 1, HELLO_FORM_SHORT},
		{"a text that begins with it", "\x16hello", 6, HELLO_FORM_NO},
		{"another version of records", "\x16\x02\x00\x00\x05\x01", 6, HELLO_FORM_NO},
		{"a head, and no more", "\x16\x03\x01\x00\x05", 5, HELLO_FORM_SHORT},
		{"a hello's first byte", "\x16\x03\x01\x00\x05\x01", 6, HELLO_FORM_TLS},
		{"in a record of one byte", "\x16\x03\x01\x00\x01\x01", 6, HELLO_FORM_TLS},
		{"a minor version that nobody has", "\x16\x03\x99\x00\x05\x01", 6, HELLO_FORM_TLS},
		{"a server's hello", "\x16\x03\x01\x00\x05\x02", 6, HELLO_FORM_NO},
		{"a record that is too long", "\x16\x03\x01\x40\x01", 5, HELLO_FORM_NO},
		{"an empty record", "\x16\x03\x01\x00\x00", 5, HELLO_FORM_TLS},
		{"an alert", "\x15\x03\x01\x00\x02\x01", 6, HELLO_FORM_NO},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (hello_form((const uint8_t *)rows[i].bytes, rows[i].len) != rows[i].want)
			fail_msg("%s", rows[i].what);
}

/* ---- the hatch, and what the kernel tells ---- */

static void test_hatch(void **state)
{
	struct hatch_head h = {.kind = HATCH_ADDRESS, .port = 443, .addr = {1, 2, [15] = 3}};
	struct hatch_head got;
	uint8_t bytes[HATCH_HEAD_SIZE];

	(void)state;
	hatch_write(&h, bytes);
	assert_int_equal(hatch_read(bytes, &got), 0);
	assert_true(got.kind == h.kind && got.port == 443 && !memcmp(got.addr, h.addr, ADDR_LEN));
	/* Every byte that is not the address or the port has one value, and the others none but with their kind. */
	for (size_t i = 0; i < 6; i++) {
		bytes[i] ^= 0x80;
		assert_int_equal(hatch_read(bytes, &got), -EBADMSG);
		bytes[i] ^= 0x80;
	}
	bytes[4] = HATCH_PROXY;
	assert_int_equal(hatch_read(bytes, &got), -EBADMSG);
	h.kind = HATCH_NAMES;
	hatch_write(&h, bytes);
	assert_int_equal(hatch_read(bytes, &got), 0);
	assert_int_equal(got.port, 0);
	h = (struct hatch_head){.kind = HATCH_ADDRESS};
	hatch_write(&h, bytes);
	assert_int_equal(hatch_read(bytes, &got), -EBADMSG);
}

static void test_trace(void **state)
{
	/* As a kernel sent it: a datagram to 203.0.113.5, port 4433. */
	static const uint8_t told[] =
		"\x58\0\0\0\x11\n\0\0\0\0\0\0\0\0\0\0\x01\0\0\0"
		"\x08\0\x0f\0\0\0\0\x02\x0b\0\x01\0cordon\0\0"
		"\x18\0\x08\0E\0\0\x1d}\x01@\0@\x11u\xba\n\0\x02\x0f\xcb\0q\x05"
		"\x0d\0\x09\0\xdbL\x11Q\0\tH/x\0\0\0\x08\0\x15\0\0\0\0\x08";
	uint8_t bytes[sizeof(told)];
	struct trace_packet p;
	char text[ADDR_TEXT_SIZE];

	(void)state;
	memcpy(bytes, told, sizeof(told));
	assert_int_equal(trace_parse(bytes, sizeof(told) - 1, &p), 0);
	addr_format(p.addr, text);
	assert_string_equal(text, "203.0.113.5");
	assert_true(p.protocol == 17 && p.port == 4433);
	/* Cut anywhere, with a length to match or not: nothing is read beyond it. */
	for (size_t len = 0; len < sizeof(told) - 1; len++) {
		uint8_t *exact = malloc(len + 1);

		assert_non_null(exact);
		memcpy(exact, told, len);
		assert_true(trace_parse(exact, len, &p) < 0);
		if (len > 0)
			exact[0] = (uint8_t)len;
		(void)!trace_parse(exact, len, &p);
		free(exact);
	}
	bytes[4] = 0x10; /* another message */
	assert_int_equal(trace_parse(bytes, sizeof(told) - 1, &p), -EBADMSG);
}

/* ---- HTTP ---- */

static void test_http_good(void **state)
{
	static const struct {
		const char *text;
		enum http_form form;
		const char *host; /* with the port */
		const char *path;
		enum http_body body;
		bool is_kept;
	} rows[] = {
		{"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP_ORIGIN, "a.example", "/",
		 HTTP_BODY_NONE, true},
		{"GET http://A.example:81/x?y=%20 HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
		 HTTP_ABSOLUTE, "a.example:81", "/x?y=%20", HTTP_BODY_NONE, true},
		{"GET http://a.example HTTP/1.0\r\n\r\n", HTTP_ABSOLUTE, "a.example", "/",
		 HTTP_BODY_NONE, false},
		{"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", HTTP_AUTHORITY,
		 "a.example:443", "a.example:443", HTTP_BODY_NONE, true},
		{"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n",
		 HTTP_AUTHORITY, "[2001:db8::1]:443", "[2001:db8::1]:443", HTTP_BODY_NONE, true},
		{"POST /p HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
		 HTTP_ORIGIN, "a.example", "/p", HTTP_BODY_LENGTH, false},
		{"POST /p HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n",
		 HTTP_ORIGIN, "a.example", "/p", HTTP_BODY_CHUNKED, true},
		{"OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", HTTP_ASTERISK, "a.example", "*",
		 HTTP_BODY_NONE, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].text);
		char host[HOST_FORMAT_SIZE];
		struct http_head h;

		assert_int_equal(http_request_parse(rows[i].text, n, &h), 1);
		assert_int_equal(h.len, n);
		assert_int_equal(h.form, rows[i].form);
		host_format(&h.host, host);
		assert_string_equal(host, rows[i].host);
		assert_int_equal(h.path.len, strlen(rows[i].path));
		assert_memory_equal(h.path.p, rows[i].path, h.path.len);
		assert_int_equal(h.body, rows[i].body);
		assert_int_equal(h.is_kept, rows[i].is_kept);
		for (size_t len = 0; len < n; len++)
			assert_int_equal(http_request_parse(rows[i].text, len, &h), 0);
	}
}

static void test_http_bad(void **state)
{
	static const struct {
		const char *text;
		unsigned error;
	} rows[] = {
		{"GET / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.1\nHost: a\n\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\n X: y\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400},
		{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
		{"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
		{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /%0 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", 400},
		{"GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET http://a?x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"CONNECT a:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", 400},
		{"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 3\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1,1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 501},
		{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
		{"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", 417},
		{"GET / HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 3\r\n\r\n", 400},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer.Encoding: chunked\r\n\r\n",
		 400},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_head h;
		int r = http_request_parse(rows[i].text, strlen(rows[i].text), &h);

		if (r != -EBADMSG || h.error != rows[i].error)
			fail_msg("row %zu '%s': %d, %u %s", i, rows[i].text, r, r < 0 ? h.error : 0,
				 r < 0 ? h.reason : "");
	}
}

static void test_http_answer(void **state)
{
	static const struct {
		const char *method;
		const char *text;
		enum http_body body;
		bool is_kept;
	} rows[] = {
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_BODY_LENGTH, true},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_BODY_NONE, true},
		{"head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_BODY_LENGTH, true},
		{"GET", "HTTP/1.1 204 No\r\n\r\n", HTTP_BODY_NONE, true},
		{"GET", "HTTP/1.1 304 \r\nContent-Length: 5\r\n\r\n", HTTP_BODY_NONE, true},
		{"GET", "HTTP/1.1 200 \r\n\r\n", HTTP_BODY_CLOSE, false},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HTTP_BODY_NONE, true},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", HTTP_BODY_CHUNKED,
		 true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_slice method = {rows[i].method, strlen(rows[i].method)};
		struct http_head h;

		assert_int_equal(http_answer_parse(rows[i].text, strlen(rows[i].text), method, &h),
				 1);
		assert_int_equal(h.body, rows[i].body);
		assert_int_equal(h.is_kept, rows[i].is_kept);
	}
}

static void test_chunks(void **state)
{
	static const char good[] = "5\r\nhello\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nrest";
	static const char *const bad[] = {"\r\n",
					  "5;x\r\nhello\r\n",
					  "5 \r\nhello\r\n",
					  "g\r\n",
					  "5\nhello\r\n",
					  "5\r\nhelloX\r\n",
					  "0x5\r\n",
					  "-1\r\n",
					  "1234567890123456\r\n",
					  "0\r\n\n",
					  "0\r\nX\x00: y\r\n\r\n"};

	(void)state;
	/* However it is cut. */
	for (size_t cut = 1; cut < sizeof(good); cut++) {
		struct http_chunks c = {0};
		bool is_done = false;
		size_t used = 0;

		while (!is_done && used < sizeof(good) - 1) {
			size_t part = sizeof(good) - 1 - used < cut ? sizeof(good) - 1 - used : cut;
			ssize_t n = http_chunks_take(&c, good + used, part, &is_done);

			assert_true(n >= 0);
			used += (size_t)n;
		}
		assert_true(is_done);
		assert_int_equal(used, sizeof(good) - 1 - 4);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct http_chunks c = {0};
		size_t len = i == ARRAY_LEN(bad) - 1 ? 12 : strlen(bad[i]);
		bool is_done;

		if (http_chunks_take(&c, bad[i], len, &is_done) >= 0)
			fail_msg("row %zu passed", i);
	}
}

/* ---- SOCKS ---- */

static void test_socks(void **state)
{
	static const uint8_t name[] = {5,   1,   0,   3,   15,  'w', 'e', 'b', '.', 'e', 'x',
				       'a', 'm', 'p', 'l', 'e', '.', 'o', 'r', 'g', 0,   80};
	static const uint8_t four[] = {5, 1, 0, 1, 203, 0, 113, 5, 1, 0xbb};
	uint8_t changed[sizeof(name)];
	enum socks_reply reply;
	struct host host;

	(void)state;
	assert_int_equal(socks_greeting((const uint8_t[]){5, 2, 2, 0}, 4), 4);
	assert_int_equal(socks_greeting((const uint8_t[]){5, 2, 2}, 3), 0);
	assert_int_equal(socks_greeting((const uint8_t[]){5, 1, 2}, 3), -EPROTONOSUPPORT);
	assert_int_equal(socks_greeting((const uint8_t[]){4, 1, 0}, 3), -EBADMSG);
	for (size_t len = 0; len < sizeof(name); len++)
		assert_int_equal(socks_request(name, len, &host, &reply), 0);
	assert_int_equal(socks_request(name, sizeof(name), &host, &reply), sizeof(name));
	assert_string_equal(host.name, "web.example.org");
	assert_int_equal(host.port, 80);
	assert_int_equal(socks_request(four, sizeof(four), &host, &reply), sizeof(four));
	assert_string_equal(host.name, "203.0.113.5");
	assert_int_equal(host.port, 443);
	memcpy(changed, name, sizeof(name));
	changed[1] = 3; /* UDP */
	assert_int_equal(socks_request(changed, sizeof(name), &host, &reply), -EBADMSG);
	assert_int_equal(reply, SOCKS_NO_COMMAND);
	changed[1] = 1;
	changed[7] = '\0';
	assert_int_equal(socks_request(changed, sizeof(name), &host, &reply), -EBADMSG);
	assert_int_equal(reply, SOCKS_NO_ADDRESS);
	changed[7] = 'b';
	changed[sizeof(name) - 1] = 0; /* no port */
	assert_int_equal(socks_request(changed, sizeof(name), &host, &reply), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dns),         cmocka_unit_test(test_dns_bad),
		cmocka_unit_test(test_hello),       cmocka_unit_test(test_hello_encrypted),
		cmocka_unit_test(test_http_good),   cmocka_unit_test(test_http_bad),
		cmocka_unit_test(test_http_answer), cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_socks),       cmocka_unit_test(test_hello_form),
		cmocka_unit_test(test_hatch),       cmocka_unit_test(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
