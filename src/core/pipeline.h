/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor: everything a call goes through, in order.  To read pipeline.c, and pipeline_run.c for its last step, is
 * to read the program.
 */
#pragma once

#include "core/approve.h"
#include "core/report.h"

/* Asks for an approval; as approve_ask(), which is what NULL means. */
typedef enum approval pipeline_approve_fn(void *data, const char *text, const char *reason,
					  int64_t timeout_ms);

struct sandbox;

struct pipeline_options {
	const char
		*backend; /* "auto", "strongest" or a name; NULL: the policy's runtime, else auto */
	const char *state_dir;           /* of the audit trail and the call counter */
	char *const *environ;            /* the caller's, to pick from */
	const struct findings *findings; /* of detectors that the caller ran himself; may be NULL */
	bool captures;                   /* keep the output in the report */
	bool is_quiet;                   /* and do not pass it on */
	bool uses_terminal;              /* as in struct supervise_options */
	bool forwards_signals;           /* this process exists for the call */
	bool rollback_on_failure;
	/* The change set to run in, open with COW_EXCLUSIVE, which stays the caller's; NULL: as the policy says. */
	struct cow *cow;
	bool constrains; /* hold the call as a SUSPICIOUS one, whatever the verdict, also in dry run */
	bool watches_paths; /* also write down which paths the command asks for; slower */
	const int *stdio;   /* three descriptors for the command's 0, 1 and 2; NULL: our own */
	/* NULL: the call gets a sandbox of its own.  Otherwise it goes into this one, and `held` says what that is: its
	 * network can be closed for one call, nothing else of it can be changed.  Without a sandbox it is one that the
	 * backend alone knows. */
	const struct plan_entry *entry;
	const struct selection *held;
	const struct sandbox *sandbox;
	int64_t timeout_ms; /* 0, or of this call, if it is less than the policy's */
	pipeline_approve_fn *approve;
	void *approve_data;
};

/* Takes the call through the corridor.  *ret is always set up: free it with report_done() after use.
 * Return: 0 when the call was run or refused (ret->exit_code says how it went, *err why it was
 * refused or could not be started), else a negative code: cordon itself failed, nothing ran. */
CORDON_MUST_CHECK int pipeline_run(const struct policy *p, const struct request *r,
				   const struct pipeline_options *o, struct report *ret,
				   struct cordon_error *err);
