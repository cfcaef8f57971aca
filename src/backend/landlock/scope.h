/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan without mounts: its steps as Landlock rules, as names that a broker guards, and as a private directory
 * that stands in for /tmp and home.
 *
 * What a rule can hold, a rule holds.  It cannot close a part of what another opens, so:
 *
 * - A denied path inside what may only be read is left out by listing its siblings, one rule each: the kernel
 *   decides, nothing is asked, and what appears later is closed.
 * - Inside what may be written that does not work (a file that the call makes gets its rights from the
 *   directory, and so would the denied one), so the broker answers all opens there (SECCOMP_FILES_ALL).  Without a
 *   denied path there it only answers what creates and changes.
 * - Executing asks no broker.  A denied file that can be executed is refused with the plan.
 */
#pragma once

#include "backend/confine/landlock.h"
#include "backend/confine/seccomp.h"
#include "backend/plan.h"
#include "backend/scratch.h"

#include <sys/types.h>

/* A name that the broker keeps: canonical, exists or not. */
struct scope_guard {
	const char *path; /* borrowed from the plan */
	bool is_denied;   /* cannot be read either */
	/* What is below this directory, in it, is left as it is; or NULL. */
	const char *except;
	/* A grant for reading in one for writing: what a later step gives inside it is left out. */
	bool is_grant;
};

/* A file that is kept under every name that it has: what stands at a guarded name, or below one with several
 * names. */
struct scope_file {
	dev_t dev;
	ino_t ino;
	bool is_denied;
};

struct scope_path {
	const char *path; /* borrowed from the plan or owned by strings */
	enum landlock_access access;
	bool is_public_only;
	size_t guards_before; /* how many guards stand in earlier steps */
};

struct scope {
	const struct plan *plan;
	struct landlock_policy policy;
	int set; /* of Landlock's rules */
	size_t rule_count;
	struct scope_path *grants;
	size_t grant_count;
	size_t grant_cap;
	struct scope_guard *guards;
	size_t guard_count;
	size_t guard_cap;
	struct scope_file *kept; /* sorted */
	size_t kept_count;
	size_t kept_cap;
	enum seccomp_files files;
	struct scratch scratch; /* where private directories are */
	const char *shm;        /* stands in for /dev/shm, or NULL */
	struct strv strings;    /* owns the private directories' names */
	struct strv names;      /* owns others */
	struct strv env;        /* the command's, with TMPDIR and HOME as they are here */
	struct strv own;        /* these two alone */
	struct strv
		search; /* only its PATH, without directories that are closed: to find the command */
};

/* tcp_port: the bridge's (bridge.h), or 0.  *ret is always set up: scope_done() frees it and removes what was made.  CORDON_E_UNSUPPORTED for what
 * cannot be held. */
CORDON_MUST_CHECK int scope_compile(const struct plan *plan, uint16_t tcp_port, struct scope *ret,
				    struct cordon_error *err);
void scope_done(struct scope *s);

/* Would private directories be in memory, where no limit of a process counts them? */
bool scope_is_private_in_memory(void);

/* Is path, canonical, in what may be written?  Pure. */
bool scope_is_writable(const struct scope *s, const char *path);

/* What is about to happen to a path. */
enum scope_act {
	SCOPE_READ,
	SCOPE_CHANGE, /* it is made or changed */
	SCOPE_REMOVE, /* it alone is removed */
	SCOPE_MOVE,   /* the same, with all that is below it */
	SCOPE_ACT_COUNT
};
/* Is the path kept from it?  Pure. */
bool scope_is_guarded(const struct scope *s, const char *path, enum scope_act act);
/* Does a later step give for writing what this guard keeps at path?  Pure. */
bool scope_is_given_back(const struct scope *s, const struct scope_guard *g, const char *path,
			 enum scope_act act);
/* Is the file, whatever its name? */
bool scope_is_guarded_file(const struct scope *s, dev_t dev, ino_t ino, enum scope_act act);

/* Private to scope*.c. */
CORDON_MUST_CHECK int scope_guard(struct scope *s, const char *path, bool is_denied);
CORDON_MUST_CHECK int scope_keep_files(struct scope *s, struct cordon_error *err);
CORDON_MUST_CHECK int scope_add_rules(struct scope *s, struct cordon_error *err);
CORDON_MUST_CHECK int scope_make_search(struct scope *s);
CORDON_MUST_CHECK int scope_make_private(struct scope *s, struct cordon_error *err);
