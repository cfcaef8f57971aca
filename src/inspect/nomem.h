/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parsers end the program when memory is out; a library may not.  They are built to call
 * parser_nomem() instead, which goes back to whoever guards the present thread.  What the parser held is
 * lost then, which is the price.
 */
#pragma once

#include "base/error.h"

/* Calls f(arg) and returns what it does, or -ENOMEM when a parser in it ran out of memory.  f must hold
 * nothing of its own across the parser's calls.  Guards do not nest. */
CORDON_MUST_CHECK int parser_guard(int (*f)(void *arg), void *arg);
/* Called by the parsers. */
_Noreturn void parser_nomem(void);
/* In place of what they would write to the terminal: nothing. */
int parser_print(void *stream, const char *fmt, ...) CORDON_PRINTF(2, 3);
