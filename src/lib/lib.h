/* SPDX-License-Identifier: Apache-2.0 */
/* The handles of the library, from inside. */
#pragma once

#include "core/effective.h"
#include "core/report.h"
#include "lib/border.h"

struct cordon_policy_options {
	struct effective places;
	struct policy *layer; /* the options as a layer */
	struct strv files;
	struct policy_text *texts; /* owned, with their strings */
	size_t n_texts;
	size_t texts_cap;
	char *backend;              /* or NULL */
	struct strv words;          /* the options as words of `cordon run` */
	const char *unsayable;      /* what those words cannot say, or NULL */
	const char *mode;           /* constant, or NULL */
	struct cordon_error spoilt; /* the first refusal; code 0 when there was none */
};

struct cordon_policy {
	struct policy *policy;
	char *workspace;
	char *state_dir;
	char *backend; /* or NULL */
};

struct cordon_request {
	struct request *request;
};

struct cordon_findings {
	struct findings list;
};

struct cordon_report {
	struct report report;
	struct request *request;         /* our own copy */
	char *backend;                   /* that was asked for; the report borrows it */
	struct cordon_findings findings; /* a view of the report's */
	struct cordon_error why;
};

struct plan_entry;
struct sandbox;

/* A sandbox that a call goes into. */
struct lib_entry {
	const struct plan_entry *entry;
	const struct selection *held;
	const struct sandbox *sandbox;
	char *const *environment;
	int64_t timeout_ms; /* 0: the policy's */
};

/* cordon_run() behind the border.  entry: NULL, or where the call goes. */
CORDON_MUST_CHECK int lib_run(const struct cordon_policy *policy,
			      const struct cordon_request *request,
			      const struct cordon_run_options *options,
			      const struct lib_entry *entry, struct cordon_report **ret,
			      struct cordon_error *err);

/* Gives the strings as one block: the pointers, a NULL, then the bytes. */
CORDON_MUST_CHECK int lib_pack(const struct strv *words, char ***ret, struct cordon_error *err);

DEFINE_FREEP(struct cordon_policy_options, cordon_policy_options_free)
