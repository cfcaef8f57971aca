/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher: a program of its own, carried inside ours, that a foreign sandbox program (bwrap, nsjail) executes
 * as the first process of its pid namespace.  That program made the namespaces and entered the view; what
 * it cannot do is done here, as native does it: Landlock, our filter, exactly the planned descriptors, and a
 * first word about what failed.  Then it starts the command and stays as the watcher; or, in a sandbox that stays, it
 * starts commands as long as somebody has some (native/serve.h).
 *
 * It is static and comes in sealed memory, so nothing of it has to exist inside the sandbox.  It is given one
 * capability, to lower the bounding set with, two more where it has to close parts of /proc itself, and gives them up
 * before anything of the command runs.
 */
#include "backend/confine/landlock.h"
#include "backend/confine/privileges.h"
#include "backend/confine/watcher.h"
#include "backend/command.h"
#include "backend/launch/image.h"
#include "backend/lookup.h"
#include "backend/native/child.h"
#include "backend/native/serve.h"
#include "backend/stage.h"
#include "backend/view/step.h"
#include "base/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Read and not mapped: gVisor maps no sealed file. */
static int inner_read(struct launch_call *ret)
{
	struct stat st;
	size_t done = 0;
	char *data;

	if (fstat(LAUNCH_FD_IMAGE, &st) < 0)
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (data == MAP_FAILED)
		return -errno;
	while (done < (size_t)st.st_size) {
		ssize_t n =
			pread(LAUNCH_FD_IMAGE, data + done, (size_t)st.st_size - done, (off_t)done);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return launch_image_read(data, done, ret);
}

/* Is something mounted at the path that nobody can write?  0, or -errno. */
static int inner_is_covered(const char *path)
{
	struct statx st;
	struct statfs fs;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &st) < 0 ||
	    statfs(path, &fs) < 0)
		return -errno;
	return st.stx_attributes & STATX_ATTR_MOUNT_ROOT && fs.f_flags & ST_RDONLY ? 0 : -EPERM;
}

static int inner_cover(const char *source, const char *path)
{
	const struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	long tree = syscall(SYS_open_tree, AT_FDCWD, source,
			    AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	int r = 0;

	if (tree < 0)
		return -errno;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
		    sizeof(attr)) < 0 ||
	    syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		r = -errno;
	(void)close((int)tree);
	return r;
}

/* Closes in /proc what was left to us, and makes sure of the rest: else the kernel's own files would be open. */
static int inner_covered(char *const *pairs)
{
	for (size_t i = 0; pairs[i]; i += 2) {
		const char *path = pairs[i + 1];
		int r = *pairs[i] ? inner_cover(pairs[i], path) : 0;

		if (r == 0)
			r = inner_is_covered(path);
		/* Below one that is closed nothing can be seen any more, by nobody. */
		for (size_t k = 0; k < i && (r == -EACCES || r == -ENOENT); k += 2) {
			size_t len = strlen(pairs[k + 1]);

			if (strncmp(path, pairs[k + 1], len) == 0 && path[len] == '/')
				r = 0;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int inner_stage(struct launch_call *c, enum stage stage,
		       char command[static LIMIT_PATH_BYTES])
{
	const struct plan *plan = &c->plan;
	int r;

	if (stage == STAGE_COVERED)
		return inner_covered(c->covered);
	if (stage == STAGE_CWD)
		return chdir(plan->cwd ? plan->cwd : "/") < 0 ? -errno : 0;
	if (plan->serves && (stage == STAGE_LOOKUP || stage == STAGE_LIMITS))
		return 0; /* each call has its own */
	if (stage == STAGE_LOOKUP)
		return lookup_command(plan->argv[0], plan->envp, plan->cwd, command);
	if (stage == STAGE_LIMITS)
		return command_limits(plan);
	if (stage == STAGE_PRIVILEGES) {
		if (c->setting.has_kernel)
			return privileges_bare();
		r = privileges_drop();
		return r < 0 ? r : privileges_verify(SIGKILL);
	}
	if (stage == STAGE_LANDLOCK)
		return view_landlock(&c->program, c->setting.landlock_abi == LAUNCH_ABI_ASK
							  ? landlock_abi()
							  : c->setting.landlock_abi);
	if (stage == STAGE_SECCOMP)
		return seccomp_install(&c->filter);
	return 0;
}

/* The first word, and what our end can be seen by: the program around us is another process, and ends before us. */
_Noreturn static void inner_serve(struct launch_call *call)
{
	struct stage_message message = {.stage = STAGE_STARTED};
	static struct native_child child; /* large, and there is one */
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	child = (struct native_child){
		.program = &call->program,
		.denied_calls = call->denied.len > 0 ? &call->denied : NULL,
		.channel = LAUNCH_FD_CHANNEL,
		.terminal = -1,
		.tty = -1,
	};
	if (self < 0 || send(LAUNCH_FD_CHANNEL, &message, sizeof(message), MSG_NOSIGNAL) < 0 ||
	    fdpass_send(LAUNCH_FD_CHANNEL, &message, sizeof(message), &self, 1) < 0 ||
	    native_serve_alone(&child) < 0)
		_exit(127);
	native_serve(&child);
}

/* The pipes between the command and those of the host's that it would write to. */
static int inner_pump(struct launch_call *c, struct watcher *w)
{
	static struct pump pumps[PUMP_MAX]; /* large */
	const struct launch_setting *s = &c->setting;
	int r = 0;

	w->pumps = pumps;
	if (s->pumps_stdout)
		r = pump_make(&pumps[w->n_pumps++], LAUNCH_FD_STDOUT, LAUNCH_FD_END,
			      &c->plan.stdout_fd);
	if (r == 0 && s->pumps_stderr && s->has_one_pipe)
		c->plan.stderr_fd = c->plan.stdout_fd;
	else if (r == 0 && s->pumps_stderr)
		r = pump_make(&pumps[w->n_pumps++], LAUNCH_FD_STDERR, LAUNCH_FD_END,
			      &c->plan.stderr_fd);
	return r;
}

int main(void)
{
	struct launch_call call;
	char command[LIMIT_PATH_BYTES] = "";
	struct stage_message message = {.stage = STAGE_TOOL};
	struct watcher watcher = {
		.plan = &call.plan,
		.command = command,
		.channel = LAUNCH_FD_CHANNEL,
		.has_pid_namespace = true,
	};
	sigset_t all;
	int r;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		stage_report(LAUNCH_FD_CHANNEL, &message, -errno);
	/* Everything rests on the namespace: its end is how the call ends. */
	r = getpid() == 1 ? inner_read(&call) : -EPERM;
	if (r < 0)
		stage_report(LAUNCH_FD_CHANNEL, &message, r);
	/* A session inside the pid namespace: the one that the program was started in has no number here.  An OCI
	 * runtime has made one. */
	if (!call.plan.keeps_group && getsid(0) != getpid() && setsid() < 0)
		stage_report(LAUNCH_FD_CHANNEL, &message, -errno);
	watcher.leads_group = call.setting.has_kernel;
	r = inner_pump(&call, &watcher);
	if (r < 0)
		stage_report(LAUNCH_FD_CHANNEL, &message, r);
	if (call.denied.len > 0)
		watcher.denied_calls = &call.denied;
	for (message.stage = STAGE_COVERED; message.stage <= STAGE_SECCOMP; message.stage++) {
		r = inner_stage(&call, (enum stage)message.stage, command);
		if (r < 0)
			stage_report(LAUNCH_FD_CHANNEL, &message, r);
	}
	(void)umask(call.setting.mask);
	if (call.plan.serves)
		inner_serve(&call);
	if (call.setting.stdin_offset > 0 &&
	    lseek(LAUNCH_FD_STDIN, call.setting.stdin_offset, SEEK_SET) < 0) {
		message.stage = STAGE_STDIO;
		stage_report(LAUNCH_FD_CHANNEL, &message, -errno);
	}
	r = watcher_start(&watcher);
	message.stage = watcher.stage;
	if (r < 0)
		stage_report(LAUNCH_FD_CHANNEL, &message, r);
	message = (struct stage_message){.stage = STAGE_STARTED};
	if (send(LAUNCH_FD_CHANNEL, &message, sizeof(message), MSG_NOSIGNAL) < 0)
		_exit(127);
	watcher_stay(&watcher, r);
}
