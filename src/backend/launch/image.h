/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the launcher inside a foreign sandbox program has to know, as one block of bytes in sealed memory: the
 * command, its environment and directory, the Landlock rules and the system call filter.  Written by our own
 * process, read by the launcher; both are of one build, so there is no second version to understand.
 */
#pragma once

#include "backend/confine/seccomp.h"
#include "backend/view/program.h"
#include "base/buf.h"

#define LAUNCH_IMAGE_MAX (16 * 1024 * 1024) /* words, variables and paths of rules together */

#define LAUNCH_ABI_ASK (-1) /* of Landlock: the launcher's kernel is another than ours */

/* Where the launcher finds its descriptors. */
enum launch_fd {
	LAUNCH_FD_PROGRAM = 3, /* the launcher itself */
	LAUNCH_FD_IMAGE,
	LAUNCH_FD_CHANNEL,
	LAUNCH_FD_STDIN,
	LAUNCH_FD_STDOUT,
	LAUNCH_FD_STDERR,
	LAUNCH_FD_END
};

/* What the plan does not say. */
struct launch_setting {
	int landlock_abi;
	mode_t mask;
	bool has_kernel;      /* another than the host's, and it gave no capability */
	int64_t stdin_offset; /* -1, or where reading begins: another kernel would begin at 0 */
	/* Pipes of the host's that another kernel does not end a writer for (pump.h). */
	bool pumps_stdout;
	bool pumps_stderr;
	bool has_one_pipe; /* both are the same, and stay in order */
};

/* As read; owns its arrays, borrows the block. */
struct launch_call {
	struct plan plan;
	struct plan_terminal terminal; /* the plan's; only its streams */
	struct view_program program;   /* the rules only */
	struct seccomp_program filter;
	struct seccomp_program denied; /* of plan->denied_calls; empty when there are none */
	struct launch_setting setting;
	char *const *covered; /* see launch_image_write(); up to a NULL */
};

/* Appends the block.  covered: NULL, or pairs of words.  The second is a path that has to be a read-only mount when the
 * command starts; the first is what the launcher has to mount there, or empty where that has been done. */
CORDON_MUST_CHECK int launch_image_write(const struct view_program *p,
					 const struct seccomp_program *filter,
					 const struct seccomp_program *denied,
					 const struct launch_setting *setting,
					 const struct strv *covered, struct buf *out);
/* 0, -EINVAL for anything but a whole block, or -ENOMEM.  *ret is always set up. */
CORDON_MUST_CHECK int launch_image_read(const char *data, size_t len, struct launch_call *ret);
void launch_call_done(struct launch_call *c);
