/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call: what an agent wants to run.  Made once at a door, never changed after.  A call is either
 * a vector of words or a string for a shell; `text` is the whole of it as one string, which is what
 * textual rules look at.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

enum request_kind { REQUEST_ARGV, REQUEST_SHELL, REQUEST_KIND_COUNT };

#define REQUEST_ID_LEN 19 /* "c-", 16 hex digits, NUL */

struct request {
	char id[REQUEST_ID_LEN]; /* ours */
	char *caller_id;         /* the caller's own, or NULL */
	enum request_kind kind;
	struct strv argv; /* what is executed; for a shell string [shell, "-c", string] */
	char *text;       /* the words joined by blanks, or the shell string */
	size_t text_len;
	char *cwd;             /* absolute; also the workspace */
	char *tool;            /* "Bash" unless the caller says otherwise */
	char *category;        /* or NULL */
	char *agent;           /* or NULL */
	char *session;         /* or NULL */
	struct strv arguments; /* "name=value", for rules */
};

struct request_options {
	const char *cwd; /* absolute */
	const char *tool;
	const char *category;
	const char *agent;
	const char *session;
	const char *caller_id;
};

/* argv: NULL-terminated, at least one word. */
CORDON_MUST_CHECK int request_from_argv(char *const *argv, const struct request_options *o,
					struct request **ret, struct cordon_error *err);
/* A string for a shell: /bin/bash where it is, else /bin/sh. */
CORDON_MUST_CHECK int request_from_shell(const char *command, const struct request_options *o,
					 struct request **ret, struct cordon_error *err);
/* {"argv":[…]} or {"command":"…"}, with "id", "cwd", "tool", "category", "agent", "session".  Unknown
 * and duplicate keys, NUL in strings, deep nesting and trailing bytes are errors.  default_cwd stands
 * in for a missing "cwd". */
CORDON_MUST_CHECK int request_from_json(const char *json, size_t len, const char *default_cwd,
					struct request **ret, struct cordon_error *err);
/* A copy that is the same call: with the same id. */
CORDON_MUST_CHECK int request_clone(const struct request *r, struct request **ret,
				    struct cordon_error *err);
void request_free(struct request *r);
DEFINE_FREEP(struct request, request_free)
/* Absolute paths that the call names: its cwd and each word that looks like a path. */
CORDON_MUST_CHECK int request_paths(const struct request *r, struct strv *ret,
				    struct cordon_error *err);
