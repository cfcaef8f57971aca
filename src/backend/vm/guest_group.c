/* SPDX-License-Identifier: Apache-2.0 */
/* The call's limits inside a virtual machine: a control group of the guest's own kernel. */
#include "backend/vm/guest.h"

#include "base/fd.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP_TOP "/group"
#define GROUP_TEXT_MAX 4096
#define GROUP_PERIOD_US 100000

static int group_write(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int group_limit(const char *file, uint64_t value, const char *more)
{
	char text[64];

	if (!value)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64 "%s", value, more);
	return group_write(file, text);
}

int guest_group_make(void)
{
	int r;

	if (mkdir(GROUP_TOP, 0755) < 0 ||
	    mount("group", GROUP_TOP, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -errno;
	r = group_write(GROUP_TOP "/cgroup.subtree_control", "+memory +pids +cpu");
	if (r == 0 && mkdir(GUEST_GROUP, 0755) < 0)
		r = -errno;
	return r;
}

int guest_group(const struct vm_call *c)
{
	char period[32];
	int r = group_limit(GUEST_GROUP "/memory.max", c->head.memory_bytes, "");

	/* A kill at the limit ends the whole call. */
	if (r == 0 && c->head.memory_bytes)
		r = group_write(GUEST_GROUP "/memory.oom.group", "1");
	if (r == 0)
		r = group_limit(GUEST_GROUP "/pids.max", c->head.max_processes, "");
	(void)snprintf(period, sizeof(period), " %d", GROUP_PERIOD_US);
	if (r == 0)
		r = group_limit(GUEST_GROUP "/cpu.max",
				c->head.cpu_percent * (GROUP_PERIOD_US / 100), period);
	return r;
}

int guest_group_watch(const struct vm_call *c)
{
	static const char stalled[] = "full 1600000 2000000"; /* of two seconds, in microseconds */
	AUTO_CLOSE int fd = -1;

	if (!c->head.memory_bytes)
		return -1;
	fd = open(GUEST_GROUP "/memory.pressure", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || write(fd, stalled, sizeof(stalled)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

void guest_group_kill(void)
{
	(void)group_write(GUEST_GROUP "/cgroup.kill", "1");
}

int64_t guest_group_count(const char *file, const char *word)
{
	char path[128];
	char text[GROUP_TEXT_MAX];
	AUTO_CLOSE int fd = -1;
	ssize_t n;
	char *at = text;

	(void)snprintf(path, sizeof(path), GUEST_GROUP "/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -1;
	text[n] = '\0';
	for (char *line; (line = strsep(&at, "\n"));) {
		size_t len = word ? strlen(word) : 0;

		int64_t value;

		if (word && (strncmp(line, word, len) != 0 || line[len] != ' '))
			continue;
		return parse_int(line + len + (word ? 1 : 0), 0, INT64_MAX, &value) < 0 ? -1
											: value;
	}
	return -1;
}
