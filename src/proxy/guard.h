/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What boundary.h means for one exchange of requests and answers: which placeholders of a request become values, which
 * are refused and are an alarm, and what of an answer is taken out.  There is one only in a call with such secrets.
 */
#pragma once

#include "net/httphead.h"
#include "proxy/boundary.h"
#include "proxy/loop.h"
#include "proxy/unpack.h"

struct guard {
	const struct boundary *boundary;
	bool is_allowed[BOUNDARY_SECRETS_MAX]; /* to be put into this request */
	bool can_put;                          /* one of them is */
	bool searches;                         /* the host has secrets: its answers are looked at */
	bool gathers;                          /* the body is kept until it is whole */
	bool withholds;            /* the same of one in a coding, which then goes on as it came */
	bool is_chunked;           /* the answer is written in chunks of our own */
	enum boundary_place body;  /* how values are written into it */
	enum unpack_coding coding; /* of the body */
	struct unpack *unpack;     /* of a body in a coding that is looked at as it passes */
	struct buf head;           /* of the request that waits for its body */
	struct buf gathered;
	struct boundary_scan scan;
	struct boundary_stream down;
	struct exfil *exfil; /* of the request; NULL: nothing is looked for (exfil.h) */
	bool exfil_holds;    /* and what is not yet looked at does not go */
	bool exfil_reads; /* nor what cannot be looked at, or not before it is whole (exfil_reads()) */
};

/* What was wrong. */
struct guard_refusal {
	unsigned status;
	const char *what;                  /* a constant */
	const char *remedy;                /* the same; NULL: the usual one */
	const struct boundary_secret *who; /* whose placeholder it is; NULL: nobody's */
	bool is_alarm;                     /* it is not meant for there at all */
	bool is_leak;                      /* what exfil.h has found */
};

/* NULL: no memory. */
struct guard *guard_new(const struct boundary *b);
void guard_free(struct guard *g);

/* The head of a request to that host, in which what must not leave is covered.  *ret_changed: it is to be read anew. */
CORDON_MUST_CHECK bool guard_screen(struct guard *g, struct loop *l, const struct host *host,
				    uint16_t port, char *bytes, size_t len, bool *ret_changed,
				    struct guard_refusal *ret);
/* Is the body held back where it has to be, so that what guard_screen_body() gives goes on? */
bool guard_covers(const struct guard *g);
/* Bytes of the body, without what frames them. */
CORDON_MUST_CHECK bool guard_screen_body(struct guard *g, const char *bytes, size_t len,
					 bool is_end, struct buf *out, struct guard_refusal *ret);
/* A request that may be sent to that host, as far as its head goes. */
CORDON_MUST_CHECK bool guard_request(struct guard *g, bool is_tls, const struct host *host,
				     uint16_t port, const char *method, const char *path,
				     const char *raw, const struct http_head *head,
				     struct guard_refusal *ret);
/* Does this field of a request go on as it is in no case? */
bool guard_drops(const struct guard *g, struct http_slice name);
/* The target and the values of fields, as the server gets them. */
CORDON_MUST_CHECK bool guard_put_target(const struct guard *g, struct http_slice path,
					struct buf *out, struct guard_refusal *ret);
CORDON_MUST_CHECK bool guard_put_field(const struct guard *g, struct http_slice value,
				       struct buf *out, struct guard_refusal *ret);
/* Bytes of the body, without what frames them. */
CORDON_MUST_CHECK bool guard_body(struct guard *g, const char *bytes, size_t len, bool is_end,
				  struct guard_refusal *ret);
/* The gathered body is whole: the rest of the head and the body. */
CORDON_MUST_CHECK bool guard_put_body(struct guard *g, struct buf *out, struct guard_refusal *ret);

/* An answer's head.  False: it cannot be searched. */
CORDON_MUST_CHECK bool guard_answer(struct guard *g, const struct http_head *head);
/* The value of one of its fields, without values of secrets. */
void guard_answer_field(const struct guard *g, struct http_slice value, struct buf *out);
/* Bytes of its body, without what frames them; what can be passed on goes to out, framed anew if it is chunked.
 * 0 or -ENOMEM. */
CORDON_MUST_CHECK int guard_answer_body(struct guard *g, const char *bytes, size_t len, bool is_end,
					struct buf *out);

/* Writes down that a placeholder was sent where it must not go. */
void guard_alarm(struct loop *l, const char *host, uint16_t port, const struct boundary_secret *who,
		 const char *where);
/* A placeholder in a host's name: an alarm, and true. */
bool guard_name(struct loop *l, const char *name, uint16_t port, const char *where);
