/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stood behind a mount when it was asked for.  An engine takes paths as text and follows links as root, some time
 * later: who can write beside a grant could put a link there in between.  So what arrived in the container is compared.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct mark {
	const char *target; /* in the container */
	uint64_t dev;
	uint64_t ino;
};

struct marks {
	struct mark *v;
	size_t n;
	size_t cap;
	struct strv targets;
};

/* Looks at the source, of which no component may be a link.  0 or -errno: -ELOOP when one is. */
CORDON_MUST_CHECK int marks_add(struct marks *m, const char *source, const char *target);
/* Is it that, still without a link?  0 or -ESTALE. */
CORDON_MUST_CHECK int mark_check(const struct mark *m);
void marks_done(struct marks *m);
