/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a call: rules, verdict, backend, supervision, audit trail, report.  cordon_run() returns when
 * the call has ended or was refused.
 *
 * While it runs, SIGPIPE is blocked in the calling thread.  The process must not ignore SIGCHLD, since
 * the kernel would then collect the command before the library can: that is an error.
 */
#pragma once

#include <cordon/policy.h>
#include <cordon/request.h>
#include <cordon/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the command's output goes. */
enum cordon_output {
	CORDON_OUTPUT_CAPTURE, /* into the report, up to 16 MiB of each stream */
	CORDON_OUTPUT_PASS,    /* to the descriptors */
	CORDON_OUTPUT_BOTH
};

enum cordon_run_flags {
	CORDON_RUN_ROLLBACK_ON_FAILURE = 1 /* restore the workspace when the command fails */
};

enum cordon_approval { CORDON_APPROVAL_DENIED, CORDON_APPROVAL_GRANTED, CORDON_APPROVAL_TIMED_OUT };

/* Asked when a rule requires approval.  reason may be NULL.  Called in the thread of cordon_run(). */
typedef enum cordon_approval cordon_approve_fn(void *data, const char *command, const char *reason,
					       int64_t timeout_ms);

/* Zero and NULL are the defaults. */
struct cordon_run_options {
	size_t struct_size;
	const char *backend;   /* auto, strongest or a name; NULL: what the policy says */
	const char *state_dir; /* of audit trail and counters, absolute; NULL: the policy's */
	const char *const *environment; /* NAME=VALUE, NULL-terminated, to pick from; NULL: ours */
	const struct cordon_findings *findings; /* of your own detectors */
	const int *stdio; /* three descriptors for the command's 0, 1 and 2; NULL: /dev/null, 1, 2 */
	cordon_approve_fn *approve; /* NULL: nobody can approve, which refuses the call */
	void *approve_data;
	enum cordon_output output;
	unsigned flags; /* enum cordon_run_flags */
};

struct cordon_report;

/* Runs the call.  options may be NULL.  Gives a report, which needs none of the others any more.
 * Return: 0 when the command ran or was refused (the report says which); a negative code when cordon
 * itself failed: then the command did not run or what became of it could not be recorded. */
CORDON_API CORDON_MUST_CHECK int cordon_run(const struct cordon_policy *policy,
					    const struct cordon_request *request,
					    const struct cordon_run_options *options,
					    struct cordon_report **ret, struct cordon_error *err);
CORDON_API void cordon_report_free(struct cordon_report *r);

/* As `cordon run` exits: the command's own, 128+n, 124 timeout, 126 refused, 127 not found, 137. */
CORDON_API int cordon_report_exit_code(const struct cordon_report *r);
/* The request's id.  Borrows. */
CORDON_API const char *cordon_report_id(const struct cordon_report *r);
CORDON_API enum cordon_verdict cordon_report_verdict(const struct cordon_report *r);
CORDON_API double cordon_report_confidence(const struct cordon_report *r);
/* What the policy does about the verdict, and whether that was only recorded (1) or done (0). */
CORDON_API enum cordon_action cordon_report_action(const struct cordon_report *r);
CORDON_API int cordon_report_dry_run(const struct cordon_report *r);
/* 1 when policy or verdict refused the call and nothing ran. */
CORDON_API int cordon_report_refused(const struct cordon_report *r);
/* Why the command did not run; its code is 0 when it ran.  Borrows. */
CORDON_API const struct cordon_error *cordon_report_error(const struct cordon_report *r);
/* Backend and isolation level that were used, or NULL when the call never came that far.  Constant. */
CORDON_API const char *cordon_report_backend(const struct cordon_report *r);
CORDON_API const char *cordon_report_level(const struct cordon_report *r);
/* What held, and what was wanted but permitted to be given up, by name; NULL beyond the last. */
CORDON_API const char *cordon_report_guarantee(const struct cordon_report *r, size_t index);
CORDON_API const char *cordon_report_degraded(const struct cordon_report *r, size_t index);
/* The signal that ended the command, or 0. */
CORDON_API int cordon_report_signal(const struct cordon_report *r);
CORDON_API int cordon_report_timed_out(const struct cordon_report *r);
CORDON_API int cordon_report_output_truncated(const struct cordon_report *r);
CORDON_API double cordon_report_duration_ms(const struct cordon_report *r);
/* The captured bytes, with a NUL behind them.  Borrows; ret_len may be NULL. */
CORDON_API const char *cordon_report_stdout(const struct cordon_report *r, size_t *ret_len);
CORDON_API const char *cordon_report_stderr(const struct cordon_report *r, size_t *ret_len);
/* All findings that were looked at.  Borrows. */
CORDON_API const struct cordon_findings *cordon_report_findings(const struct cordon_report *r);

struct cordon_denied {
	size_t struct_size;
	const char *kind;   /* path, host, socket, device, syscall, limit, rule, … */
	const char *target; /* what was asked for */
	const char *rule;   /* what denied it, and where that was written */
	const char *remedy; /* what to change */
};
/* The index-th denial: 1 and *ret (set its struct_size before; borrows), 0 beyond the last. */
CORDON_API CORDON_MUST_CHECK int cordon_report_denied(const struct cordon_report *r, size_t index,
						      struct cordon_denied *ret,
						      struct cordon_error *err);
/* The report as JSON, as `cordon run --report` writes it.  Gives; ret_len may be NULL. */
CORDON_API CORDON_MUST_CHECK int cordon_report_json(const struct cordon_report *r, char **ret_json,
						    size_t *ret_len, struct cordon_error *err);

/* Words for execvp() and the like that run a shell command through the program `cordon` with the same
 * options: "cordon", "run", …, "-c", command, and NULL.  Nothing is quoted, since nothing is parsed
 * again.  Gives one block for cordon_free().  CORDON_E_UNSUPPORTED when an option cannot be said there. */
CORDON_API CORDON_MUST_CHECK int cordon_wrap_command(const char *command,
						     const struct cordon_policy_options *options,
						     char ***ret_argv, struct cordon_error *err);

#ifdef __cplusplus
}
#endif
