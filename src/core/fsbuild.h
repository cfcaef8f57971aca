/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of fsplan.h share; nobody else includes it. */
#pragma once

#include "core/fsnames.h"
#include "core/fsplan.h"
#include "workspace/gitnamed.h"
#include "workspace/protected.h"

struct fsbuild {
	const struct fsplan_input *in;
	struct fsplan *plan;
	const char *home;      /* canonical, or NULL */
	const char *workspace; /* canonical */
	struct fsnames names;  /* in it */
	struct fsnames_home home_names;
	size_t first_guard;     /* where the steps that protect and deny begin */
	bool notes_dirs;        /* the call may make repositories in what is walked */
	struct gitnamed person; /* what the person's configuration of git names */
	bool has_person;        /* it was read */
	bool has_cow;           /* the workspace is written to a change set */
	struct cordon_error *err;
};

/* fsplan.c */
CORDON_MUST_CHECK int fsbuild_add(struct fsbuild *b, struct plan_op op);

/* fsguard.c */
/* Adds what protects and denies behind the steps that there are; those from first to last are grants. */
CORDON_MUST_CHECK int fsguard_all(struct fsbuild *b, size_t first, size_t last);
/* Protects dir/name, and where it leads, if anything of it is granted. */
CORDON_MUST_CHECK int fsguard_protect_name(struct fsbuild *b, const char *dir,
					   const struct protected_name *n);
CORDON_MUST_CHECK int fsguard_protect(struct fsbuild *b, const char *path, bool is_dir);
