/* SPDX-License-Identifier: Apache-2.0 */
/* See show.h. */
#include "run/show.h"

#include "base/io.h"
#include "base/mem.h"
#include "run/terminal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int show_write(int fd, const char *data, size_t len, int64_t deadline)
{
	AUTO_FREE char *out = NULL;
	struct vtfilter filter;
	int r = 0;

	if (isatty(fd) != 1)
		return io_write(fd, data, len, deadline);
	out = malloc(VTFILTER_ROOM(SHOW_PIECE_BYTES));
	if (!out)
		return -ENOMEM;
	vtfilter_init(&filter, terminal_is_utf8());
	filter.is_deaf = true;
	for (size_t at = 0; r == 0 && at < len;) {
		size_t n = len - at < SHOW_PIECE_BYTES ? len - at : SHOW_PIECE_BYTES;

		r = io_write(fd, out, vtfilter_feed(&filter, data + at, n, out), deadline);
		at += n;
	}
	static_assert(VTFILTER_END_MAX <= VTFILTER_ROOM(SHOW_PIECE_BYTES), "its end fits");
	return r < 0 ? r : io_write(fd, out, vtfilter_end(&filter, out), deadline);
}
