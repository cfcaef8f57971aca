/* SPDX-License-Identifier: Apache-2.0 */
/* See cow.h: no change set is ever made on macOS, so none is left. */
#include "workspace/cow/cow.h"

void cow_sweep(const char *state_dir)
{
	(void)state_dir;
}

int cow_recover_all(const char *state_dir, struct cordon_error *err)
{
	(void)state_dir;
	(void)err;
	return 0;
}
