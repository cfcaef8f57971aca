/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages as far as a sandbox's resolver needs them: one question in, one short answer out.
 * Nothing of a question is ever passed on: the name goes through host_parse() and what comes of it is
 * resolved by somebody else.  So there is no compression to follow, no section to copy and nothing to tunnel in.
 */
#pragma once

#include "net/host.h"

#define DNS_UDP_MAX 1232   /* of an answer of ours; they are far shorter */
#define DNS_QUERY_MAX 4096 /* of a question */

/* Codes of RFC 1035 and its followers. */
enum dns_type {
	DNS_A = 1,
	DNS_PTR = 12,
	DNS_AAAA = 28,
	DNS_SVCB = 64,
	DNS_HTTPS = 65,
	DNS_ANY = 255,
};

enum dns_code {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

struct dns_query {
	uint16_t id;
	uint16_t flags; /* of the question */
	uint16_t type;
	size_t question_len;        /* bytes after the header: name, type and class as they came */
	const uint8_t *question;    /* borrows from the message */
	struct host host;           /* canonical; HOST_NAME unless code says otherwise */
	enum dns_code code;         /* DNS_NOERROR, or what to answer at once */
	char shown[HOST_TEXT_SIZE]; /* the name for a record, escaped, also when it is no host */
};

/* Reads a question.  -EBADMSG when it cannot even be answered (too short, or an answer itself); else 0, and
 * ret->code says whether it can be served. */
CORDON_MUST_CHECK int dns_parse(const uint8_t *bytes, size_t len, struct dns_query *ret);
/* Writes the answer to a question: addresses (4 or 16 bytes each, all of one family) for DNS_NOERROR, which may be
 * none at all.  Returns its length; out has at least DNS_UDP_MAX bytes. */
size_t dns_answer(const struct dns_query *q, enum dns_code code, const uint8_t *address,
		  size_t address_len, uint32_t ttl, uint8_t *out);
