/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of an allowlist, tried as calls use it: the capture in a new network namespace, with a connection and a
 * question that go through it; and the proxy, started, looked at from outside, and ended.
 */
#include "core/doctor_linux.h"

#include "backend/capture.h"
#include "backend/landlock/network.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "core/egress_tls.h"
#include "proxy/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NETWORK_WAIT_MS 500
#define NETWORK_STATUS_MAX 8192
#define NETWORK_IP6T_ORIGINAL_DST 80 /* of SOL_IPV6; its header does not go with libc's */
#define NETWORK_MODULES                                                                            \
	"modprobe nf_tables nft_chain_nat nft_redir nft_reject_inet; without them no backend can " \
	"hold an allowlist"

/* Where nobody is: ranges for documentation. */
#define NETWORK_FOUR 0xcb007105U /* 203.0.113.5 */
static const struct in6_addr network_six = {.s6_addr = {0x20, 0x01, 0x0d, 0xb8, [15] = 5}};

static bool network_waits_in(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, NETWORK_WAIT_MS) == 1 && p.revents & events;
}

/* The network that a call would have; the sockets of it.  Says what is wrong. */
static bool network_make(const struct doctor_context *c, int fds[static CAPTURE_SOCKETS],
			 struct doctor_row *ret)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	AUTO_CLOSE int fd = -1;
	int r;

	if (!doctor_map(c, ret))
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0) {
		doctor_bad(ret, errno, "bring up loopback in a new network namespace",
			   "allow it in the security profile of the container that we run in");
		return false;
	}
	r = capture_make(fds);
	if (r < 0)
		doctor_bad(ret, -r, "redirect connections in a new network namespace",
			   NETWORK_MODULES);
	return r == 0;
}

/* A connection to the address arrives at the listener, which can tell where it was going.  NULL, or what failed. */
static const char *network_connect(const struct sockaddr *to, socklen_t len, int listener)
{
	struct sockaddr_storage original = {0};
	socklen_t original_len = sizeof(original);
	AUTO_CLOSE int client =
		socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	AUTO_CLOSE int server = -1;
	bool is_four = to->sa_family == AF_INET;

	if (client < 0 || (connect(client, to, len) < 0 && errno != EINPROGRESS))
		return "connect in a new network namespace";
	server = network_waits_in(listener, POLLIN) ? accept4(listener, NULL, NULL, SOCK_CLOEXEC)
						    : -1;
	if (server < 0)
		return "a connection did not arrive at the proxy's socket";
	if (is_four ? getsockopt(server, SOL_IP, SO_ORIGINAL_DST, &original, &original_len) < 0
		    : getsockopt(server, SOL_IPV6, NETWORK_IP6T_ORIGINAL_DST, &original,
				 &original_len) < 0)
		return "where a redirected connection was going cannot be read";
	if (original.ss_family != to->sa_family || memcmp(&original, to, is_four ? 8 : 24) != 0)
		return "a redirected connection says that it was going elsewhere";
	return NULL;
}

void doctor_try_capture(const struct doctor_context *c, struct doctor_row *ret)
{
	struct sockaddr_in four = {
		.sin_family = AF_INET, .sin_port = htons(443), .sin_addr = {htonl(NETWORK_FOUR)}};
	int fds[CAPTURE_SOCKETS];
	const char *wrong;

	if (!network_make(c, fds, ret))
		return;
	wrong = network_connect((const struct sockaddr *)&four, sizeof(four), fds[0]);
	if (wrong)
		doctor_bad(ret, 0, wrong, NETWORK_MODULES);
	else
		doctor_good(ret, "a connection is redirected, and its target can be read");
}

void doctor_try_ipv6(const struct doctor_context *c, struct doctor_row *ret)
{
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons(443), .sin6_addr = network_six};
	int fds[CAPTURE_SOCKETS];
	const char *wrong;

	if (!network_make(c, fds, ret))
		return;
	if (fds[1] < 0) {
		doctor_bad(ret, 0, "there is no IPv6 in a new network namespace",
			   "load the module ipv6 or boot without ipv6.disable=1; programs reach "
			   "allowed hosts over IPv4 until then, those with IPv6 alone too");
		return;
	}
	wrong = network_connect((const struct sockaddr *)&six, sizeof(six), fds[1]);
	if (wrong)
		doctor_bad(ret, 0, wrong, NETWORK_MODULES);
	else
		doctor_good(ret, "the same for IPv6");
}

/* A question for a name arrives, and the answer comes from who was asked.  NULL, or what failed. */
static const char *network_ask(int server)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(53), .sin_addr = {htonl(NETWORK_FOUR)}};
	AUTO_CLOSE int client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in from = {0};
	socklen_t len = sizeof(from);
	char byte = 'q';

	/* A connected socket takes answers from there alone. */
	if (client < 0 || connect(client, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    send(client, &byte, 1, 0) != 1 || !network_waits_in(server, POLLIN) ||
	    recvfrom(server, &byte, 1, 0, (struct sockaddr *)&from, &len) != 1)
		return "a question for a name did not arrive";
	if (sendto(server, "a", 1, 0, (const struct sockaddr *)&from, len) != 1 ||
	    !network_waits_in(client, POLLIN) || recv(client, &byte, 1, 0) != 1 || byte != 'a')
		return "the answer to a question for a name did not arrive";
	/* Other datagrams are refused at once. */
	to.sin_port = htons(443);
	if (connect(client, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    (send(client, &byte, 1, 0) == 1 && !network_waits_in(client, POLLERR)))
		return "another datagram was not refused";
	return NULL;
}

void doctor_try_dns(const struct doctor_context *c, struct doctor_row *ret)
{
	int fds[CAPTURE_SOCKETS];
	const char *wrong;

	if (!network_make(c, fds, ret))
		return;
	wrong = network_ask(fds[2]);
	if (wrong)
		doctor_bad(ret, 0, wrong, NETWORK_MODULES);
	else
		doctor_good(ret, "questions for names come to us; other datagrams are refused");
}

/* What the kernel says of the process: does it hold to the filter, without capabilities or ways to new ones? */
static bool network_is_confined(pid_t pid)
{
	static const char *const lines[] = {"\nSeccomp:\t2\n", "\nNoNewPrivs:\t1\n",
					    "\nCapPrm:\t0000000000000000\n",
					    "\nCapEff:\t0000000000000000\n"};
	AUTO_FREE char *text = NULL;
	char path[32];
	size_t len = 0;
	bool is = true;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (io_read_file_at(AT_FDCWD, path, NETWORK_STATUS_MAX, &text, &len) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		is = is && strstr(text, lines[i]);
	return is;
}

static void network_proxy(const struct proxy_options *o, const char *what, struct doctor_row *ret)
{
	struct cordon_error err = {0};
	struct proxy p;
	int64_t end = clock_deadline(DOCTOR_PROBE_MS - 100);
	bool is_confined = false;

	if (proxy_start(o, &p, &err) < 0) {
		doctor_bad(ret, 0, err.message,
			   err.hint[0] ? err.hint
				       : "run cordon as a user that may start processes");
		return;
	}
	while (!is_confined && clock_ms() < end) {
		is_confined = network_is_confined(p.proc.pid);
		if (!is_confined)
			(void)poll(NULL, 0, 5);
	}
	proxy_stop(&p);
	proxy_done(&p);
	if (is_confined)
		doctor_good(ret, "%s starts, under its filter and without capabilities", what);
	else
		doctor_bad(ret, 0, "the proxy does not get under its filter",
			   "allow seccomp(2) in the security profile of the container that we run "
			   "in, and mount /proc");
}

void doctor_try_proxy(const struct doctor_context *c, struct doctor_row *ret)
{
	const struct authority closed = {.mode = AUTHORITY_CLOSED};
	const struct proxy_options o = {.authority = &closed, .limits = PROXY_LIMITS};

	(void)c;
	network_proxy(&o, "the proxy", ret);
}

void doctor_try_tls(const struct doctor_context *c, struct doctor_row *ret)
{
	const struct authority closed = {.mode = AUTHORITY_CLOSED};
	struct proxy_options o = {.authority = &closed, .limits = PROXY_LIMITS, .ends_tls = true};
	struct cordon_error err = {0};

	(void)c;
	if (egress_tls_trust(&o.trust, &err) < 0)
		doctor_bad(ret, 0, err.message, err.hint);
	else
		network_proxy(&o, "cordon-proxy", ret);
}

void doctor_try_broker(const struct doctor_context *c, struct doctor_row *ret)
{
	char why[PROBE_REASON_MAX];

	(void)c;
	if (lock_leads_network(why))
		doctor_good(ret, "a connection made on behalf arrives, and no other way is open");
	else
		doctor_bad(ret, 0, why,
			   "use kernel 5.6 or newer with loopback up, and not under another filter "
			   "that has a listener; backends with network namespaces do without");
}
