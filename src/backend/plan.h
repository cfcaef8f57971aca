/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what is to be set up and run, as typed data.  The corridor writes it, a backend carries
 * it out, and neither looks at policy or request again.  A plan borrows everything it points to; its
 * maker keeps that alive until the call has ended.
 */
#pragma once

#include "backend/guarantee.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A limit that somebody gave, or none. */
struct plan_limit {
	bool is_given;
	uint64_t value;
};

#define PLAN_LIMIT(v) ((struct plan_limit){.is_given = true, .value = (v)})

/* One step of setting up a file system or network.  The kinds arrive with the first backend that can
 * carry them out; a backend refuses a plan with a kind it does not know. */
enum plan_op_kind { PLAN_OP_COUNT };

struct plan_op {
	enum plan_op_kind kind;
};

struct cgroup;

struct plan {
	const char *id;    /* of the call: letters, digits and dashes; only limits need it */
	char *const *argv; /* NULL-terminated, at least one word */
	char *const *envp; /* NULL-terminated, exactly the environment of the command */
	const char *cwd;   /* absolute; NULL stays where we are */
	int stdin_fd;      /* these become 0, 1 and 2; always >= 0 */
	int stdout_fd;
	int stderr_fd;
	/* The command stays in our process group: it is the foreground job of a terminal.  Otherwise
	 * it leads a group of its own, which can be ended as a whole. */
	bool keeps_group;
	struct plan_limit memory_bytes;
	struct plan_limit cpu_shares;
	struct plan_limit cpu_percent; /* of one processor */
	struct plan_limit max_processes;
	struct plan_limit max_open_files;
	const struct plan_op *ops;
	size_t op_count;
	/* The group that holds memory, processor time and processes; NULL when none of them is limited.
	 * Made by the supervisor for a backend with takes_cgroup; the command is to be born in it, or to
	 * enter it before anything else (cgroup/cgroup.h). */
	const struct cgroup *cgroup;
	guarantee_set needs; /* a backend that cannot give one of them refuses to spawn */
};
