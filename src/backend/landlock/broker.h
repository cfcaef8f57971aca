/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker answers the calls on files that wait (scope.h says which), and with an allowlist connect() (bridge.h).  It is a process inside the command's
 * Landlock domain, with the command's ids and without any capability: what it does on a caller's behalf the
 * caller may do as well, but for the names that the scope guards, and for what Landlock does not look at (modes,
 * owners, times), which it holds to the paths that may be written.
 *
 * Why nothing can be changed behind its back.  It copies the path once, finds what that names (place.h) and acts
 * on the descriptors that it found; no call is ever let go on.  All calls of the command that make, move or remove
 * names are its own to make, one after another, so the tree does not change between a look and an act,
 * unless somebody outside the sandbox changes it.
 */
#pragma once

#include "backend/landlock/bridge.h"
#include "backend/landlock/place.h"
#include "backend/landlock/scope.h"
#include "backend/landlock/told.h"

#define BROKER_HELPERS_MAX 64 /* opens of FIFOs that wait for their other end, at one time */

#define BROKER_CALLS_MAX 64 /* calls that were taken and wait for their turn */

struct broker {
	const struct scope *scope;
	struct place_world world;
	pid_t helpers[BROKER_HELPERS_MAX];          /* 0: none */
	struct notify_call calls[BROKER_CALLS_MAX]; /* taken, not answered yet */
	size_t taken;
	const struct seccomp_program *quiet; /* what the filter would have answered by itself */
	struct bridge bridge;                /* to the proxy; none without an allowlist */
	int told;                            /* where refusals are told, or -1 */
	struct told fact;                    /* about the call that is being answered */
};

/* Answers what waits, at most NOTIFY_BATCH; b->taken are left.  is_ready: poll() said that there is one.  0, 1 when nobody is left who could call, or
 * -errno. */
CORDON_MUST_CHECK int broker_answer(struct broker *b, int listener, bool is_ready);
/* A child of ours has ended. */
void broker_reaped(struct broker *b, pid_t pid);

/* Private to broker*.c: each returns what the call returns, a value or -errno; BROKER_ANSWERED when it has been
 * answered, or will be. */
#define BROKER_ANSWERED INT64_MIN

struct broker_call {
	struct broker *broker;
	const struct notify_call *call;
	int dirfd[2];
	bool has_path;    /* else the call is about the descriptor dirfd[0] */
	uint64_t path[2]; /* addresses */
	int flags;
	unsigned mode;
	uint64_t more[2]; /* what else a kind needs */
};

int64_t broker_open(const struct broker_call *c);
int64_t broker_creat(const struct broker_call *c);
int64_t broker_truncate(const struct broker_call *c);
int64_t broker_mkdir(const struct broker_call *c);
int64_t broker_mknod(const struct broker_call *c);
int64_t broker_unlink(const struct broker_call *c);
int64_t broker_rename(const struct broker_call *c);
int64_t broker_link(const struct broker_call *c);
int64_t broker_symlink(const struct broker_call *c);
int64_t broker_chmod(const struct broker_call *c);
int64_t broker_chown(const struct broker_call *c);
int64_t broker_times(const struct broker_call *c);
int64_t broker_watch(const struct broker_call *c);
int64_t broker_connect(const struct broker_call *c);

/* Reads a path of the call and finds it. */
CORDON_MUST_CHECK int broker_find(const struct broker_call *c, unsigned which, bool follows,
				  struct place *ret);
/* 0, or -EACCES when the scope keeps the place from it. */
CORDON_MUST_CHECK int broker_check(const struct broker_call *c, const struct place *p,
				   enum scope_act act);
/* Creations from now on have the caller's umask. */
CORDON_MUST_CHECK int broker_take_umask(const struct broker_call *c);
/* The way to an object by its descriptor, for calls that take paths only. */
#define BROKER_FD_PATH_MAX 32
void broker_fd_path(int fd, char ret[static BROKER_FD_PATH_MAX]);
