/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a shell command under a policy and says what became of it.
 *
 *   run_command [-p POLICY] COMMAND
 *   cc run_command.c $(pkg-config --cflags --libs cordon) -o run_command
 */
#include <cordon/cordon.h>

#include <stdio.h>
#include <string.h>

static int fail(const struct cordon_error *err)
{
	fprintf(stderr, "run_command: %s\n", err->message);
	if (err->hint[0])
		fprintf(stderr, "run_command: hint: %s\n", err->hint);
	return 125;
}

static int show(const struct cordon_report *report)
{
	struct cordon_denied denied = {.struct_size = sizeof(denied)};
	struct cordon_error err;
	const char *backend = cordon_report_backend(report);
	size_t len;
	const char *out = cordon_report_stdout(report, &len);

	printf("verdict: %s\n", cordon_verdict_name(cordon_report_verdict(report)));
	printf("backend: %s\n", backend ? backend : "none was needed");
	for (size_t i = 0; cordon_report_denied(report, i, &denied, &err) > 0; i++)
		printf("denied:  %s '%s' by %s; %s\n", denied.kind, denied.target, denied.rule,
		       denied.remedy);
	printf("exit:    %d\n", cordon_report_exit_code(report));
	fwrite(out, 1, len, stdout);
	return cordon_report_exit_code(report);
}

int main(int argc, char **argv)
{
	struct cordon_policy_options *options = NULL;
	struct cordon_policy *policy = NULL;
	struct cordon_request *request = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error err;
	int has_policy = argc > 3 && strcmp(argv[1], "-p") == 0;
	int r;

	if (argc != (has_policy ? 4 : 2)) {
		fprintf(stderr, "usage: run_command [-p POLICY] COMMAND\n");
		return 125;
	}
	r = cordon_policy_options_new(/* workspace= */ NULL, &options, &err);
	if (r == 0 && has_policy)
		r = cordon_policy_options_file(options, argv[2], &err);
	if (r == 0)
		r = cordon_policy_load(options, &policy, &err);
	if (r == 0)
		r = cordon_request_shell(argv[argc - 1], /* options= */ NULL, &request, &err);
	if (r == 0)
		r = cordon_run(policy, request, /* options= */ NULL, &report, &err);
	r = r < 0 ? fail(&err) : show(report);

	cordon_report_free(report);
	cordon_request_free(request);
	cordon_policy_free(policy);
	cordon_policy_options_free(options);
	return r;
}
