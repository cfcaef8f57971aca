/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs print that later commands take for names of files, or that gives the environment away.
 */
#pragma once

#include "inspect/shell/run.h"

/* Does an option of find, fd, ls or du leave files out? */
bool output_is_choosing(const struct shell_command *c);
/* What names below a directory, or those that a pattern fits, say of what they name. */
unsigned output_place(struct run *r, const struct shell_word *start, bool is_choosing);
/* The names that find, fd, ls or du print: one word that stands for all, below the place that matters most. */
struct shell_text output_names(struct run *r, const struct shell_command *c);
/* TAINT_IDENTITY when the command prints all variables of the environment, by itself or in code that it gets. */
unsigned output_environment(const struct shell_command *c);
/* What is left of the names that flow in when the command has passed them on. */
struct shell_text output_passed(const struct shell_command *c, struct shell_text out);
