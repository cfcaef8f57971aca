/* SPDX-License-Identifier: Apache-2.0 */
/* What overlayfs cannot be laid over, told before anything is made. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* Can an overlay write through to the directory path (canonical)?  If not, *ret_why says why, as a clause.  Looks at the
 * list of mounts alone: what that does not show, the mount itself says later. */
bool view_upper_is_possible(const char *path, struct buf *ret_why);
/* Is something mounted below path?  Then overlayfs would show what is under it, and refuses to.  *ret_where: the place. */
bool view_upper_has_mounts(const char *path, struct buf *ret_where);
