/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished database as gen.c writes it.  The image is what the library's compiler left in memory, to
 * the byte; it holds no pointers and asks only for its alignment, so that it can be used where it lies.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MATCH_DB_ALIGN 64

struct match_db {
	const uint64_t *image; /* aligned to MATCH_DB_ALIGN */
	size_t bytes;
};
