/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored secrets of one call: which the policy grants, their values, and where they may go.  A stored
 * secret can be bound to hosts, methods and paths; a grant can only bind it tighter.  Whoever puts a value in
 * (the environment, a file, the proxy at the boundary) takes it from here and keeps to the binding.
 */
#pragma once

#include "net/hostrule.h"
#include "policy/policy.h"
#include "secrets/locked.h"

/* Where a stored secret is seen inside with injection: file-mount, below this directory. */
#define SECRET_FILE_DIR "/run/cordon/secrets"

struct secret_grant {
	char *name;
	/* Not NUL-terminated for the reader: it may hold NUL bytes.  In memory of its own (locked.h). */
	const char *value;
	size_t len;
	struct hostrule *hosts; /* those that may receive it; none: it is not bound to hosts */
	size_t n_hosts;
	char *const *methods; /* NULL-terminated, in capitals; NULL: all */
	char *const *paths;   /* NULL-terminated globs over the path of a URL; NULL: all */
	/* "NAME=VALUE" for the environment, which holds value; only with INJECT_ENVIRONMENT. */
	char *entry;
	/* The owner's. */
	struct locked memory;
	struct strv method_list;
	struct strv path_list;
};

struct secret_grants {
	struct secret_grant *items;
	size_t n;
	enum injection injection;
	bool is_locked; /* no value can be swapped out */
};

/* Reads the store for what p grants, all or nothing; with no grants the store is not looked at.  Asks for a
 * passphrase where the store needs one.  With host-boundary no child of ours has the memory, and a process that needs
 * the values is sent them; what goes into the sandbox anyway is inherited by the child that puts it there. */
CORDON_MUST_CHECK int secret_grants_resolve(const struct policy *p, const char *state_dir,
					    struct secret_grants *ret, struct cordon_error *err);
/* Wipes. */
void secret_grants_done(struct secret_grants *g);

/* How the policy wants its secrets put in; host-boundary unless it says otherwise. */
enum injection secret_injection(const struct policy *p);
