/* SPDX-License-Identifier: Apache-2.0 */
/* Processes held by pidfd. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct proc {
	pid_t pid;
	int pidfd; /* -1 when there is none */
};

#define PROC_NONE ((struct proc){.pid = -1, .pidfd = -1})

struct proc_exit {
	int code;   /* exit status, or -1 when killed */
	int signal; /* 0, or the signal that ended it */
	struct rusage usage;
};

/* For a process that was forked and will not execute: /proc shows no longer which words and variables the program was
 * started with.  Calls the kernel only.  0 or -errno; needs CONFIG_CHECKPOINT_RESTORE. */
CORDON_MUST_CHECK int proc_hide_words(void);

/* clone3() with CLONE_PIDFD and the given flags (namespaces and so on; -EINVAL for those that share
 * memory or need more arguments).  Returns 0 in the child, the pid in the parent with *ret filled, or
 * -errno. */
CORDON_MUST_CHECK int proc_clone(uint64_t flags, struct proc *ret);
/* The same, the child born in the version 2 control group of the open directory. */
CORDON_MUST_CHECK int proc_clone_into(uint64_t flags, int cgroup_fd, struct proc *ret);
/* In a child that is in its parent's pid namespace: it is killed when that ends.  parent is what getpid() said before the
 * clone: the kernel sends nothing for one that was gone before, so that is looked for.  0, -ESRCH (then the
 * child should leave) or -errno. */
CORDON_MUST_CHECK int proc_tie(pid_t parent);
/* Sends a signal through the pidfd.  0 (also to one that has ended but was not reaped) or -errno. */
CORDON_MUST_CHECK int proc_signal(const struct proc *p, int sig);
/* Reaps if it has ended.  1 with *ret filled and *p as PROC_NONE, 0 when still running, or -errno
 * (-ECHILD when it was reaped before). */
CORDON_MUST_CHECK int proc_reap(struct proc *p, struct proc_exit *ret);
/* The file that this program was started from: 0 or -errno; -ENOENT when it has been removed or replaced since, and
 * nothing could be started by that name. */
CORDON_MUST_CHECK int proc_exe(char *ret, size_t size);
/* Closes the pidfd; does not kill. */
void proc_done(struct proc *p);
