/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver library can turn names of services into ports, which we never ask for.  In a static program libc would
 * load modules from the machine for that; so the functions are here, and find nothing.
 */
#include <errno.h>
#include <netdb.h>
#include <stddef.h>

struct servent *getservbyname(const char *name, const char *proto)
{
	(void)name, (void)proto;
	return NULL;
}

int getservbyport_r(int port, const char *proto, struct servent *result_buf, char *buf,
		    size_t buflen, struct servent **result)
{
	(void)port, (void)proto, (void)result_buf, (void)buf, (void)buflen;
	*result = NULL;
	return ENOENT;
}
