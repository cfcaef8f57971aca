/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox manager of the library: a life of one, from making it to its end; limits; and who may not make one. */
#include "lib_helper.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cordon_policy *policy_of(void)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	assert_ok(cordon_policy_options_env(o, "SET", "value", &err));
	assert_ok(cordon_policy_load(o, &p, &err));
	cordon_policy_options_free(o);
	return p;
}

/* The command's output; freed by the next call. */
static const char *in_sandbox(struct cordon_sandbox_manager *m, const char *id, const char *command,
			      int want)
{
	static char text[4096];
	const struct cordon_request_options o = {.struct_size = sizeof(o), .cwd = place_ws};
	struct cordon_request *request = NULL;
	struct cordon_report *report = NULL;
	struct cordon_error err;

	assert_ok(cordon_request_shell(command, &o, &request, &err));
	assert_ok(cordon_sandbox_exec(m, id, request, NULL, &report, &err));
	(void)snprintf(text, sizeof(text), "%s", cordon_report_stdout(report, NULL));
	assert_int_equal(cordon_report_exit_code(report), want);
	cordon_report_free(report);
	cordon_request_free(request);
	return text;
}

/* 0 where there is no backend for it. */
static int make(struct cordon_sandbox_manager *m, const struct cordon_policy *p, const char *name,
		struct cordon_sandbox_state *ret)
{
	const struct cordon_sandbox_options o = {.struct_size = sizeof(o), .name = name};
	struct cordon_error err;
	int r = cordon_sandbox_create(m, p, &o, ret, &err);

	if (r == CORDON_E_NO_BACKEND) {
		print_message("# skip: no backend for sandboxes that stay here\n");
		return 0;
	}
	if (r < 0)
		fail_msg("create: %s", err.message);
	return 1;
}

static void test_life(void **state)
{
	struct cordon_sandbox_state s = {.struct_size = sizeof(s)};
	struct cordon_sandbox_manager *m = NULL;
	struct cordon_policy *p = policy_of();
	struct cordon_error err;
	char **lines = NULL;
	char *name = NULL;

	(void)state;
	assert_ok(cordon_sandbox_manager_new(place_state, 0, &m, &err));
	if (!make(m, p, "one", &s))
		skip();
	assert_memory_equal(s.id, "sb-", 3);
	assert_int_equal(strlen(s.id), 15);
	assert_int_equal(s.status, CORDON_SANDBOX_RUNNING);
	assert_string_equal(s.work_dir, place_ws);
	assert_string_equal(in_sandbox(m, "one", "echo $SET; echo x >a; echo y >b", 0), "value\n");
	assert_ok(cordon_sandbox_diff(m, s.id, &lines, &err));
	assert_string_equal(lines[0], "added: a");
	assert_string_equal(lines[1], "added: b");
	assert_null(lines[2]);
	cordon_free(lines);
	assert_ok(cordon_sandbox_snapshot(m, s.id, NULL, &name, &err));
	(void)in_sandbox(m, s.id, "rm a", 0);
	assert_ok(cordon_sandbox_restore(m, s.id, name, &err));
	assert_string_equal(in_sandbox(m, s.id, "cat a", 0), "x\n");
	cordon_free(name);
	assert_ok(cordon_sandbox_pause(m, s.id, &err));
	assert_ok(cordon_sandbox_get(m, s.id, &s, &err));
	assert_int_equal(s.status, CORDON_SANDBOX_PAUSED);
	assert_string_equal(cordon_sandbox_status_name(s.status), "paused");
	assert_ok(cordon_sandbox_resume(m, s.id, &err)); /* 0: it went on */
	assert_code(cordon_sandbox_remove(m, s.id, 0, &err), CORDON_E_REFUSED);
	assert_int_equal(cordon_sandbox_commit(m, s.id, 0, &err), 2);
	assert_ok(cordon_sandbox_remove(m, s.id, 0, &err));
	assert_code(cordon_sandbox_get(m, s.id, &s, &err), CORDON_E_NOT_FOUND);
	cordon_policy_free(p);
	cordon_sandbox_manager_free(m);
}

static void test_many(void **state)
{
	struct cordon_sandbox_state states[3] = {{.struct_size = sizeof(states[0])}};
	struct cordon_sandbox_state one = {.struct_size = sizeof(one)};
	struct cordon_sandbox_state two = one;
	struct cordon_sandbox_manager *m = NULL;
	struct cordon_policy *p = policy_of();
	struct cordon_error err;
	char *text = NULL;
	char **env = NULL;

	(void)state;
	assert_ok(cordon_sandbox_manager_new(place_state, 2, &m, &err));
	if (!make(m, p, NULL, &one))
		skip();
	assert_int_equal(make(m, p, NULL, &two), 1);
	assert_code(cordon_sandbox_create(m, p, NULL, NULL, &err), CORDON_E_LIMIT);
	assert_int_equal(cordon_sandbox_list(m, states, ARRAY_LEN(states), &err), 2);
	assert_string_equal(states[0].id, two.id); /* newest first */
	assert_string_equal(states[1].id, one.id);
	assert_int_equal(cordon_sandbox_list(m, NULL, 0, &err), 2);
	assert_ok(cordon_sandbox_format_status(m, &text, &err));
	assert_non_null(strstr(text, "2 sandboxes: 2 running, 0 paused, 0 stopped\n"));
	assert_non_null(strstr(text, one.id));
	cordon_free(text);
	assert_ok(cordon_sandbox_env(m, one.id, &env, &err));
	for (char **e = env;; e++) {
		assert_non_null(*e);
		if (strcmp(*e, "SET=value") == 0)
			break;
	}
	cordon_free(env);
	(void)in_sandbox(m, one.id, "echo x >new", 0);
	assert_ok(cordon_sandbox_discard(m, one.id, &err));
	(void)in_sandbox(m, one.id, "cat new", 1);
	assert_int_equal(cordon_sandbox_cleanup(m, 3600 * 1000, &err), 0);
	assert_int_equal(cordon_sandbox_cleanup(m, 0, &err), 2);
	assert_int_equal(cordon_sandbox_list(m, NULL, 0, &err), 0);
	cordon_policy_free(p);
	cordon_sandbox_manager_free(m);
}

static void *sleeper(void *pipe_end)
{
	char byte;

	while (read(*(int *)pipe_end, &byte, 1) < 0)
		continue;
	return NULL;
}

/* The keeper is a fork: with another thread in the process there is none. */
static void test_threads(void **state)
{
	struct cordon_sandbox_manager *m = NULL;
	struct cordon_policy *p = policy_of();
	struct cordon_error err;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_ok(cordon_sandbox_manager_new(place_state, 0, &m, &err));
	assert_int_equal(pthread_create(&thread, NULL, sleeper, &ends[0]), 0);
	assert_code(cordon_sandbox_create(m, p, NULL, NULL, &err), CORDON_E_UNSUPPORTED);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(close(ends[0]), 0);
	cordon_policy_free(p);
	cordon_sandbox_manager_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
