/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the corridor share: a directory of their own and policies in force, made from texts
 * through the real loader.
 */
#pragma once

#include "base/io.h"
#include "base/mem.h"
#include "core/checks.h"
#include "policy/load.h"
#include "request/request.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Without symbolic links: rules compare real paths. */
static char fixture_dir[512];

static inline int fixture_setup(void **state)
{
	char name[] = "/tmp/cordon-test-XXXXXX";
	char *real = mkdtemp(name) ? realpath(name, NULL) : NULL;

	(void)state;
	if (!real)
		return -1;
	(void)snprintf(fixture_dir, sizeof(fixture_dir), "%s", real);
	free(real);
	(void)umask(022);
	return 0;
}

static inline int fixture_teardown(void **state)
{
	char command[600];
	pid_t pid;

	(void)state;
	(void)snprintf(command, sizeof(command), "%s", fixture_dir);
	pid = fork();
	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", command, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* dir/name; valid until the fourth call after. */
static inline const char *fixture_path(const char *name)
{
	static char paths[4][1024];
	static size_t next;
	char *p = paths[next++ % ARRAY_LEN(paths)];

	(void)snprintf(p, sizeof(paths[0]), "%s/%s", fixture_dir, name);
	return p;
}

static inline void fixture_write(const char *name, const char *text)
{
	assert_int_equal(io_write_file_at(AT_FDCWD, fixture_path(name), text, strlen(text), 0600),
			 0);
}

static inline char *fixture_read(const char *name)
{
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(
		io_read_file_at(AT_FDCWD, fixture_path(name), (size_t)64 << 20, &text, &len), 0);
	return text;
}

static inline bool fixture_has(const char *name)
{
	return access(fixture_path(name), F_OK) == 0;
}

/* The policy in force with user (may be NULL) as the user's file and project as the project's. */
static inline int fixture_load(const char *user, const char *project, const struct policy *options,
			       struct policy **ret, struct cordon_error *err)
{
	struct policy_sources s = {
		.workspace = fixture_dir,
		.home = fixture_dir,
		.config_dir = fixture_dir,
		.checks = &core_checks,
		.options = options,
	};

	(void)unlink(fixture_path("policy.yaml"));
	(void)unlink(fixture_path(".cordon.yaml"));
	if (user)
		fixture_write("policy.yaml", user);
	if (project)
		fixture_write(".cordon.yaml", project);
	return policy_load(&s, ret, err);
}

static inline struct policy *fixture_policy(const char *user)
{
	struct cordon_error err = {0};
	struct policy *p = NULL;

	if (fixture_load(user, NULL, NULL, &p, &err) < 0)
		fail_msg("%s\n%s", err.message, user);
	return p;
}

static inline struct request *fixture_shell(const char *command)
{
	struct request_options o = {.cwd = fixture_dir};
	struct request *r = NULL;

	assert_int_equal(request_from_shell(command, &o, &r, NULL), 0);
	return r;
}

/* Words separated by single blanks. */
static inline struct request *fixture_words(const char *words, const char *tool)
{
	struct request_options o = {.cwd = fixture_dir, .tool = tool};
	struct request *r = NULL;
	struct strv argv = {0};
	AUTO_FREE char *copy = strdup(words);
	char *save = copy, *word;

	while ((word = strsep(&save, " ")))
		assert_int_equal(strv_add(&argv, word), 0);
	assert_int_equal(request_from_argv(argv.v, &o, &r, NULL), 0);
	strv_done(&argv);
	return r;
}
