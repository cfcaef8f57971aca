/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical host.  Text from outside is parsed once into a struct host, and from then on only
 * this object is matched, resolved, dialled, sent as SNI and logged; two parsers that disagree
 * about one string are how allow lists are passed by.
 *
 * Names are lower case ASCII (IDNA by UTS 46, non-transitional, STD3), without a final dot (one
 * is taken off), labels of at most 63 bytes out of a-z, 0-9, '-' and '_', no '-' at either end.
 * The underscore is not LDH, but live names have it (service labels, storage buckets), so it is
 * accepted in plain ASCII names in every label but the last, where no real name has it.  '--' in
 * the third and fourth place is accepted in ASCII names too, for the same reason.
 *
 * IPv4 is four plain decimal numbers.  The octal, hexadecimal, short and single-number forms that
 * inet_aton() and browsers know are refused, and so is every name that ends in a number.
 */
#pragma once

#include "base/error.h"
#include "base/limits.h"
#include "net/addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum host_kind {
	HOST_NAME,
	HOST_IPV4, /* also what was written as ::ffff:a.b.c.d */
	HOST_IPV6,
	HOST_KIND_COUNT
};

#define HOST_TEXT_SIZE (LIMIT_HOST_BYTES + 3) /* 256 */
#define HOST_FORMAT_SIZE (HOST_TEXT_SIZE + 8) /* and brackets, colon, port */

struct host {
	enum host_kind kind;
	uint16_t port;             /* 0: none was given */
	uint8_t addr[ADDR_LEN];    /* of an IP literal, zero for a name */
	char name[HOST_TEXT_SIZE]; /* canonical, IPv6 without brackets */
};

enum host_flags {
	HOST_PORT_ALLOWED = 1 << 0,     /* HOST or HOST:PORT; without this flag a port is refused */
	HOST_PORT_REQUIRED = 1 << 1,    /* HOST:PORT only */
	HOST_BRACKETS_REQUIRED = 1 << 2 /* IPv6 only as [ADDRESS], as in a URL */
};

/* Parses len bytes (NUL bytes among them are refused like all controls).  Pure; allocates only
 * for names that are not ASCII.  *ret is untouched on failure and fully written on success, so
 * two equal hosts have equal bytes. */
CORDON_MUST_CHECK int host_parse(const char *text, size_t len, unsigned flags, struct host *ret,
				 struct cordon_error *err);
/* Same host, whatever the ports. */
bool host_equal(const struct host *a, const struct host *b);
/* Is the name (not an address) below base, by whole labels and at any depth?  a.x is below x, x and
 * bax are not. */
bool host_is_below(const struct host *host, const struct host *base);
/* NAME, NAME:PORT, ADDRESS, [ADDRESS] or [ADDRESS]:PORT; host_parse() reads it back unchanged. */
void host_format(const struct host *host, char ret_text[static HOST_FORMAT_SIZE]);
/* Decimal 1 to 65535, no sign, no leading zero.  0 or -EINVAL. */
CORDON_MUST_CHECK int host_parse_port(const char *text, size_t len, uint16_t *ret_port);
