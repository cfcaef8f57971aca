/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of cordon-devenv: the container that a policy asks for, the program started and heard, and a backend that
 * runs a call in the container of a project.
 */
#pragma once

#include "backend/backend.h"
#include "backend/devenv/devenv.h"
#include "base/sha256.h"

/* What a project's container is, before any image. */
struct devenv {
	const char *engine;      /* "docker" or "podman"; the rest borrowed from the maker, too */
	const char *project;     /* canonical */
	const char *state_dir;   /* canonical */
	const char *dockerfile;  /* relative to the project, clean */
	const struct plan *plan; /* ops, limits, net and separates_exec count */
	const struct strv
		*writes; /* directories of the project that can be written, canonical; or NULL */
	char terms[SHA256_HEX_LEN]; /* of devenv_terms() */
};

/* What to do beside the verb. */
struct devenv_ask {
	const char *image; /* or NULL: the one that was built */
	bool is_forced;    /* build again, from nothing */
	bool builds;       /* SWAP: and build before */
	bool looks;        /* STATUS: also whether the image is stale */
	void (*step)(void *data, uint32_t n, uint32_t total, const char *text); /* or NULL */
	void *data;
};

/* The body of the request that makes the container, without the image.  CORDON_E_UNSUPPORTED for a plan that a container
 * of its kind cannot hold. */
CORDON_MUST_CHECK int devenv_write(const struct devenv *d, struct buf *out,
				   struct cordon_error *err);
/* Sets d->terms: what holds for every container of the policy, so that a call under another one is noticed. */
CORDON_MUST_CHECK int devenv_terms(struct devenv *d, struct cordon_error *err);
/* Does it: every verb but EXEC. */
CORDON_MUST_CHECK int devenv_do(const struct devenv *d, enum devenv_verb verb,
				const struct devenv_ask *ask, struct devenv_status *ret,
				struct cordon_error *err);

/* Runs a call in the container; plan->entry->data is the struct devenv. */
extern const struct cordon_backend devenv_docker_backend;
extern const struct cordon_backend devenv_podman_backend;
guarantee_set devenv_guarantees(const struct devenv *d);
