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
#define APPLE_CONTAINER "cordon-" /* and the id of the call: the container's name */

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
/* In a child: becomes the program, with these as 0, 1 and 2 and no others.  System calls only. */
_Noreturn void apple_exec(const char *program, char *const *words, char *const *envp,
			  const int stdio[static 3]);
/* The program's own variables: it wants to know who uses it and where its tools are.  0 or -errno. */
CORDON_MUST_CHECK int apple_own_env(struct strv *out);
/* probe() of this program, without what was kept of an earlier one: is the service there, does `run` know all that we would
 * say, and what does a trial container give?  Reason in ret. */
void apple_ask(const char *program, guarantee_set wanted, struct probe *ret);
/* As backend.h says. */
void apple_probe(enum probe_form form, guarantee_set wanted, struct probe *ret);
