/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions from policy files (PCRE2, bytes, case-sensitive unless the pattern says
 * otherwise), searched unanchored.  Two defences against patterns that explode: matching stops at
 * LIMIT_REGEX_MATCH steps or LIMIT_REGEX_MS and then counts as a match (refuse, not pass), and a pattern
 * that reaches the limit on short provoking texts is not accepted in the first place.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/* Compiles.  The message says what is wrong and at which character. */
CORDON_MUST_CHECK int pattern_compile(const char *source, struct pattern **ret,
				      struct cordon_error *err);
void pattern_free(struct pattern *p);
/* 1 found, 0 not found, CORDON_E_LIMIT when it gave up (callers treat that as found). */
CORDON_MUST_CHECK int pattern_search(const struct pattern *p, const char *text, size_t len);
/* Compiles, and provokes: CORDON_E_POLICY when it is invalid or explodes. */
CORDON_MUST_CHECK int pattern_check(const char *source, struct cordon_error *err);
