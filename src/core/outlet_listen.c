/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a proxy that stands alone can be reached: an address of loopback, or a Unix socket that only its owner can
 * connect to.
 */
#include "core/outlet.h"

#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OUTLET_BACKLOG 4096
#define OUTLET_SILENCE 10 /* seconds */

/* ADDRESS:PORT, where the port may be 0 (any), which host_parse() would not take. */
static int outlet_parse(const char *text, struct host *ret, struct cordon_error *err)
{
	size_t len = strlen(text);
	bool is_any = len > 2 && strcmp(text + len - 2, ":0") == 0;
	const struct addr_row *row;
	int r = host_parse(text, is_any ? len - 2 : len,
			   is_any ? HOST_BRACKETS_REQUIRED
				  : HOST_PORT_REQUIRED | HOST_BRACKETS_REQUIRED,
			   ret, err);

	if (r < 0)
		return cordon_wrap(err, r, "listen on '%.100s'", text);
	row = ret->kind == HOST_NAME ? NULL : addr_class(ret->addr);
	if (!row || row->kind != ADDR_LOOPBACK)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "listen on '%.100s': not an address of loopback",
					       text),
				   "whoever can connect can use the proxy: take 127.0.0.1:PORT, "
				   "[::1]:PORT or a Unix socket");
	return 0;
}

static int outlet_listen_tcp(const char *text, int *ret_fd, char **ret_address,
			     struct cordon_error *err)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	char shown[HOST_FORMAT_SIZE];
	AUTO_CLOSE int fd = -1;
	socklen_t len;
	struct host h;
	bool is_four;
	int patience = OUTLET_SILENCE;
	int on = 1;
	int r = outlet_parse(text, &h, err);

	if (r < 0)
		return r;
	is_four = addr_is_v4(h.addr);
	memcpy(&four.sin_addr, h.addr + 12, 4);
	memcpy(&six.sin6_addr, h.addr, ADDR_LEN);
	four.sin_port = six.sin6_port = htons(h.port);
	len = is_four ? sizeof(four) : sizeof(six);
	fd = socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "a socket for '%.100s'", text);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* Clients of a proxy speak first: they are accepted with their first words. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &patience, sizeof(patience));
	if (bind(fd, is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six, len) < 0 ||
	    listen(fd, OUTLET_BACKLOG) < 0 ||
	    getsockname(fd, is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six, &len) < 0)
		return cordon_fail_errno(err, errno, "listen on '%.100s'", text);
	h.port = ntohs(is_four ? four.sin_port : six.sin6_port);
	host_format(&h, shown);
	*ret_address = strdup(shown);
	if (!*ret_address)
		return cordon_nomem(err);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* A socket that nobody listens at any more is in the way; anything else stays. */
static int outlet_clear(const struct sockaddr_un *a, struct cordon_error *err)
{
	struct stat st;
	AUTO_CLOSE int fd = -1;

	if (lstat(a->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : cordon_fail_errno(err, errno, "'%.108s'", a->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "a socket");
	if (!S_ISSOCK(st.st_mode) || connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 ||
	    errno != ECONNREFUSED)
		return cordon_fail(err, CORDON_E_INVALID, "'%.108s' is already there", a->sun_path);
	return unlink(a->sun_path) < 0
		       ? cordon_fail_errno(err, errno, "remove '%.108s'", a->sun_path)
		       : 0;
}

static int outlet_listen_unix(const char *path, int *ret_fd, char **ret_address,
			      struct cordon_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AUTO_FREE char *cwd = NULL;
	AUTO_FREE char *full = NULL;
	AUTO_CLOSE int fd = -1;
	int r;

	cwd = getcwd(NULL, 0);
	if (!cwd)
		return cordon_fail_errno(err, errno, "the current directory");
	r = path_join(cwd, path, &full);
	if (r < 0)
		return cordon_fail_leaf(err, r, "'%.200s'", path);
	if (strlen(full) >= sizeof(a.sun_path))
		return cordon_fail(err, CORDON_E_LIMIT, "'%.200s': longer than %zu bytes", full,
				   sizeof(a.sun_path) - 1);
	memcpy(a.sun_path, full, strlen(full) + 1);
	r = outlet_clear(&a, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* The mode of the socket before it has a name is the mode that the name gets. */
	if (fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return cordon_fail_errno(err, errno, "listen at '%.108s'", full);
	if (chmod(full, 0600) < 0 || listen(fd, OUTLET_BACKLOG) < 0) {
		r = cordon_fail_errno(err, errno, "listen at '%.108s'", full);
		(void)unlink(full);
		return r;
	}
	*ret_address = TAKE_PTR(full);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int outlet_listen(const char *listen, const char *unix_path, int *ret_fd, char **ret_address,
		  struct cordon_error *err)
{
	return unix_path ? outlet_listen_unix(unix_path, ret_fd, ret_address, err)
			 : outlet_listen_tcp(listen ? listen : "127.0.0.1:0", ret_fd, ret_address,
					     err);
}
