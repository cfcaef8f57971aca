/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A light judgement of code for other interpreters that stands in a command: what it would start, destroy or
 * connect to, by the calls that are named in it.  Python and Go have verifiers of their own; this one only needs to
 * tell a one-liner that prints from one that opens a shell.
 */
#pragma once

#include "inspect/shell/model.h"

/* Fills *ret and gives true when the code does something that a person should see. */
bool script_judge(const struct shell_code *code, struct finding *ret);
/* The same of a text of any language, for shells that are given to the network alone. */
/* Does it decode something? */
bool script_is_hidden(const char *text, size_t len);
bool script_judge_text(const char *text, size_t len, struct finding *ret);
/* The next command that the code hands to a shell, from *at on: a new string of the arena, NULL when there is none. */
const char *script_next_command(struct arena *arena, const struct shell_code *code, size_t *at,
				size_t *ret_len);
