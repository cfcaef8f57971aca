/* SPDX-License-Identifier: Apache-2.0 */
/* See step.h.  A file of its own, so that a linker can put another function in its place. */
#include "workspace/snap/step.h"

void snap_step(void)
{
}
