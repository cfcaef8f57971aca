/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a configuration of git names: directories of hooks, more configuration, working trees, and the words of commands
 * that git runs.  Who can write what is named there can make the next `git status` of the person run it.
 */
#pragma once

#include "base/str.h"

#define GITNAMED_PROGRAMS_MAX 1024 /* words of commands, of one reading */

/* Paths are absolute, or as they are written where git counts from the top of the working tree. */
struct gitnamed {
	struct strv hooks;    /* core.hooksPath, init.templateDir */
	struct strv included; /* include.path and the like: absolute */
	struct strv trees;    /* core.worktree: absolute */
	struct strv programs; /* words of commands that may be files: with a slash or a dot in them */
};

void gitnamed_done(struct gitnamed *n);
/* Adds what config and config.worktree of a git directory name, and what they include.  home: for "~/", or NULL.  -ENOMEM, or
 * -E2BIG beyond the limit: what is not known cannot be protected. */
CORDON_MUST_CHECK int gitnamed_read_dir(const char *gitdir, const char *home, struct gitnamed *ret);
/* The same for the person's own files and the system's. */
CORDON_MUST_CHECK int gitnamed_read_person(const char *home, struct gitnamed *ret);
/* Appends the words of a command that may be files of the workspace.  Pure.  -ENOMEM or -E2BIG. */
CORDON_MUST_CHECK int gitnamed_words(const char *command, struct gitnamed *ret);
