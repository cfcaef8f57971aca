/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical host, the front of URLs and the special names: rows of text against the canonical
 * form or the reason of the refusal, then with $SHARED the vectors of the URL standard and lists
 * of URLs that attack address filters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/name.h"
#include "net/url.h"

#define STR63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"
#define STR61 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi"
#define NAME253 STR63 "." STR63 "." STR63 "." STR61
#define OPEN HOST_PORT_ALLOWED

struct host_row {
	const char *text;
	unsigned flags;
	enum host_kind kind;
	const char *want; /* host_format() */
};

static const struct host_row accepted[] = {
	{"example.com", 0, HOST_NAME, "example.com"},
	{"EXAMPLE.Com", 0, HOST_NAME, "example.com"},
	{"example.com.", 0, HOST_NAME, "example.com"},
	{"example.com:8443", OPEN, HOST_NAME, "example.com:8443"},
	{"example.com.:80", OPEN, HOST_NAME, "example.com:80"},
	{"example.com", OPEN, HOST_NAME, "example.com"},
	{"example.com:65535", HOST_PORT_REQUIRED, HOST_NAME, "example.com:65535"},
	{"localhost", 0, HOST_NAME, "localhost"},
	{"a", 0, HOST_NAME, "a"},
	{"1.example", 0, HOST_NAME, "1.example"},
	{"1e100.net", 0, HOST_NAME, "1e100.net"},
	{"127.0.0.1.nip.io", 0, HOST_NAME, "127.0.0.1.nip.io"},
	{"0x7f.com", 0, HOST_NAME, "0x7f.com"},
	{"a.0xg", 0, HOST_NAME, "a.0xg"},
	{"x.1a", 0, HOST_NAME, "x.1a"},
	{"_dmarc.example.com", 0, HOST_NAME, "_dmarc.example.com"},
	{"my_bucket.s3.amazonaws.com", 0, HOST_NAME, "my_bucket.s3.amazonaws.com"},
	{"r3---sn-a.googlevideo.com", 0, HOST_NAME, "r3---sn-a.googlevideo.com"},
	{"xn--mnchen-3ya.de", 0, HOST_NAME, "xn--mnchen-3ya.de"},
	{"XN--MNCHEN-3YA.DE", 0, HOST_NAME, "xn--mnchen-3ya.de"},
	{"m\xc3\xbcnchen.de", 0, HOST_NAME, "xn--mnchen-3ya.de"},
	{"M\xc3\x9cNCHEN.de", 0, HOST_NAME, "xn--mnchen-3ya.de"},
	{"fa\xc3\x9f.de:443", OPEN, HOST_NAME, "xn--fa-hia.de:443"},
	{"\xef\xbd\x85xample.com", 0, HOST_NAME, "example.com"}, /* full-width e */
	{"example\xe3\x80\x82"
	 "com",
	 0, HOST_NAME, "example.com"}, /* ideographic stop */
	{"example.com\xe3\x80\x82", 0, HOST_NAME, "example.com"},
	{"exa\xc2\xadmple.com", 0, HOST_NAME, "example.com"}, /* soft hyphen */
	{STR63 ".com", 0, HOST_NAME, STR63 ".com"},
	{NAME253, 0, HOST_NAME, NAME253},
	{NAME253 ".", 0, HOST_NAME, NAME253},

	{"127.0.0.1", 0, HOST_IPV4, "127.0.0.1"},
	{"127.0.0.1.", 0, HOST_IPV4, "127.0.0.1"},
	{"255.255.255.255:1", OPEN, HOST_IPV4, "255.255.255.255:1"},
	{"0.0.0.0", 0, HOST_IPV4, "0.0.0.0"},
	{"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", 0, HOST_IPV4,
	 "127.0.0.1"}, /* full-width 127 */
	{"10\xe3\x80\x82"
	 "0\xe3\x80\x82"
	 "0\xe3\x80\x82"
	 "1",
	 0, HOST_IPV4, "10.0.0.1"},

	{"::1", 0, HOST_IPV6, "[::1]"},
	{"[::1]", 0, HOST_IPV6, "[::1]"},
	{"[::1]:80", OPEN, HOST_IPV6, "[::1]:80"},
	{"::1:80", OPEN, HOST_IPV6, "[::1:80]"},
	{"2001:DB8:0:0:0:0:0:1", 0, HOST_IPV6, "[2001:db8::1]"},
	{"[2001:db8::0:1]", HOST_BRACKETS_REQUIRED, HOST_IPV6, "[2001:db8::1]"},
	{"::", 0, HOST_IPV6, "[::]"},
	{"[::ffff:127.0.0.1]", 0, HOST_IPV4, "127.0.0.1"},
	{"::ffff:7f00:1", 0, HOST_IPV4, "127.0.0.1"},
	{"[0:0:0:0:0:FFFF:7F00:1]:8080", OPEN, HOST_IPV4, "127.0.0.1:8080"},
	{"[::127.0.0.1]", 0, HOST_IPV6,
	 "[::7f00:1]"}, /* not 127.0.0.1 on the wire; special anyway */
	{"[::7f00:1]", 0, HOST_IPV6, "[::7f00:1]"},
	{"[64:ff9b::10.0.0.1]", 0, HOST_IPV6, "[64:ff9b::a00:1]"},
};

static void test_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		const struct host_row *row = &accepted[i];
		struct cordon_error err = {0};
		char text[HOST_FORMAT_SIZE];
		struct host host;
		struct host again;

		if (host_parse(row->text, strlen(row->text), row->flags, &host, &err) < 0)
			fail_msg("'%s': %s", row->text, err.message);
		host_format(&host, text);
		if (strcmp(text, row->want) != 0 || host.kind != row->kind)
			fail_msg("'%s': got '%s', kind %d", row->text, text, (int)host.kind);
		assert_int_equal(host_parse(text, strlen(text), OPEN, &again, &err), 0);
		assert_memory_equal(&host, &again, sizeof(host));
		if (host.kind == HOST_NAME)
			assert_true(host.addr[0] == 0 && host.addr[15] == 0);
		else
			assert_true(addr_is_v4(host.addr) == (host.kind == HOST_IPV4));
	}
}

#define BYTES(s) (s), sizeof(s) - 1

static const struct {
	const char *text;
	size_t len;
	unsigned flags;
	const char *reason;
} refused[] = {
	{BYTES(""), 0, "empty"},
	{BYTES("."), 0, "empty label"},
	{BYTES(".."), 0, "empty label"},
	{BYTES(".com"), 0, "empty label"},
	{BYTES("a..b"), 0, "empty label"},
	{BYTES("a.b.."), 0, "empty label"},
	{BYTES("exam\0ple.com"), 0, "NUL"},
	{BYTES("example.com\0"), 0, "NUL"},
	{BYTES("example.com\0.evil.org"), 0, "NUL"},
	{BYTES("example.com\n"), 0, "blank or line break"},
	{BYTES("exam\tple.com"), 0, "blank or line break"},
	{BYTES(" example.com"), 0, "blank or line break"},
	{BYTES("exam\x01ple.com"), 0, "control"},
	{BYTES("example.com\x7f"), 0, "control"},
	{BYTES("example.com%00"), 0, "percent-encoding"},
	{BYTES("ex%61mple.com"), 0, "percent-encoding"},
	{BYTES("user@example.com"), 0, "'@'"},
	{BYTES("example.com/path"), 0, "'/'"},
	{BYTES("example.com\\@evil.org"), 0, "backslash"},
	{BYTES("*.example.com"), 0, "wildcard"},
	{BYTES("a,b"), 0, "character that host names"},
	{BYTES("a;b"), 0, "character that host names"},
	{BYTES("a+b"), 0, "character that host names"},
	{BYTES("a=b"), 0, "character that host names"},
	{BYTES("${HOST}"), 0, "character that host names"},
	{BYTES("a'b"), 0, "character that host names"},
	{BYTES("-a.com"), 0, "starts or ends with '-'"},
	{BYTES("a-.com"), 0, "starts or ends with '-'"},
	{BYTES("a.-"), 0, "starts or ends with '-'"},
	{BYTES("a.b_c"), 0, "'_' in the last label"},
	{BYTES("_"), 0, "'_' in the last label"},
	{BYTES(STR63 "l.com"), 0, "longer than 63"},
	{BYTES(NAME253 "j"), 0, "longer than 253"},
	{BYTES("a." NAME253), 0, "longer than 253"},

	{BYTES("0x7f.1"), 0, "hexadecimal"},
	{BYTES("0x7f000001"), 0, "hexadecimal"},
	{BYTES("0X7F000001"), 0, "hexadecimal"},
	{BYTES("0x7f.0x0.0x0.0x1"), 0, "hexadecimal"},
	{BYTES("0x"), 0, "hexadecimal"},
	{BYTES("127.0.0.0x"), 0, "hexadecimal"},
	{BYTES("127.0.0.0x1"), 0, "hexadecimal"},
	{BYTES("017700000001"), 0, "leading zero"},
	{BYTES("0177.0.0.1"), 0, "leading zero"},
	{BYTES("127.0.0.01"), 0, "leading zero"},
	{BYTES("127.0.0.001"), 0, "leading zero"},
	{BYTES("00.0.0.0"), 0, "leading zero"},
	{BYTES("2130706433"), 0, "single number"},
	{BYTES("1"), 0, "single number"},
	{BYTES("0"), 0, "single number"},
	{BYTES("2130706433."), 0, "single number"},
	{BYTES("127.1"), 0, "fewer than four"},
	{BYTES("127.0.1"), 0, "fewer than four"},
	{BYTES("127.0.0.1.5"), 0, "more than four"},
	{BYTES("127.0.0.256"), 0, "above 255"},
	{BYTES("425.510.425.510"), 0, "above 255"},
	{BYTES("1.2.3.4294967296"), 0, "above 255"},
	{BYTES("example.123"), 0, "end in a number"},
	{BYTES("example.0x1f"), 0, "end in a number"},
	{BYTES("a.1.2.3.4"), 0, "end in a number"},
	{BYTES("1.2.3.-4"), 0, "starts or ends with '-'"},
	{BYTES("\xef\xbc\x90\xef\xbd\x98"
	       "7f.1"),
	 0, "hexadecimal"},                                                      /* full-width 0x */
	{BYTES("\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.1"), 0, "fewer than four"}, /* circled 127 */

	{BYTES("fe80::1%eth0"), 0, "zone ids"},
	{BYTES("[fe80::1%25eth0]"), 0, "zone ids"},
	{BYTES("[::1"), 0, "'[' without ']'"},
	{BYTES("::1]"), 0, "brackets"},
	{BYTES("a[::1]"), 0, "brackets"},
	{BYTES("[]"), 0, "not an IPv6"},
	{BYTES("[127.0.0.1]"), 0, "not an IPv6"},
	{BYTES("[example.com]"), 0, "not an IPv6"},
	{BYTES("[v1.fe80]"), 0, "not an IPv6"},
	{BYTES("[[::1]]"), 0, "may follow ']'"},
	{BYTES("[::1]80"), OPEN, "may follow ']'"},
	{BYTES("[::1].com"), OPEN, "may follow ']'"},
	{BYTES("[::127.0.0.01]"), 0, "not an IPv6"},
	{BYTES("[::1:]"), 0, "not an IPv6"},
	{BYTES("1:2:3"), OPEN, "not an IPv6"},
	{BYTES("a:80:80"), OPEN, "not an IPv6"},
	{BYTES("::1"), HOST_BRACKETS_REQUIRED, "outside brackets"},

	{BYTES("a:80"), 0, "port is not accepted"},
	{BYTES("[::1]:80"), 0, "port is not accepted"},
	{BYTES("a"), HOST_PORT_REQUIRED, "port is needed"},
	{BYTES("::1"), HOST_PORT_REQUIRED, "port is needed"},
	{BYTES("a:"), OPEN, "1 to 65535"},
	{BYTES("a:0"), OPEN, "1 to 65535"},
	{BYTES("a:080"), OPEN, "1 to 65535"},
	{BYTES("a:65536"), OPEN, "1 to 65535"},
	{BYTES("a:99999999999"), OPEN, "1 to 65535"},
	{BYTES("a:http"), OPEN, "1 to 65535"},
	{BYTES("a:-1"), OPEN, "1 to 65535"},
	{BYTES("[::1]:"), OPEN, "1 to 65535"},
	{BYTES(":80"), OPEN, "no host"},

	{BYTES("a\xff.com"), 0, "UTF-8"},
	{BYTES("a\xc0\xae.com"), 0, "UTF-8"},
	{BYTES("a\xc2\x85.com"), 0, "internationalised"},     /* C1 control */
	{BYTES("a\xe2\x80\xae.com"), 0, "internationalised"}, /* right-to-left override */
	{BYTES("a\xef\xbc\x85"
	       "b.com"),
	 0, "character that host names"}, /* full-width percent */
	{BYTES("a\xef\xbc\x8f"
	       "b.com"),
	 0, "character that host names"},                             /* full-width slash */
	{BYTES("a\xe2\x84\x80.com"), 0, "character that host names"}, /* a/c in one character */
	{BYTES("\xef\xbc\x8a.example.com"), 0, "character that host names"}, /* full-width star */
	{BYTES("a\xc2\xa0.com"), 0, "character that host names"},            /* no-break space */
	{BYTES("a\xe2\x84\x80\xc3\xbc.com"), 0, "internationalised"},
	{BYTES("fa\xe1\xba\x9e.de"), 0, "U+1E9E"},
	{BYTES("xn--a.\xc3\x9f"), 0, "internationalised"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct cordon_error err = {0};
		struct host host;
		int r;

		memset(&host, 0x55, sizeof(host));
		r = host_parse(refused[i].text, refused[i].len, refused[i].flags, &host, &err);
		if (r >= 0)
			fail_msg("'%s' was accepted as '%s'", refused[i].text, host.name);
		if (!strstr(err.message, refused[i].reason))
			fail_msg("'%s': want '%s', got '%s'", refused[i].text, refused[i].reason,
				 err.message);
		assert_true(r == CORDON_E_INVALID || r == CORDON_E_LIMIT);
		for (const char *p = err.message; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
		for (size_t k = 0; k < sizeof(host); k++)
			assert_int_equal(((const uint8_t *)&host)[k], 0x55);
		assert_int_equal(host_parse(refused[i].text, refused[i].len, refused[i].flags,
					    &host, NULL),
				 r);
	}
}

static void test_long_input(void **state)
{
	static char text[LIMIT_HOST_INPUT + 2];
	struct cordon_error err = {0};
	struct host host;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xbc", 2);
	assert_int_equal(host_parse(text, LIMIT_HOST_INPUT + 2, 0, &host, &err), CORDON_E_LIMIT);
	assert_non_null(strstr(err.message, "too long"));
	assert_true(host_parse(text, LIMIT_HOST_INPUT, 0, &host, &err) < 0);
}

static void test_below(void **state)
{
	static const struct {
		const char *host;
		const char *base;
		bool want;
	} rows[] = {
		{"a.example.com", "example.com", true},
		{"a.b.example.com", "example.com", true},
		{"example.com", "example.com", false},
		{"notexample.com", "example.com", false},
		{"aexample.com", "example.com", false},
		{"example.com.evil.org", "example.com", false},
		{"com", "example.com", false},
		{"10.0.0.1", "0.0.1.example", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host;
		struct host base;

		assert_int_equal(host_parse(rows[i].host, strlen(rows[i].host), 0, &host, NULL), 0);
		assert_int_equal(host_parse(rows[i].base, strlen(rows[i].base), 0, &base, NULL), 0);
		if (host_is_below(&host, &base) != rows[i].want)
			fail_msg("%s below %s", rows[i].host, rows[i].base);
	}
}

static void test_urls(void **state)
{
	static const struct {
		const char *url;
		const char *want;   /* scheme and host_format(), or NULL */
		const char *reason; /* when refused */
	} rows[] = {
		{"http://example.com", "http example.com:80", NULL},
		{"HTTPS://Example.com/a?b#c", "https example.com:443", NULL},
		{"ws://example.com?x", "ws example.com:80", NULL},
		{"wss://example.com#x", "wss example.com:443", NULL},
		{"https://example.com:8443/", "https example.com:8443", NULL},
		{"http://[::1]:8080/", "http [::1]:8080", NULL},
		{"http://[::ffff:10.0.0.1]/", "http 10.0.0.1:80", NULL},
		{"http://m\xc3\xbcnchen.de/\xc3\xbc", "http xn--mnchen-3ya.de:80", NULL},
		{"http://example.com/@evil.org", "http example.com:80", NULL},
		{"http://example.com/?u=http://evil.org@x", "http example.com:80", NULL},
		{"", NULL, "scheme"},
		{"example.com", NULL, "scheme"},
		{"ftp://example.com/", NULL, "scheme"},
		{"file:///etc/passwd", NULL, "scheme"},
		{"gopher://127.0.0.1:6379/_", NULL, "scheme"},
		{"0://example.com", NULL, "scheme"},
		{"https:example.com", NULL, "no '//'"},
		{"https:/example.com", NULL, "no '//'"},
		{"https:", NULL, "no '//'"},
		{"https:///example.com", NULL, "no host"},
		{"https://", NULL, "no host"},
		{"https://?x", NULL, "no host"},
		{"https://user@example.com/", NULL, "'@'"},
		{"https://user:pw@example.com/", NULL, "'@'"},
		{"http://127.1.1.1:80@@127.2.2.2:80", NULL, "'@'"},
		{"https://example.com\\@evil.org/", NULL, "backslash"},
		{"https:\\\\example.com/", NULL, "backslash"},
		{"https://example.com/\\x", NULL, "backslash"},
		{"https://exam\nple.com/", NULL, "control"},
		{"https://example.com/a\tb", NULL, "control"},
		{" https://example.com/", NULL, "blank"},
		{"https://example.com/a b", NULL, "blank"},
		{"https://example.com/\xff", NULL, "UTF-8"},
		{"https://example.com:/", NULL, "1 to 65535"},
		{"https://0000::1:22", NULL, "outside brackets"},
		{"https://0x7f.1/", NULL, "hexadecimal"},
		{"https://*.example.com/", NULL, "wildcard"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {0};
		enum url_scheme scheme;
		struct host host;
		char text[HOST_FORMAT_SIZE];
		char got[HOST_FORMAT_SIZE + 8];
		int r = url_host(rows[i].url, strlen(rows[i].url), &scheme, &host, &err);

		if (!rows[i].want) {
			if (r >= 0 || !strstr(err.message, rows[i].reason))
				fail_msg("'%s': want '%s', got %d '%s'", rows[i].url,
					 rows[i].reason, r, err.message);
			continue;
		}
		if (r < 0)
			fail_msg("'%s': %s", rows[i].url, err.message);
		host_format(&host, text);
		assert_true(snprintf(got, sizeof(got), "%s %s", url_scheme_name(scheme), text) > 0);
		assert_string_equal(got, rows[i].want);
	}
}

static void test_long_url(void **state)
{
	struct cordon_error err = {0};
	enum url_scheme scheme;
	struct host host;
	char *url = malloc(LIMIT_URL_BYTES + 1);

	(void)state;
	assert_non_null(url);
	memset(url, 'a', LIMIT_URL_BYTES + 1);
	memcpy(url, "http://a.example/", 17);
	assert_int_equal(url_host(url, LIMIT_URL_BYTES, &scheme, &host, &err), 0);
	assert_int_equal(url_host(url, LIMIT_URL_BYTES + 1, &scheme, &host, &err), CORDON_E_LIMIT);
	free(url);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		const char *want; /* NULL: ordinary */
	} rows[] = {
		{"localhost", "localhost"},
		{"app.localhost", "localhost"},
		{"ip6-loopback", "localhost"},
		{"metadata", "metadata"},
		{"metadata.google.internal", "metadata"},
		{"a.metadata.google.internal", "metadata"},
		{"instance-data", "metadata"},
		{"metadata.packet.net", "metadata"},
		{"host.docker.internal", "local-network"},
		{"printer.local", "local-network"},
		{"db", "local-network"},
		{"x.test", "reserved"},
		{"abc.onion", "reserved"},
		{"example.com", NULL},
		{"notlocalhost.com", NULL},
		{"xlocalhost.localhosts", NULL},
		{"localhost.evil.org", NULL},
		{"a.notlocalhost", NULL},
		{"a.notinternal", NULL},
		{"xmetadata.packet.net", NULL},
		{"127.0.0.1", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct name_row *row;
		struct host host;

		assert_int_equal(host_parse(rows[i].name, strlen(rows[i].name), 0, &host, NULL), 0);
		row = name_class(&host);
		if ((row != NULL) != (rows[i].want != NULL) ||
		    (row && strcmp(name_kind_name(row->kind), rows[i].want) != 0))
			fail_msg("%s: %s", rows[i].name,
				 row ? name_kind_name(row->kind) : "ordinary");
	}
}

static char *shared_path(const char *name)
{
	const char *shared = getenv("SHARED");
	char *path = NULL;

	if (!shared || !*shared) {
		print_message("# skip: ../shared not there\n");
		skip();
	}
	assert_true(asprintf(&path, "%s/corpora/%s", shared, name) > 0);
	return path;
}

/* Reads a JSON file.  Lone surrogates, which JSON text may spell but no string can hold, become
 * U+FFFD: the vectors that have them must fail, and so must U+FFFD. */
static json_t *shared_json(const char *name)
{
	AUTO_FREE char *path = shared_path(name);
	AUTO_FREE char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "re");
	json_t *json;
	size_t len;

	assert_true(f && text);
	len = fread(text, 1, (1 << 20) - 1, f);
	(void)fclose(f);
	assert_true(len > 0 && len < (1 << 20) - 1);
	for (char *p = text; (p = strstr(p, "\\ud")); p += 6) {
		bool is_high = strchr("89abAB", p[3]) != NULL;

		if (is_high && strncmp(p + 6, "\\ud", 3) == 0 && strchr("cdefCDEF", p[9]))
			p += 6;
		else
			memcpy(p, "\\ufffd", 6);
	}
	json = json_loads(text, JSON_ALLOW_NUL, NULL);
	assert_non_null(json);
	return json;
}

/* Where we are stricter than the vectors: the classes, and how many vectors of each file fall into
 * them.  The last is libidn2's: symbols that UTS 46 lets browsers have and IDNA2008 does not, capital
 * letters whose mapping came with a later Unicode, '--' in the third place of a label that is not
 * ASCII, and lengths that it notices before we do.  The counts are ceilings. */
static const struct {
	const char *reason;
	int max_toascii;
	int max_idna;
} strict_classes[] = {
	{"empty", 2, 100},
	{"starts or ends with '-'", 6, 36},
	{"longer than 63", 2, 8},
	{"longer than 253", 2, 4},
	{"character that host names do not have", 7, 74},
	{"U+1E9E", 2, 2},
	{"internationalised name", 15, 184},
};

struct vector_tally {
	int rows;
	int both_accept;
	int both_refuse;
	int stricter[ARRAY_LEN(strict_classes)];
	int wrong;
};

static void vector_check(const char *input, size_t len, const char *output, struct vector_tally *t)
{
	struct cordon_error err = {0};
	struct host host;
	size_t want_len;

	t->rows++;
	if (host_parse(input, len, 0, &host, &err) < 0) {
		if (!output) {
			t->both_refuse++;
			return;
		}
		for (size_t i = 0; i < ARRAY_LEN(strict_classes); i++)
			if (strstr(err.message, strict_classes[i].reason)) {
				t->stricter[i]++;
				return;
			}
		print_error("'%s' refused for an unlisted reason: %s\n", input, err.message);
		t->wrong++;
		return;
	}
	if (!output) {
		print_error("'%s' must fail, we say '%s'\n", input, host.name);
		t->wrong++;
		return;
	}
	want_len = strlen(output);
	if (want_len > 1 && output[want_len - 1] == '.')
		want_len--;
	if (strlen(host.name) != want_len || memcmp(host.name, output, want_len) != 0) {
		print_error("'%s' is '%s', we say '%s'\n", input, output, host.name);
		t->wrong++;
		return;
	}
	t->both_accept++;
}

static void vectors_run(const char *name, bool is_idna, int min_rows, int min_agree)
{
	struct vector_tally t = {0};
	json_t *json = shared_json(name);
	json_t *row;
	size_t i;

	json_array_foreach(json, i, row)
	{
		json_t *input = json_object_get(row, "input");

		if (input)
			vector_check(json_string_value(input), json_string_length(input),
				     json_string_value(json_object_get(row, "output")), &t);
	}
	json_decref(json);
	print_message("# %s: %d rows, %d accepted alike, %d refused alike\n", name, t.rows,
		      t.both_accept, t.both_refuse);
	for (i = 0; i < ARRAY_LEN(strict_classes); i++) {
		print_message("# stricter, %s: %d\n", strict_classes[i].reason, t.stricter[i]);
		assert_in_range(t.stricter[i], 0,
				is_idna ? strict_classes[i].max_idna
					: strict_classes[i].max_toascii);
	}
	assert_true(t.rows >= min_rows);
	assert_true(t.both_accept + t.both_refuse >= min_agree);
	assert_int_equal(t.wrong, 0);
}

static void test_vectors_toascii(void **state)
{
	(void)state;
	vectors_run("f_whatwg_url/toascii.json", /* is_idna= */ false, 80, 50);
}

static void test_vectors_idna(void **state)
{
	(void)state;
	vectors_run("f_whatwg_url/IdnaTestV2.json", /* is_idna= */ true, 2600, 2200);
}

/* May a connection for this URL be opened without looking at DNS? */
static bool url_is_open(const char *url, size_t len, struct host *ret_host)
{
	enum url_scheme scheme;

	if (url_host(url, len, &scheme, ret_host, NULL) < 0)
		return false;
	if (ret_host->kind == HOST_NAME)
		return name_class(ret_host) == NULL;
	return addr_class(ret_host->addr) == NULL;
}

static void test_ssrf_urls(void **state)
{
	AUTO_FREE char *path = shared_path("f_ssrf_urls/dev.jsonl");
	char line[65536];
	int total = 0;
	int parsed = 0;
	int wrong = 0;
	FILE *f = fopen(path, "re");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
		const char *label = json_string_value(json_object_get(row, "label"));
		json_t *text = json_object_get(row, "text");
		struct host host;
		bool is_open;

		assert_true(label && text);
		total++;
		is_open = url_is_open(json_string_value(text), json_string_length(text), &host);
		parsed += is_open;
		if (strcmp(label, "deny") == 0 && is_open)
			wrong++;
		if (strcmp(label, "never-private") == 0 && is_open &&
		    strcmp(host.name, "allowed.example.com") != 0 &&
		    strcmp(host.name, "google.com") != 0)
			wrong++;
		if (strcmp(label, "allow-if-resolved") == 0 && !is_open)
			wrong++;
		if (wrong)
			fail_msg("%s: %s", label, json_string_value(text));
		json_decref(row);
	}
	(void)fclose(f);
	print_message("# %d URLs, %d name a public host\n", total, parsed);
	assert_true(total > 400);
}

/* Every host that we read off a URL is the one that the URL standard reads. */
static void test_whatwg_urls(void **state)
{
	json_t *json = shared_json("f_whatwg_url/urltestdata.json");
	int accepted_count = 0;
	json_t *row;
	size_t i;

	(void)state;
	json_array_foreach(json, i, row)
	{
		json_t *input = json_object_get(row, "input");
		const char *want = json_string_value(json_object_get(row, "hostname"));
		enum url_scheme scheme;
		struct host host;
		char text[HOST_FORMAT_SIZE];
		struct host want_host;

		if (!input || url_host(json_string_value(input), json_string_length(input), &scheme,
				       &host, NULL) < 0)
			continue;
		accepted_count++;
		host.port = 0;
		host_format(&host, text);
		/* The standard keeps final dots and mapped addresses; parse its answer to compare. */
		if (!want || host_parse(want, strlen(want), 0, &want_host, NULL) < 0 ||
		    !host_equal(&host, &want_host))
			fail_msg("'%s': the standard says '%s', we say '%s'",
				 json_string_value(input), want ? want : "failure", text);
	}
	json_decref(json);
	print_message("# %d URLs accepted\n", accepted_count);
	assert_true(accepted_count > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_input),   cmocka_unit_test(test_below),
		cmocka_unit_test(test_urls),         cmocka_unit_test(test_long_url),
		cmocka_unit_test(test_names),        cmocka_unit_test(test_vectors_toascii),
		cmocka_unit_test(test_vectors_idna), cmocka_unit_test(test_ssrf_urls),
		cmocka_unit_test(test_whatwg_urls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
