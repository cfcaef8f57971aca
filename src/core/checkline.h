/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of `cordon check --jsonl`: {"id","kind","text"}, with "tool", "agent" and "path" where they are known.
 * Other keys are left alone, so that annotated lines can be fed as they are.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct checkline {
	char *id;   /* as JSON text; NULL: there was none, or it could not be read */
	char *kind; /* or NULL */
	char *tool;
	char *agent;
	char *path;
	char *text; /* may hold NUL */
	size_t text_len;
};

void checkline_done(struct checkline *c);
/* *ret is to be freed with checkline_done(), also after a failure: the id may be known. */
CORDON_MUST_CHECK int checkline_parse(const char *line, size_t len, struct checkline *ret,
				      struct cordon_error *err);
/* The id of a line of which only the beginning is there; found when it is the first key.  Gives NULL otherwise. */
CORDON_MUST_CHECK int checkline_id(const char *start, size_t len, char **ret);
