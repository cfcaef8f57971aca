/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker tells the supervisor: calls that were refused and, if the plan asks for that, paths that were
 * asked for.  Only for reports: nothing depends on it, and what does not fit is lost.
 */
#pragma once

#include "backend/confine/notify.h"
#include "backend/plan.h"
#include "backend/seen.h"
#include "base/limits.h"

#define TOLD_BATCH 64 /* messages taken at one time */

struct told {
	struct seccomp_data data;
	uint8_t kind; /* enum seen_kind: SYSCALL or PATH */
	uint8_t want; /* PATH: enum seen_want */
	bool is_refused;
	pid_t pid;
	char comm[SEEN_COMM_MAX];
	char path[LIMIT_PATH_BYTES]; /* PATH; sent as far as it goes */
};

/* In the broker: sends without waiting.  fd is -1 when nobody listens. */
void told_send(int fd, const struct told *t);
/* In the supervisor: takes what came and writes it down.  0, 1 at the end, or -errno. */
CORDON_MUST_CHECK int told_take(int fd, struct seen *seen);
