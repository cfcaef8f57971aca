/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy reads off the wire, from arbitrary bytes.  Properties: a whole message stays whole whatever follows it
 * within the reader's length; a prefix of it never reads as another whole one; hosts are canonical; chunks end at the
 * same byte however they are cut.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/dns.h"
#include "net/hello.h"
#include "net/httpclaim.h"
#include "net/httphead.h"
#include "net/socks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_host(const struct host *host)
{
	char text[HOST_FORMAT_SIZE];
	struct host again;

	host_format(host, text);
	must(host_parse(text, strlen(text), HOST_PORT_ALLOWED, &again, NULL) == 0);
	must(memcmp(host, &again, sizeof(again)) == 0);
}

static void check_dns(const uint8_t *data, size_t size)
{
	uint8_t out[DNS_QUERY_MAX + DNS_UDP_MAX];
	const uint8_t address[16] = {0xfd};
	struct dns_query q;

	if (dns_parse(data, size, &q) < 0)
		return;
	must(dns_answer(&q, q.code, address, sizeof(address), 1, out) <= sizeof(out));
	if (q.code == DNS_NOERROR) {
		must(q.host.kind == HOST_NAME && q.question_len <= size - 12);
		check_host(&q.host);
	}
}

static void check_hello(const uint8_t *data, size_t size)
{
	struct hello whole;
	struct hello part;
	enum hello_result r = hello_parse(data, size, &whole);

	if (r == HELLO_NAME)
		check_host(&whole.name);
	if (r != HELLO_NAME && r != HELLO_NONE)
		return;
	for (size_t len = 0; len < size; len += 1 + size / 16) {
		enum hello_result p = hello_parse(data, len, &part);

		must(p == HELLO_MORE || p == r);
		if (p == HELLO_NAME)
			must(host_equal(&part.name, &whole.name));
	}
}

static void check_head(const char *text, size_t size)
{
	static struct http_head whole;
	static struct http_head part;
	struct http_slice get = {"GET", 3};

	if (http_answer_parse(text, size, get, &whole) > 0)
		must(whole.len <= size && whole.status >= 100);
	if (http_request_parse(text, size, &whole) <= 0)
		return;
	must(whole.len <= size && whole.method.len > 0);
	(void)httpclaim_field(&whole);
	(void)httpclaim_query(whole.path);
	if (whole.has_host)
		check_host(&whole.host);
	for (size_t len = 0; len < whole.len; len += 1 + whole.len / 16)
		must(http_request_parse(text, len, &part) == 0);
	must(http_request_parse(text, whole.len, &part) == 1 && part.len == whole.len);
}

static void check_chunks(const char *text, size_t size)
{
	struct http_chunks once = {0};
	struct http_chunks bits = {0};
	bool done_once = false;
	bool done_bits = false;
	ssize_t n = http_chunks_take(&once, text, size, &done_once);
	size_t used = 0;
	ssize_t m = 0;

	while (used < size && !done_bits && m >= 0) {
		m = http_chunks_take(&bits, text + used, 1, &done_bits);
		used += m > 0 ? (size_t)m : 0;
	}
	must((n < 0) == (m < 0));
	if (n >= 0)
		must(used == (size_t)n && done_once == done_bits);
}

static void check_socks(const uint8_t *data, size_t size)
{
	enum socks_reply reply;
	struct host host;

	if (socks_greeting(data, size) > 0)
		must((size_t)socks_greeting(data, size) <= size);
	if (socks_request(data, size, &host, &reply) > 0) {
		must(host.port != 0);
		check_host(&host);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 40000)
		return 0;
	check_dns(data, size);
	check_hello(data, size);
	check_head((const char *)data, size);
	check_chunks((const char *)data, size);
	check_socks(data, size);
	return 0;
}
