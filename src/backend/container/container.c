/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See container.h.  Who does what:
 *
 *   cordon ──fork──► cordon-engine ──(Engine API)──► engine ──► container: cordon-inside ──► the command, as by native
 *      └──────────── the call's socket: plan, streams, doors, signals, stops, end ───────┘
 *
 * Streams go in as descriptors, so that no byte of output passes the engine.  cordon-engine is our child and stands
 * for the call: it ends when the container is gone.
 */
#include "backend/container/container.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/container/call.h"
#include "backend/container/engine.h"
#include "backend/container/root.h"
#include "backend/container/spec.h"
#include "backend/container/warm.h"
#include "backend/restrict.h"
#include "backend/scratch.h"
#include "backend/trial.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/libexec.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTAINER_IMAGE "localhost/cordon-empty-1:latest" /* podman takes no other tag */
#define CONTAINER_PLACE "/tmp" /* for the call's directory: its path has to be short */
#define CONTAINER_PROFILE "seccomp.json"
#define CONTAINER_FDS_SAFE 16
#define CONTAINER_LIMITS                                                                           \
	(GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(MEMORY_PROCESS) | GUARANTEE_BIT(PIDS) |        \
	 GUARANTEE_BIT(CPU_SHARES) | GUARANTEE_BIT(CPU_PERCENT))

/* What a trial has seen hold or not. */
#define CONTAINER_TRIED                                                                            \
	(GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(WRITE_SCOPE) |                                  \
	 GUARANTEE_BIT(DENY_INSIDE_ALLOW) | GUARANTEE_BIT(PROTECT_MISSING) |                       \
	 GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(HIDE_METADATA) | GUARANTEE_BIT(NET_DENY) |     \
	 GUARANTEE_BIT(KILL_TREE) | GUARANTEE_BIT(SYSCALL_FILTER))

struct container_engine {
	const struct backend_info *info;
	const char *variable; /* that names its socket */
	const char *own;      /* below XDG_RUNTIME_DIR, or NULL */
	const char *system;   /* the machine's */
	const char *package;
	bool has_wait;
	bool reads_profile;   /* of system calls, from a file */
	const char *parts_at; /* spec.h */
};

static const struct container_engine container_docker = {
	.info = &backend_infos[BACKEND_DOCKER],
	.variable = "DOCKER_HOST",
	.system = "/var/run/docker.sock",
	.package = "docker (apt install docker.io) and start it",
	.has_wait = true,
};

static const struct container_engine container_podman = {
	.info = &backend_infos[BACKEND_PODMAN],
	.variable = "CONTAINER_HOST",
	.own = "podman/podman.sock",
	.system = "/run/podman/podman.sock",
	.package = "podman (apt install podman) and start 'podman system service'",
	.reads_profile = true,
	.parts_at = SPEC_PODMAN_PARTS,
};

/* What one call has made here. */
struct container_call {
	struct scratch place; /* with the socket */
	int listener;
	int engine; /* its program */
	char inside[PATH_MAX];
	char *root; /* a directory in the place of the host's system, or NULL */
	struct marks marks;
	struct scratch_note note; /* of where native may make something inside */
};
#define CONTAINER_CALL_NONE                                                                        \
	((struct container_call){                                                                  \
		.place = SCRATCH_NONE, .listener = -1, .engine = -1, .note = SCRATCH_NOTE_NONE})

static void container_call_done(struct container_call *c)
{
	(void)fd_close(c->listener);
	(void)fd_close(c->engine);
	scratch_done(&c->place);
	scratch_note_done(&c->note);
	free(c->root);
	marks_done(&c->marks);
}

/* Finds the socket and sees whether somebody listens.  0, or -errno with the reason in ret_why. */
static int container_find(const struct container_engine *e, char ret[static PATH_MAX],
			  char ret_why[static PROBE_REASON_MAX])
{
	const char *given = env_get(e->variable);
	const char *runtime = e->own ? env_get("XDG_RUNTIME_DIR") : NULL;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = -1;

	if (given && strncmp(given, "unix://", strlen("unix://")) != 0) {
		(void)snprintf(
			ret_why, PROBE_REASON_MAX,
			"%s is not unix://PATH; paths of this machine mean nothing to an engine elsewhere",
			e->variable);
		return -EINVAL;
	}
	/* A relative one would be an engine that the project brings, and an empty one an abstract name that anybody can take. */
	if (given && given[strlen("unix://")] != '/') {
		(void)snprintf(ret_why, PROBE_REASON_MAX,
			       "%s names no absolute path; unix:///PATH/OF/ITS/SOCKET",
			       e->variable);
		return -EINVAL;
	}
	(void)snprintf(ret, PATH_MAX, "%s", given ? given + strlen("unix://") : e->system);
	if (!given && runtime) {
		(void)snprintf(ret, PATH_MAX, "%s/%s", runtime, e->own);
		if (access(ret, F_OK) < 0)
			(void)snprintf(ret, PATH_MAX, "%s", e->system);
	}
	if (strlen(ret) >= sizeof(address.sun_path)) {
		(void)snprintf(ret_why, PROBE_REASON_MAX, "the path of the socket is too long");
		return -ENAMETOOLONG;
	}
	memcpy(address.sun_path, ret, strlen(ret));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	if (errno == EACCES)
		(void)snprintf(
			ret_why, PROBE_REASON_MAX,
			"%.120s: permission denied; join the engine's group, or run one of your own",
			ret);
	else
		(void)snprintf(ret_why, PROBE_REASON_MAX, "%.120s: %s; install %s, or set %s", ret,
			       strerrordesc_np(errno), e->package, e->variable);
	return -ENOTCONN;
}

int container_socket(const char *name, char ret[static PATH_MAX],
		     char ret_why[static PROBE_REASON_MAX])
{
	static const struct container_engine *const engines[] = {&container_docker,
								 &container_podman};

	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		if (strcmp(engines[i]->info->name, name) == 0)
			return container_find(engines[i], ret, ret_why);
	(void)snprintf(ret_why, PROBE_REASON_MAX, "it is no container engine; docker or podman");
	return -EINVAL;
}

/* Opens both programs of ours.  Beside the command they are as safe as that is: who can write there can replace it. */
static int container_programs(struct container_call *c, struct cordon_error *err)
{
	AUTO_CLOSE int inside = libexec_open(ENGINE_INSIDE, /* writable= */ NULL);
	char link[32];
	ssize_t n;

	c->engine = libexec_open(ENGINE_NAME, /* writable= */ NULL);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", inside);
	n = inside < 0 ? -1 : readlink(link, c->inside, sizeof(c->inside) - 1);
	if (n > 0 && c->engine >= 0) {
		c->inside[n] = '\0';
		return 0;
	}
	return cordon_hint(
		err,
		cordon_fail_leaf(err,
				 inside < 0      ? inside
				 : c->engine < 0 ? c->engine
						 : -ENOENT,
				 "open %s", inside < 0 ? ENGINE_INSIDE : ENGINE_NAME),
		"container engines need that program in %s or beside the command, where nobody "
		"else can write",
		libexec_dir);
}

static int container_listen(const struct plan *plan, struct container_call *c)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r = scratch_make(plan->scratch_dir, CONTAINER_PLACE, &c->place);

	if (r < 0)
		return r;
	if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/" CALL_SOCKET,
			     c->place.path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->listener < 0 ||
	    bind(c->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(c->listener, 1) < 0)
		return -errno;
	return 0;
}

/* Puts the profile into the directory of a call. */
static int container_profile(const struct scratch *place)
{
	struct buf profile = BUF_INIT(ENGINE_BRIEF_MAX);
	int r = spec_profile(&profile);

	if (r == 0)
		r = io_write_file_at(place->fd, CONTAINER_PROFILE, profile.data, profile.len, 0600);
	buf_done(&profile);
	return r;
}

/* A directory that stands for the system is mounted into the same image as the host's. */
static bool container_is_own_image(const struct plan *plan)
{
	return !plan->image || plan_image_is_directory(plan->image);
}

static const char *container_image(const struct plan *plan)
{
	return container_is_own_image(plan) ? CONTAINER_IMAGE : plan->image;
}

/* What is granted, kept or closed by name would be seen twice, and there neither kept nor closed. */
static int container_check_root(const struct plan *plan, const char *root, struct cordon_error *err)
{
	const char *home = env_get("HOME");
	const char *why = home && path_is_within(home, root) ? "has the home directory in it"
							     : NULL;
	struct stat st;

	if (!why && plan->scratch_dir && path_is_within(plan->scratch_dir, root))
		why = "has what cordon keeps in it";
	if (stat(root, &st) < 0 || !S_ISDIR(st.st_mode))
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "no directory '%.300s'", root),
			"name one that has a system in it, or an image");
	for (size_t i = 0; i < plan->op_count && !why; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op->kind == PLAN_OP_SYSTEM || op->kind == PLAN_OP_TMPFS ||
		    op->kind == PLAN_OP_SYMLINK || op->kind == PLAN_OP_FILE)
			continue;
		if (path_is_within(op->path, root))
			why = op->kind == PLAN_OP_DENY ? "has something in it that is denied"
						       : "has something in it that is granted or "
							 "protected";
		else if (op->kind == PLAN_OP_DENY && path_is_within(root, op->path))
			why = "is denied";
		else if (plan->separates_exec && plan_op_is_writable(op->kind) &&
			 path_is_within(root, op->path))
			why = "can be written by the call, and what can be written is not executed";
	}
	return why ? cordon_hint(err,
				 cordon_fail(err, CORDON_E_INVALID,
					     "'%.300s' cannot stand for the system: it %s", root,
					     why),
				 "name a directory that has nothing in it but a system")
		   : 0;
}

/* Finds the directory that stands for the host's system, if one does. */
static int container_root(const struct plan *plan, struct container_call *c,
			  struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	int r;

	if (!plan_image_is_directory(plan->image))
		return 0;
	r = path_join(plan->cwd, plan->image, &path);
	if (r == 0)
		r = path_resolve(path, &c->root);
	return r < 0 ? cordon_fail_leaf(err, r, "'%.300s'", plan->image)
		     : container_check_root(plan, c->root, err);
}

/* What the engine is asked for, with call_dir as the directory of the call. */
static int container_create(const struct container_engine *e, const struct plan *plan,
			    struct container_call *c, const char *call_dir, bool is_ahead,
			    struct buf *out, struct cordon_error *err)
{
	char profile[PATH_MAX];
	const struct spec spec = {
		.plan = plan,
		.image = container_image(plan),
		.root = c->root,
		.inside = c->inside,
		.call_dir = call_dir,
		.profile = e->reads_profile ? profile : NULL,
		.parts_at = e->parts_at,
		.idle_s = is_ahead ? plan->warm_idle_s : 0,
	};

	(void)snprintf(profile, sizeof(profile), "%s/" CONTAINER_PROFILE, call_dir);
	marks_done(&c->marks);
	return spec_write(&spec, out, &c->marks, err);
}

/* The descriptor of the brief, or a code. */
static int container_brief(const struct container_engine *e, const struct plan *plan,
			   struct container_call *c, const struct scratch *place,
			   const char *socket, bool is_ahead, struct cordon_error *err)
{
	struct buf create = BUF_INIT(ENGINE_BRIEF_MAX / 4);
	struct buf brief = BUF_INIT(ENGINE_BRIEF_MAX);
	struct json j = JSON_INIT(&brief);
	int r = e->reads_profile ? container_profile(place) : 0;

	r = r < 0 ? cordon_fail_leaf(err, r, "write the profile of system calls")
		  : container_create(e, plan, c, place->path, is_ahead, &create, err);

	if (r == 0) {
		json_object(&j, NULL);
		json_str(&j, "engine", e->info->name);
		json_str(&j, "socket", socket);
		json_str(&j, "image", container_image(plan));
		json_bool(&j, "is_own_image", container_is_own_image(plan));
		json_bool(&j, "is_ahead", is_ahead);
		json_bool(&j, "has_wait", e->has_wait);
		json_str(&j, "create", buf_cstr(&create));
		json_end_object(&j);
		r = buf_error(&brief);
		r = r < 0 ? r : call_memory("cordon-brief", &brief);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "describe the container");
	}
	buf_done(&create);
	buf_done(&brief);
	return r;
}

/* In the child: system calls only. */
_Noreturn static void container_exec(int program, int control, int brief, int caller)
{
	static char name[] = ENGINE_NAME;
	char *const argv[] = {name, NULL};
	char *const envp[] = {NULL};
	const int wanted[] = {control, brief, caller, program};
	int high[ARRAY_LEN(wanted)];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || setsid() < 0)
		_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		if ((high[i] = fd_dup(wanted[i], CONTAINER_FDS_SAFE)) < 0)
			_exit(1);
	for (int i = 0; i < (int)ARRAY_LEN(wanted); i++)
		if (dup3(high[i], ENGINE_CONTROL + i,
			 i < (int)ARRAY_LEN(wanted) - 1 ? 0 : O_CLOEXEC) < 0)
			_exit(1);
	(void)sigemptyset(&none); /* cannot fail with a valid pointer */
	if (syscall(SYS_close_range, ENGINE_CONTROL + (unsigned)ARRAY_LEN(wanted), ~0U, 0) < 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(1);
	(void)syscall(SYS_execveat, ENGINE_CONTROL + (int)ARRAY_LEN(wanted) - 1, "", argv, envp,
		      AT_EMPTY_PATH);
	_exit(1);
}

static int container_fork(int program, int control, int brief, struct proc *ret)
{
	AUTO_CLOSE int caller = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int r = caller < 0 ? -errno : proc_clone(0, ret);

	if (r == 0)
		container_exec(program, control, brief, caller);
	return r < 0 ? r : 0;
}

/* Tied to nobody: it belongs to no call. */
static int container_fork_ahead(int program, int place, int brief)
{
	struct proc proc;
	int r = proc_clone(0, &proc);

	if (r == 0) {
		r = proc_clone(0, &proc);
		if (r == 0)
			container_exec(program, place, brief, brief);
		_exit(r < 0);
	}
	if (r < 0)
		return r;
	while (waitid(P_PIDFD, (id_t)proc.pidfd, &(siginfo_t){0}, WEXITED) < 0 && errno == EINTR)
		;
	proc_done(&proc);
	return 0;
}

/* Ends what did not become a call: the engine's program removes what it has made. */
static void container_abandon(struct proc *proc, int control)
{
	struct pollfd p = {.fd = proc->pidfd, .events = POLLIN};

	(void)shutdown(control, SHUT_RDWR);
	(void)poll(&p, 1, CALL_START_MS);
	/* It may hang with the engine; the container's program ends with the call. */
	if (proc_signal(proc, SIGKILL) == 0)
		while (waitid(P_PIDFD, (id_t)proc->pidfd, &(siginfo_t){0}, WEXITED) < 0 &&
		       errno == EINTR)
			;
	proc_done(proc);
}

static void container_result_init(struct spawn_result *r)
{
	*r = (struct spawn_result){
		.proc = PROC_NONE,
		.terminal_fd = -1,
		.notify_fd = -1,
		.is_relayed = true,
		.is_watched = true,
		.is_agent = true,
	};
	doors_init(&r->doors);
}

/* Did the container's program leave word why it could not do anything?  Then that is the error, and not r. */
static int container_lacks(const struct plan *plan, const struct container_call *c, int r,
			   struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	AUTO(buf_done) struct buf clean = BUF_INIT(4 * CALL_LACKS_MAX);
	size_t len;

	if (!plan->runtime ||
	    io_read_file_at(c->place.fd, CALL_LACKS, CALL_LACKS_MAX, &text, &len) < 0 || len == 0)
		return r;
	str_escape(&clean, text, len);
	return cordon_hint(
		err,
		cordon_fail(err, CORDON_E_UNSUPPORTED,
			    "docker's runtime '%s' was tried, and its containers have no %s",
			    plan->runtime, buf_cstr(&clean)),
		"name a runtime that shares this machine's kernel; gVisor as --backend gvisor has the view "
		"made outside of it");
}

static int container_run(const struct plan *plan, struct container_call *c, int brief,
			 struct spawn_result *ret, struct cordon_error *err)
{
	struct spawn_result result;
	AUTO_CLOSE int control = -1;
	bool is_stale;
	int pair[2];
	int call;
	int r;

	container_result_init(&result);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return cordon_fail_errno(err, errno, "make a channel");
	control = pair[0];
	r = container_fork(c->engine, pair[1], brief, &result.proc);
	(void)fd_close(pair[1]);
	if (r < 0)
		return cordon_fail_leaf(err, r, "start " ENGINE_NAME);
	call = r = call_accept(c->listener, control, &result.proc, err);
	if (r >= 0)
		r = call_talk(call, plan, &c->marks, &is_stale, &result, err);
	if (r == 0 && send(control, "", 1, MSG_NOSIGNAL) != 1)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_SYSTEM,
					    "the engine was lost when the command started"),
				"nothing of the call is left running; see the engine's log");
	if (r < 0) {
		(void)fd_close(call);
		(void)fd_close(result.terminal_fd);
		doors_done(&result.doors);
		container_abandon(&result.proc, control);
		return container_lacks(plan, c, r, err);
	}
	result.status_fd = call;
	*ret = result;
	return 0;
}

/* A call whose container nobody else could use needs none made ahead. */
static bool container_is_warm(const struct plan *plan)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_COW)
			return false;
	return plan->warm > 0 && plan->scratch_dir && !plan->image;
}

static int container_key(const struct container_engine *e, const struct plan *plan,
			 struct container_call *c, const char *socket, struct warm_key *ret,
			 struct cordon_error *err)
{
	struct buf create = BUF_INIT(ENGINE_BRIEF_MAX / 4);
	int r = container_create(e, plan, c, /* call_dir= */ "", /* is_ahead= */ true, &create,
				 err);

	if (r == 0) {
		r = e->reads_profile ? spec_profile(&create) : 0; /* else it stands in the body */
		r = r < 0 ? r : warm_key(&create, socket, plan, &c->marks, c->inside, ret);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "describe the container");
	}
	buf_done(&create);
	return r;
}

/* The call in a container that was made ahead.  1; 0 when there is none that fits; or a code. */
static int container_run_warm(const struct plan *plan, const struct container_call *c,
			      const struct warm_key *key, struct spawn_result *ret,
			      struct cordon_error *err)
{
	struct spawn_result result;
	AUTO_CLOSE int pidfd = -1;
	AUTO_CLOSE int call = warm_take(plan->scratch_dir, key, &pidfd);
	bool is_stale = false;
	int r;

	if (call < 0)
		return 0;
	container_result_init(&result);
	r = call_talk(call, plan, &c->marks, &is_stale, &result, err);
	if (r == 0) {
		r = warm_follow(pidfd, &result.proc);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "follow the container");
	}
	if (r == 0) {
		result.status_fd = TAKE_FD(call);
		*ret = result;
		return 1;
	}
	(void)fd_close(result.terminal_fd);
	doors_done(&result.doors);
	return is_stale ? 0 : r; /* it ends with the socket */
}

/* Has those made that are missing now.  It is not this call's trouble if that fails: the next one makes its own. */
static void container_refill(const struct container_engine *e, const struct plan *plan,
			     struct container_call *c, const struct warm_key *key,
			     const char *socket)
{
	size_t limit = plan->warm < WARM_MAX ? plan->warm : WARM_MAX;
	struct scratch place = SCRATCH_NONE;

	while (warm_place(plan->scratch_dir, key, limit, &place) == 0) {
		AUTO_CLOSE int brief =
			container_brief(e, plan, c, &place, socket, /* is_ahead= */ true, NULL);

		if (brief < 0 || container_fork_ahead(c->engine, place.fd, brief) < 0) {
			scratch_done(&place);
			return;
		}
		scratch_leave(&place); /* its lock lives on in the program */
	}
}

/* Native makes directories beside what can be written, removes them when the command runs, and knows no registry
 * inside.  If we are killed meanwhile the next command looks there. */
static int container_note(const struct plan *plan, struct container_call *c)
{
	char parent[LIMIT_PATH_BYTES];
	int r = plan->scratch_dir ? scratch_note_make(plan->scratch_dir, &c->note) : 0;

	if (r == 0 && plan->scratch_dir && plan->id)
		r = scratch_note_of(&c->note, plan->id);
	for (size_t i = 0; r == 0 && plan->scratch_dir && i < plan->op_count; i++) {
		const char *path = plan->ops[i].path;

		if (plan->ops[i].kind != PLAN_OP_BIND_RW)
			continue;
		(void)snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(path, '/') - path) + 1,
			       path);
		r = scratch_note_add(&c->note, parent);
	}
	if (r == 0 && plan->scratch_dir)
		r = scratch_note_add(&c->note, "/var/tmp/");
	return r == 0 && plan->scratch_dir ? scratch_note_add(&c->note, "/tmp/") : r;
}

static int container_run_cold(const struct container_engine *e, const struct plan *plan,
			      struct container_call *c, const char *socket,
			      struct spawn_result *ret, struct cordon_error *err)
{
	AUTO_CLOSE int brief = -1;
	int r = container_listen(plan, c);

	if (r < 0)
		return cordon_fail_leaf(err, r, "make a place for the call in %s", CONTAINER_PLACE);
	brief = container_brief(e, plan, c, &c->place, socket, /* is_ahead= */ false, err);
	return brief < 0 ? brief : container_run(plan, c, brief, ret, err);
}

static int container_start(const struct container_engine *e, const struct plan *plan,
			   const char *socket, struct spawn_result *ret, struct cordon_error *err)
{
	AUTO(container_call_done) struct container_call c = CONTAINER_CALL_NONE;
	struct warm_key key;
	bool is_warm = container_is_warm(plan);
	int r = container_programs(&c, err);

	if (r == 0)
		r = container_root(plan, &c, err);
	if (r < 0)
		return r;
	r = container_note(plan, &c);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write down where the call works");
	if (is_warm)
		r = container_key(e, plan, &c, socket, &key, err);
	if (r == 0 && is_warm)
		r = container_run_warm(plan, &c, &key, ret, err);
	if (r == 0)
		r = container_run_cold(e, plan, &c, socket, ret, err);
	if (r >= 0 && is_warm)
		container_refill(e, plan, &c, &key, socket);
	return r < 0 ? r : 0;
}

/* The trial of a runtime, which knows plans without one. */
static struct {
	const char *runtime;
	const char *socket;
	struct cordon_error why; /* in full: a probe's reason is cut */
} container_trial;

static int container_spawn_tried(const struct plan *plan, struct spawn_result *ret,
				 struct cordon_error *err)
{
	struct plan with = *plan;
	int r;

	with.runtime = container_trial.runtime;
	r = container_start(&container_docker, &with, container_trial.socket, ret, err);
	if (r < 0)
		container_trial.why = *err;
	return r;
}

/* What the backend gives was tried with the engine's own runtime.  Another one is tried by itself, whatever its name:
 * none is known to be good or bad.  The answer is kept as others are, until the engine starts anew. */
static int container_runtime(const struct container_engine *e, const struct plan *plan,
			     const char *socket, struct cordon_error *err)
{
	const struct trial trial = {
		.info = e->info,
		.spawn = container_spawn_tried,
		.fix = "see the engine's log, or use another runtime",
		.tool = socket,
		.variant = "runtime",
		.depends = plan->runtime,
	};
	AUTO(buf_done) struct buf lacks = BUF_INIT(CORDON_ERROR_MESSAGE_MAX);
	struct probe probe;

	if (!plan->runtime)
		return 0;
	if (e->reads_profile)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "podman takes no runtime '%s' from a call",
					       plan->runtime),
				   "name it in containers.conf, or use --backend docker");
	container_trial.runtime = plan->runtime;
	container_trial.socket = socket;
	container_trial.why = (struct cordon_error){0};
	trial_probe(&trial, PROBE_QUICK, &probe);
	if (!probe.is_available && container_trial.why.code < 0) {
		if (err)
			*err = container_trial.why;
		return container_trial.why.code;
	}
	if (!probe.is_available)
		return cordon_fail(err, CORDON_E_UNSUPPORTED, "docker's runtime '%s': %s",
				   plan->runtime, probe.reason);
	if (!(plan->needs & CONTAINER_TRIED & ~probe.guarantees))
		return 0;
	guarantee_list(plan->needs & CONTAINER_TRIED & ~probe.guarantees, &lacks);
	return cordon_hint(err,
			   cordon_fail(err, CORDON_E_UNSUPPORTED,
				       "docker's runtime '%s' was tried, and does not hold %s",
				       plan->runtime, buf_cstr(&lacks)),
			   "name another runtime, or use another backend");
}

static int container_spawn(const struct container_engine *e, const struct plan *plan,
			   struct spawn_result *ret, struct cordon_error *err)
{
	char socket_path[PATH_MAX];
	char why[PROBE_REASON_MAX];
	int r;

	if (plan->serves || plan->entry || plan->watch == PLAN_WATCH_PATHS)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend '%s' cannot carry out this plan", e->info->name);
	r = container_find(e, socket_path, why);
	if (r < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why);
	r = container_runtime(e, plan, socket_path, err);
	return r < 0 ? r : container_start(e, plan, socket_path, ret, err);
}

static void container_probe(const struct container_engine *e,
			    int (*spawn)(const struct plan *plan, struct spawn_result *ret,
					 struct cordon_error *err),
			    enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	char path[PATH_MAX];
	const struct trial trial = {
		.info = e->info,
		.spawn = spawn,
		.fix = "see the engine's log, or use another backend",
		.tool = path,
	};

	*ret = (struct probe){0};
	if (container_find(e, path, ret->reason) < 0)
		return;
	trial_probe(&trial, form, ret);
	backend_view_guarantees(ret);
	backend_network_guarantees(CLONE_NEWUSER | CLONE_NEWNET, form, wanted, ret);
	/* The engine's own groups; what it cannot hold it says when asked, and then nothing starts. */
	if (ret->is_available)
		ret->guarantees |= CONTAINER_LIMITS | GUARANTEE_BIT(IMAGE_ROOT);
}

static int docker_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return container_spawn(&container_docker, plan, ret, err);
}

static void docker_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	container_probe(&container_docker, docker_spawn, form, wanted, ret);
}

static int podman_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	return container_spawn(&container_podman, plan, ret, err);
}

static void podman_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	container_probe(&container_podman, podman_spawn, form, wanted, ret);
}

#define CONTAINER_OPERATIONS                                                                       \
	.terminal = BACKEND_TERMINAL_OWN, .restrict_filesystem = restrict_filesystem,              \
	.restrict_network = restrict_network, .restrict_syscalls = restrict_syscalls,              \
	.apply_restrictions = backend_default_apply_restrictions, .snapshot = restrict_snapshot,   \
	.rollback = restrict_rollback, .get_audit_log = backend_default_get_audit_log

const struct cordon_backend docker_backend = {
	.info = &backend_infos[BACKEND_DOCKER],
	.summary = "a container of Docker's with what is granted, and the same view inside",
	.probe = docker_probe,
	.spawn = docker_spawn,
	CONTAINER_OPERATIONS,
};

const struct cordon_backend podman_backend = {
	.info = &backend_infos[BACKEND_PODMAN],
	.summary = "the same by podman",
	.probe = podman_probe,
	.spawn = podman_spawn,
	CONTAINER_OPERATIONS,
};
