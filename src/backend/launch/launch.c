/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's half of launch.h. */
#include "backend/launch/launch.h"

#include "backend/cgroup/cgroup.h"
#include "backend/command.h"
#include "backend/confine/filter.h"
#include "backend/idmap.h"
#include "backend/launch/outer.h"
#include "backend/launch/tool.h"
#include "backend/native/child.h"
#include "backend/native/serve.h"
#include "backend/trial.h"
#include "backend/view/step.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAUNCH_SAID_MAX 8192   /* of what the program prints when it fails */
#define LAUNCH_MESSAGE_MAX 512 /* of what is told of that */
#define LAUNCH_MESSAGE_MS 1000
#define LAUNCH_KERNEL_MS 20000 /* for a trial: a kernel has to start, perhaps on a busy machine */

/* The launcher, linked in by the build. */
extern const char launch_program[];
extern const char launch_program_end[];

/* A sealed file in memory. */
static int launch_memory(const char *name, const char *data, size_t len)
{
	AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	r = io_write(fd, data, len, CLOCK_NEVER);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int launch_image_of(const struct view_program *p, const struct launch_setting *other,
		    const struct strv *covered, struct buf *out)
{
	struct seccomp_policy policy = filter_of(p->plan, /* has_pid_namespace= */ true);
	struct seccomp_program filter;
	struct seccomp_program denied = {.len = 0};
	struct launch_setting setting = *other;
	int r;

	setting.mask = umask(0);
	(void)umask(setting.mask);
	policy.lacks_link_attributes = policy.guards_first = setting.has_kernel;
	r = seccomp_build(&policy, &filter);
	if (r == 0 && p->plan->denied_calls)
		r = seccomp_build_denied(p->plan->denied_calls, &denied);
	return r < 0 ? r : launch_image_write(p, &filter, &denied, &setting, covered, out);
}

/* Which of the outputs are pipes, for a kernel that does not treat them as such. */
static void launch_pumps(const struct plan *plan, struct launch_setting *s)
{
	struct stat out;
	struct stat err;

	s->pumps_stdout = fstat(plan->stdout_fd, &out) == 0 && S_ISFIFO(out.st_mode);
	s->pumps_stderr = fstat(plan->stderr_fd, &err) == 0 && S_ISFIFO(err.st_mode);
	s->has_one_pipe = s->pumps_stdout && s->pumps_stderr && out.st_dev == err.st_dev &&
			  out.st_ino == err.st_ino;
}

static int launch_image(const struct launch_tool *tool, const struct view_program *p,
			const struct strv *covered, int *ret)
{
	struct launch_setting setting = {
		.landlock_abi = tool->bundle ? 0 : landlock_abi(),
		.has_kernel = tool->bundle != NULL,
		.stdin_offset = tool->bundle ? lseek(p->plan->stdin_fd, 0, SEEK_CUR) : -1,
	};
	struct buf image = BUF_INIT(LAUNCH_IMAGE_MAX);
	int r;

	if (tool->bundle)
		launch_pumps(p->plan, &setting);
	r = launch_image_of(p, &setting, covered, &image);
	if (r == 0)
		r = launch_memory("cordon-image", image.data, image.len);
	/* The environment may hold secrets. */
	if (image.data)
		explicit_bzero(image.data, image.len);
	buf_done(&image);
	*ret = r;
	return r < 0 ? r : 0;
}

/* Does the step belong into the new /proc? */
static bool launch_is_proc(const struct view_step *s)
{
	return s->kind == VIEW_PROC || str_starts(s->path, "proc/");
}

/* A process of the host's: it is not in the new /proc, so it needs no cover. */
static bool launch_is_absent(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits > 0 && (name[digits] == '/' || !name[digits]) &&
	       (digits > 1 || name[0] != '1');
}

/* The launcher is the first process, and is executed through its own entry. */
static bool launch_is_own(const char *name)
{
	return strcmp(name, "1") == 0 || str_starts(name, "1/fd") || str_starts(name, "self") ||
	       str_starts(name, "thread-self");
}

static int launch_add_cover(struct view_program *p, const struct view_step *s,
			    struct launch_cover *ret)
{
	if (strv_addf(&p->strings, "/%s", s->path) < 0 ||
	    strv_addf(&p->strings, "%s/%s", s->kind == VIEW_COVER ? LAUNCH_VIEW : "", s->source) <
		    0)
		return -ENOMEM;
	*ret = (struct launch_cover){
		.path = p->strings.v[p->strings.n - 2],
		.source = p->strings.v[p->strings.n - 1],
	};
	return 0;
}

/* The runtime mounts on what is in the view, before its own /proc is there. */
static struct view_step launch_mount_point(const struct view_step *cover, const char *path)
{
	struct stat st;
	bool is_dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

	return (struct view_step){
		.kind = is_dir ? VIEW_DIRECTORY : VIEW_EMPTY,
		.path = cover->path,
		.mode = 0755,
		.fd = -1,
	};
}

/* The same for a program with a kernel of its own, whose /dev covers the view's.  Most of /proc is closed because of the
 * host's kernel, and is not there; what is there and denied is covered. */
static int launch_take_shown(const struct launch_tool *tool, struct view_program *p,
			     struct launch_line *line, struct launch_cover *covers)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct view_step *s = &p->steps[i];
		bool is_proc = launch_is_proc(s);

		line->has_proc |= s->kind == VIEW_PROC;
		if (is_proc && s->kind != VIEW_PROC && s->kind != VIEW_COVER &&
		    s->kind != VIEW_SEAL)
			return -EOPNOTSUPP;
		if (is_proc && s->kind != VIEW_PROC && launch_is_own(s->path + strlen("proc/")))
			return -EBUSY;
		if (s->kind == VIEW_COVER && (is_proc || str_starts(s->path, "dev/"))) {
			struct launch_cover *c = &covers[line->n_covers];

			if (launch_add_cover(p, s, c) < 0)
				return -ENOMEM;
			if (tool->shows(c->path)) {
				line->n_covers++;
				if (is_proc)
					p->steps[kept++] = launch_mount_point(s, c->path);
			}
		}
		if (!is_proc)
			p->steps[kept++] = *s;
	}
	p->n = kept;
	line->covers = covers;
	return 0;
}

/* Takes them out of the program and makes covers of them; *covers has room for all. */
static int launch_take_proc(struct view_program *p, struct launch_line *line,
			    struct launch_cover *covers)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct view_step *s = &p->steps[i];

		if (!launch_is_proc(s)) {
			p->steps[kept++] = *s;
			continue;
		}
		line->has_proc |= s->kind == VIEW_PROC;
		if (s->kind == VIEW_PROC)
			continue;
		/* Nothing else is known there, and nothing unknown is dropped. */
		if (s->kind != VIEW_COVER && s->kind != VIEW_SEAL)
			return -EOPNOTSUPP;
		if (launch_is_own(s->path + strlen("proc/")))
			return -EBUSY;
		if (launch_is_absent(s->path + strlen("proc/")))
			continue;
		if (launch_add_cover(p, s, &covers[line->n_covers]) < 0)
			return -ENOMEM;
		/* The host's /proc has the same other entries: it is the same kernel's. */
		if (!s->may_be_missing || access(covers[line->n_covers].path, F_OK) == 0)
			line->n_covers++;
	}
	p->n = kept;
	line->covers = covers;
	return 0;
}

/* What the launcher has to mount in /proc, or to find there: that a program was told to is not that it did. */
static int launch_covered(const struct launch_tool *tool, const struct launch_line *line,
			  struct strv *out)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < line->n_covers; i++) {
		const char *source = line->covers[i].source;

		if (str_starts(source, LAUNCH_VIEW "/"))
			source += strlen(LAUNCH_VIEW);
		r = strv_add(out, tool->leaves_covers ? source : "");
		if (r == 0)
			r = strv_add(out, line->covers[i].path);
	}
	return r;
}

static int launch_words(const struct launch_tool *tool, struct view_program *p, struct strv *ret,
			struct strv *ret_covered, struct buf *ret_bundle)
{
	AUTO_FREE struct launch_cover *covers = calloc(p->n + 1, sizeof(*covers));
	struct launch_line line = {
		.plan = p->plan,
		.is_root = geteuid() == 0,
		.uid = geteuid(),
		.gid = getegid(),
		.nice = getpriority(PRIO_PROCESS, 0),
	};
	int r;

	if (!covers)
		return -ENOMEM;
	line.shm_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) *
			 VIEW_ROOT_PERCENT / 100;
	r = tool->bundle ? launch_take_shown(tool, p, &line, covers)
			 : launch_take_proc(p, &line, covers);
	if (r == 0 && !line.has_proc)
		r = -EOPNOTSUPP; /* the launcher is found through it */
	if (r == 0 && tool->bundle)
		r = tool->bundle(&line, ret_bundle);
	if (r == 0 && !tool->bundle) /* another kernel has its own /proc */
		r = launch_covered(tool, &line, ret_covered);
	if (tool->leaves_covers)
		line.n_covers = 0;
	return r < 0 ? r : tool->line(&line, ret);
}

/* What the program said before it gave up. */
static int launch_said(const struct launch_tool *tool, int fd, struct cordon_error *err)
{
	char text[LAUNCH_SAID_MAX + 1];
	struct buf why = BUF_INIT(LAUNCH_SAID_MAX);
	struct buf clean = BUF_INIT(LAUNCH_MESSAGE_MAX);
	ssize_t n = io_read(fd, text, LAUNCH_SAID_MAX, clock_deadline(LAUNCH_MESSAGE_MS));

	text[n < 0 ? 0 : n] = '\0';
	if (tool->complaint)
		tool->complaint(text, &why);
	if (why.len == 0) {
		size_t name = strlen(tool->program);
		bool has_name = str_starts(text, tool->program) && str_starts(text + name, ": ");

		buf_str(&why, has_name ? text + name + 2 : text);
		buf_truncate(&why, strcspn(buf_cstr(&why), "\n"));
	}
	str_escape(&clean, buf_cstr(&why), why.len); /* what is too long is cut */
	(void)cordon_fail(err, CORDON_E_SYSTEM, "%s: %s", tool->program,
			  clean.len > 0 ? buf_cstr(&clean) : "it ended before the command started");
	buf_done(&why);
	buf_done(&clean);
	return CORDON_E_SYSTEM;
}

/* Of a launcher that serves: what shows its end. */
static int launch_first(int channel, struct cordon_error *err)
{
	struct stage_message m;
	int fds[FDPASS_MAX];
	size_t n = 0;
	ssize_t got =
		fdpass_receive(channel, &m, sizeof(m), clock_deadline(LAUNCH_MESSAGE_MS), fds, &n);

	if (got == sizeof(m) && n == 1)
		return fds[0];
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
	return cordon_fail(err, CORDON_E_SYSTEM, "the sandbox died while it started");
}

static int launch_start(const struct launch_tool *tool, struct outer *o, int ours, int said,
			struct spawn_result *ret, struct cordon_error *err)
{
	const struct plan *plan = o->program->plan;
	struct proc proc = PROC_NONE;
	/* A network with doors is ours; the program stays in it. */
	uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | (doors_are_wanted(plan) ? CLONE_NEWNET : 0) |
			 (tool->bundle ? CLONE_NEWPID | CLONE_NEWIPC : 0);
	struct doors doors;
	int first = -1;
	int r = stage_clone(flags, plan->cgroup, outer_main, o, &proc);

	doors_init(&doors);
	if (r < 0)
		return cordon_hint(err, cordon_fail_errno(err, -r, "make namespaces"),
				   "see 'cordon doctor'");
	o->channel = fd_close(o->channel);
	o->error = fd_close(o->error);
	r = tool->bundle ? idmap_root(proc.pid) : idmap_own(proc.pid);
	if (r < 0)
		r = cordon_fail_errno(err, -r, "map user and group ids");
	else if (send(ours, "", 1, MSG_NOSIGNAL) != 1)
		r = cordon_fail_errno(err, errno, "start the sandbox");
	else
		r = stage_hear(ours, o->program, &doors, err);
	if (r == -EPIPE)
		r = launch_said(tool, said, err);
	else if (r == CORDON_E_TIMEOUT)
		r = cordon_wrap(err, r, "%s", tool->program);
	if (r == 0 && plan->serves) {
		first = launch_first(ours, err);
		r = first < 0 ? first : 0;
	}
	if (r < 0) {
		doors_done(&doors);
		stage_abandon(&proc);
		return r;
	}
	*ret = (struct spawn_result){
		.proc = proc,
		.has_own_group = !plan->keeps_group,
		.status_fd = ours,
		.is_relayed = true,
		.tells_end = tool->bundle != NULL,
		.doors = doors,
		.first_fd = first,
		.has_first = plan->serves,
	};
	return 0;
}

/* What such a kernel is given it makes non-blocking, and that is a flag of the open file: whoever shares it would be told to try
 * again, during the call and after.  A pipe that is opened anew has flags of its own.  *fd is replaced, *ret_own is given. */
static void launch_own_pipe(int *fd, int access, int *ret_own)
{
	struct stat st;
	int own =
		fstat(*fd, &st) == 0 && S_ISFIFO(st.st_mode)
			? fd_reopen(*fd, access | O_NONBLOCK) /* or it may wait for the other end */
			: -1;

	/* Nobody reads any more, or it is somebody else's (relay_wants_pipe() sees to the outputs). */
	if (own < 0 || fd_nonblock(own, false) < 0) {
		(void)fd_close(own);
		return;
	}
	*fd = *ret_own = own;
}

/* Makes what the child needs and starts it. */
static int launch_prepared(const struct launch_tool *tool, const struct view_program *p,
			   char *const *words, const struct strv *covered, const struct buf *bundle,
			   int program, struct spawn_result *ret, struct cordon_error *err)
{
	AUTO_CLOSE int launcher = launch_memory("cordon-launch", launch_program,
						(size_t)(launch_program_end - launch_program));
	AUTO_CLOSE int image = -1;
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int said = -1;
	int own[3] = {-1, -1, -1}; /* pipes of the command */
	struct outer o = {
		.program = p,
		.argv = words,
		.bundle = tool->bundle ? bundle : NULL,
		.tool = program,
		.wakes_by_signal = tool->wakes_by_signal,
		.has_bare_view = tool->strips_root,
		.error = -1,
		.channel = -1,
	};
	AUTO_CLOSE int null = o.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int pair[2];
	int pipes[2];
	int r = launcher < 0 ? launcher
		: null < 0   ? -errno
			     : launch_image(tool, p, covered, &image);

	if (r == 0)
		r = stage_mount_namespace(&o.parent_mnt);
	if (r == 0)
		r = doors_network(&o.parent_net);
	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare the sandbox");
	ours = o.parent_end = pair[0];
	o.channel = pair[1];
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		(void)fd_close(o.channel);
		return cordon_fail_errno(err, errno, "make a pipe");
	}
	said = pipes[0];
	o.error = pipes[1];
	/* It is read when the program has ended: one that has more to say than fits must not wait for that. */
	(void)fcntl(o.error, F_SETFL, O_NONBLOCK);
	memcpy(o.fds,
	       (const int[]){launcher, image, o.channel, p->plan->stdin_fd, p->plan->stdout_fd,
			     p->plan->stderr_fd},
	       sizeof(o.fds));
	for (int i = 0; tool->bundle && i < (int)ARRAY_LEN(own); i++)
		launch_own_pipe(&o.fds[LAUNCH_FD_STDIN - LAUNCH_FD_PROGRAM + i],
				i == 0 ? O_RDONLY : O_WRONLY, &own[i]);
	r = launch_start(tool, &o, ours, said, ret, err);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		(void)fd_close(own[i]);
	(void)fd_close(o.channel);
	(void)fd_close(o.error);
	if (r == 0)
		ours = -1; /* given */
	return r;
}

int launch_spawn(const struct launch_tool *tool, const struct plan *plan, struct spawn_result *ret,
		 struct cordon_error *err)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	AUTO_CLOSE int program = -1;
	struct view_program view = {0};
	AUTO(strv_done) struct strv words = {0};
	AUTO(strv_done) struct strv covered = {0};
	AUTO(buf_done) struct buf bundle = BUF_INIT(LAUNCH_BUNDLE_MAX);
	int r = command_check(plan, tool->info->name, err);

	if (r < 0)
		return r;
	if ((plan->serves || plan->entry) && tool->bundle)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend '%s' lives as long as its call", tool->info->name);
	if (plan->entry)
		return native_enter(plan, BACKEND_TERMINAL_HOST, ret, err);
	program = tool_open(tool->program, path, why);
	if (program < 0)
		return cordon_hint(err, cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why),
				   "install %s", tool->package);
	r = view_compile(plan, &view, err);
	if (r == 0) {
		r = launch_words(tool, &view, &words, &covered, &bundle);
		if (r == -EBUSY)
			r = cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "backend '%s' starts the command through /proc/self, "
					    "which is denied",
					    tool->info->name),
				"do not deny it, or use --backend native");
		else if (r < 0)
			r = cordon_fail_leaf(err, r, "command line of %s", tool->program);
	}
	if (r == 0)
		r = launch_prepared(tool, &view, words.v, &covered, &bundle, program, ret, err);
	view_program_done(&view);
	return r;
}

void launch_probe(const struct launch_tool *tool,
		  int (*spawn)(const struct plan *plan, struct spawn_result *ret,
			       struct cordon_error *err),
		  enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	int fd = tool_open(tool->program, path, why);
	const struct trial trial = {
		.info = tool->info,
		.spawn = spawn,
		.fix = "see 'cordon doctor', or use another backend",
		.tool = path,
		.variant = tool->variant,
		.deadline_ms = tool->bundle ? LAUNCH_KERNEL_MS : 0,
	};
	bool is_full = form == PROBE_FULL;
	guarantee_set limits = CGROUP_GUARANTEES & (is_full ? GUARANTEE_ALL : wanted);

	*ret = (struct probe){0};
	if (fd < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s; install %s", why,
			       tool->package);
		return;
	}
	(void)fd_close(fd);
	trial_probe(&trial, form, ret);
	backend_view_guarantees(ret);
	if (tool->keeps_network)
		backend_network_guarantees(CLONE_NEWUSER | CLONE_NEWNET, form, wanted, ret);
	/* Limits are tried each time: they depend on the group that we are in now. */
	if (ret->is_available && limits)
		ret->guarantees |= cgroup_probe(limits, /* tries_entering= */ is_full, ret->lacks);
}
