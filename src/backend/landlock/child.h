/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a call: the watcher, which ends everything, its child the broker, which answers calls, and
 * the broker's child the command.
 *
 * The first two are in one Landlock domain, the command in one below it: it can neither signal nor trace nor read
 * them, while kill(-1) of the watcher reaches all of it.  Watcher and broker are two processes because
 * the broker reads what hostile code gives it: should it die, the watcher is still there to end the rest, and the
 * other way round.  The broker is the ancestor of all callers, because where ptrace is restricted to
 * descendants (Yama) it could not read their memory otherwise.
 *
 * In a sandbox that stays the broker's child has no command: it puts itself where the command would be, in its domain
 * and under its filter, and starts commands as long as somebody has some (native/serve.h).  So all of them are in one
 * domain, and can signal each other; they can also end the process that they came from, and with it the sandbox.
 */
#pragma once

#include "backend/confine/watcher.h"
#include "backend/landlock/broker.h"
#include "backend/native/child.h"
#include "backend/native/serve.h"
#include "backend/stage.h"

struct lock_child {
	const struct scope *scope;
	const struct seccomp_program *own_filter;     /* of watcher and broker */
	const struct seccomp_program *command_filter; /* of the command, with a listener */
	const struct seccomp_program *denied_calls;   /* of the command, or NULL */
	int channel;                                  /* to the supervisor */
	bool is_in_cgroup; /* it was born there, as far as version 2 goes */
	/* The child's own. */
	struct stage_message message;
	char command[LIMIT_PATH_BYTES];
	int relay[2]; /* from command to broker: the listener */
	struct watcher watcher;
	struct broker broker;
	struct serve_host host; /* where calls are served */
	struct native_child server;
	struct view_program program; /* only its plan */
};

/* Runs in the child, all signals blocked.  Should: confine itself, start the command, stay until nothing is left.
 * Mustn't: return, allocate, print. */
_Noreturn void lock_child_main(struct lock_child *c);
