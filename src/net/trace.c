/* SPDX-License-Identifier: Apache-2.0 */
/* See trace.h. */
#include "net/trace.h"

#include <errno.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>

#define TRACE_IP4_HEAD 20
#define TRACE_IP6_HEAD 40

/* The value of an attribute that lies whole in the bytes; NULL: it is not there. */
static const uint8_t *trace_attribute(const uint8_t *bytes, size_t len, uint16_t type,
				      size_t *ret_len)
{
	while (len >= sizeof(struct nlattr)) {
		struct nlattr a;
		size_t whole;

		memcpy(&a, bytes, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return NULL;
		if ((a.nla_type & NLA_TYPE_MASK) == type) {
			*ret_len = a.nla_len - sizeof(a);
			return bytes + sizeof(a);
		}
		whole = ((size_t)a.nla_len + 3) & ~(size_t)3;
		if (whole >= len)
			return NULL;
		bytes += whole;
		len -= whole;
	}
	return NULL;
}

static int trace_network(const uint8_t *head, size_t len, struct trace_packet *ret)
{
	if (len >= TRACE_IP4_HEAD && head[0] >> 4 == 4) {
		ret->protocol = head[9];
		memcpy(ret->addr, (const uint8_t[12]){[10] = 0xff, [11] = 0xff}, 12);
		memcpy(ret->addr + 12, head + 16, 4);
		return 0;
	}
	if (len >= TRACE_IP6_HEAD && head[0] >> 4 == 6) {
		ret->protocol = head[6];
		memcpy(ret->addr, head + 24, ADDR_LEN);
		return 0;
	}
	return -EBADMSG;
}

int trace_parse(const uint8_t *bytes, size_t len, struct trace_packet *ret)
{
	const size_t start = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));
	struct trace_packet found = {0};
	const uint8_t *head;
	const uint8_t *transport;
	struct nlmsghdr h;
	size_t n = 0;
	int r;

	if (len < start)
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	if (h.nlmsg_len < start || h.nlmsg_len > len ||
	    h.nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_TRACE))
		return -EBADMSG;
	bytes += start;
	len = h.nlmsg_len - start;
	head = trace_attribute(bytes, len, NFTA_TRACE_NETWORK_HEADER, &n);
	if (!head)
		return -ENOENT;
	r = trace_network(head, n, &found);
	if (r < 0)
		return r;
	transport = trace_attribute(bytes, len, NFTA_TRACE_TRANSPORT_HEADER, &n);
	if (transport && n >= 4 &&
	    (found.protocol == IPPROTO_UDP || found.protocol == IPPROTO_UDPLITE ||
	     found.protocol == IPPROTO_TCP))
		found.port = (uint16_t)(transport[2] << 8 | transport[3]);
	*ret = found;
	return 0;
}
