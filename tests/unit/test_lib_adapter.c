/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: what the lists mean for this process and for a command, in which order they may come, and what
 * is noted.  Each thing that is refused worked before.
 */
#include "lib_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NO_LANDLOCK = 77 };

static char writable[300], readable[300], both[300], outside[300];

static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static void run_in_child(int (*fn)(void))
{
	int r = in_child(fn);

	if (r == NO_LANDLOCK) {
		print_message("# skip: kernel without Landlock\n");
		skip();
	}
	assert_int_equal(r, 0);
}

static int make(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int list(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* Executes dir/t; its exit status, or 126 when it cannot be executed. */
static int execute(const char *dir)
{
	char path[400];
	int status = -1;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/t", dir);
	pid = fork();
	if (pid == 0) {
		execl(path, "t", (char *)NULL);
		_exit(126);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : -1;
}

static int can_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static int can_memfd(void)
{
	int fd = memfd_create("x", MFD_CLOEXEC), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

static struct cordon_adapter *adapter_new(void)
{
	const char *const w[] = {writable, NULL}, *const r[] = {readable, NULL},
			  *const x[] = {both, NULL};
	struct cordon_adapter *a = NULL;

	if (cordon_adapter_new("native", &a, NULL) < 0 ||
	    cordon_adapter_restrict_filesystem(a, w, r, x, NULL) < 0)
		return NULL;
	return a;
}

static int apply(struct cordon_adapter *a)
{
	struct cordon_error err;

	if (cordon_adapter_apply_restrictions(a, &err) == 0)
		return 0;
	return strstr(err.message, "Landlock ABI") ? NO_LANDLOCK : 99;
}

static int self_files(void)
{
	struct cordon_adapter *a = adapter_new();
	int r;

	if (!a || make(writable) || make(readable) || make(both) || make(outside) ||
	    execute(writable) || execute(readable) || execute(both) || execute(outside) ||
	    can_memfd())
		return 1; /* the control, and that lists alone change nothing */
	r = apply(a);
	if (r)
		return r;
	if (make(writable) || make(both))
		return 2;
	if (make(readable) != EACCES || make(outside) != EACCES || list(outside) != EACCES)
		return 3;
	if (list(readable) || list(writable))
		return 4;
	if (execute(writable) != 126 || execute(outside) != 126)
		return 5;
	if (execute(readable) || execute(both))
		return 6;
	if (can_memfd() != EPERM)
		return 7;
	cordon_adapter_free(a);
	return 0;
}

static int self_network(void)
{
	struct cordon_adapter *a = adapter_new();
	int pair[2];
	int r;

	if (!a || can_socket(AF_INET) || can_socket(AF_UNIX) || can_socket(AF_INET6) == EPERM)
		return 1;
	r = apply(a);
	if (r)
		return r;
	if (can_socket(AF_INET) != EAFNOSUPPORT || can_socket(AF_INET6) != EAFNOSUPPORT ||
	    can_socket(AF_UNIX) != EAFNOSUPPORT || can_socket(AF_NETLINK) != EAFNOSUPPORT)
		return 2;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ? 3 : 0;
}

static int self_network_open(void)
{
	const char *const all[] = {"*", NULL};
	struct cordon_adapter *a = adapter_new();
	int r;

	if (!a || cordon_adapter_restrict_network(a, all, NULL) < 0)
		return 1;
	r = apply(a);
	return r ? r : can_socket(AF_INET) || can_socket(AF_UNIX) ? 2 : 0;
}

static int self_calls(void)
{
	const char *const calls[] = {"@basic", "openat", "execve", NULL};
	struct cordon_adapter *a = adapter_new();
	int r;

	if (!a || syscall(SYS_umask, 022) < 0 || access("/usr", F_OK) < 0)
		return 1;
	if (cordon_adapter_restrict_syscalls(a, calls, NULL) < 0)
		return 2;
	r = apply(a);
	if (r)
		return r;
	if (syscall(SYS_umask, 022) >= 0 || errno != EPERM || access("/usr", F_OK) == 0)
		return 3;
	/* A list never gives what the filter of every sandbox takes. */
	if (syscall(SYS_getpid) < 0 || list("/usr"))
		return 4;
	return 0;
}

static int self_calls_never_widen(void)
{
	const char *const calls[] = {"@basic", "@files",  "@process", "@network",
				     "@ipc",   "@system", NULL};
	struct cordon_adapter *a = adapter_new();
	int r;

	if (!a || cordon_adapter_restrict_syscalls(a, calls, NULL) < 0)
		return 1;
	r = apply(a);
	if (r)
		return r;
	if (syscall(SYS_ptrace, 0, 0, 0, 0) == 0 || errno != EPERM)
		return 2;
	return can_socket(AF_INET) == EAFNOSUPPORT ? 0 : 3;
}

static int self_order(void)
{
	struct cordon_adapter *a = adapter_new();
	struct cordon_error err;
	int r = a ? apply(a) : 1;

	if (r)
		return r;
	if (cordon_adapter_apply_restrictions(a, &err) != CORDON_E_INVALID ||
	    cordon_adapter_restrict_filesystem(a, NULL, NULL, NULL, &err) != CORDON_E_INVALID ||
	    cordon_adapter_restrict_network(a, NULL, &err) != CORDON_E_INVALID ||
	    cordon_adapter_restrict_syscalls(a, NULL, &err) != CORDON_E_INVALID)
		return 2;
	return strstr(err.message, "in force already") ? 0 : 3;
}

/* The adapter that the protocol calls by this name, which needs no user namespaces. */
static int self_landlock(void)
{
	const char *const w[] = {writable, NULL};
	struct cordon_adapter *a = NULL;
	int r;

	if (cordon_adapter_new("landlock", &a, NULL) < 0)
		return NO_LANDLOCK;
	if (cordon_adapter_restrict_filesystem(a, w, NULL, NULL, NULL) < 0 || make(outside))
		return 1;
	r = apply(a);
	if (r)
		return r;
	return make(writable) || make(outside) != EACCES || execute(writable) != 126 ? 2 : 0;
}

static void *wait_for_end(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

static int self_threads(void)
{
	struct cordon_adapter *a = adapter_new();
	struct cordon_error err;
	pthread_t thread;
	int r;

	if (!a || pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
		return 1;
	r = cordon_adapter_apply_restrictions(a, &err);
	if (strstr(err.message, "Landlock ABI"))
		return NO_LANDLOCK;
	if (r != CORDON_E_UNSUPPORTED || make(outside) || can_socket(AF_INET))
		return 2; /* and nothing has changed */
	return 0;
}

#define SELF_TEST(name)                                                                            \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		run_in_child(name);                                                                \
	}
SELF_TEST(self_files)
SELF_TEST(self_network)
SELF_TEST(self_network_open)
SELF_TEST(self_calls)
SELF_TEST(self_calls_never_widen)
SELF_TEST(self_order)
SELF_TEST(self_landlock)
SELF_TEST(self_threads)

/* A writable path below a readable one would be executable through it. */
static void test_nesting(void **state)
{
	const char *const w[] = {writable, NULL}, *const r[] = {place, NULL};
	struct cordon_adapter *a = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_adapter_new("native", &a, &err));
	assert_ok(cordon_adapter_restrict_filesystem(a, w, r, NULL, &err));
	assert_code(cordon_adapter_apply_restrictions(a, &err), CORDON_E_UNSUPPORTED);
	assert_int_equal(make(outside), 0);
	cordon_adapter_free(a);
}

static void test_refused(void **state)
{
	static const struct {
		const char *const writable[3];
		int code;
	} paths[] = {
		{{"relative", NULL}, CORDON_E_INVALID},
		{{"", NULL}, CORDON_E_INVALID},
		{{"/nonexistent/x", NULL}, CORDON_E_SYSTEM},
		{{"/usr", "/nonexistent/x", NULL}, CORDON_E_SYSTEM},
	};
	static const char *const hosts[][3] = {{"*", "a.example", NULL},
					       {"", NULL},
					       {"a.example", "b..example", NULL},
					       {"a/b", NULL}};
	static const char *const calls[][2] = {
		{"no_such_call", NULL}, {"@none", NULL}, {"", NULL}, {"READ", NULL}};
	struct cordon_adapter *a = NULL;
	struct cordon_error err;
	char *name = NULL;

	(void)state;
	assert_code(cordon_adapter_new("nothing", &a, &err), CORDON_E_INVALID);
	assert_ok(cordon_adapter_new("native", &a, &err));
	assert_string_equal(cordon_adapter_name(a), "native");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		assert_code(cordon_adapter_restrict_filesystem(a, paths[i].writable, NULL, NULL,
							       &err),
			    paths[i].code);
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		assert_code(cordon_adapter_restrict_network(a, hosts[i], &err), CORDON_E_INVALID);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		assert_code(cordon_adapter_restrict_syscalls(a, calls[i], &err), CORDON_E_INVALID);
	assert_code(cordon_adapter_snapshot(a, &name, &err), CORDON_E_INVALID); /* of nothing */
	assert_code(cordon_adapter_rollback(a, "x", &err), CORDON_E_NOT_FOUND);
	cordon_adapter_free(a);
}

static void test_noop(void **state)
{
	struct cordon_adapter *a = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_adapter_new("noop", &a, &err));
	assert_code(cordon_adapter_restrict_filesystem(a, NULL, NULL, NULL, &err),
		    CORDON_E_UNSUPPORTED);
	assert_code(cordon_adapter_restrict_network(a, NULL, &err), CORDON_E_UNSUPPORTED);
	assert_code(cordon_adapter_restrict_syscalls(a, NULL, &err), CORDON_E_UNSUPPORTED);
	assert_code(cordon_adapter_apply_restrictions(a, &err), CORDON_E_UNSUPPORTED);
	cordon_adapter_free(a);
}

static int run(struct cordon_adapter *a, const char *command)
{
	const struct cordon_request_options where = {.struct_size = sizeof(where), .cwd = "/usr"};
	const struct cordon_run_options options = {.struct_size = sizeof(options),
						   .state_dir = place_state};
	struct cordon_request *q = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error err;
	int code;

	assert_ok(cordon_request_shell(command, &where, &q, &err));
	assert_ok(cordon_adapter_run(a, q, &options, &report, &err));
	code = cordon_report_exit_code(report);
	cordon_request_free(q);
	cordon_report_free(report);
	return code;
}

/* The command with $d set to the directory. */
static int run_at(struct cordon_adapter *a, const char *command, const char *dir)
{
	char text[700];

	(void)snprintf(text, sizeof(text), "d=%s; %s", dir, command);
	return run(a, text);
}

static void test_run(void **state)
{
	const char *const calls[] = {"@basic", "@files", "@process", NULL};
	struct cordon_adapter *a = adapter_new();
	struct cordon_error err;
	char *log = NULL;

	(void)state;
	if (!a) {
		print_message("# skip: backend native is not available here\n");
		skip();
	}
	assert_int_equal(run_at(a, "echo x >$d/made", writable), 0);
	assert_int_equal(run_at(a, "test -e $d/t", outside), 1);
	assert_int_equal(run_at(a, "$d/t", writable), 126);
	assert_int_equal(run_at(a, "$d/t", readable), 0);
	assert_int_equal(run_at(a, "$d/t", both), 0);
	assert_int_equal(run_at(a, "cp /bin/true $d/u && $d/u", both), 0);
	assert_int_not_equal(run_at(a, "echo x >$d/made", readable), 0);
	assert_int_equal(run(a, "mkfifo /tmp/p"), 0);
	assert_int_equal(run(a, "/usr/bin/python3 -c 'import socket; socket.socket()'"), 0);
	assert_ok(cordon_adapter_restrict_syscalls(a, calls, &err));
	assert_int_equal(run(a, "/usr/bin/python3 -c 'import socket; socket.socket()'"), 1);
	assert_int_equal(run(a, "/usr/bin/python3 -c 'print(1)'"), 0);
	assert_ok(cordon_adapter_get_audit_log(a, &log, NULL, &err));
	assert_non_null(strstr(log, "\"event\":\"run\""));
	assert_non_null(strstr(
		log, "\"event\":\"restrict_syscalls\",\"result\":\"ok\",\"allowed\":[\"@basic\""));
	cordon_free(log);
	cordon_adapter_free(a);
}

static void test_log(void **state)
{
	const char *const bad[] = {"/nonexistent/\"quoted\"", NULL};
	struct cordon_adapter *a = NULL;
	struct cordon_error err;
	char *log = NULL;
	size_t len = 0;

	(void)state;
	assert_ok(cordon_adapter_new("native", &a, &err));
	assert_ok(cordon_adapter_get_audit_log(a, &log, &len, &err));
	assert_string_equal(log, "[]");
	cordon_free(log);
	assert_true(cordon_adapter_restrict_filesystem(a, bad, NULL, NULL, &err) < 0);
	assert_true(cordon_adapter_restrict_network(a, bad, &err) < 0);
	assert_ok(cordon_adapter_get_audit_log(a, &log, &len, &err));
	assert_int_equal(len, strlen(log));
	assert_non_null(
		strstr(log, "\"event\":\"restrict_filesystem\",\"result\":\"'/nonexistent"));
	assert_non_null(strstr(log, "\"writable\":[\"/nonexistent/\\\"quoted\\\"\"]"));
	assert_non_null(strstr(log, "\"event\":\"restrict_network\""));
	assert_null(strstr(log, "\"ok\""));
	cordon_free(log);
	/* The log has an end, and what cannot be noted is not done. */
	for (int i = 0; i < 2000; i++)
		(void)!cordon_adapter_restrict_network(a, NULL, NULL);
	assert_code(cordon_adapter_restrict_network(a, NULL, &err), CORDON_E_LIMIT);
	cordon_adapter_free(a);
}

static int state_command(const char *format, const char *dir)
{
	char command[1400];

	(void)snprintf(command, sizeof(command), "d=%s; %s", dir, format);
	return system(command);
}

/* On every backend: what was there comes back, what a call made goes, what somebody else made stays. */
static void test_snapshot(void **state)
{
	static const char *const backends[] = {"native", "landlock", "bwrap",
					       "nsjail", "chroot",   "noop"};
	static const char change[] = "echo changed >$d/file; rm $d/gone; rm -r $d/dir; "
				     "chmod 600 $d/mode; echo new >$d/made; mkdir $d/deep; "
				     "echo new >$d/deep/made; ln -sf /etc/passwd $d/link";
	static const char built[] = "rm -rf $d; mkdir $d && cd $d && echo text >file && "
				    "echo text >gone && mkdir dir && echo text >dir/in && "
				    "echo text >mode && ln -s file link";
	static const char good[] =
		"cd $d && test \"$(cat file gone dir/in)\" = \"$(printf "
		"'text\\ntext\\ntext')\" && test \"$(stat -c %a mode)\" = 644 && "
		"test \"$(readlink link)\" = file && test -e mine";
	size_t tried = 0;
	char kept[310];
	const char *const w[] = {kept, NULL};

	(void)state;
	(void)snprintf(kept, sizeof(kept), "%s/kept", place);
	for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
		struct cordon_adapter *a = NULL;
		struct cordon_error err;
		char *name = NULL, *log = NULL;
		bool can_run;

		if (cordon_adapter_new(backends[i], &a, &err) < 0)
			continue;
		tried++;
		assert_int_equal(state_command(built, kept), 0);
		/* landlock holds the lists for this process only */
		can_run = cordon_adapter_restrict_filesystem(a, w, NULL, NULL, &err) == 0 &&
			  strcmp(backends[i], "landlock") != 0;
		assert_ok(cordon_adapter_snapshot(a, &name, &err));
		assert_int_equal(state_command("echo mine >$d/mine", kept), 0);
		if (can_run)
			assert_int_equal(run_at(a, change, kept), 0);
		else
			assert_int_equal(state_command(change, kept), 0);
		assert_int_not_equal(state_command(good, kept), 0);
		assert_ok(cordon_adapter_rollback(a, name, &err));
		if (state_command(good, kept) != 0)
			fail_msg("%s: the state is not what it was", backends[i]);
		/* Without a run nobody knows who made it. */
		assert_int_equal(state_command("test -e $d/made", kept) == 0, !can_run);
		assert_int_equal(state_command("test -e $d/deep", kept) == 0, !can_run);
		assert_code(cordon_adapter_rollback(a, "../x", &err), CORDON_E_INVALID);
		assert_code(cordon_adapter_rollback(a, "none", &err), CORDON_E_NOT_FOUND);
		if (can_run) {
			assert_ok(cordon_adapter_get_audit_log(a, &log, NULL, &err));
			assert_non_null(strstr(log, "\"event\":\"rollback\",\"result\":\"ok\""));
		}
		cordon_free(log);
		cordon_free(name);
		cordon_adapter_free(a);
	}
	assert_true(tried > 0);
}

/* Every backend that runs commands in a view of their own holds the lists. */
static void test_lists_held(void **state)
{
	static const char *const backends[] = {"native", "bwrap", "nsjail", "chroot"};
	static const struct {
		const char *command;
		bool works; /* in the sandbox; outside all of them do */
	} rows[] = {
		{"echo x >$d/made", true},
		{"cat $d/../readable/file", true},
		{"echo x >$d/../readable/made", false},
		{"echo x >$d/../outside/made", false},
		{"cat $d/../outside/file", false},
		{"cp /bin/true $d/program && $d/program", false},
		{"cp /bin/true $d/../both/program && $d/../both/program", true},
	};
	char top[310], kept[330], read_only[330], all[330];
	const char *const w[] = {kept, NULL}, *const r[] = {read_only, NULL},
			  *const x[] = {all, NULL};

	(void)state;
	(void)snprintf(top, sizeof(top), "%s/lists", place);
	(void)snprintf(kept, sizeof(kept), "%s/kept", top);
	(void)snprintf(read_only, sizeof(read_only), "%s/readable", top);
	(void)snprintf(all, sizeof(all), "%s/both", top);
	for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
		struct cordon_adapter *a = NULL;
		struct cordon_error err;

		if (cordon_adapter_new(backends[i], &a, &err) < 0)
			continue;
		assert_int_equal(state_command("rm -rf $d; mkdir -p $d/kept $d/readable $d/both "
					       "$d/outside; echo x >$d/readable/file; echo x "
					       ">$d/outside/file",
					       top),
				 0);
		assert_ok(cordon_adapter_restrict_filesystem(a, w, r, x, &err));
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			int code = run_at(a, rows[k].command, kept);

			if ((code == 0) != rows[k].works)
				fail_msg("%s: '%s' ended with %d", backends[i], rows[k].command,
					 code);
			assert_int_equal(state_command(rows[k].command, kept), 0);
		}
		if (strcmp(backends[i], "native") != 0)
			assert_code(cordon_adapter_apply_restrictions(a, &err),
				    CORDON_E_UNSUPPORTED);
		cordon_adapter_free(a);
	}
}

/* A list of hosts: what is on it gets as far as the next judge, who refuses the names of .invalid; all else is refused
 * by the list.  A list that was refused leaves nothing open, and this process cannot be held to one. */
static void test_hosts_held(void **state)
{
	static const char *const backends[] = {"native", "bwrap", "chroot", "nsjail"};
	static const char *const listed[] = {"listed.invalid", "*.below.invalid", NULL};
	static const char *const bad[] = {"other.invalid", "a b", NULL};
	static const char ask[] =
		"curl -s -i -m 20 http://%s/ | grep -q 'x-proxy-error: network.%s'";
	static const struct {
		const char *host;
		const char *rule;
	} rows[] = {
		{"listed.invalid", "ssrf_protection"}, {"x.below.invalid", "ssrf_protection"},
		{"other.invalid", "allowed_hosts"},    {"below.invalid", "allowed_hosts"},
		{"xlisted.invalid", "allowed_hosts"},  {"listed.invalid:81", "allowed_hosts"},
	};
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
		struct cordon_adapter *a = NULL;
		struct cordon_error err;
		char command[200];
		char *log = NULL;

		if (cordon_adapter_new(backends[i], &a, &err) < 0)
			continue;
		assert_ok(cordon_adapter_restrict_network(a, listed, &err));
		tried++;
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			(void)snprintf(command, sizeof(command), ask, rows[k].host, rows[k].rule);
			if (run_at(a, command, "/") != 0)
				fail_msg("%s: %s is not judged by %s", backends[i], rows[k].host,
					 rows[k].rule);
		}
		assert_ok(cordon_adapter_get_audit_log(a, &log, NULL, &err));
		assert_non_null(strstr(log, "other.invalid"));
		cordon_free(log);
		assert_code(cordon_adapter_apply_restrictions(a, &err), CORDON_E_UNSUPPORTED);
		assert_code(cordon_adapter_restrict_network(a, bad, &err), CORDON_E_INVALID);
		assert_int_not_equal(run_at(a, "curl -s -m 20 http://listed.invalid/", "/"), 0);
		assert_int_equal(run_at(a, "test -z \"$HTTP_PROXY\"", "/"), 0);
		cordon_adapter_free(a);
	}
	assert_true(tried > 0);
}

/* A state of other paths is not restored by an adapter that may not write them. */
static void test_rollback_elsewhere(void **state)
{
	const char *const w[] = {writable, NULL}, *const o[] = {outside, NULL};
	struct cordon_adapter *a = NULL, *b = NULL;
	struct cordon_error err;
	char *name = NULL;

	(void)state;
	assert_ok(cordon_adapter_new("noop", &a, &err));
	assert_ok(cordon_adapter_new("noop", &b, &err));
	assert_code(cordon_adapter_restrict_filesystem(a, w, NULL, NULL, &err),
		    CORDON_E_UNSUPPORTED);
	assert_code(cordon_adapter_restrict_filesystem(b, o, NULL, NULL, &err),
		    CORDON_E_UNSUPPORTED);
	assert_ok(cordon_adapter_snapshot(a, &name, &err));
	assert_code(cordon_adapter_rollback(b, name, &err), CORDON_E_INVALID);
	assert_ok(cordon_adapter_rollback(a, name, &err));
	cordon_free(name);
	cordon_adapter_free(a);
	cordon_adapter_free(b);
}

static int place_fill(void **state)
{
	char command[1400];

	if (place_setup(state) || setenv("CORDON_STATE_DIR", place_state, 1))
		return -1;
	(void)snprintf(writable, sizeof(writable), "%s/writable", place);
	(void)snprintf(readable, sizeof(readable), "%s/readable", place);
	(void)snprintf(both, sizeof(both), "%s/both", place);
	(void)snprintf(outside, sizeof(outside), "%s/outside", place);
	(void)snprintf(command, sizeof(command),
		       "for d in %s %s %s %s; do mkdir $d && cp /bin/true $d/t || exit 1; done",
		       writable, readable, both, outside);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self_files),
		cmocka_unit_test(test_self_network),
		cmocka_unit_test(test_self_network_open),
		cmocka_unit_test(test_self_calls),
		cmocka_unit_test(test_self_calls_never_widen),
		cmocka_unit_test(test_self_order),
		cmocka_unit_test(test_self_landlock),
		cmocka_unit_test(test_self_threads),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_noop),
		cmocka_unit_test(test_lists_held),
		cmocka_unit_test(test_hosts_held),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_rollback_elsewhere),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, place_fill, place_teardown);
}
