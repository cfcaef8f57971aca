/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a user's git configuration that a call gets: who commits (user.*), init.*, and
 * core.autocrlf; nothing that names a program, a file or a remote.
 */
#pragma once

#include "base/buf.h"

/* Appends the permitted lines of a configuration file.  Pure; what it does not understand it leaves out. */
void gitconfig_subset(const char *text, size_t len, struct buf *out);
