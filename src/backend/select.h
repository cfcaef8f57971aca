/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which backend runs a call: pure functions on an array of probed candidates, so that every branch
 * can be tested without the machine.  Selection fails closed: a backend that is below the floor, not
 * available, or lacks a guarantee that is needed is not eligible, and when none is left the error
 * says for each candidate why.
 */
#pragma once

#include "backend/backend.h"

#include <stddef.h>

struct candidate {
	const struct cordon_backend *backend;
	struct probe probe;
};

#define SELECT_REASON_MAX 512 /* one line: why this one; may quote a probe's reason */

struct select_request {
	enum level floor;
	const char *backend; /* "auto", "strongest" or a name; NULL means auto */
	guarantee_set needs;
	/* Of needs, what may be given up and listed as degraded.  Only the built-in default may say
	 * SELECT_DEFAULT_GIVES_UP; a policy that somebody wrote gives up nothing. */
	guarantee_set may_give_up;
	/* Why overlayfs cannot take a directory of this call (view/upper.h), or NULL.  Then who makes a view with overlays
	 * cannot protect what is missing there. */
	const char *no_overlay;
};

#define SELECT_DEFAULT_GIVES_UP (GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(HIDE_METADATA))

struct selection {
	const struct cordon_backend *backend;
	guarantee_set guarantees; /* what the backend gives */
	guarantee_set by_rlimit;  /* of these, held without a control group (limits.h) */
	guarantee_set degraded;   /* needed, not given, and permitted to be given up */
	char reason[SELECT_REASON_MAX];
};

/* auto: the strongest candidate of the floor's level, of the next level up if none there is eligible,
 * and so on.  strongest: the strongest at any level from the floor up.  A name: that one, or an error.
 * Return: 0; CORDON_E_INVALID unknown name or request; CORDON_E_NO_BACKEND none is eligible. */
CORDON_MUST_CHECK int backend_select(const struct candidate *candidates, size_t count,
				     const struct select_request *request, struct selection *ret,
				     struct cordon_error *err);

/* Could it run the call?  A candidate that was asked for by name still has to be. */
bool select_is_eligible(const struct candidate *c, const struct select_request *request);

/* The two ways in which a name can be wrong; both return their code. */
int select_unknown_name(const char *name, struct cordon_error *err);
int select_absent_name(const struct backend_info *info, struct cordon_error *err);
