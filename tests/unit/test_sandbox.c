/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of sandboxes in the state database: what is kept, how they are found, and databases of the version before. */
#include "base/clock.h"
#include "core/keeper_pause.h"
#include "session/db.h"
#include "session/sandbox.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[256];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "%s/sandbox-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[300];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static void fill(struct sandbox_row *row, const char *id, const char *name, int64_t created)
{
	*row = (struct sandbox_row){.state = SANDBOX_RUNNING,
				    .created_ms = created,
				    .used_ms = 2,
				    .keeper = 7,
				    .started = 8,
				    .idle_ms = 9,
				    .guarantees = 1ull << 63};
	(void)snprintf(row->id, sizeof(row->id), "%s", id);
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	row->workspace = strdup("/w");
	row->policy = strdup("cordon: 1\n");
	row->socket = strdup("/s");
	assert_non_null(row->workspace && row->policy && row->socket ? row : NULL);
	assert_int_equal(strv_add(&row->environment, "A=1\n2"), 0);
	assert_int_equal(strv_add(&row->environment, "B="), 0);
}

static void test_rows(void **state)
{
	struct session_store *s = NULL;
	struct sandbox_row row;
	struct sandbox_row got = {0};
	struct sandbox_list all;
	struct cordon_error err;

	(void)state;
	assert_int_equal(session_open(dir, &s, &err), 0);
	fill(&row, "sb-0123456789ab", "web", 10);
	assert_int_equal(sandbox_add(s, &row, 2, &err), 0);
	assert_int_equal(sandbox_find(s, "web", &got, &err), 0);
	assert_string_equal(got.id, row.id);
	assert_string_equal(got.policy, row.policy);
	assert_int_equal(got.environment.n, 2);
	assert_string_equal(got.environment.v[0], "A=1\n2");
	assert_string_equal(got.environment.v[1], "B=");
	assert_true(got.guarantees == row.guarantees && got.keeper == 7 && got.started == 8);
	sandbox_row_done(&got);
	row.state = SANDBOX_STOPPED;
	assert_int_equal(sandbox_update(s, &row, &err), 0);
	assert_int_equal(sandbox_find(s, "sb-01", &got, &err), 0);
	assert_int_equal(got.state, SANDBOX_STOPPED);
	sandbox_row_done(&got);
	sandbox_row_done(&row);

	fill(&row, "sb-0123fffffffe", "web", 20);
	assert_int_equal(sandbox_add(s, &row, 2, &err), CORDON_E_INVALID); /* the name */
	row.name[0] = '\0';
	assert_int_equal(sandbox_add(s, &row, 2, &err), 0);
	assert_int_equal(sandbox_find(s, "sb-0123", &got, &err), CORDON_E_INVALID);
	assert_int_equal(sandbox_list(s, &all, &err), 0);
	assert_int_equal(all.n, 2);
	assert_string_equal(all.rows[0].id, "sb-0123fffffffe"); /* newest first */
	sandbox_list_done(&all);
	sandbox_row_done(&row);
	fill(&row, "sb-222222222222", "", 30);
	assert_int_equal(sandbox_add(s, &row, 2, &err), CORDON_E_LIMIT);
	assert_int_equal(sandbox_update(s, &row, &err), CORDON_E_NOT_FOUND);
	sandbox_row_done(&row);
	assert_int_equal(sandbox_remove(s, "sb-0123456789ab", &err), 0);
	for (size_t i = 0; i < 7; i++) {
		static const char *const bad[] = {"sb-0123456789ab", "", "sb-", "sb-%", "web", "%",
						  "sb-012g"};

		assert_int_equal(sandbox_find(s, bad[i], &got, &err), CORDON_E_NOT_FOUND);
	}
	session_close(s);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool is_good;
	} rows[] = {
		{"a", true},     {"web-1.x_Y", true}, {"", false},     {"-a", false}, {".a", false},
		{"sb-a", false}, {"a b", false},      {"a/b", false},  {"a%", false}, {"_a", false},
		{"0", true},     {"\xc3\xa4", false}, {"a\nb", false},
	};
	struct cordon_error err;
	char longest[66];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sandbox_check_name(rows[i].name, &err) == 0, rows[i].is_good);
	memset(longest, 'a', sizeof(longest));
	longest[65] = '\0';
	assert_int_not_equal(sandbox_check_name(longest, &err), 0);
	longest[64] = '\0';
	assert_int_equal(sandbox_check_name(longest, &err), 0);
}

/* A database of version 1 gets what is missing, and keeps what it has; one of a later version is left alone. */
static void test_versions(void **state)
{
	struct session_store *s = NULL;
	struct session_info info;
	struct sandbox_list all;
	struct cordon_error err;

	(void)state;
	assert_int_equal(session_open(dir, &s, &err), 0);
	assert_int_equal(session_add(s, "old", NULL, 0, &err), 0);
	assert_int_equal(session_exec(s, "DROP TABLE sandbox; PRAGMA user_version=1", "x", &err),
			 0);
	session_close(s);
	assert_int_equal(session_open(dir, &s, &err), 0);
	assert_int_equal(session_find(s, "old", &info, &err), 1);
	assert_int_equal(sandbox_list(s, &all, &err), 0);
	assert_int_equal(all.n, 0);
	sandbox_list_done(&all);
	/* Of version 2, with a sandbox: that was one of the only backend there was. */
	assert_int_equal(
		session_exec(
			s,
			"ALTER TABLE sandbox DROP COLUMN backend; INSERT INTO sandbox VALUES('sb-"
			"000000000001','','/w','p',x'',1,'',1,1,0,0,0,0,'',0,'/s',0,0); PRAGMA "
			"user_version=2",
			"x", &err),
		0);
	session_close(s);
	assert_int_equal(session_open(dir, &s, &err), 0);
	assert_int_equal(sandbox_list(s, &all, &err), 0);
	assert_int_equal(all.n, 1);
	assert_string_equal(all.rows[0].backend, "native");
	sandbox_list_done(&all);
	assert_int_equal(session_exec(s, "PRAGMA user_version=4", "x", &err), 0);
	session_close(s);
	assert_int_equal(session_open(dir, &s, &err), CORDON_E_UNSUPPORTED);
}

/* A first process that answers too late lets all go on again; its late answers are nobody's. */
static void test_late_pause(void **state)
{
	struct keeper_pause p = KEEPER_PAUSE_NONE;
	struct serve_request r;
	const int late[] = {0, 0, -16};
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	p.channel = pair[0];
	assert_int_equal(keeper_pause_begin(&p, SERVE_PAUSE), KEEPER_UNDER_WAY);
	p.deadline = clock_ms();
	assert_int_equal(keeper_pause_step(&p), -ETIMEDOUT);
	assert_false(p.is_paused);
	assert_int_equal(recv(pair[1], &r, sizeof(r), MSG_DONTWAIT), sizeof(r));
	assert_int_equal(r.kind, SERVE_PAUSE);
	assert_int_equal(recv(pair[1], &r, sizeof(r), MSG_DONTWAIT), sizeof(r));
	assert_int_equal(r.kind, SERVE_CONTINUE);
	for (size_t i = 0; i < ARRAY_LEN(late); i++)
		assert_int_equal(send(pair[1], &late[i], sizeof(late[i]), 0), sizeof(late[i]));
	assert_int_equal(keeper_pause_begin(&p, SERVE_PAUSE), -16);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_late_pause),
		cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
