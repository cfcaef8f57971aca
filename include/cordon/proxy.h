/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress proxy by itself: processes of their own that speak HTTP/1.1, CONNECT and SOCKS 5 on loopback or on a Unix
 * socket, and let through what the lists allow.  Addresses are judged after names are looked up; private and other
 * special ranges and the machine's own addresses are closed in every mode.
 *
 * Programs use it if they look at the variables of cordon_proxy_env().  Nothing forces them to: what must not get past
 * it is run with cordon_run() and a list of hosts.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_proxy;

/* Zero and NULL are the defaults.  Lists are NULL-terminated. */
struct cordon_proxy_config {
	size_t struct_size;
	const char *mode;           /* allowlist (the default), blocklist, open or closed */
	const char *const *allowed; /* HOST (ports 80 and 443), HOST:PORT, *.DOMAIN */
	const char *const *blocked; /* the same; without a port: every port.  Wins, in every mode */
	const char *const *allow_private; /* networks in CIDR notation that are not closed */
	const char *listen;               /* ADDRESS:PORT of loopback; NULL: 127.0.0.1, any port */
	const char *unix_path;            /* a Unix socket of mode 0600 instead */
	unsigned connections;             /* at one time; 0: 4096 */
};

/* An allow list of what developers fetch packages, sources and images from.  Set ret->struct_size before; what it
 * points to is constant. */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_default_development(struct cordon_proxy_config *ret,
								  struct cordon_error *err);

/* A proxy that is not started yet; it can be asked.  Needs config no more afterwards.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_new(const struct cordon_proxy_config *config,
						  struct cordon_proxy **ret,
						  struct cordon_error *err);
/* Listens and serves, in processes of its own.  Once. */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_start(struct cordon_proxy *p,
						    struct cordon_error *err);
/* ADDRESS:PORT or the path of the socket; NULL before the start.  Borrows. */
CORDON_API const char *cordon_proxy_address(const struct cordon_proxy *p);
/* NAME=VALUE for the programs that should use it, and NULL; none with a Unix socket.  Gives one block for
 * cordon_free(). */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_env(const struct cordon_proxy *p, char ***ret_env,
						  struct cordon_error *err);

struct cordon_proxy_answer {
	size_t struct_size;
	int allowed;
	char rule[512];   /* what decides */
	char remedy[512]; /* what would allow it; "" when it is */
};
/* Would this host be let through on this port (0: the one in host, or 443)?  Nothing is looked up: a name that is
 * allowed can still be refused for the addresses that it has.  Set ret->struct_size before; ret may be NULL.
 * Return: 1 allowed, 0 not, or a negative code for what is no host. */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_is_allowed(const struct cordon_proxy *p,
							 const char *host, unsigned port,
							 struct cordon_proxy_answer *ret,
							 struct cordon_error *err);

struct cordon_proxy_entry {
	size_t struct_size;
	int64_t time_ms;    /* since 1970 */
	const char *method; /* of HTTP, or CONNECT or SOCKS5 */
	const char *host;   /* canonical; "" when the request could not be read so far */
	unsigned port;
	int allowed;
	unsigned status; /* as in HTTP: 200, or what was answered instead */
	const char *rule;
	const char *remedy; /* "" when there is none */
	uint64_t lost;      /* entries before this one that nobody read in time */
};
/* The oldest request that was not got before; the last 1024 of each process are kept.  1 and *ret (set its struct_size
 * before; borrows until the next call), or 0 when there is none. */
CORDON_API CORDON_MUST_CHECK int cordon_proxy_get_log(struct cordon_proxy *p,
						      struct cordon_proxy_entry *ret,
						      struct cordon_error *err);

struct cordon_proxy_stats {
	size_t struct_size;
	uint64_t allowed; /* requests */
	uint64_t blocked;
	uint64_t failed; /* allowed, and the host could not be reached */
	uint64_t bytes;  /* both ways, of connections that have ended */
	uint64_t hosts; /* different ones that were asked for, as far as they are counted (256 of each process) */
};
CORDON_API CORDON_MUST_CHECK int cordon_proxy_get_stats(const struct cordon_proxy *p,
							struct cordon_proxy_stats *ret,
							struct cordon_error *err);
/* How often was this host asked for, allowed or not? */
CORDON_API uint64_t cordon_proxy_requests(const struct cordon_proxy *p, const char *host);

/* Ends it, with all its connections.  Log and numbers can still be read. */
CORDON_API void cordon_proxy_stop(struct cordon_proxy *p);
CORDON_API void cordon_proxy_free(struct cordon_proxy *p);

#ifdef __cplusplus
}
#endif
