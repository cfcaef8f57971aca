/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody who reads an output stream on its way and may change it: bytes in, what may go on out.  He may hold
 * some back for a moment and is told when the stream is quiet.  He keeps his own errors; after one he passes
 * nothing on.
 */
#pragma once

#include "base/buf.h"

/* Each has a stage of its own: in a common one a value that bytes of the other stream cut would pass, and what
 * is held would come out at the wrong end. */
enum stage_stream {
	STAGE_STDOUT,
	STAGE_STDERR,
	STAGE_TERMINAL, /* all that the command writes there, by whichever descriptor */
	STAGE_STREAM_COUNT
};

struct stage {
	void *data;
	/* Each appends to out.  0 or -errno. */
	int (*feed)(void *data, const char *bytes, size_t len, struct buf *out);
	int (*quiet)(void *data, struct buf *out);
	int (*end)(void *data, struct buf *out);
	/* In place of end where the stream goes on and we do not: what may be the beginning of something stays away. */
	int (*cut)(void *data, struct buf *out);
	/* Bytes that would go on in a quiet moment or at the end. */
	size_t (*held)(const void *data);
};
