/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a user's git configuration that a call gets: who commits (user.*), init.*, and
 * core.autocrlf; nothing that names a program, a file or a remote.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* The last value of a key ("gpgsign") in a section ("[commit]"), without quotes; false when there is none or it
 * does not fit.  Names are compared without case. */
bool gitconfig_value(const char *text, size_t len, const char *section, const char *key, char *ret,
		     size_t size);
/* Appends what makes git sign with an SSH agent as the configuration says, with the public key itself in the
 * place of the name of its file; false, and nothing appended, where it does not say so. */
bool gitconfig_signing(const char *text, size_t len, const char *home, struct buf *out);
/* Appends the permitted lines of a configuration file.  Pure; what it does not understand it leaves out. */
void gitconfig_subset(const char *text, size_t len, struct buf *out);
