/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan, compiled: the list of system-call-sized steps that the child carries out without allocating,
 * searching or deciding anything.  Everything that can be looked up or refused is, before the clone, in
 * our own process.
 */
#pragma once

#include "backend/confine/landlock.h"
#include "backend/plan.h"
#include "backend/scratch.h"
#include "base/str.h"

#include <sys/types.h>

#define VIEW_STEPS_MAX 65536 /* steps of one program; each protected name takes two or three */
#define VIEW_DIR ".cordon"   /* in the new root: placeholders; closed before the command starts */
#define VIEW_TREES_MAX 8     /* directories of the system that are public only */
#define VIEW_MAP_MAX 32      /* bytes of a line "4294967294 UID 1" */

enum view_step_kind {
	VIEW_DIRECTORY, /* make path; may be there */
	VIEW_EMPTY,     /* make path an empty file: a place to mount on */
	VIEW_SOCKET,    /* make path a socket, for its type in listings */
	VIEW_LINK,      /* make path another name of source, which stands in the new root */
	VIEW_SYMLINK,   /* make path a link to source */
	VIEW_FILE,      /* make path a file with the content source */
	VIEW_BIND,      /* mount the host's source at path */
	VIEW_DEVICE,    /* the same for a device node of the system */
	VIEW_TREE,      /* mount the detached tree fd at path */
	VIEW_SEAL,      /* make a placeholder a mount of its own, with the attributes */
	VIEW_COVER,     /* mount the placeholder source at path */
	VIEW_PRIVATE, /* mount source of the new root at path, writable unless attrs say otherwise */
	VIEW_TMPFS,   /* mount a new tmpfs at path; source is its size or NULL */
	VIEW_PROC,    /* of our pid namespace; source is NULL or a value of hidepid= (Linux 5.8) */
	VIEW_PTS,
	/* mount at path: upper is source, lower is lower, work is work or NULL: read-only.  With `upper` that is the
	 * upper layer, and source the first of two lower ones. */
	VIEW_OVERLAY,
	VIEW_LISTEN, /* make path a socket and listen on it */
	VIEW_STEP_COUNT
};

struct view_step {
	enum view_step_kind kind;
	const char *path; /* relative to the new root, without links */
	const char *source;
	size_t len;        /* FILE: of source; 0: up to its NUL */
	const char *lower; /* OVERLAY: relative to the new root */
	const char *work;  /* OVERLAY: of the host */
	const char *upper; /* OVERLAY: of the host, or NULL */
	const char *dir;   /* COVER: where path stands, if name alone is left of it */
	const char *name;
	uint64_t attrs; /* MOUNT_ATTR_* */
	unsigned mode;
	bool may_be_missing; /* SEAL, COVER: nothing at path is no error */
	/* Only where placeholders have an owner and could be replaced (see struct view_cache); else the
	 * last of such steps only says what to hold on to. */
	bool is_for_owned;
	bool is_spare; /* only for who mounts /proc himself, and not read-only */
	int fd; /* VIEW_TREE; others: -1, or what view_overlays_make() or view_fetch() made of it */
	dev_t dev; /* of source, as it was when the plan was compiled */
	ino_t ino;
};

struct view_rule {
	const char *path;
	enum landlock_access access;
};

/* What maps our own ids to nobody's, in a user namespace below ours. */
struct view_maps {
	char uid[VIEW_MAP_MAX];
	char gid[VIEW_MAP_MAX];
};

struct view_program {
	const struct plan *plan;
	struct view_step *steps;
	size_t n;
	size_t cap;
	size_t n_base;           /* the first ones are those of view_base() */
	size_t n_lower;          /* and these make the lower layers of overlays */
	int base_owner;          /* the op whose overlay has its lower layer, or -1 */
	struct view_rule *rules; /* what Landlock grants, beside reading everything that is there */
	struct landlock_rule *open_rules; /* room for them, n_rules + 1 */
	size_t n_rules;
	size_t rules_cap;
	struct view_maps maps;
	int nobody_ns;        /* such a namespace, of this process; owned, or -1 */
	struct strv strings;  /* owns what the steps point to */
	struct scratch *work; /* directories on the host, n_work of them */
	size_t n_work;
	size_t work_cap;
	bool *guarded; /* by op: a writable grant that is mounted as an overlay */
	bool has_overlay;
	unsigned made;             /* placeholders that have their steps, by bit */
	int trees[VIEW_TREES_MAX]; /* detached mounts, owned */
	size_t n_trees;
};

/* Compiles.  *ret is always set up: view_program_done() frees it and removes its scratch directories. */
CORDON_MUST_CHECK int view_compile(const struct plan *plan, struct view_program *ret,
				   struct cordon_error *err);
/* What every view begins with, whatever the plan (that has a PLAN_OP_DEV): the new root's own directories, /dev,
 * and the placeholders of a workspace without any of the protected names.  0 or -errno. */
CORDON_MUST_CHECK int view_base(struct view_program *ret);
/* What others have made before. */
struct view_made {
	const struct view_program *base; /* outlives the program; or NULL */
	/* Gives a view_nobody_namespace() of this user (the fd is ours then) or -errno; asked as late as
	 * possible, and only if one is needed. */
	int (*nobody)(void);
};
CORDON_MUST_CHECK int view_compile_with(const struct plan *plan, const struct view_made *made,
					struct view_program *ret, struct cordon_error *err);
void view_program_done(struct view_program *p);

/* A detached clone of path in which nobody owns anything.  Needs root.  *nobody_ns is a view_nobody_namespace() of this
 * process, made if it is negative.  The fd or -errno. */
CORDON_MUST_CHECK int view_public_tree(const char *path, const struct view_maps *maps,
				       int *nobody_ns);
void view_nobody_maps(struct view_maps *ret);
/* A user namespace with these maps, for view_disown().  Allocates nothing.  The fd or -errno. */
CORDON_MUST_CHECK int view_nobody_namespace(const struct view_maps *maps);
/* Makes the detached mount one in which no file belongs to anybody, so that even its owner has only the
 * rights of others, and read-only.  0 or -errno (-EINVAL: the file system does not support it). */
CORDON_MUST_CHECK int view_disown(int tree, int nobody_ns);
