/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cordon-proxy is told when it is started: whom the sandbox may speak to, where TLS ends, and the secrets.  One
 * form of bytes, written by the command and read by that program; it goes through a socket that both inherit, never
 * through words or variables, which others can read.
 */
#pragma once

#include "base/buf.h"
#include "proxy/boundary.h"
#include "proxy/proxy.h"

#define BRIEF_MAX (16 * 1024 * 1024) /* bytes */
#define BRIEF_ITEMS_MAX 20000        /* entries of one list */
#define BRIEF_TEXT_MAX 65536         /* bytes of one text */

struct brief_room;

struct brief {
	struct proxy_options options; /* points into what follows */
	struct authority authority;
	const char *version; /* of who wrote it */
	struct brief_room *room;
};

/* Appends the form to out, whose error tells what failed. */
void brief_write(const struct proxy_options *o, struct buf *out);
/* Reads it.  Everything is copied: the bytes can be wiped after.  0, -EBADMSG or -ENOMEM; *ret is always to be given back. */
CORDON_MUST_CHECK int brief_read(const void *bytes, size_t len, struct brief *ret);
/* Wipes and frees. */
void brief_done(struct brief *b);
