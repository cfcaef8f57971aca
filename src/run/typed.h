/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is typed, for a command that has no terminal (a backend that gives none): a pipe, and we read the caller's
 * terminal line by line as its line discipline makes them.  The terminal itself as standard input would be the caller's
 * inside: open for writing past the filter, and for reading what is typed to others once we are no longer in the
 * foreground.
 */
#pragma once

#include "base/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define TYPED_BYTES 4096 /* what a line discipline holds */
#define TYPED_LOOK_MS                                                                              \
	250 /* in the background: between looks whether we still are; a shell's fg need not say */

struct typed {
	int tty; /* the caller's; -1: not used, or its input has ended */
	bool owns_tty;
	int pipe; /* our end */
	size_t from;
	size_t to;
	char data[TYPED_BYTES];
};

#define TYPED_NONE ((struct typed){.tty = -1, .pipe = -1})

/* tty is borrowed.  *ret_read_end (given) is what the command reads.  0 or -errno. */
CORDON_MUST_CHECK int typed_init(struct typed *t, int tty, int *ret_read_end);
void typed_done(struct typed *t);
/* polls[0] for keys, polls[1] for the pipe; fd -1 where there is nothing to wait for. */
void typed_poll(const struct typed *t, struct pollfd polls[static 2]);
void typed_move(struct typed *t, const struct pollfd polls[static 2]);
/* How long poll() may wait, at most ms (-1: for ever). */
int typed_wait_ms(const struct typed *t, int ms);
