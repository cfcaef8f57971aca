/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What in a git directory makes git run commands: hooks, and configuration that names a program.  A repository
 * that a call made is an ordinary one, except that whoever runs git in it, or in a repository around it that has
 * it as a submodule, runs what it says: `git status` outside is enough for core.fsmonitor.
 */
#pragma once

#include "base/str.h"
#include "workspace/gitini.h"

#define GITEXEC_VALUE_MAX 60   /* bytes of a value that are shown */
#define GITEXEC_FOUND_MAX 4096 /* of one directory; who writes more does not make it look better */

/* A variable that makes git run something: gitexec.def has the rows and says what the columns mean. */
struct gitexec_row {
	const char *section;
	const char *subsection;
	const char *key;
	const char *value;
	const char *why;
	const char *hit;
	const char *miss;
};
extern const struct gitexec_row gitexec_rows[];
extern const size_t gitexec_row_count;

/* The row of such a variable, or NULL. */
const struct gitexec_row *gitexec_match(const struct gitini_entry *e);
/* Appends "core.fsmonitor=…", "filter.x.clean=…" for every variable that can run something.  Pure.  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitexec_config(const char *text, size_t len, struct strv *ret);
/* The same for a git directory and the one that it shares with others: config, config.worktree and hooks
 * ("hooks/pre-commit").  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitexec_find(const char *gitdir, struct strv *ret);
