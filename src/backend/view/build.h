/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the compiler share; nobody else includes it. */
#pragma once

#include "backend/view/program.h"

#include <linux/mount.h>
#include <sys/stat.h>

#define ATTRS_COMMON (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define ATTRS_SEALED (ATTRS_COMMON | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC)

/* What is mounted on or over something. */
enum view_placeholder {
	VIEW_EMPTY_DIR,
	VIEW_CLOSED_FILE,
	VIEW_CLOSED_DIR,
	VIEW_ABSENT, /* a link to nowhere */
	VIEW_PLACEHOLDER_COUNT
};

/* Where the link of a name leads that is not there: it says so in listings, and nothing can be made below
 * the read-only root. */
#define VIEW_ABSENT_TARGET "/protected-by-cordon/absent"
/* In a lower layer, what listings pass by. */
#define VIEW_PASSED_BY VIEW_DIR "/socket"
#define VIEW_LOWER_BASE VIEW_DIR "/lower" /* see view_base() */

/* One guard, looked up on the host. */
struct view_guard {
	const struct plan_op *op;
	int owner;      /* index of the writable grant around it */
	const char *at; /* the path, or the first component of it that is missing or no directory */
	bool exists;    /* at does */
	struct stat st; /* of at */
	bool is_whole;  /* at is the whole path */
	bool may_be_missing; /* in the sandbox, whatever the host has */
	bool is_visible;     /* something grants it: there is something to mount on */
	bool is_dir_in_base; /* nothing is there, and the base has a directory for it */
};

/* program.c */
struct view_step *view_add(struct view_program *p, enum view_step_kind kind, const char *path);
/* Keeps a copy of the first len bytes of s. */
const char *view_keep(struct view_program *p, const char *s, size_t len);
CORDON_MUST_CHECK int view_rule_add(struct view_program *p, const char *path,
				    enum landlock_access access);
static inline enum landlock_access view_write_access(bool is_noexec)
{
	return is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE;
}
bool view_op_is_mount(enum plan_op_kind kind);
/* Makes path (a directory, or an empty file) where it stands in a tmpfs of ours. */
CORDON_MUST_CHECK int view_place(struct view_program *p, size_t before, const char *path,
				 bool is_dir);
/* Mounts the host's path at itself. */
CORDON_MUST_CHECK int view_bind(struct view_program *p, const char *path, const struct stat *st,
				uint64_t attrs);
/* Clones of the placeholder have its attributes from now on. */
CORDON_MUST_CHECK int view_seal(struct view_program *p, const char *path);
/* A private, empty, writable directory at path.  It is one of the new root's: a file system for each would
 * cost more to make and to end than all that is in them. */
CORDON_MUST_CHECK int view_private(struct view_program *p, const char *path, unsigned mode,
				   bool is_noexec);
/* owner: the grant around path, or -1. */
CORDON_MUST_CHECK int view_cover(struct view_program *p, int owner, const char *path,
				 enum view_placeholder which, bool is_for_owned);
struct view_step *view_cover_with(struct view_program *p, int owner, const char *path,
				  const char *with);
/* The lower layer of the overlay of a grant, in the new root; NULL without memory. */
const char *view_lower(struct view_program *p, size_t owner);
/* The writable grant that path stands in, by index, or -1: the last one that covers it. */
CORDON_MUST_CHECK int view_owner(const struct plan *plan, const char *path);

/* What a private directory may hold that is a file system of its own, because no control group counts what is
 * in it: a quarter of the memory that the call may have.  Borrows; NULL without memory. */
const char *view_tmpfs_size(struct view_program *p);

/* special.c */
/* What of /dev does not depend on the plan, which may not be there; and what does. */
CORDON_MUST_CHECK int view_dev(struct view_program *p);
CORDON_MUST_CHECK int view_dev_of_plan(struct view_program *p);
CORDON_MUST_CHECK int view_proc(struct view_program *p, size_t i);

/* overlay.c */
CORDON_MUST_CHECK int view_overlay(struct view_program *p, size_t i, struct cordon_error *err);
/* Of a PLAN_OP_COW: the host's directory is a lower layer, and the change set is the upper one. */
CORDON_MUST_CHECK int view_cow(struct view_program *p, size_t i, struct cordon_error *err);
static inline bool view_is_cow(const struct view_program *p, int owner)
{
	return owner >= 0 && p->plan->ops[owner].kind == PLAN_OP_COW;
}

/* trace.c */
/* Takes away what overlayfs has written on the host's directories. */
void view_traces_remove(const struct view_program *p);

/* guard.c */
/* Holds what stands between a grant that is no overlay and guarded paths in it: a mount point cannot be moved
 * aside.  Comes after the grant and before what is mounted inside it. */
CORDON_MUST_CHECK int view_pin(struct view_program *p, size_t grant);
CORDON_MUST_CHECK int view_guards_add(struct view_program *p, struct view_guard *guards, size_t *n);
/* What is mounted at the guarded path once everything else is in place. */
CORDON_MUST_CHECK int view_guard_cover(struct view_program *p, const struct view_guard *g);
