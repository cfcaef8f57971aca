/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between a connection and what lies on its sockets: plain bytes, or TLS that ends here.
 *
 * The command itself holds no library for TLS (it is loaded at every start); a call that needs one runs the program
 * cordon-proxy, which is the same proxy with these functions given.  Everything that passes requests on speaks through
 * stream_*() and does not know the difference.
 */
#pragma once

#include "net/host.h"

#include <stdint.h>
#include <sys/types.h>

struct loop;
struct source;
struct tls; /* one side of one connection */

struct tls_ops {
	/* As the server that the client wants: with a certificate of the session for that host.  first: what the client said
	 * already.  NULL: no memory. */
	struct tls *(*accept)(void *data, const struct host *host, int fd, const char *first,
			      size_t len);
	/* As a client of that server, whose certificate is checked for the host. */
	struct tls *(*connect)(void *data, const struct host *host, int fd);
	/* 1: done, 0: later (wants()), -errno: failed for good, for that reason(). */
	int (*shake)(struct tls *t);
	/* Bytes, 0 at an end that the other side announced, -EAGAIN, or another error. */
	ssize_t (*read)(struct tls *t, char *bytes, size_t max);
	ssize_t (*write)(struct tls *t, const char *bytes, size_t len);
	bool (*has_pending)(const struct tls *t); /* read and not asked for */
	bool (*is_quiet)(struct tls *t);          /* the other side is there and has said nothing */
	uint32_t (*wants)(const struct tls *t);   /* events without which it cannot go on */
	const char *(*reason)(const struct tls *t);
	void (*bye)(struct tls *t); /* nothing more is said */
	void (*free)(struct tls *t);
};

/* The following do what their names say, on a socket with or without TLS.  -EINTR does not come. */
ssize_t stream_read(struct source *s, char *bytes, size_t max);
ssize_t stream_write(struct source *s, const char *bytes, size_t len);
/* The same for what the end follows at once: both go in one packet. */
ssize_t stream_write_last(struct source *s, const char *bytes, size_t len);
/* Does data wait that no event will tell of? */
bool stream_has_pending(const struct source *s);
bool stream_is_quiet(struct source *s);
/* Further events that it needs. */
uint32_t stream_wants(const struct source *s);
/* No more is written. */
void stream_bye(struct source *s);
/* Forgets what is on the socket; loop_close() calls it. */
void stream_drop(struct source *s);
