/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a container engine: the body of POST /containers/create, from a plan.
 *
 * The container holds what the plan grants and nothing else, at the same paths; no network unless the plan has the
 * host's; no capability but those with which root maps ids; the calls refused that our filter always refuses, but for
 * those that build a view.  Inside it the plan is carried out as everywhere (inside.c): so what mounts of an engine
 * cannot say (names that may not appear, denied paths, change sets, set-id bits) means the same, and what holds there
 * holds twice.
 */
#pragma once

#include "backend/container/mark.h"
#include "backend/plan.h"
#include "base/buf.h"

#define SPEC_DIR "/.cordon"            /* in the container: ours */
#define SPEC_INSIDE SPEC_DIR "/inside" /* its program */
#define SPEC_CALL SPEC_DIR "/call"     /* the directory with the socket */
#define SPEC_ASIDE SPEC_DIR "/aside"   /* plan->aside */
#define SPEC_ROOT SPEC_DIR "/root"     /* a directory that stands for the system */
#define SPEC_LABEL "dev.cordon.call"   /* of every container of ours */
#define SPEC_PLACE "dev.cordon.place"  /* and where the directory of its call is */
#define SPEC_OWN_PROCESSES 1           /* our own, beside those that a plan counts */

/* Podman makes a line of words of its command's from what it is asked to mount: a path ends at these, and what follows is an
 * option. */
#define SPEC_PODMAN_PARTS ",\"\r\n"

struct spec {
	const struct plan *plan;
	const char *image;
	const char *root;     /* NULL, or the directory of the host that stands for its system */
	const char *inside;   /* path of the program on the host */
	const char *call_dir; /* on the host */
	/* NULL: the profile of system calls stands in the body.  For podman: the file that it is in; nothing of /proc
	 * is hidden with an option of its own, too. */
	const char *profile;
	/* NULL, or bytes that no mount's path may have. */
	const char *parts_at;
	/* 0: a call's own container.  Else it waits so long for a call (warm.h), on a socket that it makes in call_dir. */
	unsigned idle_s;
};

struct json;

/* Writes the limits of memory, processor time and processes into the open HostConfig; own_processes are ours, beside
 * those that a plan counts. */
void spec_limits(struct json *j, const struct plan *plan, unsigned own_processes);
/* Appends the profile. */
CORDON_MUST_CHECK int spec_profile(struct buf *out);

/* What spec_write() mounts without a mark, beside the program: NULL-terminated. */
extern const char *const spec_unmarked[];

/* Appends the body, and to marks what stands behind the mounts of the plan.  Changes nothing. */
CORDON_MUST_CHECK int spec_write(const struct spec *s, struct buf *out, struct marks *marks,
				 struct cordon_error *err);
