/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts: one canonical form, and what a policy says about one.  Parse a name once and use the canonical
 * text from then on; two parsers that disagree about one string are how allow lists are passed by.
 */
#pragma once

#include <cordon/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cordon_host_kind {
	CORDON_HOST_NAME,
	CORDON_HOST_IPV4, /* also what was written as ::ffff:a.b.c.d */
	CORDON_HOST_IPV6,
	CORDON_HOST_KIND_COUNT
};

struct cordon_host {
	size_t struct_size;
	enum cordon_host_kind kind;
	unsigned port;  /* 0: none was given */
	char name[256]; /* lower case, ASCII, without a final dot; IPv6 without brackets */
	char text[264]; /* NAME, NAME:PORT, [ADDRESS]:PORT… */
};
/* HOST or HOST:PORT.  Set ret->struct_size before. */
CORDON_API CORDON_MUST_CHECK int cordon_host_parse(const char *text, size_t len,
						   struct cordon_host *ret,
						   struct cordon_error *err);

struct cordon_host_answer {
	size_t struct_size;
	int allowed;
	char reason[512]; /* what decided, and where it was written */
};
/* May a call under the policy connect to this host (without a port in it) and port?  A name that is
 * allowed can still be refused when it resolves to a private address.  Set ret->struct_size before.
 * Return: 1 allowed, 0 not, or a negative code. */
CORDON_API CORDON_MUST_CHECK int cordon_host_allowed(const struct cordon_policy *p,
						     const char *host, unsigned port,
						     struct cordon_host_answer *ret,
						     struct cordon_error *err);

#ifdef __cplusplus
}
#endif
