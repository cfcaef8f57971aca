/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border of the library.  Every public function that can fail begins with lib_enter() and returns
 * its errors through lib_leave(); every struct of the caller crosses with lib_struct_in() or
 * lib_struct_out().
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <cordon/cordon.h>

void lib_enter(struct cordon_error *err);
/* The one place where codes leave: what is not in the public table becomes CORDON_E_INTERNAL. */
int lib_leave(int r, struct cordon_error *err);
/* CORDON_E_INVALID for an argument that must not be NULL. */
int lib_missing(struct cordon_error *err, const char *what);
/* Copies a caller's struct into ours of size bytes.  A shorter one (of an older program) is filled up
 * with zeros; of a longer one the rest must be zero, since what it asks for is not known here. */
CORDON_MUST_CHECK int lib_struct_in(void *ret, size_t size, const void *from, const char *what,
				    struct cordon_error *err);
/* Can lib_struct_out() write there? */
CORDON_MUST_CHECK int lib_struct_check(const void *ret, const char *what, struct cordon_error *err);
/* Copies ours of size bytes into the caller's, as far as that goes; its struct_size stays. */
void lib_struct_out(void *ret, const void *from, size_t size);
/* Gives the contents of a buffer.  ret_len may be NULL. */
CORDON_MUST_CHECK int lib_give(struct buf *b, const char *what, char **ret, size_t *ret_len,
			       struct cordon_error *err);
/* 0, or CORDON_E_INVALID for text that is not UTF-8. */
CORDON_MUST_CHECK int lib_text(const char *text, const char *what, struct cordon_error *err);
/* Copies a caller's list, which ends with NULL; NULL is an empty one.  Give *ret back in any case. */
CORDON_MUST_CHECK int lib_list(const char *const *from, struct strv *ret, struct cordon_error *err);
