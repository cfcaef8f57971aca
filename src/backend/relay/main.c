/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-relay [-r] [-n] [-c DEVICE] SOCKET [COMMAND [ARG...]]: see relay.h.  Static, so that it needs nothing of what is inside.
 */
#include "backend/relay/mux.h"
#include "backend/relay/relay.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAIN_FAILED 125
#define MAIN_FILES 256 /* that can be open here */

static int main_usage(void)
{
	(void)fputs("usage: cordon-relay [-r] [-n] [-c DEVICE] SOCKET [COMMAND [ARG...]]\n",
		    stderr);
	return MAIN_FAILED;
}

static int main_failed(const char *what, int error)
{
	(void)fprintf(stderr, "cordon-relay: %s: %s%s\n", what, strerror(error),
		      error == ENOTUNIQ ? " (a network is redirected only where loopback is all "
					  "there is)"
					: "");
	return MAIN_FAILED;
}

/* Leaves nothing open but these. */
static void main_keep(const int *fds, size_t n)
{
	/* One by one: close_range() is not everywhere inside. */
	for (int fd = 0; fd < MAIN_FILES; fd++) {
		bool is_kept = false;

		for (size_t i = 0; i < n; i++)
			is_kept = is_kept || fds[i] == fd;
		if (!is_kept)
			(void)close(fd);
	}
	(void)syscall(SYS_close_range, (unsigned)MAIN_FILES, ~0U, 0);
}

static _Noreturn void main_serve(const struct relay *r)
{
	main_keep(r->sockets, CAPTURE_SOCKETS);
	(void)prctl(PR_SET_NAME, "cordon-relay");
	(void)prctl(PR_SET_DUMPABLE, 0);
	relay_serve(r);
}

static _Noreturn void main_mux(int channel, int listener)
{
	const struct mux m = {.channel = channel, .listener = listener};

	main_keep((const int[]){channel, listener}, 2);
	(void)prctl(PR_SET_NAME, "cordon-mux");
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	_exit(mux_serve(&m) < 0);
}

/* A child that ends with us, whatever we become.  As fork(). */
static pid_t main_child(void)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(1);
	return pid;
}

/* The hatch is ours, and leads to the channel. */
static int main_channel(const char *device, const char *path)
{
	AUTO_CLOSE int channel = open(device, O_RDWR | O_CLOEXEC | O_NOCTTY);
	AUTO_CLOSE int listener = -1;
	pid_t pid;
	int r;

	if (channel < 0)
		return -errno;
	r = hatch_listen(AT_FDCWD, path, 0666, &listener);
	if (r < 0)
		return r;
	pid = main_child();
	if (pid == 0)
		main_mux(channel, listener);
	return pid < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	unsigned flags = 0;
	struct relay relay;
	pid_t pid;
	int at;
	int r;

	for (at = 1; at < argc && argv[at][0] == '-'; at++) {
		if (strcmp(argv[at], "-r") == 0)
			flags |= RELAY_REDIRECTS;
		else if (strcmp(argv[at], "-n") == 0)
			flags |= RELAY_NAMELESS;
		else if (strcmp(argv[at], "-c") == 0 && at + 1 < argc)
			device = argv[++at];
		else
			return main_usage();
	}
	if (at >= argc)
		return main_usage();
	r = relay_open(argv[at], flags, &relay);
	if (r < 0)
		return main_failed("listen", -r);
	r = device ? main_channel(device, argv[at]) : 0;
	if (r < 0)
		return main_failed(device, -r);
	if (at + 1 == argc)
		main_serve(&relay);
	pid = main_child();
	if (pid < 0)
		return main_failed("fork", errno);
	if (pid == 0)
		main_serve(&relay);
	(void)execvp(argv[at + 1], argv + at + 1);
	return main_failed(argv[at + 1], errno); /* our end is theirs */
}
