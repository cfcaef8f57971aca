/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-hold: the first process of a container that stays, and the parent of every command in it.  Static: the image
 * need not have a library, a shell or anything else.
 *
 *   hold [none]            looks whether the container is what was asked for, and waits; none: and has no network
 *   hold run COMMAND...    runs a command; when standard input ends it and all that it started are killed
 *
 * An engine has no request that ends a command.  So the engine's standard input is the tie: its other end is a process
 * of cordon's, and goes with that, however that ends.  Commands have none of their own.
 *
 * A command is the same user as its parent and may stop it, kill it or take its descriptors away.  So the first process
 * looks, too, as long as there is anybody: it has no children of its own but what a parent that was killed leaves, and
 * ends those.  Who cannot make sure that nothing is left ends the container.
 */
#include "backend/devenv/hold.h"

#include "backend/confine/seccomp.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOLD_KILL_ROUNDS 1000 /* each ends a generation of processes */
#define HOLD_LIST_BYTES 65536
#define HOLD_STAT_BYTES 512
#define HOLD_CHECKED "cordon-held" /* the name of the first process once it has looked */
#define HOLD_LOOK_MS 20
#define HOLD_LOOKS 500
#define HOLD_WATCH_NS                                                                              \
	250000000          /* between two looks of the first process while there are commands */
#define HOLD_BEGIN SIGUSR1 /* to the first process: one begins */
#define HOLD_END_S 10      /* for the container to end */

static void hold_say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text)); /* nobody else to tell */
}

static bool hold_has_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		if (data[i].effective | data[i].permitted | data[i].inheritable)
			return true;
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			return true;
	return false;
}

/* Reads a small file as text. */
static bool hold_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Any interface but loopback.  Each has a line with a colon. */
static bool hold_has_network(void)
{
	static char text[HOLD_LIST_BYTES];
	size_t n = 0;

	if (!hold_read("/proc/net/dev", text, sizeof(text)))
		return true;
	for (const char *p = text; (p = strchr(p, ':')); p++)
		n++;
	return n > 1;
}

/* Our filter, whatever there is of the engine's: a runtime with a kernel of its own may leave that out, and it lets a
 * command trace others.  0 or -errno. */
static int hold_filter(void)
{
	static const struct seccomp_policy policy = {
		.allows_inet = true,
		.allows_unix = true,
		.allows_netlink_route = true,
		.denies_set_id = true,
		.lacks_link_attributes = true,
	};
	static struct seccomp_program program;
	int r;

	r = seccomp_build(&policy, &program);
	if (r == 0)
		r = seccomp_install(&program);
	if (r < 0)
		return r;
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER ? 0 : -EPERM;
}

/* access() says so to who could write there but for that: a root that nobody may write (podman makes its own 0555) is an
 * error of another kind, and may be one that somebody else can write.  Then the mount has to say it. */
static bool hold_is_read_only(void)
{
	struct statvfs fs;

	if (access("/", W_OK) == 0)
		return false;
	return errno == EROFS ||
	       (errno == EACCES && statvfs("/", &fs) == 0 && (fs.f_flag & ST_RDONLY));
}

/* The end state is looked at, whatever the engine said to each request. */
static int hold_check(bool has_no_network)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return HOLD_EXIT_PRIVILEGES;
	if (hold_filter() < 0)
		return HOLD_EXIT_SECCOMP;
	if (hold_has_capabilities())
		return HOLD_EXIT_CAPABILITIES;
	if (!hold_is_read_only())
		return HOLD_EXIT_WRITABLE;
	if (has_no_network && hold_has_network())
		return HOLD_EXIT_NETWORK;
	return 0;
}

/* Commands start when the first process has looked: if the container is not what was asked for, it ends with all of them. */
static bool hold_is_checked(void)
{
	const struct timespec pause = {.tv_nsec = HOLD_LOOK_MS * 1000000L};
	char name[32];

	for (int i = 0; i < HOLD_LOOKS; i++) {
		if (hold_read("/proc/1/comm", name, sizeof(name)) &&
		    strcmp(name, HOLD_CHECKED "\n") == 0)
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

/* The number that a text of the kernel's begins with; 0 for none. */
static pid_t hold_number(const char *p)
{
	pid_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (*p - '0');
	return n;
}

/* Kills a child of ours; and as the first process also a parent of commands that was stopped, and so follows no tie: what it
 * leaves is ours next.  1 for a child, 0 for another one (also when it has gone), or -errno when nobody knows. */
static int hold_kill_ours(const char *pid)
{
	char path[64];
	char text[HOLD_STAT_BYTES];
	const char *p;
	pid_t parent;

	if ((size_t)snprintf(path, sizeof(path), "/proc/%s/stat", pid) >= sizeof(path))
		return -EINVAL;
	errno = 0;
	if (!hold_read(path, text, sizeof(text)))
		return errno == ENOENT || errno == ESRCH ? 0 : -EIO;
	/* A name may hold anything.  After it come a space, the state and the parent. */
	p = strrchr(text, ')');
	if (!p || strlen(p) <= 4)
		return -EINVAL;
	parent = hold_number(p + 4);
	if (parent == getpid() || (getpid() == 1 && parent == 0 && (p[2] == 'T' || p[2] == 't')))
		(void)kill(hold_number(pid), SIGKILL); /* or it has ended */
	return parent == getpid();
}

/* Kills our children, as /proc lists them: not every kernel has a list of them alone.  How many there were, or -errno when the list
 * cannot be had; *ret_others: is there anybody at all beside us? */
static int hold_kill_children(bool *ret_others)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	bool has_others = false;
	int r = 0;
	int n = 0;

	if (!dir)
		return -errno;
	errno = 0;
	while (r >= 0 && (d = readdir(dir))) {
		pid_t pid = hold_number(d->d_name);

		if (pid > 0 && pid != getpid()) {
			has_others = true;
			r = hold_kill_ours(d->d_name);
			n += r > 0;
		}
		errno = 0;
	}
	if (r >= 0 && errno)
		r = -errno;
	(void)closedir(dir);
	*ret_others = has_others;
	return r < 0 ? r : n;
}

/* Kills our children until there is none: theirs become ours.  False when that is not sure. */
static bool hold_kill_all(bool *ret_others)
{
	for (int i = 0; i < HOLD_KILL_ROUNDS; i++) {
		int n = hold_kill_children(ret_others);

		if (n < 0)
			return false;
		/* One that was born since is in the next list. */
		if (waitpid(-1, NULL, n > 0 ? 0 : WNOHANG) < 0 && errno == ECHILD)
			return true;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return false;
}

/* What is orphaned in the container comes to its first process, and should not be there.  The container ends with us. */
static int hold_wait(void)
{
	const struct timespec watch = {.tv_nsec = HOLD_WATCH_NS};
	bool has_others = false;
	sigset_t set;
	int sig;

	(void)sigemptyset(&set); /* cannot fail with these */
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, HOLD_BEGIN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	/* From now on a command can begin: it is told to us, and waits for this name. */
	if (prctl(PR_SET_NAME, HOLD_CHECKED, 0, 0, 0) < 0)
		return HOLD_EXIT_TROUBLE;
	for (;;) {
		sig = has_others ? sigtimedwait(&set, NULL, &watch) : sigwaitinfo(&set, NULL);
		if (sig == SIGTERM)
			return 0;
		if (!hold_kill_all(&has_others))
			return HOLD_EXIT_TROUBLE;
	}
}

/* Somebody may be left of this command: everything ends with the container. */
_Noreturn static void hold_give_up(void)
{
	struct timespec left = {.tv_sec = HOLD_END_S};

	hold_say("cordon: what this command started could not be ended: the container is\n");
	(void)kill(1, SIGTERM); /* or it has ended */
	(void)nanosleep(&left, NULL);
	_exit(HOLD_EXIT_TROUBLE);
}

/* Until the command has ended, or the tie has.  signals: tells of children that ended; no pidfd, which gVisor has not. */
static int hold_follow(pid_t command, int signals)
{
	struct pollfd polls[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				 {.fd = signals, .events = POLLIN}};
	char bytes[512];
	int status = 0;
	pid_t pid = 0;

	while (pid == 0) {
		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return HOLD_EXIT_TROUBLE;
		if (polls[1].revents && read(signals, bytes, sizeof(bytes)) > 0)
			pid = waitpid(command, &status, WNOHANG);
		if (pid == 0 && polls[0].revents && read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0)
			return 128 + SIGKILL;
	}
	if (pid != command)
		return HOLD_EXIT_TROUBLE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In the child. */
_Noreturn static void hold_execute(char **argv, int null, const sigset_t *mask)
{
	int code;

	if (dup2(null, STDIN_FILENO) < 0 || setsid() < 0 || hold_filter() < 0 ||
	    sigprocmask(SIG_SETMASK, mask, NULL) < 0)
		_exit(HOLD_EXIT_TROUBLE);
	(void)execvp(argv[0], argv);
	code = errno == ENOENT ? 127 : 126;
	hold_say("cordon: ");
	hold_say(argv[0]);
	hold_say(code == 127 ? ": command not found in the container\n"
			     : ": cannot be executed in the container\n");
	_exit(code);
}

static int hold_run(char **argv)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t ended;
	sigset_t mask;
	bool has_others;
	pid_t command;
	int signals;
	int code;

	(void)sigemptyset(&ended); /* cannot fail with these */
	(void)sigaddset(&ended, SIGCHLD);
	/* Nobody inside gets at our memory or descriptors; and the first process is to look. */
	if (null < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 || !hold_is_checked() ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || kill(1, HOLD_BEGIN) < 0 ||
	    sigprocmask(SIG_BLOCK, &ended, &mask) < 0)
		return HOLD_EXIT_TROUBLE;
	signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	command = signals < 0 ? -1 : fork();
	if (command == 0)
		hold_execute(argv, null, &mask);
	code = command < 0 ? HOLD_EXIT_TROUBLE : hold_follow(command, signals);
	if (!hold_kill_all(&has_others))
		hold_give_up();
	return code;
}

int main(int argc, char **argv)
{
	int r;

	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return hold_run(argv + 2);
	r = hold_check(/* has_no_network= */ argc > 1 && strcmp(argv[1], HOLD_NO_NETWORK) == 0);
	if (r == 0 && prctl(PR_SET_DUMPABLE, 0) < 0)
		r = HOLD_EXIT_TROUBLE;
	return r ? r : hold_wait();
}
