/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry of an allow list: HOST, HOST:PORT, *.DOMAIN, *.DOMAIN:PORT or an IP literal.  Without a
 * port it means 80 and 443.  *.x is every name below x, at any depth, and not x itself.
 */
#pragma once

#include "net/host.h"

struct hostrule {
	bool is_wildcard; /* the hosts below host, instead of host */
	struct host host; /* host.port 0: ports 80 and 443 */
};

#define HOSTRULE_FORMAT_SIZE (HOST_FORMAT_SIZE + 2)

/* *ret is untouched on failure and fully written on success. */
CORDON_MUST_CHECK int hostrule_parse(const char *text, size_t len, struct hostrule *ret,
				     struct cordon_error *err);
/* The same for a list of denials, where a wildcard may stand over any domain (*.com, *.internal). */
CORDON_MUST_CHECK int hostrule_parse_denial(const char *text, size_t len, struct hostrule *ret,
					    struct cordon_error *err);
/* Does the rule allow this host on this port?  host->port is not looked at. */
bool hostrule_match(const struct hostrule *rule, const struct host *host, uint16_t port);
/* The same for a rule that denies: without a port it means every port. */
bool hostrule_denies(const struct hostrule *rule, const struct host *host, uint16_t port);
/* Is everything that b allows allowed by a? */
bool hostrule_covers(const struct hostrule *a, const struct hostrule *b);
/* hostrule_parse() reads it back unchanged. */
void hostrule_format(const struct hostrule *rule, char ret_text[static HOSTRULE_FORMAT_SIZE]);
