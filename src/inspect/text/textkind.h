/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of document a text is, from its path and its words, when nobody said.
 */
#pragma once

#include "inspect/context.h"

/* INSPECT_DOCUMENT_ANY when nothing tells. */
enum inspect_document textkind_of_path(const char *path);
/* Does the text write about attacks?  Looks at the first LIMIT_TEXT_PIECE bytes. */
bool textkind_is_security(const char *text, size_t len);
/* The kind to judge by: the caller's, or else the path's, or else the text's. */
enum inspect_document textkind_of(const struct inspect_context *c, const char *text, size_t len);
