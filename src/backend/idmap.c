/* SPDX-License-Identifier: Apache-2.0 */
/* See idmap.h. */
#include "backend/idmap.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IDMAP_PATH_MAX 64
#define IDMAP_BYTES 32768 /* the kernel takes 340 lines */
#define IDMAP_WHOLE "0 0 4294967295\n"

static int idmap_write(pid_t pid, const char *name, const char *text)
{
	char path[IDMAP_PATH_MAX];
	int fd;
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	(void)fd_close(fd);
	return r;
}

/* The ids that we have ourselves, each mapped to itself. */
static int idmap_map_ours(pid_t pid, const char *name)
{
	AUTO_FREE char *own = NULL;
	struct buf map = BUF_INIT(IDMAP_BYTES);
	char path[IDMAP_PATH_MAX];
	size_t len;
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/%s", name);
	r = io_read_file_at(AT_FDCWD, path, IDMAP_BYTES, &own, &len);
	if (r < 0)
		return r;
	/* Lines of three numbers: here, outside, how many. */
	for (const char *p = own + strspn(own, " \n"); *p; p += strspn(p, " \n")) {
		const char *words[3];

		for (size_t i = 0; i < ARRAY_LEN(words); i++) {
			words[i] = p;
			p += strcspn(p, " \n");
			p += strspn(p, " ");
		}
		buf_printf(&map, "%.*s %.*s %.*s\n", (int)strcspn(words[0], " \n"), words[0],
			   (int)strcspn(words[0], " \n"), words[0], (int)strcspn(words[2], " \n"),
			   words[2]);
	}
	r = buf_error(&map);
	if (r == 0)
		r = idmap_write(pid, name, buf_cstr(&map));
	buf_done(&map);
	return r;
}

/* Most often all of them are ours; where not, the kernel refuses what is not. */
static int idmap_map_all(pid_t pid, const char *name)
{
	int r = idmap_write(pid, name, IDMAP_WHOLE);

	return r < 0 ? idmap_map_ours(pid, name) : 0;
}

static int idmap_map_one(pid_t pid, const char *name, unsigned id)
{
	char text[IDMAP_PATH_MAX];

	(void)snprintf(text, sizeof(text), "%u %u 1", id, id);
	return idmap_write(pid, name, text);
}

int idmap_own(pid_t pid)
{
	int r;

	if (geteuid() == 0) {
		r = idmap_map_all(pid, "uid_map");
		if (r == 0)
			return idmap_map_all(pid, "gid_map");
		if (r != -EPERM)
			return r;
	}
	/* Groups that take rights away must not be given up. */
	r = idmap_write(pid, "setgroups", "deny");
	if (r == 0)
		r = idmap_map_one(pid, "uid_map", geteuid());
	if (r == 0)
		r = idmap_map_one(pid, "gid_map", getegid());
	return r;
}
