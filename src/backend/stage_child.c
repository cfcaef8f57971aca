/* SPDX-License-Identifier: Apache-2.0 */
/* The half of stage.h that runs in the first process of a sandbox. */
#include "backend/stage.h"

#include "backend/doors.h"
#include "backend/view/step.h"
#include "base/fd.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int stage_tie(int channel, int parent_end, int death_signal)
{
	char go = 0;
	ssize_t n;

	(void)fd_close(parent_end);
	if (prctl(PR_SET_PDEATHSIG, death_signal) < 0)
		return -errno;
	while ((n = read(channel, &go, 1)) < 0)
		if (errno != EINTR)
			return -errno;
	return n == 1 ? 0 : -ESRCH;
}

int stage_own_mounts(ino_t parent_mnt)
{
	struct stat st;

	if (stat("/proc/self/ns/mnt", &st) < 0)
		return -errno;
	return parent_mnt != 0 && st.st_ino != parent_mnt ? 0 : -EPERM;
}

int stage_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd;
	int r = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		r = -errno;
	(void)fd_close(fd);
	return r;
}

int stage_host(const struct plan *plan)
{
	if (sethostname(STAGE_HOSTNAME, strlen(STAGE_HOSTNAME)) < 0)
		return -errno;
	return plan->net == PLAN_NET_HOST ? 0 : stage_loopback();
}

int stage_build(const struct view_program *p, int root, int channel, int64_t *step)
{
	struct view_cache cache = VIEW_CACHE_EMPTY;
	int r;

	for (size_t i = 0; i < p->n; i++) {
		*step = (int64_t)i;
		r = view_step_run(root, &p->steps[i], &cache);
		if (r < 0)
			return r;
	}
	view_cache_done(&cache);
	r = doors_send_sockets(channel, cache.listeners, cache.n_listeners);
	for (size_t i = 0; i < cache.n_listeners; i++)
		(void)fd_close(cache.listeners[i]);
	return r;
}

_Noreturn void stage_report(int channel, struct stage_message *m, int r)
{
	m->error = -r;
	(void)send(channel, m, sizeof(*m), MSG_NOSIGNAL); /* or nobody hears it */
	_exit(127);
}
