/* SPDX-License-Identifier: Apache-2.0 */
/* See socks.h. */
#include "net/socks.h"

#include <errno.h>
#include <string.h>

#define SOCKS_VERSION 5
#define SOCKS_CONNECT 1
#define SOCKS_IPV4 1
#define SOCKS_NAME 3
#define SOCKS_IPV6 4

int socks_greeting(const uint8_t *bytes, size_t len)
{
	size_t n;

	if (len >= 1 && bytes[0] != SOCKS_VERSION)
		return -EBADMSG;
	if (len < 2)
		return 0;
	n = bytes[1];
	if (n == 0)
		return -EBADMSG;
	if (len < 2 + n)
		return 0;
	return memchr(bytes + 2, 0, n) ? (int)(2 + n) : -EPROTONOSUPPORT;
}

/* The host as it stands in the request, by kind. */
static int socks_host(unsigned kind, const uint8_t *at, size_t len, struct host *ret)
{
	char text[ADDR_TEXT_SIZE];
	uint8_t addr[ADDR_LEN] = {[10] = 0xff, [11] = 0xff};

	if (kind == SOCKS_NAME)
		return host_parse((const char *)at, len, 0, ret, NULL);
	if (kind == SOCKS_IPV4)
		memcpy(addr + 12, at, 4);
	else
		memcpy(addr, at, ADDR_LEN);
	addr_format(addr, text);
	return host_parse(text, strlen(text), 0, ret, NULL);
}

int socks_request(const uint8_t *bytes, size_t len, struct host *ret, enum socks_reply *ret_reply)
{
	size_t start = 4;
	size_t n;
	unsigned port;

	*ret_reply = SOCKS_FAILED;
	if (len >= 1 && bytes[0] != SOCKS_VERSION)
		return -EBADMSG;
	if (len < 5)
		return 0;
	if (bytes[1] != SOCKS_CONNECT) {
		*ret_reply = SOCKS_NO_COMMAND;
		return -EBADMSG;
	}
	*ret_reply = SOCKS_NO_ADDRESS;
	if (bytes[2] != 0)
		return -EBADMSG;
	if (bytes[3] == SOCKS_IPV4) {
		n = 4;
	} else if (bytes[3] == SOCKS_IPV6) {
		n = ADDR_LEN;
	} else if (bytes[3] == SOCKS_NAME) {
		n = bytes[4];
		start = 5;
	} else {
		return -EBADMSG;
	}
	if (len < start + n + 2)
		return 0;
	port = (unsigned)bytes[start + n] << 8 | bytes[start + n + 1];
	if (port == 0 || socks_host(bytes[3], bytes + start, n, ret) < 0)
		return -EBADMSG;
	ret->port = (uint16_t)port;
	return (int)(start + n + 2);
}

void socks_answer(enum socks_reply reply, uint8_t out[static 10])
{
	memset(out, 0, 10);
	out[0] = SOCKS_VERSION;
	out[1] = (uint8_t)reply;
	out[3] = SOCKS_IPV4;
}
