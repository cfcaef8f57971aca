/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: machine-bench PLACE ROUNDS [kvm]: how long one of our machines takes until it waits for a call, booted and from a
 * template, in turns.  Prints "boot MICROSECONDS" and "template MICROSECONDS" lines.
 *
 * The same command lines, files and first word as of a call, without the room around the emulator; PLACE, an empty
 * directory, stands for the view.  The clock starts before anything is opened or copied for the machine.
 */
#include "backend/launch/tool.h"
#include "backend/vm/control.h"
#include "backend/vm/room.h"
#include "backend/vm/template.h"
#include "backend/vm/wire.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BENCH_WAIT_MS 120000
#define BENCH_MEMORY_MB 1024
#define BENCH_FDS_SAFE 64

struct bench {
	const char *place;
	int tool;
	int kernel;
	int initrd;
	struct vm_store store;
	struct machine machine;
	struct vm_link link;
};

_Noreturn static void bench_fail(const char *what, int r)
{
	(void)fprintf(stderr, "machine-bench: %s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(1);
}

/* The words of a machine, with PLACE instead of the view. */
static void bench_words(const struct bench *b, struct strv *out)
{
	struct strv words = {0};

	if (machine_line(&b->machine, &words) < 0)
		bench_fail("words", ENOMEM);
	for (size_t i = 0; i < words.n; i++) {
		const char *view = strstr(words.v[i], "path=" ROOM_VIEW);
		int r = !view ? strv_add(out, words.v[i])
			      : strv_addf(out, "%.*spath=%s%s", (int)(view - words.v[i]),
					  words.v[i], b->place, view + strlen("path=" ROOM_VIEW));

		if (r < 0)
			bench_fail("words", r);
	}
	strv_done(&words);
}

_Noreturn static void bench_execute(const struct bench *b, int *fds, size_t n)
{
	static char *const none[] = {NULL};
	struct strv words = {0};

	bench_words(b, &words);
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			fds[i] = fd_dup(fds[i], BENCH_FDS_SAFE);
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0 && dup3(fds[i], MACHINE_FD_LINK + (int)i, 0) < 0)
			_exit(127);
	(void)fexecve(b->tool, words.v, none);
	_exit(127);
}

/* Starts the emulator; the ends that are ours are in ret: link and control. */
static pid_t bench_start(struct bench *b, int ram, int state, int ret[static 2])
{
	int pairs[3][2];
	pid_t pid;

	for (size_t i = 0; i < 3; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) < 0)
			bench_fail("sockets", errno);
	pid = fork();
	if (pid == 0) {
		int fds[] = {pairs[0][1], pairs[1][1], pairs[2][1], b->kernel,
			     b->initrd,   ram,         state};

		bench_execute(b, fds, ARRAY_LEN(fds));
	}
	for (size_t i = 0; i < 3; i++)
		(void)close(pairs[i][1]);
	(void)close(pairs[2][0]); /* no network */
	ret[0] = pairs[0][0];
	ret[1] = pairs[1][0];
	b->link = (struct vm_link){.fd = pairs[0][0]};
	if (pid < 0 || fd_nonblock(b->link.fd, true) < 0)
		bench_fail("start", errno);
	return pid;
}

static void bench_ready(struct bench *b)
{
	int64_t deadline = clock_deadline(BENCH_WAIT_MS);
	struct vm_frame f;
	int r;

	while ((r = vm_link_next(&b->link, &f)) == 0) {
		struct pollfd p = {.fd = b->link.fd, .events = POLLIN};

		if (poll(&p, 1, clock_poll_timeout(deadline)) == 0)
			bench_fail("ready", ETIMEDOUT);
	}
	if (r < 0 || f.head.type != VM_READY)
		bench_fail("ready", r < 0 ? r : EPROTO);
}

static void bench_end(pid_t pid, const int fds[static 2])
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void bench_say(const char *what, int64_t from_ns)
{
	(void)printf("%s %lld\n", what, (long long)((clock_ns() - from_ns) / 1000));
	(void)fflush(stdout);
}

static void bench_boot(struct bench *b)
{
	int64_t from = clock_ns();
	int ours[2];
	pid_t pid;

	b->machine.start = MACHINE_BOOT;
	pid = bench_start(b, -1, -1, ours);
	bench_ready(b);
	bench_say("boot", from);
	bench_end(pid, ours);
}

static void bench_save(struct bench *b, const char *name)
{
	struct vm_draft draft;
	int ours[2];
	pid_t pid;
	int r = vm_draft_make(&b->store, b->machine.memory_mb, &draft);

	if (r < 0)
		bench_fail("draft", r);
	b->machine.start = MACHINE_TEMPLATE;
	pid = bench_start(b, draft.ram, draft.state, ours);
	bench_ready(b);
	r = control_save(ours[1], draft.state, clock_deadline(BENCH_WAIT_MS));
	bench_end(pid, ours);
	if (r == 0)
		r = vm_draft_keep(&b->store, name, &draft);
	if (r < 0)
		bench_fail("save", r);
	vm_draft_done(&b->store, &draft);
}

static void bench_resume(struct bench *b, const char *name)
{
	int64_t from = clock_ns();
	struct vm_template t = VM_TEMPLATE_NONE;
	int ours[2];
	pid_t pid;
	int r = vm_template_open(&b->store, name, b->machine.memory_mb, &t);

	if (r < 0)
		bench_fail("template", r);
	b->machine.start = MACHINE_RESUME;
	pid = bench_start(b, t.ram, t.state, ours);
	r = vm_template_fill(t.source, t.ram);
	if (r == 0)
		r = control_load(ours[1], MACHINE_FD_STATE, clock_deadline(BENCH_WAIT_MS));
	if (r < 0)
		bench_fail("load", r);
	vm_link_put(&b->link, VM_READY, 0, NULL, 0);
	if (vm_link_flush(&b->link) < 0)
		bench_fail("ask", EPIPE);
	bench_ready(b);
	bench_say("template", from);
	bench_end(pid, ours);
	vm_template_done(&t);
}

int main(int argc, char **argv)
{
	static struct bench b = {.machine = {.memory_mb = BENCH_MEMORY_MB}};
	char name[VM_TEMPLATE_NAME_MAX];
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX > VM_WHY_MAX ? TOOL_WHY_MAX : VM_WHY_MAX];
	struct cordon_error err = {0};
	struct vm_kernel kernel;
	int64_t rounds;

	if (argc < 3 || parse_int(argv[2], 1, 1000, &rounds) < 0)
		bench_fail("usage: PLACE ROUNDS [kvm]", EINVAL);
	b.place = argv[1];
	b.machine.has_kvm = argc > 3;
	b.tool = tool_open(MACHINE_PROGRAM, path, why);
	if (b.tool < 0 || vm_kernel_find(&kernel, why) < 0) {
		(void)fprintf(stderr, "%s\n", why);
		return 1;
	}
	if (vm_store_open(kernel.key, &b.store, &err) < 0 ||
	    vm_kernel_open(&kernel, &b.store, &b.kernel, &b.initrd, &err) < 0 ||
	    vm_store_lock(&b.store, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	if (vm_template_name(&b.machine, b.tool, name) < 0)
		bench_fail("name", EIO);
	bench_save(&b, name);
	for (int64_t i = 0; i < rounds; i++) {
		bench_boot(&b);
		bench_resume(&b, name);
	}
	return 0;
}
