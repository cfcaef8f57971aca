/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL's archive can look names up, which cordon-proxy never lets it do.  In a static program libc would load modules
 * from the machine for that; the linker is told (--wrap) to give it these instead.
 */
#include <netdb.h>
#include <stddef.h>

struct hostent *__wrap_gethostbyname(const char *name);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res);
int __wrap_getnameinfo(const struct sockaddr *addr, socklen_t addr_len, char *host,
		       socklen_t host_len, char *service, socklen_t service_len, int flags);
struct servent *__wrap_getservbyname(const char *name, const char *proto);

struct hostent *__wrap_gethostbyname(const char *name)
{
	(void)name;
	return NULL;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res)
{
	(void)node, (void)service, (void)hints;
	*res = NULL;
	return EAI_FAIL;
}

int __wrap_getnameinfo(const struct sockaddr *addr, socklen_t addr_len, char *host,
		       socklen_t host_len, char *service, socklen_t service_len, int flags)
{
	(void)addr, (void)addr_len, (void)host, (void)host_len, (void)service, (void)service_len;
	(void)flags;
	return EAI_FAIL;
}

struct servent *__wrap_getservbyname(const char *name, const char *proto)
{
	(void)name, (void)proto;
	return NULL;
}
