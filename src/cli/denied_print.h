/* SPDX-License-Identifier: Apache-2.0 */
/* What a call was denied, and what it did that has to be known at once, for people: a line each on standard error, after
 * the call. */
#pragma once

#include "core/report.h"

/* At most DENIED_PRINT_MAX lines, and a last one that counts the others. */
#define DENIED_PRINT_MAX 10
void denied_print(const struct report *report);
/* Repositories that make git run something, and why a session is tainted without a file that was seen.  verb: the one that ran. */
void findings_print(const struct report *report, const char *verb);
