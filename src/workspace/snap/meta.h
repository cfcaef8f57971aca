/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is besides its content: kind, mode, owner, times, attributes; read, compared and set. */
#pragma once

#include "workspace/snap/manifest.h"

#include <sys/stat.h>

/* 0 for what is not saved: sockets and devices. */
enum snap_kind snap_meta_kind(const struct statx *st);
/* All but path, content and attributes. */
void snap_meta_of(const struct statx *st, struct snap_entry *ret);
/* Are kind, mode, owner and time, and the size of a file, as they were? */
bool snap_meta_is_equal(const struct snap_entry *e, const struct statx *st);

/* Appends the attributes of a file that was opened in any way (O_PATH too), in the order of their names.  Those that
 * the system itself gives out by its own rules (labels, checksums) are left out.  0 or -errno; -E2BIG. */
CORDON_MUST_CHECK int snap_meta_read_xattrs(int fd, struct buf *out);

struct meta_rights {
	bool is_foreign; /* the listing came from somebody else: no owners, no set-id bits, user.* alone */
	uint64_t owners_kept;
};
/* Gives a file, opened in any way, what the entry says; not the content.  is_new: it has no attributes yet.
 * 0 or -errno.  An owner that we have no right to give is left, the set-id bits with him. */
CORDON_MUST_CHECK int snap_meta_apply(int fd, const struct snap_entry *e, bool is_new,
				      struct meta_rights *rights);
