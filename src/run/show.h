/* SPDX-License-Identifier: Apache-2.0 */
/* Showing what came from inside when a call is over: what it printed, files, records. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define SHOW_PIECE_BYTES 16384 /* filtered at once */

/* Writes all of it to fd.  What goes to a terminal passes the filter of vtfilter.h and may ask it nothing: who reads the
 * answer would be the shell.  0 or -errno. */
CORDON_MUST_CHECK int show_write(int fd, const char *data, size_t len, int64_t deadline);
