/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspectors: a text in, findings out, nothing is run.  cordon_inspect() reads a text as `cordon check` does; the
 * others are single inspectors under the names of old.  A text without findings gives a list without entries; an
 * inspector that fails is an error, never an empty list.  A snippet never shows a credential.
 */
#pragma once

#include <cordon/policy.h>
#include <cordon/verdict.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero and NULL are the defaults. */
struct cordon_inspect_options {
	size_t struct_size;
	const char *kind; /* command, bash, python, go, text, output or auto; NULL: auto */
	const char *path; /* of the text, when it is a file */
	const struct cordon_policy *policy; /* its hosts and paths; NULL: none */
};

/* What all inspectors for that kind find, credentials in texts and outputs too.  options may be NULL.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_inspect(const char *text, size_t len,
						const struct cordon_inspect_options *options,
						struct cordon_findings **ret,
						struct cordon_error *err);
/* AdversaryInspector: instructions to a model in what a tool returned (prompt_injection).  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_inspect_adversary(const char *text, size_t len,
							  struct cordon_findings **ret,
							  struct cordon_error *err);
/* EgressInspector: hosts that a command or a text would have somebody contact and that are not in the list (egress),
 * and credentials in it (data_leak).  allowed_domains: HOST, HOST:PORT, *.DOMAIN; NULL-terminated, NULL: none.  They
 * are compared as hosts.  CORDON_E_INVALID for an entry that is none.  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_inspect_egress(const char *const *allowed_domains,
						       const char *text, size_t len,
						       struct cordon_findings **ret,
						       struct cordon_error *err);
/* The credentials of a text (data_leak).  Gives. */
CORDON_API CORDON_MUST_CHECK int cordon_inspect_secrets(const char *text, size_t len,
							struct cordon_findings **ret,
							struct cordon_error *err);
/* The highest threat level of them; CORDON_THREAT_NONE for none or NULL. */
CORDON_API enum cordon_threat cordon_findings_threat(const struct cordon_findings *f);

#ifdef __cplusplus
}
#endif
