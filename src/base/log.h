/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for people, on stderr, one line each, "cordon: …".  Only doors log; everything below
 * returns errors.  Text from outside is escaped before it reaches the terminal.
 */
#pragma once

#include "base/error.h"

enum log_level {
	LOG_LEVEL_QUIET,   /* errors only */
	LOG_LEVEL_NORMAL,  /* and warnings */
	LOG_LEVEL_VERBOSE, /* and what is being done */
	LOG_LEVEL_COUNT
};

void log_set_level(enum log_level level);
enum log_level log_level(void);
void log_error(const char *fmt, ...) CORDON_PRINTF(1, 2);
void log_warning(const char *fmt, ...) CORDON_PRINTF(1, 2);
/* As a warning, without saying that it is one: what became of the call. */
void log_notice(const char *fmt, ...) CORDON_PRINTF(1, 2);
void log_info(const char *fmt, ...) CORDON_PRINTF(1, 2);
/* "cordon: <message>" and, when there is one, "cordon: hint: <hint>". */
void log_cordon_error(const struct cordon_error *err);
