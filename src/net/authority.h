/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one judge of connections.  Whatever way a request came (a proxy's CONNECT, SOCKS, a redirected
 * connection, a question for a name), it is turned into a canonical host and a port and put here.
 *
 * Two stages.  authority_host(): may this host be spoken to on this port at all?  authority_request(): may this be
 * said to it?  The second one can only be asked where the traffic is readable; authority_reads() tells where it must be.
 * Addresses that a name resolves to are judged by authority_address() before one of them is dialled.
 */
#pragma once

#include "net/hostrule.h"

enum authority_mode {
	AUTHORITY_CLOSED,
	AUTHORITY_ALLOWLIST,
	AUTHORITY_BLOCKLIST,
	AUTHORITY_OPEN,
	AUTHORITY_MODE_COUNT
};

/* A rule by host, method and path.  The first that matches decides. */
struct authority_rule {
	struct hostrule host;
	const char *const *methods; /* NULL-terminated; NULL: all */
	const char *const *paths;   /* globs; NULL: all */
	bool is_denial;
	const char *name; /* for people: where it is written */
};

struct authority_entry {
	struct hostrule host;
	const char *name;
};

/* Borrows all it points to. */
struct authority {
	enum authority_mode mode;
	const struct authority_entry *allowed;
	size_t n_allowed;
	const struct authority_entry *blocked;
	size_t n_blocked;
	const struct authority_rule *rules;
	size_t n_rules;
	const struct addr_cidr *exceptions; /* to the special ranges */
	size_t n_exceptions;
	bool opens_private; /* the special ranges are not closed at all */
	bool is_alone;      /* of `cordon proxy`, whose options have other names */
};

#define AUTHORITY_TEXT 512

struct authority_answer {
	bool is_allowed;
	bool is_unlisted; /* of a denial: there is no entry for it; more may be in its way */
	bool is_exact_port; /* a rule names exactly this port, or all is open: any protocol may be spoken */
	char rule[AUTHORITY_TEXT];   /* what decided */
	char remedy[AUTHORITY_TEXT]; /* of a denial: what would allow it */
};

void authority_host(const struct authority *a, const struct host *host, uint16_t port,
		    struct authority_answer *ret);
/* path: as in the request line, with the query. */
void authority_request(const struct authority *a, const struct host *host, uint16_t port,
		       const char *method, const char *path, struct authority_answer *ret);
/* The same of the body of a request that is allowed: with a method that only asks (httpclaim.h) it is refused, unless a
 * body may be sent to that path with another method anyway. */
void authority_body(const struct authority *a, const struct host *host, uint16_t port,
		    const char *method, const char *path, struct authority_answer *ret);
/* Is the method of a request the one of a list?  Methods have capital letters and are compared by them; a list may be
 * written in small ones. */
bool authority_is_method(const char *listed, const char *method);
/* Longer ones cannot be compared and match no rule that names a path. */
#define AUTHORITY_PATH_MAX 8192
/* The path as a server would see it, without the query: letters that need no '%' are decoded.  False when servers
 * could differ about it: an encoded slash, backslash, dot, '?' or '#', an empty component, one of dots alone, bytes that are no
 * UTF-8, letters that some take for ASCII. */
bool authority_path(const char *path, char out[static AUTHORITY_PATH_MAX]);
/* Does a rule for this host name a method or a path, so that the traffic must be readable? */
bool authority_reads(const struct authority *a, const struct host *host, uint16_t port);
/* Does one name a method? */
bool authority_names_methods(const struct authority *a, const struct host *host, uint16_t port);
/* Would it matter that this address is one of the machine's own?  Finding that out costs more than all the rest. */
bool authority_minds_own(const struct authority *a, const uint8_t addr[static ADDR_LEN]);
/* May this address be dialled for that host?  An address of this machine is closed like a special one; is_own says that
 * it is one. */
void authority_address(const struct authority *a, const struct host *host,
		       const uint8_t addr[static ADDR_LEN], bool is_own,
		       struct authority_answer *ret);
