/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of verbs.  A verb is one file, cmd_NAME.c, and one line here, in the order in which the
 * help shows them; man pages and completions follow from it.
 */
#include "cli/verb.h"

const struct verb *const verb_list[] = {
	&verb_run,      &verb_shell,   &verb_learn,   &verb_check,      &verb_verify,
	&verb_backends, &verb_doctor,  &verb_select,  &verb_policy,     &verb_profile,
	&verb_why,      &verb_session, &verb_sandbox, &verb_snapshot,   &verb_container,
	&verb_image,    &verb_secret,  &verb_audit,   &verb_scan,       &verb_hook,
	&verb_proxy,    &verb_help,    &verb_version, &verb_completion, NULL,
};
