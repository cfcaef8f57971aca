/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer when we fail after a tool ran: its output is there already, and exit code 2 would leave it in front of the
 * model.  So the output is withheld as far as the dialect can: replaced by a value of the same shape without its texts,
 * or by the reason, or at least with a warning beside it.
 *
 * The question may be one on which everything else failed: too deep, cut off, not JSON at its end.  So it is not parsed
 * but looked through from its start, without a tree and as far as it goes.
 */
#pragma once

#include "base/buf.h"
#include "hook/dialect.h"

#define HOOK_WITHHELD "[withheld by cordon]"

/* Appends the answer and gives HOOK_EXIT_PASS; or appends nothing and gives HOOK_EXIT_DENY, when this is not known to be
 * about a tool that ran.  why: "because …", one line. */
void hook_withhold(const struct hook_dialect *asked, const char *text, size_t len, const char *why,
		   struct buf *out, int *ret_code);

/* What kind of thing a value is, is not withheld: an answer of another shape would be ignored.  A word, not a text.
 * key has key_len bytes and may be NULL. */
bool hook_is_label(const char *key, size_t key_len, const char *text, size_t len);
