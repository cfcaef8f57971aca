/* SPDX-License-Identifier: Apache-2.0 */
/* See publish.h.  Read from its end: what is left in front of two ports is the address. */
#include "policy/publish.h"

#include "base/parse.h"

#include <arpa/inet.h>
#include <string.h>

#define PUBLISH_TEXT_MAX 80 /* more than any address and two ports */

static int publish_bad(const char *text, struct cordon_error *err)
{
	return cordon_hint(
		err, cordon_fail(err, CORDON_E_INVALID, "'%.100s' is not a port to publish", text),
		"PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT, ports from 1 to 65535");
}

/* The number after the last colon, which is cut off; or all of it. */
static bool publish_port(char *text, uint16_t *ret)
{
	char *colon = strrchr(text, ':');
	int64_t port;

	if (parse_int(colon ? colon + 1 : text, 1, 65535, &port) < 0)
		return false;
	*ret = (uint16_t)port;
	*(colon ? colon : text) = '\0';
	return true;
}

static bool publish_address(char *text, uint16_t port, union publish_address *ret)
{
	size_t len = strlen(text);

	if (len == 0) {
		ret->four = (struct sockaddr_in){.sin_family = AF_INET,
						 .sin_addr = {htonl(INADDR_LOOPBACK)},
						 .sin_port = htons(port)};
		return true;
	}
	if (text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		ret->six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
		return inet_pton(AF_INET6, text + 1, &ret->six.sin6_addr) == 1;
	}
	ret->four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	return inet_pton(AF_INET, text, &ret->four.sin_addr) == 1;
}

int publish_parse(const char *text, struct publish *ret, struct cordon_error *err)
{
	char copy[PUBLISH_TEXT_MAX];
	size_t len = strlen(text);
	struct publish p;
	uint16_t outside;

	if (len >= sizeof(copy) || text[0] == ':')
		return publish_bad(text, err);
	memcpy(copy, text, len + 1);
	if (!publish_port(copy, &p.port))
		return publish_bad(text, err);
	outside = p.port;
	if (copy[0] && !publish_port(copy, &outside))
		return publish_bad(text, err);
	if (!publish_address(copy, outside, &p.address))
		return publish_bad(text, err);
	*ret = p;
	return 0;
}
