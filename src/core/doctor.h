/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine can enforce, found by trying.  Each mechanism is tried in a short-lived child of
 * its own with a deadline; nothing is inferred from a version and nothing is left behind.  Whatever
 * does not work has a fix.
 */
#pragma once

#include "core/effective.h"

#define DOCTOR_DETAIL_MAX 320
#define DOCTOR_FIX_MAX 480
#define DOCTOR_PROBE_MS 1000 /* one mechanism */
#define DOCTOR_TOTAL_MS 3000 /* all of them */

struct doctor_row {
	char name[32];
	bool works;
	char detail[DOCTOR_DETAIL_MAX]; /* what was seen */
	char fix[DOCTOR_FIX_MAX];       /* "" when it works */
};

#define DOCTOR_MECHANISMS_MAX 24

/* Tries every mechanism.  Returns how many rows were written. */
size_t doctor_mechanisms(struct doctor_row ret[static DOCTOR_MECHANISMS_MAX]);

/* Is the state directory there, or can it be made, private and writable? */
void doctor_state(const char *dir, struct doctor_row *ret);
/* Is the end of the audit trail a record?  Quick: `audit verify` reads it all. */
void doctor_audit(const char *dir, struct doctor_row *ret);

enum doctor_file_id {
	DOCTOR_FILE_SYSTEM,
	DOCTOR_FILE_USER,
	DOCTOR_FILE_CLONEGUARD,
	DOCTOR_FILE_PROJECT,
	DOCTOR_FILE_CEILING,
	DOCTOR_FILE_COUNT
};

struct doctor_file {
	const char *layer;
	char *path; /* NULL when there is no place for it */
	bool is_found;
	struct doctor_row row; /* valid or why not; works when it is not there */
};

/* Looks at each place of a policy file, and at all of them together (*ret_all). */
CORDON_MUST_CHECK int doctor_policy(struct effective *e,
				    struct doctor_file ret[static DOCTOR_FILE_COUNT],
				    struct doctor_row *ret_all, struct cordon_error *err);
void doctor_files_done(struct doctor_file files[static DOCTOR_FILE_COUNT]);
