/* SPDX-License-Identifier: Apache-2.0 */
/* See locked.h. */
#include "secrets/locked.h"

#include "base/clock.h"
#include "base/io.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int locked_new(size_t size, enum locked_fork fork, struct locked *ret)
{
	struct locked m = {.size = size ? size : 1};
	int r;

	m.data = mmap(NULL, m.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m.data == MAP_FAILED)
		return -errno;
	r = locked_hide(m.data, m.size, fork);
	if (r < 0) {
		(void)munmap(m.data, m.size); /* nothing was in it */
		return r;
	}
	m.is_locked = mlock(m.data, m.size) == 0;
	*ret = m;
	return 0;
}

int locked_read(int fd, size_t max, struct locked *ret, size_t *ret_len)
{
	struct locked m;
	ssize_t n;
	int r = locked_new(max + 2, LOCKED_STAYS, &m);

	if (r < 0)
		return r;
	n = io_read(fd, m.data, max + 1, CLOCK_NEVER);
	if (n < 0 || (size_t)n > max) {
		locked_done(&m);
		return n < 0 ? (int)n : -EFBIG;
	}
	*ret = m;
	*ret_len = (size_t)n;
	return 0;
}

void locked_done(struct locked *m)
{
	if (m->data) {
		explicit_bzero(m->data, m->size);
		(void)munmap(m->data, m->size); /* fails for arguments that are not ours only */
	}
	*m = (struct locked){0};
}
