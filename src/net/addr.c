/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The special ranges of IPv4 and IPv6, from the IANA special-purpose registries, the multicast and
 * unallocated space around them, and the metadata services of the clouds.
 *
 * Left out on purpose: ISATAP interface identifiers (the address is routed to the site that owns
 * the prefix, not to the IPv4 address inside) and NAT64 with an operator's own prefix, which cannot
 * be told from ordinary addresses.
 */
#include "net/addr.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/parse.h"

#define ADDR_HI(w) (uint8_t)((w) >> 8)
#define ADDR_LO(w) (uint8_t)((w)&0xff)
#define ADDR_V4(a, b, c, d, n)                                                                     \
	{                                                                                          \
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, 96 + (n)                   \
	}
#define ADDR_V6(a, b, c, d, e, f, g, h, n)                                                         \
	{                                                                                          \
		{ADDR_HI(a), ADDR_LO(a), ADDR_HI(b), ADDR_LO(b), ADDR_HI(c), ADDR_LO(c),           \
		 ADDR_HI(d), ADDR_LO(d), ADDR_HI(e), ADDR_LO(e), ADDR_HI(f), ADDR_LO(f),           \
		 ADDR_HI(g), ADDR_LO(g), ADDR_HI(h), ADDR_LO(h)},                                  \
			(n)                                                                        \
	}

static const char *const addr_kind_names[] = {
	[ADDR_UNSPECIFIED] = "unspecified",
	[ADDR_THIS_NETWORK] = "this-network",
	[ADDR_LOOPBACK] = "loopback",
	[ADDR_PRIVATE] = "private",
	[ADDR_SHARED] = "shared",
	[ADDR_LINK_LOCAL] = "link-local",
	[ADDR_METADATA] = "metadata",
	[ADDR_PROTOCOL] = "protocol",
	[ADDR_DOCUMENTATION] = "documentation",
	[ADDR_BENCHMARKING] = "benchmarking",
	[ADDR_TRANSITION] = "transition",
	[ADDR_ULA] = "unique-local",
	[ADDR_SITE_LOCAL] = "site-local",
	[ADDR_MULTICAST] = "multicast",
	[ADDR_BROADCAST] = "broadcast",
	[ADDR_DISCARD] = "discard",
	[ADDR_RESERVED] = "reserved",
};
static_assert(ARRAY_LEN(addr_kind_names) == ADDR_KIND_COUNT, "one word per kind");

/* Searched from the top: within each family a row stands before every network that holds it. */
static const struct addr_row addr_table[] = {
	/* metadata and credential services */
	{"169.254.169.254", ADDR_V4(169, 254, 169, 254, 32), ADDR_METADATA, "instance metadata",
	 "most clouds"},
	{"169.254.169.253", ADDR_V4(169, 254, 169, 253, 32), ADDR_METADATA, "VPC resolver", "AWS"},
	{"169.254.170.2", ADDR_V4(169, 254, 170, 2, 32), ADDR_METADATA, "task credentials",
	 "AWS ECS"},
	{"169.254.170.23", ADDR_V4(169, 254, 170, 23, 32), ADDR_METADATA, "pod credentials",
	 "AWS EKS"},
	{"169.254.42.42", ADDR_V4(169, 254, 42, 42, 32), ADDR_METADATA, "instance metadata",
	 "Scaleway"},
	{"169.254.0.23", ADDR_V4(169, 254, 0, 23, 32), ADDR_METADATA, "instance metadata",
	 "Tencent Cloud"},
	{"100.100.100.200", ADDR_V4(100, 100, 100, 200, 32), ADDR_METADATA, "instance metadata",
	 "Alibaba Cloud"},
	{"168.63.129.16", ADDR_V4(168, 63, 129, 16, 32), ADDR_METADATA, "wire server", "Azure"},
	{"192.0.0.192", ADDR_V4(192, 0, 0, 192, 32), ADDR_METADATA, "instance metadata",
	 "Oracle Cloud"},
	{"fd00:ec2::254", ADDR_V6(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254, 128), ADDR_METADATA,
	 "instance metadata", "AWS"},
	{"fd00:ec2::253", ADDR_V6(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x253, 128), ADDR_METADATA,
	 "VPC resolver", "AWS"},
	{"fd00:ec2::23", ADDR_V6(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23, 128), ADDR_METADATA,
	 "pod credentials", "AWS EKS"},
	{"fd20:ce::254", ADDR_V6(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254, 128), ADDR_METADATA,
	 "instance metadata", "Google Cloud"},
	{"fd00:c1::a9fe:a9fe", ADDR_V6(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe, 128),
	 ADDR_METADATA, "instance metadata", "Oracle Cloud"},
	{"fd00:a9fe:a9fe::1", ADDR_V6(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1, 128), ADDR_METADATA,
	 "instance metadata", "Akamai"},
	{"fd00:42::42", ADDR_V6(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42, 128), ADDR_METADATA,
	 "instance metadata", "Scaleway"},
	{"fe80::a9fe:a9fe", ADDR_V6(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe, 128), ADDR_METADATA,
	 "instance metadata", "OpenStack"},

	/* IPv4 */
	{"0.0.0.0", ADDR_V4(0, 0, 0, 0, 32), ADDR_UNSPECIFIED, "unspecified", "RFC 1122"},
	{"255.255.255.255", ADDR_V4(255, 255, 255, 255, 32), ADDR_BROADCAST, "limited broadcast",
	 "RFC 919"},
	{"192.0.0.0/24", ADDR_V4(192, 0, 0, 0, 24), ADDR_PROTOCOL, "IETF protocol assignments",
	 "RFC 6890"},
	{"192.0.2.0/24", ADDR_V4(192, 0, 2, 0, 24), ADDR_DOCUMENTATION, "TEST-NET-1", "RFC 5737"},
	{"198.51.100.0/24", ADDR_V4(198, 51, 100, 0, 24), ADDR_DOCUMENTATION, "TEST-NET-2",
	 "RFC 5737"},
	{"203.0.113.0/24", ADDR_V4(203, 0, 113, 0, 24), ADDR_DOCUMENTATION, "TEST-NET-3",
	 "RFC 5737"},
	{"192.31.196.0/24", ADDR_V4(192, 31, 196, 0, 24), ADDR_PROTOCOL, "AS112", "RFC 7535"},
	{"192.52.193.0/24", ADDR_V4(192, 52, 193, 0, 24), ADDR_PROTOCOL,
	 "automatic multicast tunnelling", "RFC 7450"},
	{"192.88.99.0/24", ADDR_V4(192, 88, 99, 0, 24), ADDR_TRANSITION, "6to4 relay anycast",
	 "RFC 7526"},
	{"192.175.48.0/24", ADDR_V4(192, 175, 48, 0, 24), ADDR_PROTOCOL, "AS112 direct delegation",
	 "RFC 7534"},
	{"169.254.0.0/16", ADDR_V4(169, 254, 0, 0, 16), ADDR_LINK_LOCAL, "link-local", "RFC 3927"},
	{"192.168.0.0/16", ADDR_V4(192, 168, 0, 0, 16), ADDR_PRIVATE, "private", "RFC 1918"},
	{"198.18.0.0/15", ADDR_V4(198, 18, 0, 0, 15), ADDR_BENCHMARKING, "benchmarking",
	 "RFC 2544"},
	{"233.252.0.0/24", ADDR_V4(233, 252, 0, 0, 24), ADDR_DOCUMENTATION, "MCAST-TEST-NET",
	 "RFC 6676"},
	{"172.16.0.0/12", ADDR_V4(172, 16, 0, 0, 12), ADDR_PRIVATE, "private", "RFC 1918"},
	{"100.64.0.0/10", ADDR_V4(100, 64, 0, 0, 10), ADDR_SHARED, "carrier-grade NAT", "RFC 6598"},
	{"0.0.0.0/8", ADDR_V4(0, 0, 0, 0, 8), ADDR_THIS_NETWORK, "this network", "RFC 791"},
	{"10.0.0.0/8", ADDR_V4(10, 0, 0, 0, 8), ADDR_PRIVATE, "private", "RFC 1918"},
	{"127.0.0.0/8", ADDR_V4(127, 0, 0, 0, 8), ADDR_LOOPBACK, "loopback", "RFC 1122"},
	{"224.0.0.0/4", ADDR_V4(224, 0, 0, 0, 4), ADDR_MULTICAST, "multicast", "RFC 5771"},
	{"240.0.0.0/4", ADDR_V4(240, 0, 0, 0, 4), ADDR_RESERVED, "reserved", "RFC 1112"},

	/* IPv6 */
	{"::", ADDR_V6(0, 0, 0, 0, 0, 0, 0, 0, 128), ADDR_UNSPECIFIED, "unspecified", "RFC 4291"},
	{"::1", ADDR_V6(0, 0, 0, 0, 0, 0, 0, 1, 128), ADDR_LOOPBACK, "loopback", "RFC 4291"},
	{"::/96", ADDR_V6(0, 0, 0, 0, 0, 0, 0, 0, 96), ADDR_TRANSITION, "IPv4-compatible",
	 "RFC 4291", ADDR_EMBED_LOW32},
	{"::ffff:0:0:0/96", ADDR_V6(0, 0, 0, 0, 0xffff, 0, 0, 0, 96), ADDR_TRANSITION,
	 "IPv4-translated", "RFC 2765", ADDR_EMBED_LOW32},
	{"64:ff9b::/96", ADDR_V6(0x64, 0xff9b, 0, 0, 0, 0, 0, 0, 96), ADDR_TRANSITION, "NAT64",
	 "RFC 6052", ADDR_EMBED_LOW32, true},
	{"64:ff9b:1::/48", ADDR_V6(0x64, 0xff9b, 1, 0, 0, 0, 0, 0, 48), ADDR_TRANSITION,
	 "local NAT64", "RFC 8215", ADDR_EMBED_NAT48},
	{"100::/64", ADDR_V6(0x100, 0, 0, 0, 0, 0, 0, 0, 64), ADDR_DISCARD, "discard", "RFC 6666"},
	{"100:0:0:1::/64", ADDR_V6(0x100, 0, 0, 1, 0, 0, 0, 0, 64), ADDR_DISCARD, "dummy prefix",
	 "RFC 9780"},
	{"2001::/32", ADDR_V6(0x2001, 0, 0, 0, 0, 0, 0, 0, 32), ADDR_TRANSITION, "Teredo",
	 "RFC 4380", ADDR_EMBED_TEREDO},
	{"2001:2::/48", ADDR_V6(0x2001, 2, 0, 0, 0, 0, 0, 0, 48), ADDR_BENCHMARKING, "benchmarking",
	 "RFC 5180"},
	{"2001:4:112::/48", ADDR_V6(0x2001, 4, 0x112, 0, 0, 0, 0, 0, 48), ADDR_PROTOCOL, "AS112",
	 "RFC 7535"},
	{"2001:3::/32", ADDR_V6(0x2001, 3, 0, 0, 0, 0, 0, 0, 32), ADDR_PROTOCOL,
	 "automatic multicast tunnelling", "RFC 7450"},
	{"2001:10::/28", ADDR_V6(0x2001, 0x10, 0, 0, 0, 0, 0, 0, 28), ADDR_PROTOCOL, "ORCHID",
	 "RFC 4843"},
	{"2001:20::/28", ADDR_V6(0x2001, 0x20, 0, 0, 0, 0, 0, 0, 28), ADDR_PROTOCOL, "ORCHIDv2",
	 "RFC 7343"},
	{"2001:30::/28", ADDR_V6(0x2001, 0x30, 0, 0, 0, 0, 0, 0, 28), ADDR_PROTOCOL,
	 "drone remote identification", "RFC 9374"},
	{"2001::/23", ADDR_V6(0x2001, 0, 0, 0, 0, 0, 0, 0, 23), ADDR_PROTOCOL,
	 "IETF protocol assignments", "RFC 2928"},
	{"2001:db8::/32", ADDR_V6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0, 32), ADDR_DOCUMENTATION,
	 "documentation", "RFC 3849"},
	{"2002::/16", ADDR_V6(0x2002, 0, 0, 0, 0, 0, 0, 0, 16), ADDR_TRANSITION, "6to4", "RFC 3056",
	 ADDR_EMBED_6TO4},
	{"2620:4f:8000::/48", ADDR_V6(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0, 48), ADDR_PROTOCOL,
	 "AS112 direct delegation", "RFC 7534"},
	{"3ffe::/16", ADDR_V6(0x3ffe, 0, 0, 0, 0, 0, 0, 0, 16), ADDR_RESERVED, "former 6bone",
	 "RFC 3701"},
	{"3fff::/20", ADDR_V6(0x3fff, 0, 0, 0, 0, 0, 0, 0, 20), ADDR_DOCUMENTATION, "documentation",
	 "RFC 9637"},
	{"5f00::/16", ADDR_V6(0x5f00, 0, 0, 0, 0, 0, 0, 0, 16), ADDR_PROTOCOL,
	 "SRv6 segment identifiers", "RFC 9602"},
	{"fc00::/7", ADDR_V6(0xfc00, 0, 0, 0, 0, 0, 0, 0, 7), ADDR_ULA, "unique local", "RFC 4193"},
	{"fe80::/10", ADDR_V6(0xfe80, 0, 0, 0, 0, 0, 0, 0, 10), ADDR_LINK_LOCAL, "link-local",
	 "RFC 4291"},
	{"fec0::/10", ADDR_V6(0xfec0, 0, 0, 0, 0, 0, 0, 0, 10), ADDR_SITE_LOCAL, "site-local",
	 "RFC 3879"},
	{"ff00::/8", ADDR_V6(0xff00, 0, 0, 0, 0, 0, 0, 0, 8), ADDR_MULTICAST, "multicast",
	 "RFC 4291"},

	/* Only 2000::/3 is global unicast; the rest of the space is the IETF's, these three pieces. */
	{"::/3", ADDR_V6(0, 0, 0, 0, 0, 0, 0, 0, 3), ADDR_RESERVED, "not global unicast",
	 "RFC 4291"},
	{"4000::/2", ADDR_V6(0x4000, 0, 0, 0, 0, 0, 0, 0, 2), ADDR_RESERVED, "not global unicast",
	 "RFC 4291"},
	{"8000::/1", ADDR_V6(0x8000, 0, 0, 0, 0, 0, 0, 0, 1), ADDR_RESERVED, "not global unicast",
	 "RFC 4291"},
};

const struct addr_row *addr_rows(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(addr_table);
	return addr_table;
}

const char *addr_kind_name(enum addr_kind kind)
{
	return (size_t)kind < ARRAY_LEN(addr_kind_names) ? addr_kind_names[kind] : "unknown";
}

/* Do the first bits agree? */
static bool addr_prefix_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	size_t whole = bits / 8;
	unsigned rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

bool addr_cidr_has(const struct addr_cidr *net, const uint8_t addr[static ADDR_LEN])
{
	/* IPv4 lives at ::ffff:0:0/96, which a short IPv6 prefix would swallow. */
	if (addr_is_v4(addr) != (addr_is_v4(net->addr) && net->bits >= 96))
		return false;
	return addr_prefix_equal(net->addr, addr, net->bits);
}

bool addr_cidr_covers(const struct addr_cidr *outer, const struct addr_cidr *inner)
{
	return outer->bits <= inner->bits && addr_cidr_has(outer, inner->addr);
}

static void addr_from_v4(const uint8_t v4[static 4], uint8_t ret_addr[static ADDR_LEN])
{
	memset(ret_addr, 0, 10);
	ret_addr[10] = ret_addr[11] = 0xff;
	memcpy(ret_addr + 12, v4, 4);
}

static const struct addr_row *addr_lookup(const uint8_t addr[static ADDR_LEN])
{
	for (size_t i = 0; i < ARRAY_LEN(addr_table); i++)
		if (addr_cidr_has(&addr_table[i].net, addr))
			return &addr_table[i];
	return NULL;
}

static const struct addr_row *addr_lookup_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	uint8_t addr[ADDR_LEN];

	addr_from_v4((const uint8_t[4]){a, b, c, d}, addr);
	return addr_lookup(addr);
}

/* The row of the IPv4 address that an IPv6 one carries, NULL when there is none or it is public. */
static const struct addr_row *addr_lookup_embedded(enum addr_embed embed, const uint8_t *a)
{
	const struct addr_row *row;

	switch (embed) {
	case ADDR_EMBED_LOW32:
		return addr_lookup_v4(a[12], a[13], a[14], a[15]);
	case ADDR_EMBED_6TO4:
		return addr_lookup_v4(a[2], a[3], a[4], a[5]);
	case ADDR_EMBED_TEREDO:
		row = addr_lookup_v4(a[4], a[5], a[6], a[7]);
		return row ? row
			   : addr_lookup_v4(a[12] ^ 0xff, a[13] ^ 0xff, a[14] ^ 0xff, a[15] ^ 0xff);
	case ADDR_EMBED_NAT48:
		return addr_lookup_v4(a[6], a[7], a[9], a[10]);
	case ADDR_EMBED_NONE:
	case ADDR_EMBED_COUNT:
		break;
	}
	return NULL;
}

const struct addr_row *addr_class(const uint8_t addr[static ADDR_LEN])
{
	const struct addr_row *row = addr_lookup(addr);
	const struct addr_row *inner;

	if (!row || row->embed == ADDR_EMBED_NONE)
		return row;
	inner = addr_lookup_embedded(row->embed, addr);
	if (inner)
		return inner;
	return row->is_as_embedded ? NULL : row;
}

const struct addr_row *addr_refusal(const uint8_t addr[static ADDR_LEN],
				    const struct addr_cidr *exceptions, size_t exceptions_count)
{
	const struct addr_row *row = addr_class(addr);

	if (!row)
		return NULL;
	for (size_t i = 0; i < exceptions_count; i++)
		if (addr_cidr_has(&exceptions[i], addr) &&
		    (row->kind != ADDR_METADATA || exceptions[i].bits == 128))
			return NULL;
	return row;
}

/* Four numbers of one to three digits, no leading zero, nothing else. */
static int addr_parse_v4(const char *text, size_t len, uint8_t ret_v4[static 4])
{
	size_t pos = 0;

	for (size_t part = 0; part < 4; part++) {
		size_t start = pos;
		unsigned value = 0;

		while (pos < len && pos - start < 3 && text[pos] >= '0' && text[pos] <= '9')
			value = value * 10 + (unsigned)(text[pos++] - '0');
		if (pos == start || value > 255 || (text[start] == '0' && pos - start > 1))
			return -EINVAL;
		ret_v4[part] = (uint8_t)value;
		if (part < 3 && (pos >= len || text[pos++] != '.'))
			return -EINVAL;
	}
	return pos == len ? 0 : -EINVAL;
}

int addr_parse(const char *text, size_t len, uint8_t ret_addr[static ADDR_LEN])
{
	char copy[ADDR_TEXT_SIZE];
	uint8_t v4[4];
	struct in6_addr v6;

	if (len == 0 || len >= sizeof(copy) || memchr(text, '\0', len))
		return -EINVAL;
	if (addr_parse_v4(text, len, v4) == 0) {
		addr_from_v4(v4, ret_addr);
		return 0;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET6, copy, &v6) != 1)
		return -EINVAL;
	memcpy(ret_addr, v6.s6_addr, ADDR_LEN);
	return 0;
}

/* RFC 5952, always in hexadecimal: inet_ntop() would show ::1:80 as ::0.1.0.128. */
static void addr_format_v6(const uint8_t addr[static ADDR_LEN], char *dst)
{
	unsigned words[8];
	size_t gap = 8;
	size_t gap_len = 1; /* a single zero word is not shortened */
	size_t used = 0;

	for (size_t i = 0; i < 8; i++)
		words[i] = (unsigned)addr[2 * i] << 8 | addr[2 * i + 1];
	for (size_t i = 0, run = 0; i < 8; i++) {
		run = words[i] ? 0 : run + 1;
		if (run > gap_len) {
			gap_len = run;
			gap = i + 1 - run;
		}
	}
	for (size_t i = 0; i < 8; i++) {
		int n;

		if (i == gap) {
			n = snprintf(dst + used, ADDR_TEXT_SIZE - used, "::");
			i += gap_len - 1;
		} else {
			n = snprintf(dst + used, ADDR_TEXT_SIZE - used, "%s%x",
				     i == 0 || i == gap + gap_len ? "" : ":", words[i]);
		}
		assert(n > 0 && (size_t)n < ADDR_TEXT_SIZE - used);
		used += (size_t)n;
	}
}

void addr_format(const uint8_t addr[static ADDR_LEN], char ret_text[static ADDR_TEXT_SIZE])
{
	if (addr_is_v4(addr))
		(void)snprintf(ret_text, ADDR_TEXT_SIZE, "%u.%u.%u.%u", addr[12], addr[13],
			       addr[14], addr[15]);
	else
		addr_format_v6(addr, ret_text);
}

int addr_from_sockaddr(const struct sockaddr *sa, uint8_t ret_addr[static ADDR_LEN])
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	/* Copies, since nobody promises that sa is aligned for the larger type. */
	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		addr_from_v4((const uint8_t *)&in.sin_addr, ret_addr);
		return 0;
	}
	if (sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		memcpy(ret_addr, in6.sin6_addr.s6_addr, ADDR_LEN);
		return 0;
	}
	return -EAFNOSUPPORT;
}

static void addr_mask(uint8_t addr[static ADDR_LEN], unsigned bits)
{
	for (size_t i = 0; i < ADDR_LEN; i++) {
		unsigned first = (unsigned)i * 8;

		if (first >= bits)
			addr[i] = 0;
		else if (bits - first < 8)
			addr[i] &= (uint8_t)(0xff00U >> (bits - first));
	}
}

/* "8", "128", not "08", "+8" or "" */
static int addr_parse_bits(const char *text, unsigned max, unsigned *ret_bits)
{
	int64_t bits = 0;

	if (text[0] < '0' || text[0] > '9' || (text[0] == '0' && text[1] != '\0') ||
	    parse_int(text, 0, max, &bits) < 0)
		return -EINVAL;
	*ret_bits = (unsigned)bits;
	return 0;
}

int addr_cidr_parse(const char *text, struct addr_cidr *ret, struct cordon_error *err)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	bool is_quad = !memchr(text, ':', len);
	unsigned max = is_quad ? 32 : 128;
	unsigned bits = max;
	struct addr_cidr net;
	uint8_t given[ADDR_LEN];
	char shown[ADDR_TEXT_SIZE];
	int r;

	if (addr_parse(text, len, given) < 0) {
		r = cordon_fail(err, CORDON_E_INVALID,
				"network '%.100s': not an IP address before the prefix", text);
		return cordon_hint(err, r,
				   "write ADDRESS or ADDRESS/BITS, such as 10.0.0.0/8 or fd00::/8");
	}
	if (slash && addr_parse_bits(slash + 1, max, &bits) < 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "network '%.100s': the prefix is not a number from 0 to %u",
				   text, max);
	bits += is_quad ? 96 : 0;
	memcpy(net.addr, given, ADDR_LEN);
	addr_mask(net.addr, bits);
	if (memcmp(net.addr, given, ADDR_LEN) != 0) {
		addr_format(net.addr, shown);
		r = cordon_fail(err, CORDON_E_INVALID,
				"network '%.100s': bits are set after the prefix", text);
		return cordon_hint(
			err, r,
			"write %s%s for the network, or leave out the prefix for the one address",
			shown, slash);
	}
	net.bits = (uint8_t)bits;
	*ret = net;
	return 0;
}

int addr_is_own_host(const uint8_t addr[static ADDR_LEN])
{
	struct ifaddrs *list = NULL;
	int found = 0;

	if (getifaddrs(&list) < 0)
		return -errno;
	for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
		uint8_t own[ADDR_LEN];

		if (i->ifa_addr && addr_from_sockaddr(i->ifa_addr, own) == 0)
			found = memcmp(own, addr, ADDR_LEN) == 0;
	}
	freeifaddrs(list);
	return found;
}
