/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on a kernel of their own, written in Go and run in user space: gVisor's runsc, through launch.h. */
#pragma once

#include "backend/launch/launch.h"

extern const struct cordon_backend gvisor_backend;

/* How its kernel gets hold of system calls. */
enum gvisor_platform { GVISOR_SYSTRAP, GVISOR_PTRACE, GVISOR_KVM, GVISOR_PLATFORM_COUNT };

/* The words of the command line.  0 or -errno. */
CORDON_MUST_CHECK int gvisor_line(const struct launch_line *line, enum gvisor_platform platform,
				  struct strv *out);
/* Has its own /proc or /dev something at this path that could be denied? */
bool gvisor_shows(const char *path);
/* The bundle's config.json.  -EOPNOTSUPP for a plan with what gVisor does not have, -EILSEQ for a path that JSON
 * cannot hold, -errno. */
CORDON_MUST_CHECK int gvisor_spec(const struct launch_line *line, struct buf *out);
