/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which limits a process backend can hold here, and by what.  Control groups come first.  Where they cannot
 * be had, some limits have a weaker substitute without them:
 *
 * memory   RLIMIT_DATA bounds what each process allocates for itself; private directories are sized by the
 *          limit; memfd_create(2) and System V memory, which no limit of a process counts, are refused (the
 *          backend's filter); and the supervisor looks at the whole tree again and again and ends the call
 *          when it is above.  That is memory-process, never memory-tree: between two looks a tree can be
 *          larger.  RLIMIT_AS was rejected: programs that only reserve addresses (node, Go, Java) would not start.
 * pids     RLIMIT_NPROC counts per user and user namespace: in a namespace of its own a call is alone with its
 *          count.  The kernel never applies it to root.  Tried, because old kernels count the user's other processes.
 */
#pragma once

#include "backend/backend.h"

/* Looks at what limits are wanted (the full form: at all) and adds what can be held to ret->guarantees, what
 * of that has no control group to ret->by_rlimit, and what is missing to ret->lacks.  has_userns: the
 * backend's commands have a user namespace of their own. */
void limits_probe(enum probe_form form, guarantee_set wanted, bool has_userns, struct probe *ret);

/* Tried: does RLIMIT_NPROC hold exactly, for the processes of one call? */
bool limits_nproc_holds(void);
/* Can the tree below a process be looked at? */
bool limits_can_sample(void);
