/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From YAML nodes to struct policy, by the field table.  Pure: the node tree and a context in, values
 * with origins out.  What the tables call a host or a CIDR is judged by functions that a higher floor
 * hands in (struct policy_checks), so that the policy needs no network code.
 */
#pragma once

#include "policy/policy.h"
#include "policy/yaml.h"

struct policy_checks {
	/* Is text a valid host rule or CIDR?  0 or a negative code with *err filled. */
	int (*host)(const char *text, struct cordon_error *err);
	int (*cidr)(const char *text, struct cordon_error *err);
	/* Does grant `wide` include everything that `narrow` grants? */
	bool (*host_covers)(const char *wide, const char *narrow);
	bool (*cidr_covers)(const char *wide, const char *narrow);
};

struct policy_context {
	const char *workspace; /* ${PROJECT_DIR}, ${WORKSPACE} and the base of relative paths */
	const char *home;      /* ~ and ${HOME}; may be NULL */
	const char *venv;      /* ${VENV_DIR}; may be NULL */
	const char *tmp;       /* ${TMPDIR} */
	const struct policy_checks *checks;
};

enum read_flags {
	READ_OWN = 1,     /* cordon's own rows are known */
	READ_ALIASES = 2, /* CloneGuard's spellings are known */
};

struct policy_reader {
	const struct policy_context *context;
	struct policy *into;   /* values */
	struct strv *warnings; /* "file:line:column: …" */
	const char *name;      /* of the file, for messages */
	uint16_t file;         /* its index, for origins */
	uint16_t root;         /* index of the file that the layer named */
	enum layer layer;
	unsigned flags; /* enum read_flags */
	struct cordon_error *err;
};

/* Reads a map whose keys stand at `prefix` ("" for the top, "sandbox" for a CKP spec). */
CORDON_MUST_CHECK int policy_read_map(struct policy_reader *r, const struct ynode *map,
				      const char *prefix);
/* Raises "name:line:column: …" for a node. */
int policy_read_fail(const struct policy_reader *r, const struct ynode *node, int code,
		     const char *fmt, ...) CORDON_PRINTF(4, 5);
/* Adds a warning for a node.  0 or CORDON_E_NOMEM. */
CORDON_MUST_CHECK int policy_read_warn(const struct policy_reader *r, const struct ynode *node,
				       const char *fmt, ...) CORDON_PRINTF(3, 4);
struct origin policy_read_origin(const struct policy_reader *r, const struct ynode *node);

/* Checks one string by its row and gives its expanded form.  Returns 0, 1 when the entry stands for
 * nothing here (a variable that is not set), or a negative code. */
CORDON_MUST_CHECK int policy_check_text(const struct policy_context *c, const struct field *f,
					const char *text, char **ret, struct cordon_error *err);
