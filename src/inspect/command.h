/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command for a shell would do, judged by its structure (shell/model.h) and not by its letters.
 */
#pragma once

#include "inspect/context.h"

/* Adds the findings of a command or script for bash.  Code that it hands to another interpreter is judged by that
 * language's inspector.  What cannot be parsed is a finding. */
CORDON_MUST_CHECK int command_inspect(const struct inspect_context *c, const char *text, size_t len,
				      struct findings *ret, struct cordon_error *err);

struct shell_command;
/* The words of a command, without what could steer a terminal. */
void command_snippet(const struct shell_command *c, char *ret, size_t size);
