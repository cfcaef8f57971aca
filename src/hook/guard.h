/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that an agent starts.  Agents let a call go on when their hook fails, so failing must not be an
 * exit: the work is done in a child, and whatever becomes of that (a crash, an answer that is none, no answer in
 * time) this process says "no" with the one word that every agent understands, exit code 2 and a line on
 * standard error.  After a tool ran that word leaves the output where it is, so a second child is asked first to
 * withhold it (withhold.h).  This process parses nothing that comes from outside.
 *
 * What it cannot close: that it is not there, or is killed itself.
 */
#pragma once

#include "hook/worker.h"

/* Shorter than what `cordon hook install` tells agents to wait. */
#define HOOK_DEADLINE_MS 5000
/* On top of it, for what is said when nothing was said by then. */
#define HOOK_WITHHOLD_MS 2000

/* Standard input is the question, standard output the answer.  Returns the exit code: 0 or 2. */
int hook_main(const struct hook_options *o);
