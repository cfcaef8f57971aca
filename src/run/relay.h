/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One output stream of a command: a pipe from it, and behind that a sink of ours, a capture buffer, or
 * both.  Nothing here blocks, so the supervisor keeps its deadlines however slow the reader is; and
 * nothing is read while something waits to be written, so a slow reader slows the command, as it would
 * without us.
 */
#pragma once

#include "backend/plan.h"
#include "base/buf.h"
#include "base/clock.h"
#include "run/message.h"
#include "run/stage.h"

#include <poll.h>

#define RELAY_CHUNK_BYTES 65536              /* one read: what a pipe holds */
#define RELAY_TERMINAL_BYTES 16384           /* one read of what may grow in the filter */
#define RELAY_STAGED_BYTES (4 * 1024 * 1024) /* what a stage may make of one read */
#define RELAY_QUIET_MS 50 /* without a byte: what a stage holds is looked at again */

enum relay_sink {
	RELAY_SINK_FILE,   /* never blocks */
	RELAY_SINK_PIPE,   /* a pipe or terminal, opened again as non-blocking for us alone */
	RELAY_SINK_SHARED, /* as above, but it could not be opened again: small writes when ready */
	RELAY_SINK_SOCKET,
	RELAY_SINK_COUNT
};

/* The bytes that both streams together may still pass. */
struct relay_budget {
	struct plan_limit left;
	bool is_exceeded;
};

struct vtfilter;

struct relay {
	int source; /* our end of the pipe, -1 after its end */
	int sink;   /* -1 when there is none or it broke */
	bool owns_sink;
	enum relay_sink sink_kind;
	struct buf *capture;           /* borrowed; NULL when nothing is captured */
	struct message_reader *reader; /* borrowed; NULL when nobody reads along */
	struct relay_budget *budget;   /* borrowed */
	struct vtfilter *filter;       /* borrowed; NULL: what comes is what goes */
	/* Borrowed; NULL: nobody reads it on its way.  Before the capture, the reader and the filter. */
	const struct stage *stage;
	struct buf staged; /* from staged_from on it waits for its turn in the chunk */
	size_t staged_from;
	int64_t quiet_at;
	char *chunk;
	char *raw;           /* with a filter: what was read */
	size_t pending_from; /* chunk[from..to) waits for the sink */
	size_t pending_to;
	struct plan_limit drain; /* after the command's end: read this much and no more */
	bool is_cut;             /* something was left out */
	bool is_over_budget;     /* of what was read: a stage saw only its beginning */
	bool is_broken;          /* the sink went away (EPIPE): a SIGPIPE may be pending */
};

#define RELAY_NONE                                                                                 \
	((struct relay){.source = -1,                                                              \
			.sink = -1,                                                                \
			.staged = BUF_INIT(RELAY_STAGED_BYTES),                                    \
			.quiet_at = CLOCK_NEVER})

/* Makes the pipe.  sink_fd is borrowed, -1 for none.  *ret_write_end is given to the caller.
 * 0 or -errno. */
CORDON_MUST_CHECK int relay_init(struct relay *r, int sink_fd, struct buf *capture,
				 struct relay_budget *budget, int *ret_write_end);
/* The same from the near end of a pty (given), through the filter (borrowed), which is ended behind it. */
CORDON_MUST_CHECK int relay_init_terminal(struct relay *r, int master, int sink_fd,
					  struct buf *capture, struct relay_budget *budget,
					  struct vtfilter *filter);
/* A pipe of our own to the caller's terminal, through the filter (borrowed), which is set up; no questions pass. */
CORDON_MUST_CHECK int relay_init_filtered(struct relay *r, int sink_fd, struct buf *capture,
					  struct relay_budget *budget, struct vtfilter *filter,
					  int *ret_write_end);
/* Is it what a backend with a kernel of its own must not write to itself? */
bool relay_wants_pipe(int fd);
void relay_done(struct relay *r);
/* What to wait for next; fd -1 when there is nothing. */
struct pollfd relay_poll(const struct relay *r);
/* Moves what can be moved after poll() reported revents.  0 or -errno for trouble of our own. */
CORDON_MUST_CHECK int relay_move(struct relay *r, short revents);
/* The command has ended: only what is in the pipe now will still be read. */
void relay_drain(struct relay *r);
/* Reads no more; what is pending is still written. */
void relay_stop(struct relay *r);
/* Gives up what is pending too. */
void relay_drop(struct relay *r);
bool relay_is_finished(const struct relay *r);

/* For n streams with stages: until when poll() may wait, at most ms (-1: for ever) ... */
int relay_wait_ms(const struct relay *streams, size_t n, int ms);
/* ... and what is done then. */
void relay_rest(struct relay *streams, size_t n);
