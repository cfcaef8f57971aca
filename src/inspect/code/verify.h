/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CodeVerifier: code of a language to a list of violations.  The rules of rule.h are always
 * applied; the verifier's own lists come on top, and each of them is consulted:
 *
 * modules    an import of that module or of what is below it, or a call of that qualified name;
 *            "name(shell=True)" only with that argument
 * functions  a function of that name that is called as such, through an import, or as a shell's
 *            command; not a method of a value
 * patterns   regular expressions over every line that is no comment.  The built-in ones are for
 *            languages without a grammar here and for text that its grammar refuses.
 * paths      files below them may be written and deleted
 */
#pragma once

#include "base/str.h"
#include "inspect/context.h"
#include "policy/pattern.h"

struct code_pattern {
	char *source;
	struct pattern *pattern;
	bool is_builtin;
};

struct code_verifier {
	struct strv modules;
	struct strv functions;
	struct strv paths;
	struct code_pattern *patterns;
	size_t n_patterns, cap_patterns;
};

struct code_violation {
	enum finding_type type;
	unsigned line; /* from 1 */
	char *code;    /* the name or the text that it is about */
	char *reason;
	bool is_error; /* else a warning */
};

struct code_result {
	bool is_safe; /* no violation is an error */
	struct code_violation *violations;
	size_t n, cap;
	struct strv warnings;
	const char *language; /* go, python, bash or generic */
	size_t n_errors;
};

/* With the built-in lists. */
CORDON_MUST_CHECK int code_verifier_init(struct code_verifier *ret, struct cordon_error *err);
void code_verifier_done(struct code_verifier *v);
/* A pattern that does not compile or that explodes is refused. */
CORDON_MUST_CHECK int code_verifier_add_pattern(struct code_verifier *v, const char *source,
						struct cordon_error *err);
void code_verifier_clear_patterns(struct code_verifier *v);

/* language: go, golang, python, py, bash, sh, shell; any other is read by the patterns alone. */
CORDON_MUST_CHECK int code_verify(const struct code_verifier *v, const struct inspect_context *c,
				  const char *language, const char *text, size_t len,
				  struct code_result *ret, struct cordon_error *err);
void code_result_done(struct code_result *r);
/* "Code Verification: SAFE" or UNSAFE, a rule, a line per violation, and what follows from it. */
void code_result_format(const struct code_result *r, struct buf *out);
