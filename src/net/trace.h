/* SPDX-License-Identifier: Apache-2.0 */
/* What was rejected, out of what the kernel tells of a packet that a rule of nftables traces. */
#pragma once

#include "net/addr.h"

struct trace_packet {
	uint8_t protocol; /* IPPROTO_UDP, … */
	uint16_t port;    /* of the target; 0 where the protocol has none */
	uint8_t addr[ADDR_LEN];
};

/* One message of netlink.  -ENOENT: it has no packet (only the first about each has it), -EBADMSG: it is none. */
CORDON_MUST_CHECK int trace_parse(const uint8_t *bytes, size_t len, struct trace_packet *ret);
