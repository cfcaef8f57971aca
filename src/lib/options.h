/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about policy options share. */
#pragma once

#include "lib/lib.h"

/* cordon_policy_options_set() without the border. */
CORDON_MUST_CHECK int lib_options_set(struct cordon_policy_options *o, const char *option,
				      const char *value, struct cordon_error *err);
/* Spoils the options when r is an error; err must not be NULL.  Returns r. */
int lib_options_end(struct cordon_policy_options *o, int r, struct cordon_error *err);
void lib_text_done(struct policy_text *t);
