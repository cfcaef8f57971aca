/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes trees in which somebody else could write: by descriptor, following no link, however deep they are and
 * whatever modes their directories have.  What cannot be removed stays.
 */
#pragma once

#include <stddef.h>

/* Everything in the directory fd, looking at no more than so many names. */
void prune_contents(int fd, size_t most);
/* name in dir, whatever it is, and all that is in it.  0 or -errno when something stays. */
int prune_tree(int dir, const char *name);
/* Makes a directory that is held by an O_PATH descriptor readable and writable for its owner, if that is us. */
void prune_open_up(int handle);
