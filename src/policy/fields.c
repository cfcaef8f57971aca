/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes: fields.def as tables, and CloneGuard's other spellings. */
#include "policy/policy.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>

static const struct shape shape_mount, shape_grant, shape_egress, shape_word, shape_rule,
	shape_override, shape_constraint, shape_sequence, shape_bind;

#define FIELD_ROW(struct_name, id_, member_, type_, path_, tighten_, doc_, ...)                    \
	{.path = path_,                                                                            \
	 .type = FIELD_##type_,                                                                    \
	 .tighten = TIGHTEN_##tighten_,                                                            \
	 .doc = doc_,                                                                              \
	 .offset = offsetof(struct struct_name, member_),                                          \
	 __VA_ARGS__},

#define MOUNT_FIELD(...) FIELD_ROW(mount, __VA_ARGS__)
static const struct field fields_mount[] = {
#include "policy/fields.def"
};
#define GRANT_FIELD(...) FIELD_ROW(grant, __VA_ARGS__)
static const struct field fields_grant[] = {
#include "policy/fields.def"
};
#define EGRESS_FIELD(...) FIELD_ROW(egress, __VA_ARGS__)
static const struct field fields_egress[] = {
#include "policy/fields.def"
};
#define WORD_FIELD(...) FIELD_ROW(word, __VA_ARGS__)
static const struct field fields_word[] = {
#include "policy/fields.def"
};
#define RULE_FIELD(...) FIELD_ROW(rule, __VA_ARGS__)
static const struct field fields_rule[] = {
#include "policy/fields.def"
};
#define OVERRIDE_FIELD(...) FIELD_ROW(override, __VA_ARGS__)
static const struct field fields_override[] = {
#include "policy/fields.def"
};
#define CONSTRAINT_FIELD(...) FIELD_ROW(constraint, __VA_ARGS__)
static const struct field fields_constraint[] = {
#include "policy/fields.def"
};
#define SEQUENCE_FIELD(...) FIELD_ROW(sequence, __VA_ARGS__)
static const struct field fields_sequence[] = {
#include "policy/fields.def"
};
#define BIND_FIELD(...) FIELD_ROW(bind, __VA_ARGS__)
static const struct field fields_bind[] = {
#include "policy/fields.def"
};
#define POLICY_FIELD(...) FIELD_ROW(policy, __VA_ARGS__)
static const struct field fields_policy[] = {
#include "policy/fields.def"
};

#define SHAPE(name_, aliases_)                                                                     \
	{                                                                                          \
		.name = #name_, .size = sizeof(struct name_),                                      \
		.origins = offsetof(struct name_, origin), .fields = fields_##name_,               \
		.n_fields = ARRAY_LEN(fields_##name_), .aliases = aliases_                         \
	}

/* A tool's block in the guide's spelling. */
static const struct field_alias aliases_override[] = {
	{"suspicious_threshold", "suspicious_floor"},
	{"malicious_threshold", "malicious_floor"},
	{"enforcement.adapter", "adapter"},
	{NULL, NULL},
};

/*
 * CloneGuard's three published shapes (its code, its guide, its adapter page), rewritten to ours.
 * The last group is the adapter page's example with its indentation lost, as it is often copied:
 * `enforcement:` with nothing under it and its keys at the top.
 */
static const struct field_alias aliases_policy[] = {
	{"version", "enforcement.version"},
	{"verdicts.thresholds", "enforcement.thresholds"},
	{"verdicts.overrides", "enforcement.overrides"},
	{"enforcement.malicious.action", "enforcement.actions.MALICIOUS"},
	{"dry_run", "enforcement.dry_run"},
	{"sandbox.preferred", "enforcement.adapter"},
	{"sandbox.fallback", "enforcement.fallback"},
	{"detection.suspicious_threshold", "enforcement.thresholds.suspicious_floor"},
	{"detection.malicious_threshold", "enforcement.thresholds.malicious_floor"},
	{"sequences", "enforcement.sequences"},
	{"tools", "enforcement.overrides.tool_name"},
	{"actions", "enforcement.actions"},
	{"scan_modes", "enforcement.scan_modes"},
	{"enabled", "enforcement.enabled"},
	{"adapter", "enforcement.adapter"},
	{NULL, NULL},
};

static const struct shape shape_mount = SHAPE(mount, NULL);
static const struct shape shape_grant = SHAPE(grant, NULL);
static const struct shape shape_egress = SHAPE(egress, NULL);
static const struct shape shape_word = SHAPE(word, NULL);
static const struct shape shape_rule = SHAPE(rule, NULL);
static const struct shape shape_override = SHAPE(override, aliases_override);
static const struct shape shape_constraint = SHAPE(constraint, NULL);
static const struct shape shape_sequence = SHAPE(sequence, NULL);
static const struct shape shape_bind = SHAPE(bind, NULL);
const struct shape shape_policy = SHAPE(policy, aliases_policy);

int shape_find(const struct shape *s, const char *path)
{
	for (size_t i = 0; i < s->n_fields; i++)
		if (strcmp(s->fields[i].path, path) == 0)
			return (int)i;
	return -1;
}

bool shape_has_prefix(const struct shape *s, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < s->n_fields; i++)
		if (strncmp(s->fields[i].path, path, n) == 0 && s->fields[i].path[n] == '.')
			return true;
	return false;
}
