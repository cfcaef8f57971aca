/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many patterns at once over one text, with Vectorscan.  The patterns are compiled when cordon is
 * built (gen.c); the program holds the finished databases as constants and only the part of the
 * library that runs them.  Nothing is touched before the first scan, and a database needs no loading:
 * its pages are read from the program's file as a scan comes to them.
 *
 * Errors are -errno: -ENOMEM, -E2BIG, -ENOTSUP when the processor is older than the databases ask for
 * (x86-64-v2), -ECANCELED when the callback stopped the scan.  Who gets one has not scanned the text.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct match_db;
struct match;

/* Declares match_db_NAME, the database that src/meson.build calls NAME. */
#define MATCH_DB(name) extern const struct match_db match_db_##name

/* id is the pattern's; the match ends before `to`.  from is 0 unless the pattern has MATCH_START.  A
 * pattern is reported at each of its ends.  Anything but 0 stops the scan. */
typedef int match_fn(void *data, unsigned id, uint64_t from, uint64_t to);

/* Gives what a scan needs besides the database.  Not for two threads at a time, and not for a scan
 * inside a callback. */
CORDON_MUST_CHECK int match_new(const struct match_db *db, struct match **ret);
void match_free(struct match *m);

/* Borrows the text. */
CORDON_MUST_CHECK int match_scan(struct match *m, const char *text, size_t len, match_fn *fn,
				 void *data);
