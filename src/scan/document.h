/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of a project, read for what it would make agents, git, package managers, editors and build systems
 * do.  Nothing is executed or fetched.  Which files are read how is a table by name (kinds.c); what is found is
 * a table of rules (rules.c).
 */
#pragma once

#include "policy/policy.h"
#include "verdict/verdict.h"

struct scan_source {
	const struct policy *policy; /* for the inspectors; may be NULL */
	const char *home;            /* may be NULL */
	const char *path;            /* in the tree, or absolute */
	const char *as;              /* the path that says how it is read; NULL: its own */
	const char *text;
	size_t len;
	bool is_part;    /* only some of the file's text: what a tool would put into it */
	bool is_tracked; /* git has it */
};

/* Is this a file that is read whatever .gitignore says? */
bool scan_is_known(const char *path);
/* Adds the findings.  A text that cannot be read as what it should be is a finding too. */
CORDON_MUST_CHECK int scan_document(const struct scan_source *s, struct findings *ret,
				    struct cordon_error *err);
/* A symbolic link; target as it is written. */
CORDON_MUST_CHECK int scan_link(const struct scan_source *s, const char *target, bool leaves_tree,
				struct findings *ret, struct cordon_error *err);
