/* SPDX-License-Identifier: Apache-2.0 */
/* See trial.h. */
#include "hook/trial.h"

#include "backend/scratch.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIAL_MS 15000 /* longer than what agents wait */
#define TRIAL_COMMAND "cordon-hook-trial --forbidden"

static const char trial_policy[] = "enforcement: {enabled: true, dry_run: false}\n"
				   "sandbox:\n"
				   "  capabilities:\n"
				   "    shell: {blocked_commands: [\"cordon-hook-trial *\"]}\n";

static const struct {
	const char *name, *wanted, *command;
} trial_cases[] = {
	[TRIAL_SAFE] = {"safe call", "exit code 0, no decision", "true"},
	[TRIAL_MALICIOUS] = {"forbidden call", "exit code 2, a denial and a reason", TRIAL_COMMAND},
	[TRIAL_BROKEN] = {"broken question", "exit code 2 and a reason", NULL},
};
static_assert(ARRAY_LEN(trial_cases) == TRIAL_CASE_COUNT, "one row per case");

const char *trial_name(enum trial_case which)
{
	return trial_cases[which].name;
}

const char *trial_wanted(enum trial_case which)
{
	return trial_cases[which].wanted;
}

/* The question in the dialect.  Members that an event does not have are no error to the hook. */
static void trial_question(const struct hook_dialect *d, const char *event, enum trial_case which,
			   struct buf *out)
{
	const struct hook_event *e = hook_event_find(d, event);
	const char *command = trial_cases[which].command;

	buf_printf(out, "{\"session_id\":\"cordon-trial\",\"hook_event_name\":\"%s\",\"cwd\":\"/\"",
		   event);
	if (d->mark)
		buf_printf(out, ",\"%s\":\"trial\"", d->mark);
	if (!command) {
		buf_str(out, ",\"tool_name\":");
		return; /* and it ends there */
	}
	if (e && e->tool)
		buf_printf(out, ",\"command\":\"%s\",\"file_path\":\"/trial\"", command);
	else
		buf_printf(out, ",\"tool_name\":\"%s\",\"tool_input\":{\"command\":\"%s\"}",
			   d->id == HOOK_GEMINI   ? "run_shell_command"
			   : d->id == HOOK_CURSOR ? "Shell"
						  : "Bash",
			   command);
	buf_str(out, "}\n");
}

struct trial_pipes {
	int in[2], out[2], err[2];
};

static void trial_pipes_done(struct trial_pipes *p)
{
	for (size_t i = 0; i < 2; i++) {
		p->in[i] = fd_close(p->in[i]);
		p->out[i] = fd_close(p->out[i]);
		p->err[i] = fd_close(p->err[i]);
	}
}

/* In the child: only system calls. */
static _Noreturn void trial_exec(const struct trial_pipes *p, char *const *argv, char *const *envp)
{
	(void)signal(SIGPIPE, SIG_DFL); /* cannot fail with a valid number */
	if (dup3(p->in[0], 0, 0) >= 0 && dup3(p->out[1], 1, 0) >= 0 && dup3(p->err[1], 2, 0) >= 0)
		(void)execve(argv[0], argv, envp);
	_exit(127);
}

static int trial_environment(const char *dir, struct strv *ret)
{
	static const char *const ours[] = {"CORDON_STATE_DIR=", "CORDON_CONFIG_DIR="};
	int r = strv_addf(ret, "CORDON_CONFIG_DIR=%s", dir);

	if (r == 0)
		r = strv_addf(ret, "CORDON_STATE_DIR=%s/state", dir);
	for (char **e = environ; r == 0 && *e; e++)
		if (!str_starts(*e, ours[0]) && !str_starts(*e, ours[1]))
			r = strv_add(ret, *e);
	return r;
}

static int trial_spawn(const char *command, const char *dir, struct trial_pipes *p,
		       struct proc *ret)
{
	char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)command, NULL};
	AUTO(strv_done) struct strv env = {0};
	int r = trial_environment(dir, &env);

	if (r == 0 && (pipe2(p->in, O_CLOEXEC) < 0 || pipe2(p->out, O_CLOEXEC) < 0 ||
		       pipe2(p->err, O_CLOEXEC) < 0))
		r = -errno;
	if (r < 0)
		return r;
	r = proc_clone(0, ret);
	if (r == 0)
		trial_exec(p, argv, env.v);
	p->in[0] = fd_close(p->in[0]);
	p->out[1] = fd_close(p->out[1]);
	p->err[1] = fd_close(p->err[1]);
	return r < 0 ? r : 0;
}

static void trial_judge(const struct hook_dialect *d, enum trial_case which, const char *out,
			const char *line, struct trial_result *ret)
{
	bool is_silent = out[strspn(out, " \n")] == '\0' || strcmp(out, "{}\n") == 0;
	const char *denial = d->id == HOOK_CURSOR   ? "\"permission\":\"deny\""
			     : d->id == HOOK_GEMINI ? "\"decision\":\"deny\""
						    : "\"permissionDecision\":\"deny\"";
	const char *wrong = NULL;

	if (which == TRIAL_SAFE)
		wrong = ret->code != 0 ? "it was not let go on"
			: is_silent    ? NULL
				       : "it was decided";
	else if (ret->code != 2)
		wrong = "it was let go on";
	else if (!*line)
		wrong = "no reason was given";
	else if (which == TRIAL_MALICIOUS && !strstr(out, denial))
		wrong = "the denial is not in the agent's words";
	ret->is_right = !wrong;
	(void)snprintf(ret->why, sizeof(ret->why), "%s", wrong ? wrong : "");
}

static int trial_talk(const struct hook_dialect *d, const char *event, const char *command,
		      const char *dir, struct trial_result *ret, struct cordon_error *err)
{
	AUTO(trial_pipes_done) struct trial_pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};
	AUTO(proc_done) struct proc child = PROC_NONE;
	AUTO_FREE char *out = NULL;
	AUTO_FREE char *line = NULL;
	struct buf question = BUF_INIT(4096);
	struct proc_exit end = {.code = -1};
	int64_t begin = clock_ns(), deadline = clock_deadline(TRIAL_MS);
	size_t n = 0;
	int r = trial_spawn(command, dir, &p, &child);

	trial_question(d, event, ret->which, &question);
	if (r == 0 && buf_error(&question) == 0) /* whether it reads it is its own affair */
		(void)!io_write(p.in[1], question.data, question.len, deadline);
	buf_done(&question);
	p.in[1] = fd_close(p.in[1]);
	if (r == 0)
		r = io_read_all(p.out[0], LIMIT_HOOK_BYTES, deadline, &out, &n);
	if (r == 0)
		r = io_read_all(p.err[0], LIMIT_HOOK_BYTES, deadline, &line, &n);
	if (child.pidfd >= 0) {
		struct pollfd wait = {.fd = child.pidfd, .events = POLLIN};

		if (r < 0)
			(void)!proc_signal(&child, SIGKILL);
		(void)!poll(&wait, 1, clock_poll_timeout(deadline));
		(void)!proc_reap(&child, &end);
	}
	if (r < 0 && r != -ETIMEDOUT)
		return cordon_fail_leaf(err, r, "run the hook");
	ret->code = r < 0 || end.signal ? -1 : end.code;
	ret->ms = (double)(clock_ns() - begin) / 1e6;
	trial_judge(d, ret->which, out ? out : "", line ? line : "", ret);
	return 0;
}

int trial_run(const struct hook_dialect *d, const char *event, const char *command,
	      enum trial_case which, struct trial_result *ret, struct cordon_error *err)
{
	const char *tmp = env_get("TMPDIR");
	AUTO(scratch_done) struct scratch place = SCRATCH_NONE;
	AUTO_FREE char *state = NULL;
	int r;

	*ret = (struct trial_result){.which = which};
	if (!tmp || tmp[0] != '/')
		tmp = "/tmp";
	/* Noted where there is a state directory: then the next command removes it if we are killed. */
	r = env_state_dir(&state);
	if (r == 0 && access(state, W_OK | X_OK) == 0)
		r = scratch_make(state, tmp, &place);
	else
		r = scratch_make(/* registry= */ NULL, tmp, &place);
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a directory in '%s'", tmp);
	(void)signal(SIGPIPE, SIG_IGN); /* one that does not read its question is a result */
	r = io_write_file_at(place.fd, "policy.yaml", trial_policy, strlen(trial_policy), 0600);
	return r < 0 ? cordon_fail_leaf(err, r, "write into '%s'", place.path)
		     : trial_talk(d, event, command, place.path, ret, err);
}
