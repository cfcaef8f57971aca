/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Man pages in scdoc markup, from the verb tables.  Only the generator (gen_docs.c) links this, not
 * the command.
 */
#pragma once

#include "cli/out.h"
#include "cli/verb.h"

/* The page of one verb, its subverbs included; the program's own page for verb == root.  fragments:
 * n_fragments texts, already scdoc, put before SEE ALSO. */
void man_write(struct out *o, const struct verb *root, const struct verb *verb,
	       const char *const *fragments, size_t n_fragments);
