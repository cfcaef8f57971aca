/* SPDX-License-Identifier: Apache-2.0 */
/* The field table as a JSON Schema, and as the reference section of cordon.yaml(5). */
#pragma once

#include "base/buf.h"

/* JSON Schema (2020-12) of a cordon.yaml. */
void policy_schema_json(struct buf *out);
/* scdoc: one entry per row. */
void policy_schema_scdoc(struct buf *out);
