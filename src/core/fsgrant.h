/* SPDX-License-Identifier: Apache-2.0 */
/* What can be granted, and which parts of it stay executable. */
#pragma once

#include "backend/plan.h"
#include "base/str.h"
#include "policy/policy.h"

/* May path, which is canonical, be granted?  home and the state directory are those of the caller; home may be
 * NULL.  0 or CORDON_E_INVALID with the reason. */
CORDON_MUST_CHECK int fsgrant_check(const char *path, bool is_rw, const char *home,
				    const char *state_dir, struct cordon_error *err);
/* The policy's executable_paths: grants among ops that lie in one become executable; those that lie in a
 * grant are appended to ret_parts, canonical.  One that cannot be written is CORDON_E_INVALID. */
CORDON_MUST_CHECK int fsgrant_executable(const struct policy *p, struct plan_op *ops, size_t n,
					 struct strv *ret_parts, struct cordon_error *err);
/* Is path in the workspace, by its name, and what it leads to is not? */
bool fsgrant_leads_out(const char *workspace, const char *path, const char *real);
/* Is it a mount in the workspace that the policy lists? */
bool fsgrant_is_submount(const struct policy *p, const char *path);
/* Does mount_paths grant exactly this path for writing? */
bool fsgrant_is_writable(const struct policy *p, const char *path);
/* May a writable grant that leads to this place write there?  Of a mount that is listed the listing counts: the name may
 * have been made a link to it. */
bool fsgrant_may_write(const struct policy *p, const char *real);
/* Is it looked at with one of the others, being inside of it?  Not what is written through inside of a change set. */
bool fsgrant_is_part(const struct plan_op *op, const struct plan_op *others, size_t n);
/* CORDON_E_UNSUPPORTED where mounts are listed and there is no change set that they could be left out of. */
CORDON_MUST_CHECK int fsgrant_check_submounts(const struct policy *p, const char *cow_dir,
					      struct cordon_error *err);
/* The mounts that the policy lists, which must be in the workspace, appended.  CORDON_E_INVALID for one that is not. */
CORDON_MUST_CHECK int fsgrant_submounts(const struct policy *p, const char *workspace,
					struct strv *ret, struct cordon_error *err);
/* For qsort(): parents before children. */
int fsgrant_by_path(const void *a, const void *b);
/* Parts of a workspace that is a change set cannot have rights of their own: CORDON_E_UNSUPPORTED. */
CORDON_MUST_CHECK int fsgrant_check_parts(const struct strv *parts, const char *workspace,
					  struct cordon_error *err);
