/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to seccomp*.c: the program while it is written.  The blocks that look at arguments stand behind the tree
 * (seccomp.c opens with the whole); those about sockets are seccomp_socket.c.
 */
#pragma once

#include "backend/confine/seccomp.h"

#define NR_TABLE 512              /* numbers below it are looked up one by one */
#define RANGES_MAX (NR_TABLE + 4) /* and those above the table */

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

/* The blocks of socket(), socketpair() and setsockopt(). */
void seccomp_block_socket(struct seccomp_builder *b);
void seccomp_block_socketpair(struct seccomp_builder *b);
void seccomp_block_setsockopt(struct seccomp_builder *b);
