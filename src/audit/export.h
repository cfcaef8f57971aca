/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trail in the formats of other tools: SARIF 2.1.0 (one document; findings and refusals become
 * results) and OCSF 1.1 (one JSON object per line, for every record).  Streaming: the memory of one record
 * and of the rules' names.
 */
#pragma once

#include "audit/query.h"

/* Takes the next piece of output.  0 or -errno. */
typedef int audit_write_fn(void *userdata, const char *data, size_t len);

struct audit_export {
	audit_write_fn *write;
	void *userdata;
	const struct audit_filter *filter; /* may be NULL */
};

/* The whole log in dir (NULL: env_state_dir()).  Damage found on the way is an error, after the records
 * before it have been written. */
CORDON_MUST_CHECK int audit_export_sarif(const char *dir, const struct audit_export *out,
					 struct cordon_error *err);
CORDON_MUST_CHECK int audit_export_ocsf(const char *dir, const struct audit_export *out,
					struct cordon_error *err);

/* One record as an OCSF event, without a newline. */
void audit_ocsf_event(struct buf *out, const struct audit_line *line);

/* 1 informational, 2 low, 3 medium, 4 high, 5 critical: OCSF's severity_id of a finding. */
int audit_finding_severity(const struct audit_finding *finding);
