/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Dockerfile takes from outside: files of its directory, images and addresses.  Read so that nothing is missed:
 * where a line cannot be told for certain, everything in the directory counts.  And .dockerignore.
 */
#pragma once

#include "base/str.h"

#define DOCKERFILE_BYTES (1024 * 1024)
#define DOCKERFILE_ITEMS 5000

struct dockerfile {
	struct strv sources; /* globs of COPY and ADD, clean and relative */
	bool takes_all;      /* every file counts */
	struct strv images;  /* of FROM and --from that no stage makes; "scratch" is none */
	bool has_variable;   /* one of these can be told by the engine alone */
	bool fetches;        /* ADD of an address */
};

void dockerfile_done(struct dockerfile *d);
/* *ret is always set up. */
CORDON_MUST_CHECK int dockerfile_read(const char *text, size_t len, struct dockerfile *ret,
				      struct cordon_error *err);
/* Can a file with this path, relative and clean, be copied?  A directory: can something in it be? */
bool dockerfile_takes(const struct dockerfile *d, const char *path, bool is_dir);

/* The patterns of a .dockerignore; those that take back begin with '!'. */
CORDON_MUST_CHECK int dockerignore_read(const char *text, size_t len, struct strv *ret,
					struct cordon_error *err);
bool dockerignore_has(const struct strv *patterns, const char *path);
/* Nothing below a directory that is left out can be taken back. */
bool dockerignore_is_plain(const struct strv *patterns);
