/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the background processes of a sandbox print after the call that started them has ended.  It is kept in
 * two files, of which the older one goes when the newer one is full; nothing else bounds what they may print.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

#define KEEPER_LOG "log"
#define KEEPER_LOG_OLD "log.1"

struct keeper_log {
	int dir; /* borrowed */
	int fd;
	size_t used;
};

#define KEEPER_LOG_NONE ((struct keeper_log){.dir = -1, .fd = -1})

/* dir: of the sandbox, borrowed.  0 or -errno. */
CORDON_MUST_CHECK int keeper_log_open(int dir, struct keeper_log *ret);
/* What cannot be written is lost: who prints must not wait for us. */
void keeper_log_write(struct keeper_log *l, const char *data, size_t len);
