/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to the kernel are written by hand: the library for it has no archive to link statically, and this runs
 * where nothing may be allocated.  One batch makes the whole table, or nothing of it.
 */
#include "backend/capture.h"

#include "base/fd.h"
#include "base/shield.h"
#include "base/mem.h"
#include "base/proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPTURE_LO 1 /* the index of loopback in a new namespace */
#define CAPTURE_BACKLOG 512
#define CAPTURE_MESSAGE 8192
#define CAPTURE_TABLE "cordon"

/* A message that grows; nested parts are closed by patching their length. */
struct capture_message {
	_Alignas(NLMSG_ALIGNTO) char bytes[CAPTURE_MESSAGE];
	size_t len;
	size_t head; /* of the message that is open */
	uint32_t sequence;
	bool is_full;
};

static void *capture_room(struct capture_message *m, size_t len)
{
	static char sink[256];
	char *at = m->bytes + m->len;
	size_t whole = NLMSG_ALIGN(len);

	if (m->is_full || whole > sizeof(m->bytes) - m->len) {
		m->is_full = true;
		return sink;
	}
	memset(at, 0, whole);
	m->len += whole;
	return at;
}

static void capture_begin(struct capture_message *m, uint16_t type, uint16_t flags,
			  const void *body, size_t len)
{
	struct nlmsghdr *h;

	m->head = m->len;
	h = capture_room(m, sizeof(*h));
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	h->nlmsg_seq = ++m->sequence;
	memcpy(capture_room(m, len), body, len);
}

static void capture_end(struct capture_message *m)
{
	uint32_t len = (uint32_t)(m->len - m->head);

	if (!m->is_full)
		memcpy(m->bytes + m->head, &len, sizeof(len)); /* nlmsg_len is first */
}

static void capture_put(struct capture_message *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = capture_room(m, sizeof(*a) + len);

	a->nla_type = type;
	a->nla_len = (uint16_t)(sizeof(*a) + len);
	if (!m->is_full)
		memcpy(a + 1, data, len);
}

static void capture_put_text(struct capture_message *m, uint16_t type, const char *text)
{
	capture_put(m, type, text, strlen(text) + 1);
}

/* Most numbers of nftables are in network order. */
static void capture_put_be32(struct capture_message *m, uint16_t type, uint32_t value)
{
	uint32_t net = htonl(value);

	capture_put(m, type, &net, sizeof(net));
}

static size_t capture_open(struct capture_message *m, uint16_t type)
{
	size_t at = m->len;

	capture_put(m, type | NLA_F_NESTED, "", 0);
	return at;
}

static void capture_close(struct capture_message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	if (!m->is_full)
		memcpy(m->bytes + at, &len, sizeof(len)); /* nla_len is first */
}

/* Sends it all and reads the answers: 0, or the first error. */
static int capture_send(const struct capture_message *m, int protocol, unsigned answers)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	AUTO_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (m->is_full)
		return -EMSGSIZE;
	if (fd < 0)
		return -errno;
	if (sendto(fd, m->bytes, m->len, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	while (answers > 0) {
		_Alignas(NLMSG_ALIGNTO) char reply[CAPTURE_MESSAGE];
		ssize_t n = recv(fd, reply, sizeof(reply), 0);
		size_t at = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		while (at + sizeof(struct nlmsghdr) <= (size_t)n) {
			struct nlmsghdr h;
			int error = 0;

			memcpy(&h, reply + at, sizeof(h));
			if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > (size_t)n - at)
				return -EIO;
			if (h.nlmsg_type == NLMSG_ERROR && h.nlmsg_len >= sizeof(h) + sizeof(error))
				memcpy(&error, reply + at + sizeof(h), sizeof(error));
			if (error)
				return error;
			if (h.nlmsg_type == NLMSG_ERROR && answers > 0)
				answers--;
			at += NLMSG_ALIGN(h.nlmsg_len);
		}
	}
	return 0;
}

/* An address of our own, and a way to everywhere. */
static int capture_routes(void)
{
	struct capture_message m = {0};
	const uint32_t source = htonl(CAPTURE_SOURCE);
	const uint32_t lo = CAPTURE_LO;
	struct ifaddrmsg address = {.ifa_family = AF_INET,
				    .ifa_prefixlen = 32,
				    .ifa_scope = RT_SCOPE_UNIVERSE,
				    .ifa_index = CAPTURE_LO};
	struct rtmsg route = {.rtm_family = AF_INET,
			      .rtm_table = RT_TABLE_MAIN,
			      .rtm_protocol = RTPROT_STATIC,
			      .rtm_scope = RT_SCOPE_UNIVERSE,
			      .rtm_type = RTN_UNICAST};

	capture_begin(&m, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE, &address, sizeof(address));
	capture_put(&m, IFA_LOCAL, &source, sizeof(source));
	capture_put(&m, IFA_ADDRESS, &source, sizeof(source));
	capture_end(&m);
	route.rtm_scope = RT_SCOPE_LINK;
	capture_begin(&m, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE, &route, sizeof(route));
	capture_put(&m, RTA_OIF, &lo, sizeof(lo));
	capture_put(&m, RTA_PREFSRC, &source, sizeof(source));
	capture_end(&m);
	return capture_send(&m, NETLINK_ROUTE, 2);
}

/* IPv6 may be switched off; then nothing can be sent with it. */
static int capture_routes6(void)
{
	struct capture_message m = {0};
	const uint32_t lo = CAPTURE_LO;
	struct rtmsg route = {.rtm_family = AF_INET6,
			      .rtm_table = RT_TABLE_MAIN,
			      .rtm_protocol = RTPROT_STATIC,
			      .rtm_scope = RT_SCOPE_UNIVERSE,
			      .rtm_type = RTN_UNICAST};

	capture_begin(&m, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE, &route, sizeof(route));
	capture_put(&m, RTA_OIF, &lo, sizeof(lo));
	capture_end(&m);
	return capture_send(&m, NETLINK_ROUTE, 1);
}

/* ---- rules ---- */

static const struct nfgenmsg capture_inet = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};

static void capture_nft(struct capture_message *m, uint16_t type, uint16_t flags)
{
	capture_begin(m, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &capture_inet,
		      sizeof(capture_inet));
}

static void capture_batch(struct capture_message *m, uint16_t type)
{
	struct nfgenmsg body = {.nfgen_family = AF_UNSPEC,
				.version = NFNETLINK_V0,
				.res_id = htons(NFNL_SUBSYS_NFTABLES)};

	capture_begin(m, type, 0, &body, sizeof(body));
	capture_end(m);
}

static void capture_chain(struct capture_message *m, const char *name, const char *type,
			  int32_t priority, uint32_t policy)
{
	size_t hook;

	capture_nft(m, NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_ACK);
	capture_put_text(m, NFTA_CHAIN_TABLE, CAPTURE_TABLE);
	capture_put_text(m, NFTA_CHAIN_NAME, name);
	hook = capture_open(m, NFTA_CHAIN_HOOK);
	capture_put_be32(m, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	capture_put_be32(m, NFTA_HOOK_PRIORITY, (uint32_t)priority);
	capture_close(m, hook);
	capture_put_be32(m, NFTA_CHAIN_POLICY, policy);
	capture_put_text(m, NFTA_CHAIN_TYPE, type);
	capture_end(m);
}

/* An expression is a name and its values; the values come between these two. */
struct capture_expression {
	size_t element;
	size_t data;
};

static struct capture_expression capture_expression(struct capture_message *m, const char *name)
{
	struct capture_expression e;

	e.element = capture_open(m, NFTA_LIST_ELEM);
	capture_put_text(m, NFTA_EXPR_NAME, name);
	e.data = capture_open(m, NFTA_EXPR_DATA);
	return e;
}

static void capture_expressed(struct capture_message *m, struct capture_expression e)
{
	capture_close(m, e.data);
	capture_close(m, e.element);
}

static void capture_compare(struct capture_message *m, const void *value, size_t len)
{
	struct capture_expression e = capture_expression(m, "cmp");
	size_t data;

	capture_put_be32(m, NFTA_CMP_SREG, NFT_REG_1);
	capture_put_be32(m, NFTA_CMP_OP, NFT_CMP_EQ);
	data = capture_open(m, NFTA_CMP_DATA);
	capture_put(m, NFTA_DATA_VALUE, value, len);
	capture_close(m, data);
	capture_expressed(m, e);
}

/* A fact about the packet is this byte. */
static void capture_if_meta(struct capture_message *m, uint32_t key, uint8_t value)
{
	struct capture_expression e = capture_expression(m, "meta");

	capture_put_be32(m, NFTA_META_DREG, NFT_REG_1);
	capture_put_be32(m, NFTA_META_KEY, key);
	capture_expressed(m, e);
	capture_compare(m, &value, sizeof(value));
}

/* Bytes of the packet are these. */
static void capture_if_bytes(struct capture_message *m, uint32_t base, uint32_t offset,
			     const void *value, size_t len)
{
	struct capture_expression e = capture_expression(m, "payload");

	capture_put_be32(m, NFTA_PAYLOAD_DREG, NFT_REG_1);
	capture_put_be32(m, NFTA_PAYLOAD_BASE, base);
	capture_put_be32(m, NFTA_PAYLOAD_OFFSET, offset);
	capture_put_be32(m, NFTA_PAYLOAD_LEN, (uint32_t)len);
	capture_expressed(m, e);
	capture_compare(m, value, len);
}

static void capture_accept(struct capture_message *m)
{
	struct capture_expression e = capture_expression(m, "immediate");
	size_t data;
	size_t verdict;

	capture_put_be32(m, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = capture_open(m, NFTA_IMMEDIATE_DATA);
	verdict = capture_open(m, NFTA_DATA_VERDICT);
	capture_put_be32(m, NFTA_VERDICT_CODE, NF_ACCEPT);
	capture_close(m, verdict);
	capture_close(m, data);
	capture_expressed(m, e);
}

static void capture_redirect(struct capture_message *m, uint16_t port)
{
	struct capture_expression e = capture_expression(m, "immediate");
	uint16_t net = htons(port);
	size_t data;

	capture_put_be32(m, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	data = capture_open(m, NFTA_IMMEDIATE_DATA);
	capture_put(m, NFTA_DATA_VALUE, &net, sizeof(net));
	capture_close(m, data);
	capture_expressed(m, e);
	e = capture_expression(m, "redir");
	capture_put_be32(m, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
	capture_expressed(m, e);
}

/* From here on the kernel tells of the packet. */
static void capture_trace(struct capture_message *m)
{
	struct capture_expression e = capture_expression(m, "immediate");
	const uint8_t on = 1;
	size_t data;

	capture_put_be32(m, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	data = capture_open(m, NFTA_IMMEDIATE_DATA);
	capture_put(m, NFTA_DATA_VALUE, &on, sizeof(on));
	capture_close(m, data);
	capture_expressed(m, e);
	e = capture_expression(m, "meta");
	capture_put_be32(m, NFTA_META_SREG, NFT_REG_1);
	capture_put_be32(m, NFTA_META_KEY, NFT_META_NFTRACE);
	capture_expressed(m, e);
}

static void capture_reject(struct capture_message *m)
{
	struct capture_expression e = capture_expression(m, "reject");
	uint8_t code = NFT_REJECT_ICMPX_PORT_UNREACH;

	capture_put_be32(m, NFTA_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
	capture_put(m, NFTA_REJECT_ICMP_CODE, &code, sizeof(code));
	capture_expressed(m, e);
}

static size_t capture_rule(struct capture_message *m, const char *chain)
{
	capture_nft(m, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK);
	capture_put_text(m, NFTA_RULE_TABLE, CAPTURE_TABLE);
	capture_put_text(m, NFTA_RULE_CHAIN, chain);
	return capture_open(m, NFTA_RULE_EXPRESSIONS);
}

static void capture_ruled(struct capture_message *m, size_t rule)
{
	capture_close(m, rule);
	capture_end(m);
}

/* What stays on this machine of its own: three rules. */
static void capture_accept_own(struct capture_message *m, const char *chain)
{
	static const uint8_t loopback4 = 127;
	static const struct in6_addr loopback6 = IN6ADDR_LOOPBACK_INIT;
	const uint32_t source = htonl(CAPTURE_SOURCE);
	const struct {
		uint8_t family;
		uint32_t offset; /* of the destination in the header */
		const void *value;
		size_t len;
	} rows[] = {
		{NFPROTO_IPV4, 16, &loopback4, 1},
		{NFPROTO_IPV4, 16, &source, 4},
		{NFPROTO_IPV6, 24, &loopback6, 16},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t rule = capture_rule(m, chain);

		capture_if_meta(m, NFT_META_NFPROTO, rows[i].family);
		capture_if_bytes(m, NFT_PAYLOAD_NETWORK_HEADER, rows[i].offset, rows[i].value,
				 rows[i].len);
		capture_accept(m);
		capture_ruled(m, rule);
	}
}

static int capture_rules(void)
{
	const uint16_t dns = htons(53);
	struct capture_message m = {0};
	size_t rule;

	capture_batch(&m, NFNL_MSG_BATCH_BEGIN);
	capture_nft(&m, NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_ACK);
	capture_put_text(&m, NFTA_TABLE_NAME, CAPTURE_TABLE);
	capture_end(&m);
	capture_chain(&m, "nat", "nat", -100, NF_ACCEPT);
	capture_chain(&m, "out", "filter", 0, NF_DROP);
	for (int i = 0; i < 2; i++) {
		/* Whatever server a resolver is told of, also one on loopback. */
		rule = capture_rule(&m, "nat");
		capture_if_meta(&m, NFT_META_L4PROTO, i == 0 ? IPPROTO_UDP : IPPROTO_TCP);
		capture_if_bytes(&m, NFT_PAYLOAD_TRANSPORT_HEADER, 2, &dns, sizeof(dns));
		capture_redirect(&m, CAPTURE_DNS_PORT);
		capture_ruled(&m, rule);
	}
	capture_accept_own(&m, "nat");
	rule = capture_rule(&m, "nat");
	capture_if_meta(&m, NFT_META_L4PROTO, IPPROTO_TCP);
	capture_redirect(&m, CAPTURE_PORT);
	capture_ruled(&m, rule);
	capture_accept_own(&m, "out");
	rule = capture_rule(&m, "out");
	capture_trace(&m);
	capture_ruled(&m, rule);
	rule = capture_rule(&m, "out");
	capture_reject(&m);
	capture_ruled(&m, rule);
	capture_batch(&m, NFNL_MSG_BATCH_END);
	/* A table, two chains, three rules of redirection, twice three of acceptance, one that tells and one that rejects. */
	return capture_send(&m, NETLINK_NETFILTER, 1 + 2 + 3 + 6 + 2);
}

/* ---- sockets ---- */

int capture_socket(int family, int type, uint16_t port, int *ret)
{
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_port = htons(port),
				   .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
				   .sin6_port = htons(port),
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	AUTO_CLOSE int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;
	int r;

	if (fd < 0)
		return -errno;
	if (family == AF_INET6 && setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -errno;
	r = family == AF_INET ? bind(fd, (const struct sockaddr *)&four, sizeof(four))
			      : bind(fd, (const struct sockaddr *)&six, sizeof(six));
	if (r < 0 || (type == SOCK_STREAM && listen(fd, CAPTURE_BACKLOG) < 0))
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

static int capture_sockets(int fds[static CAPTURE_SOCKETS], bool has_six)
{
	static const struct {
		int type;
		uint16_t port;
	} rows[] = {{SOCK_STREAM, CAPTURE_PORT},
		    {SOCK_DGRAM, CAPTURE_DNS_PORT},
		    {SOCK_STREAM, CAPTURE_DNS_PORT}};

	for (size_t i = 0; i < CAPTURE_SOCKETS; i++) {
		bool is_six = i % 2 == 1;
		int r;

		if (is_six && !has_six)
			continue;
		r = capture_socket(is_six ? AF_INET6 : AF_INET, rows[i / 2].type, rows[i / 2].port,
				   &fds[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int capture_make(int ret_fds[static CAPTURE_SOCKETS])
{
	bool has_six;
	int r;

	for (size_t i = 0; i < CAPTURE_SOCKETS; i++)
		ret_fds[i] = -1;
	r = capture_routes();
	if (r < 0)
		return r;
	r = capture_routes6();
	has_six = r == 0;
	if (r < 0 && r != -EOPNOTSUPP && r != -EAFNOSUPPORT && r != -EACCES && r != -ENODEV &&
	    r != -ENETDOWN)
		return r;
	/* Before the sockets: no packet goes anywhere else at any time. */
	r = capture_rules();
	if (r == 0)
		r = capture_sockets(ret_fds, has_six);
	for (size_t i = 0; r < 0 && i < CAPTURE_SOCKETS; i++)
		ret_fds[i] = fd_close(ret_fds[i]);
	return r;
}

int capture_told(void)
{
	/* Bound: who has no number is taken for the sender, and is told nothing. */
	const struct sockaddr_nl own = {.nl_family = AF_NETLINK,
					.nl_groups = 1U << (NFNLGRP_NFTRACE - 1)};
	AUTO_CLOSE int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);

	if (fd < 0 || shield_is_off(SHIELD_TOLD) ||
	    bind(fd, (const struct sockaddr *)&own, sizeof(own)) < 0)
		return -1;
	return TAKE_FD(fd);
}

bool capture_works(uint64_t flags)
{
	struct proc proc = PROC_NONE;
	siginfo_t info = {0};
	int r = flags & CLONE_NEWNET ? proc_clone(flags, &proc) : -EINVAL; /* never in our own */

	if (r == 0) {
		struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
		int fds[CAPTURE_SOCKETS];
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		_exit(fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0 || capture_make(fds) < 0);
	}
	if (r < 0)
		return false;
	while (waitid(P_PIDFD, (id_t)proc.pidfd, &info, WEXITED) < 0)
		if (errno != EINTR)
			break;
	proc_done(&proc);
	return info.si_code == CLD_EXITED && info.si_status == 0;
}
