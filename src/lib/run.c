/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon_run(): the corridor for a program that is not ours.  Unlike the command it forwards no signals,
 * asks nobody on a terminal, and gives the command an empty standard input unless told otherwise.
 */
#include "lib/lib.h"

#include "base/fd.h"
#include "core/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int run_check_signals(struct cordon_error *err)
{
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) < 0)
		return cordon_fail_errno(err, errno, "look at SIGCHLD");
	if (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT))
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_UNSUPPORTED, "this process ignores SIGCHLD"),
			"set SIGCHLD to SIG_DFL or to a handler before cordon_run()");
	return 0;
}

static enum approval run_approve(void *data, const char *text, const char *reason,
				 int64_t timeout_ms)
{
	const struct cordon_run_options *o = data;

	if (!o->approve)
		return APPROVAL_NOBODY;
	switch (o->approve(o->approve_data, text, reason, timeout_ms)) {
	case CORDON_APPROVAL_GRANTED:
		return APPROVAL_GRANTED;
	case CORDON_APPROVAL_TIMED_OUT:
		return APPROVAL_TIMED_OUT;
	case CORDON_APPROVAL_DENIED:
		break;
	}
	return APPROVAL_DENIED; /* also for what is no answer at all */
}

static int run_check(const struct cordon_run_options *options, struct cordon_run_options *ret,
		     struct cordon_error *err)
{
	int r = 0;

	*ret = (struct cordon_run_options){0};
	if (options)
		r = lib_struct_in(ret, sizeof(*ret), options, "struct cordon_run_options", err);
	if (r < 0)
		return r;
	if (ret->flags & ~(unsigned)CORDON_RUN_ROLLBACK_ON_FAILURE)
		return cordon_fail(err, CORDON_E_UNSUPPORTED, "unknown run flags");
	if ((unsigned)ret->output > CORDON_OUTPUT_BOTH)
		return cordon_fail(err, CORDON_E_INVALID, "no such place for the output");
	if (ret->state_dir && ret->state_dir[0] != '/')
		return cordon_fail(err, CORDON_E_INVALID, "the state directory must be absolute");
	for (size_t i = 0; ret->stdio && i < 3; i++)
		if (ret->stdio[i] < 0)
			return cordon_fail(err, CORDON_E_INVALID, "a descriptor below 0");
	return run_check_signals(err);
}

/* Has the report own what it borrows from the caller. */
static int run_own(struct cordon_report *report, const struct cordon_policy *policy,
		   const struct cordon_request *request, const struct cordon_run_options *o,
		   struct cordon_error *err)
{
	const char *backend = o->backend ? o->backend : policy->backend;

	if (backend) {
		report->backend = strdup(backend);
		if (!report->backend)
			return cordon_nomem(err);
	}
	return request_clone(request->request, &report->request, err);
}

static int run_corridor(struct cordon_report *report, const struct cordon_policy *policy,
			struct cordon_run_options *o, const struct lib_entry *entry,
			struct cordon_error *err)
{
	AUTO_CLOSE int null_fd = -1;
	int stdio[3] = {-1, STDOUT_FILENO, STDERR_FILENO};
	struct pipeline_options po = {
		.backend = report->backend,
		.state_dir = o->state_dir ? o->state_dir : policy->state_dir,
		.environ = environ,
		.findings = o->findings ? &o->findings->list : NULL,
		.captures = o->output != CORDON_OUTPUT_PASS,
		.is_quiet = o->output == CORDON_OUTPUT_CAPTURE,
		.rollback_on_failure = o->flags & CORDON_RUN_ROLLBACK_ON_FAILURE,
		.stdio = o->stdio,
		.approve = run_approve,
		.approve_data = o,
	};

	if (entry) {
		po.entry = entry->entry;
		po.held = entry->held;
		po.sandbox = entry->sandbox;
		po.environ = entry->environment;
		po.timeout_ms = entry->timeout_ms;
	}
	if (o->environment)
		memcpy(&po.environ, &o->environment, sizeof(po.environ)); /* only read */
	if (!o->stdio) {
		null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (null_fd < 0)
			return cordon_fail_errno(err, errno, "open /dev/null");
		stdio[0] = null_fd;
		po.stdio = stdio;
	}
	return pipeline_run(policy->policy, report->request, &po, &report->report, err);
}

static int run_call(const struct cordon_policy *policy, const struct cordon_request *request,
		    struct cordon_run_options *o, const struct lib_entry *entry,
		    struct cordon_report **ret, struct cordon_error *err)
{
	struct cordon_report *report = calloc(1, sizeof(*report));
	int r;

	if (!report)
		return cordon_nomem(err);
	r = run_own(report, policy, request, o, err);
	if (r == 0)
		r = run_corridor(report, policy, o, entry, &report->why);
	if (r < 0) {
		if (report->why.code && err)
			*err = report->why;
		cordon_report_free(report);
		return r;
	}
	/* What was tried on the way and did not matter is no reason. */
	if (!report->report.is_refused && report->report.result.is_started)
		cordon_error_clear(&report->why);
	report->findings.list = report->report.findings;
	*ret = report;
	return 0;
}

int lib_run(const struct cordon_policy *policy, const struct cordon_request *request,
	    const struct cordon_run_options *options, const struct lib_entry *entry,
	    struct cordon_report **ret, struct cordon_error *err)
{
	struct cordon_run_options o;
	int r = run_check(options, &o, err);

	return r < 0 ? r : run_call(policy, request, &o, entry, ret, err);
}

int cordon_run(const struct cordon_policy *policy, const struct cordon_request *request,
	       const struct cordon_run_options *options, struct cordon_report **ret,
	       struct cordon_error *err)
{
	lib_enter(err);
	if (!policy || !request || !ret)
		return lib_leave(lib_missing(err, !policy    ? "policy"
						  : !request ? "request"
							     : "place for the report"),
				 err);
	return lib_leave(lib_run(policy, request, options, /* entry= */ NULL, ret, err), err);
}
