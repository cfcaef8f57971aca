/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the proxy: what its parts share.  One thread, one epoll, no waiting anywhere else.
 */
#pragma once

#include "proxy/alias.h"
#include "proxy/grams.h"
#include "proxy/proxy.h"
#include "proxy/spare.h"
#include "proxy/tls.h"

#include <ares.h>
#include <sys/epoll.h>

struct loop;

/* Something that epoll tells of. */
struct source {
	void (*fn)(struct source *s, uint32_t events);
	struct loop *loop;
	int fd;
	uint32_t events; /* that it is registered for; 0: it is not */
	struct tls *tls; /* on top of it, or NULL */
};

#define LOOP_PIPES 64             /* that are kept for reuse */
#define LOOP_PIPE_BYTES (1 << 20) /* at most in one */
#define LOOP_PIPES_MAX 512        /* at one time; beyond them bytes are copied */

struct asks;
struct conn;

/* spare.h */
struct spare {
	struct source source; /* first: events point here; closed: the place is free */
	bool is_used;         /* ever */
	struct host host;
	uint16_t port;
	int64_t until;
};

struct loop {
	int epoll;
	const struct authority *authority;
	struct proxy_limits limits;
	int64_t ask_ms;    /* 0: nobody is asked */
	struct asks *asks; /* NULL until the first question */
	struct proxy_tally *tally;
	struct proxy_log *log; /* or NULL */
	struct aliases aliases;
	ares_channel ares;
	bool has_ares;
	struct source control;
	struct source tcp[2];
	struct source dns_udp[2];
	struct source dns_tcp[2];
	struct source told;
	struct source hatch;
	struct source handed;
	uint16_t port; /* on which tcp listens */
	struct conn *conns;
	int64_t next_expiry; /* none of them is over before */
	size_t n_conns;
	int pipes[LOOP_PIPES][2];
	size_t n_pipes;
	size_t pipes_made; /* kept ones and those in use */
	size_t pipes_max;
	struct spare spares[SPARE_MAX];
	size_t n_spares;
	bool is_over;
	bool is_alone;
	int64_t resume_ms;         /* listeners pause until then; 0: they do not */
	uint32_t n_records[2];     /* refused, allowed */
	uint32_t n_told;           /* of the refused ones, rejected by the kernel */
	bool has_lost;             /* some of those were not told of, and that was written down */
	const struct tls_ops *tls; /* NULL: none is ended here */
	void *tls_data;
	const struct boundary
		*boundary; /* NULL: the call has no secrets there, and nothing is looked for */
	struct proxy_leaks leaks; /* exfil.h */
	struct grams grams;
	struct conn *dead; /* to be freed when no event can point to them any more */
};

/* Registers for events, or for none.  0 or -errno. */
CORDON_MUST_CHECK int loop_watch(struct source *s, uint32_t events);
/* Hands the descriptor on to another source, which is watched for what comes.  0 or -errno; then nothing has moved. */
CORDON_MUST_CHECK int loop_move(struct source *from, struct source *to);
/* Forgets and closes the descriptor. */
void loop_close(struct source *s);
/* A pipe for data in flight: 0 or -errno (-EMFILE: there are as many as there may be). */
CORDON_MUST_CHECK int loop_pipe_take(struct loop *l, int ret[static 2]);
/* Gives back an empty one. */
void loop_pipe_give(struct loop *l, int pipe[static 2]);
/* Closes one, whatever is in it. */
void loop_pipe_drop(struct loop *l, int pipe[static 2]);
/* Hears whoever comes. */
CORDON_MUST_CHECK int loop_hear(struct source *s);
/* Somebody may be waiting for the log. */
void loop_ring(struct loop *l);
/* Writes down that a host was spoken to or refused. */
void loop_record(struct loop *l, const char *host, uint16_t port, bool is_allowed, const char *rule,
		 const char *remedy, uint64_t bytes);

/* Adds to what an allowed host got, without counting it once more. */
void loop_add_bytes(struct loop *l, const char *host, uint16_t port, uint64_t bytes);
/* An address of this machine, as far as that matters? */
bool loop_is_own(const struct loop *l, const uint8_t addr[static ADDR_LEN]);
/* Stops listening for a moment. */
void loop_pause(struct source *s);
/* There is room for connections again. */
void loop_admit(struct loop *l);

/* The process itself; control is our end of the pair. */
_Noreturn void loop_main(const struct proxy_options *o, int control, const struct proxy *p,
			 pid_t parent);

/* confine.c: gives up what a proxy does not need, for good.  0 or -errno. */
CORDON_MUST_CHECK int confine_proxy(void);

/* resolve.c */
CORDON_MUST_CHECK int resolve_init(struct loop *l, const char *server);
void resolve_done(struct loop *l);
/* Looks the name up unless that is done or under way; alias_settle() tells the waiters, perhaps at once. */
void resolve_name(struct loop *l, struct alias *entry, struct alias_waiter *w);
/* Milliseconds until it wants to be called again, or -1. */
int resolve_timeout(struct loop *l);
void resolve_tick(struct loop *l);

/* dnsd.c */
void dnsd_udp_event(struct source *s, uint32_t events);
/* One question to an answer at once or later through reply. */
typedef void dnsd_reply_fn(void *data, const uint8_t *bytes, size_t len);
void dnsd_tcp_event(struct source *s, uint32_t events);
/* Takes a connection on which questions come. */
void dnsd_adopt(struct loop *l, int fd);
/* Questions for names that waited for an answer of a person's are looked at again. */
void dnsd_let_go(struct loop *l);

/* told.c: what the sandbox's network rejected is written down. */
void told_event(struct source *s, uint32_t events);
/* The last of it. */
void told_end(struct loop *l);

/* conn.c */
void conn_accept_event(struct source *s, uint32_t events);
/* A connection comes as a descriptor. */
void conn_handed_event(struct source *s, uint32_t events);
/* Ends those whose time is over.  Returns milliseconds until the next, or -1. */
int conn_expire(struct loop *l);
/* Connections that waited for an answer of a person's go on, or wait again. */
void conn_let_go(struct loop *l);
void conn_free_dead(struct loop *l);
void conn_free_all(struct loop *l);
