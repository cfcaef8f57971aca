/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's half of serve.h: the command in the form of a request, and what became of it. */
#include "backend/native/child.h"
#include "backend/native/serve.h"

#include "backend/command.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/limits.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTER_START_MS 30000 /* for the first word of the call's process */
#define ENTER_BUSY_MS 2000   /* another call's files are saved, or it runs alone */
#define ENTER_AGAIN_MS 20

static size_t enter_length(char *const *list, uint32_t *ret_n)
{
	size_t len = 0;

	for (char *const *a = list; *a; a++, ++*ret_n)
		len += strlen(*a) + 1;
	return len;
}

static char *enter_copy(char *to, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy(to, text, len);
	return to + len;
}

/* Writes directory, words and environment, each with its NUL, into a file in memory.  Straight into it: there may be
 * secrets in the environment, of which no copy is to stay on the heap. */
static int enter_text(const struct plan *plan, struct serve_request *request, int *ret)
{
	AUTO_CLOSE int fd = memfd_create("cordon-call", MFD_CLOEXEC);
	size_t len = strlen(plan->cwd) + 1 + enter_length(plan->argv, &request->n_args) +
		     enter_length(plan->envp, &request->n_env);
	char *text;
	char *p;

	if (fd < 0)
		return -errno;
	if (len > (size_t)2 * LIMIT_ARG_BYTES)
		return -E2BIG;
	if (ftruncate(fd, (off_t)len) < 0)
		return -errno;
	text = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return -errno;
	p = enter_copy(text, plan->cwd);
	for (char *const *a = plan->argv; *a; a++)
		p = enter_copy(p, *a);
	for (char *const *e = plan->envp; *e; e++)
		p = enter_copy(p, *e);
	(void)munmap(text, len);
	request->text_bytes = len;
	*ret = TAKE_FD(fd);
	return 0;
}

static int enter_fail(const struct plan *plan, const struct native_message *m,
		      struct cordon_error *err)
{
	if (m->stage == NATIVE_STAGE_EXEC || m->stage == NATIVE_STAGE_LOOKUP)
		return command_fail(plan->argv[0], m->error, err);
	if (m->stage == NATIVE_STAGE_CWD)
		return cordon_fail(err, CORDON_E_INVALID,
				   "working directory '%.200s' inside the sandbox: %s", plan->cwd,
				   strerrordesc_np(m->error));
	if (m->stage == NATIVE_STAGE_ENTER_CALL && m->error == EBUSY)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY,
					       "the sandbox is paused, or a call runs alone in it"),
				   "'cordon sandbox resume' it, or try again later");
	if (m->stage == NATIVE_STAGE_ENTER_CALL && m->error == EADDRINUSE)
		return cordon_fail(err, CORDON_E_LIMIT, "other processes live in the sandbox");
	if (m->stage == NATIVE_STAGE_ENTER_CALL && m->error == EUSERS)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d calls in one sandbox",
				   LIMIT_SANDBOX_CALLS);
	return cordon_fail_errno(err, m->error, "%s", native_stage_name(m->stage));
}

static int enter_ask(const struct plan *plan, bool is_hosted, int call, struct cordon_error *err)
{
	struct serve_request request = {.kind = SERVE_ENTER,
					.has_terminal = plan->terminal != NULL,
					.is_hosted = is_hosted,
					.has_files = plan->max_open_files.is_given,
					.seals_net = plan->seals_net,
					.is_alone = plan->is_alone,
					.has_secrets = plan->has_secrets,
					.answers = plan->answers,
					.is_tainted = plan->is_tainted,
					.max_open_files = plan->max_open_files.value};
	AUTO_CLOSE int text = -1;
	int fds[SERVE_FDS];
	int keeper;
	int r;

	request.mask = umask(0);
	(void)umask((mode_t)request.mask);
	if (plan->terminal)
		request.terminal = *plan->terminal;
	r = enter_text(plan, &request, &text);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write the command down");
	fds[SERVE_FD_TEXT] = text;
	fds[SERVE_FD_CALL] = call;
	fds[SERVE_FD_STDIN] = plan->stdin_fd;
	fds[SERVE_FD_STDOUT] = plan->stdout_fd;
	fds[SERVE_FD_STDERR] = plan->stderr_fd;
	keeper = plan->entry->reach(plan->entry->data, err);
	if (keeper < 0)
		return keeper;
	r = fdpass_send(keeper, &request, sizeof(request), fds, SERVE_FDS);
	return r < 0 ? cordon_fail_errno(err, -r, "ask the sandbox's keeper") : 0;
}

static int enter_once(const struct plan *plan, bool is_hosted, struct spawn_result *ret,
		      struct cordon_error *err)
{
	struct spawn_result result = {.proc = PROC_NONE, .terminal_fd = -1, .notify_fd = -1};
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int theirs = -1;
	struct native_message m = {0};
	int fds[FDPASS_MAX];
	size_t want = plan->terminal && !is_hosted ? 2 : 1;
	size_t n = 0;
	ssize_t got;
	int pair[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel to the sandbox");
	ours = pair[0];
	theirs = pair[1];
	r = enter_ask(plan, is_hosted, theirs, err);
	if (r < 0)
		return r;
	theirs = fd_close(theirs);
	got = fdpass_receive(ours, &m, sizeof(m), clock_deadline(ENTER_START_MS), fds, &n);
	if (got == sizeof(m) && m.stage == NATIVE_STAGE_STARTED && !m.error && n == want) {
		result.proc.pidfd = fds[0];
		result.terminal_fd = want > 1 ? fds[1] : -1;
		result.status_fd = TAKE_FD(ours);
		result.is_watched = true;
		result.is_foreign = true;
		result.is_relayed = is_hosted;
		result.has_own_group = is_hosted && !plan->keeps_group;
		*ret = result;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	if (got < 0)
		return cordon_fail_leaf(err, (int)got, "wait for the sandbox");
	if (got != sizeof(m) || !m.error)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_SYSTEM,
					       "the sandbox ended before the command started"),
				   "'cordon sandbox resume' starts it again");
	return enter_fail(plan, &m, err);
}

int native_enter(const struct plan *plan, enum backend_terminal terminal, struct spawn_result *ret,
		 struct cordon_error *err)
{
	bool is_hosted = terminal != BACKEND_TERMINAL_OWN;
	int64_t deadline = clock_deadline(ENTER_BUSY_MS);
	struct cordon_error why = {0};
	int r = enter_once(plan, is_hosted, ret, &why);

	while (r == CORDON_E_BUSY && clock_ms() < deadline) {
		(void)poll(NULL, 0, ENTER_AGAIN_MS);
		r = enter_once(plan, is_hosted, ret, &why);
	}
	if (r < 0 && err)
		*err = why;
	return r;
}
