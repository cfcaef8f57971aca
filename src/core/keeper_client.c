/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks a keeper: whether it lives, where it is, and what it answers.  See keeper.h. */
#include "core/keeper.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/path.h"
#include "core/keeper_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define KEEPER_STAT_BYTES 4096
#define KEEPER_STAT_START 20 /* fields after the command's name, which ends with ')' */

int keeper_find(const char *dir, pid_t *ret_pid)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int r = path_join(dir, KEEPER_FILE, &path);

	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fcntl(fd, F_GETLK, &lock) < 0)
		return -errno;
	if (lock.l_type == F_UNLCK)
		return 0;
	*ret_pid = lock.l_pid;
	return 1;
}

/* A socket's name may be longer than its address has room for: the directory is opened, and the rest is short. */
int keeper_address(const char *path, int *ret_dir, struct sockaddr_un *ret)
{
	AUTO_FREE char *dir = strndup(path, (size_t)(path_base(path) - path));
	AUTO_CLOSE int fd = -1;

	if (!dir)
		return -ENOMEM;
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", fd,
		     path_base(path)) >= (int)sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	*ret_dir = TAKE_FD(fd);
	return 0;
}

int keeper_connect(const char *dir, const char *socket_path)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	AUTO_CLOSE int at = -1;
	struct sockaddr_un address;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	pid_t pid = 0;
	int r;

	if (fd < 0)
		return -errno;
	r = keeper_address(socket_path, &at, &address);
	if (r < 0)
		return r;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	r = keeper_find(dir, &pid);
	if (r < 0)
		return r;
	if (r == 0 || peer.pid != pid || peer.uid != geteuid())
		return -ECONNREFUSED; /* whoever listens there, it is not the keeper */
	return TAKE_FD(fd);
}

int keeper_ask(int fd, enum serve_kind kind, struct serve_answer *ret)
{
	struct serve_request request = {.kind = kind};
	int fds[FDPASS_MAX];
	size_t n = 0;
	ssize_t got;
	int r = fdpass_send(fd, &request, sizeof(request), NULL, 0);

	if (r < 0)
		return r;
	got = fdpass_receive(fd, ret, sizeof(*ret), clock_deadline(LIMIT_SANDBOX_ANSWER_MS), fds,
			     &n);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	if (got < 0)
		return (int)got;
	return got == sizeof(*ret) ? 0 : -ECONNRESET;
}

int64_t keeper_start_time(pid_t pid)
{
	AUTO_FREE char *text = NULL;
	char path[64];
	const char *p;
	size_t len;
	int64_t start = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file_at(AT_FDCWD, path, KEEPER_STAT_BYTES, &text, &len) < 0)
		return 0;
	p = strrchr(text, ')');
	for (size_t i = 0; p && i < KEEPER_STAT_START; i++)
		p = strchr(p + 1, ' ');
	if (!p)
		return 0;
	p++;
	text[(size_t)(p - text) + strcspn(p, " ")] = '\0';
	return parse_int(p, 0, INT64_MAX, &start) == 0 ? start : 0;
}

void keeper_boot(char ret[static SANDBOX_BOOT_LEN])
{
	AUTO_FREE char *text = NULL;
	size_t len;

	ret[0] = '\0';
	if (io_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", SANDBOX_BOOT_LEN, &text,
			    &len) == 0)
		(void)snprintf(ret, SANDBOX_BOOT_LEN, "%.*s", (int)strcspn(text, "\n"), text);
}
