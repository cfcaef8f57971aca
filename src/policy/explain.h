/* SPDX-License-Identifier: Apache-2.0 */
/* The policy in force, for people and programs: every value, and who set it. */
#pragma once

#include "policy/policy.h"

#include "base/json.h"

/* Calls fn for every value that is set, in the order of the table; list entries one by one, with
 * `entry` counting from 0 (-1 for scalars).  Texts are borrowed for the call. */
struct explain_row {
	const struct field *field;
	int entry;
	const char *value;
	const struct origin *origin;
	const char *from; /* "user /home/u/.config/cordon/policy.yaml:3:9" */
};
CORDON_MUST_CHECK int policy_explain(const struct policy *p,
				     int (*fn)(void *data, const struct explain_row *row),
				     void *data, struct cordon_error *err);
/* The policy as a cordon.yaml that says the same (without the built-in values when `written_only`). */
CORDON_MUST_CHECK int policy_show_yaml(const struct policy *p, bool written_only, struct buf *out,
				       struct cordon_error *err);
/* The same as JSON, an object of nested objects. */
void policy_show_json(const struct policy *p, bool written_only, struct json *out);
