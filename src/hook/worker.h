/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a hook that reads hostile bytes: question in, answer out.  It runs in a process of its own (guard.h). */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "hook/dialect.h"

struct hook_options {
	const struct hook_dialect *dialect;
	const struct strv *policies; /* --policy; may be NULL */
	bool always_replies;         /* an empty object where there is nothing to say */
	int64_t deadline_ms;         /* for everything */
};

/* Always an answer: whatever goes wrong is a denial, or an output that is withheld.  Appends to both; gives the exit code. */
void hook_work(const struct hook_options *o, const char *text, size_t len, struct buf *out,
	       struct buf *line, int *ret_code);
