/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parsers call instead of abort() and fprintf(): a library neither ends its program nor writes to its
 * terminal.  Out of memory never comes this far: inspect/shell/heap.h catches it.
 */
#pragma once

#include "base/error.h"

_Noreturn void parser_nomem(void);
/* Writes nothing. */
int parser_print(void *stream, const char *fmt, ...) CORDON_PRINTF(2, 3);
