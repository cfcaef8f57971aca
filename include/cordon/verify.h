/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code verifier: what code would do, read from its syntax tree before it is run.  A verifier starts
 * with built-in lists, which can be added to and cleared; its rules about known dangers always apply.
 */
#pragma once

#include <cordon/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cordon_verifier;
struct cordon_verification;

enum cordon_verifier_list {
	CORDON_VERIFIER_MODULES,   /* blocked: os.system, unsafe… also "name(argument=value)" */
	CORDON_VERIFIER_FUNCTIONS, /* blocked: rm, kill… */
	CORDON_VERIFIER_PATTERNS,  /* blocked: regular expressions over lines that are no comments */
	CORDON_VERIFIER_PATHS,     /* allowed: files below may be written and deleted */
	CORDON_VERIFIER_LIST_COUNT
};

/* With the built-in lists. */
CORDON_API CORDON_MUST_CHECK int cordon_verifier_new(struct cordon_verifier **ret,
						     struct cordon_error *err);
CORDON_API void cordon_verifier_free(struct cordon_verifier *v);
/* Adds a copy.  A pattern that does not compile or that explodes is CORDON_E_POLICY. */
CORDON_API CORDON_MUST_CHECK int cordon_verifier_add(struct cordon_verifier *v,
						     enum cordon_verifier_list list,
						     const char *entry, struct cordon_error *err);
/* The same under the names of old. */
CORDON_API CORDON_MUST_CHECK int cordon_verifier_add_blocked_module(struct cordon_verifier *v,
								    const char *module,
								    struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_verifier_add_blocked_function(struct cordon_verifier *v,
								      const char *function,
								      struct cordon_error *err);
CORDON_API CORDON_MUST_CHECK int cordon_verifier_add_blocked_pattern(struct cordon_verifier *v,
								     const char *pattern,
								     struct cordon_error *err);
/* Empties a list, the built-in entries too. */
CORDON_API CORDON_MUST_CHECK int cordon_verifier_clear(struct cordon_verifier *v,
						       enum cordon_verifier_list list,
						       struct cordon_error *err);
/* The entry at index, borrowed until the list changes; NULL behind the last. */
CORDON_API const char *cordon_verifier_get(const struct cordon_verifier *v,
					   enum cordon_verifier_list list, size_t index);

/* language: go, golang, python, py, bash, sh or shell; code of any other is read by the patterns
 * alone.  Gives the result. */
CORDON_API CORDON_MUST_CHECK int cordon_verify(const struct cordon_verifier *v, const char *code,
					       size_t len, const char *language,
					       struct cordon_verification **ret,
					       struct cordon_error *err);
CORDON_API void cordon_verification_free(struct cordon_verification *r);

/* 1 when no violation is an error, 0 when one is or r is NULL. */
CORDON_API int cordon_verification_safe(const struct cordon_verification *r);
/* go, python, bash or generic; borrowed. */
CORDON_API const char *cordon_verification_language(const struct cordon_verification *r);

struct cordon_violation {
	size_t struct_size;
	const char *type; /* blocked_module, blocked_function, dangerous_pattern, file_access,
			     network_access or system_call */
	unsigned line;        /* from 1 */
	const char *code;     /* what it is about */
	const char *reason;   /* for people */
	const char *severity; /* error or warning */
};
CORDON_API size_t cordon_verification_count(const struct cordon_verification *r);
/* The violation at index, in the order of lines.  Set ret->struct_size before; strings are borrowed. */
CORDON_API CORDON_MUST_CHECK int cordon_verification_get(const struct cordon_verification *r,
							 size_t index, struct cordon_violation *ret,
							 struct cordon_error *err);
/* The warning at index as a line of text, borrowed; NULL behind the last. */
CORDON_API const char *cordon_verification_warning(const struct cordon_verification *r, size_t index);
/* Gives the whole result as text for people (cordon_free()). */
CORDON_API CORDON_MUST_CHECK int cordon_verification_format(const struct cordon_verification *r,
							    char **ret, struct cordon_error *err);

#ifdef __cplusplus
}
#endif
