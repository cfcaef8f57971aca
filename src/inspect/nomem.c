/* SPDX-License-Identifier: Apache-2.0 */
/* See nomem.h. */
#include "inspect/nomem.h"

void parser_nomem(void)
{
	__builtin_trap();
}

int parser_print(void *stream, const char *fmt, ...)
{
	(void)stream, (void)fmt;
	return 0;
}
