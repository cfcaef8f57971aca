/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that lead out of a git directory.  Git follows them when it writes what every commit, fetch or checkout writes
 * (COMMIT_EDITMSG, FETCH_HEAD, logs, refs), and so whoever runs it next writes where the link leads: to a start-up
 * file of the shell, or to the repository's own configuration.  Git itself makes none.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define GITLINKS_FOUND_MAX 64     /* of one directory: what more there is changes nothing */
#define GITLINKS_NAMES_MAX 200000 /* that are looked at in one */

/* Appends "logs/HEAD -> /home/me/.bashrc" for each in gitdir that was made at or after since_s and leads out of it, or to
 * what is protected in it.  What cannot be read is passed by: then git cannot read it either.  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitlinks_find(const char *gitdir, int64_t since_s, struct strv *ret);
