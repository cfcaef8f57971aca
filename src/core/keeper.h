/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a sandbox that stays: a process of ours, outside, that lives as long as the sandbox.  It is the
 * parent of the sandbox's first process, which dies with it; it holds its groups and its proxy; it passes
 * requests on (backend/native/serve.h), keeps what background processes print, and ends the sandbox when nobody
 * used it for too long.
 *
 * That it lives is known by a lock on a file in the sandbox's directory, which the kernel takes away with the
 * process: neither a number that was given away again nor a new boot is ever mistaken for it.
 *
 * Its socket is in a directory that no call sees, answers to our own user alone, and only to processes of our
 * own pid namespace: those of a sandbox are in another one.  Where it has none (landlock), no process of it can have a
 * Unix socket that is not one of a pair.
 */
#pragma once

#include "backend/native/serve.h"
#include "backend/select.h"
#include "policy/policy.h"
#include "session/sandbox.h"

#define KEEPER_FILE "keeper"

struct keeper_options {
	const struct policy *policy;
	const struct selection *selection; /* keeper_plan_select() */
	const struct sandbox_row *row;     /* id, workspace, environment, idle_ms, socket */
	const char *state_dir;
	const char *dir; /* of the sandbox */
};

struct keeper_started {
	pid_t pid;
	uint64_t guarantees;
	uint64_t degraded;
};

/* Starts one and waits until the sandbox is ready.  After a failure nothing is left of it.  The keeper is a fork of
 * the caller, who has one thread. */
CORDON_MUST_CHECK int keeper_start(const struct keeper_options *o, struct keeper_started *ret,
				   struct cordon_error *err);
/* Is the sandbox's keeper alive?  1 with its pid, 0 when there is none, or -errno.  Mustn't be asked by the keeper. */
CORDON_MUST_CHECK int keeper_find(const char *dir, pid_t *ret_pid);
/* Connects to a keeper that lives, and makes sure that it is the one.  Gives a socket, or -errno. */
CORDON_MUST_CHECK int keeper_connect(const char *dir, const char *socket_path);
/* One request without descriptors and its answer.  0 or -errno; -ETIMEDOUT when it does not answer. */
CORDON_MUST_CHECK int keeper_ask(int fd, enum serve_kind kind, struct serve_answer *ret);
/* When the process started, in ticks since boot; 0 when it is not known. */
int64_t keeper_start_time(pid_t pid);
/* Which boot this is; "" when it is not known. */
void keeper_boot(char ret[static SANDBOX_BOOT_LEN]);
