/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress proxy: a process of its own, between one sandbox and the network.  It reads what hostile programs
 * write, so it holds nothing but sockets and is confined itself.
 *
 * It listens on sockets that were made inside the sandbox's network (capture.h of the backends) and speaks, on one
 * port, whatever comes: a connection that was redirected there on its way to somewhere else, CONNECT and absolute
 * requests of HTTP, and SOCKS 5.  It answers the sandbox's questions for names.  Where that network is not of our making
 * all of it comes through the hatch.
 */
#pragma once

#include "base/proc.h"
#include "net/authority.h"
#include "policy/names.h"
#include "proxy/log.h"

struct boundary_secret;
struct tls_ops;

/* Sockets of one sandbox.  -1: there is none. */
struct proxy_sockets {
	int tcp[2]; /* IPv4 and IPv6 */
	int dns_udp[2];
	int dns_tcp[2];
	int told;  /* where the kernel tells of what is not TCP and was rejected (net/trace.h) */
	int hatch; /* instead of the others: a Unix socket (net/hatch.h) */
	int handed; /* the same: one end of a pair on which each message is a head and the connection that it is of */
};

#define PROXY_SOCKETS_NONE                                                                         \
	((struct proxy_sockets){.tcp = {-1, -1},                                                   \
				.dns_udp = {-1, -1},                                               \
				.dns_tcp = {-1, -1},                                               \
				.told = -1,                                                        \
				.hatch = -1,                                                       \
				.handed = -1})

struct proxy_limits {
	unsigned connections; /* at one time */
	int64_t handshake_ms; /* until it is known where a connection goes */
	int64_t connect_ms;
	int64_t idle_ms;
};

#define PROXY_LIMITS                                                                               \
	((struct proxy_limits){.connections = 4096,                                                \
			       .handshake_ms = 10000,                                              \
			       .connect_ms = 15000,                                                \
			       .idle_ms = 600000})

#define PROXY_RECORDS 256

/* One host that was spoken to or refused, however often. */
struct proxy_record {
	bool is_allowed;
	bool is_alarm; /* a placeholder was sent there (boundary.h) */
	uint16_t port;
	uint32_t count;
	uint64_t bytes;
	char host[HOST_TEXT_SIZE];
	char rule[256];
	char remedy[256];
};

#define PROXY_LEAKS 64
#define PROXY_LEAK_STORED "stored-secret" /* the rule of a value */

enum proxy_leak_end { PROXY_LEAK_PASSED, PROXY_LEAK_HIDDEN, PROXY_LEAK_REFUSED };

/* Something that must not leave, on its way out (exfil.h). */
struct proxy_leak {
	uint32_t end; /* enum proxy_leak_end */
	uint32_t count;
	uint16_t port; /* 0: none was said */
	char host[HOST_TEXT_SIZE];
	char rule[64];
	char what[128];
	char where[40];
};

/* What is looked for in what leaves. */
struct proxy_leaks {
	bool is_on;
	bool has_rules; /* also what looks like a credential */
	enum scan_action action;
};

/* How often something was on its way that must not leave. */
struct proxy_leaked {
	uint64_t stored;  /* values of stored secrets */
	uint64_t by_rule; /* what looks like a credential */
};

/* What was done, in memory that both processes see.  The proxy writes it; who reads it believes nothing but its bounds. */
struct proxy_tally {
	uint64_t allowed;
	uint64_t blocked;
	uint64_t bytes;
	uint64_t alarms;            /* placeholders of secrets that went where they must not */
	struct proxy_leaked leaked; /* also when the list of them is full */
	uint32_t n;                 /* records; what is beyond PROXY_RECORDS is only counted */
	struct proxy_record records[PROXY_RECORDS];
	uint32_t n_leaks; /* the same */
	struct proxy_leak leaks[PROXY_LEAKS];
};

struct proxy_options {
	const struct authority *authority;
	struct proxy_limits limits;
	/* > 0: hosts that are on no list are asked for (proxy_asked()), and held for that long. */
	int64_t ask_ms;
	/* TLS to hosts with a rule that names methods or paths, or with a secret, ends in the proxy: cordon-proxy is run. */
	bool ends_tls;
	const char *trust; /* a file with the certificates that servers are checked with */
	const struct boundary_secret *secrets; /* boundary.h */
	size_t n_secrets;
	struct proxy_leaks leaks;
	const char *const *writable; /* directories that the call can write to; NULL: none */
	/* Of the program cordon-proxy alone: what ends TLS (tls.h). */
	const struct tls_ops *tls;
	void *tls_data;
	const struct boundary *boundary;
	const char *resolver; /* ADDRESS[:PORT] of a name server, or NULL: the system's */
	bool is_alone;        /* not a sandbox's: nothing is redirected to it (pool.h) */
};

struct proxy {
	struct proc proc;
	int control;     /* closed: it ends */
	bool has_failed; /* after proxy_stop(): it did not end as it should */
	struct proxy_tally *tally;
	struct proxy_log *log; /* of one that stands alone, or NULL */
	char *authority_pem; /* of one that ends TLS: the certificate of the session's authority */
};

#define PROXY_NONE ((struct proxy){.proc = {.pid = -1, .pidfd = -1}, .control = -1})

/* Starts the process.  It serves once it was given its sockets. */
CORDON_MUST_CHECK int proxy_start(const struct proxy_options *o, struct proxy *ret,
				  struct cordon_error *err);
/* Hands the sockets over, and waits for the word that they are served; they can be closed here after that. */
CORDON_MUST_CHECK int proxy_give(struct proxy *p, const struct proxy_sockets *sockets,
				 struct cordon_error *err);
/* A host that somebody wants and that is on no list. */
struct proxy_question {
	uint32_t number;
	uint16_t port; /* 0: those of the web, 80 and 443 */
	char host[HOST_TEXT_SIZE];
};

#define PROXY_QUESTIONS 32 /* that are answered or wait, at one time; a person answers no more */

enum proxy_answer { PROXY_ANSWER_NO, PROXY_ANSWER_YES, PROXY_ANSWER_FORGET };

struct proxy_reply {
	uint32_t number;
	uint32_t answer; /* enum proxy_answer */
};

/* Takes a question from p->control, without waiting; it is the proxy's word, and its text is ended here.  1; 0: there is
 * none; -errno: there will be none. */
CORDON_MUST_CHECK int proxy_asked(struct proxy *p, struct proxy_question *ret);
/* 0 or -errno. */
CORDON_MUST_CHECK int proxy_answer(struct proxy *p, const struct proxy_question *q,
				   bool is_granted);
/* What was answered does not hold any longer, and who waits for it is refused: the next one asks anew.  0 or -errno. */
CORDON_MUST_CHECK int proxy_take_back(struct proxy *p, uint32_t number);
/* As proxy_give() for one that stands alone: a socket that listens, which others may serve too. */
CORDON_MUST_CHECK int proxy_give_listener(struct proxy *p, int fd, struct cordon_error *err);
/* How many connections one process can have with the descriptors that it may open. */
unsigned proxy_capacity(void);
/* Ends it and waits for that; the tally can be read until proxy_done(). */
void proxy_stop(struct proxy *p);
void proxy_done(struct proxy *p);
