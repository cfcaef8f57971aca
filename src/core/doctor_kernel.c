/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of single kernel features.  Whatever restricts is really applied to the child, and both the
 * act that must fail and one that must still succeed are tried, so that a mechanism that refuses
 * nothing or everything does not count as working.
 */
#include "core/doctor_linux.h"

#include "backend/launch/tool.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_PROFILE                                                                             \
	"; if it is new enough, the seccomp profile of the container that we run in refuses it"

static bool kernel_can_open(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0;
}

/* Allows reading below /proc only.  The program itself is elsewhere, whatever leads to it. */
static int landlock_restrict(void)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
	struct landlock_path_beneath_attr beneath = {.allowed_access =
							     LANDLOCK_ACCESS_FS_READ_FILE};
	AUTO_CLOSE int ruleset = -1;
	AUTO_CLOSE int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0)
		return -errno;
	ruleset =
		(int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);
	if (ruleset < 0)
		return -errno;
	beneath.parent_fd = proc;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return -errno;
	return 0;
}

void doctor_try_landlock(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] = "boot a kernel of 5.13 or newer that has Landlock, with landlock "
				  "in the list of the lsm= parameter" KERNEL_PROFILE;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	int r;

	(void)c;
	if (abi < 0) {
		doctor_bad(ret, errno, "landlock_create_ruleset", fix);
		return;
	}
	if (!kernel_can_open("/proc/self/exe") || !kernel_can_open("/proc/self/status")) {
		doctor_bad(ret, errno, "the control failed: our own files cannot be read",
			   "mount /proc and make the program readable");
		return;
	}
	r = landlock_restrict();
	if (r < 0)
		doctor_bad(ret, -r, "apply a ruleset", fix);
	else if (kernel_can_open("/proc/self/exe") || errno != EACCES)
		doctor_bad(ret, 0, "a ruleset was applied and refused nothing", fix);
	else if (!kernel_can_open("/proc/self/status"))
		doctor_bad(ret, errno, "a ruleset refused what it allows", fix);
	else
		doctor_good(ret, "ABI %ld: a refused open failed, an allowed one did not", abi);
}

/* A filter that makes getppid(), which cannot fail, fail; everything else goes through. */
static long seccomp_install(unsigned flags, unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_LEN(code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

void doctor_try_seccomp(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] = "use a kernel with CONFIG_SECCOMP_FILTER" KERNEL_PROFILE;
	long r = seccomp_install(0, SECCOMP_RET_ERRNO | EDOM);

	(void)c;
	if (r < 0)
		doctor_bad(ret, errno, "install a filter", fix);
	else if (syscall(SYS_getppid) != -1 || errno != EDOM)
		doctor_bad(ret, 0, "a filter was installed and refused nothing", fix);
	else if (syscall(SYS_getpid) <= 0)
		doctor_bad(ret, errno, "a filter refused what it allows", fix);
	else
		doctor_good(ret, "a refused call failed, an allowed one did not");
}

void doctor_try_notify(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] =
		"use kernel 5.0 or newer, and not under another filter that has a "
		"listener (one process has at most one)" KERNEL_PROFILE;
	struct seccomp_notif_sizes sizes = {0};
	AUTO_CLOSE int listener = -1;

	(void)c;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0) {
		doctor_bad(ret, errno, "ask for the size of notifications", fix);
		return;
	}
	listener = (int)seccomp_install(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_USER_NOTIF);
	if (listener < 0)
		doctor_bad(ret, errno, "install a filter with a listener", fix);
	else
		doctor_good(ret, "a filter with a listener was installed");
}

void doctor_try_kvm(const struct doctor_context *c, struct doctor_row *ret)
{
	AUTO_CLOSE int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	(void)c;
	if (fd >= 0)
		doctor_good(ret, "/dev/kvm can be opened; whether a guest boots is not tried here");
	else
		doctor_bad(
			ret, errno, "open /dev/kvm",
			errno == EACCES || errno == EPERM
				? "add the user to the group of /dev/kvm (usermod -aG kvm USER) "
				  "and log in again"
				: "enable virtualisation in the firmware, or nested "
				  "virtualisation for this guest, and load kvm_intel or kvm_amd");
}

/* Whether they hold a sandbox is the trial of their backends; this is about what is there. */
static void kernel_tool(const char *name, const char *fix, struct doctor_row *ret)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	AUTO_CLOSE int fd = tool_open(name, path, why);

	if (fd >= 0)
		doctor_good(ret, "%s belongs to root, and nobody else can write it", path);
	else
		doctor_bad(ret, 0, why, fix);
}

void doctor_try_bwrap(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	kernel_tool("bwrap",
		    "apt install bubblewrap, or the package of that name elsewhere; native does "
		    "without it",
		    ret);
}

void doctor_try_nsjail(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	kernel_tool("nsjail",
		    "build nsjail and install it as root where there is no package; native does "
		    "without it",
		    ret);
}

void doctor_try_clone3(const struct doctor_context *c, struct doctor_row *ret)
{
	(void)c;
	doctor_good(ret, "started the process that says so");
}

void doctor_try_pidfd(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] = "use kernel 5.4 or newer" KERNEL_PROFILE;
	struct pollfd ready = {.events = POLLIN};
	struct proc_exit ended = {0};
	struct proc p = PROC_NONE;
	const pid_t parent = getpid();
	int r = proc_clone(0, &p);

	(void)c;
	if (r == 0) {
		if (proc_tie(parent) == 0)
			(void)pause();
		_exit(0);
	}
	if (r < 0) {
		doctor_bad(ret, -r, "start a process with a pidfd", fix);
		return;
	}
	ready.fd = p.pidfd;
	r = proc_signal(&p, SIGKILL);
	if (r < 0) {
		doctor_bad(ret, -r, "signal a process by its pidfd", fix);
		(void)kill(p.pid, SIGKILL); /* our own child, not reaped: the number is still its */
		return;
	}
	if (poll(&ready, 1, DOCTOR_PROBE_MS / 2) != 1 || proc_reap(&p, &ended) != 1 ||
	    ended.signal != SIGKILL)
		doctor_bad(ret, 0, "a pidfd did not tell that its process ended", fix);
	else
		doctor_good(ret, "signalled, polled and reaped a process by it");
	proc_done(&p);
}

void doctor_try_openat2(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] = "use kernel 5.6 or newer" KERNEL_PROFILE;
	AUTO_CLOSE int dir = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int inside = -1;
	AUTO_CLOSE int outside = -1;

	(void)c;
	if (dir < 0) {
		doctor_bad(ret, errno, "open /proc/self", "mount /proc");
		return;
	}
	inside = path_open_beneath(dir, "status", O_RDONLY, 0, 0);
	if (inside < 0) {
		doctor_bad(ret, -inside, "open a file beneath a directory", fix);
		return;
	}
	outside = path_open_beneath(dir, "../uptime", O_RDONLY, 0, 0);
	if (outside != -EXDEV)
		doctor_bad(ret, 0, "a path that leaves its directory was not refused", fix);
	else
		doctor_good(ret, "a path that leaves its directory is refused");
}

void doctor_try_close_range(const struct doctor_context *c, struct doctor_row *ret)
{
	static const char fix[] = "use kernel 5.9 or newer" KERNEL_PROFILE;
	int fd = open("/", O_PATH | O_CLOEXEC);

	(void)c;
	if (fd < 0)
		doctor_bad(ret, errno, "open /", "raise the limit of open files");
	else if (syscall(SYS_close_range, (unsigned)fd, (unsigned)fd, 0) < 0)
		doctor_bad(ret, errno, "close_range", fix);
	else if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
		doctor_bad(ret, 0, "the descriptor is still open", fix);
	else
		doctor_good(ret, "closed a descriptor");
}
