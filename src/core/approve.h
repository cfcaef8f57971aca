/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a person.  The only way in this build is the terminal that controls the process; where there
 * is none, nobody can approve and the answer is no.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum approval {
	APPROVAL_GRANTED,
	APPROVAL_DENIED,
	APPROVAL_TIMED_OUT,
	APPROVAL_NOBODY,
	APPROVAL_COUNT
};

const char *approval_name(enum approval a);
/* Shows text (escaped here) and waits for "y" or "yes" on /dev/tty. */
enum approval approve_ask(const char *text, const char *reason, int64_t timeout_ms);
