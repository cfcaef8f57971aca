/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See external.h.  The program is the one in the place that was fixed when we were built or, where there is none, the
 * one beside the command (as in a build directory); PATH is never asked.  It is opened, looked at and executed by that descriptor, with no
 * words and no variables; what it has to know goes through a socket and is wiped here as soon as it is on its way.
 */
#include "proxy/external.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/libexec.h"
#include "base/mem.h"
#include "base/path.h"
#include "proxy/brief.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXTERNAL_NAME "cordon-proxy"

/* Executes it, or leaves: only between fork() and execve(). */
struct external_child {
	int program;
	int control;
	int brief;
	int tally;
	pid_t parent;
};

int external_open(const char *dir, const char *self, const char *const *writable)
{
	return libexec_open_in(EXTERNAL_NAME, dir, self, writable);
}

static int external_find(const struct proxy_options *o)
{
	return libexec_open(EXTERNAL_NAME, o->writable);
}

_Noreturn static void external_exec(const struct external_child *c)
{
	static char name[] = EXTERNAL_NAME;
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	const int wanted[] = {c->control, c->brief, c->tally, c->program};
	int high[ARRAY_LEN(wanted)];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	/* First out of the way of one another, then to their places. */
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		high[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC,
				EXTERNAL_CONTROL + (int)ARRAY_LEN(wanted));
		if (high[i] < 0)
			_exit(1);
	}
	for (size_t i = 0; i < ARRAY_LEN(wanted) - 1; i++)
		if (dup2(high[i], EXTERNAL_CONTROL + (int)i) < 0)
			_exit(1);
	if (dup3(high[3], EXTERNAL_CONTROL + 3, O_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, EXTERNAL_CONTROL + 4U, ~0U, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != c->parent)
		_exit(1);
	(void)syscall(SYS_execveat, EXTERNAL_CONTROL + 3, "", argv, envp, AT_EMPTY_PATH);
	_exit(1);
}

/* Memory that both write and read, and neither can make shorter under the other. */
static int external_tally(const struct proxy_options *o, struct proxy *p)
{
	AUTO_CLOSE int fd = memfd_create("cordon-tally", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	off_t size = o->is_alone ? EXTERNAL_LOG_AT + (off_t)sizeof(*p->log)
				 : (off_t)sizeof(*p->tally);

	if (fd < 0 || ftruncate(fd, size) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	p->tally = mmap(NULL, sizeof(*p->tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p->tally == MAP_FAILED) {
		p->tally = NULL;
		return -errno;
	}
	p->log = !o->is_alone ? NULL
			      : mmap(NULL, sizeof(*p->log), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     EXTERNAL_LOG_AT);
	if (p->log == MAP_FAILED) {
		p->log = NULL;
		return -errno;
	}
	return TAKE_FD(fd);
}

/* Sends what has to be known, and hears the certificate. */
static int external_talk(const struct proxy_options *o, int fd, char **ret_pem)
{
	struct buf brief = BUF_SECRET(BRIEF_MAX);
	int64_t deadline = clock_deadline(EXTERNAL_START_MS);
	size_t len = 0;
	int r;

	brief_write(o, &brief);
	r = buf_error(&brief);
	/* A broken pipe is an answer here, not a signal: it is a socket, and io_write() knows nothing of that. */
	for (size_t at = 0; r == 0 && at < brief.len;) {
		ssize_t n = send(fd, brief.data + at, brief.len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			r = -errno;
		else if (n > 0)
			at += (size_t)n;
	}
	buf_done(&brief);
	if (r == 0 && shutdown(fd, SHUT_WR) < 0)
		r = -errno;
	if (r == 0)
		r = io_read_all(fd, EXTERNAL_PEM_MAX, deadline, ret_pem, &len);
	/* One of another version says nothing, or that it is. */
	if (r == 0 && (strlen(*ret_pem) != len || !strstr(*ret_pem, "-----BEGIN "))) {
		free(TAKE_PTR(*ret_pem));
		r = -EPROTO;
	}
	return r;
}

static int external_spawn(const struct external_child *c, struct proxy *ret)
{
	int r;

	ret->proc.pid = fork();
	if (ret->proc.pid == 0)
		external_exec(c);
	r = ret->proc.pid < 0 ? -errno : 0;
	if (r == 0) {
		ret->proc.pidfd = (int)syscall(SYS_pidfd_open, ret->proc.pid, 0);
		r = ret->proc.pidfd < 0 ? -errno : 0;
	}
	return r;
}

/* Starts it with the ends of both pairs that are its own, and closes those here. */
static int external_run(const struct proxy_options *o, int program, int tally, struct proxy *ret)
{
	int control[2] = {-1, -1};
	int brief[2] = {-1, -1};
	int r = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, brief) < 0)
		r = -errno;
	if (r == 0)
		r = external_spawn(&(struct external_child){.program = program,
							    .control = control[1],
							    .brief = brief[1],
							    .tally = tally,
							    .parent = getpid()},
				   ret);
	(void)fd_close(control[1]);
	(void)fd_close(brief[1]);
	ret->control = control[0];
	if (r == 0)
		r = external_talk(o, brief[0], &ret->authority_pem);
	(void)fd_close(brief[0]);
	return r;
}

int external_start(const struct proxy_options *o, struct proxy *ret, struct cordon_error *err)
{
	AUTO_CLOSE int program = external_find(o);
	AUTO_CLOSE int tally = -1;
	int r;

	*ret = PROXY_NONE;
	if (program < 0)
		return cordon_hint(
			err, cordon_fail_leaf(err, program, "open " EXTERNAL_NAME),
			"rules with methods or paths, and secrets at the boundary, need that "
			"program in %s or beside the command, where nobody else can write and no "
			"call can",
			libexec_dir);
	tally = external_tally(o, ret);
	r = tally < 0 ? tally : external_run(o, program, tally, ret);
	if (r < 0) {
		bool is_other = r == -EPROTO;

		ret->control = fd_close(ret->control); /* without it a child ends by itself */
		proxy_done(ret);
		r = cordon_fail_leaf(err, r, "start " EXTERNAL_NAME);
		return is_other ? cordon_hint(err, r,
					      "it did not answer as that of version " CORDON_VERSION
					      " does; is another one in %s?",
					      libexec_dir)
				: r;
	}
	return 0;
}
