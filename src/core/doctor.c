/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children in which mechanisms are tried.  A child is held by its pidfd,
 * answers through a pipe, and is killed when its time is over or when we die; one with a pid namespace
 * takes everything it started with it.
 */
#include "core/doctor_probe.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DOCTOR_REAP_MS = 200 }; /* after SIGKILL */

void doctor_good(struct doctor_row *ret, const char *fmt, ...)
{
	va_list ap;

	ret->works = true;
	ret->fix[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(ret->detail, sizeof(ret->detail), fmt, ap);
	va_end(ap);
}

void doctor_bad(struct doctor_row *ret, int error, const char *what, const char *fix)
{
	ret->works = false;
	(void)snprintf(ret->detail, sizeof(ret->detail), "%s%s%s", what, error ? ": " : "",
		       error ? strerror(error) : "");
	(void)snprintf(ret->fix, sizeof(ret->fix), "%s", fix);
}

/* The child: tries, tells, ends. */
static _Noreturn void doctor_child(const struct doctor_mechanism *m, const struct doctor_context *c,
				   int fd, struct doctor_row *row)
{
	struct pollfd reader = {.fd = fd};

	/* If the doctor is killed, so is this; but one that has something to take back finishes first,
	 * which takes milliseconds. */
	if (!m->after)
		(void)!proc_tie(0); /* its parent has no number in a namespace of its own */
	/* One that was killed before sends no signal, and in a namespace it has no number: nobody reads. */
	if (poll(&reader, 1, 0) != 0)
		_exit(1);
	m->probe(c, row);
	_exit(io_write(fd, row, sizeof(*row), CLOCK_NEVER) < 0);
}

/* Kills it if it still runs, and waits until it is gone. */
static void doctor_end(struct proc *p, struct proc_exit *ret)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	(void)!proc_signal(p, SIGKILL); /* fails when it is gone */
	(void)poll(&fd, 1, DOCTOR_REAP_MS);
	if (proc_reap(p, ret) <= 0)
		proc_done(p);
}

static void doctor_no_child(int error, struct doctor_row *ret)
{
	doctor_bad(ret, error, "cannot start a process to try it in",
		   "allow clone3(2) with CLONE_PIDFD: kernel 5.3 or newer, and a seccomp profile "
		   "around us that does not refuse it");
}

static void doctor_run(const struct doctor_mechanism *m, const struct doctor_context *c,
		       int64_t deadline, struct doctor_row *row)
{
	struct proc_exit ended = {0};
	struct proc p = PROC_NONE;
	struct doctor_row answer;
	int fds[2];
	ssize_t n;
	int r;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		doctor_bad(row, errno, "cannot make a pipe", "raise the limit of open files");
		return;
	}
	r = proc_clone(m->namespaces, &p);
	if (r == 0) {
		(void)fd_close(fds[0]);
		doctor_child(m, c, fds[1], row);
	}
	(void)fd_close(fds[1]);
	if (r < 0) {
		(void)fd_close(fds[0]);
		(m->cannot_start ? m->cannot_start : doctor_no_child)(-r, row);
		return;
	}
	n = io_read(fds[0], &answer, sizeof(answer), deadline);
	(void)fd_close(fds[0]);
	doctor_end(&p, &ended);
	if (n == (ssize_t)sizeof(answer))
		*row = answer;
	else if (n == -ETIMEDOUT)
		doctor_bad(row, 0, "no answer within its time",
			   "run it again when the machine is less busy");
	else
		doctor_bad(row, 0, "the process that tried it was killed",
			   "look into the kernel log (dmesg): a security module or seccomp profile "
			   "around us kills it");
}

size_t doctor_mechanisms(struct doctor_row ret[static DOCTOR_MECHANISMS_MAX])
{
	struct doctor_context c = {.uid = geteuid(), .gid = getegid()};
	int64_t end = clock_deadline(DOCTOR_TOTAL_MS);
	size_t n;
	const struct doctor_mechanism *table = doctor_table(&n);
	struct stat st;

	if (stat("/proc/self/ns/mnt", &st) == 0)
		c.mount_ns = (uint64_t)st.st_ino;
	for (size_t i = 0; i < n; i++) {
		const struct doctor_mechanism *m = &table[i];
		int64_t deadline = clock_deadline(DOCTOR_PROBE_MS);

		ret[i] = (struct doctor_row){.works = false};
		(void)snprintf(ret[i].name, sizeof(ret[i].name), "%s", m->name);
		if (clock_ms() >= end) {
			doctor_bad(&ret[i], 0, "not tried: the time for all of them was over",
				   "run it again when the machine is less busy");
			continue;
		}
		doctor_run(m, &c, deadline < end ? deadline : end, &ret[i]);
		if (m->after)
			m->after(&c);
	}
	return n;
}
