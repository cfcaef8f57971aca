/* SPDX-License-Identifier: Apache-2.0 */
/* See guard.h. */
#include "hook/guard.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json_check.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/shield.h"
#include "hook/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the worker sends, whole and once: this, the answer, the line. */
struct guard_frame {
	uint32_t magic;
	uint32_t code;
	uint32_t out_len;
	uint32_t line_len;
};

#define GUARD_MAGIC 0x6b6f6f68U

static int guard_deny(const char *why)
{
	log_error("hook: denied, because %s", why);
	return HOOK_EXIT_DENY;
}

/* In the child.  Never returns. */
static _Noreturn void guard_work(const struct hook_options *o, const char *text, size_t len, int fd)
{
	const struct rlimit none = {0};
	struct buf out = BUF_INIT(4 * (size_t)LIMIT_HOOK_BYTES), line = BUF_INIT(65536);
	struct guard_frame frame = {.magic = GUARD_MAGIC};
	int code = HOOK_EXIT_DENY;
	int r;

	(void)!prctl(PR_SET_PDEATHSIG, SIGKILL); /* a leftover would only be slow */
	(void)!setrlimit(RLIMIT_CORE, &none);    /* what we read may hold secrets */
	shield_fault("hook-crash");
	hook_work(o, text, len, &out, &line, &code);
	frame.code = (uint32_t)code;
	frame.out_len = (uint32_t)out.len;
	frame.line_len = (uint32_t)line.len;
	r = buf_error(&out) < 0 ? buf_error(&out) : buf_error(&line);
	shield_fault_frame(&frame.magic, &out);
	if (r == 0)
		r = io_write(fd, &frame, sizeof(frame), CLOCK_NEVER);
	if (r == 0)
		r = io_write(fd, buf_cstr(&out), out.len, CLOCK_NEVER);
	if (r == 0)
		r = io_write(fd, buf_cstr(&line), line.len, CLOCK_NEVER);
	_exit(r == 0 ? 0 : 1);
}

/* Has the worker ended well?  It has closed its end already, so this does not wait long. */
static const char *guard_reap(struct proc *worker, int64_t deadline)
{
	struct pollfd p = {.fd = worker->pidfd, .events = POLLIN};
	struct proc_exit end;

	while (poll(&p, 1, clock_poll_timeout(deadline)) < 0 && errno == EINTR)
		;
	if (proc_reap(worker, &end) != 1)
		return "the inspection did not end in time";
	if (end.signal)
		return "the inspection crashed";
	return end.code == 0 ? NULL : "the inspection failed";
}

/* NULL when the answer is whole; else what is wrong with it. */
static const char *guard_check(const char *data, size_t len, struct guard_frame *ret)
{
	const char *out = data + sizeof(*ret);

	if (len < sizeof(*ret))
		return "the inspection gave no answer";
	memcpy(ret, data, sizeof(*ret));
	if (ret->magic != GUARD_MAGIC ||
	    (uint64_t)sizeof(*ret) + ret->out_len + ret->line_len != len)
		return "the inspection's answer is damaged";
	if (ret->code != HOOK_EXIT_PASS && ret->code != HOOK_EXIT_DENY)
		return "the inspection's answer has no meaning";
	if (ret->code == HOOK_EXIT_DENY && ret->line_len == 0)
		return "the inspection gave no reason";
	if (ret->out_len > 0 && (out[0] != '{' || json_check(out, ret->out_len) < 0))
		return "the inspection's answer is not JSON";
	return NULL;
}

static int guard_reply(const char *data, const struct guard_frame *frame, int64_t deadline)
{
	const char *out = data + sizeof(*frame);

	if (io_write(STDOUT_FILENO, out, frame->out_len, deadline) < 0 ||
	    io_write(STDERR_FILENO, out + frame->out_len, frame->line_len, deadline) < 0)
		return HOOK_EXIT_DENY;
	return (int)frame->code;
}

static int guard_ask(const struct hook_options *o, const char *text, size_t len, int64_t deadline)
{
	AUTO(proc_done) struct proc worker = PROC_NONE;
	AUTO_CLOSE int reader = -1;
	AUTO_CLOSE int writer = -1;
	AUTO_FREE char *data = NULL;
	struct guard_frame frame;
	const char *wrong;
	size_t n = 0;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return guard_deny("no pipe could be made");
	reader = fds[0];
	writer = fds[1];
	r = proc_clone(0, &worker);
	if (r < 0)
		return guard_deny("no process could be made");
	if (r == 0)
		guard_work(o, text, len, writer);
	writer = fd_close(writer);
	r = io_read_all(reader, 5 * (size_t)LIMIT_HOOK_BYTES, deadline, &data, &n);
	if (r < 0)
		(void)!proc_signal(&worker, SIGKILL); /* it may have ended by itself */
	wrong = guard_reap(&worker, r < 0 ? clock_deadline(1000) : deadline);
	if (r < 0)
		wrong = r == -ETIMEDOUT ? "the inspection took too long"
					: "the inspection's answer could not be read";
	if (!wrong)
		wrong = guard_check(data, n, &frame);
	return wrong ? guard_deny(wrong) : guard_reply(data, &frame, deadline);
}

int hook_main(const struct hook_options *o)
{
	int64_t deadline = clock_deadline(o->deadline_ms);
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r;

	/* A signal for a reader that went away would be an exit that lets the call go on. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return guard_deny("signals cannot be set");
	r = io_read_all(STDIN_FILENO, LIMIT_HOOK_BYTES, deadline, &text, &len);
	if (r == -EFBIG)
		return guard_deny("the input is too large");
	if (r == -ETIMEDOUT)
		return guard_deny("the input did not end in time");
	if (r < 0)
		return guard_deny("the input could not be read");
	return guard_ask(o, text, len, deadline);
}
