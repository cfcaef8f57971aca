/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 32 bytes to a number: which objects are needed, which names one inode has. */
#pragma once

#include "workspace/snap/snap.h"

struct snap_map {
	struct snap_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t n;
};

void snap_map_done(struct snap_map *m);
/* NULL when it is not there; the place can be written to until the next snap_map_put(). */
uint64_t *snap_map_get(const struct snap_map *m, const uint8_t key[static SNAP_DIGEST]);
/* Keeps what is there.  1 when it was not, 0, -ENOMEM. */
CORDON_MUST_CHECK int snap_map_put(struct snap_map *m, const uint8_t key[static SNAP_DIGEST],
				   uint64_t value);
/* A key of numbers. */
void snap_map_key(uint64_t a, uint64_t b, uint8_t ret[static SNAP_DIGEST]);
