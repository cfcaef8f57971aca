/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy: one struct with every value that any of the accepted files can set, and for each value
 * where it came from.  Members and row numbers are made from fields.def.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "policy/field.h"

#define FIELD_CTYPE_BOOL bool
#define FIELD_CTYPE_ENUM int
#define FIELD_CTYPE_INT int64_t
#define FIELD_CTYPE_NUMBER double
#define FIELD_CTYPE_STRING char *
#define FIELD_CTYPE_AGE int64_t
#define FIELD_CTYPE_LIST struct item_list
#define FIELD_CTYPE_RECORDS struct record_list
#define FIELD_CTYPE_MAP struct record_list
#define FIELD_CTYPE_WORDS struct record_list

#define FIELD_MEMBER(id, member, type, ...) FIELD_CTYPE_##type member;

enum mount_row {
#define MOUNT_FIELD(id, ...) MOUNT_##id,
#include "policy/fields.def"
	MOUNT_ROWS
};
struct mount {
#define MOUNT_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[MOUNT_ROWS];
};
enum grant_row {
#define GRANT_FIELD(id, ...) GRANT_##id,
#include "policy/fields.def"
	GRANT_ROWS
};
struct grant {
#define GRANT_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[GRANT_ROWS];
};
enum egress_row {
#define EGRESS_FIELD(id, ...) EGRESS_##id##_ROW,
#include "policy/fields.def"
	EGRESS_ROWS
};
struct egress {
#define EGRESS_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[EGRESS_ROWS];
};
enum word_row {
#define WORD_FIELD(id, ...) WORD_##id,
#include "policy/fields.def"
	WORD_ROWS
};
struct word {
#define WORD_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[WORD_ROWS];
};
enum rule_row {
#define RULE_FIELD(id, ...) RULE_##id##_ROW,
#include "policy/fields.def"
	RULE_ROWS
};
struct rule {
#define RULE_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[RULE_ROWS];
};
enum override_row {
#define OVERRIDE_FIELD(id, ...) OVERRIDE_##id,
#include "policy/fields.def"
	OVERRIDE_ROWS
};
struct override {
#define OVERRIDE_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[OVERRIDE_ROWS];
};
enum constraint_row {
#define CONSTRAINT_FIELD(id, ...) CONSTRAINT_##id,
#include "policy/fields.def"
	CONSTRAINT_ROWS
};
struct constraint {
#define CONSTRAINT_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[CONSTRAINT_ROWS];
};
enum sequence_row {
#define SEQUENCE_FIELD(id, ...) SEQUENCE_##id##_ROW,
#include "policy/fields.def"
	SEQUENCE_ROWS
};
struct sequence {
#define SEQUENCE_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[SEQUENCE_ROWS];
};
enum bind_row {
#define BIND_FIELD(id, ...) BIND_##id,
#include "policy/fields.def"
	BIND_ROWS
};
struct bind {
#define BIND_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[BIND_ROWS];
};

enum policy_row {
#define POLICY_FIELD(id, ...) POLICY_##id,
#include "policy/fields.def"
	POLICY_ROWS
};
struct policy {
#define POLICY_FIELD FIELD_MEMBER
#include "policy/fields.def"
	struct origin origin[POLICY_ROWS];
	struct strv files;    /* names for origin.file */
	struct strv warnings; /* what a person should know: "file:line:column: …" */
};

struct policy *policy_new(void);
void policy_free(struct policy *p);
DEFINE_FREEP(struct policy, policy_free)

/* Fills in the built-in default: level process, network denied, the workspace read and write. */
CORDON_MUST_CHECK int policy_default(struct policy *p, const char *workspace,
				     struct cordon_error *err);
/* Verdict actions are carried out (true) or only recorded. */
bool policy_is_enforcing(const struct policy *p);
/* Was the value written by any layer (see origin_is_written())? */
static inline bool policy_has(const struct policy *p, enum policy_row row)
{
	return origin_is_set(&p->origin[row]);
}
static inline bool policy_is_written(const struct policy *p, enum policy_row row)
{
	return origin_is_written(&p->origin[row]);
}
/* "built-in", or "user policy.yaml:12:3"; appends to b. */
void policy_origin_text(const struct policy *p, const struct origin *o, struct buf *b);
/* The value of one row as a person would write it; appends to b. */
void policy_value_text(const struct shape *s, size_t row, const void *object, struct buf *b);
/* Adds a file name to p->files and returns its index, or -errno. */
int policy_add_file(struct policy *p, const char *name);
