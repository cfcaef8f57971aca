/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a compiled program, carried out in the child: its mount namespace is its own, its root is
 * still the host's.  System calls only, no allocation.
 */
#pragma once

#include "backend/native/program.h"

/* Makes the new root and puts it over the host's without entering it.  The fd of its top or -errno. */
CORDON_MUST_CHECK int native_root_make(void);
/* What the last steps opened: many names in one directory are covered with one placeholder. */
struct native_cache {
	const char *dir;
	int dir_fd;
	const char *source;
	int source_fd;
};

#define NATIVE_CACHE_EMPTY ((struct native_cache){.dir_fd = -1, .source_fd = -1})

/* 0 or -errno.  root is the fd of the new root. */
CORDON_MUST_CHECK int native_step_run(int root, const struct native_step *step,
				      struct native_cache *cache);
void native_cache_done(struct native_cache *cache);
/* Enters the new root, lets go of the old one, and makes the new one read-only.  Verifies the outcome. */
CORDON_MUST_CHECK int native_root_enter(int root);
