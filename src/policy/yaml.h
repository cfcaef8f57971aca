/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML document as a tree of nodes that know their line and column.  libyaml scans; the limits are
 * ours: bytes, depth, nodes after alias expansion, aliases, scalar length, documents.  Strict on
 * purpose: duplicate keys, keys that are not plain strings, explicit tags and merge keys are errors.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ynode_kind {
	YNODE_SCALAR,
	YNODE_MAP,
	YNODE_SEQ,
};

struct ynode {
	enum ynode_kind kind;
	uint32_t line;   /* from 1 */
	uint32_t column; /* from 1 */
	bool quoted;     /* scalar written with quotes or as a block */
	char *text;      /* scalar: NUL-terminated, no NUL inside */
	size_t len;
	struct ynode *
		*items; /* seq: items; map: key, value, key, value … (borrowed from the stream) */
	size_t n;       /* number of entries (pairs of a map) */
	size_t cap;
	size_t weight; /* nodes in this subtree with aliases expanded */
};

struct ystream {
	struct ynode **docs; /* root of each document; borrowed from nodes */
	size_t n_docs;
	size_t docs_cap;
	struct ynode **nodes; /* everything, for freeing */
	size_t n_nodes;
	size_t nodes_cap;
};

/* Parses text.  name stands in messages ("name:line:column: …").  *ret is untouched on failure. */
CORDON_MUST_CHECK int ystream_parse(const char *text, size_t len, const char *name,
				    struct ystream *ret, struct cordon_error *err);
void ystream_done(struct ystream *s);

/* The value of key in a map node, or NULL. */
const struct ynode *ynode_get(const struct ynode *map, const char *key);
/* Is this a plain scalar that YAML 1.2 reads as null (empty, ~, null)? */
bool ynode_is_null(const struct ynode *node);
/* "a string", "a number", "a boolean", "null", "a map", "a list": what a person would call it. */
const char *ynode_describe(const struct ynode *node);
