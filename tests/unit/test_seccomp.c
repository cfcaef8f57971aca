/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call filter.  Its answers are tested twice: by an interpreter on a table of calls
 * (tests/data/seccomp.tests), which covers the architectures that this machine is not, and live, in children
 * with and without the filter, as root and as nobody.  A live refusal counts only if the same call with the
 * same privileges gets another answer without the filter.
 */
#include "backend/confine/seccomp.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef AUDIT_ARCH_RISCV32
#define AUDIT_ARCH_RISCV32 (243 | __AUDIT_ARCH_LE)
#endif
#define NOBODY 65534
#define CHILD_FAILED 99

/* What the kernel does with a program. */
static uint32_t run_bpf(const struct seccomp_program *p, const struct seccomp_data *data,
			unsigned *ret_steps)
{
	const unsigned char *bytes = (const unsigned char *)data;
	uint32_t a = 0;
	unsigned steps = 0;

	for (size_t pc = 0; pc < p->len; pc++) {
		const struct sock_filter *i = &p->insns[pc];

		steps++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k + 4 <= sizeof(*data) && i->k % 4 == 0);
			memcpy(&a, bytes + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			if (ret_steps)
				*ret_steps = steps;
			return i->k;
		default:
			fail_msg("instruction %zu: code 0x%x", pc, i->code);
		}
	}
	fail_msg("fell off the end");
	return 0;
}

static const char *answer_name(uint32_t value)
{
	switch (value & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		return "ALLOW";
	case SECCOMP_RET_KILL_PROCESS:
		return "KILL";
	case SECCOMP_RET_ERRNO:
		return strerrorname_np((int)(value & SECCOMP_RET_DATA));
	case SECCOMP_RET_USER_NOTIF:
		return "NOTIFY";
	default:
		return "?";
	}
}

static const struct {
	const char *name;
	uint32_t audit;
} audit_arches[] = {
	{"x86_64", AUDIT_ARCH_X86_64},   {"aarch64", AUDIT_ARCH_AARCH64},
	{"riscv64", AUDIT_ARCH_RISCV64}, {"i386", AUDIT_ARCH_I386},
	{"arm", AUDIT_ARCH_ARM},         {"riscv32", AUDIT_ARCH_RISCV32},
};

static uint32_t audit_arch(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(audit_arches); i++)
		if (strcmp(audit_arches[i].name, name) == 0)
			return audit_arches[i].audit;
	fail_msg("no architecture '%s'", name);
	return 0;
}

/* The members in the order of the bits below. */
static const char *const policy_words[] = {"inet", "unix",   "netlink", "ptrace", "userns",
					   "ipc",  "pids",   "memfd",   "setid",  "writes",
					   "all",  "report", "connect", "paths",  "links",
					   "wait", "take",   "first"};

static struct seccomp_policy policy_of_bits(unsigned bits)
{
	return (struct seccomp_policy){
		.allows_inet = bits & 1,
		.allows_unix = bits & 2,
		.allows_netlink_route = bits & 4,
		.allows_ptrace = bits & 8,
		.allows_userns = bits & 16,
		.has_host_ipc = bits & 32,
		.has_host_pids = bits & 64,
		.denies_memfd = bits & 128,
		.denies_set_id = bits & 256,
		.files = bits & 1024  ? SECCOMP_FILES_ALL
			 : bits & 512 ? SECCOMP_FILES_WRITES
				      : SECCOMP_FILES_KERNEL,
		.reports_refused = bits & 2048,
		.tells_connect = bits & 4096,
		.tells_paths = bits & 8192,
		.lacks_link_attributes = bits & 16384,
		.waits_connect = bits & 32768,
		.takes_descriptors = bits & 65536,
		.guards_first = bits & 131072,
	};
}

static unsigned policy_bits(char *words)
{
	unsigned bits = 0;

	if (strcmp(words, "-") == 0)
		return 0;
	for (char *word; (word = strsep(&words, ","));) {
		size_t i = 0;

		while (i < ARRAY_LEN(policy_words) && strcmp(policy_words[i], word) != 0)
			i++;
		assert_true(i < ARRAY_LEN(policy_words));
		bits |= 1u << i;
	}
	return bits;
}

static uint64_t number(const char *s)
{
	uint64_t value = 0;
	bool is_hex = s[0] == '0' && s[1] == 'x';

	for (s += is_hex ? 2 : 0; *s; s++) {
		unsigned digit = *s >= 'a' ? (unsigned)(*s - 'a') + 10 : (unsigned)(*s - '0');

		assert_true(digit < (is_hex ? 16u : 10u));
		value = value * (is_hex ? 16 : 10) + digit;
	}
	return value;
}

#define TABLE_MAX (1024 * 1024)
static char *table_text; /* of tests/data/seccomp.tests */

static void load_table(void)
{
	const char *source = getenv("SRCDIR");
	char path[512];
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/tests/data/seccomp.tests", source ? source : ".");
	if (io_read_file_at(AT_FDCWD, path, TABLE_MAX, &table_text, &len) < 0)
		fail_msg("read %s (set SRCDIR)", path);
}

struct table_row {
	char *fields[8];
};

/* Cuts the next row out of *text; false at the end. */
static bool next_row(char **text, struct table_row *ret)
{
	char *line;

	while ((line = strsep(text, "\n"))) {
		if (!*line || *line == '#')
			continue;
		for (size_t i = 0; i < ARRAY_LEN(ret->fields); i++)
			assert_non_null(ret->fields[i] = strsep(&line, " "));
		assert_null(line);
		return true;
	}
	return false;
}

static void test_table(void **state)
{
	AUTO_FREE char *copy = strdup(table_text);
	char *rest = copy;
	struct table_row row;
	size_t n = 0, wrong = 0;

	(void)state;
	assert_non_null(copy);
	while (next_row(&rest, &row)) {
		char *made_for = strsep(&row.fields[0], "/");
		struct seccomp_policy policy = policy_of_bits(policy_bits(row.fields[1]));
		struct seccomp_program program;
		struct seccomp_data data = {
			.arch = audit_arch(row.fields[0] ? row.fields[0] : made_for),
			.nr = (int)number(row.fields[3]),
			.args = {number(row.fields[4]), number(row.fields[5]),
				 number(row.fields[6])},
		};
		const char *got;

		assert_int_equal(seccomp_build_for(seccomp_arch_find(made_for), &policy, &program),
				 0);
		got = answer_name(run_bpf(&program, &data, NULL));
		assert_string_equal(got, answer_name(seccomp_evaluate(&program, &data)));
		if (strcmp(got, row.fields[7]) != 0) {
			print_error("%s %s(0x%llx, 0x%llx, 0x%llx): want %s, got %s\n", made_for,
				    row.fields[2], (unsigned long long)data.args[0],
				    (unsigned long long)data.args[1],
				    (unsigned long long)data.args[2], row.fields[7], got);
			wrong++;
		}
		n++;
	}
	assert_true(n > 1000);
	assert_int_equal(wrong, 0);
}

/* Every row of our own table is in the test's, with the same number, on every architecture that has it. */
static void test_table_is_complete(void **state)
{
	const struct seccomp_row *row;
	char want[128];

	(void)state;
	for (size_t i = 0; (row = seccomp_row(i)); i++)
		for (unsigned arch = 0; arch < SECCOMP_ARCH_COUNT; arch++) {
			int nr = seccomp_row_nr(row, (enum seccomp_arch)arch);

			if (nr < 0)
				continue;
			(void)snprintf(want, sizeof(want), " %s %d ", row->name, nr);
			if (!strstr(table_text, want))
				fail_msg("%s on %s: '%s' is not in the table of tests", row->name,
					 seccomp_arch_name((enum seccomp_arch)arch), want);
			assert_non_null(row->why);
		}
}

/* Jumps stay inside, the program ends in a return and fits, whatever the policy. */
static void test_every_policy_builds(void **state)
{
	struct seccomp_program p;
	unsigned longest = 0;

	(void)state;
	for (unsigned arch = 0; arch < SECCOMP_ARCH_COUNT; arch++)
		for (unsigned bits = 0; bits < 1u << ARRAY_LEN(policy_words); bits++) {
			struct seccomp_policy policy = policy_of_bits(bits);

			assert_int_equal(seccomp_build_for((enum seccomp_arch)arch, &policy, &p),
					 0);
			for (size_t i = 0; i < p.len; i++) {
				const struct sock_filter *insn = &p.insns[i];
				size_t far = insn->jt > insn->jf ? insn->jt : insn->jf;

				if (insn->code == (BPF_JMP | BPF_JA)) {
					assert_true(insn->jt == 0 && insn->jf == 0);
					far = insn->k;
				}
				assert_true(i + 1 + far < p.len ||
					    BPF_CLASS(insn->code) == BPF_RET);
			}
			assert_int_equal(BPF_CLASS(p.insns[p.len - 1].code), BPF_RET);
			longest = p.len > longest ? p.len : longest;
		}
	print_message("# longest program: %u instructions\n", longest);
	assert_int_equal(seccomp_build_for(SECCOMP_ARCH_COUNT, &(struct seccomp_policy){0}, &p),
			 -EINVAL);
}

/* The answer to numbers in no row depends on nothing but the number: what the kernel can remember.  Never
 * more than a dozen instructions. */
static void test_plain_numbers(void **state)
{
	struct seccomp_policy policy = {0};
	unsigned worst = 0;

	(void)state;
	for (unsigned arch = 0; arch < SECCOMP_ARCH_COUNT; arch++) {
		struct seccomp_program p;

		assert_int_equal(seccomp_build_for((enum seccomp_arch)arch, &policy, &p), 0);
		for (int nr = 0; nr <= (int)seccomp_newest((enum seccomp_arch)arch); nr++) {
			const struct seccomp_row *row;
			struct seccomp_data data = {
				.arch = audit_arch(seccomp_arch_name((enum seccomp_arch)arch)),
				.nr = nr};
			unsigned steps = 0;
			size_t i = 0;
			uint32_t got = run_bpf(&p, &data, &steps);

			while ((row = seccomp_row(i)) &&
			       (seccomp_row_nr(row, (enum seccomp_arch)arch) != nr ||
				!seccomp_row_holds(row, &policy)))
				i++;
			if (!row)
				assert_true(got == SECCOMP_RET_ALLOW ||
					    got == (SECCOMP_RET_ERRNO | ENOSYS));
			if (!row)
				worst = steps > worst ? steps : worst;
		}
	}
	print_message("# at most %u instructions for a plain number\n", worst);
	assert_in_range(worst, 1, 13);
}

/* A set refuses its calls and no other number, however it is made. */
static void test_denied(void **state)
{
	static const char *const lists[][4] = {
		{NULL},
		{"read", NULL},
		{"@network", NULL},
		{"@basic", "@files", "@process", NULL},
		{"@system", "@ipc", "mkdir", NULL},
	};
	struct seccomp_program p;
	size_t longest = 0;
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lists) + 40; i++) {
		struct callset set = {0};

		for (size_t k = 0; i < ARRAY_LEN(lists) && lists[i][k]; k++)
			assert_int_equal(seccomp_callset_add(&set, lists[i][k]), 0);
		for (size_t k = 0; i >= ARRAY_LEN(lists) && callname_at(k); k++) {
			seed = seed * 1664525 + 1013904223;
			if (seed >> 31)
				assert_int_equal(seccomp_callset_add(&set, callname_at(k)->name),
						 0);
		}
		assert_int_equal(seccomp_build_denied(&set, &p), 0);
		longest = p.len > longest ? p.len : longest;
		for (int nr = -1; nr < 1000; nr++) {
			struct seccomp_data data = {.nr = nr};
			uint32_t want = nr >= 0 && callset_has(&set, (unsigned)nr)
						? SECCOMP_RET_ERRNO | EPERM
						: SECCOMP_RET_ALLOW;

			assert_int_equal(run_bpf(&p, &data, NULL), want);
		}
	}
	print_message("# at most %zu instructions for a list\n", longest);
}

/* Every second number: no list is longer. */
static void test_denied_worst(void **state)
{
	struct seccomp_program p;
	struct callset set = {0};

	(void)state;
	for (unsigned nr = 0; nr < 470; nr += 2)
		set.bits[nr / 64] |= (uint64_t)1 << nr % 64;
	assert_int_equal(seccomp_build_denied(&set, &p), 0);
	for (int nr = 0; nr < 600; nr++)
		assert_int_equal(run_bpf(&p, &(struct seccomp_data){.nr = nr}, NULL),
				 nr % 2 == 0 && nr < 470 ? SECCOMP_RET_ERRNO | EPERM
							 : SECCOMP_RET_ALLOW);
}

static void test_callnames(void **state)
{
	struct callset set = {0};
	const struct callname *c;

	(void)state;
	for (size_t i = 0; (c = callname_at(i)); i++) {
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(c->name, callname_at(k)->name);
			for (unsigned column = 0; column < 2; column++)
				assert_true(c->nr[column] < 0 ||
					    c->nr[column] != callname_at(k)->nr[column]);
		}
		assert_true(callname_is_known(c->name) && callname_is_known(c->set));
		assert_true(c->nr[0] < CALLSET_NUMBERS && c->nr[1] < CALLSET_NUMBERS);
	}
	/* The filter's own table says the same. */
	for (size_t i = 0; seccomp_row(i); i++) {
		const struct seccomp_row *row = seccomp_row(i);
		size_t k = 0;

		while ((c = callname_at(k)) && strcmp(c->name, row->name) != 0)
			k++;
		assert_true(c != NULL);
		if (!c)
			continue;
		assert_int_equal(c->nr[0], row->nr[0]);
		assert_int_equal(c->nr[1], row->nr[1]);
	}
	assert_int_equal(callset_add(&set, 0, "@process"), 0);
	assert_true(callset_has(&set, 57));  /* fork */
	assert_false(callset_has(&set, 59)); /* execve, which is needed */
	assert_int_equal(callset_add(&set, 0, "nothing"), -EINVAL);
	assert_int_equal(callset_add(&set, 0, "@nothing"), -EINVAL);
	assert_int_equal(callset_add(&set, 0, ""), -EINVAL);
	assert_false(callset_has(&set, 100000));
}

/* The table against the kernel's headers, by whatever they have. */
static void test_callname_numbers(void **state)
{
	static const struct {
		const char *name;
		int nr;
	} rows[] = {
#define ROW(name) {#name, SYS_##name}
		ROW(read),
		ROW(openat),
		ROW(ioctl),
		ROW(socket),
		ROW(clone),
		ROW(execve),
		ROW(wait4),
		ROW(kill),
		ROW(fcntl),
		ROW(getdents64),
		ROW(futex),
		ROW(prctl),
		ROW(mount),
		ROW(ptrace),
		ROW(getrandom),
		ROW(memfd_create),
		ROW(bpf),
		ROW(execveat),
		ROW(statx),
		ROW(io_uring_setup),
		ROW(clone3),
		ROW(close_range),
		ROW(openat2),
		ROW(faccessat2),
		ROW(epoll_pwait2),
		ROW(mount_setattr),
		ROW(landlock_restrict_self),
		ROW(futex_waitv),
		ROW(set_mempolicy_home_node),
		ROW(mq_open),
		ROW(shmget),
		ROW(sendmmsg),
		ROW(accept4),
		ROW(renameat2),
		ROW(copy_file_range),
#undef ROW
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct callset set = {0};

		if (callname_is_needed(rows[i].name))
			continue;
		assert_int_equal(seccomp_callset_add(&set, rows[i].name), 0);
		if (!callset_has(&set, (unsigned)rows[i].nr))
			fail_msg("%s is not %d", rows[i].name, rows[i].nr);
	}
}

static void test_text(void **state)
{
	struct seccomp_policy policy = {0};
	struct seccomp_program p;
	struct buf b = BUF_INIT(1024 * 1024);

	(void)state;
	assert_int_equal(seccomp_build_for(SECCOMP_X86_64, &policy, &p), 0);
	seccomp_text(SECCOMP_X86_64, &policy, &p, &b);
	assert_non_null(strstr(buf_cstr(&b), "load arch"));
	assert_non_null(strstr(buf_cstr(&b), "(ptrace)"));
	assert_non_null(strstr(buf_cstr(&b), "errno EAFNOSUPPORT"));
	assert_null(strstr(buf_cstr(&b), "code 0x"));
	assert_int_equal(buf_error(&b), 0);
	buf_done(&b);
}

/*
 * Live.  A child confines itself, then runs act(); its exit code is what act() returns: 0 for success, else
 * an errno.
 */
enum who { AS_IS, AS_NOBODY };

static const struct seccomp_policy *const NO_FILTER = NULL;

static void confine(const struct seccomp_policy *policy)
{
	struct seccomp_program p;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(CHILD_FAILED);
	if (policy && (seccomp_build(policy, &p) < 0 || seccomp_install(&p) < 0))
		_exit(CHILD_FAILED);
}

static void become(enum who who)
{
	if (who == AS_NOBODY && geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		_exit(CHILD_FAILED);
}

static int in_child(enum who who, const struct seccomp_policy *policy, int (*act)(const void *),
		    const void *data)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		become(who);
		confine(policy);
		_exit(act(data) & 0xff);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct live_row {
	const char *name;
	long nr;
	long args[6];
	int want;        /* with the filter */
	unsigned bits;   /* of the policy */
	bool needs_root; /* without capabilities the kernel itself says EPERM: no control as nobody */
};

static int act_call(const void *data)
{
	const struct live_row *r = data;
	long got;

	errno = 0;
	got = syscall(r->nr, r->args[0], r->args[1], r->args[2], r->args[3], r->args[4],
		      r->args[5]);
	return got < 0 ? errno : 0;
}

#define POLICY_NONE 0u
#define POLICY_IPC 32u
#define POLICY_PIDS 64u
#define POLICY_MEMFD 128u
#define POLICY_SET_ID 256u
#define POLICY_WRITES 512u
#define POLICY_LINKS 16384u
#define POLICY_WAIT 32768u
#define POLICY_FIRST 131072u
#define BAD_PTR 1L
#define SYS_(name) #name, SYS_##name

#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

/* Arguments are such that nothing happens where the call is let through. */
static const struct live_row live_rows[] = {
	{SYS_(setxattr), {BAD_PTR, BAD_PTR}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(lsetxattr), {BAD_PTR, BAD_PTR}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(fsetxattr), {-1}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(removexattr), {BAD_PTR, BAD_PTR}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(lremovexattr), {BAD_PTR, BAD_PTR}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(fremovexattr), {-1}, EOPNOTSUPP, POLICY_WRITES},
	{SYS_(lgetxattr), {BAD_PTR, BAD_PTR}, EOPNOTSUPP, POLICY_LINKS},
	{SYS_(kill), {1, 99}, EPERM, POLICY_FIRST},
	{SYS_(tkill), {1, 99}, EPERM, POLICY_FIRST},
	{SYS_(tgkill), {1, 1, 99}, EPERM, POLICY_FIRST},
	{SYS_(rt_sigqueueinfo), {1, 99, BAD_PTR}, EPERM, POLICY_FIRST},
	{SYS_(rt_tgsigqueueinfo), {1, 1, 99, BAD_PTR}, EPERM, POLICY_FIRST},
	{SYS_(ptrace), {PTRACE_TRACEME}, EPERM},
	{SYS_(process_vm_readv), {0, 0, 0, 0, 0, 1}, EPERM},
	{SYS_(process_vm_writev), {0, 0, 0, 0, 0, 1}, EPERM},
	{SYS_(kcmp), {0, 0, 99}, EPERM},
	{SYS_(pidfd_getfd), {-1}, EPERM},
	{SYS_(move_pages), {0}, EPERM},
	{SYS_(migrate_pages), {0}, EPERM},
	{SYS_(io_uring_setup), {0, BAD_PTR}, EPERM},
	{SYS_(io_uring_enter), {-1}, EPERM},
	{SYS_(io_uring_register), {-1}, EPERM},
	{SYS_(bpf), {9999}, EPERM, .needs_root = true},
	{SYS_(userfaultfd), {0x40000000}, EPERM, .needs_root = true},
	{SYS_(perf_event_open), {0, 0, 0, 0, -1}, EPERM},
	{SYS_(add_key), {BAD_PTR, BAD_PTR}, EPERM},
	{SYS_(request_key), {BAD_PTR, BAD_PTR}, EPERM},
	{SYS_(keyctl), {9999}, EPERM},
	{SYS_(lookup_dcookie), {0}, EPERM, .needs_root = true},
	{SYS_(mount), {0, 0, BAD_PTR}, EPERM},
	{SYS_(umount2), {BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(pivot_root), {BAD_PTR, BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(open_tree), {-1, BAD_PTR}, EPERM},
	{SYS_(open_tree_attr), {-1, BAD_PTR}, EPERM},
	{SYS_(move_mount), {-1, BAD_PTR, -1, BAD_PTR, 0xffff}, EPERM, .needs_root = true},
	{SYS_(fsopen), {BAD_PTR, 0xff}, EPERM, .needs_root = true},
	{SYS_(fsconfig), {-1}, EPERM},
	{SYS_(fsmount), {-1}, EPERM, .needs_root = true},
	{SYS_(fspick), {-1, BAD_PTR, 0xffff}, EPERM, .needs_root = true},
	{SYS_(mount_setattr), {-1}, EPERM},
	{SYS_(chroot), {BAD_PTR}, EPERM},
	{SYS_(open_by_handle_at), {-1, BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(quotactl), {-1}, EPERM},
	{SYS_(quotactl_fd), {-1, -1}, EPERM},
	{SYS_(swapon), {BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(swapoff), {BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(acct), {BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(setns), {-1}, EPERM},
	{SYS_(unshare), {CLONE_NEWUSER}, EPERM},
	{SYS_(unshare), {CLONE_NEWNS}, EPERM, .needs_root = true},
	{SYS_(unshare), {CLONE_NEWNET}, EPERM, .needs_root = true},
	{SYS_(unshare), {0x80 /* CLONE_NEWTIME */}, EPERM, .needs_root = true},
	{SYS_(clone), {(long)CLONE_NEWUSER | CLONE_SIGHAND}, EPERM},
	{SYS_(clone), {(long)CLONE_NEWPID | CLONE_THREAD}, EPERM},
	{SYS_(clone3), {0, 0}, ENOSYS},
	{SYS_(kexec_load), {0, 0, 0, 0xffff}, EPERM, .needs_root = true},
	{SYS_(kexec_file_load), {-1, -1, 0, 0, 0xffff}, EPERM, .needs_root = true},
	{SYS_(init_module), {0}, EPERM, .needs_root = true},
	{SYS_(finit_module), {-1}, EPERM, .needs_root = true},
	{SYS_(delete_module), {BAD_PTR}, EPERM, .needs_root = true},
	{SYS_(reboot), {0}, EPERM, .needs_root = true},
	{SYS_(syslog), {10 /* size of the buffer */}, EPERM, .needs_root = true},
	{SYS_(settimeofday), {0}, EPERM, .needs_root = true},
	{SYS_(clock_settime), {9999}, EPERM},
	{SYS_(adjtimex), {0}, EPERM},
	{SYS_(clock_adjtime), {0, 0}, EPERM},
	{SYS_(sethostname), {0, -1}, EPERM, .needs_root = true},
	{SYS_(setdomainname), {0, -1}, EPERM, .needs_root = true},
	{SYS_(vhangup), {0}, EPERM, .needs_root = true},
	{SYS_(personality), {READ_IMPLIES_EXEC}, EPERM},
	{SYS_(personality), {MMAP_PAGE_ZERO}, EPERM},
	{SYS_(fcntl), {-1, F_SETLEASE}, EPERM},
	{SYS_(fcntl), {-1, F_NOTIFY}, EPERM},
	{SYS_(fanotify_init), {0xffffffff}, EPERM, .needs_root = true},
	{SYS_(ioctl), {-1, TIOCSTI}, EPERM},
	{SYS_(ioctl), {-1, TIOCLINUX}, EPERM},
	{SYS_(ioctl), {-1, TIOCCONS}, EPERM},
	{SYS_(ioctl), {-1, TIOCSETD}, EPERM},
	{SYS_(ioctl), {-1, (1L << 32) | TIOCSTI}, EPERM},
	{SYS_(ioctl), {-1, (long)(0xffffffffUL << 32) | TIOCLINUX}, EPERM},
	{SYS_(mknodat), {-1, BAD_PTR, S_IFCHR}, EPERM},
	{SYS_(mknodat), {-1, BAD_PTR, S_IFBLK}, EPERM, .needs_root = true},
#ifdef __x86_64__
	{SYS_(mknod), {BAD_PTR, S_IFCHR}, EPERM},
	{SYS_(iopl), {0}, EPERM},
	{SYS_(ioperm), {-1, 1, 1}, EPERM},
	{SYS_(modify_ldt), {0}, EPERM},
#endif
	{SYS_(socket), {AF_INET, SOCK_STREAM}, EAFNOSUPPORT},
	{SYS_(socket), {AF_INET, SOCK_DGRAM, IPPROTO_UDP}, EAFNOSUPPORT},
	{SYS_(socket), {AF_INET6, SOCK_STREAM}, EAFNOSUPPORT},
	{SYS_(socket), {AF_UNIX, SOCK_STREAM}, EAFNOSUPPORT},
	{SYS_(socket), {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC}, EAFNOSUPPORT},
	{SYS_(socket), {(1L << 32) | AF_UNIX, SOCK_DGRAM}, EAFNOSUPPORT},
	{SYS_(socket), {AF_NETLINK, SOCK_RAW, 0}, EAFNOSUPPORT},
	{SYS_(socket), {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
	{SYS_(socket), {AF_INET, SOCK_RAW, IPPROTO_ICMP}, EPERM, .bits = 1, .needs_root = true},
	{SYS_(socket), {AF_NETLINK, SOCK_RAW, 15 /* KOBJECT_UEVENT */}, EPROTONOSUPPORT, .bits = 4},
	{SYS_(socketpair), {AF_UNIX, SOCK_DGRAM, 0, BAD_PTR}, EPERM},
	{SYS_(shmget), {0, 1, 0600 | 0100000}, EPERM, POLICY_IPC},
	{SYS_(shmat), {-1}, EPERM, POLICY_IPC},
	{SYS_(shmctl), {-1}, EPERM, POLICY_IPC},
	{SYS_(semget), {0, -1}, EPERM, POLICY_IPC},
	{SYS_(semop), {-1}, EPERM, POLICY_IPC},
	{SYS_(semtimedop), {-1}, EPERM, POLICY_IPC},
	{SYS_(semctl), {-1, 0, 0}, EPERM, POLICY_IPC},
	{SYS_(msgget), {12345678}, EPERM, POLICY_IPC},
	{SYS_(msgsnd), {-1}, EPERM, POLICY_IPC},
	{SYS_(msgrcv), {-1}, EPERM, POLICY_IPC},
	{SYS_(msgctl), {-1, 0, 0}, EPERM, POLICY_IPC},
	{SYS_(mq_open), {BAD_PTR}, EPERM, POLICY_IPC},
	{SYS_(mq_unlink), {BAD_PTR}, EPERM, POLICY_IPC},
	{SYS_(setrlimit), {RLIMIT_CORE, BAD_PTR}, 0},
	{SYS_(prlimit64), {0, RLIMIT_CORE, BAD_PTR}, 0},
	{SYS_(prlimit64), {0, RLIMIT_CORE, BAD_PTR, BAD_PTR}, EPERM},
	{SYS_(prlimit64), {0x7fffffff, RLIMIT_NOFILE}, EPERM, POLICY_PIDS},
	{SYS_(setpriority), {PRIO_PROCESS, 0x7fffffff, 0}, EPERM, POLICY_PIDS},
	{SYS_(setpriority), {PRIO_USER, 0x7fffffff, 0}, EPERM, POLICY_PIDS},
	{SYS_(ioprio_set), {1, 0x7fffffff, 0x4000}, EPERM, POLICY_PIDS},
	{SYS_(sched_setaffinity), {0x7fffffff, 0, BAD_PTR}, EPERM, POLICY_PIDS},
	{SYS_(sched_setscheduler), {0x7fffffff, 99, BAD_PTR}, EPERM, POLICY_PIDS},
	{SYS_(sched_setparam), {0x7fffffff, BAD_PTR}, EPERM, POLICY_PIDS},
	{SYS_(sched_setattr), {0x7fffffff, BAD_PTR, 1}, EPERM, POLICY_PIDS},
	{SYS_(process_madvise), {-1}, EPERM, POLICY_PIDS},
	{SYS_(memfd_create), {BAD_PTR, 0}, EPERM, POLICY_MEMFD},
	{SYS_(memfd_secret), {99}, EPERM, POLICY_MEMFD},
	{SYS_(fchmod), {-1, 04755}, EPERM, POLICY_SET_ID},
	{SYS_(fchmod), {-1, 02755}, EPERM, POLICY_SET_ID},
	{SYS_(fchmodat), {-1, BAD_PTR, 04755}, EPERM, POLICY_SET_ID},
	{"fchmodat2", 452, {-1, BAD_PTR, 04755, 0}, EPERM, POLICY_SET_ID},
	{SYS_(openat), {-1, BAD_PTR, O_CREAT | O_WRONLY, 04755}, EPERM, POLICY_SET_ID},
	{SYS_(openat), {-1, BAD_PTR, O_TMPFILE | O_WRONLY, 02755}, EPERM, POLICY_SET_ID},
	{SYS_(openat2), {-1, BAD_PTR, BAD_PTR, 24}, ENOSYS, POLICY_SET_ID},
	{SYS_(bind), {-1, BAD_PTR, 16}, EPERM, POLICY_WAIT},
	{SYS_(listen), {-1, 1}, EPERM, POLICY_WAIT},
	{SYS_(sendto), {-1, 0, 0, 0x20000000}, EPERM, POLICY_WAIT},
	{SYS_(sendmsg), {-1, BAD_PTR, 0x20000000}, EPERM, POLICY_WAIT},
	{SYS_(sendmmsg), {-1, BAD_PTR, 1, 0x20000000}, EPERM, POLICY_WAIT},
	{SYS_(setsockopt), {-1, 0, 4 /* IP_OPTIONS */, BAD_PTR, 4}, ENOPROTOOPT, POLICY_WAIT},
	{SYS_(setsockopt), {-1, 6, 30 /* TCP_FASTOPEN_CONNECT */}, ENOPROTOOPT, POLICY_WAIT},
#ifdef __x86_64__
	{SYS_(chmod), {BAD_PTR, 04755}, EPERM, POLICY_SET_ID},
	{SYS_(creat), {BAD_PTR, 04755}, EPERM, POLICY_SET_ID},
	{SYS_(open), {BAD_PTR, O_CREAT | O_WRONLY, 04755}, EPERM, POLICY_SET_ID},
#endif
};

static size_t live_pass(enum who who)
{
	bool is_root = geteuid() == 0 && who == AS_IS;
	size_t wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(live_rows); i++) {
		const struct live_row *r = &live_rows[i];
		struct seccomp_policy policy = policy_of_bits(r->bits);
		int with = in_child(who, &policy, act_call, r);
		int without = in_child(who, NO_FILTER, act_call, r);

		if (with != r->want) {
			print_error("%s (row %zu): want %d, got %d\n", r->name, i, r->want, with);
			wrong++;
		}
		if (without == with && (is_root || !r->needs_root)) {
			print_error("%s (row %zu): no control: %d without the filter too\n",
				    r->name, i, without);
			wrong++;
		}
	}
	return wrong;
}

static void test_live_refusals(void **state)
{
	(void)state;
	assert_int_equal(live_pass(AS_IS), 0);
}

static void test_live_refusals_as_nobody(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# skip: not root\n");
		skip();
	}
	assert_int_equal(live_pass(AS_NOBODY), 0);
}

/* Where nobody listens a call that would wait is not there. */
static void test_live_waiting(void **state)
{
	struct seccomp_policy policy = {.files = SECCOMP_FILES_WRITES, .waits_connect = true};
	const struct seccomp_row *row;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; (row = seccomp_row(i)); i++) {
		struct live_row live = {.name = row->name,
					.args = {BAD_PTR, BAD_PTR, BAD_PTR, BAD_PTR, BAD_PTR}};

		if (seccomp_native_arch() == SECCOMP_ARCH_COUNT ||
		    strcmp(seccomp_row_action(row), "waits for an answer") != 0 ||
		    seccomp_row_nr(row, seccomp_native_arch()) < 0)
			continue;
		live.nr = seccomp_row_nr(row, seccomp_native_arch());
		assert_int_equal(in_child(AS_IS, &policy, act_call, &live), ENOSYS);
		/* fchmodat2 is from Linux 6.6 */
		if (in_child(AS_IS, NO_FILTER, act_call, &live) == ENOSYS)
			assert_string_equal(row->name, "fchmodat2");
		n++;
	}
	assert_in_range(n, 14, 64);
}

/* Every row of the table that a kernel of today answers otherwise has a live row. */
static void test_live_is_complete(void **state)
{
	const struct seccomp_row *row;
	size_t missing = 0;

	(void)state;
	if (seccomp_native_arch() == SECCOMP_ARCH_COUNT) {
		print_message("# skip: needs another architecture\n");
		skip();
	}
	for (size_t i = 0; (row = seccomp_row(i)); i++) {
		int nr = seccomp_row_nr(row, seccomp_native_arch());
		bool is_there =
			nr < 0 || strcmp(seccomp_row_action(row), "waits for an answer") == 0 ||
			strcmp(seccomp_row_action(row), "told") == 0 ||
			(strcmp(seccomp_row_action(row), "ENOSYS") == 0 && nr != SYS_clone3);

		for (size_t k = 0; k < ARRAY_LEN(live_rows) && !is_there; k++)
			is_there = live_rows[k].nr == nr &&
				   strcmp(live_rows[k].name, row->name) == 0;
		if (!is_there) {
			print_error("%s: no live row\n", row->name);
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

/* What must go on working under the tightest filter. */
static void *thread_main(void *data)
{
	*(int *)data = 1;
	return NULL;
}

static int act_threads_and_pairs(const void *data)
{
	char sh[] = "sh", c[] = "-c", command[] = "exit 7";
	char *const argv[] = {sh, c, command, NULL};
	int ran = 0, fds[2], status;
	pthread_t thread;
	pid_t pid;

	(void)data;
	if (pthread_create(&thread, NULL, thread_main, &ran) != 0 ||
	    pthread_join(thread, NULL) != 0 || !ran)
		return 1;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
		return 2;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) < 0)
		return 3;
	if (personality(0xffffffff) < 0 || personality(ADDR_NO_RANDOMIZE) < 0 || personality(0) < 0)
		return 4;
	if (unshare(CLONE_FILES | CLONE_FS) < 0)
		return 5;
	if (mkfifo("/tmp/.none/there", 0600) == 0 || errno != ENOENT)
		return 6;
	return 0;
}

static void test_programs_go_on(void **state)
{
	struct seccomp_policy policy = SECCOMP_POLICY_HOST;

	(void)state;
	policy.denies_memfd = true;
	assert_int_equal(in_child(AS_IS, &policy, act_threads_and_pairs, NULL), 0);
	assert_int_equal(in_child(AS_NOBODY, &policy, act_threads_and_pairs, NULL), 0);
}

static int act_exec(const void *data)
{
	char *const *argv = (char *const *)(uintptr_t)data;

	(void)execvp(argv[0], argv);
	return 127;
}

static void test_interpreters(void **state)
{
	static char python[] = "python3", node[] = "node", minus_c[] = "-c", minus_e[] = "-e";
	static char python_code[] =
		"import subprocess, threading, sys\n"
		"t = threading.Thread(target=int); t.start(); t.join()\n"
		"assert subprocess.run(['true']).returncode == 0\n"
		"import multiprocessing as m\n"
		"p = m.Process(target=int); p.start(); p.join(); assert p.exitcode == 0\n"
		"import socket; a, b = socket.socketpair()\n"
		"sys.exit(42)\n";
	static char node_code[] =
		"const r = require('child_process').spawnSync('true');"
		"const w = new (require('worker_threads').Worker)('1', {eval: true});"
		"w.on('exit', () => process.exit(r.status === 0 ? 42 : 1));";
	char *const python_argv[] = {python, minus_c, python_code, NULL};
	char *const node_argv[] = {node, minus_e, node_code, NULL};
	struct seccomp_policy policy = {0};
	int r;

	(void)state;
	assert_int_equal(in_child(AS_IS, &policy, act_exec, python_argv), 42);
	r = in_child(AS_IS, &policy, act_exec, node_argv);
	if (r == 127) {
		print_message("# skip: no node\n");
		skip();
	}
	assert_int_equal(r, 42);
}

static void test_survives_execve(void **state)
{
	static char self[] = "/proc/self/exe", mode[] = "--personality";
	char *const argv[] = {self, mode, NULL};
	struct seccomp_policy policy = {0};

	(void)state;
	assert_int_equal(in_child(AS_IS, &policy, act_exec, argv), EPERM);
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_exec, argv), 0);
}

#ifdef __x86_64__
static int act_int80(const void *data)
{
	long r;

	(void)data;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20 /* getpid */) : "memory");
	return r == getpid() ? 0 : 1;
}

static int act_x32(const void *data)
{
	(void)data;
	(void)syscall(0x40000000L | SYS_getpid);
	return 0;
}
#endif

static void test_foreign_architectures(void **state)
{
#ifdef __x86_64__
	struct seccomp_policy policy = {.allows_inet = true, .allows_unix = true};

	(void)state;
	assert_int_equal(in_child(AS_IS, &policy, act_x32, NULL), -SIGSYS);
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_x32, NULL), 0);
	if (in_child(AS_IS, NO_FILTER, act_int80, NULL) != 0) {
		print_message("# skip: kernel without 32-bit calls\n");
		skip();
	}
	assert_int_equal(in_child(AS_IS, &policy, act_int80, NULL), -SIGSYS);
#else
	(void)state;
	print_message("# skip: needs another architecture\n");
	skip();
#endif
}

/* Types a character into a terminal of our own, with and without bits above the command. */
static int act_type(const void *data)
{
	unsigned long command = *(const unsigned long *)data;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, waiting = 0;

	if (master < 0 || unlockpt(master) < 0)
		return CHILD_FAILED;
	slave = ioctl(master, TIOCGPTPEER,
		      O_RDWR); /* our controlling terminal: we lead a session */
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		return CHILD_FAILED;
	if (syscall(SYS_ioctl, slave, command, "\n") < 0)
		return errno;
	return ioctl(slave, FIONREAD, &waiting) == 0 && waiting == 1 ? 0 : CHILD_FAILED;
}

static void test_terminal(void **state)
{
	static const unsigned long commands[] = {TIOCSTI, (1UL << 32) | TIOCSTI,
						 (0xffffffffUL << 32) | TIOCSTI};
	struct seccomp_policy policy = {0};

	(void)state;
	if (in_child(AS_IS, NO_FILTER, act_type, &commands[0]) == EIO) {
		print_message("# skip: not root\n"); /* dev.tty.legacy_tiocsti=0 */
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		assert_int_equal(in_child(AS_IS, NO_FILTER, act_type, &commands[i]), 0);
		assert_int_equal(in_child(AS_IS, &policy, act_type, &commands[i]), EPERM);
	}
}

/* Why there are no datagram pairs without AF_UNIX: one end sends to a stranger's socket by its name. */
static int act_pair_sends(const void *data)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fds[2];

	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", (const char *)data);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0)
		return errno;
	return sendto(fds[0], "x", 1, 0, (struct sockaddr *)&name, sizeof(name)) == 1 ? 0 : errno;
}

static int act_stream_pair_connects(const void *data)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fds[2];

	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", (const char *)data);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return CHILD_FAILED;
	(void)close(fds[1]);
	return connect(fds[0], (struct sockaddr *)&name, sizeof(name)) == 0 ? 0 : errno;
}

static void test_pairs_reach_nobody(void **state)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct seccomp_policy tight = {0}, open = {.allows_unix = true};
	char dir[] = "/tmp/cordon-pair-XXXXXX";
	int dgram = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s/s", dir);
	assert_int_equal(bind(dgram, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_pair_sends, name.sun_path), 0);
	assert_int_equal(in_child(AS_IS, &open, act_pair_sends, name.sun_path), 0);
	assert_int_equal(in_child(AS_IS, &tight, act_pair_sends, name.sun_path), EPERM);
	assert_int_equal(unlink(name.sun_path), 0);
	assert_int_equal(bind(stream, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(listen(stream, 1), 0);
	assert_int_equal(in_child(AS_IS, &tight, act_stream_pair_connects, name.sun_path), EISCONN);
	assert_int_equal(unlink(name.sun_path), 0);
	assert_int_equal(rmdir(dir), 0);
	(void)close(dgram);
	(void)close(stream);
}

static int act_inet(const void *data)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);

	(void)data;
	if (fd < 0 || socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP) < 0)
		return errno;
	if (socket(AF_INET, SOCK_STREAM, 262 /* MPTCP */) >= 0 || errno != EPROTONOSUPPORT)
		return CHILD_FAILED;
	return 0;
}

static int act_debugger(const void *data)
{
	(void)data;
	return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? errno : 0;
}

static int act_userns(const void *data)
{
	(void)data;
	return unshare(CLONE_NEWUSER) < 0 ? errno : 0;
}

static void test_grants(void **state)
{
	static const struct {
		const char *what;
		unsigned bits;
		int (*act)(const void *);
	} rows[] = {
		{"inet", 1, act_inet},
		{"ptrace", 8, act_debugger},
		{"userns", 16, act_userns},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct seccomp_policy with = policy_of_bits(rows[i].bits);
		struct seccomp_policy without = policy_of_bits(0xff & ~rows[i].bits);

		if (in_child(AS_IS, &with, rows[i].act, NULL) != 0 ||
		    in_child(AS_IS, &without, rows[i].act, NULL) == 0)
			fail_msg("%s", rows[i].what);
	}
}

static int act_install_without_nnp(const void *data)
{
	struct seccomp_policy policy = {0};
	struct seccomp_program p;

	(void)data;
	return seccomp_build(&policy, &p) < 0 ? CHILD_FAILED : -seccomp_install(&p);
}

static void test_needs_no_new_privs(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(act_install_without_nnp(NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EPERM);
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_install_without_nnp, NULL), 0);
}

/* TSYNC: a thread that was there before is confined too. */
static pthread_barrier_t barrier;

static void *thread_tries(void *data)
{
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	*(int *)data = syscall(SYS_personality, READ_IMPLIES_EXEC) < 0 ? errno : 0;
	return NULL;
}

static int act_restrict_self(const void *data)
{
	struct cordon_error err = {0};
	pthread_t thread;
	int got = -1;

	if (pthread_barrier_init(&barrier, NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, thread_tries, &got) != 0)
		return CHILD_FAILED;
	(void)pthread_barrier_wait(&barrier);
	if (*(const bool *)data && seccomp_restrict_self(&err) < 0)
		return CHILD_FAILED;
	(void)pthread_barrier_wait(&barrier);
	if (pthread_join(thread, NULL) != 0)
		return CHILD_FAILED;
	return got;
}

static void test_restrict_self(void **state)
{
	static const bool yes = true, no = false;

	(void)state;
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_restrict_self, &yes), EPERM);
	assert_int_equal(in_child(AS_IS, NO_FILTER, act_restrict_self, &no), 0);
	assert_int_equal(in_child(AS_NOBODY, NO_FILTER, act_restrict_self, &yes), EPERM);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_is_complete),
		cmocka_unit_test(test_every_policy_builds),
		cmocka_unit_test(test_plain_numbers),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_denied_worst),
		cmocka_unit_test(test_callnames),
		cmocka_unit_test(test_callname_numbers),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_live_refusals),
		cmocka_unit_test(test_live_refusals_as_nobody),
		cmocka_unit_test(test_live_is_complete),
		cmocka_unit_test(test_live_waiting),
		cmocka_unit_test(test_programs_go_on),
		cmocka_unit_test(test_interpreters),
		cmocka_unit_test(test_survives_execve),
		cmocka_unit_test(test_foreign_architectures),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_pairs_reach_nobody),
		cmocka_unit_test(test_grants),
		cmocka_unit_test(test_needs_no_new_privs),
		cmocka_unit_test(test_restrict_self),
	};
	int r;

	if (argc > 1 && strcmp(argv[1], "--personality") == 0)
		_exit(syscall(SYS_personality, READ_IMPLIES_EXEC) < 0 ? errno : 0);
	load_table();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(table_text);
	return r;
}
