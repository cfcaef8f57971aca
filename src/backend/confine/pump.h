/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes what the command writes into a pipe of its own on to the caller's.  For a kernel (gVisor's) that answers a write to a
 * pipe of the host's without a reader with an error and no SIGPIPE: a writer that does not look at errors would go on for ever.
 * A pipe of its own ends it as every pipe does, because we close ours when the reader has gone.
 */
#pragma once

#include "base/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define PUMP_BYTES 65536 /* as much as a pipe holds */
#define PUMP_MAX 2       /* standard output and error */
#define PUMP_POLLS 2     /* of each */

struct pump {
	int source; /* what we read from, -1 when there is no more to come */
	int sink;
	size_t from;
	size_t to;
	char data[PUMP_BYTES];
};

/* sink is borrowed and becomes non-blocking; our end of the pipe is numbered from first on.  *ret_write_end is given.  0 or
 * -errno. */
CORDON_MUST_CHECK int pump_make(struct pump *p, int sink, int first, int *ret_write_end);
/* Has everything been passed on, or is nobody there who would read it? */
bool pump_is_done(const struct pump *p);
void pump_poll(const struct pump *p, struct pollfd ret[static PUMP_POLLS]);
/* Whatever polls say that can be done without waiting. */
void pump_move(struct pump *p, const struct pollfd polls[static PUMP_POLLS]);
