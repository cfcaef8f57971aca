/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress proxy by itself: for programs that are told of it by variables.  The same processes, the same judge and
 * the same closed ranges as in a sandbox; but nothing forces anybody to go through it.
 *
 * It listens on loopback or on a Unix socket and nowhere else: whoever can connect can use it.
 */
#pragma once

#include "core/egress.h"
#include "proxy/pool.h"

#define OUTLET_CONNECTIONS 4096 /* at one time, unless said otherwise */
#define OUTLET_CONNECTIONS_MAX 100000

struct outlet_options {
	enum authority_mode mode;
	const struct strv *allow;         /* HOST, HOST:PORT, *.DOMAIN; may be NULL */
	const struct strv *block;         /* the same; without a port every port */
	const struct strv *allow_private; /* networks that are not closed */
	bool opens_private;
	const struct policy
		*policy;       /* its network section instead of mode, allow and allow_private */
	const char *listen;    /* ADDRESS:PORT; NULL: 127.0.0.1:0 */
	const char *unix_path; /* a Unix socket instead */
	unsigned connections;  /* 0: OUTLET_CONNECTIONS */
	/* TLS to hosts for which the policy names methods or paths ends in the proxy: this file is made, a bundle with its
	 * certificates and the system's.  NULL: such TLS is refused. */
	const char *ca_file;
};

struct outlet {
	struct egress_call call; /* the authority, and what it borrows */
	struct authority_entry *blocked;
	struct pool pool;
	int listener;
	char *address;    /* ADDRESS:PORT or the socket's path, after outlet_listen() */
	char *unix_path;  /* to be removed, or NULL */
	bool is_unlinked; /* and was */
	char *ca_path;    /* absolute, or NULL */
	unsigned connections;
	bool is_started;
};

#define OUTLET_NONE ((struct outlet){.call = EGRESS_CALL, .listener = -1})

/* What is allowed, out of the options.  Give *ret back with outlet_done() in any case. */
CORDON_MUST_CHECK int outlet_new(const struct outlet_options *o, struct outlet *ret,
				 struct cordon_error *err);
/* Listens, and starts the processes.  Once. */
CORDON_MUST_CHECK int outlet_start(struct outlet *o, const struct outlet_options *options,
				   struct cordon_error *err);
/* Would this host be let through on this port?  Addresses are judged as they are, names are not looked up. */
CORDON_MUST_CHECK int outlet_judge(const struct outlet *o, const char *host, uint16_t port,
				   struct authority_answer *ret, struct cordon_error *err);
/* The variables to set; none with a Unix socket, which no variable can say. */
CORDON_MUST_CHECK int outlet_variables(const struct outlet *o, struct strv *ret);
/* Ends the processes; numbers and logs can be read until outlet_done(). */
void outlet_stop(struct outlet *o);
void outlet_done(struct outlet *o);

/* "allowlist", "blocklist", "open" or "closed"; -EINVAL for others. */
CORDON_MUST_CHECK int outlet_mode(const char *word, enum authority_mode *ret);

/* outlet_listen.c: a socket on loopback or at a path.  Gives the descriptor and the address as text. */
CORDON_MUST_CHECK int outlet_listen(const char *listen, const char *unix_path, int *ret_fd,
				    char **ret_address, struct cordon_error *err);
