/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles for macOS's sandbox, in its own language (SBPL): "(allow file-read* (subpath "/w"))" and so on.  Of the rules
 * that fit an operation the last one decides, as with the steps of a plan; so a list of rules in order is all that is
 * needed.  Pure: text out, nothing is looked up.
 */
#pragma once

#include "backend/plan.h"
#include "base/buf.h"
#include "base/error.h"

#define SBPL_MAX (1024 * 1024) /* bytes of a profile; the kernel takes less */

enum sbpl_kind {
	SBPL_READ,    /* read and execute */
	SBPL_WRITE,   /* and write */
	SBPL_SHUT,    /* neither read nor written */
	SBPL_PROTECT, /* not written, removed, replaced or made */
	SBPL_NOEXEC,  /* not executed */
	SBPL_KIND_COUNT
};

/* path is absolute; what is below it is meant too. */
struct sbpl_rule {
	enum sbpl_kind kind;
	const char *path;
	const char *except; /* PROTECT: a name in it that is left as it is, or NULL */
};

struct sbpl_profile {
	bool reads_all; /* "moderate": everything can be read that is not shut */
	bool allows_network;
	bool allows_process; /* fork, and the execution of what can be read */
	bool allows_sysctl;  /* reading the kernel's values; most programs ask for some */
	const struct sbpl_rule *rules;
	size_t n;
};

/* Appends the profile.  CORDON_E_INVALID for a path that is not absolute or cannot be written in a profile. */
CORDON_MUST_CHECK int sbpl_write(const struct sbpl_profile *p, struct buf *out,
				 struct cordon_error *err);

/* The rules of a plan's steps; *ret (freed by the caller) borrows their paths.  Where a step puts something of our own
 * in the place of the host's, that place is shut.  CORDON_E_UNSUPPORTED for one that cannot do without. */
CORDON_MUST_CHECK int sbpl_rules(const struct plan *plan, struct sbpl_rule **ret, size_t *ret_n,
				 struct cordon_error *err);
