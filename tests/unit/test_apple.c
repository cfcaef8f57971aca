/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through Apple's `container`.  There is no macOS here: the words are compared, and a program that stands in for it
 * takes them as strictly as the published ones and runs the command on this machine.  So everything is tried but what
 * the real one does.
 */
#include "backend/apple/apple.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/prune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 20000
#define W(s) ((char *)(uintptr_t)(s)) /* argv wants it writable; nobody writes */

static char top[] = "/tmp/test-apple-XXXXXX";
static char program[64];
static char log_path[64];

/* Reads what `run` is told, one option after the other, and fails on any that is not published.  A call with mounts is the
 * trial's: that runs in a sandbox, of which the file "weak" names what it does not hold.  So the trial is a real one. */
static const char stand_in[] =
	"#!/bin/bash\n"
	"top=${0%/*}\n"
	"echo \"$*\" >>\"$top/log\"\n"
	"weak() { [ \"$(cat \"$top/weak\" 2>/dev/null)\" = \"$1\" ]; }\n"
	"case $1 in\n"
	"system) [ ! -e \"$top/down\" ]; exit;;\n"
	"image) [ \"$*\" = 'image list --quiet' ] || exit 64\n"
	"	cat \"$top/images\"; exit;;\n"
	"list) [ \"$*\" = 'list --all --quiet' ] || exit 64\n"
	"	! weak stays || cat \"$top/name\"; exit 0;;\n"
	"delete) [ ! -e \"$top/stuck\" ] || exec sleep 300\n"
	"	[ \"$2\" = --force ] && kill -9 -- \"-$(cat \"$top/pid-$3\")\" 2>/dev/null; exit 0;;\n"
	"run) shift;;\n"
	"*) exit 64;;\n"
	"esac\n"
	"if [ \"$1\" = --help ]; then\n"
	"	[ -e \"$top/old\" ] || echo --read-only\n"
	"	echo --rm --interactive --progress --name --label --cap-drop --no-dns --network --env-file\n"
	"	echo --workdir --entrypoint --user --memory --ulimit --mount --tmpfs\n"
	"	exit 0\n"
	"fi\n"
	"mounts=() run=() is_trial= nofile= memory=\n"
	"box=(bwrap --die-with-parent --unshare-user --unshare-pid --unshare-ipc --ro-bind /usr /usr --symlink usr/bin /bin\n"
	"	--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev)\n"
	"while [ $# -gt 0 ]; do\n"
	"	case $1 in\n"
	"	--rm | --interactive | --no-dns) shift;;\n"
	"	--read-only) weak write || mounts+=(--remount-ro /); shift;;\n"
	"	--network) [ \"$2\" = none ] || exit 64; weak net || box+=(--unshare-net); shift 2;;\n"
	"	--progress | --label | --cap-drop | --user) shift 2;;\n"
	"	--memory) memory=${2%M}; shift 2;;\n"
	"	--ulimit) nofile=${2##*:}; shift 2;;\n"
	"	--tmpfs) if weak tmp; then box+=(--bind \"$2\" \"$2\"); else box+=(--tmpfs \"$2\"); fi; shift 2;;\n"
	"	--mount) [[ \"$2\" =~ ^type=bind,source=([^,]*),target=([^,]*)(,readonly)?$ ]] || exit 64\n"
	"		how=--bind; [ -z \"${BASH_REMATCH[3]}\" ] || weak ro || how=--ro-bind\n"
	"		weak read && box+=(--ro-bind \"${BASH_REMATCH[1]%/*}\" \"${BASH_REMATCH[1]%/*}\")\n"
	"		mounts+=($how \"${BASH_REMATCH[1]}\" \"${BASH_REMATCH[2]}\"); is_trial=1; shift 2;;\n"
	"	--name) name=$2; shift 2;;\n"
	"	--env-file) env=$2; shift 2;;\n"
	"	--workdir) cd \"$2\" || exit 64; shift 2;;\n"
	"	--entrypoint) command=$2; shift 2;;\n"
	"	--*) exit 64;;\n"
	"	*) break;;\n"
	"	esac\n"
	"done\n"
	"[ \"$1\" = image:1 ] || exit 64\n"
	"shift\n"
	"mapfile -t variables <\"$env\"\n"
	"! weak env || variables+=(HOST=this)\n"
	"echo \"$name\" >\"$top/name\"\n"
	"if [ \"$is_trial\" ]; then\n"
	"	weak memory || { echo \"MemTotal: $((memory * 1024 - 1000)) kB\" >\"$top/meminfo\"\n"
	"		mounts+=(--ro-bind \"$top/meminfo\" /proc/meminfo); }\n"
	"	weak files || run=(prlimit \"--nofile=$nofile:$nofile\")\n"
	"	run+=(\"${box[@]}\" \"${mounts[@]}\" --chdir \"$PWD\" env -i)\n"
	"fi\n"
	/* the number first: whoever hears the command may want to end it */
	"(\n"
	"	echo $BASHPID >\"$top/pid-$name\"\n"
	"	exec env -i \"${variables[@]}\" setsid \"${run[@]}\" ${run:+\"${variables[@]}\"} \"$command\" \"$@\"\n"
	") <&0 &\n"
	"trap 'kill -TERM $!' TERM\n"
	"wait $!\n"
	"code=$?\n"
	"[ $code -lt 128 ] || wait $! || code=$?\n"
	"exit $code\n";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	FILE *f;

	(void)state;
	if (!mkdtemp(top))
		return -1;
	(void)snprintf(program, sizeof(program), "%s/container", top);
	(void)snprintf(log_path, sizeof(log_path), "%s/log", top);
	f = fopen(program, "w");
	if (!f || fputs(stand_in, f) < 0 || fclose(f) != 0 || chmod(program, 0755) < 0)
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return prune_tree(AT_FDCWD, top);
}

static char *const words_true[] = {W("sh"), W("-c"), W("x"), NULL};
static char *const no_env[] = {NULL};

static struct plan plan_of(char *const *argv, const struct plan_op *ops, size_t n)
{
	return (struct plan){.id = "id-1",
			     .argv = argv,
			     .envp = no_env,
			     .cwd = "/",
			     .image = "image:1",
			     .scratch_dir = top,
			     .ops = ops,
			     .op_count = n};
}

static void test_line(void **state)
{
	const struct plan_op ops[] = {{.kind = PLAN_OP_SYSTEM, .path = "/usr"},
				      {.kind = PLAN_OP_SYMLINK, .path = "/bin", .text = "usr/bin"},
				      {.kind = PLAN_OP_BIND_RO, .path = "/etc"},
				      {.kind = PLAN_OP_BIND_RW, .path = top},
				      {.kind = PLAN_OP_TMPFS, .path = "/tmp"},
				      {.kind = PLAN_OP_DENY, .path = "/root/.ssh"}};
	struct plan plan = plan_of(words_true, ops, ARRAY_LEN(ops));
	AUTO(strv_done) struct strv words = {0};
	AUTO(buf_done) struct buf line = BUF_INIT(65536);
	char want[1024];

	(void)state;
	plan.memory_bytes = PLAN_LIMIT(65 * 1024 * 1024 + 7);
	plan.max_open_files = PLAN_LIMIT(20);
	assert_int_equal(apple_line("container", &plan, "n", "/e", &words, NULL), 0);
	for (size_t i = 0; i < words.n; i++)
		buf_printf(&line, "%s%s", i ? " " : "", words.v[i]);
	(void)snprintf(
		want, sizeof(want),
		"container run --rm --interactive --progress none --name n --label dev.cordon.call "
		"--read-only --cap-drop ALL --no-dns --network none --env-file /e --workdir / "
		"--entrypoint sh --user %u:%u --memory 65M --ulimit nofile=20:20 "
		"--mount type=bind,source=/etc,target=/etc,readonly "
		"--mount type=bind,source=%s,target=%s --tmpfs /tmp image:1 -c x",
		(unsigned)geteuid(), (unsigned)getegid(), top, top);
	assert_string_equal(buf_cstr(&line), want);
}

/* What it cannot hold it refuses, by the path or by what was asked. */
static void test_refused(void **state)
{
	static const struct {
		struct plan_op op;
		const char *want;
	} rows[] = {
		{{.kind = PLAN_OP_BIND_RO, .path = "/etc/passwd"}, "'/etc/passwd'"},
		{{.kind = PLAN_OP_BIND_RW, .path = "/nonexistent"}, "'/nonexistent'"},
		{{.kind = PLAN_OP_BIND_RO, .path = "/etc", .is_noexec = true}, "'/etc'"},
		{{.kind = PLAN_OP_TMPFS, .path = "/a:size=1"}, "'/a:size=1'"},
		{{.kind = PLAN_OP_DENY, .path = "/usr/x"}, "'/usr/x'"},
		{{.kind = PLAN_OP_PROTECT, .path = "/usr/.npmrc"}, "'/usr/.npmrc'"},
		{{.kind = PLAN_OP_COW, .path = "/usr", .text = "/t"}, "'/usr'"},
		{{.kind = PLAN_OP_SOCKET, .path = "/run/s"}, "'/run/s'"},
		{{.kind = PLAN_OP_DEVICE, .path = "/dev/fuse"}, "'/dev/fuse'"},
		{{.kind = PLAN_OP_CACHE, .path = "/c", .text = "/t"}, "'/c'"},
		{{.kind = PLAN_OP_FILE, .path = "/f", .text = "x"}, "'/f'"},
		{{.kind = PLAN_OP_SHOWN, .path = "/f", .text = "x"}, "'/f'"},
		{{.kind = PLAN_OP_SYMLINK, .path = "/a/b", .text = "x"}, "'/a/b'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct plan_op ops[] = {{.kind = PLAN_OP_BIND_RO, .path = "/usr"},
					      rows[i].op};
		const struct plan plan = plan_of(words_true, ops, ARRAY_LEN(ops));
		AUTO(strv_done) struct strv words = {0};
		struct cordon_error err = {0};

		assert_int_equal(apple_line("c", &plan, "n", "/e", &words, &err),
				 CORDON_E_UNSUPPORTED);
		assert_non_null(strstr(err.message, rows[i].want));
	}
}

static void test_refused_plans(void **state)
{
	static char *const odd[] = {W("-x"), NULL};
	static const struct plan_terminal terminal;
	struct plan plans[11];
	const char *const want[ARRAY_LEN(plans)] = {
		"without an image",    "any network",     "any network",    "any network",
		"processor",           "processor",       "of processes",   "terminal",
		"what a program does", "begins with '-'", "begins with '-'"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		plans[i] = plan_of(words_true, NULL, 0);
	plans[0].image = NULL;
	plans[1].net = PLAN_NET_HOST;
	plans[2].net = PLAN_NET_PROXY;
	plans[3].n_ports = 1;
	plans[4].cpu_percent = PLAN_LIMIT(10);
	plans[5].cpu_shares = PLAN_LIMIT(10);
	plans[6].max_processes = PLAN_LIMIT(10);
	plans[7].terminal = &terminal;
	plans[8].separates_exec = true;
	plans[9].argv = odd;
	plans[10].image = "--privileged";
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		AUTO(strv_done) struct strv words = {0};
		struct cordon_error err = {0};

		assert_int_equal(apple_line("c", &plans[i], "n", "/e", &words, &err),
				 CORDON_E_UNSUPPORTED);
		assert_non_null(strstr(err.message, want[i]));
	}
}

static void test_env(void **state)
{
	static const struct {
		const char *variable;
		int code;
	} rows[] = {
		{"A=b c=d #e", 0},
		{"A=", 0},
		{"A=b\nC=d", CORDON_E_UNSUPPORTED},
		{"A=b\r", CORDON_E_UNSUPPORTED},
		{"#A=b", CORDON_E_UNSUPPORTED},
		{"A", CORDON_E_UNSUPPORTED}, /* that would be the caller's own */
		{"=A", CORDON_E_UNSUPPORTED},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *const env[] = {(char *)(uintptr_t)rows[i].variable, NULL};
		struct plan plan = plan_of(words_true, NULL, 0);
		AUTO(buf_done) struct buf out = BUF_INIT(4096);

		plan.envp = env;
		assert_int_equal(apple_env(&plan, &out, NULL), rows[i].code);
	}
}

/* Starts a script; its output comes from *ret_out. */
static void start(const char *script, struct spawn_result *ret, int *ret_out)
{
	char *const words[] = {W("sh"), W("-c"), (char *)(uintptr_t)script, NULL};
	char *const env[] = {W("A=b c"), W("PATH=/usr/bin:/bin"), NULL};
	struct plan plan = plan_of(words, NULL, 0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out[2];
	struct cordon_error err = {0};

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	plan.envp = env;
	plan.stdin_fd = null;
	plan.stdout_fd = out[1];
	plan.stderr_fd = 2;
	if (apple_start(program, &plan, ret, &err) != 0)
		fail_msg("%s", err.message);
	(void)fd_close(null);
	(void)fd_close(out[1]);
	*ret_out = out[0];
}

/* The wait status, or -1 when the call was lost. */
static int finish(struct spawn_result *s)
{
	struct pollfd p = {.fd = s->proc.pidfd, .events = POLLIN};
	struct backend_end end;
	struct proc_exit gone;
	int status = -1;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(proc_reap(&s->proc, &gone), 1);
	if (io_read(s->status_fd, &status, sizeof(status), clock_deadline(0)) != sizeof(status) ||
	    io_read(s->status_fd, &end, sizeof(end), clock_deadline(0)) != sizeof(end))
		status = -1;
	(void)fd_close(s->status_fd);
	return status;
}

/* Nothing of a call is left in the registry, and the container was removed by its name. */
static void assert_clean(void)
{
	char text[8192] = "";
	FILE *log = fopen(log_path, "r");
	DIR *d = opendir(top);

	assert_non_null(d);
	assert_non_null(log);
	assert_true(fread(text, 1, sizeof(text) - 1, log) > 0);
	(void)fclose(log);
	assert_non_null(strstr(text, "delete --force cordon-id-1"));
	assert_null(strstr(text, "b c")); /* a variable's value is in no word */
	assert_int_equal(unlink(log_path), 0);
	for (const struct dirent *e; (e = readdir(d));)
		assert_null(strstr(e->d_name, "cordon-work"));
	(void)closedir(d);
}

static void test_run(void **state)
{
	struct spawn_result s;
	char text[64] = "";
	int out;

	(void)state;
	start("echo \"$A\" $(env | wc -l); exit 7", &s, &out);
	assert_true(read(out, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "b c 3\n"); /* A, PATH and the shell's PWD */
	assert_int_equal(finish(&s), 7 << 8);
	(void)fd_close(out);
	assert_clean();
}

/* The process of this number, read from a pipe, has ended; it may wait for an init to collect it. */
static void assert_gone(const char *number)
{
	for (int i = 0; i < WAIT_MS / 10; i++) {
		char path[64];
		char text[256] = "";
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%.*s/stat", (int)strcspn(number, "\n"),
			       number);
		f = fopen(path, "r");
		if (!f)
			return;
		assert_true(fread(text, 1, sizeof(text) - 1, f) > 0 || feof(f));
		(void)fclose(f);
		if (strstr(text, ") Z ") || !text[0])
			return;
		(void)poll(NULL, 0, 10);
	}
	fail_msg("%s lives", number);
}

/* Whoever goes first: the command, the caller, the program. */
static void test_ends(void **state)
{
	for (int way = 0; way < 3; way++) {
		struct spawn_result s;
		unsigned char sig = SIGTERM;
		char text[64] = "";
		int out;
		int status;

		(void)state;
		start("trap 'exit 9' TERM; echo $$; sleep 300 & wait", &s, &out);
		assert_true(read(out, text, sizeof(text) - 1) > 0);
		if (way == 0)
			assert_int_equal(write(s.status_fd, &sig, 1), 1);
		else if (way == 1)
			assert_int_equal(shutdown(s.status_fd, SHUT_WR), 0);
		else
			backend_kill(&s);
		status = finish(&s);
		assert_int_equal(status, way == 0 ? 9 << 8 : -1);
		assert_gone(text);
		(void)fd_close(out);
		assert_clean();
	}
}

static void touch(const char *name, bool is_there)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	if (is_there)
		assert_true(fd_close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == -1);
	else
		assert_int_equal(unlink(path), 0);
}

/* A program that does not answer when it should remove: the call ends all the same. */
static void test_stuck(void **state)
{
	struct spawn_result s;
	int out;

	(void)state;
	touch("stuck", true);
	start("exit 7", &s, &out);
	assert_int_equal(finish(&s), 7 << 8);
	touch("stuck", false);
	(void)fd_close(out);
	assert_clean();
}

static bool has_bwrap(void)
{
	static const char *const path = "/usr/bin/bwrap";

	if (access(path, X_OK) == 0 &&
	    system("bwrap --unshare-user --unshare-net --unshare-pid --ro-bind / / --proc /proc true 2>/dev/null") ==
		    0)
		return true;
	print_message("# skip: bwrap does not work here: the stand-in has no sandbox\n");
	return false;
}

#define ALL_TRIED                                                                                  \
	(GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(HIDE_METADATA) | GUARANTEE_BIT(WRITE_SCOPE) |   \
	 GUARANTEE_BIT(NET_DENY) | GUARANTEE_BIT(OPEN_FILES) | GUARANTEE_BIT(MEMORY_TREE) |        \
	 GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(ENV_SCRUB) | GUARANTEE_BIT(KILL_TREE))

/* What the trial saw hold is given, and nothing else. */
static void test_trial(void **state)
{
	static const struct {
		const char *weak;
		guarantee_set lacks;
	} rows[] = {
		{"", GUARANTEE_NONE},
		{"read", GUARANTEE_BIT(READ_SCOPE) | GUARANTEE_BIT(HIDE_METADATA)},
		{"write", GUARANTEE_BIT(WRITE_SCOPE)},
		{"ro", GUARANTEE_BIT(WRITE_SCOPE)},
		{"net", GUARANTEE_BIT(NET_DENY)},
		{"files", GUARANTEE_BIT(OPEN_FILES)},
		{"memory", GUARANTEE_BIT(MEMORY_TREE)},
		/* where that is the host's, the file outside is in it */
		{"tmp", GUARANTEE_BIT(PRIVATE_TMP) | GUARANTEE_BIT(READ_SCOPE) |
				GUARANTEE_BIT(HIDE_METADATA)},
		{"env", GUARANTEE_BIT(ENV_SCRUB)},
		{"stays", GUARANTEE_BIT(KILL_TREE)},
	};

	(void)state;
	if (!has_bwrap())
		skip();
	put("images", "image:1\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct probe probe;

		put("weak", rows[i].weak);
		apple_ask(program, GUARANTEE_BIT(IMAGE_ROOT), &probe);
		if (!probe.is_available)
			fail_msg("%s: %s", rows[i].weak, probe.reason);
		if ((probe.guarantees & ALL_TRIED) != (ALL_TRIED & ~rows[i].lacks))
			fail_msg("%s: %llx", rows[i].weak,
				 (unsigned long long)(probe.guarantees & ALL_TRIED));
		assert_true(probe.guarantees & GUARANTEE_BIT(NATIVE_CODE));
		assert_false(probe.guarantees & GUARANTEE_BIT(PROTECT_MISSING));
		assert_false(probe.guarantees & GUARANTEE_BIT(DENY_INSIDE_ALLOW));
		assert_false(probe.guarantees & GUARANTEE_BIT(SYSCALL_FILTER));
	}
	touch("weak", false);
}

/* The first image has no shell, or none has, or there is none. */
static void test_images(void **state)
{
	static const struct {
		const char *images;
		const char *reason; /* NULL: it is available */
	} rows[] = {
		{"image:2\nimage:1\n", NULL},
		{"--odd\nimage:1\n", "begins with '-'"},
		{"image:2\nimage:3\nimage:4\nimage:1\n", "pull one with a shell"},
		{"", "'container image pull'"},
	};

	(void)state;
	if (!has_bwrap())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct probe probe;

		put("images", rows[i].images);
		apple_ask(program, GUARANTEE_NONE, &probe);
		if (probe.is_available != !rows[i].reason ||
		    (rows[i].reason && !strstr(probe.reason, rows[i].reason)))
			fail_msg("%s: %s", rows[i].images, probe.reason);
		if (!probe.is_available)
			assert_int_equal(probe.guarantees, GUARANTEE_NONE);
	}
	touch("images", false);
}

static void test_probe(void **state)
{
	struct probe probe;

	(void)state;
	put("images", "image:1\n");
	touch("old", true);
	apple_ask(program, GUARANTEE_NONE, &probe);
	touch("old", false);
	assert_false(probe.is_available);
	assert_non_null(strstr(probe.reason, "'run' has no --read-only; install a newer one"));
	touch("down", true);
	apple_ask(program, GUARANTEE_NONE, &probe);
	touch("down", false);
	assert_false(probe.is_available);
	assert_non_null(strstr(probe.reason, "'container system start'"));
	apple_ask("/nonexistent", GUARANTEE_NONE, &probe);
	assert_false(probe.is_available);
	/* whatever program of that name there may be */
	apple_backend.probe(PROBE_FULL, GUARANTEE_NONE, &probe);
	assert_false(probe.is_available);
	assert_non_null(strstr(probe.reason, "this is Linux; Apple's container is for macOS"));
	if (!has_bwrap())
		skip();
	apple_ask(program, GUARANTEE_NONE, &probe);
	assert_true(probe.is_available);
	assert_false(probe.guarantees & GUARANTEE_BIT(NATIVE_CODE));
	assert_non_null(strstr(probe.lacks, "name an image"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),          cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_plans), cmocka_unit_test(test_env),
		cmocka_unit_test(test_run),           cmocka_unit_test(test_ends),
		cmocka_unit_test(test_stuck),         cmocka_unit_test(test_probe),
		cmocka_unit_test(test_trial),         cmocka_unit_test(test_images),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
