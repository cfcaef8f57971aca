/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our entries in an agent's settings.  Everything else in the file stays as it is, byte for byte; the file before
 * is kept beside it, under a new name each time; a file that is not valid is not touched.  Several of us take turns,
 * and a change that somebody else made since the file was read is not lost.  Between the last look and the writing
 * there is a moment that no lock closes, because agents take none.
 */
#pragma once

#include "base/str.h"
#include "hook/dialect.h"

struct install_options {
	const struct hook_dialect *dialect;
	const char *dir;             /* absolute: home, or the project */
	const char *settings;        /* a file instead of the usual one; may be NULL */
	const struct strv *policies; /* for the hook's command line; may be NULL */
};

#define INSTALL_BACKUP                                                                             \
	".cordon-backup" /* appended to the file's name; a number behind it from the second on */

/* Gives the file that is meant, links followed; one that leads out of dir is refused. */
CORDON_MUST_CHECK int install_path(const struct install_options *o, char **ret,
				   struct cordon_error *err);
/* Puts our entries there.  *ret_changed false: they were there. */
CORDON_MUST_CHECK int install_add(const struct install_options *o, bool *ret_changed,
				  struct cordon_error *err);
/* Takes all of ours out. */
CORDON_MUST_CHECK int install_remove(const struct install_options *o, bool *ret_changed,
				     struct cordon_error *err);
/* The command lines of ours that are there: event, command, event, command… */
CORDON_MUST_CHECK int install_list(const struct install_options *o, struct strv *ret,
				   struct cordon_error *err);
/* The files that tell the agent to run no hooks at all: with one of them nothing of ours does anything.  home may be
 * NULL. */
CORDON_MUST_CHECK int install_disabled(const struct install_options *o, const char *home,
				       struct strv *ret, struct cordon_error *err);
