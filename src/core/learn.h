/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a call was denied, and what it used of what it was granted, to the least manifest that would
 * have let it pass.  Credentials, protected names and what no policy can open are listed in it, never
 * granted.
 */
#pragma once

#include "core/report.h"

/* Files of one directory that are granted one by one; from here on the directory is. */
#define LEARN_DIR_FILES 8

struct learned {
	struct strv reads;  /* canonical paths; none below another */
	struct strv writes; /* the same; none of reads is below one of them */
	struct strv sockets;
	struct strv devices;
	struct strv hosts;
	struct strv privates; /* addresses that need allow_private */
	struct strv refused;  /* "read /x: built-in …": told, not granted */
	bool writes_workspace;
};

struct learn_input {
	const struct policy *policy; /* in force */
	const char *workspace;       /* canonical */
	const char *home;            /* canonical, or NULL */
	const char *state_dir;
};

void learned_done(struct learned *l);
/* Adds what a call showed.  *ret_new says how many grants were not there before. */
CORDON_MUST_CHECK int learn_add(const struct learn_input *in, const struct report *report,
				struct learned *l, size_t *ret_new, struct cordon_error *err);
/* Writes the manifest. */
void learn_write(const struct learn_input *in, const struct learned *l,
		 const struct request *request, int exit_code, struct buf *out);
