/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing one place in a JSON text and leaving every other byte as it is: order, blanks, comments and
 * spelling are the owner's.  Pure.  The text has been parsed before (comments blanked, base/jsonc.h), so these
 * functions only have to find their way; on anything else they find nothing, and never leave the text.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* Half-open, in bytes. */
struct splice_span {
	size_t start;
	size_t end;
};

/* One member or element, and its neighbours. */
struct splice_place {
	struct splice_span whole; /* with the key */
	struct splice_span value;
	bool is_first;
	bool is_last;
	size_t before; /* where the one before ends, or behind the bracket */
	size_t after;  /* where the next begins; only where there is one */
};

/* The member of the object that begins at `at`. */
bool splice_member(const char *text, size_t len, size_t at, const char *key,
		   struct splice_place *ret);
/* The element of the list that begins at `at`. */
bool splice_element(const char *text, size_t len, size_t at, size_t index,
		    struct splice_place *ret);
/* Where the root value begins. */
size_t splice_root(const char *text, size_t len);

/* Appends the original text without that member or element and the comma that goes with it. */
void splice_remove(const char *text, size_t len, const struct splice_place *place, struct buf *out);
/* Appends it with a new last member (key not NULL) or element in the container that begins at `at`.  read is the text
 * with its comments blanked.  False when there is no container. */
bool splice_append(const char *text, const char *read, size_t len, size_t at, const char *key,
		   const char *value, struct buf *out);
