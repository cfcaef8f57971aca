/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backends that go through a sandbox program: their command lines word by word, the block that the launcher
 * reads, the trust in programs, and that nothing weaker is probed than what a call takes.
 */
#include "backend/bwrap/bwrap.h"
#include "backend/gvisor/gvisor.h"
#include "backend/launch/image.h"
#include "backend/launch/tool.h"
#include "backend/nsjail/nsjail.h"
#include "backend/registry.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct plan closed = {.net = PLAN_NET_NONE};
static const struct plan open_net = {.net = PLAN_NET_HOST};
static const struct launch_cover covers[] = {
	{"/view/.cordon/closed-file", "/proc/kcore"},
	{"/proc/sys", "/proc/sys"},
};

static const struct plan with_socket = {
	.net = PLAN_NET_NONE,
	.ops = (const struct plan_op[]){{.kind = PLAN_OP_SOCKET, .path = "/run/s"}},
	.op_count = 1,
};

static int gvisor_systrap_line(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_SYSTRAP, out);
}

static int gvisor_ptrace_line(const struct launch_line *line, struct strv *out)
{
	return gvisor_line(line, GVISOR_PTRACE, out);
}

static const struct {
	const char *what;
	int (*line)(const struct launch_line *line, struct strv *out);
	struct launch_line in;
	const char *want;
} line_rows[] = {
	{"bwrap as root, no network",
	 bwrap_line,
	 {.plan = &closed, .is_root = true, .has_proc = true, .covers = covers, .n_covers = 2},
	 "bwrap --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --hostname cordon "
	 "--die-with-parent --as-pid-1 --cap-drop ALL --cap-add CAP_SETPCAP --dev-bind /view / --proc /proc "
	 "--ro-bind /view/.cordon/closed-file /proc/kcore --ro-bind /proc/sys /proc/sys --unshare-net "
	 "--chdir / -- /proc/self/fd/3 "},
	{"bwrap as a user, the host's network",
	 bwrap_line,
	 {.plan = &open_net, .uid = 1000, .gid = 100, .has_proc = true},
	 "bwrap --unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try --hostname cordon "
	 "--die-with-parent --as-pid-1 --cap-drop ALL --cap-add CAP_SETPCAP --dev-bind /view / --proc /proc "
	 "--unshare-user --chdir / -- /proc/self/fd/3 "},
	{"gvisor, no network",
	 gvisor_systrap_line,
	 {.plan = &closed, .is_root = true, .has_proc = true},
	 "runsc --platform=systrap --network=none --host-uds=none --ignore-cgroups --rootless --directfs=false "
	 "--overlay2=none --file-access=shared --root=/run/runsc run --bundle=/bundle --pass-fd=4:4 --pass-fd=5:5 "
	 "--pass-fd=6:6 --pass-fd=7:7 --pass-fd=8:8 cordon "},
	{"gvisor, the host's network",
	 gvisor_ptrace_line,
	 {.plan = &open_net, .uid = 1000, .gid = 100, .has_proc = true},
	 "runsc --platform=ptrace --network=host --host-uds=none --ignore-cgroups --rootless --directfs=false "
	 "--overlay2=none --file-access=shared --root=/run/runsc run --bundle=/bundle --pass-fd=4:4 --pass-fd=5:5 "
	 "--pass-fd=6:6 --pass-fd=7:7 --pass-fd=8:8 cordon "},
	{"gvisor, a socket",
	 gvisor_systrap_line,
	 {.plan = &with_socket, .is_root = true, .has_proc = true},
	 "runsc --platform=systrap --network=none --host-uds=open --ignore-cgroups --rootless --directfs=false "
	 "--overlay2=none --file-access=shared --root=/run/runsc run --bundle=/bundle --pass-fd=4:4 --pass-fd=5:5 "
	 "--pass-fd=6:6 --pass-fd=7:7 --pass-fd=8:8 cordon "},
	{"nsjail as root, no network",
	 nsjail_line,
	 {.plan = &closed, .is_root = true, .has_proc = true},
	 "nsjail --mode o --quiet --time_limit 0 --disable_rlimits --skip_setsid --hostname cordon "
	 "--cap CAP_SETPCAP --cap CAP_SYS_ADMIN --cap CAP_DAC_READ_SEARCH --chroot /view --cwd / "
	 "--nice_level 0 --pass_fd 3 --pass_fd 4 --pass_fd 5 "
	 "--pass_fd 6 --pass_fd 7 --pass_fd 8 --disable_clone_newuser --disable_proc "
	 "--mount none:/proc:proc: -- /proc/self/fd/3 "},
	{"nsjail as a user, the host's network",
	 nsjail_line,
	 {.plan = &open_net, .uid = 1000, .gid = 100, .nice = 10, .has_proc = true},
	 "nsjail --mode o --quiet --time_limit 0 --disable_rlimits --skip_setsid --hostname cordon "
	 "--cap CAP_SETPCAP --cap CAP_SYS_ADMIN --cap CAP_DAC_READ_SEARCH --chroot /view --cwd / "
	 "--nice_level 10 --pass_fd 3 --pass_fd 4 --pass_fd 5 "
	 "--pass_fd 6 --pass_fd 7 --pass_fd 8 --user 1000:1000:1 --group 100:100:1 --disable_clone_newnet "
	 "--disable_proc --mount none:/proc:proc: -- /proc/self/fd/3 "},
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(line_rows); i++) {
		struct strv words = {0};
		struct buf text = BUF_INIT(4096);

		assert_int_equal(line_rows[i].line(&line_rows[i].in, &words), 0);
		for (size_t k = 0; k < words.n; k++)
			buf_printf(&text, "%s ", words.v[k]);
		assert_string_equal(buf_cstr(&text), line_rows[i].want);
		buf_done(&text);
		strv_done(&words);
	}
}

/* What is to be closed in /proc never goes through nsjail, which would mount some of it elsewhere, or under /proc. */
static void test_nsjail_covers(void **state)
{
	AUTO(strv_done) struct strv words = {0};
	const struct launch_line line = {
		.plan = &closed, .has_proc = true, .covers = covers, .n_covers = 2};

	(void)state;
	assert_int_equal(nsjail_line(&line, &words), -EOPNOTSUPP);
}

#define AT "[2026-01-02T03:04:05+0000][1] "

static void test_nsjail_complaint(void **state)
{
	static const struct {
		const char *said;
		const char *want;
	} rows[] = {
		{"", ""},
		{"no log", ""},
		{"nsjail: unrecognized option '--x'\n Usage\n[F]" AT "main():9 Couldn't parse\n",
		 ""},
		{"[W]" AT "a():1 only a warning\n", ""},
		{"[E]" AT "pivot():12 pivot_root: Invalid argument\n[F]" AT "b():2 failed\n",
		 "pivot_root: Invalid argument"},
		{"[W]" AT "a():1 open: No\n[W]" AT "m():2 mount: EPERM\n[E]" AT
		 "c():3 Couldn't mount\n",
		 "mount: EPERM: Couldn't mount"},
		{"[W]" AT "a():1 far away\n[I]" AT "x\n[F]" AT "c():3 last", "last"},
		{"[E]", "[E]"},
		{"[F]():", ""},
		{"[W]" AT
		 "m():1 mount: EPERM\n[W][then][77] r():2 Received\n[E][then][77] s():3 Couldn't\n"
		 "[F]" AT "c():4 failed\n",
		 "mount: EPERM: failed"},
		{"[W][then][77] r():2 Received\n[E][then][77] s():3 Couldn't\n",
		 "Received: Couldn't"},
		{"[F] 12():7 8 9", "8 9"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(buf_done) struct buf out = BUF_INIT(4096);

		nsjail_complaint(rows[i].said, &out);
		assert_string_equal(buf_cstr(&out), rows[i].want);
	}
}

static struct seccomp_program filter = {.insns = {{.code = 6, .k = 0x7fff0000u}}, .len = 1};

static struct seccomp_program denied = {.insns = {{.code = 6, .k = 0x50001u}}, .len = 1};

static const struct {
	const char *what;
	struct plan plan;
	struct plan_op op;
	struct launch_cover cover;
	int want;
	const char *has; /* a part of the text */
} spec_rows[] = {
	{"the root is the view",
	 {0},
	 {.kind = PLAN_OP_DEV, .path = "/dev"},
	 {0},
	 0,
	 "\"path\":\"/view\""},
	{"no capability",
	 {0},
	 {.kind = PLAN_OP_PROC, .path = "/proc"},
	 {0},
	 0,
	 "\"capabilities\":{\"bounding\":[],\"effective\":[],\"inheritable\":[],\"permitted\":[]}"},
	{"/sys is empty",
	 {0},
	 {.kind = PLAN_OP_DEV, .path = "/dev"},
	 {0},
	 0,
	 "\"/sys\",\"type\":\"tmpfs\""},
	{"or the view's",
	 {0},
	 {.kind = PLAN_OP_BIND_RO, .path = "/sys/block"},
	 {0},
	 0,
	 "\"/sys\",\"type\":\"bind\",\"source\":\"/view/sys\""},
	{"a cover",
	 {0},
	 {.kind = PLAN_OP_DENY, .path = "/proc/stat"},
	 {"/view/.cordon/c", "/proc/stat"},
	 0,
	 "\"/proc/stat\",\"type\":\"bind\",\"source\":\"/view/.cordon/c\",\"options\":[\"ro\",\"rbind\"]"},
	{"a device", {0}, {.kind = PLAN_OP_DEVICE, .path = "/dev/kvm"}, {0}, -EOPNOTSUPP, NULL},
	{"an unknown step", {0}, {.kind = PLAN_OP_COUNT, .path = "/x"}, {0}, -EOPNOTSUPP, NULL},
	{"a bind into /proc",
	 {0},
	 {.kind = PLAN_OP_BIND_RO, .path = "/proc/x"},
	 {0},
	 -EOPNOTSUPP,
	 NULL},
	{"all of /dev", {0}, {.kind = PLAN_OP_DENY, .path = "/dev"}, {0}, -EOPNOTSUPP, NULL},
	{"write-xor-execute",
	 {.separates_exec = true},
	 {.kind = PLAN_OP_DEV, .path = "/dev"},
	 {0},
	 -EOPNOTSUPP,
	 NULL},
	{"a path that JSON cannot hold",
	 {0},
	 {.kind = PLAN_OP_DENY, .path = "/proc/\xff"},
	 {"/view/.cordon/c", "/proc/\xff"},
	 -EILSEQ,
	 NULL},
};

static void test_gvisor_spec(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(spec_rows); i++) {
		struct plan plan = spec_rows[i].plan;
		struct launch_line line = {.plan = &plan, .covers = &spec_rows[i].cover};
		AUTO(buf_done) struct buf out = BUF_INIT(LAUNCH_BUNDLE_MAX);

		plan.ops = &spec_rows[i].op;
		plan.op_count = 1;
		line.n_covers = spec_rows[i].cover.path != NULL;
		if (gvisor_spec(&line, &out) != spec_rows[i].want)
			fail_msg("%s", spec_rows[i].what);
		if (spec_rows[i].has && !strstr(buf_cstr(&out), spec_rows[i].has))
			fail_msg("%s: %s", spec_rows[i].what, buf_cstr(&out));
	}
	assert_true(gvisor_shows("/proc/cpuinfo") && gvisor_shows("/dev/zero"));
	assert_false(gvisor_shows("/proc/1234") || gvisor_shows("/dev/sda"));
}

static int proc_find_owned(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	return type == FTW_F && st->st_mode & S_IWUSR && st->st_uid == 0;
}

/*
 * A program that mounts /proc itself does not mount it read-only: all that root owns there and may write needs a step
 * of its own.  bubblewrap closes some of it too, so no attempt could show that these are there.
 */
static void test_proc_steps(void **state)
{
	struct plan_op op = {.kind = PLAN_OP_PROC, .path = "/proc"};
	const struct plan plan = {.ops = &op, .op_count = 1};
	AUTO(view_program_done) struct view_program p = {.nobody_ns = -1};
	struct dirent *e;
	size_t seen = 0;
	DIR *dir;

	(void)state;
	if (geteuid() != 0) {
		print_message("# skip: not root\n");
		skip();
	}
	assert_int_equal(view_compile(&plan, &p, NULL), 0);
	dir = opendir("/proc");
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		char path[sizeof(e->d_name) + sizeof("/proc/")];
		size_t i = 0;

		(void)snprintf(path, sizeof(path), "/proc/%s", e->d_name);
		/* Processes are the namespace's own. */
		if (e->d_type == DT_LNK || e->d_name[0] == '.' || strspn(e->d_name, "0123456789") ||
		    nftw(path, proc_find_owned, 8, FTW_PHYS) <= 0)
			continue;
		while (i < p.n && strcmp(p.steps[i].path, path + 1) != 0)
			i++;
		if (i == p.n)
			fail_msg("root may write in %s", path);
		seen++;
	}
	(void)closedir(dir);
	assert_true(seen >= 2);
}

/* A block as it is sent. */
static void image_make(struct buf *out, const char *cwd)
{
	char *argv[] = {(char[]){"sh"}, (char[]){""}, (char[]){"a b\n\xff"}, NULL};
	char *envp[] = {(char[]){"A=1"}, NULL};
	static struct view_rule rules[] = {{"/w", LANDLOCK_WRITE}, {"/t", LANDLOCK_WRITE_NOEXEC}};
	const struct plan plan = {
		.argv = argv,
		.envp = envp,
		.cwd = cwd,
		.keeps_group = true,
		.separates_exec = true,
		.max_open_files = PLAN_LIMIT(77),
	};
	const struct view_program program = {.plan = &plan, .rules = rules, .n_rules = 2};
	const struct launch_setting setting = {.landlock_abi = 5, .mask = 027, .stdin_offset = 9};

	const struct strv covered = {.v = (char *[]){(char[]){""}, (char[]){"/proc/y z"}}, .n = 2};

	assert_int_equal(launch_image_write(&program, &filter, &denied, &setting, &covered, out),
			 0);
}

static void test_image(void **state)
{
	struct buf image = BUF_INIT(LAUNCH_IMAGE_MAX);
	struct launch_call call;

	(void)state;
	image_make(&image, "/w/x");
	assert_int_equal(launch_image_read(image.data, image.len, &call), 0);
	assert_string_equal(call.plan.argv[0], "sh");
	assert_string_equal(call.plan.argv[1], "");
	assert_string_equal(call.plan.argv[2], "a b\n\xff");
	assert_null(call.plan.argv[3]);
	assert_string_equal(call.plan.envp[0], "A=1");
	assert_null(call.plan.envp[1]);
	assert_string_equal(call.plan.cwd, "/w/x");
	assert_true(call.plan.keeps_group);
	assert_true(call.plan.max_open_files.is_given);
	assert_int_equal(call.plan.max_open_files.value, 77);
	assert_int_equal(call.plan.stdin_fd, LAUNCH_FD_STDIN);
	assert_int_equal(call.plan.stderr_fd, LAUNCH_FD_STDERR);
	assert_int_equal(call.program.n_rules, 2);
	assert_string_equal(call.program.rules[0].path, "/w");
	assert_int_equal(call.program.rules[0].access, LANDLOCK_WRITE);
	assert_int_equal(call.program.rules[1].access, LANDLOCK_WRITE_NOEXEC);
	assert_int_equal(call.setting.landlock_abi, 5);
	assert_int_equal(call.setting.mask, 027);
	assert_int_equal(call.setting.stdin_offset, 9);
	assert_memory_equal(&call.filter, &filter, sizeof(filter));
	assert_memory_equal(&call.denied, &denied, sizeof(denied));
	assert_true(call.plan.separates_exec);
	assert_string_equal(call.covered[0], "");
	assert_string_equal(call.covered[1], "/proc/y z");
	assert_null(call.covered[2]);
	launch_call_done(&call);
	buf_clear(&image);
	image_make(&image, NULL);
	assert_int_equal(launch_image_read(image.data, image.len, &call), 0);
	assert_null(call.plan.cwd);
	launch_call_done(&call);
	buf_done(&image);
}

/* Not a byte less, not a byte more, and no flipped one makes it read what is not there. */
static void test_image_broken(void **state)
{
	struct buf image = BUF_INIT(LAUNCH_IMAGE_MAX);
	struct launch_call call;

	(void)state;
	image_make(&image, "/w");
	for (size_t len = 0; len < image.len; len += len + 64 < image.len ? 7 : 1) {
		AUTO_FREE char *cut = malloc(len + 1);

		assert_non_null(cut);
		memcpy(cut, image.data, len);
		assert_int_equal(launch_image_read(cut, len, &call), -EINVAL);
		launch_call_done(&call);
	}
	for (size_t at = 0; at < image.len; at++) {
		image.data[at] = (char)(image.data[at] ^ 0x55);
		if (launch_image_read(image.data, image.len, &call) == 0)
			assert_non_null(call.plan.argv[0]);
		launch_call_done(&call);
		image.data[at] = (char)(image.data[at] ^ 0x55);
	}
	buf_char(&image, 'x');
	assert_int_equal(launch_image_read(image.data, image.len, &call), -EINVAL);
	launch_call_done(&call);
	buf_done(&image);
}

static void test_tool(void **state)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	int fd = tool_open("env", path, why);

	(void)state;
	assert_true(fd >= 0);
	assert_string_equal(path, "/usr/bin/env");
	(void)close(fd);
	assert_int_equal(tool_open("no-such-tool", path, why), -ENOENT);
	assert_non_null(strstr(why, "there is no no-such-tool in /usr/bin"));
}

/* With nothing asked for the strongest of the level is enough, and nobody else is tried. */
static void test_lazy(void **state)
{
	struct candidate candidates[BACKEND_COUNT];
	struct select_request request = {.floor = LEVEL_NONE};

	(void)state;
	assert_int_equal(registry_probe_for(PROBE_QUICK, &request, candidates), 1);
	assert_string_equal(candidates[0].backend->info->name, "noop");
	request.backend = "nsjail";
	assert_int_equal(registry_probe_for(PROBE_QUICK, &request, candidates), 1);
	assert_string_equal(candidates[0].backend->info->name, "nsjail");
	request.backend = "nonesuch";
	assert_int_equal(registry_probe_for(PROBE_QUICK, &request, candidates), 0);
	/* What nobody gives is looked for everywhere, in the order of strength. */
	request = (struct select_request){.floor = LEVEL_PROCESS,
					  .needs = GUARANTEE_BIT(SECRET_BOUNDARY)};
	for (size_t i = 1, n = registry_probe_for(PROBE_QUICK, &request, candidates); i < n; i++)
		if (candidates[i].backend->info->level == candidates[i - 1].backend->info->level)
			assert_true(candidates[i].backend->info->strength <
				    candidates[i - 1].backend->info->strength);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gvisor_spec),
		cmocka_unit_test(test_proc_steps),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_image_broken),
		cmocka_unit_test(test_tool),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_nsjail_covers),
		cmocka_unit_test(test_nsjail_complaint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
