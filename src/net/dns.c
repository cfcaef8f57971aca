/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one question and writes one answer; see dns.h for what is left out on purpose. */
#include "net/dns.h"

#include <errno.h>
#include <string.h>

#define DNS_HEADER 12
#define DNS_LABEL_MAX 63
#define DNS_CLASS_IN 1

#define DNS_FLAG_RESPONSE 0x8000
#define DNS_FLAG_OPCODE 0x7800
#define DNS_FLAG_TRUNCATED 0x0200
#define DNS_FLAG_RECURSION_DESIRED 0x0100
#define DNS_FLAG_RECURSION_AVAILABLE 0x0080

static uint16_t dns_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint8_t *dns_put16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
	return p + 2;
}

/* The labels at bytes as text with dots; a byte that no host name has becomes '?'.  Returns the bytes they take, or 0
 * when they do not end within len.  *ret_odd: there was such a byte, a pointer, or more than fits. */
static size_t dns_read_name(const uint8_t *bytes, size_t len, char text[static HOST_TEXT_SIZE],
			    bool *ret_odd)
{
	size_t at = 0;
	size_t n = 0;

	*ret_odd = false;
	while (at < len && bytes[at]) {
		size_t label = bytes[at++];

		if (label > DNS_LABEL_MAX || label > len - at)
			return 0;
		if (n + label + 1 >= LIMIT_HOST_BYTES + 1)
			return 0;
		if (n > 0)
			text[n++] = '.';
		for (size_t i = 0; i < label; i++) {
			uint8_t c = bytes[at + i];

			/* A dot inside a label would look like two labels. */
			if (c <= ' ' || c >= 0x7f || c == '.' || c == '\\') {
				*ret_odd = true;
				c = '?';
			}
			text[n++] = (char)c;
		}
		at += label;
	}
	text[n] = '\0';
	return at < len ? at + 1 : 0;
}

int dns_parse(const uint8_t *bytes, size_t len, struct dns_query *ret)
{
	size_t name;
	bool is_odd = false;

	if (len < DNS_HEADER || len > DNS_QUERY_MAX)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	ret->id = dns_get16(bytes);
	ret->flags = dns_get16(bytes + 2);
	if (ret->flags & DNS_FLAG_RESPONSE)
		return -EBADMSG;
	ret->code = DNS_FORMERR;
	if (ret->flags & DNS_FLAG_OPCODE) {
		ret->code = DNS_NOTIMP;
		return 0;
	}
	if ((ret->flags & DNS_FLAG_TRUNCATED) || dns_get16(bytes + 4) != 1 ||
	    dns_get16(bytes + 6) != 0 || dns_get16(bytes + 8) != 0)
		return 0;
	name = dns_read_name(bytes + DNS_HEADER, len - DNS_HEADER, ret->shown, &is_odd);
	if (name == 0 || len - DNS_HEADER - name < 4)
		return 0;
	ret->question = bytes + DNS_HEADER;
	ret->question_len = name + 4;
	ret->type = dns_get16(ret->question + name);
	if (dns_get16(ret->question + name + 2) != DNS_CLASS_IN) {
		ret->code = DNS_REFUSED;
		return 0;
	}
	/* What is no host name exists nowhere. */
	ret->code = DNS_NXDOMAIN;
	if (is_odd || host_parse(ret->shown, strlen(ret->shown), 0, &ret->host, NULL) < 0 ||
	    ret->host.kind != HOST_NAME)
		return 0;
	ret->code = DNS_NOERROR;
	return 0;
}

size_t dns_answer(const struct dns_query *q, enum dns_code code, const uint8_t *address,
		  size_t address_len, uint32_t ttl, uint8_t *out)
{
	uint8_t *p = out;
	bool has_address = code == DNS_NOERROR && address_len > 0;

	p = dns_put16(p, q->id);
	p = dns_put16(p, DNS_FLAG_RESPONSE | (q->flags & DNS_FLAG_RECURSION_DESIRED) |
				 DNS_FLAG_RECURSION_AVAILABLE | (unsigned)code);
	p = dns_put16(p, q->question_len > 0);
	p = dns_put16(p, has_address);
	p = dns_put16(p, 0);
	p = dns_put16(p, 0);
	if (q->question_len > 0) {
		memcpy(p, q->question, q->question_len);
		p += q->question_len;
	}
	if (has_address) {
		p = dns_put16(p, 0xc000 | DNS_HEADER); /* the question's name */
		p = dns_put16(p, address_len == 4 ? DNS_A : DNS_AAAA);
		p = dns_put16(p, DNS_CLASS_IN);
		p = dns_put16(p, ttl >> 16);
		p = dns_put16(p, ttl & 0xffff);
		p = dns_put16(p, (unsigned)address_len);
		memcpy(p, address, address_len);
		p += address_len;
	}
	return (size_t)(p - out);
}
