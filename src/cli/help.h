/* SPDX-License-Identifier: Apache-2.0 */
/* The help text of a verb, from its table, at most 79 characters wide. */
#pragma once

#include "cli/out.h"
#include "cli/verb.h"

#define HELP_WIDTH 79

/* path: from the program to the verb, depth entries. */
void help_write(struct out *o, const struct verb *const *path, size_t depth);
/* Two lines: what to type and where to read more. */
void help_write_usage(struct out *o, const struct verb *root);
/* "cordon policy show"; appends. */
void help_path(struct buf *b, const struct verb *const *path, size_t depth, char separator);
/* The option's help with its allowed values: what help, man page and completions say; appends. */
void help_option_text(struct buf *b, const struct option *o);
/* How many bytes of text make a line of at most width, cut between words where that is possible. */
size_t help_line_length(const char *text, size_t width);
