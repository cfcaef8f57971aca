/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 by nettle, which uses the processor's own instructions where there are any: a snapshot hashes every byte
 * of a tree, a record of the audit trail (base/sha256.h) only a line.
 */
#pragma once

#include "workspace/snap/snap.h"

#define SNAP_HEX (2 * SNAP_DIGEST + 1) /* with the NUL */

void snap_digest(const void *data, size_t len, uint8_t ret[static SNAP_DIGEST]);
void snap_hex(const uint8_t digest[static SNAP_DIGEST], char ret[static SNAP_HEX]);
/* Exactly 64 lower-case digits. */
CORDON_MUST_CHECK bool snap_unhex(const char *text, size_t len, uint8_t ret[static SNAP_DIGEST]);
/* No hash: what stands for a chunk that is a hole. */
bool snap_digest_is_hole(const uint8_t digest[static SNAP_DIGEST]);

/* In pieces. */
struct snap_hash;
CORDON_MUST_CHECK int snap_hash_new(struct snap_hash **ret);
void snap_hash_free(struct snap_hash *h);
void snap_hash_add(struct snap_hash *h, const void *data, size_t len);
void snap_hash_finish(struct snap_hash *h, uint8_t ret[static SNAP_DIGEST]);
DEFINE_FREEP(struct snap_hash, snap_hash_free)
