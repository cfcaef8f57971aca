/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's terminal while a command runs on a pseudo-terminal of its own.  Theory of operation:
 *
 * Each of the command's three streams that would be the caller's terminal is the pty instead; the others go
 * where the caller sent them.  So the caller's terminal is never inside: no ioctl() reaches it, and what is
 * written passes the filter (vtfilter.h) first.
 *
 * When both input and output are the terminal, and we are its foreground job, the command has its own
 * terminal's foreground from the start: the caller's is raw, every key goes to the command, and its line
 * discipline makes Ctrl-C and Ctrl-Z of them.  Otherwise (`cordon run ... | less`, a job in the background)
 * keys may be meant for others.  Then the command starts in the background of its terminal; should it want
 * to read, the kernel stops it with SIGTTIN, we hear of it, and only then take the keyboard.
 *
 * A backend whose pty is one of the host's cannot do that: its command leads the session, and nobody could continue it.
 * There, and where a backend gives no terminal at all, such a command has none: pipes through the filter for its
 * output, and an input that is empty.  A pty that nobody types on would let a pager wait for ever.
 *
 * The settings of the caller's terminal are put back when the command stops or ends, when we fail, and from
 * a handler when a signal kills us that can be handled.  After kill -9 nobody can: `stty sane` does.
 */
#pragma once

#include "backend/plan.h"
#include "run/vtfilter.h"

#include <poll.h>

#define TERMINAL_INPUT_BYTES 4096 /* keys on their way: what a line discipline holds */

struct terminal {
	bool is_used;
	bool owns_tty;
	bool is_raw;    /* the caller's is ours now */
	bool is_wanted; /* the command has, or asked for, the foreground */
	bool is_plain; /* the pty makes no carriage returns: the caller's terminal, not raw, does */
	bool has_ended; /* of input: the caller's terminal hung up */
	int tty;        /* the caller's */
	int master;
	struct termios saved; /* the caller's settings, to be put back */
	struct plan_terminal plan;
	struct vtfilter filter;
	size_t input_from;
	size_t input_to;
	char input[TERMINAL_INPUT_BYTES];
};

#define TERMINAL_NONE ((struct terminal){.tty = -1, .master = -1})

/* Does the caller's terminal show UTF-8?  By the environment. */
bool terminal_is_utf8(void);
/* A terminal's descriptor of our own, non-blocking; where that cannot be had, fd itself. */
int terminal_reopen(int fd, bool *ret_is_own);
/* Are we the job in the foreground of this terminal? */
bool terminal_has_foreground(int tty);
/* Looks at the plan's descriptors.  takes_output: standard output and error are not captured.  has_own: the
 * backend makes the pty inside and can start the command in the background; otherwise only the simple
 * case is taken, and where it is another the supervisor gives pipes.  Sets is_used; 0 or -errno. */
CORDON_MUST_CHECK int terminal_init(struct terminal *t, const struct plan *plan, bool takes_output,
				    bool has_own);
/* For backends that make none: a pty of the host's.  *ret_slave is given. */
CORDON_MUST_CHECK int terminal_open_host(struct terminal *t, int *ret_slave);
/* Where the command's output goes to; borrowed. */
int terminal_sink(const struct terminal *t);
void terminal_done(struct terminal *t);

bool terminal_is_foreground(const struct terminal *t);
/* Takes the keyboard, and gives it back. */
void terminal_enter(struct terminal *t);
void terminal_leave(struct terminal *t);
/* Gives the caller's terminal to fn for as long as that takes.  Returns what it returns. */
int terminal_lend(struct terminal *t, int (*fn)(void *data, int64_t deadline, int until),
		  void *data, int64_t deadline, int until);
/* Somebody else has the foreground now. */
void terminal_background(struct terminal *t);
/* The size of the caller's window becomes the command's. */
void terminal_resize(const struct terminal *t);

/* polls[0] for keys, polls[1] for the pty; fd -1 where there is nothing to wait for. */
void terminal_poll(const struct terminal *t, struct pollfd polls[static 2]);
void terminal_move(struct terminal *t, const struct pollfd polls[static 2]);
