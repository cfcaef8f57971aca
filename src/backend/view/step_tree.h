/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to those who carry out steps (step.c, layer.c): detached trees and what they are made of.  Raw system calls:
 * -errno, and the caller's errno is left alone.
 */
#pragma once

#include "backend/view/step.h"

/* fd_close() would put errno back, which may be another process's by then. */
void step_close(int fd);
/* By handle, following no link. */
CORDON_MUST_CHECK int step_open(int at, const char *path);
/* Opens the host's path; it has to be what was seen when the plan was compiled. */
CORDON_MUST_CHECK int step_source(const struct view_step *step);
/* Puts a detached tree at path in the new root. */
CORDON_MUST_CHECK int step_attach(int root, int tree, const char *path);

/* Names a descriptor for the options of overlayfs, which take paths only: so no character in a path has to
 * be quoted, and what was checked is what is used. */
#define STEP_FD_PATH_MAX 32 /* "/proc/self/fd/" and a number */
void step_fd_path(int fd, char ret[static STEP_FD_PATH_MAX]);

/* A file system that is configured; value NULL: a flag. */
CORDON_MUST_CHECK int step_fsopen(const char *type);
CORDON_MUST_CHECK int step_option(int fs, const char *key, const char *value);
/* Finishes a configured file system: creates it and gives its detached mount. */
CORDON_MUST_CHECK int step_create(int fs, uint64_t attrs);

/* VIEW_OVERLAY (layer.c).  Is it one with a layer to write into? */
bool step_is_held_overlay(const struct view_step *step);
CORDON_MUST_CHECK int step_overlay(int root, const struct view_step *step,
				   struct view_cache *cache);
