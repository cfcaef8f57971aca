/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on stderr that says what long work is doing, replaced at each step and erased at the
 * end.  Only on a terminal that can erase, and not with -q: elsewhere nothing is written.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct progress {
	bool is_shown; /* this stderr takes progress at all */
	bool has_line; /* a line stands there now */
};

void progress_begin(struct progress *p);
/* total 0: unknown.  "[2/7] what"; cut to one line. */
void progress_step(struct progress *p, size_t n, size_t total, const char *what);
/* Erases the line.  Call before anything else is written to the terminal, too. */
void progress_clear(struct progress *p);
