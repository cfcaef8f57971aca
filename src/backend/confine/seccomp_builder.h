/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to seccomp*.c: the program while it is written.  The blocks that look at arguments stand behind the tree
 * (seccomp.c opens with the whole); they are seccomp_answer.c, those about sockets seccomp_socket.c.
 */
#pragma once

#include "backend/confine/seccomp.h"

#define NR_TABLE 512              /* numbers below it are looked up one by one */
#define RANGES_MAX (NR_TABLE + 4) /* and those above the table */

enum seccomp_act {
	SECCOMP_ACT_ALLOW,
	SECCOMP_ACT_EPERM,
	SECCOMP_ACT_ENOSYS,
	SECCOMP_ACT_KILL,
	SECCOMP_ACT_EOPNOTSUPP,
	SECCOMP_ACT_NOTIFY,
	/* by argument */
	SECCOMP_ACT_IOCTL,
	SECCOMP_ACT_FCNTL,
	SECCOMP_ACT_CLONE,
	SECCOMP_ACT_UNSHARE,
	SECCOMP_ACT_PERSONALITY,
	SECCOMP_ACT_MKNOD,
	SECCOMP_ACT_MKNODAT,
	SECCOMP_ACT_PID_ARG0,
	SECCOMP_ACT_FIRST_ARG0,
	SECCOMP_ACT_FCNTL_FIRST,
	SECCOMP_ACT_MODE_ARG1,
	SECCOMP_ACT_MODE_ARG2,
	SECCOMP_ACT_FAST_OPEN_ARG2,
	SECCOMP_ACT_FAST_OPEN_ARG3,
	SECCOMP_ACT_SOCKET,
	SECCOMP_ACT_SOCKETPAIR,
	SECCOMP_ACT_OPEN,
	SECCOMP_ACT_OPENAT,
	SECCOMP_ACT_PRIORITY,
	SECCOMP_ACT_IOPRIO,
	SECCOMP_ACT_NOTIFY_OPEN,
	SECCOMP_ACT_NOTIFY_OPENAT,
	SECCOMP_ACT_IOCTL_FILES,
	SECCOMP_ACT_TELL_STAT,
	SECCOMP_ACT_TELL_SENDTO,
	SECCOMP_ACT_SETSOCKOPT,
	SECCOMP_ACT_SETRLIMIT,
	SECCOMP_ACT_PRLIMIT,
	SECCOMP_ACT_PRLIMIT_OWN,
	SECCOMP_ACT_COUNT
};

struct seccomp_range {
	uint32_t first;
	uint8_t action;
};

struct seccomp_builder {
	struct seccomp_program *out;
	const struct seccomp_policy *policy;
	struct seccomp_range ranges[RANGES_MAX];
	size_t n;
	uint8_t answers[SECCOMP_INSNS_MAX][2]; /* of the branches: action + 1; 0: points already */
	int error;
};

/* One instruction; what does not fit is kept in b->error. */
void seccomp_emit(struct seccomp_builder *b, uint16_t code, uint32_t k, size_t jt, size_t jf);
void seccomp_return(struct seccomp_builder *b, uint32_t value);
/* Told first, where the policy says so. */
void seccomp_return_errno(struct seccomp_builder *b, int number);
void seccomp_load_arg(struct seccomp_builder *b, unsigned arg, uint32_t mask);
void seccomp_jump_equal(struct seccomp_builder *b, uint32_t value, size_t jt, size_t jf);

/* What an action is: its instructions (seccomp_answer.c). */
void seccomp_answer(struct seccomp_builder *b, enum seccomp_act action);
/* The blocks of socket(), socketpair() and setsockopt(). */
void seccomp_block_socket(struct seccomp_builder *b);
void seccomp_block_socketpair(struct seccomp_builder *b);
void seccomp_block_setsockopt(struct seccomp_builder *b);
