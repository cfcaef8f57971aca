/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors through a Unix socket, with the message that they belong to. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FDPASS_MAX 32 /* descriptors of one message */

/* Sends data (at least one byte) and n descriptors.  Async-signal-safe.  0 or -errno. */
CORDON_MUST_CHECK int fdpass_send(int sock, const void *data, size_t len, const int *fds, size_t n);
/* Receives one message of at most len bytes, waiting until the deadline (monotonic ms).  Gives up to
 * FDPASS_MAX descriptors, closed on exec; on failure none.  Returns the bytes, 0 at the end, or -errno. */
CORDON_MUST_CHECK ssize_t fdpass_receive(int sock, void *data, size_t len, int64_t deadline_ms,
					 int ret_fds[static FDPASS_MAX], size_t *ret_n);
