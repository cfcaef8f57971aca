/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: chunks and listings, by their hash.  They are written to a directory of the writer's own; when all are
 * on the disk they are moved to their places.  So what stands in its place is whole, also after the power failed,
 * and one syncfs() serves for thousands of files.
 */
#pragma once

#include "workspace/snap/store.h"

/* Compression. */
struct snap_zip;
CORDON_MUST_CHECK int snap_zip_new(struct snap_zip **ret); /* 0 or -ENOMEM */
void snap_zip_free(struct snap_zip *z);
/* At most max bytes; -EBADMSG for what is no frame or says or gives more, -ENOMEM.  Gives. */
CORDON_MUST_CHECK int snap_zip_unpack(struct snap_zip *z, const void *data, size_t len, size_t max,
				      char **ret, size_t *ret_len);
/* The same into a place of max bytes. */
CORDON_MUST_CHECK int snap_zip_unpack_into(struct snap_zip *z, const void *data, size_t len,
					   void *to, size_t max, size_t *ret_len);

struct snap_stage {
	struct snap_store *store;
	char name[17];
	int fd;
	uint64_t bytes; /* written */
	size_t n;
	uint64_t used; /* of the store, when it began */
};
/* The store is locked, shared. */
CORDON_MUST_CHECK int snap_stage_begin(struct snap_store *s, struct snap_stage *ret,
				       struct cordon_error *err);
/* Writes a chunk unless the store has it. */
CORDON_MUST_CHECK int snap_stage_chunk(struct snap_stage *g, const void *data, size_t len,
				       uint8_t ret[static SNAP_DIGEST], struct cordon_error *err);
CORDON_MUST_CHECK int snap_stage_listing(struct snap_stage *g, const void *data, size_t len,
					 uint8_t ret[static SNAP_DIGEST], struct cordon_error *err);
/* An object as an export has it: already compressed or not, its hash known to be right. */
CORDON_MUST_CHECK int snap_stage_object(struct snap_stage *g,
					const uint8_t digest[static SNAP_DIGEST], const void *data,
					size_t len, bool is_packed, bool is_listing,
					struct cordon_error *err);
/* Moves everything to its place, on the disk. */
CORDON_MUST_CHECK int snap_stage_publish(struct snap_stage *g, struct cordon_error *err);
/* Removes what was not published. */
void snap_stage_done(struct snap_stage *g);

/* Reads a chunk that must have len bytes and this hash into to (SNAP_CHUNK bytes).
 * Return: 0; CORDON_E_CORRUPT when it is missing or not what it should be. */
CORDON_MUST_CHECK int snap_object_read(struct snap_store *s,
				       const uint8_t digest[static SNAP_DIGEST], size_t len,
				       void *to, struct cordon_error *err);
/* The bytes in the file, for an export; gives. */
CORDON_MUST_CHECK int snap_object_read_file(struct snap_store *s,
					    const uint8_t digest[static SNAP_DIGEST],
					    bool is_listing, char **ret, size_t *ret_len,
					    bool *ret_is_packed, struct cordon_error *err);
/* Reads, checks and decodes a listing. */
CORDON_MUST_CHECK int snap_listing_read(struct snap_store *s,
					const uint8_t digest[static SNAP_DIGEST],
					struct snap_manifest *ret, struct cordon_error *err);
bool snap_listing_exists(struct snap_store *s, const uint8_t digest[static SNAP_DIGEST]);
/* Moves what is under that name to STORE_DAMAGED.  The store is locked alone.  1; 0 when nothing is there. */
CORDON_MUST_CHECK int snap_object_set_aside(struct snap_store *s,
					    const uint8_t digest[static SNAP_DIGEST],
					    bool is_listing, struct cordon_error *err);
