/* SPDX-License-Identifier: Apache-2.0 */
/* See limits.h: macOS's half.  Its limit of processes counts all of a user's, which is no limit of a call. */
#include "backend/limits.h"

bool limits_nproc_holds(void)
{
	return false;
}

bool limits_can_sample(void)
{
	return true; /* run/sample_darwin.c looks at processes of our own */
}
