/* SPDX-License-Identifier: Apache-2.0 */
/* The backends with what was found of them, for the verbs that show them: backends and doctor. */
#pragma once

#include "backend/registry.h"
#include "base/json.h"
#include "cli/out.h"

/* The member "backends" of the open object. */
void backends_rows_json(const struct candidate *candidates, size_t n, struct json *j);
/* A table.  0 or -errno. */
CORDON_MUST_CHECK int backends_rows_text(struct out *out, const struct candidate *candidates,
					 size_t n);
