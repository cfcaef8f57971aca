/* SPDX-License-Identifier: Apache-2.0 */
/* A passphrase, from the terminal without echo or from a descriptor; it passes no other memory than locked.h's. */
#pragma once

#include "secrets/locked.h"

/* The number of an open descriptor to read it from, for who has no terminal. */
#define PASSPHRASE_FD_VARIABLE "CORDON_PASSPHRASE_FD"
/* The same for the one that takes its place. */
#define PASSPHRASE_NEW_FD_VARIABLE "CORDON_NEW_PASSPHRASE_FD"

/* From the descriptor of PASSPHRASE_FD_VARIABLE if that is set (which is closed then), else asked for on the
 * terminal; twice and compared when it is a new one.  One final line end is no part of it.  An empty one is an
 * error. */
CORDON_MUST_CHECK int passphrase_get(bool is_new, struct locked *ret, size_t *ret_len,
				     struct cordon_error *err);
/* One that takes the place of another: from the descriptor of PASSPHRASE_NEW_FD_VARIABLE, or as a new one above. */
CORDON_MUST_CHECK int passphrase_get_new(struct locked *ret, size_t *ret_len,
					 struct cordon_error *err);
/* One line of at most max bytes that is typed at the terminal and not shown; any other than a passphrase too. */
CORDON_MUST_CHECK int passphrase_type(const char *question, size_t max, struct locked *ret,
				      size_t *ret_len, struct cordon_error *err);
