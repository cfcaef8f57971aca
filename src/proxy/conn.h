/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection out of the sandbox.
 *
 * What has to be known before a byte goes through: the target (from where it was redirected, or from the client's
 * CONNECT, request or SOCKS message), that the target may be spoken to, and that what the client says first is meant
 * for that target (the server name of TLS, the Host of HTTP).  Then bytes are passed on both ways.
 */
#pragma once

#include "net/httphead.h"
#include "proxy/loop.h"

enum conn_way {
	CONN_UNKNOWN,     /* to be seen from the first bytes */
	CONN_TRANSPARENT, /* was redirected on its way to the target */
	CONN_CONNECT,     /* of HTTP */
	CONN_SOCKS,
	CONN_REQUESTS, /* plain HTTP, request by request */
};

enum conn_phase {
	CONN_SPEAKS, /* the client is heard */
	CONN_LOOKS,  /* the name is being looked up */
	CONN_DIALS,  /* the server is being dialled */
	CONN_RELAYS, /* bytes pass */
	CONN_SHAKES, /* TLS begins, with the client or with the server */
	CONN_HTTP,   /* requests and answers pass (exchange.c) */
	CONN_LEAVES, /* the last words to the client are on their way */
	CONN_DEAD,
};

/* Bytes one way.  A pipe is held only while something is in it. */
struct flow {
	int pipe[2];
	size_t held;
	bool is_stuck; /* without a pipe: the other side takes nothing now */
	bool is_ended; /* nothing more comes */
	bool is_shut;  /* and that was passed on */
};

struct exchange;
struct tunnel;

struct conn {
	struct source client; /* first: events point here */
	struct source server;
	struct loop *loop;
	struct conn *next;
	struct conn *previous;
	enum conn_way way;
	enum conn_phase phase;
	int64_t deadline;
	bool has_target;
	bool awaits_head; /* came through the hatch, and has not said what it wants */
	bool has_greeted; /* SOCKS */
	bool is_checked;  /* the first words are meant for the target */
	bool is_unheard; /* it said nothing at first, and passes as one that waits: its first words are still to be checked */
	bool is_exact_port;
	bool is_told;         /* that it is allowed: it is only dialled once more */
	bool is_waiting_name; /* in the list of an entry */
	bool is_held;         /* until a person has answered */
	struct host host;
	uint16_t port;
	char rule[256];
	struct host booked; /* whom the bytes go to; kept while another target is being judged */
	uint16_t booked_port;
	struct alias_waiter waiter;
	const struct alias *entry;
	size_t tried; /* addresses */
	char *in;     /* what the client said and nobody got yet */
	size_t in_len;
	char *last; /* last words, on their way */
	size_t last_len;
	struct flow up;
	struct flow down;
	uint64_t bytes;
	struct exchange *exchange;
	struct tunnel *tunnel;
};

#define CONN_IN_MAX (HTTP_HEAD_MAX + 4096)

/* The target is known: is it allowed?  Writes down and answers the client if not. */
CORDON_MUST_CHECK bool conn_authorise(struct conn *c);
/* Is the refusal put to a person?  Then it is held, and judged again later by itself. */
CORDON_MUST_CHECK bool conn_hold(struct conn *c, const struct host *host, uint16_t port,
				 struct authority_answer *answer);
/* dial.c: looks up and dials the target; the phase goes on by itself from there. */
void conn_dial(struct conn *c);
/* dial.c: the next address that is left, or the end; and one has answered. */
void dial_next(struct conn *c);
void dial_done(struct conn *c);
/* The server is there, and the client's first words are looked at. */
void conn_go_on(struct conn *c);
void conn_server_event(struct source *s, uint32_t events);
/* refuse.c: says why not, in the client's own protocol, and ends. */
void conn_refuse(struct conn *c, unsigned status, const char *what, const char *rule,
		 const char *remedy);
/* refuse.c: where methods or paths count (reads, or for a secret), does a field or the query name another one, or is there
 * a body where none is allowed?  Then it is refused. */
CORDON_MUST_CHECK bool conn_overrides(struct conn *c, const struct http_head *head,
				      const char *method, const char *path, bool reads);
/* refuse.c: into the log, where there is one. */
void conn_log(struct conn *c, unsigned status, const char *rule, const char *remedy);
/* Ends it at once; the memory is freed by the loop. */
void conn_end(struct conn *c);
/* refuse.c: ends it as if nobody were there. */
void conn_reset(struct conn *c);
/* Last words, and the end; conn_leave() goes on with them. */
void conn_say(struct conn *c, const void *bytes, size_t len);
void conn_leave(struct conn *c);
/* Writes the bytes since the last time down for who got them. */
void conn_book(struct conn *c);
/* First words that come late, of one that is_unheard, to a server that is there.  1: they are in c->in and may pass,
 * 0: nothing yet, -1: refused or ended. */
CORDON_MUST_CHECK int conn_hear_late(struct conn *c);
/* Puts off the end. */
void conn_touch(struct conn *c, int64_t ms);

/* relay.c: from now on bytes pass both ways, first those in c->in. */
void relay_start(struct conn *c);
void relay_event(struct conn *c);

/* shake.c: TLS with the client, whose hello is in c->in, or with the server that was dialled; requests pass after it. */
void shake_client(struct conn *c);
void shake_server(struct conn *c);
void shake_event(struct conn *c);
/* Does TLS to the target end here? */
bool shake_is_due(const struct conn *c);

/* tunnel.c: the same as relay.c where TLS ends here, or what the server says is searched; first: what it said already. */
void tunnel_start(struct conn *c, const char *first, size_t len);
void tunnel_event(struct conn *c);
void tunnel_free(struct tunnel *t);

/* exchange.c: from now on requests pass; the first bytes of one are in c->in. */
void exchange_start(struct conn *c);
void exchange_event(struct conn *c, bool is_server, uint32_t events);
void exchange_dialled(struct conn *c);
/* The server is being dialled: says the first words if they can be said already.  1, -EAGAIN, or why it is not there. */
CORDON_MUST_CHECK int exchange_speak(struct conn *c);
void exchange_free(struct exchange *x);
/* The method of the request, or "". */
const char *exchange_method(const struct exchange *x);
