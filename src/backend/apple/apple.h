/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in Linux containers on macOS, each in a virtual machine of its own, through Apple's program `container`.
 *
 * The system inside is an image's: programs of macOS do not run on Linux.  What is granted is mounted at the same
 * paths; everything else of the machine is not there.  The program takes directories only and has no way to keep a
 * name from being made, so protect-missing and deny-inside-allow are not given: a policy that needs them is refused by
 * that name.
 *
 * A process of ours stands between the supervisor and the program.  It ends the container whatever became of the
 * others, and tells how the command ended.
 */
#pragma once

#include "backend/backend.h"

#define APPLE_PROGRAM "container"

extern const struct cordon_backend apple_backend;

/* The words that run the plan's command in a container of this name, with the variables in the file env.
 * CORDON_E_UNSUPPORTED, with its path, for a step that cannot be held. */
CORDON_MUST_CHECK int apple_line(const char *program, const struct plan *plan, const char *name,
				 const char *env, struct strv *out, struct cordon_error *err);
/* The plan's variables as the program reads them.  CORDON_E_UNSUPPORTED for a value that a line cannot hold. */
CORDON_MUST_CHECK int apple_env(const struct plan *plan, struct buf *out, struct cordon_error *err);
/* spawn() by this program. */
CORDON_MUST_CHECK int apple_start(const char *program, const struct plan *plan,
				  struct spawn_result *ret, struct cordon_error *err);
/* probe() of this program: is the service there, and does `run` know all that we would say?  Reason in ret. */
void apple_ask(const char *program, guarantee_set wanted, struct probe *ret);
