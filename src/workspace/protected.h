/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of names that a call must not write although it may write around them (they are read by
 * programs of the host and can make those run something), of paths that hold credentials, and of places
 * where toolchains live under a home directory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct protected_name {
	const char *name; /* relative to the workspace or to home */
	bool is_dir;      /* what it is where it exists */
	const char *text; /* what it holds in the sandbox where it does not exist; NULL: no file */
};

/* Directly under the workspace and under home, existing or not. */
extern const struct protected_name protected_names[];
extern const size_t protected_name_count;

/* Programs look for some of these in a workspace while they do ordinary work, and a file that cannot be read
 * would stop them or change what they do.  Where such a name is not there it also seems so: it costs a mount,
 * and so only in a workspace that has the file beside which it is looked for. */
struct protected_looked_for {
	const char *name;
	const char *beside;
};
extern const struct protected_looked_for protected_looked_for[];
extern const size_t protected_looked_for_count;
/* What in a protected directory is not: `worktrees` in `.claude`, where agents keep their working trees.  NULL when
 * there is nothing. */
const char *protected_exception(const char *name);

/* In every git directory. */
extern const struct protected_name protected_git_names[];
extern const size_t protected_git_name_count;

/* Relative to home. */
extern const char *const credential_paths[];
extern const size_t credential_path_count;

/* Of the machine, by their whole path: closed like those of home, whatever is granted, to whoever may read them. */
extern const char *const system_credential_paths[];
extern const size_t system_credential_path_count;

/* A PATH entry at or below `root`, relative to home, means that all of `roots` is read. */
struct toolchain_root {
	const char *root;
	const char *also; /* a second directory that it needs, or NULL */
};
extern const struct toolchain_root toolchain_roots[];
extern const size_t toolchain_root_count;
