/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An adapter: lists first, then a command in a sandbox, or this process itself.
 *
 *   adapter run DIRECTORY COMMAND    the command may write to the directory, but not execute what it wrote
 *   adapter self DIRECTORY COMMAND   the same by confining this process, which then becomes the command
 */
#include <cordon/cordon.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct cordon_error *err)
{
	(void)fprintf(stderr, "adapter: %s\n", err->message);
	if (err->hint[0])
		(void)fprintf(stderr, "adapter: hint: %s\n", err->hint);
	return 125;
}

static int run(struct cordon_adapter *adapter, const char *directory, const char *command)
{
	const struct cordon_request_options where = {.struct_size = sizeof(where),
						     .cwd = directory};
	struct cordon_request *request = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error err;
	char *log = NULL;
	int code;

	if (cordon_request_shell(command, &where, &request, &err) < 0 ||
	    cordon_adapter_run(adapter, request, NULL, &report, &err) < 0 ||
	    cordon_adapter_get_audit_log(adapter, &log, NULL, &err) < 0) {
		cordon_request_free(request);
		cordon_report_free(report);
		return fail(&err);
	}
	(void)printf("%s%s%s\n", cordon_report_stdout(report, NULL),
		     cordon_report_stderr(report, NULL), log);
	code = cordon_report_exit_code(report);
	cordon_free(log);
	cordon_request_free(request);
	cordon_report_free(report);
	return code;
}

static int become(struct cordon_adapter *adapter, const char *directory, const char *command)
{
	struct cordon_error err;

	if (chdir(directory) < 0)
		return 125;
	if (cordon_adapter_apply_restrictions(adapter, &err) < 0)
		return fail(&err);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	return 126;
}

int main(int argc, char **argv)
{
	const char *const writable[] = {argc > 2 ? argv[2] : "", NULL};
	struct cordon_adapter *adapter = NULL;
	struct cordon_error err;
	int code;

	if (argc != 4 || (strcmp(argv[1], "run") != 0 && strcmp(argv[1], "self") != 0)) {
		(void)fprintf(stderr, "usage: adapter run|self DIRECTORY COMMAND\n");
		return 125;
	}
	if (cordon_adapter_new(NULL, &adapter, &err) < 0 ||
	    cordon_adapter_restrict_filesystem(adapter, writable, NULL, NULL, &err) < 0 ||
	    cordon_adapter_restrict_network(adapter, NULL, &err) < 0)
		code = fail(&err);
	else if (strcmp(argv[1], "run") == 0)
		code = run(adapter, argv[2], argv[3]);
	else
		code = become(adapter, argv[2], argv[3]);
	cordon_adapter_free(adapter);
	return code;
}
