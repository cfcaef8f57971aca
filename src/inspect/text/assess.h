/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text after another, judged by cues, signs of hiding and the model.  An assessor holds the buffers that
 * this takes and is used for one inspection.
 */
#pragma once

#include "inspect/context.h"

struct assessor;

CORDON_MUST_CHECK int assess_new(enum inspect_document kind, size_t len, struct findings *ret,
				 struct assessor **ret_assessor, struct cordon_error *err);
void assess_free(struct assessor *j);
CORDON_MUST_CHECK int assess_text(struct assessor *j, const char *text, size_t len,
				  struct cordon_error *err);
