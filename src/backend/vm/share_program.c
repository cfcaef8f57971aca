/* SPDX-License-Identifier: Apache-2.0 */
/* See share.h: the program that we carry in ourselves. */
#include "backend/vm/share.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <sys/mman.h>

extern const char share_bytes[];
extern const char share_bytes_end[];

int share_program(void)
{
	AUTO_CLOSE int fd = memfd_create("cordon-share", MFD_CLOEXEC);
	int r = fd < 0 ? -errno
		       : io_write(fd, share_bytes, (size_t)(share_bytes_end - share_bytes),
				  CLOCK_NEVER);

	return r < 0 ? r : TAKE_FD(fd);
}
