/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon check --explain`: why the verdict is what it is, for people and as JSON. */
#pragma once

#include "base/json.h"
#include "cli/out.h"
#include "core/constrain.h"
#include "core/judge.h"

struct check_explanation {
	const struct policy *policy;
	const struct judgement *judgement;
	const char *tool;
	const char *agent;
	const struct constrained *constrained; /* NULL unless the action is constrain */
};

void check_explain_text(const struct check_explanation *e, struct out *out);
/* Adds "explain" to the open object. */
void check_explain_json(const struct check_explanation *e, struct json *j);
