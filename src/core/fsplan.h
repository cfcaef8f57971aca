/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a policy and a call to the steps that set up its view of the file system: the defaults of the
 * manual, word by word.  It looks at the host (which of the system's directories there are, where links
 * lead, which git directories exist) and changes nothing; it keeps what it saw of large trees (workspace/walkmemo.h).
 */
#pragma once

#include "backend/plan.h"
#include "policy/policy.h"
#include "request/request.h"
#include "workspace/newgit.h"

struct fsplan {
	struct plan_op *ops;
	size_t n;
	size_t cap;
	struct strv strings; /* owns what the ops point to */
	/* Files in what can be written that look as if they held secrets; at most LIMIT_SENSITIVE. */
	struct strv sensitive;
	bool is_sensitive_cut; /* there are more: they are not watched */
	/* Something of the host's is granted as it is, not through the workspace's overlay: sockets in it
	 * would lead out. */
	bool seals_unix;
	struct newgit newgit; /* the directories in which the call may make repositories */
};

struct fsplan_input {
	const struct policy *policy;
	const struct request *request;
	char *const *envp;       /* of the command: HOME, PATH */
	const char *state_dir;   /* ours: closed to every call */
	const char *config_dir;  /* ours, or NULL */
	const char *runtime_dir; /* of our sockets, or NULL */
	const char *cow_dir; /* of the change set that the workspace is written to; NULL: itself */
	bool is_root;
};

/* *ret is always set up: fsplan_done() frees it. */
CORDON_MUST_CHECK int fsplan_build(const struct fsplan_input *in, struct fsplan *ret,
				   struct cordon_error *err);
/* Adds a step behind the others; path and text are copied.  0, -ENOMEM, or -E2BIG beyond LIMIT_PLAN_OPS. */
CORDON_MUST_CHECK int fsplan_append(struct fsplan *p, struct plan_op op);
void fsplan_done(struct fsplan *p);
