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
#include "run/show.h"
#include "hook/reply.h"
#include "hook/withhold.h"

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

/* What one of the two children does. */
struct guard_job {
	const struct hook_options *options;
	const char *text;
	size_t len;
	const char *
		why; /* the inspection failed, and this is the one that withholds; NULL: it is the inspection */
};

/* In the child.  Never returns. */
static _Noreturn void guard_work(const struct guard_job *job, int fd)
{
	const struct rlimit none = {0};
	struct buf out = BUF_INIT(4 * (size_t)LIMIT_HOOK_BYTES), line = BUF_INIT(65536);
	struct guard_frame frame = {.magic = GUARD_MAGIC};
	int code = HOOK_EXIT_DENY;
	int r;

	(void)!prctl(PR_SET_PDEATHSIG, SIGKILL); /* a leftover would only be slow */
	(void)!setrlimit(RLIMIT_CORE, &none);    /* what we read may hold secrets */
	if (job->why) {
		hook_withhold(job->options->dialect, job->text, job->len, job->why, &out, &code);
		buf_printf(&line, "cordon: hook: %s, because %s\n",
			   code == HOOK_EXIT_DENY ? "denied" : "withheld", job->why);
	} else {
		shield_fault("hook-crash");
		hook_work(job->options, job->text, job->len, &out, &line, &code);
	}
	frame.code = (uint32_t)code;
	frame.out_len = (uint32_t)out.len;
	frame.line_len = (uint32_t)line.len;
	r = buf_error(&out) < 0 ? buf_error(&out) : buf_error(&line);
	if (!job->why)
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

	if (show_write(STDOUT_FILENO, out, frame->out_len, deadline) < 0 ||
	    show_write(STDERR_FILENO, out + frame->out_len, frame->line_len, deadline) < 0)
		return HOOK_EXIT_DENY;
	return (int)frame->code;
}

/* Gives a child the job and its answer to the agent.  NULL when that went well; else what is wrong. */
static const char *guard_ask(const struct guard_job *job, int64_t deadline, int *ret_code)
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
		return "no pipe could be made";
	reader = fds[0];
	writer = fds[1];
	r = proc_clone(0, &worker);
	if (r < 0)
		return "no process could be made";
	if (r == 0)
		guard_work(job, writer);
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
	if (!wrong)
		*ret_code = guard_reply(data, &frame, deadline);
	return wrong;
}

/* Whatever can be read of the question by the deadline, also where that is not all.  NULL: it is. */
static const char *guard_read(struct buf *text, int64_t deadline)
{
	char chunk[16384] __attribute__((uninitialized));

	for (;;) {
		struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
		int ready = poll(&p, 1, clock_poll_timeout(deadline));
		ssize_t n = ready > 0 ? read(STDIN_FILENO, chunk, sizeof(chunk)) : -1;

		if (ready == 0)
			return "the input did not end in time";
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return "the input could not be read";
		if (n == 0)
			return NULL;
		if ((size_t)n > text->max - text->len)
			return "the input is too large";
		buf_add(text, chunk, (size_t)n);
		if (buf_error(text) < 0)
			return "the input could not be kept";
	}
}

int hook_main(const struct hook_options *o)
{
	int64_t deadline = clock_deadline(o->deadline_ms);
	AUTO(buf_done) struct buf text = BUF_INIT(LIMIT_HOOK_BYTES);
	struct guard_job job = {.options = o};
	const char *wrong;
	int code = HOOK_EXIT_DENY;

	/* A signal for a reader that went away would be an exit that lets the call go on. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return guard_deny("signals cannot be set");
	wrong = guard_read(&text, deadline);
	job.text = buf_cstr(&text);
	job.len = text.len;
	if (!wrong)
		wrong = guard_ask(&job, deadline, &code);
	if (!wrong)
		return code;
	job.why = wrong;
	/* The agent still waits: its time is longer than both of ours. */
	if (guard_ask(&job, clock_deadline(HOOK_WITHHOLD_MS), &code))
		return guard_deny(wrong);
	return code;
}
