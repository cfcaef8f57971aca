/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of a sandbox: the kernel's operations that a launch needs, one after the other, and nothing else.
 * No policy is read, nothing is looked up, recorded or verified.  The layers can be chosen, to see what each
 * one costs at the start and while a command runs:
 *
 *   n  all namespaces, a root on tmpfs, /usr, /etc, /proc, /dev, /tmp and the workspace, pivot_root
 *   o  the workspace is an overlay (upper: the workspace), as it is where missing names are protected
 *   l  Landlock: everything can be read, /dev, /proc, /tmp and the workspace be written
 *   s  a system call filter: a program of struct sock_filter in the file FILTER
 *   c  what a contract adds to that, as its bare operations: 56 names that cannot be made (with o), files of /proc
 *      that are closed, no capability to be had again, a record before and one after
 *
 * Usage: sandbox_floor LAYERS WORKSPACE WORK FILTER COMMAND...
 * WORK: a directory on the file system of the workspace, for what the overlay needs; it is not cleaned up.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILTER_MAX 4096 /* instructions: what the kernel takes */
#define NAMES 56        /* about as many as cordon protects in an empty workspace */
#define RECORD_BYTES 512

extern char **environ;

static const char *layers;
static const char *workspace;
static char work[4096];
static char trail[4096];
static struct sock_filter filter[FILTER_MAX];
static struct sock_fprog program = {.filter = filter};

_Noreturn static void die(const char *what)
{
	(void)fprintf(stderr, "sandbox_floor: %s: %s\n", what, strerror(errno));
	_exit(125);
}

static long must(long r, const char *what)
{
	if (r < 0)
		die(what);
	return r;
}

static void write_text(const char *path, const char *text)
{
	int fd = (int)must(open(path, O_WRONLY | O_CLOEXEC), path);

	must(write(fd, text, strlen(text)), path);
	(void)close(fd);
}

static void bind_at(int root, const char *from, const char *to, uint64_t attrs)
{
	struct mount_attr attr = {.attr_set = attrs};
	int tree = (int)must(syscall(SYS_open_tree, AT_FDCWD, from,
				     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE),
			     from);

	if (attrs)
		must(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			     sizeof(attr)),
		     "mount_setattr");
	must(syscall(SYS_move_mount, tree, "", root, to, MOVE_MOUNT_F_EMPTY_PATH), to);
	(void)close(tree);
}

static int new_mount(const char *type, const char *const (*options)[2])
{
	int fs = (int)must(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), type);
	int tree;

	for (; options && (*options)[0]; options++)
		must(syscall(SYS_fsconfig, fs,
			     (*options)[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, (*options)[0],
			     (*options)[1], 0),
		     (*options)[0]);
	must(syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0), type);
	tree = (int)must(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0), type);
	(void)close(fs);
	return tree;
}

static void mount_at(int root, const char *type, const char *const (*options)[2], const char *to)
{
	int tree = new_mount(type, options);

	must(syscall(SYS_move_mount, tree, "", root, to, MOVE_MOUNT_F_EMPTY_PATH), to);
	(void)close(tree);
}

/* Makes the directories of an absolute path below root. */
static void make_path(int root, const char *path)
{
	char part[4096];

	for (const char *slash = path + 1; slash;
	     slash = strchr(slash, '/') ? strchr(slash, '/') + 1 : NULL) {
		const char *end = strchr(slash, '/');
		size_t len = end ? (size_t)(end - path - 1) : strlen(path + 1);

		if (len >= sizeof(part))
			_exit(125);
		memcpy(part, path + 1, len);
		part[len] = '\0';
		(void)mkdirat(root, part, 0755); /* or it is there */
	}
}

static void mount_dev(int root)
{
	static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
	static const char *const pts[][2] = {{"mode", "0620"}, {"ptmxmode", "0666"}, {0}};
	char path[32];

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		(void)snprintf(path, sizeof(path), "/dev/%s", nodes[i]);
		must(mknodat(root, path + 1, S_IFREG | 0644, 0), path);
		bind_at(root, path, path + 1, 0);
	}
	must(mkdirat(root, "dev/pts", 0755), "dev/pts");
	mount_at(root, "devpts", pts, "dev/pts");
}

/* Names in the lower layer, held so that nobody's file takes their place. */
static void make_names(int lower)
{
	char name[16];

	for (int i = 0; i < NAMES; i++) {
		(void)snprintf(name, sizeof(name), ".name-%d", i);
		must(mknodat(lower, name, S_IFSOCK | 0444, 0), name);
	}
}

static void hold_names(int root)
{
	char name[4200];

	for (int i = 0; i < NAMES; i++) {
		(void)snprintf(name, sizeof(name), "%s/.name-%d", workspace + 1, i);
		must(openat(root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), name);
	}
}

static void close_proc(int root)
{
	static const char *const files[] = {"kcore",      "kmsg",     "kpagecgroup",  "kpagecount",
					    "kpageflags", "slabinfo", "timer_list",   "vmallocinfo",
					    "key-users",  "keys",     "sysrq-trigger"};
	char path[64];

	must(mknodat(root, "closed", S_IFREG, 0), "closed");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int tree = (int)must(syscall(SYS_open_tree, root, "closed",
					     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
				     "closed");

		(void)snprintf(path, sizeof(path), "proc/%s", files[i]);
		(void)syscall(SYS_move_mount, tree, "", root, path, MOVE_MOUNT_F_EMPTY_PATH);
		(void)close(tree);
	}
}

/* A line at the end of a file, under a lock. */
static void record(void)
{
	char line[RECORD_BYTES];
	int fd = (int)must(open(trail, O_RDWR | O_CREAT | O_CLOEXEC, 0600), trail);
	off_t end;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	must(flock(fd, LOCK_EX), trail);
	end = (off_t)must(lseek(fd, 0, SEEK_END), trail);
	must(pwrite(fd, line, sizeof(line), end), trail);
	(void)close(fd);
}

static void mount_workspace(int root)
{
	int names;

	char lower[4200];
	const char *const options[][2] = {{"lowerdir", lower}, {"upperdir", workspace},
					  {"workdir", work},   {"userxattr", NULL},
					  {"index", "off"},    {"xino", "off"},
					  {"volatile", NULL},  {0}};

	make_path(root, workspace);
	if (!strchr(layers, 'o')) {
		bind_at(root, workspace, workspace + 1, MOUNT_ATTR_NOSUID);
		return;
	}
	must(mkdirat(root, ".lower", 0755), "lower");
	names = (int)must(openat(root, ".lower", O_PATH | O_CLOEXEC), "lower");
	if (strchr(layers, 'c'))
		make_names(names);
	(void)snprintf(lower, sizeof(lower), "/proc/self/fd/%d", names);
	mount_at(root, "overlay", options, workspace + 1);
	if (strchr(layers, 'c'))
		hold_names(root);
}

static void build_root(void)
{
	static const char *const dirs[] = {"usr", "etc", "proc", "dev", "tmp"};
	static const char *const links[] = {"bin", "sbin", "lib", "lib64"};
	struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
	char target[32];
	int root;

	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	root = new_mount("tmpfs", NULL);
	must(syscall(SYS_move_mount, root, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH), "root");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		must(mkdirat(root, dirs[i], 0755), dirs[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		(void)snprintf(target, sizeof(target), "usr/%s", links[i]);
		must(symlinkat(target, root, links[i]), links[i]);
	}
	bind_at(root, "/usr", "usr", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
	bind_at(root, "/etc", "etc", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
	mount_at(root, "proc", NULL, "proc");
	if (strchr(layers, 'c'))
		close_proc(root);
	mount_dev(root);
	mount_at(root, "tmpfs", NULL, "tmp");
	mount_workspace(root);
	must(syscall(SYS_mount_setattr, root, "", AT_EMPTY_PATH, &read_only, sizeof(read_only)),
	     "read-only root");
	must(fchdir(root), "enter");
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "detach");
}

static void landlock_allow(int set, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = rights,
		.parent_fd = (int)must(open(path, O_PATH | O_CLOEXEC), path),
	};

	must(syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), path);
	(void)close(rule.parent_fd);
}

static void apply_landlock(void)
{
	const uint64_t all = (UINT64_C(1) << 15) - 1; /* those of ABI 3: up to truncation */
	const uint64_t reads = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
			       LANDLOCK_ACCESS_FS_READ_DIR;
	struct landlock_ruleset_attr attr = {.handled_access_fs = all};
	int set =
		(int)must(syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0), "landlock");

	landlock_allow(set, "/", reads);
	landlock_allow(set, "/dev", all);
	landlock_allow(set, "/proc", all);
	landlock_allow(set, "/tmp", all);
	landlock_allow(set, workspace, all);
	must(syscall(SYS_landlock_restrict_self, set, 0), "landlock");
	(void)close(set);
}

/* In the first process of the namespaces. */
_Noreturn static void inside(int go, char **command)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int status = 0;
	char byte;
	pid_t pid;
	int fd;

	must(read(go, &byte, 1), "wait");
	fd = (int)must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
	must(ioctl(fd, SIOCSIFFLAGS, &lo), "loopback");
	(void)close(fd);
	build_root();
	must(chdir(workspace), workspace);
	for (int cap = 0; strchr(layers, 'c') && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	if (strchr(layers, 'l'))
		apply_landlock();
	if (strchr(layers, 's'))
		must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), "seccomp");
	pid = vfork();
	if (pid == 0) {
		(void)execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(125);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void map_ids(pid_t pid)
{
	char path[64];
	char text[64];

	if (geteuid() != 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/setgroups", (int)pid);
		write_text(path, "deny");
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	(void)snprintf(text, sizeof(text), "%u %u 1", geteuid(), geteuid());
	write_text(path, text);
	(void)snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	(void)snprintf(text, sizeof(text), "%u %u 1", getegid(), getegid());
	write_text(path, text);
}

int main(int argc, char **argv)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			 CLONE_NEWUTS | CLONE_NEWCGROUP,
		.exit_signal = SIGCHLD,
	};
	int status = 0;
	int pair[2];
	pid_t pid;

	if (argc < 6)
		return 2;
	layers = argv[1];
	workspace = argv[2];
	/* A new one each time: overlayfs takes none that a volatile mount has left. */
	(void)snprintf(work, sizeof(work), "%s/%d", argv[3], (int)getpid());
	if (strchr(layers, 'o'))
		must(mkdir(work, 0700), work);
	if (strchr(layers, 's')) {
		int fd = (int)must(open(argv[4], O_RDONLY | O_CLOEXEC), argv[4]);
		ssize_t n = must(read(fd, filter, sizeof(filter)), argv[4]);

		program.len = (unsigned short)((size_t)n / sizeof(*filter));
		(void)close(fd);
	}
	(void)snprintf(trail, sizeof(trail), "%s/trail", argv[3]);
	if (strchr(layers, 'c'))
		record();
	must(pipe2(pair, O_CLOEXEC), "pipe");
	pid = (pid_t)must(syscall(SYS_clone3, &args, sizeof(args)), "clone3");
	if (pid == 0)
		inside(pair[0], argv + 5);
	map_ids(pid);
	must(write(pair[1], "", 1), "go");
	if (waitpid(pid, &status, 0) != pid)
		return 125;
	if (strchr(layers, 'c'))
		record();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
