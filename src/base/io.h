/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded I/O.  Leaves: 0 or a count on success, -errno on failure, nothing printed. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads until max bytes or the end of the file.  Returns the count; less than max means the end.  Past
 * the deadline (monotonic ms, CLOCK_NEVER for none): -ETIMEDOUT, and what was read so far is lost; one
 * read is always tried. */
CORDON_MUST_CHECK ssize_t io_read(int fd, void *dst, size_t max, int64_t deadline_ms);
/* Writes all of it, waiting on a non-blocking fd until the deadline (a blocking one blocks).  0 or
 * -errno; SIGPIPE is the caller's business. */
CORDON_MUST_CHECK int io_write(int fd, const void *src, size_t len, int64_t deadline_ms);
/* Reads a whole stream of at most max bytes (-EFBIG beyond).  Gives a NUL-terminated copy. */
CORDON_MUST_CHECK int io_read_all(int fd, size_t max, int64_t deadline_ms, char **ret_data,
				  size_t *ret_len);
/* Opens path (relative to dirfd, which may be AT_FDCWD) and reads it all.  Only regular files
 * (-EISDIR, else -EINVAL: a FIFO or device would hang or never end), at most max bytes (-EFBIG). */
CORDON_MUST_CHECK int io_read_file_at(int dirfd, const char *path, size_t max, char **ret_data,
				      size_t *ret_len);
/* Writes a file atomically beside its target (temporary name, fsync, rename); on failure the target is
 * as it was and nothing else is left.  A symlink at path is replaced, not followed. */
CORDON_MUST_CHECK int io_write_file_at(int dirfd, const char *path, const void *data, size_t len,
				       mode_t mode);
/* The same without waiting for the disk: a crash of the machine may lose it. */
CORDON_MUST_CHECK int io_swap_file_at(int dirfd, const char *path, const void *data, size_t len,
				      mode_t mode);
