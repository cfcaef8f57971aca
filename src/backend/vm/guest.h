/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the guest's first process (guest.c). */
#pragma once

#include "backend/vm/call.h"

#define GUEST_PORT "/dev/vport0p1"
#define GUEST_NETWORK_PORT "/dev/vport0p2"
#define GUEST_MODULES "/modules"  /* in the initramfs */
#define GUEST_LAUNCHER "/launch"  /* the launcher of launch/inner.c */
#define GUEST_TAG "cordon"        /* of the share */
#define GUEST_SYSTEM_TAG "system" /* of the one for VM_CALL_SYSTEM */
#define GUEST_GROUP "/group/call" /* the command's control group */

/* Where there is no such port and no share: streams to the host, at these. */
#define GUEST_VSOCK_LINK 1024
#define GUEST_VSOCK_VIEW 1025
#define GUEST_VSOCK_SYSTEM 1026
#define GUEST_VSOCK_NETWORK 1027
/* Opens one.  The descriptor, which blocks, or -errno. */
CORDON_MUST_CHECK int guest_vsock(unsigned port);

/* The call's root, built in the process that becomes its first one: the share, what is made inside, /proc of its own
 * pid namespace.  Enters it.  0 or -errno, and *ret_stage says at what. */
CORDON_MUST_CHECK int guest_root(const struct vm_call *c, bool is_vsock, int *ret_stage);

/* The network of an allowlist: everything is redirected to processes of ours, which pass it on over a stream to the host.
 * *ret_told is where the kernel tells what it rejected, or -1.  0 or -errno. */
CORDON_MUST_CHECK int guest_network(bool is_vsock, int *ret_told);

/* In the process that becomes the call's first one, inside its root: the command's terminal, given.  0 or -errno. */
CORDON_MUST_CHECK int guest_tty_open(const struct vm_call *c, int *ret_master, int *ret_slave);

/* Makes the control group, before there is a call; and puts the call's limits on it.  0 or -errno. */
CORDON_MUST_CHECK int guest_group_make(void);
CORDON_MUST_CHECK int guest_group(const struct vm_call *c);
/* A descriptor that has POLLPRI when the call, at its memory limit, does little but fetch pages again that it has just
 * lost: over the share that could go on for minutes before the kernel gives up.  -1 without a limit, or -errno. */
CORDON_MUST_CHECK int guest_group_watch(const struct vm_call *c);
/* Ends all of it. */
void guest_group_kill(void);
/* A counter of a file of the group, by its word, or the file's only number for NULL; -1 when it is not there. */
int64_t guest_group_count(const char *file, const char *word);
