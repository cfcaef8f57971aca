/* SPDX-License-Identifier: Apache-2.0 */
/* See original.h. */
#include "net/original.h"

#include <limits.h>
#include <netinet/in.h>

#include <linux/netfilter_ipv4.h> /* after libc's, which it would repeat */

#define ORIGINAL_IP6T_DST 80 /* of SOL_IPV6; its header does not go with libc's */

bool original_target(int fd, uint16_t own_port, uint8_t ret_addr[static ADDR_LEN],
		     uint16_t *ret_port)
{
	struct sockaddr_storage a = {0};
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(a);
	socklen_t own_len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0)
		return false;
	if (own.ss_family == AF_INET ? getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &a, &len) < 0
				     : getsockopt(fd, SOL_IPV6, ORIGINAL_IP6T_DST, &a, &len) < 0)
		return false;
	if (addr_from_sockaddr((const struct sockaddr *)&a, ret_addr) < 0)
		return false;
	*ret_port = a.ss_family == AF_INET
			    ? ntohs(((const struct sockaddr_in *)(const void *)&a)->sin_port)
			    : ntohs(((const struct sockaddr_in6 *)(const void *)&a)->sin6_port);
	return *ret_port != own_port || !addr_class(ret_addr) ||
	       addr_class(ret_addr)->kind != ADDR_LOOPBACK;
}
