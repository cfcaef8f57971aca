/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of document that a policy file may hold, told apart by their content, and their
 * envelopes.  Pure, except that a CKP manifest of kind Claw may refer to other files: those are
 * fetched through a function that the loader hands in.
 */
#pragma once

#include "policy/read.h"

enum document_kind {
	DOCUMENT_EMPTY,
	DOCUMENT_CKP_SANDBOX,
	DOCUMENT_CKP_POLICY,
	DOCUMENT_CKP_CLAW,
	DOCUMENT_CLONEGUARD,
	DOCUMENT_CORDON,
	DOCUMENT_COUNT
};

struct document_refs {
	/* Reads the document(s) that `ref` (a relative path, a glob or a claw:// URI) of the file being
	 * read stands for into reader->into; only documents of kind `want` are accepted. */
	int (*fetch)(void *data, struct policy_reader *reader, const struct ynode *node,
		     const char *ref, enum document_kind want);
	void *data;
};

const char *document_kind_name(enum document_kind kind);
/* Reads one document into r->into.  *ret_kind tells what it was. */
CORDON_MUST_CHECK int document_read(struct policy_reader *r, const struct ynode *root,
				    const struct document_refs *refs, enum document_kind *ret_kind,
				    struct cordon_error *err);
