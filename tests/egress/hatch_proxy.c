/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy behind a hatch, as an engine has it, for tests/egress/hatch: listens in a directory, puts the relay's program
 * beside the socket, and serves until its input ends.  Then it prints what was refused and allowed.
 *
 * usage: hatch-proxy DIRECTORY NETWORK HOST...      NETWORK: of the special ranges, opened
 *
 * Beside the socket there is a channel of bytes to it, as a virtual machine has one: a terminal, which holds little at a
 * time.  Prints the number of the proxy's process and the name of that terminal.
 */
#include "backend/relay/mux.h"
#include "backend/relay/relay.h"
#include "base/fd.h"
#include "proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define HATCH_PROXY_HOSTS 16

static int fail(const char *what, struct cordon_error *err)
{
	(void)fprintf(stderr, "hatch-proxy: %s: %s\n", what, err->message);
	return 125;
}

static int dial(void *data)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/hatch", (const char *)data);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return fd_close(fd);
	return fd;
}

/* The far end of the channel, in a process of its own that ends with it. */
static pid_t start_channel(char *dir, char *name, size_t size)
{
	struct mux m = {.channel = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC),
			.listener = -1,
			.dial = dial,
			.data = dir};
	struct termios raw;
	pid_t pid;

	if (m.channel < 0 || grantpt(m.channel) < 0 || unlockpt(m.channel) < 0 ||
	    ptsname_r(m.channel, name, size) != 0 || tcgetattr(m.channel, &raw) < 0)
		return -1;
	cfmakeraw(&raw);
	if (tcsetattr(m.channel, TCSANOW, &raw) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		int r;

		(void)signal(SIGPIPE, SIG_IGN);
		r = mux_serve(&m);
		_exit(r == -EPROTO ? 3 : 0); /* the end of a terminal is an error */
	}
	(void)fd_close(m.channel);
	return pid;
}

static void print_tally(const struct proxy_tally *t)
{
	for (uint32_t i = 0; i < t->n && i < PROXY_RECORDS; i++)
		(void)printf("%s\t%s:%u\t%u\t%s\t%s\n",
			     t->records[i].is_allowed ? "allowed" : "refused", t->records[i].host,
			     (unsigned)t->records[i].port, t->records[i].count, t->records[i].rule,
			     t->records[i].remedy);
}

int main(int argc, char **argv)
{
	struct cordon_error err = {0};
	struct authority_entry entries[HATCH_PROXY_HOSTS] = {0};
	struct addr_cidr opened;
	struct authority authority = {.mode = AUTHORITY_ALLOWLIST,
				      .allowed = entries,
				      .exceptions = &opened,
				      .n_exceptions = 1};
	struct proxy_options o = {.authority = &authority, .limits = PROXY_LIMITS};
	struct proxy_sockets sockets = PROXY_SOCKETS_NONE;
	struct proxy proxy = PROXY_NONE;
	char name[64];
	pid_t channel;
	int status = 0;
	int dir = argc > 3 ? open(argv[1], O_DIRECTORY | O_RDONLY | O_CLOEXEC) : -1;
	char byte;

	if (dir < 0 || argc - 3 > HATCH_PROXY_HOSTS)
		return 125;
	if (addr_cidr_parse(argv[2], &opened, &err) < 0)
		return fail(argv[2], &err);
	for (int i = 3; i < argc; i++) {
		struct authority_entry *e = &entries[authority.n_allowed++];

		if (hostrule_parse(argv[i], strlen(argv[i]), &e->host, &err) < 0)
			return fail(argv[i], &err);
		e->name = argv[i];
	}
	if (hatch_listen(dir, "hatch", 0666, &sockets.hatch) < 0 || relay_install(dir, "relay") < 0)
		return fail("listen", &err);
	if (proxy_start(&o, &proxy, &err) < 0 || proxy_give(&proxy, &sockets, &err) < 0)
		return fail("start", &err);
	(void)fd_close(sockets.hatch);
	channel = start_channel(argv[1], name, sizeof(name));
	if (channel < 0)
		return fail("channel", &err);
	(void)printf("%d\n%s\n", (int)proxy.proc.pid, name);
	(void)fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	(void)kill(channel, SIGTERM);
	if (waitpid(channel, &status, 0) == channel && WIFEXITED(status) && WEXITSTATUS(status))
		(void)printf("broken\n");
	proxy_stop(&proxy);
	print_tally(proxy.tally);
	proxy_done(&proxy);
	return 0;
}
