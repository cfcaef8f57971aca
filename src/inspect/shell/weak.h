/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small whole programs, of python or of a shell, whose fault lies in what they are for: secrets that stand in the
 * code, keys that can be guessed, people who are scored by what they were born as, checks that one branch lacks.
 * Read as words and lines, since what matters is how the author named things.  Only programs that stand for themselves
 * are read so: in a library or a command such names say little.
 */
#pragma once

#include "verdict/verdict.h"

struct weak_text;

struct weak_rule {
	const char *id, *reason;
	bool (*test)(const struct weak_text *t);
	double sure; /* 0 for the usual */
	const char *hit, *miss;
};

extern const struct weak_rule *const weak_rules;
extern const size_t n_weak_rules;

/* Does the row hold for the program? */
bool weak_holds(const struct weak_rule *rule, const char *text, size_t len);
/* Adds a finding for each row that holds; a text that is too long has none.  0 or -ENOMEM. */
CORDON_MUST_CHECK int weak_inspect(const char *text, size_t len, struct findings *ret);
