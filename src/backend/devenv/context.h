/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image is built from: the Dockerfile and the files that it copies, as a tar archive, and the hash of that.
 * Nothing else of the directory leaves it.  Times and owners are not in the hash.
 */
#pragma once

#include "backend/devenv/dockerfile.h"
#include "base/sha256.h"

#define CONTEXT_BYTES (UINT64_C(4) << 30) /* of all files */
#define CONTEXT_FILES 500000

struct context_options {
	const char *dir;           /* canonical */
	const char *dockerfile;    /* relative to it, clean */
	const struct strv *denied; /* absolute: these, and what is in them, go into no image */
	int out_fd;                /* -1: only the hash is wanted */
};

/* *ret_file is always set up. */
CORDON_MUST_CHECK int context_make(const struct context_options *o, struct dockerfile *ret_file,
				   char ret_hash[static SHA256_HEX_LEN], struct cordon_error *err);
