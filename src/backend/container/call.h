/* SPDX-License-Identifier: Apache-2.0 */
/* What passes between a call and the program in its container, over one socket. */
#pragma once

#include "backend/backend.h"

#define CALL_SOCKET "s" /* in the call's directory */
/* There, too, with a runtime that the policy names: what native needs and the container's kernel does not have, in words.
 * Written by its program when it can do nothing, also where the socket cannot be reached. */
#define CALL_LACKS "lacks"
#define CALL_LACKS_MAX 256
#define CALL_START_MS 60000 /* until the container's program has connected; and for each word */

/* To the program, in order, and then the plan's public trees; the message is one byte. */
enum call_fd { CALL_FD_PARCEL, CALL_FD_STDIN, CALL_FD_STDOUT, CALL_FD_STDERR, CALL_FDS };

/* Its answer: an error, or 0 and then as many messages with one descriptor each.  With PLAN_NET_PROXY there are two: the
 * first brings the sockets of the network, and is answered with a byte when they are served; the command starts then. */
struct call_answer {
	int32_t code; /* CORDON_E_*, or 0 */
	uint32_t fds;
	bool is_stale; /* the error is that another thing is mounted than was granted; nothing was started */
	struct cordon_error error;
};

/* The place of a descriptor in spawn_result. */
struct call_door {
	uint32_t index; /* of struct doors, as an array; CALL_TERMINAL: the terminal */
};
#define CALL_DOORS (sizeof(struct doors) / sizeof(int))
#define CALL_TERMINAL UINT32_MAX

struct buf;
struct marks;

/* The caller's side.  A sealed file in memory, at its beginning, or -errno. */
CORDON_MUST_CHECK int call_memory(const char *name, const struct buf *b);
/* Waits for the container's program on listener, or for word over control that there will be none; proc is who makes
 * the container.  The connection or a code. */
CORDON_MUST_CHECK int call_accept(int listener, int control, const struct proc *proc,
				  struct cordon_error *err);
/* Hands the call over, and hears what became of it.  0, or a code; ret_stale as call_answer says. */
CORDON_MUST_CHECK int call_talk(int call, const struct plan *plan, const struct marks *marks,
				bool *ret_stale, struct spawn_result *ret,
				struct cordon_error *err);
