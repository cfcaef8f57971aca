/* SPDX-License-Identifier: Apache-2.0 */
/* See rate.h.  Times are of the boot clock: setting the wall clock back does not reset the count. */
#include "core/rate.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	RATE_WINDOW_MS = 60000,
	RATE_CALLS_MAX = 1000000, /* the range of the policy's field */
	RATE_LOCK_MS = 2000,
};

static int64_t rate_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_BOOTTIME, &ts); /* cannot fail with this clock */
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Keeps the times of the window.  A time in the future is of an earlier boot. */
static size_t rate_prune(int64_t *times, size_t n, int64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (times[i] <= now && now - times[i] < RATE_WINDOW_MS)
			times[kept++] = times[i];
	return kept;
}

static int rate_update(int fd, int64_t limit, bool *ret_allowed)
{
	AUTO_FREE char *data = NULL;
	AUTO_FREE int64_t *times = NULL;
	int64_t now = rate_now();
	size_t len = 0, n;
	int r = io_read_all(fd, (size_t)RATE_CALLS_MAX * sizeof(*times), CLOCK_NEVER, &data, &len);

	if (r < 0)
		return r;
	times = calloc(len / sizeof(*times) + 1, sizeof(*times));
	if (!times)
		return -ENOMEM;
	memcpy(times, data, len - len % sizeof(*times));
	n = rate_prune(times, len / sizeof(*times), now);
	*ret_allowed = (int64_t)n < limit;
	if (!*ret_allowed)
		return 0;
	times[n++] = now;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	r = io_write(fd, times, n * sizeof(*times), CLOCK_NEVER);
	if (r == 0 && ftruncate(fd, (off_t)(n * sizeof(*times))) < 0)
		r = -errno;
	return r;
}

int rate_take(const char *state_dir, int64_t calls_per_minute, bool *ret_allowed,
	      struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;
	bool allowed = false;
	int r = path_make_private_dir(state_dir, 0700);

	if (r < 0)
		return cordon_fail_leaf(err, r, "state directory '%s'", state_dir);
	if (asprintf(&path, "%s/rate", state_dir) < 0) {
		path = NULL;
		return cordon_nomem(err);
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open '%s'", path);
	r = fd_flock(fd, LOCK_EX, clock_deadline(RATE_LOCK_MS));
	if (r == 0)
		r = rate_update(fd, calls_per_minute, &allowed);
	if (r < 0)
		return cordon_fail_leaf(err, r, "count calls in '%s'", path);
	*ret_allowed = allowed;
	return 0;
}
