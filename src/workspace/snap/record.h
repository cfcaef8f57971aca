/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a snapshot, in names/: what snap_list() shows, and the hash of its listing. */
#pragma once

#include "base/limits.h"
#include "workspace/snap/store.h"

#define RECORD_BYTES (1024 * 1024)

/* Letters, digits, ".", "_" and "-", not first a dot or dash. */
bool snap_record_name_is_good(const char *name);
/* "snap-20260102-030405-1a2b3c" */
CORDON_MUST_CHECK int snap_record_make_name(char ret[static LIMIT_SNAPSHOT_NAME + 1]);
void snap_record_encode(struct buf *b, const struct snap_info *i);
/* Pure; the seal is checked.  0, -EBADMSG, -ENOMEM. */
CORDON_MUST_CHECK int snap_record_decode(const void *data, size_t len, struct snap_info *ret);
/* Puts it in its place, on the disk.  CORDON_E_INVALID when there is one of that name and replaces is not said. */
CORDON_MUST_CHECK int snap_record_write(struct snap_store *s, const struct snap_info *i,
					bool replaces, struct cordon_error *err);
CORDON_MUST_CHECK int snap_record_count(struct snap_store *s, size_t *ret,
					struct cordon_error *err);
