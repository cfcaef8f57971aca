/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the supervisor: one real call under noop, by default with its output captured and
 * nothing passed on.
 */
#pragma once

#include "backend/noop/noop.h"
#include "run/supervise.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SLACK_MS 1500 /* a loaded machine may be this late, never early */

static int null_fd = -1;
static char path_variable[] = "PATH=/usr/local/bin:/usr/bin:/bin";
static char *const environment[] = {path_variable, NULL};

struct run {
	struct supervise_options options;
	struct plan plan;
	struct supervise_result result;
	struct cordon_error err;
	char *argv[4];
	int r;
};

static inline void run_init(struct run *run)
{
	*run = (struct run){.options = SUPERVISE_OPTIONS};
	run->options.forwards_signals = false;
	run->options.captures = true;
	run->options.is_quiet = true;
	run->plan = (struct plan){
		.argv = run->argv,
		.envp = environment,
		.stdin_fd = null_fd,
		.stdout_fd = null_fd,
		.stderr_fd = null_fd,
	};
}

static inline void run_go(struct run *run)
{
	run->r = supervise_run(&noop_backend, &run->plan, &run->options, &run->result, &run->err);
}

/* Runs a shell script. */
static inline void run_script(struct run *run, const char *script)
{
	static char shell[] = "sh";
	static char dash_c[] = "-c";
	char *copy = strdup(script);

	assert_non_null(copy);
	run->argv[0] = shell;
	run->argv[1] = dash_c;
	run->argv[2] = copy;
	run_go(run);
	free(copy);
}

static inline void run_done(struct run *run)
{
	supervise_result_done(&run->result);
}

/* Opens a temporary file without a name. */
static inline int file_anonymous(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static inline off_t file_size(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}
