/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address classes, networks and exceptions.  The table of the code is checked against itself
 * (text and bytes agree, no row is hidden by one above it) and against addresses written here by
 * hand; with $SHARED also against what five other libraries think.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/addr.h"
#include "net/host.h"

static void addr_of(const char *text, uint8_t ret[static ADDR_LEN])
{
	if (addr_parse(text, strlen(text), ret) < 0)
		fail_msg("'%s' is not an address", text);
}

static const char *kind_of(const char *text)
{
	const struct addr_row *row;
	uint8_t addr[ADDR_LEN];

	addr_of(text, addr);
	row = addr_class(addr);
	return row ? addr_kind_name(row->kind) : "public";
}

static void test_table_is_sound(void **state)
{
	size_t count = 0;
	const struct addr_row *rows = addr_rows(&count);

	(void)state;
	assert_true(count > 50);
	for (size_t i = 0; i < count; i++) {
		struct cordon_error err = {0};
		struct addr_cidr net;

		if (addr_cidr_parse(rows[i].text, &net, &err) < 0)
			fail_msg("%s: %s", rows[i].text, err.message);
		if (net.bits != rows[i].net.bits ||
		    memcmp(net.addr, rows[i].net.addr, ADDR_LEN) != 0)
			fail_msg("%s: bytes and text differ", rows[i].text);
		assert_true(rows[i].name && *rows[i].name && rows[i].source && *rows[i].source);
		for (size_t j = 0; j < i; j++)
			if (addr_cidr_covers(&rows[j].net, &rows[i].net))
				fail_msg("%s is hidden by %s", rows[i].text, rows[j].text);
	}
	for (int kind = 0; kind < ADDR_KIND_COUNT; kind++) {
		bool found = false;

		for (size_t i = 0; i < count; i++)
			found = found || rows[i].kind == (enum addr_kind)kind;
		if (!found)
			fail_msg("no row is %s", addr_kind_name((enum addr_kind)kind));
	}
}

static void test_classes(void **state)
{
	static const struct {
		const char *text;
		const char *want;
	} rows[] = {
		{"0.0.0.0", "unspecified"},
		{"0.0.0.1", "this-network"},
		{"0.255.255.255", "this-network"},
		{"1.0.0.0", "public"},
		{"1.1.1.1", "public"},
		{"9.255.255.255", "public"},
		{"10.0.0.0", "private"},
		{"10.255.255.255", "private"},
		{"11.0.0.0", "public"},
		{"100.63.255.255", "public"},
		{"100.64.0.0", "shared"},
		{"100.100.100.199", "shared"},
		{"100.100.100.200", "metadata"},
		{"100.127.255.255", "shared"},
		{"100.128.0.0", "public"},
		{"126.255.255.255", "public"},
		{"127.0.0.1", "loopback"},
		{"127.255.255.255", "loopback"},
		{"128.0.0.0", "public"},
		{"168.63.129.15", "public"},
		{"168.63.129.16", "metadata"},
		{"169.253.255.255", "public"},
		{"169.254.0.1", "link-local"},
		{"169.254.169.254", "metadata"},
		{"169.254.170.2", "metadata"},
		{"169.254.255.255", "link-local"},
		{"169.255.0.0", "public"},
		{"172.15.255.255", "public"},
		{"172.16.0.0", "private"},
		{"172.31.255.255", "private"},
		{"172.32.0.0", "public"},
		{"192.0.0.0", "protocol"},
		{"192.0.0.192", "metadata"},
		{"192.0.1.0", "public"},
		{"192.0.2.1", "documentation"},
		{"192.31.196.1", "protocol"},
		{"192.52.193.1", "protocol"},
		{"192.88.99.1", "transition"},
		{"192.167.255.255", "public"},
		{"192.168.0.0", "private"},
		{"192.168.255.255", "private"},
		{"192.169.0.0", "public"},
		{"192.175.48.1", "protocol"},
		{"198.17.255.255", "public"},
		{"198.18.0.0", "benchmarking"},
		{"198.19.255.255", "benchmarking"},
		{"198.20.0.0", "public"},
		{"198.51.100.1", "documentation"},
		{"203.0.113.255", "documentation"},
		{"203.0.114.0", "public"},
		{"223.255.255.255", "public"},
		{"224.0.0.0", "multicast"},
		{"239.255.255.255", "multicast"},
		{"240.0.0.0", "reserved"},
		{"255.255.255.254", "reserved"},
		{"255.255.255.255", "broadcast"},

		{"::", "unspecified"},
		{"::1", "loopback"},
		{"::2", "this-network"},
		{"::8.8.8.8", "transition"},
		{"::127.0.0.1", "loopback"},
		{"::a9fe:a9fe", "metadata"},
		{"::ffff:8.8.8.8", "public"},
		{"::ffff:7f00:1", "loopback"},
		{"::ffff:169.254.169.254", "metadata"},
		{"::ffff:0:8.8.8.8", "transition"},
		{"::ffff:0:10.0.0.1", "private"},
		{"::1:0:0:0", "reserved"},
		{"64:ff9b::8.8.8.8", "public"},
		{"64:ff9b::10.0.0.1", "private"},
		{"64:ff9b::169.254.169.254", "metadata"},
		{"64:ff9b::1:8.8.8.8", "reserved"},
		{"64:ff9b:1::1234", "unspecified"},
		{"64:ff9b:1:a00:0:100::", "private"},
		{"64:ff9b:1:808:8:800::", "transition"},
		{"64:ff9c::1", "reserved"},
		{"100::1", "discard"},
		{"100:0:0:1::1", "discard"},
		{"1fff::1", "reserved"},
		{"2000::1", "public"},
		{"2001::1", "unspecified"},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", "documentation"}, /* client 192.0.2.45 */
		{"2001:0:4136:e378:8000:63bf:f7f7:f7f7", "transition"},
		{"2001:0:7f00:1:8000:63bf:f7f7:f7f7", "loopback"},
		{"2001:2::1", "benchmarking"},
		{"2001:3::1", "protocol"},
		{"2001:4:112::1", "protocol"},
		{"2001:5::1", "protocol"},
		{"2001:10::1", "protocol"},
		{"2001:20::1", "protocol"},
		{"2001:30::1", "protocol"},
		{"2001:1ff:ffff::1", "protocol"},
		{"2001:200::1", "public"},
		{"2001:4860:4860::8888", "public"},
		{"2001:db7:ffff::1", "public"},
		{"2001:db8::1", "documentation"},
		{"2001:db9::1", "public"},
		{"2002:808:808::1", "transition"},
		{"2002:7f00:1::1", "loopback"},
		{"2002:a9fe:a9fe::1", "metadata"},
		{"2003::1", "public"},
		{"2606:4700:4700::1111", "public"},
		{"2620:4f:8000::1", "protocol"},
		{"3ffe::1", "reserved"},
		{"3fff::1", "documentation"},
		{"3fff:1000::1", "public"},
		{"4000::1", "reserved"},
		{"5f00::1", "protocol"},
		{"8000::1", "reserved"},
		{"fbff::1", "reserved"},
		{"fc00::1", "unique-local"},
		{"fd00::1", "unique-local"},
		{"fd00:ec2::254", "metadata"},
		{"fd00:ec2::23", "metadata"},
		{"fd20:ce::254", "metadata"},
		{"fe00::1", "reserved"},
		{"fe80::1", "link-local"},
		{"fe80::a9fe:a9fe", "metadata"},
		{"febf::1", "link-local"},
		{"fec0::1", "site-local"},
		{"ff00::1", "multicast"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
	};
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = kind_of(rows[i].text);

		if (strcmp(got, rows[i].want) != 0) {
			print_error("%s: want %s, got %s\n", rows[i].text, rows[i].want, got);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void test_parse_and_format(void **state)
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} rows[] = {
		{"1.2.3.4", "1.2.3.4"},
		{"::ffff:1.2.3.4", "1.2.3.4"},
		{"::FFFF:0102:0304", "1.2.3.4"},
		{"0:0:0:0:0:ffff:102:304", "1.2.3.4"},
		{"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
		{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
		{"0:0:0:0:0:0:0:0", "::"},
		{"", NULL},
		{"1.2.3", NULL},
		{"1.2.3.4.5", NULL},
		{"1.2.3.04", NULL},
		{"1.2.3.256", NULL},
		{"1.2.3.4 ", NULL},
		{" 1.2.3.4", NULL},
		{"+1.2.3.4", NULL},
		{"0x1.2.3.4", NULL},
		{"1..3.4", NULL},
		{"1.2.3.", NULL},
		{"::1%1", NULL},
		{"fe80::1%eth0", NULL},
		{"[::1]", NULL},
		{":::", NULL},
		{"1::2::3", NULL},
		{"::127.0.0.01", NULL},
		{"12345::", NULL},
		{"1:2:3:4:5:6:7", NULL},
		{"1:2:3:4:5:6:7:8:9", NULL},
		{"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t addr[ADDR_LEN];
		char text[ADDR_TEXT_SIZE];
		int r = addr_parse(rows[i].text, strlen(rows[i].text), addr);

		if ((r == 0) != (rows[i].want != NULL))
			fail_msg("'%s': parse says %d", rows[i].text, r);
		if (r < 0) {
			assert_int_equal(r, -EINVAL);
			continue;
		}
		addr_format(addr, text);
		assert_string_equal(text, rows[i].want);
	}
}

static void test_cidr_parse(void **state)
{
	static const struct {
		const char *text;
		unsigned bits; /* 0: refused (no row has /0 in 16 bytes) */
		const char *in_message;
		const char *in_hint;
	} rows[] = {
		{"10.0.0.0/8", 104, NULL, NULL},
		{"10.1.2.3", 128, NULL, NULL},
		{"10.1.2.3/32", 128, NULL, NULL},
		{"0.0.0.0/0", 96, NULL, NULL},
		{"fd00::/8", 8, NULL, NULL},
		{"::1", 128, NULL, NULL},
		{"::ffff:10.0.0.0/104", 104, NULL, NULL},
		{"10.0.0.1/8", 0, "bits are set after the prefix", "write 10.0.0.0/8"},
		{"10.255.0.0/9", 0, "bits are set after the prefix", "write 10.128.0.0/9"},
		{"fd00::1/64", 0, "bits are set after the prefix", "write fd00::/64"},
		{"10.0.0.0/33", 0, "from 0 to 32", NULL},
		{"10.0.0.0/", 0, "from 0 to 32", NULL},
		{"10.0.0.0/08", 0, "from 0 to 32", NULL},
		{"10.0.0.0/+8", 0, "from 0 to 32", NULL},
		{"10.0.0.0/-1", 0, "from 0 to 32", NULL},
		{"10.0.0.0/8/8", 0, "from 0 to 32", NULL},
		{"10.0.0.0/255.0.0.0", 0, "from 0 to 32", NULL},
		{"fd00::/129", 0, "from 0 to 128", NULL},
		{"10/8", 0, "not an IP address", "ADDRESS/BITS"},
		{"010.0.0.0/8", 0, "not an IP address", "ADDRESS/BITS"},
		{"[fd00::]/8", 0, "not an IP address", "ADDRESS/BITS"},
		{"localhost", 0, "not an IP address", "ADDRESS/BITS"},
		{"", 0, "not an IP address", "ADDRESS/BITS"},
		{"/8", 0, "not an IP address", "ADDRESS/BITS"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_error err = {0};
		struct addr_cidr net = {.bits = 77};
		int r = addr_cidr_parse(rows[i].text, &net, &err);

		if ((r == 0) != (rows[i].bits != 0))
			fail_msg("'%s': %d %s", rows[i].text, r, err.message);
		if (r == 0) {
			assert_int_equal(net.bits, rows[i].bits);
			continue;
		}
		assert_int_equal(r, CORDON_E_INVALID);
		assert_int_equal(net.bits, 77);
		if (!strstr(err.message, rows[i].in_message) ||
		    (rows[i].in_hint && !strstr(err.hint, rows[i].in_hint)))
			fail_msg("'%s': '%s', hint '%s'", rows[i].text, err.message, err.hint);
	}
}

static void test_cidr_match(void **state)
{
	static const struct {
		const char *net;
		const char *addr;
		bool want;
	} rows[] = {
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true},
		{"10.0.0.0/8", "11.0.0.0", false},
		{"10.128.0.0/9", "10.127.255.255", false},
		{"10.128.0.0/9", "10.128.0.0", true},
		{"10.1.2.3", "10.1.2.3", true},
		{"10.1.2.3", "10.1.2.2", false},
		{"0.0.0.0/0", "8.8.8.8", true},
		{"0.0.0.0/0", "::1", false},
		{"::/0", "::1", true},
		{"::/0", "127.0.0.1", false},
		{"::/3", "10.0.0.1", false},
		{"fd00::/8", "fd12::1", true},
		{"fd00::/8", "fc00::1", false},
		{"10.0.0.0/8", "64:ff9b::10.0.0.1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct addr_cidr net;
		uint8_t addr[ADDR_LEN];

		assert_int_equal(addr_cidr_parse(rows[i].net, &net, NULL), 0);
		addr_of(rows[i].addr, addr);
		if (addr_cidr_has(&net, addr) != rows[i].want)
			fail_msg("%s in %s: not %d", rows[i].addr, rows[i].net, rows[i].want);
	}
}

static void test_exceptions(void **state)
{
	static const struct {
		const char *exception;
		const char *addr;
		bool is_refused;
	} rows[] = {
		{"10.0.0.0/8", "8.8.8.8", false},
		{"10.0.0.0/8", "10.1.2.3", false},
		{"10.0.0.0/8", "192.168.0.1", true},
		{"10.0.0.0/8", "2002:a00:1::", true},
		{"10.0.0.0/8", "::10.0.0.1", true},
		{"169.254.0.0/16", "169.254.1.1", false},
		{"169.254.0.0/16", "169.254.169.254", true},
		{"0.0.0.0/0", "169.254.169.254", true},
		{"0.0.0.0/0", "127.0.0.1", false},
		{"169.254.169.254", "169.254.169.254", false},
		{"169.254.169.254/32", "169.254.169.253", true},
		{"64:ff9b::/96", "64:ff9b::169.254.169.254", true},
		{"64:ff9b::/96", "64:ff9b::10.0.0.1", false},
		{"fd00::/8", "fd00:ec2::254", true},
		{"fd00:ec2::254", "fd00:ec2::254", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct addr_cidr net;
		uint8_t addr[ADDR_LEN];

		assert_int_equal(addr_cidr_parse(rows[i].exception, &net, NULL), 0);
		addr_of(rows[i].addr, addr);
		if ((addr_refusal(addr, &net, 1) != NULL) != rows[i].is_refused)
			fail_msg("%s with %s: not %d", rows[i].addr, rows[i].exception,
				 rows[i].is_refused);
		assert_ptr_equal(addr_refusal(addr, NULL, 0), addr_class(addr));
	}
}

static void test_own_host(void **state)
{
	uint8_t addr[ADDR_LEN];
	struct sockaddr sa = {.sa_family = AF_UNIX};

	(void)state;
	addr_of("127.0.0.1", addr);
	assert_int_equal(addr_is_own_host(addr), 1);
	addr_of("192.0.2.77", addr);
	assert_int_equal(addr_is_own_host(addr), 0);
	assert_int_equal(addr_from_sockaddr(&sa, addr), -EAFNOSUPPORT);
}

/* Where our answer is not the corpus's, each with the reason. */
static const struct {
	const char *label;
	const char *text;
	const char *why;
} corpus_disagreements[] = {
	{"public", "226.84.185.150", "multicast"},
	{"public", "::1fff:0.0.0.0", "outside 2000::/3, nobody's unicast"},
	{"public", "64:ff9a::255.255.255.255", "outside 2000::/3"},
	{"public", "64:ff9c::1", "outside 2000::/3"},
	{"public", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "in 2001::/23, IETF assignments"},
	{"public", "fec0::", "site-local, deprecated but still not public"},
	{"public", "172.16.0.1", "that library was told to allow it"},
	{"public", "192.168.1.1", "that library was told to allow it"},
	{"public",
	 "64:ff9b:1:808:8:800::", "RFC 8215 is local use, and its layout the operator's choice"},
	{"valid", "::1.2.3.4%z", "zone ids are refused"},
	{"valid", "1", "a single number is refused"},
};

/* What we say, in the words of the corpus. */
static const char *corpus_answer(const char *text)
{
	struct cordon_error err = {0};
	struct addr_cidr net;
	struct host host;

	if (strchr(text, '/')) {
		uint8_t last[ADDR_LEN];

		assert_int_equal(addr_cidr_parse(text, &net, &err), 0);
		memcpy(last, net.addr, ADDR_LEN);
		for (unsigned bit = net.bits; bit < 128; bit++)
			last[bit / 8] |= (uint8_t)(0x80U >> (bit % 8));
		return addr_class(net.addr) && addr_class(last) ? "private" : "public";
	}
	if (host_parse(text, strlen(text), 0, &host, &err) < 0)
		return "invalid";
	assert_true(host.kind != HOST_NAME);
	return addr_class(host.addr) ? "private" : "public";
}

static bool corpus_is_agreed(const char *label, const char *answer)
{
	bool is_private = strcmp(label, "private") == 0 || strcmp(label, "private-range") == 0 ||
			  strcmp(label, "self") == 0;

	if (is_private) /* refused is as good as special */
		return strcmp(answer, "public") != 0;
	if (strcmp(label, "valid") == 0)
		return strcmp(answer, "invalid") != 0;
	return strcmp(label, answer) == 0;
}

static void test_corpus(void **state)
{
	const char *shared = getenv("SHARED");
	size_t used[ARRAY_LEN(corpus_disagreements)] = {0};
	char path[4096];
	char line[65536];
	int total = 0;
	int wrong = 0;
	FILE *f;

	(void)state;
	if (!shared || !*shared) {
		print_message("# skip: ../shared not there\n");
		skip();
	}
	assert_true(snprintf(path, sizeof(path), "%s/corpora/f_ip_classification/dev.jsonl",
			     shared) > 0);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		json_t *row = json_loads(line, 0, NULL);
		const char *label = json_string_value(json_object_get(row, "label"));
		const char *text = json_string_value(json_object_get(row, "text"));
		bool is_known = false;

		assert_true(label && text);
		total++;
		for (size_t i = 0; i < ARRAY_LEN(corpus_disagreements); i++)
			if (strcmp(corpus_disagreements[i].label, label) == 0 &&
			    strcmp(corpus_disagreements[i].text, text) == 0) {
				is_known = true;
				used[i]++;
			}
		if (strcmp(label, "unknown") != 0 &&
		    corpus_is_agreed(label, corpus_answer(text)) == is_known) {
			print_error("%s: label %s, we say %s\n", text, label, corpus_answer(text));
			wrong++;
		}
		json_decref(row);
	}
	(void)fclose(f);
	for (size_t i = 0; i < ARRAY_LEN(used); i++)
		if (!used[i]) {
			print_error("%s: not in the corpus\n", corpus_disagreements[i].text);
			wrong++;
		}
	print_message("# %d rows, %zu known disagreements\n", total, ARRAY_LEN(used));
	assert_true(total > 80);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_sound),   cmocka_unit_test(test_classes),
		cmocka_unit_test(test_parse_and_format), cmocka_unit_test(test_cidr_parse),
		cmocka_unit_test(test_cidr_match),       cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_own_host),         cmocka_unit_test(test_corpus),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
