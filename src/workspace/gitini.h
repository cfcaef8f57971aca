/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git's configuration files, read as git reads them: values that go on in the next line, quotes, comments, both forms of
 * subsections, a byte order mark, CRLF.  Who reads them by the line can be made to see another section than git does.
 * What git would refuse is read on with from the next line: other programs are not so strict.
 */
#pragma once

#include "base/buf.h"

struct gitini_entry {
	const char *section;    /* in small letters */
	const char *subsection; /* "" when there is none */
	const char *key;        /* in small letters */
	const char *value;      /* without quotes; "true" when there is no '=', as git has it */
};

/* 0, or what ends the reading. */
typedef int (*gitini_fn)(const struct gitini_entry *e, void *arg);

/* Calls fn for each variable.  Pure.  0, -ENOMEM or what fn returned. */
CORDON_MUST_CHECK int gitini_read(const char *text, size_t len, gitini_fn fn, void *arg);
