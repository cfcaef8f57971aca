/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firecracker's interface: a few fixed requests with small JSON bodies over one connection to its Unix socket.  A client
 * of our own and not the library's behind cordon-engine: it runs in the monitor, which may not allocate, and is smaller
 * than what would have to be passed between two programs.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define API_WHY_MAX 256

/* Sends the request and reads the whole answer, until the deadline.  0 when it was obeyed; -EREMOTEIO when it was not,
 * -EPROTO for what is no answer, -errno; ret_why has what was said, on one line. */
CORDON_MUST_CHECK int api_call(int fd, const char *method, const char *path, const char *body,
			       int64_t deadline_ms, char ret_why[static API_WHY_MAX]);
/* What an answer's head says: its status, and how long what follows is.  0 or -EPROTO. */
CORDON_MUST_CHECK int api_head(const char *head, int *ret_status, size_t *ret_length);
