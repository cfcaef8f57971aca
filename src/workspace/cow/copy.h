/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a whole workspace, for where no overlay can be had.  Content is shared where the file system can
 * (reflink); else it is copied, and bounded.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Copies the directory from to name in dir: modes, times, links, attributes, holes; owners where we may.  What is
 * mounted in it is an error, as in an overlay; a directory of mounts (relative paths, or NULL) is left empty, and
 * each of them must be one.  CORDON_E_LIMIT beyond LIMIT_COW_COPY_BYTES or
 * LIMIT_COW_COPY_FILES.  What was copied is appended to list (base.h). */
CORDON_MUST_CHECK int copy_tree(int from, int dir, const char *name, const struct strv *mounts,
				struct buf *list, struct cordon_error *err);
