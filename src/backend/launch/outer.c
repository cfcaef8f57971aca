/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See launch.h.  The private root is a tmpfs of a few names; the program finds its libraries through links into
 * /host.  Nothing is made on the host for it.
 */
#include "backend/launch/outer.h"

#include "backend/cgroup/cgroup.h"
#include "backend/doors.h"
#include "backend/launch/launch.h"
#include "backend/view/step.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OUTER_FDS_SAFE 32 /* above every number that is given out */
#define OUTER_COPY_BYTES (1024 * 1024)

static const char *const outer_links[][2] = {
	{"usr", "host/usr"}, {"bin", "host/bin"},     {"sbin", "host/sbin"},
	{"lib", "host/lib"}, {"lib32", "host/lib32"}, {"lib64", "host/lib64"},
	{"etc", "host/etc"}, {"proc", "host/proc"},   {"sys", "host/sys"},
	{"dev", "host/dev"}, {"nix", "host/nix"},     {"gnu", "host/gnu"},
};

/* What an OCI runtime finds: its bundle, and the /proc of the pid namespace in which it is the first. */
static int outer_bundle(int root, const struct buf *config)
{
	const struct view_step proc = {.kind = VIEW_PROC, .path = "proc", .fd = -1};
	struct view_cache cache = VIEW_CACHE_EMPTY;
	int fd;
	ssize_t n;

	if (mkdirat(root, &LAUNCH_BUNDLE[1], 0700) < 0 || unlinkat(root, proc.path, 0) < 0 ||
	    mkdirat(root, proc.path, 0555) < 0)
		return -errno;
	fd = openat(root, &LAUNCH_BUNDLE_CONFIG[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	n = write(fd, config->data, config->len);
	(void)fd_close(fd);
	return n == (ssize_t)config->len ? view_step_run(root, &proc, &cache) : -EIO;
}

static int outer_launcher(int view, int launcher)
{
	int fd = openat(view, &LAUNCH_FILE[1], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
	off_t offset = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = sendfile(fd, launcher, &offset, OUTER_COPY_BYTES)) > 0)
		;
	n = n < 0 ? -errno : 0;
	(void)fd_close(fd);
	return (int)n;
}

/* A root with room for the view; its fd. */
static int outer_root(const struct outer *o, int *ret_view)
{
	const struct view_step view = {
		.kind = VIEW_TMPFS,
		.path = &LAUNCH_VIEW[1],
		.mode = 0755,
		.source = VIEW_ROOT_SIZE,
		.attrs = o->has_bare_view ? 0 : MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.fd = -1,
	};
	struct view_cache cache = VIEW_CACHE_EMPTY;
	int root = view_root_make();
	int r;

	if (root < 0)
		return root;
	if (mkdirat(root, view.path, 0755) < 0 || mkdirat(root, "host", 0755) < 0 ||
	    mkdirat(root, "tmp", 01777) < 0 || mkdirat(root, "run", 0755) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_LEN(outer_links); i++)
		if (symlinkat(outer_links[i][1], root, outer_links[i][0]) < 0)
			return -errno;
	r = view_step_run(root, &view, &cache);
	if (r == 0 && o->bundle)
		r = outer_bundle(root, o->bundle);
	if (r < 0)
		return r;
	*ret_view = openat(root, view.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret_view < 0 ? -errno : root;
}

static int outer_enter(int root, int view)
{
	int r = view_root_close(view);

	if (r < 0)
		return r;
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", "host") < 0 || chdir("/") < 0)
		return -errno;
	return 0;
}

/* Each descriptor to its number, and nothing else. */
static int outer_descriptors(struct outer *o)
{
	int *const named[] = {&o->null, &o->error, &o->tool};

	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if ((*named[i] = fd_dup(*named[i], OUTER_FDS_SAFE)) < 0)
			return *named[i];
	for (size_t i = 0; i < ARRAY_LEN(o->fds); i++)
		if ((o->fds[i] = fd_dup(o->fds[i], OUTER_FDS_SAFE)) < 0)
			return o->fds[i];
	o->channel = o->fds[LAUNCH_FD_CHANNEL - LAUNCH_FD_PROGRAM];
	if (dup3(o->null, STDIN_FILENO, 0) < 0 || dup3(o->null, STDOUT_FILENO, 0) < 0 ||
	    dup3(o->error, STDERR_FILENO, 0) < 0)
		return -errno;
	for (int i = 0; i < (int)ARRAY_LEN(o->fds); i++)
		if (dup3(o->fds[i], LAUNCH_FD_PROGRAM + i, 0) < 0)
			return -errno;
	return syscall(SYS_close_range, (unsigned)LAUNCH_FD_END, ~0U, 1U << 2 /* CLOEXEC */) < 0
		       ? -errno
		       : 0;
}

/* What the program sleeps on has to wake it. */
static int outer_signals(const struct outer *o)
{
	sigset_t set;

	(void)sigemptyset(&set); /* these cannot fail with a valid pointer and signal */
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGALRM);
	return o->wakes_by_signal && sigprocmask(SIG_UNBLOCK, &set, NULL) < 0 ? -errno : 0;
}

static int outer_stage(struct outer *o, struct stage_message *m, bool is_in_cgroup)
{
	static char *const no_environment[] = {NULL};
	static int root = -1;
	static int view = -1;
	const struct plan *plan = o->program->plan;
	int r;

	if (m->stage == STAGE_CGROUP)
		return plan->cgroup ? cgroup_enter(plan->cgroup, is_in_cgroup) : 0;
	if (m->stage == STAGE_PARENT)
		return stage_tie(o->channel, o->parent_end, SIGKILL);
	if (m->stage == STAGE_NAMESPACE)
		return stage_own_mounts(o->parent_mnt);
	if (m->stage == STAGE_SESSION)
		return !plan->keeps_group && setsid() < 0 ? -errno : 0;
	if (m->stage == STAGE_HOST && doors_are_wanted(plan)) {
		r = stage_loopback();
		return r < 0 ? r : doors_open(plan, o->channel, o->parent_net);
	}
	if (m->stage == STAGE_ROOT)
		return (root = outer_root(o, &view)) < 0 ? root : 0;
	if (m->stage == STAGE_STEP)
		return stage_build(o->program, view, o->channel, &m->step);
	if (m->stage == STAGE_ENTER && o->bundle) {
		r = outer_launcher(view, o->fds[0]);
		if (r < 0)
			return r;
	}
	if (m->stage == STAGE_ENTER)
		return outer_enter(root, view);
	if (m->stage == STAGE_TOOL) {
		r = outer_descriptors(o);
		if (r == 0)
			r = outer_signals(o);
		if (r < 0)
			return r;
		(void)execveat(o->tool, "", o->argv, no_environment, AT_EMPTY_PATH);
		return -errno;
	}
	return 0;
}

_Noreturn void outer_main(void *arg, bool is_in_cgroup)
{
	struct outer *o = arg;
	struct stage_message m = {.stage = STAGE_CGROUP};
	int r;

	(void)umask(
		0); /* the modes of our own directories are meant; the launcher sets the caller's */
	for (; m.stage <= STAGE_TOOL; m.stage++) {
		r = outer_stage(o, &m, is_in_cgroup);
		if (r < 0)
			stage_report(o->channel, &m, r);
	}
	m.stage = STAGE_TOOL;
	stage_report(o->channel, &m, -EINVAL);
}
