/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What in a git directory makes git run commands: hooks, and configuration that names a program.  A repository
 * that a call made is an ordinary one, except that whoever runs git in it, or in a repository around it that has
 * it as a submodule, runs what it says: `git status` outside is enough for core.fsmonitor.
 */
#pragma once

#include "base/str.h"

#define GITEXEC_VALUE_MAX 60 /* bytes of a value that are shown */

/* Appends "core.fsmonitor=…" for every line of a configuration that can run something.  Pure; what it does not
 * understand it takes for such a line when it begins like one.  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitexec_config(const char *text, size_t len, struct strv *ret);
/* The same for a git directory: config, config.worktree and hooks ("hooks/pre-commit").  0 or -ENOMEM. */
CORDON_MUST_CHECK int gitexec_find(const char *gitdir, struct strv *ret);
