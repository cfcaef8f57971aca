/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a call, and its JSON form (the contract of --report and --json). */
#pragma once

#include "backend/seen.h"
#include "backend/select.h"
#include "core/constrain.h"
#include "inspect/gate.h"
#include "policy/policy.h"
#include "request/request.h"
#include "run/supervise.h"
#include "verdict/verdict.h"
#include "workspace/cow/changes.h"

struct denied {
	char kind[16]; /* path, host, socket, device, syscall, limit, command, input, rule, verdict */
	char access[8]; /* path: read, write or execute; else "" */
	char *target;
	char *rule;
	char *remedy; /* an option of run where one helps, else what to do */
	char *grant;  /* the path or host that the remedy names; NULL when none helps */
	char *under;  /* the key of a policy below which `yaml` stands; NULL when no line helps */
	char *yaml;
	bool is_look;             /* it was only asked whether it is there */
	bool is_inferred;         /* a guess from the command's messages */
	bool is_minor;            /* programs try it and go on without; only told in detail */
	uint64_t count;           /* how often it was asked for; 0 when that is not counted */
	char comm[SEEN_COMM_MAX]; /* the process that asked first; "" when not known */
};

#define FINDING_RULE_NEW_GIT "new-git-directory"      /* the call made one */
#define FINDING_RULE_GIT_LINK "link-in-git-directory" /* git would write where it leads */
#define FINDING_RULE_PROTECTED "protected-path-changed"
#define FINDING_RULE_SENSITIVE "sensitive-file-changed"
#define FINDING_RULE_UNWATCHED "sensitive-files-not-watched" /* and so the session is tainted */
#define FINDING_RULE_UNSEEN "changes-not-seen"

struct report {
	const struct request *request; /* borrowed */
	enum level requested_level;
	const char *requested_backend; /* borrowed; NULL: auto */
	struct findings findings;
	struct verdict verdict;
	enum action action; /* what the policy's action map says about the verdict */
	bool is_dry_run;    /* the action was only recorded */
	char rule[320];     /* of policy.rules, that let the call on; "" when there is none */
	struct constrained
		constrained; /* what a SUSPICIOUS call is held to, or would be; policy NULL: nothing */
	char checkpoint[72]; /* the snapshot that was taken before the call; "" when there is none */
	size_t output_withheld;     /* streams that were not passed on (output.h) */
	size_t output_hidden;       /* secrets that were replaced in them */
	bool is_refused;            /* the call did not run, by policy or verdict */
	struct selection selection; /* backend NULL when none was chosen */
	bool has_run;
	enum plan_watch watch; /* what was asked to be written down */
	struct supervise_result result;
	struct denied *denied;
	size_t n_denied;
	size_t denied_cap;
	uint64_t denied_dropped; /* that are not in the list */
	struct seen seen;        /* what denied is made of, and sensitive files that were opened */
	/* What the proxy saw; zero when the call had none. */
	uint64_t net_allowed;
	uint64_t net_blocked;
	uint64_t net_bytes;
	struct report_approval *approvals; /* hosts that a person allowed */
	size_t n_approvals;
	struct report_host *hosts; /* that were spoken to */
	size_t n_hosts;
	size_t hosts_cap;
	struct strv secrets; /* names of stored ones that went in */
	enum injection injection;
	bool secrets_locked;   /* no value could be swapped out */
	struct strv submounts; /* in the workspace, no part of the changes: "ro PATH" or "rw PATH" */
	struct changes changes; /* of the workspace, if has_changes */
	bool has_changes;
	char sandbox[COW_ID_MAX]; /* where they are kept, or "" */
	bool is_rolled_back;      /* the call failed, and nothing of it is left */
	size_t committed;         /* paths that were written after the call succeeded */
	struct strv left_out;     /* "PATH: why" of those that were not */
	int exit_code;            /* of `cordon run` */
};

/* A host that was on no list, and who allowed it. */
struct report_approval {
	char host[300];
	char scope[16];
	char by[128];
};

/* A host that was spoken to. */
struct report_host {
	char name[256];
	uint64_t count;
	uint64_t bytes;
};

void report_done(struct report *r);
/* Appends; beyond LIMIT_DENIED the entry is only counted.  0 or -ENOMEM. */
CORDON_MUST_CHECK int report_deny(struct report *r, const char *kind, const char *target,
				  const char *rule, const char *remedy);
/* The same with every member; its strings are copied. */
CORDON_MUST_CHECK int report_deny_more(struct report *r, const struct denied *d);
/* Adds to what was said to a host, at most LIMIT_DENIED of them.  0 or -ENOMEM. */
CORDON_MUST_CHECK int report_host(struct report *r, const char *name, uint64_t count,
				  uint64_t bytes);
CORDON_MUST_CHECK int report_approval(struct report *r, const char *host, const char *scope,
				      const char *by);
/* One entry of "denied". */
void denied_json(const struct denied *d, struct json *out);
/* Writes the whole object. */
void report_json(const struct report *r, struct json *out);
