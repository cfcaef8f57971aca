/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts from the verb tables.  Each stands alone (no bash-completion package) and
 * knows per verb: subverbs, options, which of them take a value and what it may be, and that after
 * the command word of `run` the command's own completion takes over.
 */
#pragma once

#include "cli/out.h"
#include "cli/verb.h"

enum completion_shell { COMPLETION_BASH, COMPLETION_ZSH, COMPLETION_FISH, COMPLETION_SHELL_COUNT };

/* Their names, in this order, and a NULL. */
extern const char *const completion_shells[COMPLETION_SHELL_COUNT + 1];

void completion_write(struct out *o, enum completion_shell shell, const struct verb *root);

void completion_bash(struct out *o, const struct verb *root);
void completion_zsh(struct out *o, const struct verb *root);
void completion_fish(struct out *o, const struct verb *root);

/* Calls visit for root and every verb below it; path holds depth entries. */
typedef void completion_visitor(struct out *o, const struct verb *const *path, size_t depth);
void completion_each_verb(struct out *o, const struct verb *root, completion_visitor *visit);
/* The path without the program, "policy show", as it stands in the scripts; "" for the program. */
void completion_path(struct buf *b, const struct verb *const *path, size_t depth, char separator);
/* "a b c" */
void completion_names(struct out *o, const char *const *names);
