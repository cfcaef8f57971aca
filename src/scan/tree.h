/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A project on the disk, read for what would happen to whoever works in it: every file by its name (document.h),
 * links that lead out, what cannot be read.  Nothing is executed, no link is followed, and nothing outside of the
 * tree is opened.  What .gitignore names is passed by, except for files that act by themselves and what git has: those
 * are read whatever it says.
 */
#pragma once

#include "policy/policy.h"
#include "verdict/verdict.h"

struct scan_hit {
	char *path; /* relative to the top */
	struct finding finding;
};

struct scan_report {
	struct scan_hit *hits;
	size_t n;
	size_t cap;
	size_t files;  /* looked at */
	size_t passed; /* ignored */
	bool is_cut;   /* something was not looked at because of a limit; which one is a finding */
};

struct scan_options {
	const struct policy *policy;
	const char *home;                                         /* may be NULL */
	void (*step)(void *data, size_t files, const char *path); /* may be NULL */
	void *data;
	int64_t limit_ms;   /* 0: LIMIT_SCAN_MS */
	size_t limit_files; /* 0: LIMIT_SCAN_FILES */
};

/* path: a directory, or one file.  Negative only where the scan itself failed: then it says nothing. */
CORDON_MUST_CHECK int scan_tree(const char *path, const struct scan_options *o,
				struct scan_report *ret, struct cordon_error *err);
void scan_report_done(struct scan_report *r);
/* All findings together, for the verdict. */
CORDON_MUST_CHECK int scan_report_findings(const struct scan_report *r, struct findings *ret);

struct buf;
/* SARIF 2.1.0. */
void scan_report_sarif(const struct scan_report *r, struct buf *out);
