/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our parser of hosts beside a second one, the C library's.  Two that disagree about one text are how lists are passed
 * by.  Whatever ours takes for an address the other must take for the same one; and whatever ours takes for a name the
 * other must not take for an address, in any of the old notations.  What ours refuses cannot do harm.
 *
 * The texts are made from parts that parsers differ about, and by changing good ones at random; the seed is fixed.
 */
#include "net/addr.h"
#include "net/host.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 20260101;

static uint32_t number(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* As the C library reads a text that is an address in any notation.  False: it is none. */
static bool second_reads(const char *text, uint8_t ret[static ADDR_LEN])
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	bool is_good = false;

	if (getaddrinfo(text, NULL, &hints, &found) == 0)
		is_good = addr_from_sockaddr(found->ai_addr, ret) == 0;
	if (found)
		freeaddrinfo(found);
	return is_good;
}

static size_t n_addresses, n_names, n_refused;

/* NULL, or how they differ. */
static const char *difference(const char *text)
{
	uint8_t other[ADDR_LEN];
	char bare[128];
	size_t len = strlen(text);
	struct host host;
	bool is_second;

	if (host_parse(text, len, 0, &host, NULL) < 0) {
		n_refused++;
		return NULL;
	}
	(void)snprintf(bare, sizeof(bare), "%s", text);
	if (len < sizeof(bare) && text[0] == '[' && text[len - 1] == ']')
		(void)snprintf(bare, sizeof(bare), "%.*s", (int)(len - 2), text + 1);
	is_second = second_reads(bare, other);
	if (host.kind == HOST_NAME) {
		n_names++;
		if (is_second)
			return "a name for us, an address for the other";
		return second_reads(host.name, other) ? "our form of the name is an address" : NULL;
	}
	n_addresses++;
	if (is_second && memcmp(other, host.addr, ADDR_LEN) != 0)
		return "another address";
	/* What we write is read back as the same by both. */
	if (!second_reads(host.name, other) || memcmp(other, host.addr, ADDR_LEN) != 0)
		return "our form is another address";
	return NULL;
}

static void check(const char *text)
{
	const char *how = difference(text);

	if (how)
		fail_msg("'%s': %s", text, how);
}

/* Numbers of IPv4 addresses as they were and are written. */
static void test_numbers(void **state)
{
	static const char *const parts[] = {
		"0",      "1",     "127",        "0127",         "0x7f",       "0X7F",       "00",
		"000177", "255",   "256",        "0xff",         "65535",      "08",         "0x",
		"+1",     "-1",    " 1",         "1 ",           "1e1",        "2130706433", "",
		"x",      "0x100", "4294967296", "017700000001", "0x7f000001",
	};
	const size_t n = sizeof(parts) / sizeof(parts[0]);
	char text[128];

	(void)state;
	for (size_t a = 0; a < n; a++) {
		check(parts[a]);
		for (size_t b = 0; b < n; b++) {
			(void)snprintf(text, sizeof(text), "%s.%s", parts[a], parts[b]);
			check(text);
			for (size_t c = 0; c < n; c++) {
				(void)snprintf(text, sizeof(text), "%s.%s.%s", parts[a], parts[b],
					       parts[c]);
				check(text);
				(void)snprintf(text, sizeof(text), "%s.%s.%s.%s", parts[a],
					       parts[number((uint32_t)n)], parts[b], parts[c]);
				check(text);
				(void)snprintf(text, sizeof(text), "%s.%s.%s.%s.", parts[a],
					       parts[b], parts[number((uint32_t)n)], parts[c]);
				check(text);
			}
		}
	}
	assert_true(n_addresses > 5);
	assert_true(n_refused > 1000);
}

/* Groups of IPv6 addresses, with the ends and the middle that parsers differ about. */
static void test_groups(void **state)
{
	static const char *const groups[] = {"0",         "1",        "ffff", "FFFF",
					     "00001",     "7f00",     "::",   "",
					     "127.0.0.1", "10.0.0.1", "g",    "0127.0.0.1",
					     "fe80",      "64:ff9b",  "2002", "%1"};
	const uint32_t n = sizeof(groups) / sizeof(groups[0]);

	(void)state;
	for (size_t i = 0; i < 200000; i++) {
		char text[128] = "";
		char in[140];
		size_t len = 0;
		uint32_t count = 1 + number(9);

		for (uint32_t k = 0; k < count && len < 100; k++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						k > 0 && number(8) > 0 ? ":" : "",
						groups[number(n)]);
		check(text);
		(void)snprintf(in, sizeof(in), "[%s]", text);
		check(in);
	}
	assert_true(n_addresses > 1000);
}

/* Good ones, changed. */
static void test_changed(void **state)
{
	static const char *const good[] = {
		"127.0.0.1",
		"::1",
		"::ffff:127.0.0.1",
		"[::1]",
		"169.254.169.254",
		"example.org",
		"xn--mnchen-3ya.example.org",
		"2001:db8::5",
		"1.2.3.4.example.org",
		"0x7f.example",
		"fd00::1",
		"a-b.c0",
		"64:ff9b::7f00:1",
		"10.0.0.1.",
		"localhost",
	};
	static const char letters[] = "0123456789abcdefxX.:-[]%_/@ \t\x01\x7f";

	(void)state;
	for (size_t i = 0; i < 300000; i++) {
		char text[128];
		size_t len;

		(void)snprintf(text, sizeof(text), "%s",
			       good[number(sizeof(good) / sizeof(good[0]))]);
		for (uint32_t k = 1 + number(3); k > 0; k--) {
			uint32_t at;

			len = strlen(text);
			at = number((uint32_t)len + 1);
			switch (number(3)) {
			case 0: /* in */
				memmove(text + at + 1, text + at, len + 1 - at);
				text[at] = letters[number(sizeof(letters) - 1)];
				break;
			case 1: /* out */
				if (at < len)
					memmove(text + at, text + at + 1, len - at);
				break;
			default:
				if (at < len)
					text[at] = letters[number(sizeof(letters) - 1)];
			}
		}
		check(text);
	}
	assert_true(n_names > 1000);
}

/* The comparison sees a difference where there is one: what inet_aton() takes and nobody should. */
static void test_sees(void **state)
{
	uint8_t addr[ADDR_LEN];
	struct host host;

	(void)state;
	assert_true(second_reads("127.1", addr));
	assert_true(second_reads("0x7f000001", addr));
	assert_true(second_reads("0177.0.0.1", addr));
	assert_true(host_parse("127.1", 5, 0, &host, NULL) < 0);
	assert_false(second_reads("example.org", addr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_sees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
