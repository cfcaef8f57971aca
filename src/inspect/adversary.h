/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that speaks to the agent: instructions hidden in documents and in what tools return.
 */
#pragma once

#include "inspect/context.h"

/* Adds the findings of a text, read as c->document. */
CORDON_MUST_CHECK int adversary_inspect(const struct inspect_context *c, const char *text,
					size_t len, struct findings *ret, struct cordon_error *err);
