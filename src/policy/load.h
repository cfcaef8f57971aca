/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding, reading and layering policy files: built-in < system < user < project (may only tighten) <
 * --policy (the first replaces, further ones only tighten) < options, all under the ceiling.
 */
#pragma once

#include "policy/merge.h"

/* A policy that is not in a file.  References from it to files are not followed. */
struct policy_text {
	const char *name; /* for messages */
	const char *text;
	size_t len;
};

struct policy_sources {
	const char *workspace;    /* absolute */
	const char *home;         /* may be NULL */
	const char *venv;         /* may be NULL */
	const char *system_dir;   /* "/etc/cordon"; NULL: no system layer and no ceiling */
	const char *config_dir;   /* the user's; NULL: no user layer */
	bool no_user;             /* do not look for the user's policy.yaml */
	bool no_project;          /* do not look for .cordon.yaml */
	const struct strv *files; /* --policy, in order; paths or claw:// URIs; may be NULL */
	const struct policy_text *texts; /* further --policy, after the files */
	size_t n_texts;
	const struct policy *options; /* a layer made with policy_option_*(); may be NULL */
	const struct policy_checks *checks;
};

/* Loads everything and gives the policy in force. */
CORDON_MUST_CHECK int policy_load(const struct policy_sources *s, struct policy **ret,
				  struct cordon_error *err);
/* Reads one text as one file would be: for validation and fuzzing.  name stands in messages; file
 * references are followed only when `follow` is set.  *ret_kinds (may be NULL) gets one bit per enum
 * document_kind seen. */
CORDON_MUST_CHECK int policy_parse(const struct policy_context *c, const char *text, size_t len,
				   const char *name, enum layer layer, bool follow,
				   struct policy *into, unsigned *ret_kinds,
				   struct cordon_error *err);
/* Reads and parses one file; the kinds as in policy_parse(). */
CORDON_MUST_CHECK int policy_parse_file(const struct policy_context *c, const char *path,
					enum layer layer, struct policy *into, unsigned *ret_kinds,
					struct cordon_error *err);

/* Options of a command line as a layer. */
CORDON_MUST_CHECK int policy_option_text(struct policy *layer, enum policy_row row,
					 const struct policy_context *c, const char *option,
					 const char *text, struct cordon_error *err);
CORDON_MUST_CHECK int policy_option_int(struct policy *layer, enum policy_row row,
					const char *option, int64_t value,
					struct cordon_error *err);
CORDON_MUST_CHECK int policy_option_mount(struct policy *layer, const struct policy_context *c,
					  const char *option, const char *path,
					  enum permission permission, struct cordon_error *err);
CORDON_MUST_CHECK int policy_option_env(struct policy *layer, const char *name, const char *value,
					struct cordon_error *err);
/* "NAME" or "NAME@HOST,HOST". */
CORDON_MUST_CHECK int policy_option_secret(struct policy *layer, const struct policy_context *c,
					   const char *text, struct cordon_error *err);
