/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through a sandbox program of the machine.
 *
 * Theory of operation.  Our own child makes a mount namespace (and, for it, a user namespace), builds the same
 * view as native in it, at /view of a private root that holds the host's tree at /host, and executes the program.
 * That one makes the other namespaces, mounts a /proc of the new pid namespace, enters the view and executes our
 * launcher (inner.c) from a descriptor.  So every backend of this kind holds the same view by the same steps, and
 * no option of a program has to express what it may not know: overlays, covers, seals, owners.
 *
 * A program with a kernel of its own (gvisor) is an OCI runtime.  It gets more from us: it is the first process of a
 * pid namespace and root of the user namespace, so that the end of it is the end of whatever it started, and its
 * bundle stands in the private root.  The launcher runs as the first process of that other kernel, which has no
 * Landlock, and has its own /proc and /dev.
 */
#pragma once

#include "backend/backend.h"
#include "backend/view/program.h"

#define LAUNCH_VIEW "/view"              /* where the view stands when the program starts */
#define LAUNCH_COMMAND "/proc/self/fd/3" /* what it has to execute: LAUNCH_FD_PROGRAM */
#define LAUNCH_CAPABILITY "CAP_SETPCAP"  /* all that the launcher needs */
#define LAUNCH_BUNDLE "/bundle"          /* of an OCI runtime, with its config.json */
#define LAUNCH_BUNDLE_CONFIG LAUNCH_BUNDLE "/config.json"
/* There the launcher is a file in the view, which is read-only: a C library wants to find the path of its program,
 * and the descriptor of another kernel has none. */
#define LAUNCH_FILE "/.cordon-launch"
#define LAUNCH_BUNDLE_MAX (1024 * 1024)

/* A mount in the new /proc: it is made by the program, because the namespace is. */
struct launch_cover {
	const char *source; /* as the program sees it */
	const char *path;
};

/* What the command line is made from. */
struct launch_line {
	const struct plan *plan;
	bool is_root; /* ids are mapped already: no user namespace is to be made */
	unsigned uid;
	unsigned gid;
	int nice; /* as it is, for a program that would change it */
	bool has_proc;
	uint64_t shm_bytes;                /* of a /dev/shm that the program makes */
	const struct launch_cover *covers; /* read-only, in order */
	size_t n_covers;
};

struct launch_tool {
	const struct backend_info *info;
	const char *program; /* its name */
	const char *package; /* what to install */
	/* NULL, or which of several ways to use it: one that works is kept under this name. */
	const char *variant;
	/* It is known to leave a network alone that we made: so that one with doors holds under it. */
	bool keeps_network;
	/* It waits for SIGCHLD and a timer, which it does not unblock: these two get through to it.  All other signals
	 * stay blocked, as they do for a program that waits otherwise. */
	bool wakes_by_signal;
	/* Appends the words of the command line, the name of the program first.  Pure. */
	int (*line)(const struct launch_line *line, struct strv *out);
	/* The launcher mounts the covers, with capabilities that the line has to ask for; the line is given none. */
	bool leaves_covers;
	/* It makes the root read-only by a remount that takes every other attribute away, which the kernel lets nobody
	 * do in a user namespace below: the view's own mount, which holds directories, links and placeholders of ours,
	 * has none then. */
	bool strips_root;
	/* NULL (then it is the first line), or picks out of what it printed before it gave up why it did.  Pure. */
	void (*complaint)(const char *said, struct buf *out);
	/* NULL, or it is an OCI runtime with a kernel of its own: appends the bundle's config.json.  Pure. */
	int (*bundle)(const struct launch_line *line, struct buf *out);
	/* With it: is there something at this path in its own /proc or /dev that could be denied?  Pure. */
	bool (*shows)(const char *path);
};

struct launch_setting; /* image.h */

/* Appends the block that the launcher reads, with the filter that the plan asks for and our own mask.  covered may be
 * NULL (image.h). */
CORDON_MUST_CHECK int launch_image_of(const struct view_program *p,
				      const struct launch_setting *other,
				      const struct strv *covered, struct buf *out);

/* As backend.h says. */
CORDON_MUST_CHECK int launch_spawn(const struct launch_tool *tool, const struct plan *plan,
				   struct spawn_result *ret, struct cordon_error *err);
void launch_probe(const struct launch_tool *tool,
		  int (*spawn)(const struct plan *plan, struct spawn_result *ret,
			       struct cordon_error *err),
		  enum probe_form form, guarantee_set wanted, struct probe *ret);
