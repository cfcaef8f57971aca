/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of a build for macOS: those whose every part is there. */
#include "cli/verb.h"

const struct verb *const verb_list[] = {
	&verb_run,    &verb_check,  &verb_verify,  &verb_backends,   &verb_doctor,
	&verb_select, &verb_policy, &verb_profile, &verb_why,        &verb_audit,
	&verb_scan,   &verb_help,   &verb_version, &verb_completion, NULL,
};
