/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command with an egress proxy of its own, and says afterwards what it asked for.  The command uses the proxy
 * because the variables say so; nothing forces it to.
 *
 *     cc examples/proxy.c $(pkg-config --cflags --libs cordon) -o proxy
 *     ./proxy example.org -- curl -sS http://example.org/
 */
#include <cordon/cordon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed(const struct cordon_error *err)
{
	fprintf(stderr, "%s%s%s\n", err->message, err->hint[0] ? "; " : "", err->hint);
	return 125;
}

/* The command's exit code. */
static int run(char **command, char **variables)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (size_t i = 0; variables[i]; i++)
			putenv(variables[i]);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct cordon_proxy_config config = {0};
	struct cordon_proxy_entry entry = {0};
	struct cordon_proxy_stats stats = {0};
	struct cordon_proxy *proxy = NULL;
	struct cordon_error err;
	char **variables = NULL;
	const char **hosts = calloc((size_t)argc + 1, sizeof(*hosts));
	int i, code;

	for (i = 1; hosts && i < argc && strcmp(argv[i], "--") != 0; i++)
		hosts[i - 1] = argv[i];
	if (!hosts || i + 1 >= argc) {
		fprintf(stderr, "usage: proxy HOST... -- COMMAND...\n");
		return 125;
	}
	config.struct_size = sizeof(config);
	entry.struct_size = sizeof(entry);
	stats.struct_size = sizeof(stats);
	config.allowed = hosts;
	if (cordon_proxy_new(&config, &proxy, &err) < 0 || cordon_proxy_start(proxy, &err) < 0 ||
	    cordon_proxy_env(proxy, &variables, &err) < 0)
		return failed(&err);
	code = run(argv + i + 1, variables);
	cordon_proxy_stop(proxy);
	while (cordon_proxy_get_log(proxy, &entry, &err) > 0)
		printf("%s %s:%u %s%s%s\n", entry.method, entry.host, entry.port,
		       entry.allowed ? "allowed" : "refused", entry.remedy[0] ? ", try " : "",
		       entry.remedy);
	if (cordon_proxy_get_stats(proxy, &stats, &err) == 0)
		printf("%llu allowed, %llu refused\n", (unsigned long long)stats.allowed,
		       (unsigned long long)stats.blocked);
	cordon_proxy_free(proxy);
	cordon_free(variables);
	free(hosts);
	return code;
}
