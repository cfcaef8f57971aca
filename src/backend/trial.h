/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe that the process backends share: a sandbox like any other, from inside which a script tries what
 * must not work.
 */
#pragma once

#include "backend/backend.h"

#define TRIAL_DEADLINE_MS 5000

struct trial {
	const struct backend_info *info; /* the answer is kept under its name */
	int (*spawn)(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err);
	const char *fix;     /* what to do where it does not work */
	bool has_hints;      /* and an error's own hint says it better */
	const char *tool;    /* the program that it uses, or NULL: a kept answer goes with it */
	const char *variant; /* NULL, or which of several ways to use it: each has its own answer */
	int deadline_ms;     /* 0: what namespaces need */
	/* For a backend without namespaces: files outside are refused, not absent, the host's processes can
	 * be seen, and this tries whether a network can be reached.  NULL for others. */
	bool (*denies_network)(void);
	const char *depends; /* what else a kept answer goes with, without spaces; or NULL */
	/* Called now and then while a kept answer is looked for: there may be somebody who waits for a word of
	 * ours.  NULL when nobody does. */
	void (*pass_by)(void);
	/* For a backend that runs no scripts: tries what is its own instead, and says in *ret why it does not
	 * work.  NULL for others. */
	bool (*own)(struct probe *ret);
};

/* Waits for a command that nobody supervises, which is ended when it takes too long, and frees what was given with it.
 * 0 or -ETIMEDOUT. */
CORDON_MUST_CHECK int trial_end(struct spawn_result *s, int timeout_ms, struct proc_exit *ret);
/* Fills *ret with what held, limits excepted. */
void trial_probe(const struct trial *trial, enum probe_form form, struct probe *ret);
/* *p has more by now, tried by somebody else: keeps that too, if trial_probe() of this form would recall it. */
void trial_keep_more(const struct trial *trial, enum probe_form form, const struct probe *p);
