/* SPDX-License-Identifier: Apache-2.0 */
/* Where code or a command that is to be run comes from, for the rows that ask (when.c, when_command.c). */
#pragma once

#include "inspect/code/scan.h"

/* The worst first. */
enum code_origin { FROM_NET, FROM_DECODED, FROM_FILE, FROM_UNKNOWN, FROM_CONSTANT, FROM_NOWHERE };

static inline enum code_origin code_origin_of(unsigned flags, bool is_constant)
{
	if (flags & CODE_FROM_NET)
		return FROM_NET;
	if (flags & CODE_FROM_DECODED)
		return FROM_DECODED;
	if (is_constant)
		return FROM_CONSTANT;
	if ((flags & CODE_FROM_FILE) && !(flags & CODE_FROM_INPUT))
		return FROM_FILE;
	return FROM_UNKNOWN;
}
