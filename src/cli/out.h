/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output, collected in one buffer and written in large pieces; no stdio.  Errors stick and
 * are reported once, by out_finish().  Text from outside goes through out_escaped(); what is shown as it is (files, logs,
 * records) goes to a terminal only through the filter of run/vtfilter.h, as a command's own output does.
 */
#pragma once

#include "base/buf.h"
#include "run/vtfilter.h"

#include <stdbool.h>

enum out_style { OUT_PLAIN, OUT_BOLD, OUT_DIM, OUT_GREEN, OUT_YELLOW, OUT_RED, OUT_STYLE_COUNT };

struct out {
	int fd;
	int error; /* first failure, -errno; nothing is written after it */
	bool has_colour;
	bool was_asked; /* has_colour is known */
	struct buf buffer;
	struct vtfilter *filter; /* of a terminal; set up with the first write */
	bool was_looked_at;      /* whether it is one */
};

#define OUT_BUFFER_BYTES (64 * 1024) /* written out when it has grown to this */

#define OUT_INIT(fd_) ((struct out){.fd = (fd_), .buffer = BUF_INIT(SIZE_MAX / 4)})

/* A terminal that wants colour: fd is one, TERM is set and not "dumb", NO_COLOR is not set. */
bool out_fd_has_colour(int fd);
/* The same for this stream, asked once. */
bool out_has_colour(struct out *o);

void out_str(struct out *o, const char *s);
void out_add(struct out *o, const void *data, size_t len);
void out_printf(struct out *o, const char *fmt, ...) CORDON_PRINTF(2, 3);
/* What could steer a terminal is made visible. */
void out_escaped(struct out *o, const char *s);
/* As it is, but on a terminal escaped between tabs and line feeds: what a person reads to decide about it must not move
 * the cursor over its own lines, which the filter lets pass. */
void out_reviewed(struct out *o, const char *text, size_t len);
/* Escaped, and coloured where that is wanted. */
void out_styled(struct out *o, enum out_style style, const char *s);
/* Writes what is held: for programs that follow a stream.  Failures stick. */
void out_flush(struct out *o);
/* Flushes, frees and returns 0 or the first failure as -errno. */
CORDON_MUST_CHECK int out_finish(struct out *o);
/* The escape sequences; "" when colour is off. */
const char *out_style_begin(enum out_style style, bool has_colour);
const char *out_style_end(enum out_style style, bool has_colour);
