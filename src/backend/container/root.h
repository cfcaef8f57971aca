/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands for the host's system in a container's call: what its image has at the top, or what a directory of the
 * host has that is mounted at SPEC_ROOT.
 */
#pragma once

#include "backend/plan.h"

/* In the container: puts these steps in the place of the host's, first, as the host's were.  The new list lives as long as
 * the process.  0 or -errno. */
CORDON_MUST_CHECK int root_replace(struct plan *plan);
