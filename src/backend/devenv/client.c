/* SPDX-License-Identifier: Apache-2.0 */
/* See client.h. */
#include "backend/devenv/client.h"

#include "backend/container/container.h"
#include "backend/restrict.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json.h"
#include "base/libexec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENT_FDS_SAFE 16
#define CLIENT_BEGIN_MS 90000 /* until a command in a container runs */

/* What goes to the program, beside 0 to 2. */
struct client_fds {
	int out;
	int err;
	int control;
	int brief;
	int caller;
	int program;
};

static int client_brief(const struct devenv *d, enum devenv_verb verb, const struct devenv_ask *ask,
			const struct plan *call, struct buf *out, struct cordon_error *err)
{
	static const char *const verbs[] = {
#define CLIENT_VERB(id, name) [DEVENV_##id] = (name),
		DEVENV_VERB_TABLE(CLIENT_VERB)
#undef CLIENT_VERB
	};
	struct buf create = BUF_INIT(DEVENV_BRIEF_MAX / 4);
	struct json j = JSON_INIT(out);
	char socket_path[PATH_MAX];
	char why[PROBE_REASON_MAX];
	int r = 0;

	if (container_socket(d->engine, socket_path, why) < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "%s: %s", d->engine, why);
	json_object(&j, NULL);
	json_str(&j, "verb", verbs[verb]);
	json_str(&j, "engine", d->engine);
	json_str(&j, "socket", socket_path);
	json_str(&j, "project", d->project);
	json_str(&j, "state_dir", d->state_dir);
	json_str(&j, "dockerfile", d->dockerfile);
	json_str(&j, "terms", d->terms);
	json_bool(&j, "has_network", d->plan->net == PLAN_NET_HOST);
	json_bool(&j, "can_write", d->writes && d->writes->n > 0);
	if (d->plan->memory_bytes.is_given)
		json_int(&j, "memory", (int64_t)d->plan->memory_bytes.value);
	json_array(&j, "denied");
	for (size_t i = 0; i < d->plan->op_count; i++)
		if (d->plan->ops[i].kind == PLAN_OP_DENY)
			json_str(&j, NULL, d->plan->ops[i].path);
	json_end_array(&j);
	if (ask) {
		json_str(&j, "image", ask->image ? ask->image : "");
		json_bool(&j, "force", ask->is_forced);
		json_bool(&j, "builds", ask->builds);
		json_bool(&j, "looks", ask->looks);
	}
	if (verb == DEVENV_START || verb == DEVENV_SWAP)
		r = devenv_write(d, &create, err);
	if (r == 0)
		json_str(&j, "create", buf_cstr(&create));
	if (call) {
		json_bool(&j, "tightened", call->seals_net);
		json_str(&j, "cwd", call->cwd);
		json_array(&j, "argv");
		for (char *const *p = call->argv; *p; p++)
			json_str(&j, NULL, *p);
		json_end_array(&j);
		json_array(&j, "env");
		for (char *const *p = call->envp; *p; p++)
			/* Of the image, not of this machine. */
			if (!str_starts(*p, "PATH=") && !str_starts(*p, "HOME="))
				json_str(&j, NULL, *p);
		json_end_array(&j);
	}
	json_end_object(&j);
	buf_done(&create);
	if (r == 0 && buf_error(out) < 0)
		r = cordon_fail_leaf(err, buf_error(out), "brief");
	return r;
}

static int client_memory(const struct buf *b)
{
	AUTO_CLOSE int fd = memfd_create("cordon-brief", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : io_write(fd, b->data, b->len, CLOCK_NEVER);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

/* In the child: system calls only. */
_Noreturn static void client_exec(const struct client_fds *fds)
{
	static char name[] = DEVENV_NAME;
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	const int wanted[] = {fds->out,   fds->err,    fds->control,
			      fds->brief, fds->caller, fds->program};
	int high[ARRAY_LEN(wanted)];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (null < 0 || dup2(null, 0) < 0 || setsid() < 0)
		_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if ((high[i] = fd_dup(wanted[i] < 0 ? null : wanted[i], CLIENT_FDS_SAFE)) < 0)
			_exit(1);
	for (int i = 0; i < (int)ARRAY_LEN(wanted); i++)
		if (dup3(high[i], 1 + i, i < (int)ARRAY_LEN(wanted) - 1 ? 0 : O_CLOEXEC) < 0)
			_exit(1);
	(void)sigemptyset(&none); /* cannot fail with a valid pointer */
	if (syscall(SYS_close_range, 1 + (unsigned)ARRAY_LEN(wanted), ~0U, 0) < 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(1);
	(void)syscall(SYS_execveat, (int)ARRAY_LEN(wanted), "", argv, envp, AT_EMPTY_PATH);
	_exit(1);
}

/* Starts the program: its process, and the socket on which it speaks. */
static int client_start(const struct buf *brief, int out, int errors, struct proc *ret,
			int *ret_control, struct cordon_error *err)
{
	AUTO_CLOSE int program = libexec_open(DEVENV_NAME, /* writable= */ NULL);
	AUTO_CLOSE int caller = (int)syscall(SYS_pidfd_open, getpid(), 0);
	AUTO_CLOSE int file = client_memory(brief);
	AUTO_CLOSE int near = -1;
	AUTO_CLOSE int far = -1;
	int pair[2];
	int r;

	if (program < 0)
		return cordon_hint(
			err, cordon_fail_leaf(err, program, "open " DEVENV_NAME),
			"containers need that program in %s or beside the command, where nobody "
			"else can write",
			libexec_dir);
	if (file < 0 || caller < 0)
		return cordon_fail_leaf(err, file < 0 ? file : -errno, "start " DEVENV_NAME);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel");
	near = pair[0];
	far = pair[1];
	r = proc_clone(0, ret);
	if (r == 0)
		client_exec(&(struct client_fds){out, errors, far, file, caller, program});
	if (r < 0)
		return cordon_fail_leaf(err, r, "start " DEVENV_NAME);
	*ret_control = TAKE_FD(near);
	return 0;
}

/* The next word.  0, or a code: the program's own error, or that it ended. */
static int client_hear(int control, int64_t deadline, struct devenv_word *ret,
		       struct cordon_error *err)
{
	struct pollfd p = {.fd = control, .events = POLLIN};
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, clock_poll_timeout(deadline));
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_TIMEOUT, "the engine is too slow"),
				   "see the engine's log; it may be overloaded");
	n = r < 0 ? -1 : recv(control, ret, sizeof(*ret), 0);
	if (n != (ssize_t)sizeof(*ret))
		return cordon_fail(err, CORDON_E_SYSTEM, DEVENV_NAME " ended without an answer");
	ret->text[sizeof(ret->text) - 1] = '\0';
	ret->hint[sizeof(ret->hint) - 1] = '\0';
	if (ret->kind != DEVENV_WORD_ERROR)
		return 0;
	return cordon_hint(
		err, cordon_fail(err, ret->code < 0 ? ret->code : CORDON_E_SYSTEM, "%s", ret->text),
		"%s", ret->hint);
}

/* It ends by itself when the socket does; then it has undone what it had begun. */
static void client_end(struct proc *proc, int control)
{
	(void)fd_close(control);
	while (waitid(P_PIDFD, (id_t)proc->pidfd, &(siginfo_t){0}, WEXITED) < 0 && errno == EINTR)
		;
	proc_done(proc);
}

int devenv_do(const struct devenv *d, enum devenv_verb verb, const struct devenv_ask *ask,
	      struct devenv_status *ret, struct cordon_error *err)
{
	struct buf brief = BUF_INIT(DEVENV_BRIEF_MAX);
	struct devenv_word word = {0};
	struct proc proc = PROC_NONE;
	int control = -1;
	int r = client_brief(d, verb, ask, /* call= */ NULL, &brief, err);

	if (r == 0)
		r = client_start(&brief, /* out= */ -1, /* errors= */ -1, &proc, &control, err);
	buf_done(&brief);
	if (r < 0)
		return r;
	while ((r = client_hear(control, CLOCK_NEVER, &word, err)) == 0 &&
	       word.kind == DEVENV_WORD_STEP)
		if (ask->step)
			ask->step(ask->data, word.n, word.total, word.text);
	client_end(&proc, control);
	if (r == 0)
		*ret = word.status;
	return r;
}

guarantee_set devenv_guarantees(const struct devenv *d)
{
	guarantee_set set =
		GUARANTEE_BIT(NATIVE_CODE) | GUARANTEE_BIT(READ_SCOPE) |
		GUARANTEE_BIT(WRITE_SCOPE) | GUARANTEE_BIT(DENY_INSIDE_ALLOW) |
		GUARANTEE_BIT(PROTECT_MISSING) | GUARANTEE_BIT(PRIVATE_TMP) |
		GUARANTEE_BIT(HIDE_METADATA) | GUARANTEE_BIT(MEMORY_TREE) |
		GUARANTEE_BIT(MEMORY_PROCESS) | GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_SHARES) |
		GUARANTEE_BIT(CPU_PERCENT) | GUARANTEE_BIT(OPEN_FILES) | GUARANTEE_BIT(WALL_CLOCK) |
		GUARANTEE_BIT(OUTPUT_LIMIT) | GUARANTEE_BIT(KILL_TREE) | GUARANTEE_BIT(ENV_SCRUB) |
		GUARANTEE_BIT(SYSCALL_FILTER) | GUARANTEE_BIT(SECRET_ENV) |
		GUARANTEE_BIT(IMAGE_ROOT) | GUARANTEE_BIT(UNEMULATED);

	/* The engine holds its limits with its own runtime; nobody looks whether another one does. */
	if (d->plan->runtime)
		set &= ~(GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(MEMORY_PROCESS) |
			 GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_SHARES) |
			 GUARANTEE_BIT(CPU_PERCENT));
	if (d->plan->net == PLAN_NET_NONE)
		set |= GUARANTEE_BIT(NET_DENY) | GUARANTEE_BIT(NET_SSRF);
	return set;
}

static int client_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	struct spawn_result result = {
		.proc = PROC_NONE,
		.has_own_group = true,
		.status_fd = -1,
		.terminal_fd = -1,
		.notify_fd = -1,
	};
	const struct devenv *d = plan->entry ? plan->entry->data : NULL;
	struct buf brief = BUF_SECRET(DEVENV_BRIEF_MAX);
	struct devenv_word word = {0};
	enum guarantee missing;
	int control = -1;
	int r;

	if (!d || plan->terminal || plan->denied_calls)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "a container that stays cannot carry out this plan");
	missing = guarantee_first_missing(plan->needs, devenv_guarantees(d));
	if (missing != GUARANTEE_COUNT)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "a container that stays cannot give %s%s",
				    guarantee_name(missing),
				    d->plan->runtime ? " with a runtime of its own" : ""),
			"leave out of the policy what needs it, or use 'cordon run --image'");
	r = client_brief(d, DEVENV_EXEC, /* ask= */ NULL, plan, &brief, err);
	if (r == 0)
		r = client_start(&brief, plan->stdout_fd, plan->stderr_fd, &result.proc, &control,
				 err);
	buf_done(&brief);
	if (r < 0)
		return r;
	doors_init(&result.doors);
	r = client_hear(control, clock_deadline(CLIENT_BEGIN_MS), &word, err);
	if (r < 0) {
		client_end(&result.proc, control);
		return r;
	}
	(void)fd_close(control);
	*ret = result;
	return 0;
}

static void client_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	(void)form;
	(void)wanted;
	*ret = (struct probe){.reason = "only for calls in a container that runs"};
}

#define CLIENT_OPERATIONS                                                                          \
	.summary = "a call in the container of its project", .probe = client_probe,                \
	.spawn = client_spawn, .terminal = BACKEND_TERMINAL_NONE,                                  \
	.restrict_filesystem = backend_default_restrict_filesystem,                                \
	.restrict_network = backend_default_restrict_network,                                      \
	.restrict_syscalls = backend_default_restrict_syscalls,                                    \
	.apply_restrictions = backend_default_apply_restrictions, .snapshot = restrict_snapshot,   \
	.rollback = restrict_rollback, .get_audit_log = backend_default_get_audit_log

const struct cordon_backend devenv_docker_backend = {
	.info = &backend_infos[BACKEND_DOCKER],
	CLIENT_OPERATIONS,
};

const struct cordon_backend devenv_podman_backend = {
	.info = &backend_infos[BACKEND_PODMAN],
	CLIENT_OPERATIONS,
};
