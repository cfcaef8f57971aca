/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe that the process backends share: a sandbox like any other, from inside which a script tries what
 * must not work.
 */
#pragma once

#include "backend/backend.h"

struct trial {
	const struct backend_info *info; /* the answer is kept under its name */
	int (*spawn)(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err);
	const char *fix;  /* what to do where it does not work */
	const char *tool; /* the program that it uses, or NULL: a kept answer goes with it */
	/* For a backend without namespaces: files outside are refused, not absent, the host's processes can
	 * be seen, and this tries whether a network can be reached.  NULL for others. */
	bool (*denies_network)(void);
	/* How long the script may take; 0: the usual time. */
	int64_t deadline_ms;
	const char *depends; /* what else a kept answer goes with, without spaces; or NULL */
	/* Called now and then while a kept answer is looked for: there may be somebody who waits for a word of
	 * ours.  NULL when nobody does. */
	void (*pass_by)(void);
};

/* Fills *ret with what held, limits excepted. */
void trial_probe(const struct trial *trial, enum probe_form form, struct probe *ret);
/* *p has more by now, tried by somebody else: keeps that too, if trial_probe() of this form would recall it. */
void trial_keep_more(const struct trial *trial, enum probe_form form, const struct probe *p);
