/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls in a sandbox that stays can see, kept in its directory when it is made: whoever enters it has to know what
 * a refusal means and which files may hold secrets, and would otherwise have to look through the whole workspace again.
 */
#pragma once

#include "core/egress_secret.h"
#include "core/fsplan.h"

/* dir: of the sandbox. */
CORDON_MUST_CHECK int keeper_view_write(const char *dir, const struct fsplan *view,
					struct cordon_error *err);
/* The steps without their texts, good for questions (backend/reach.h) and not for mounts, and those of the sensitive
 * files that are still there.  *ret is always set up: fsplan_done(). */
CORDON_MUST_CHECK int keeper_view_read(const char *dir, struct fsplan *ret,
				       struct cordon_error *err);

/* The placeholders of secrets that stop at the boundary: they are the sandbox's, since its proxy is, and every call in it
 * gets the same.  Whoever reads them appends them to the environment of a call. */
CORDON_MUST_CHECK int keeper_placeholders_write(const char *dir,
						const struct egress_secrets *secrets,
						struct cordon_error *err);
CORDON_MUST_CHECK int keeper_placeholders_read(const char *dir, struct strv *env,
					       struct cordon_error *err);
