/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: starts a planned call through a backend, keeps its time and output limits, passes
 * signals on, and says how it ended.  It works the same at every level; what it enforces needs no
 * isolation.
 */
#pragma once

#include "backend/backend.h"
#include "base/buf.h"
#include "run/stage.h"

#include <stdbool.h>
#include <stdint.h>

#define SUPERVISE_GRACE_MS 2000      /* between SIGTERM and SIGKILL */
#define SUPERVISE_DRAIN_MS 100       /* for output of others that hold the pipe after the end */
#define SUPERVISE_KILL_WAIT_MS 10000 /* for a process to go after SIGKILL */

/* Between two looks at the memory of a call without a control group, by how much of the limit is used. */
#define SUPERVISE_SAMPLE_NEAR_MS 20
#define SUPERVISE_SAMPLE_FAR_MS 100

#define SUPERVISE_OOM_LOOK_MS 5 /* between looks at the counter after a report of memory trouble */
#define SUPERVISE_OOM_LOOKS 40  /* then it was a false alarm */

/* Exit codes that are ours, not the command's. */
#define SUPERVISE_EXIT_TIMEOUT 124
#define SUPERVISE_EXIT_REFUSED 126
#define SUPERVISE_EXIT_NOT_FOUND 127
#define SUPERVISE_EXIT_SIGNAL 128 /* plus the signal */
#define SUPERVISE_EXIT_OOM 137

struct supervise_options {
	int64_t timeout_ms; /* negative: none */
	int64_t grace_ms;
	struct plan_limit max_output_bytes; /* of stdout and stderr together */
	bool captures; /* keep up to LIMIT_CAPTURE_BYTES of each stream in the result */
	bool is_quiet; /* do not pass the output on; only together with captures */
	/* Who reads the streams on their way: for all or for none. */
	const struct stage *stages[STAGE_STREAM_COUNT];
	/* The command gets a terminal of its own where ours would be its (terminal.h). */
	bool uses_terminal;
	const struct strv *sensitive; /* files whose opening is written down in plan->seen; or NULL */
	bool forwards_signals; /* we are the whole program: block and pass on what is sent to us */
	/* When network_fd is readable; may speak with a person on the terminal until the deadline (clock_ms()) or until
	 * the command ends.  Less than 0: there is nothing more to wait for.  NULL: there is nothing.  With a plan that has
	 * an entry, that one's channel takes the place of network_fd. */
	int (*network_event)(void *data, int64_t deadline, int command_pidfd);
	void *network_data;
	int network_fd;
};

#define SUPERVISE_OPTIONS                                                                          \
	((struct supervise_options){                                                               \
		.timeout_ms = -1, .grace_ms = SUPERVISE_GRACE_MS, .forwards_signals = true})

struct supervise_usage {
	int64_t max_rss_kb; /* at least our own: the kernel counts from before execve() */
	double user_ms;
	double sys_ms;
	int64_t processes;      /* and threads, at one time; -1 when not known */
	int64_t memory_peak_kb; /* of all together, page cache included; -1 when not known */
};

struct supervise_result {
	bool is_started; /* false: err of supervise_run() says why, exit_code is 126 or 127 */
	int exit_code;   /* as `cordon run` exits */
	int signal;      /* 0, or what ended the command */
	bool is_timed_out;
	bool is_oom;          /* the kernel killed at the memory limit, or we did */
	bool is_fork_refused; /* the limit of processes was reached; does not end the call */
	bool is_output_truncated;
	bool is_told;       /* plan->watch could be had */
	bool tells_paths;   /* see spawn_result */
	bool misses_opened; /* some of options->sensitive may have been opened unseen */
	double duration_ms;
	struct supervise_usage usage;
	struct buf stdout_data; /* empty unless captured */
	struct buf stderr_data;
};

void supervise_result_done(struct supervise_result *r);

/* Runs the plan and returns when the call has ended and nothing of its process group is left (unless
 * that is our own group, on a terminal).  Where the plan limits memory, processor time or processes a control
 * group is made for it, and nothing in that is left either.  plan->keeps_group is decided here.  *ret is always set up
 * and given; free it with supervise_result_done().
 * Return: 0, also when the command was not found or is not executable (then err is filled and
 * is_started is false); otherwise the error of the backend or of our own, with nothing left running. */
CORDON_MUST_CHECK int supervise_run(const struct cordon_backend *backend, const struct plan *plan,
				    const struct supervise_options *options,
				    struct supervise_result *ret, struct cordon_error *err);
