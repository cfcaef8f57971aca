/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the doctor, each run in a child that ends with it.  Private to doctor*.c. */
#pragma once

#include "core/doctor.h"

#include <sys/types.h>

/* What a child cannot find out by itself. */
struct doctor_context {
	uint64_t mount_ns; /* inode of the doctor's own mount namespace; 0: not known */
	uid_t uid;         /* effective, outside */
	gid_t gid;         /* effective, outside */
};

struct doctor_mechanism {
	const char *name;
	uint64_t namespaces; /* clone flags */
	/* Called in the child.  Fills works, detail and fix; may change the child as it likes. */
	void (*probe)(const struct doctor_context *c, struct doctor_row *ret);
	/* Called in the parent when the child could not be started. */
	void (*cannot_start)(int error, struct doctor_row *ret);
	/* Called in the parent when the child is gone, however it ended. */
	void (*after)(const struct doctor_context *c);
};

/* It works; detail as printf. */
void doctor_good(struct doctor_row *ret, const char *fmt, ...) CORDON_PRINTF(2, 3);
/* It does not: what failed, with the text of error (an errno, 0 for none), and the fix. */
void doctor_bad(struct doctor_row *ret, int error, const char *what, const char *fix);

/* The mechanisms of this system: doctor_linux.c, doctor_darwin.c. */
const struct doctor_mechanism *doctor_table(size_t *ret_n);
