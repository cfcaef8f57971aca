/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock: file rights by path, TCP, and the scopes of signals and abstract sockets, for a process and
 * everything that it starts.  Every right that the ABI knows is handled, so that what no rule grants is
 * refused.
 *
 * What it cannot do, whatever the rules: take back descriptors that were opened before (also inherited
 * ones), close a path inside a granted directory, hide that a file exists (stat), see UDP or Unix sockets
 * by path, or stop ld.so from mapping a file without the right to execute it.  Below ABI 3 it cannot keep
 * truncate() from read-only files, so that no claim about writing may rest on it there
 * (LANDLOCK_ABI_TRUNCATE).
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANDLOCK_ABI_KNOWN 7    /* the newest that the table knows; kernels accept older ones */
#define LANDLOCK_ABI_REFER 2    /* below: nothing can be moved or linked to another directory */
#define LANDLOCK_ABI_TRUNCATE 3 /* below: read-only files can be emptied */
#define LANDLOCK_ABI_TCP 4
#define LANDLOCK_ABI_IOCTL 5 /* below: ioctl() on every device that can be opened */
#define LANDLOCK_ABI_SCOPES 6
#define LANDLOCK_ABI_LOG 7

/* The ABI to use: the kernel's, at most LANDLOCK_ABI_KNOWN; 0 where Landlock is missing or switched
 * off. */
int landlock_abi(void);
/* For tests: landlock_abi() answers at most this from now on; a negative number ends it.  Never called by
 * the program itself. */
void landlock_set_abi_for_test(int abi);

enum landlock_access {
	LANDLOCK_READ,         /* files and directories, execute */
	LANDLOCK_READ_NOEXEC,  /* files and directories */
	LANDLOCK_WRITE,        /* read, write, create, remove, truncate, refer, ioctl, execute */
	LANDLOCK_WRITE_NOEXEC, /* the same without execute */
	LANDLOCK_LIST,         /* directories: their entries, at every depth, and nothing else */
	LANDLOCK_ACCESS_COUNT
};

struct landlock_rule {
	int fd;      /* O_PATH; borrowed */
	bool is_dir; /* rights that only directories have are left out on files: EINVAL otherwise */
	enum landlock_access access;
};

struct landlock_policy {
	int abi; /* landlock_abi() */
	const struct landlock_rule *rules;
	size_t n;
	bool denies_tcp; /* no TCP bind() or connect(); ABI 4.  Not a network policy: see above */
	uint16_t tcp_port; /* with denies_tcp: connect() to this one passes, at any address; 0: none */
	bool scopes_signals;       /* no signals to processes outside; ABI 6 */
	bool scopes_abstract_unix; /* no abstract sockets of processes outside; ABI 6 */
};

/* Puts the calling thread into the domain, for good.  Called in the child between clone and execve:
 * async-signal-safe, allocates nothing, changes nothing else.  -EPERM when no_new_privs is not set;
 * -EOPNOTSUPP when the ABI is 0 or lacks something that is asked for (nothing is dropped silently); other
 * -errno of the kernel.  After a failure the thread is as it was. */
CORDON_MUST_CHECK int landlock_apply(const struct landlock_policy *p);

/* The same in parts, for sets of rules that are too many to be open at once: made and filled in the parent, put
 * into force in the child.  The set is given (a descriptor, CLOEXEC), or -errno as above. */
CORDON_MUST_CHECK int landlock_set_make(const struct landlock_policy *p);
/* Adds a rule; p is the same.  0 or -errno. */
CORDON_MUST_CHECK int landlock_set_rule(int set, const struct landlock_policy *p,
					const struct landlock_rule *rule);
CORDON_MUST_CHECK int landlock_set_enforce(int set, const struct landlock_policy *p);

/* A domain below the calling thread's own that closes one thing more: signals to those outside it.  Called like
 * landlock_apply(); ABI 6. */
CORDON_MUST_CHECK int landlock_scope_signals(void);
/* The same for nothing but the step down: whoever is above or beside can be neither traced nor looked into (their memory,
 * environment and descriptors in /proc), also where they are dumpable.  Signals pass as before. */
CORDON_MUST_CHECK int landlock_step_below(void);

/* The rights that a rule gives, as in the kernel's interface. */
uint64_t landlock_rights(int abi, enum landlock_access access, bool is_dir);
/* All file rights that an ABI handles. */
uint64_t landlock_handled(int abi);
/* "read_file", …; NULL when the bit has no name here. */
const char *landlock_right_name(unsigned bit);
const char *landlock_access_name(enum landlock_access access);

/* Rules with the descriptors that they own, for the calling process. */
struct landlock_set {
	struct landlock_rule *rules;
	size_t n;
	size_t cap;
};
void landlock_set_done(struct landlock_set *s);
CORDON_MUST_CHECK int landlock_set_add(struct landlock_set *s, const char *path,
				       enum landlock_access access, bool may_be_missing,
				       struct cordon_error *err);
/* Puts the calling process into the domain; the policy's rules are set from the set.  Irreversible.  Landlock
 * holds for a thread, so a process that already has several is refused (CORDON_E_UNSUPPORTED): it would be
 * confined in part.  So is an ABI below LANDLOCK_ABI_TRUNCATE. */
CORDON_MUST_CHECK int landlock_set_restrict_self(const struct landlock_set *set,
						 struct landlock_policy *policy,
						 struct cordon_error *err);

/* For embedders: the calling process may from now on write to project_dir, /tmp and read_write, and read
 * the system directories and read_only.  Directories of the built-in list that are missing are skipped;
 * those of the caller must exist.  As landlock_set_restrict_self(). */
CORDON_MUST_CHECK int landlock_restrict_self(const char *project_dir, const struct strv *read_only,
					     const struct strv *read_write,
					     struct cordon_error *err);
