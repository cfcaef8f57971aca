/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code verifier: python and go read as syntax trees.
 */
#pragma once

#include "inspect/context.h"

enum code_language { CODE_PYTHON, CODE_GO, CODE_BASH, CODE_LANGUAGE_COUNT };

/* Adds the findings of the code of one file.  Bash goes through command_inspect(). */
CORDON_MUST_CHECK int code_inspect(const struct inspect_context *c, enum code_language language,
				   const char *text, size_t len, struct findings *ret,
				   struct cordon_error *err);
