/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock, live.  Each act is tried in a fresh tree by a child of its own: without Landlock (the control),
 * and for every ABI with every kind of access granted to the tree, and with none.
 */
#include "backend/confine/landlock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534
#define CHILD_FAILED 199
#define NO_RULE LANDLOCK_ACCESS_COUNT /* the tree is granted to nobody */
#define NO_LANDLOCK (-1)
#define RULES_MAX 8

static int kernel_abi;
static char base[] = "/tmp/cordon-landlock-XXXXXX";

static int err_of(long r)
{
	return r < 0 ? errno : 0;
}

/* The tree: in/{file,exe,link -> ../out/file,a/,b/,a/f,empty/}, out/file. */
static void make_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(CHILD_FAILED);
	(void)close(fd);
}

static void make_program(const char *name)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int to = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char bytes[65536];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			_exit(CHILD_FAILED);
	if (n < 0 || to < 0)
		_exit(CHILD_FAILED);
	(void)close(from);
	(void)close(to);
}

static void make_tree(void)
{
	static const char *const dirs[] = {"in", "in/a", "in/b", "in/empty", "out"};
	char dir[256];

	(void)snprintf(dir, sizeof(dir), "%s/XXXXXX", base);
	if (!mkdtemp(dir) || chdir(dir) < 0)
		_exit(CHILD_FAILED);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdir(dirs[i], 0755) < 0)
			_exit(CHILD_FAILED);
	make_file("in/file", "inside", 0644);
	make_file("in/a/f", "f", 0644);
	make_file("out/file", "secret", 0644);
	make_program("in/exe");
	if (symlink("../out/file", "in/link") < 0)
		_exit(CHILD_FAILED);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Acts: 0 or an errno. */
static int act_read(void)
{
	return err_of(open("in/file", O_RDONLY | O_CLOEXEC));
}

static int act_list(void)
{
	return err_of(open("in/a", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int act_write(void)
{
	return err_of(open("in/file", O_WRONLY | O_CLOEXEC));
}

static int act_create(void)
{
	return err_of(open("in/new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

static int act_truncate(void)
{
	return err_of(truncate("in/file", 0));
}

static int act_open_truncate(void)
{
	return err_of(open("in/file", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int act_rename(void)
{
	return err_of(rename("in/a/f", "in/a/g"));
}

static int act_rename_across(void)
{
	return err_of(rename("in/a/f", "in/b/f"));
}

static int act_link(void)
{
	return err_of(link("in/a/f", "in/a/g"));
}

static int act_link_across(void)
{
	return err_of(link("in/a/f", "in/b/f"));
}

/* Would take a file of outside in under its rights. */
static int act_link_in(void)
{
	return err_of(link("out/file", "in/stolen"));
}

static int act_unlink(void)
{
	return err_of(unlink("in/file"));
}

static int act_rmdir(void)
{
	return err_of(rmdir("in/empty"));
}

static int act_mkdir(void)
{
	return err_of(mkdir("in/new", 0700));
}

static int act_symlink(void)
{
	return err_of(symlink("x", "in/new"));
}

static int act_mkfifo(void)
{
	return err_of(mkfifo("in/new", 0600));
}

static int act_device(void)
{
	return err_of(mknod("in/new", S_IFCHR | 0600, 0)); /* 0:0, which needs no capability */
}

static int act_socket(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "in/new"};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return err_of(bind(fd, (struct sockaddr *)&name, sizeof(name)));
}

static int act_exec(void)
{
	char name[] = "in/exe";
	char *const argv[] = {name, NULL};

	return err_of(execv(name, argv)); /* true: 0 */
}

static int act_ioctl(void)
{
	struct termios t;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : err_of(ioctl(fd, TCGETS, &t));
}

static int act_escape_symlink(void)
{
	return err_of(open("in/link", O_RDONLY | O_CLOEXEC));
}

static int act_escape_dots(void)
{
	return err_of(open("in/../out/file", O_RDONLY | O_CLOEXEC));
}

static int act_escape_proc(void)
{
	char cwd[256], path[600];

	/* getcwd() itself is no access */
	if (!getcwd(cwd, sizeof(cwd)))
		return CHILD_FAILED;
	(void)snprintf(path, sizeof(path), "/proc/self/root%s/out/file", cwd);
	return err_of(open(path, O_RDONLY | O_CLOEXEC));
}

static int act_escape_proc_cwd(void)
{
	return err_of(open("/proc/self/cwd/out/file", O_RDONLY | O_CLOEXEC));
}

struct act {
	const char *what;
	int (*act)(void);
	int control; /* without Landlock */
	int since;   /* the ABI that knows the right; below it the answer is the control's */
	int want[LANDLOCK_ACCESS_COUNT +
		 1]; /* read, read-noexec, write, write-noexec, list, no rule */
	int abi1[LANDLOCK_ACCESS_COUNT + 1]; /* of has_abi1: the answers there */
	bool has_abi1;
};

static const struct act acts[] = {
	{"read", act_read, 0, 1, {0, 0, 0, 0, EACCES, EACCES}},
	{"list", act_list, 0, 1, {0, 0, 0, 0, 0, EACCES}},
	{"write", act_write, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"create", act_create, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"truncate", act_truncate, 0, 3, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"open with O_TRUNC", act_open_truncate, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"rename", act_rename, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"rename across directories",
	 act_rename_across,
	 0,
	 1,
	 {EACCES, EACCES, 0, 0, EACCES, EACCES},
	 {EACCES, EACCES, EXDEV, EXDEV, EACCES, EACCES},
	 true},
	{"link", act_link, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"link across directories",
	 act_link_across,
	 0,
	 1,
	 {EACCES, EACCES, 0, 0, EACCES, EACCES},
	 {EACCES, EACCES, EXDEV, EXDEV, EACCES, EACCES},
	 true},
	{"link a file of outside",
	 act_link_in,
	 0,
	 1,
	 {EACCES, EACCES, EXDEV, EXDEV, EACCES, EACCES}},
	{"unlink", act_unlink, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"rmdir", act_rmdir, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"mkdir", act_mkdir, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"symlink", act_symlink, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"mkfifo", act_mkfifo, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"device node", act_device, 0, 1, {EACCES, EACCES, EACCES, EACCES, EACCES, EACCES}},
	{"socket", act_socket, 0, 1, {EACCES, EACCES, 0, 0, EACCES, EACCES}},
	{"execute", act_exec, 0, 1, {0, EACCES, 0, EACCES, EACCES, EACCES}},
	{"ioctl on a device",
	 act_ioctl,
	 ENOTTY,
	 5,
	 {EACCES, EACCES, ENOTTY, ENOTTY, EACCES, EACCES}},
	{"symlink to outside",
	 act_escape_symlink,
	 0,
	 1,
	 {EACCES, EACCES, EACCES, EACCES, EACCES, EACCES}},
	{"..", act_escape_dots, 0, 1, {EACCES, EACCES, EACCES, EACCES, EACCES, EACCES}},
	{"/proc/self/root", act_escape_proc, 0, 1, {EACCES, EACCES, EACCES, EACCES, EACCES, EACCES}},
	{"/proc/self/cwd",
	 act_escape_proc_cwd,
	 0,
	 1,
	 {EACCES, EACCES, EACCES, EACCES, EACCES, EACCES}},
};

static int open_path(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		_exit(CHILD_FAILED);
	return fd;
}

/* The system for execve(), /proc, and what is tested. */
static void apply(int abi, enum landlock_access access)
{
	struct landlock_rule rules[RULES_MAX] = {
		{open_path("/usr"), true, LANDLOCK_READ},
		{open_path("/lib"), true, LANDLOCK_READ},
		{open_path("/proc"), true, LANDLOCK_READ},
		{open_path("/etc"), true, LANDLOCK_READ},
	};
	struct landlock_policy p = {.abi = abi, .rules = rules, .n = 4};

	if (access != NO_RULE) {
		rules[p.n++] = (struct landlock_rule){open_path("in"), true, access};
		if (access != LANDLOCK_LIST) /* files have no entries */
			rules[p.n++] =
				(struct landlock_rule){open_path("/dev/zero"), false, access};
	}
	if (landlock_apply(&p) < 0)
		_exit(CHILD_FAILED);
}

static void become_nobody(void)
{
	if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		_exit(CHILD_FAILED);
}

static int finish(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int try_act(const struct act *a, int abi, enum landlock_access access, bool as_nobody)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (as_nobody)
			become_nobody();
		make_tree();
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(CHILD_FAILED);
		if (abi != NO_LANDLOCK)
			apply(abi, access);
		_exit(a->act());
	}
	return finish(pid);
}

static int wanted(const struct act *a, int abi, unsigned access)
{
	if (abi == 1 && a->has_abi1)
		return a->abi1[access];
	/* a device must be opened first, and that is a right of ABI 1 */
	if (a->act == act_ioctl && (access == NO_RULE || access == LANDLOCK_LIST))
		return EACCES;
	return abi < a->since ? a->control : a->want[access];
}

static size_t pass(int first_abi, bool as_nobody)
{
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		int got = try_act(&acts[i], NO_LANDLOCK, NO_RULE, as_nobody);

		if (got != acts[i].control) {
			print_error("%s: no control: %d\n", acts[i].what, got);
			wrong++;
		}
		for (int abi = first_abi; abi <= kernel_abi; abi++)
			for (unsigned access = 0; access <= NO_RULE; access++) {
				int want = wanted(&acts[i], abi, access);

				got = try_act(&acts[i], abi, (enum landlock_access)access,
					      as_nobody);
				if (got == want)
					continue;
				print_error("%s, ABI %d, %s: want %d, got %d\n", acts[i].what, abi,
					    access == NO_RULE
						    ? "no rule"
						    : landlock_access_name(
							      (enum landlock_access)access),
					    want, got);
				wrong++;
			}
	}
	return wrong;
}

static void need_landlock(void)
{
	if (kernel_abi == 0) {
		print_message("# skip: kernel without Landlock\n");
		skip();
	}
}

static void test_acts(void **state)
{
	(void)state;
	need_landlock();
	assert_int_equal(pass(1, /* as_nobody= */ false), 0);
}

static void test_acts_as_nobody(void **state)
{
	(void)state;
	need_landlock();
	if (geteuid() != 0) {
		print_message("# skip: not root\n");
		skip();
	}
	assert_int_equal(pass(kernel_abi, /* as_nobody= */ true), 0);
}

/* The masks, against the kernel's documentation rather than our table. */
static void test_masks(void **state)
{
	static const struct {
		int abi;
		enum landlock_access access;
		bool is_dir;
		uint64_t want;
	} rows[] = {
		{1, LANDLOCK_READ, true, 0xd},
		{1, LANDLOCK_READ, false, 0x5},
		{1, LANDLOCK_READ_NOEXEC, true, 0xc},
		{1, LANDLOCK_READ_NOEXEC, false, 0x4},
		{1, LANDLOCK_WRITE, true, 0x17bf},
		{1, LANDLOCK_WRITE, false, 0x7},
		{2, LANDLOCK_WRITE, true, 0x37bf},
		{2, LANDLOCK_WRITE, false, 0x7},
		{3, LANDLOCK_WRITE, true, 0x77bf},
		{3, LANDLOCK_WRITE, false, 0x4007},
		{4, LANDLOCK_WRITE, true, 0x77bf},
		{5, LANDLOCK_WRITE, true, 0xf7bf},
		{5, LANDLOCK_WRITE, false, 0xc007},
		{7, LANDLOCK_WRITE, true, 0xf7bf},
		{7, LANDLOCK_WRITE_NOEXEC, true, 0xf7be},
		{7, LANDLOCK_WRITE_NOEXEC, false, 0xc006},
		{7, LANDLOCK_READ, true, 0xd},
		{7, LANDLOCK_READ_NOEXEC, true, 0xc},
		{7, LANDLOCK_ACCESS_COUNT, true, 0},
	};
	static const uint64_t handled[] = {0,      0x1fff, 0x3fff, 0x7fff,
					   0x7fff, 0xffff, 0xffff, 0xffff};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(landlock_rights(rows[i].abi, rows[i].access, rows[i].is_dir),
				 rows[i].want);
	assert_int_equal(ARRAY_LEN(handled), LANDLOCK_ABI_KNOWN + 1);
	for (size_t abi = 0; abi < ARRAY_LEN(handled); abi++)
		assert_int_equal(landlock_handled((int)abi), handled[abi]);
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_equal(landlock_right_name(bit) != NULL, bit < 16);
}

/* Runs fn in a child with no_new_privs. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		make_tree();
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(CHILD_FAILED);
		_exit(fn());
	}
	return finish(pid);
}

static int apply_one(int abi, int fd, bool is_dir, enum landlock_access access)
{
	struct landlock_rule rule = {fd, is_dir, access};
	struct landlock_policy p = {.abi = abi, .rules = &rule, .n = 1};

	return -landlock_apply(&p);
}

static int wrong_dir_rights_on_file(void)
{
	return apply_one(kernel_abi, open_path("in/file"), true, LANDLOCK_READ);
}

static int wrong_file_rights_on_dir(void)
{
	if (apply_one(kernel_abi, open_path("in"), false, LANDLOCK_READ) != 0)
		return CHILD_FAILED;
	return act_read() == 0 ? act_list() : CHILD_FAILED; /* files beneath, but no listing */
}

static int wrong_fd(void)
{
	return apply_one(kernel_abi, -1, true, LANDLOCK_READ);
}

static int wrong_access(void)
{
	return apply_one(kernel_abi, open_path("in"), true, LANDLOCK_ACCESS_COUNT);
}

static int wrong_abi_zero(void)
{
	return apply_one(0, open_path("in"), true, LANDLOCK_READ);
}

static int wrong_abi_unknown(void)
{
	return apply_one(LANDLOCK_ABI_KNOWN + 1, open_path("in"), true, LANDLOCK_READ);
}

/* After a failure nothing is confined. */
static int wrong_then_free(void)
{
	return wrong_dir_rights_on_file() == EINVAL ? act_write() : CHILD_FAILED;
}

static int wrong_tcp_on_old_abi(void)
{
	return -landlock_apply(&(struct landlock_policy){.abi = 3, .denies_tcp = true});
}

static int wrong_signals_on_old_abi(void)
{
	return -landlock_apply(&(struct landlock_policy){.abi = 5, .scopes_signals = true});
}

static int wrong_abstract_on_old_abi(void)
{
	return -landlock_apply(&(struct landlock_policy){.abi = 5, .scopes_abstract_unix = true});
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *what;
		int (*fn)(void);
		int want;
	} rows[] = {
		{"rights of directories on a file", wrong_dir_rights_on_file, EINVAL},
		{"rights of files on a directory", wrong_file_rights_on_dir, EACCES},
		{"bad descriptor", wrong_fd, EBADF},
		{"no such access", wrong_access, EINVAL},
		{"no ABI", wrong_abi_zero, EOPNOTSUPP},
		{"an ABI of the future", wrong_abi_unknown, EOPNOTSUPP},
		{"a failure leaves the process as it was", wrong_then_free, 0},
		{"TCP before ABI 4", wrong_tcp_on_old_abi, EOPNOTSUPP},
		{"signals before ABI 6", wrong_signals_on_old_abi, EOPNOTSUPP},
		{"abstract sockets before ABI 6", wrong_abstract_on_old_abi, EOPNOTSUPP},
	};
	pid_t pid;

	(void)state;
	need_landlock();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int got = in_child(rows[i].fn);

		if (got != rows[i].want)
			fail_msg("%s: want %d, got %d", rows[i].what, rows[i].want, got);
	}
	pid = fork();
	if (pid == 0)
		_exit(-landlock_apply(&(struct landlock_policy){.abi = kernel_abi}));
	assert_int_equal(finish(pid), EPERM); /* without no_new_privs, root too */
}

/* Documented: what was open stays open; a directory that was open is a path like any other. */
static int descriptors(void)
{
	int file = open("out/file", O_RDWR | O_CLOEXEC), dir = open("out", O_PATH | O_CLOEXEC);
	char c;

	apply(kernel_abi, LANDLOCK_READ);
	if (read(file, &c, 1) != 1 || c != 's' || write(file, &c, 1) != 1)
		return CHILD_FAILED;
	return err_of(openat(dir, "file", O_RDONLY | O_CLOEXEC));
}

static void test_descriptors(void **state)
{
	(void)state;
	need_landlock();
	assert_int_equal(in_child(descriptors), EACCES);
}

/* Network and scopes: the other side is our own process, outside the domain. */
static in_port_t port; /* network order; somebody listens */
static struct sockaddr_un abstract = {.sun_family = AF_UNIX};
static socklen_t abstract_len;

static int net_connect(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port};

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return err_of(connect(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
			      (struct sockaddr *)&to, sizeof(to)));
}

static int net_bind(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET};

	return err_of(bind(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), (struct sockaddr *)&to,
			   sizeof(to)));
}

static int scope_signal(void)
{
	return err_of(kill(getppid(), 0));
}

static int scope_signal_inside(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(pause());
	return err_of(kill(pid, SIGKILL));
}

static int scope_abstract(void)
{
	return err_of(connect(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
			      (struct sockaddr *)&abstract, abstract_len));
}

struct scope {
	const char *what;
	int (*act)(void);
	struct landlock_policy policy;
	int want;
};

static const struct scope scopes[] = {
	{"connect", net_connect, {.abi = 4, .denies_tcp = true}, EACCES},
	{"connect, not asked for", net_connect, {.abi = 4}, 0},
	{"bind", net_bind, {.abi = 4, .denies_tcp = true}, EACCES},
	{"bind, not asked for", net_bind, {.abi = 4}, 0},
	{"signal", scope_signal, {.abi = 6, .scopes_signals = true}, EPERM},
	{"signal, not asked for", scope_signal, {.abi = 6, .scopes_abstract_unix = true}, 0},
	{"signal to a child", scope_signal_inside, {.abi = 6, .scopes_signals = true}, 0},
	{"abstract socket", scope_abstract, {.abi = 6, .scopes_abstract_unix = true}, EPERM},
	{"abstract socket, not asked for", scope_abstract, {.abi = 6, .scopes_signals = true}, 0},
	{"abstract socket, ABI 7",
	 scope_abstract,
	 {.abi = 7, .scopes_abstract_unix = true, .denies_tcp = true, .scopes_signals = true},
	 EPERM},
};

static int try_scope(const struct scope *s, bool is_confined)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    (is_confined && landlock_apply(&s->policy) < 0))
			_exit(CHILD_FAILED);
		_exit(s->act());
	}
	return finish(pid);
}

static void test_network_and_scopes(void **state)
{
	struct sockaddr_in name = {.sin_family = AF_INET};
	socklen_t len = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	need_landlock();
	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(listen(listener, 64), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &len), 0);
	port = name.sin_port;
	abstract_len =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			    (size_t)snprintf(abstract.sun_path + 1, 64, "cordon-%d", getpid()));
	assert_int_equal(bind(receiver, (struct sockaddr *)&abstract, abstract_len), 0);
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		int control = try_scope(&scopes[i], false);

		if (control != 0)
			fail_msg("%s: no control: %d", scopes[i].what, control);
		if (scopes[i].policy.abi <= kernel_abi)
			assert_int_equal(try_scope(&scopes[i], true), scopes[i].want);
	}
	if (kernel_abi >= LANDLOCK_ABI_TCP) {
		struct scope one = {"one port", net_connect, {.abi = 4, .denies_tcp = true}, 0};

		one.policy.tcp_port = ntohs(port);
		assert_int_equal(try_scope(&one, true), 0);
		one.policy.tcp_port ^= 1; /* another one */
		assert_int_equal(try_scope(&one, true), EACCES);
		one.policy.tcp_port = ntohs(port);
		one.act = net_bind;
		assert_int_equal(try_scope(&one, true), EACCES);
	}
	(void)close(listener);
	(void)close(receiver);
}

static void test_abi_can_be_lowered(void **state)
{
	(void)state;
	for (int abi = 0; abi <= LANDLOCK_ABI_KNOWN; abi++) {
		landlock_set_abi_for_test(abi);
		assert_int_equal(landlock_abi(), abi < kernel_abi ? abi : kernel_abi);
	}
	landlock_set_abi_for_test(-1);
	assert_int_equal(landlock_abi(), kernel_abi);
}

/* For embedders.  The trees are under /tmp, which is always granted, so "outside" is elsewhere. */
static char outside[] = "/var/tmp/cordon-self-XXXXXX";

static int self_confined(void)
{
	struct strv read_only = {0}, read_write = {0};
	struct cordon_error err = {0};
	char cwd[256], path[300];
	int r = CHILD_FAILED, fd;

	if (!getcwd(cwd, sizeof(cwd)))
		return r;
	(void)snprintf(path, sizeof(path), "%s/given", outside);
	if (mkdir(path, 0700) < 0 || strv_add(&read_only, path) < 0)
		return r;
	fd = open(outside, O_PATH | O_CLOEXEC);
	if (landlock_restrict_self(cwd, &read_only, &read_write, &err) < 0)
		r = 1;
	else if (act_create() != 0)
		r = 2;
	else if (open("/dev/null", O_WRONLY | O_CLOEXEC) < 0)
		r = 3;
	else if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ||
		 open("/etc/passwd", O_WRONLY | O_CLOEXEC) >= 0)
		r = 4;
	else if (open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		r = 5;
	else if (unlinkat(fd, "given", AT_REMOVEDIR) == 0 || errno != EACCES)
		r = 6;
	else if (open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 || errno != EACCES)
		r = 7;
	else
		r = act_exec(); /* "in/exe" */
	return r;
}

static int self_missing_project(void)
{
	return landlock_restrict_self("/none/there", NULL, NULL, NULL) == CORDON_E_NOT_FOUND
		       ? act_write()
		       : CHILD_FAILED;
}

static int self_missing_list(void)
{
	struct strv list = {0};

	if (strv_add(&list, "/none/there") < 0)
		return CHILD_FAILED;
	return landlock_restrict_self("/tmp", NULL, &list, NULL) == CORDON_E_NOT_FOUND ? 0 : 1;
}

static int self_without_landlock(void)
{
	landlock_set_abi_for_test(2);
	return landlock_restrict_self("/tmp", NULL, NULL, NULL) == CORDON_E_UNSUPPORTED ? 0 : 1;
}

static void *sleep_main(void *data)
{
	(void)data;
	(void)pause();
	return NULL;
}

static int self_with_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_main, NULL) != 0)
		return CHILD_FAILED;
	return landlock_restrict_self("/tmp", NULL, NULL, NULL) == CORDON_E_UNSUPPORTED ? 0 : 1;
}

static void test_restrict_self(void **state)
{
	static const struct {
		const char *what;
		int (*fn)(void);
	} rows[] = {
		{"confined", self_confined},
		{"a project that is not there", self_missing_project},
		{"a path that is not there", self_missing_list},
		{"no Landlock", self_without_landlock},
		{"threads", self_with_threads},
	};

	(void)state;
	need_landlock();
	assert_non_null(mkdtemp(outside));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int got = in_child(rows[i].fn);

		if (got != 0)
			fail_msg("%s: %d", rows[i].what, got);
	}
	assert_int_equal(nftw(outside, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_abi_can_be_lowered),
		cmocka_unit_test(test_acts),
		cmocka_unit_test(test_acts_as_nobody),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_network_and_scopes),
		cmocka_unit_test(test_restrict_self),
	};
	int r;

	kernel_abi = landlock_abi();
	if (!mkdtemp(base) || chmod(base, 0777) < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return r;
}
