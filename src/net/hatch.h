/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hatch: a Unix stream socket on which the proxy serves a call whose network namespace we did not make (a
 * container, a virtual machine).  Every connection begins with a head of fixed size that says what the client wanted; then
 * its bytes follow as they came:
 *
 *	bytes  0- 3  "cdh" and the version, 1
 *	       4     the kind
 *	       5     0
 *	       6- 7  port, in network order; 0 but with HATCH_ADDRESS
 *	       8-23  address, 16 bytes, IPv4 as ::ffff:a.b.c.d; zeros but with HATCH_ADDRESS
 *
 * Who writes the head is inside, and nothing of it is believed: an address in it is judged like any other.
 */
#pragma once

#include "net/addr.h"

#define HATCH_HEAD_SIZE 24

enum hatch_kind {
	HATCH_PROXY = 1,   /* the client speaks to a proxy: HTTP, CONNECT or SOCKS 5 */
	HATCH_ADDRESS = 2, /* it was on its way to this address and port */
	HATCH_NAMES =
		3, /* questions for names follow, each after its length (two bytes, network order); answers too */
};

struct hatch_head {
	enum hatch_kind kind;
	uint16_t port;
	uint8_t addr[ADDR_LEN];
};

void hatch_write(const struct hatch_head *h, uint8_t ret[static HATCH_HEAD_SIZE]);
/* 0 or -EBADMSG. */
CORDON_MUST_CHECK int hatch_read(const uint8_t bytes[static HATCH_HEAD_SIZE],
				 struct hatch_head *ret);
