/* SPDX-License-Identifier: Apache-2.0 */
/* Where a value of the policy came from: layer, file, line, column. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In the order in which they are applied; a later layer wins over an earlier one, except that some
 * may only tighten (layer_only_tightens()). */
enum layer {
	LAYER_UNSET,     /* nothing wrote the value */
	LAYER_BUILTIN,   /* compiled in */
	LAYER_SYSTEM,    /* /etc/cordon/policy.yaml */
	LAYER_USER,      /* the user's policy.yaml */
	LAYER_PROJECT,   /* .cordon.yaml of the workspace: may only tighten */
	LAYER_FILE,      /* first --policy */
	LAYER_FILE_NEXT, /* further --policy files: may only tighten */
	LAYER_OPTION,    /* options of the command line */
	LAYER_CEILING,   /* /etc/cordon/ceiling.yaml: nothing exceeds it */
	LAYER_COUNT
};

struct origin {
	uint8_t layer; /* enum layer */
	bool implied;  /* follows from a block that the manifest leaves out */
	uint16_t file; /* index into the policy's table of file names */
	uint16_t root; /* the file that the layer named, when `file` is one that it refers to */
	uint32_t line; /* from 1; 0 when there is no file */
	uint32_t column;
};

/* "built-in", "system", …; never NULL. */
const char *layer_name(enum layer layer);
static inline bool layer_only_tightens(enum layer layer)
{
	return layer == LAYER_PROJECT || layer == LAYER_FILE_NEXT;
}
static inline bool origin_is_set(const struct origin *o)
{
	return o->layer != LAYER_UNSET;
}
/* Did somebody write it (not the built-in default, not implied by an omission)? */
static inline bool origin_is_written(const struct origin *o)
{
	return o->layer > LAYER_BUILTIN && !o->implied;
}
