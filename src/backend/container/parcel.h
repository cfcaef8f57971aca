/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as one block of bytes, for who carries it out in another place: everything of it but descriptors, the
 * control group and what only the supervisor reads; and what its mounts have to be.  Written and read by one function, so that both know the same
 * members; both are of one build, so there is no second version to understand.
 */
#pragma once

#include "backend/container/mark.h"
#include "backend/plan.h"
#include "base/buf.h"
#include "base/callname.h"

#include <sys/types.h>

#define PARCEL_MAX (24 * 1024 * 1024) /* words, variables, paths and contents of files together */

/* As read; owns its arrays, borrows the block. */
struct parcel {
	struct plan plan;
	struct plan_terminal terminal;
	struct callset denied_calls;
	struct plan_op *ops;
	uint16_t *ports;
	struct plan_publish *publish;
	char **argv;
	char **envp;
	struct mark *marks;
	size_t n_marks;
	mode_t mask; /* of the command */
};

/* Appends the block.  0 or -errno. */
CORDON_MUST_CHECK int parcel_write(const struct plan *plan, const struct marks *marks, mode_t mask,
				   struct buf *out);
/* 0, -EINVAL for anything but a whole block, or -ENOMEM.  *ret is always set up. */
CORDON_MUST_CHECK int parcel_read(const char *data, size_t len, struct parcel *ret);
void parcel_done(struct parcel *p);
