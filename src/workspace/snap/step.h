/* SPDX-License-Identifier: Apache-2.0 */
/* Called between any two steps that change a disk.  Does nothing; the crash test puts itself in its place. */
#pragma once

void snap_step(void);
