/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A delegated group from systemd: for a user whose own group is not his to change, and for root inside a
 * unit that has other processes.  The manager (of the system for root, of the user otherwise) is asked over
 * its private socket to start a transient scope with Delegate=yes and this process in it, which is what
 * `systemd-run --scope -p Delegate=yes` does.
 *
 * Three messages and a reply are written here by hand: a D-Bus library would be loaded on the way to every
 * command, and parses more than is needed of what comes back.  Of the reply only kind and length are read.
 *
 * Nobody gets out of limits this way: when the group that we are in bounds memory or processor time itself,
 * systemd is not asked, and the scope is made in the slice that we are in.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

#define SCOPE_NAME_MAX 64
#define SCOPE_SLICE_MAX 256

/* Moving is for a program that is nothing but cordon: an embedder would not want to leave its unit. */
void scope_permit(void);
bool scope_is_permitted(void);
/* Moves this process into a scope of its own; at most once per process.  own: the directory of our version 2
 * group.  0, or -errno: -ENOENT there is no manager, -EPERM it may not be left, -EACCES the manager refused,
 * -EALREADY it was asked before, -ETIMEDOUT, -EPROTO. */
CORDON_MUST_CHECK int scope_enter(const char *own);

/* The pure parts, for tests. */

/* The slice to ask for: the last one in the path of a group, as the manager of that user names it; "" when
 * the manager's default will do. */
void scope_slice(const char *own, bool is_root, char ret[static SCOPE_SLICE_MAX]);
/* Appends the call StartTransientUnit. */
void scope_call(const char *name, const char *slice, pid_t pid, struct buf *out);
/* Looks at the first 16 bytes of a message.  Returns how many follow, with *ret_type (2 a return, 3 an
 * error); -EPROTO for what no manager sends. */
CORDON_MUST_CHECK int scope_head(const unsigned char head[static 16], int *ret_type);
