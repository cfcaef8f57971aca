/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses and what they are for.  Every address is 16 bytes: IPv6 as it is, IPv4 as
 * ::ffff:a.b.c.d.  So 127.0.0.1 and ::ffff:127.0.0.1 are one value from the start, and no check can
 * see one and miss the other.
 *
 * addr_class() knows every special range.  Whatever it returns a row for must not be dialled on
 * behalf of a sandbox unless the policy makes an exception.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDR_LEN 16
#define ADDR_TEXT_SIZE 46 /* INET6_ADDRSTRLEN, with the NUL */

enum addr_kind {
	ADDR_UNSPECIFIED,
	ADDR_THIS_NETWORK,
	ADDR_LOOPBACK,
	ADDR_PRIVATE, /* RFC 1918 */
	ADDR_SHARED,  /* carrier-grade NAT */
	ADDR_LINK_LOCAL,
	ADDR_METADATA, /* cloud metadata and credential services */
	ADDR_PROTOCOL, /* IETF protocol assignments, AS112, AMT, SRv6 */
	ADDR_DOCUMENTATION,
	ADDR_BENCHMARKING,
	ADDR_TRANSITION, /* IPv4 inside IPv6: 6to4, Teredo, NAT64, translated, compatible */
	ADDR_ULA,
	ADDR_SITE_LOCAL,
	ADDR_MULTICAST,
	ADDR_BROADCAST,
	ADDR_DISCARD,
	ADDR_RESERVED,
	ADDR_KIND_COUNT
};

/* A network.  bits counts in the 16-byte form: 10.0.0.0/8 has bits 104. */
struct addr_cidr {
	uint8_t addr[ADDR_LEN];
	uint8_t bits;
};

/* Where an IPv6 range carries IPv4 addresses. */
enum addr_embed {
	ADDR_EMBED_NONE,
	ADDR_EMBED_LOW32,  /* the last four bytes */
	ADDR_EMBED_6TO4,   /* bytes 2 to 5 */
	ADDR_EMBED_TEREDO, /* server in bytes 4 to 7, client inverted in the last four */
	ADDR_EMBED_NAT48,  /* RFC 6052 for a /48: bytes 6, 7, 9, 10 */
	ADDR_EMBED_COUNT
};

/* One fact about the address space. */
struct addr_row {
	const char *text; /* the network as people write it */
	struct addr_cidr net;
	enum addr_kind kind;
	const char *name;
	const char *source; /* RFC or vendor */
	enum addr_embed embed;
	bool is_as_embedded; /* public when the IPv4 address inside is */
};

/* The class of an address, NULL when it is ordinary and public.  When an address carries a special
 * IPv4 address the row of that one is returned, since it tells more.  Borrows constant data. */
const struct addr_row *addr_class(const uint8_t addr[static ADDR_LEN]);
/* The constant word for a kind: "loopback", "metadata", … */
const char *addr_kind_name(enum addr_kind kind);
/* The table, longest prefixes first, for documentation and tests. */
const struct addr_row *addr_rows(size_t *ret_count);

static inline bool addr_is_v4(const uint8_t addr[static ADDR_LEN])
{
	for (size_t i = 0; i < 10; i++)
		if (addr[i])
			return false;
	return addr[10] == 0xff && addr[11] == 0xff;
}

/* Strict text to address: a dotted quad of plain decimal numbers, or IPv6 without brackets or zone.
 * 0 or -EINVAL. */
CORDON_MUST_CHECK int addr_parse(const char *text, size_t len, uint8_t ret_addr[static ADDR_LEN]);
/* The canonical text: dotted quad for anything IPv4, else RFC 5952. */
void addr_format(const uint8_t addr[static ADDR_LEN], char ret_text[static ADDR_TEXT_SIZE]);
/* AF_INET and AF_INET6 only, -EAFNOSUPPORT otherwise. */
CORDON_MUST_CHECK int addr_from_sockaddr(const struct sockaddr *sa,
					 uint8_t ret_addr[static ADDR_LEN]);

/* ADDRESS or ADDRESS/BITS.  Host bits that are set are an error whose hint names the network. */
CORDON_MUST_CHECK int addr_cidr_parse(const char *text, struct addr_cidr *ret,
				      struct cordon_error *err);
/* Same family and same prefix: ::/0 holds no IPv4 address. */
bool addr_cidr_has(const struct addr_cidr *net, const uint8_t addr[static ADDR_LEN]);
/* Is every address of inner in outer? */
bool addr_cidr_covers(const struct addr_cidr *outer, const struct addr_cidr *inner);
/* addr_class() with exceptions: NULL means that the address may be dialled.  A metadata service is
 * opened only by an exception for exactly that one address, never by a range around it, and an
 * exception speaks of the address itself, not of one carried inside it. */
const struct addr_row *addr_refusal(const uint8_t addr[static ADDR_LEN],
				    const struct addr_cidr *exceptions, size_t exceptions_count);

/* Is this an address of one of our own interfaces (now: they come and go)?  1, 0 or -errno. */
CORDON_MUST_CHECK int addr_is_own_host(const uint8_t addr[static ADDR_LEN]);
