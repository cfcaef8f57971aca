/* SPDX-License-Identifier: Apache-2.0 */
/* What a trial asks of the system that it runs on: trial_linux.c, trial_darwin.c. */
#pragma once

#include "base/error.h"

#define TRIAL_HOST_MAX 192

/* A directory of the machine's that a trial can be made in. */
const char *trial_place(void);
/* Which start of the machine this is and which program we are, as words on one line: an answer that was kept goes with
 * them.  0 or -errno. */
CORDON_MUST_CHECK int trial_host(char ret[static TRIAL_HOST_MAX]);
