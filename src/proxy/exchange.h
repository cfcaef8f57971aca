/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an exchange of requests and answers share (exchange.c, exchange_body.c, exchange_write.c); nobody else includes it. */
#pragma once

#include "proxy/conn.h"
#include "proxy/guard.h"

#define EXCHANGE_BODY 65536     /* bytes of a body on their way, each direction */
#define EXCHANGE_INTERIM_MAX 32 /* answers of 1xx to one request */
#define EXCHANGE_OUT (HTTP_HEAD_MAX * 2 + EXCHANGE_BODY)

/* Bytes that wait to be sent. */
struct exchange_out {
	char *bytes;
	size_t len;
	size_t sent;
};

/* A message that is followed to its end. */
struct exchange_message {
	bool has_head;
	bool is_done;
	bool is_kept;
	enum http_body body;
	uint64_t left;
	struct http_chunks chunks;
};

struct exchange {
	bool is_fixed;     /* the target is the connection's and no request can name another */
	bool is_upgrade;   /* asked for */
	bool is_websocket; /* and to nothing else */
	bool has_server;   /* a connection to host and port is there */
	bool is_light; /* the request can be sent again, and to a server that another client spoke to (spare.h) */
	bool is_tainted; /* one that was not went to this server: it stays this client's */
	bool is_used;    /* that is such a one: it may have ended meanwhile */
	bool keeps;      /* the server keeps the connection */
	size_t said;     /* bytes of the request, which are in up->bytes still */
	struct host host;
	uint16_t port;
	uint16_t default_port; /* that a Host without one means */
	char method[40];
	struct exchange_message request;
	struct exchange_message answer;
	struct exchange_out up;
	struct exchange_out down;
	char *in; /* what the server said and was not read yet */
	size_t in_len;
	struct guard *guard; /* NULL: there are no secrets, and nothing is looked for */
	unsigned interim;    /* answers before the answer */
	bool reads;          /* methods or paths count for this request */
	bool is_screened;    /* the head of this request was searched for what must not leave */
};

/* Room for len more bytes?  Heads fit by the limits; bodies are taken in pieces. */
CORDON_MUST_CHECK bool exchange_add(struct exchange_out *out, const char *bytes, size_t len);
/* The request as the server gets it, and the answer as the client does. */
CORDON_MUST_CHECK bool exchange_write_request(struct exchange *x, const struct http_head *head);
CORDON_MUST_CHECK bool exchange_write_answer(struct exchange *x, const struct http_head *head,
					     bool is_last);
/* Begins to follow a message after its head. */
void exchange_message_start(struct exchange_message *m, const struct http_head *head);
/* Passes as much of a body on as there is room for.  False: broken. */
CORDON_MUST_CHECK bool exchange_pass(struct exchange_message *m, char *bytes, size_t *len,
				     struct exchange_out *out);
/* The client's body on its way to the server.  False: the connection has ended. */
CORDON_MUST_CHECK bool exchange_request_body(struct conn *c);
/* The server's body on its way to the client, without values of secrets.  False: broken. */
CORDON_MUST_CHECK bool exchange_answer_body(struct exchange *x);
#define EXCHANGE_TRAILER "a trailer, which is not searched for secrets"
/* Are there fields after the body, where fields were judged?  Servers that put them to those of the head would find what
 * was refused there.  Then the connection has ended. */
CORDON_MUST_CHECK bool exchange_has_trailer(struct conn *c);
/* Refuses what holds a placeholder of a secret where it must not be. */
void exchange_withhold(struct conn *c, const struct guard_refusal *why);
