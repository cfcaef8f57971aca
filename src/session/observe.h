/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a call to what a session remembers of it.  These are claims: words can be written so that they hide what
 * happens (a link, an interpreter).  What the kernel saw is added after the call where it ran in a sandbox.
 */
#pragma once

#include "inspect/context.h"
#include "session/sequence.h"

/* A call as an agent names it.  Everything but tool may be NULL. */
struct session_call {
	const char *tool;    /* Read, Write, Edit, Bash, WebFetch, mcp__SERVER__NAME, ... */
	const char *command; /* a string for a shell */
	const char *path;    /* the file that the tool is about (file_path, path, notebook_path) */
	const char *url;     /* the first argument that is a URL (url, endpoint, ...) */
	const char *cwd;     /* absolute; also the workspace */
	const char *home;
};

#define OBSERVE_TARGET_MAX 512

struct observed {
	unsigned facts;                  /* of enum session_fact */
	char target[OBSERVE_TARGET_MAX]; /* what they are about, for people */
};

/* Links in path are followed as they stand now.  0 or -ENOMEM. */
CORDON_MUST_CHECK int observe_call(const struct session_call *c, struct observed *ret);
/* The same, added to what is there: for one call that names several paths or URLs. */
CORDON_MUST_CHECK int observe_more(const struct session_call *c, struct observed *ret);
/* What a command for a shell says; adds to *ret. */
CORDON_MUST_CHECK int observe_command(const struct session_call *c, struct observed *ret);
/* Does the pattern, a path whose last part is one, match a file with secrets that is there now? */
bool observe_pattern(const char *path);
/* What code in another language says, that is part of a command; adds to *ret. */
void observe_code(const char *text, size_t len, struct observed *ret);
/* Of a URL what may be remembered and written down: scheme and host.  The rest may hold secrets. */
void observe_place(const char *url, char *out, size_t size);
/* As an event; borrows both. */
struct session_event observe_event(const struct session_call *c, const struct observed *o);
