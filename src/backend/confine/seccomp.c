/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  The program is
 *
 *     load arch; not ours: kill
 *     load nr
 *     a binary tree of "nr >= K" over ranges of numbers with the same answer
 *     the answers, each once: a return, or a block that looks at arguments
 *
 * so every call costs about nine instructions, not one per row.  Since Linux 5.11 the kernel runs the
 * program once per number when it is installed and remembers those that are allowed whatever the arguments;
 * for them the filter costs a bit test.  It can only do so for programs that look at nothing but arch and
 * nr before they return, which is why argument checks are blocks of their own behind the tree.
 *
 * Foreign architectures are killed, not refused: their numbers mean other calls, a 32-bit program whose
 * exit() fails as well would spin, and nothing probes for them.  On x86_64 that is int 0x80 (i386) and the
 * numbers from bit 30 up (x32).  Number -1 is what a tracer writes to skip a call: ENOSYS, as the kernel.
 *
 * Arguments are compared by their low 32 bits, because the kernel takes int or unsigned int in each of the
 * calls looked at: ioctl's command with bit 32 set is still TIOCSTI.
 */
#include "backend/confine/seccomp_builder.h"

#include "base/mem.h"
#include "base/shield.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECCOMP_ARCH_INSNS 3   /* at the start: is it our architecture? */
#define NR_X32 0x40000000u     /* __X32_SYSCALL_BIT */
#define NR_SKIPPED 0xffffffffu /* -1 */

/* Same numbers on every architecture of the table (asm-generic/ioctls.h). */
#define IOCTL_TIOCSTI 0x5412u
#define IOCTL_TIOCLINUX 0x541cu
#define IOCTL_TIOCCONS 0x541du
#define IOCTL_TIOCSETD 0x5423u

#define CLONE_NAMESPACES                                                                           \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |  \
		    CLONE_NEWPID | CLONE_NEWNET))
#define MODE_SET_ID ((uint32_t)(S_ISUID | S_ISGID))
#define OPEN_CREATES                                                                               \
	020000100u /* O_CREAT and the bit that is O_TMPFILE's alone; the same everywhere */
#define OPEN_WRITES (OPEN_CREATES | 01003u) /* and O_ACCMODE, O_TRUNC */
#define SEND_FAST_OPEN 0x20000000u          /* MSG_FASTOPEN: sends and connects */
#define CLONE_TIME 0x80u /* CLONE_NEWTIME; in clone() these bits are the exit signal */

enum seccomp_when {
	SECCOMP_WHEN_ALWAYS,
	SECCOMP_WHEN_NO_PTRACE,
	SECCOMP_WHEN_NO_USERNS,
	SECCOMP_WHEN_NO_TAKING,
	SECCOMP_WHEN_HOST_IPC,
	SECCOMP_WHEN_HOST_PIDS,
	SECCOMP_WHEN_NO_MEMFD,
	SECCOMP_WHEN_NO_SET_ID,
	SECCOMP_WHEN_FILES,
	SECCOMP_WHEN_NO_LINK_ATTRIBUTES,
	SECCOMP_WHEN_TELLS_CONNECT,
	SECCOMP_WHEN_TELLS_PATHS,
	SECCOMP_WHEN_WAITS_CONNECT,
	SECCOMP_WHEN_COUNT
};

enum seccomp_act {
	SECCOMP_ACT_ALLOW,
	SECCOMP_ACT_EPERM,
	SECCOMP_ACT_ENOSYS,
	SECCOMP_ACT_KILL,
	SECCOMP_ACT_EOPNOTSUPP,
	SECCOMP_ACT_NOTIFY,
	/* by argument */
	SECCOMP_ACT_IOCTL,
	SECCOMP_ACT_CLONE,
	SECCOMP_ACT_UNSHARE,
	SECCOMP_ACT_PERSONALITY,
	SECCOMP_ACT_MKNOD,
	SECCOMP_ACT_MKNODAT,
	SECCOMP_ACT_PID_ARG0,
	SECCOMP_ACT_MODE_ARG1,
	SECCOMP_ACT_MODE_ARG2,
	SECCOMP_ACT_FAST_OPEN_ARG2,
	SECCOMP_ACT_FAST_OPEN_ARG3,
	SECCOMP_ACT_SOCKET,
	SECCOMP_ACT_SOCKETPAIR,
	SECCOMP_ACT_OPEN,
	SECCOMP_ACT_OPENAT,
	SECCOMP_ACT_PRIORITY,
	SECCOMP_ACT_IOPRIO,
	SECCOMP_ACT_NOTIFY_OPEN,
	SECCOMP_ACT_NOTIFY_OPENAT,
	SECCOMP_ACT_IOCTL_FILES,
	SECCOMP_ACT_TELL_STAT,
	SECCOMP_ACT_TELL_SENDTO,
	SECCOMP_ACT_SETSOCKOPT,
	SECCOMP_ACT_COUNT
};

static const struct seccomp_row seccomp_rows[] = {
#define SYSCALL(name, x86_64, generic, when, action, why)                                          \
	{#name, {x86_64, generic}, SECCOMP_WHEN_##when, SECCOMP_ACT_##action, why},
#include "backend/confine/syscalls.def"
};

/* Numbers that no kernel we know uses: a later one may, as 335 was filled after ten years. */
struct seccomp_hole {
	uint16_t first;
	uint16_t last;
};

struct seccomp_arch_info {
	const char *name;
	uint32_t audit_arch;
	uint8_t column; /* of struct seccomp_row.nr */
	bool has_x32;
	uint16_t newest; /* file_setattr, Linux 6.17 */
	struct seccomp_hole holes[2];
};

#ifndef AUDIT_ARCH_RISCV64
#define AUDIT_ARCH_RISCV64 (243 | __AUDIT_ARCH_64BIT | __AUDIT_ARCH_LE)
#endif

static const struct seccomp_arch_info seccomp_arches[] = {
	[SECCOMP_X86_64] = {"x86_64", AUDIT_ARCH_X86_64, 0, true, 469, {{337, 423}, {1, 0}}},
	[SECCOMP_AARCH64] = {"aarch64", AUDIT_ARCH_AARCH64, 1, false, 469, {{244, 259}, {295, 423}}},
	[SECCOMP_RISCV64] = {"riscv64", AUDIT_ARCH_RISCV64, 1, false, 469, {{244, 257}, {295, 423}}},
};
_Static_assert(ARRAY_LEN(seccomp_arches) == SECCOMP_ARCH_COUNT, "one row per architecture");

/* One check by value: (argument & mask) among the values, or not. */
struct seccomp_check {
	uint8_t arg;
	bool refuses_match; /* else refuses everything but the values */
	uint8_t n;
	uint32_t mask;
	uint32_t values[4];
};

static const struct seccomp_check seccomp_checks[] = {
	[SECCOMP_ACT_IOCTL] = {1,
			       true,
			       4,
			       0xffffffffu,
			       {IOCTL_TIOCSTI, IOCTL_TIOCLINUX, IOCTL_TIOCCONS, IOCTL_TIOCSETD}},
	[SECCOMP_ACT_CLONE] = {0, false, 1, CLONE_NAMESPACES, {0}},
	[SECCOMP_ACT_UNSHARE] = {0, false, 1, CLONE_NAMESPACES | CLONE_TIME, {0}},
	[SECCOMP_ACT_PERSONALITY] = {0, false, 3, 0xffffffffu, {0, 0xffffffffu, 0x0040000u}},
	[SECCOMP_ACT_MKNOD] = {1, false, 4, S_IFMT | MODE_SET_ID, {0, S_IFREG, S_IFIFO, S_IFSOCK}},
	[SECCOMP_ACT_MKNODAT] = {2, false, 4, S_IFMT | MODE_SET_ID, {0, S_IFREG, S_IFIFO, S_IFSOCK}},
	[SECCOMP_ACT_PID_ARG0] = {0, false, 1, 0xffffffffu, {0}},
	[SECCOMP_ACT_MODE_ARG1] = {1, false, 1, MODE_SET_ID, {0}},
	[SECCOMP_ACT_MODE_ARG2] = {2, false, 1, MODE_SET_ID, {0}},
	[SECCOMP_ACT_FAST_OPEN_ARG2] = {2, false, 1, SEND_FAST_OPEN, {0}},
	[SECCOMP_ACT_FAST_OPEN_ARG3] = {3, false, 1, SEND_FAST_OPEN, {0}},
};
_Static_assert(ARRAY_LEN(seccomp_checks) == SECCOMP_ACT_SOCKET,
	       "the others have blocks of their own");

void seccomp_emit(struct seccomp_builder *b, uint16_t code, uint32_t k, size_t jt, size_t jf)
{
	if (b->out->len >= SECCOMP_INSNS_MAX || jt > UINT8_MAX || jf > UINT8_MAX) {
		b->error = -E2BIG;
		return;
	}
	b->out->insns[b->out->len++] =
		(struct sock_filter){.code = code, .jt = (uint8_t)jt, .jf = (uint8_t)jf, .k = k};
}

void seccomp_return(struct seccomp_builder *b, uint32_t value)
{
	seccomp_emit(b, BPF_RET | BPF_K, value, 0, 0);
}

void seccomp_return_errno(struct seccomp_builder *b, int number)
{
	if (b->policy->reports_refused && number != ENOSYS)
		seccomp_return(b, SECCOMP_RET_USER_NOTIF);
	else
		seccomp_return(b, SECCOMP_RET_ERRNO | (uint32_t)number);
}

/* Every architecture of the table is little endian: the low half comes first. */
void seccomp_load_arg(struct seccomp_builder *b, unsigned arg, uint32_t mask)
{
	seccomp_emit(b, BPF_LD | BPF_W | BPF_ABS,
		     (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)), 0,
		     0);
	if (mask != 0xffffffffu)
		seccomp_emit(b, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
}

void seccomp_jump_equal(struct seccomp_builder *b, uint32_t value, size_t jt, size_t jf)
{
	seccomp_emit(b, BPF_JMP | BPF_JEQ | BPF_K, value, jt, jf);
}

static void seccomp_block_check(struct seccomp_builder *b, const struct seccomp_check *check,
				uint32_t allow)
{
	seccomp_load_arg(b, check->arg, check->mask);
	/* each match goes to the last instruction */
	for (unsigned i = 0; i < check->n; i++)
		seccomp_jump_equal(b, check->values[i], (size_t)check->n - i, 0);
	if (check->refuses_match) {
		seccomp_return(b, allow);
		seccomp_return_errno(b, EPERM);
	} else {
		seccomp_return_errno(b, EPERM);
		seccomp_return(b, allow);
	}
}

/* The answer to calls that name a path and are let through. */
static uint32_t seccomp_path_answer(const struct seccomp_builder *b)
{
	return b->policy->tells_paths ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

/* Told where an argument has one of the bits of the mask, or where it has none. */
static void seccomp_block_tell(struct seccomp_builder *b, unsigned arg, uint32_t mask,
			       bool wants_bits)
{
	seccomp_load_arg(b, arg, mask);
	seccomp_jump_equal(b, 0, wants_bits ? 1 : 0, wants_bits ? 0 : 1);
	seccomp_return(b, SECCOMP_RET_USER_NOTIF);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}

/* The mode counts only where a file is made; else the register holds anything. */
static void seccomp_block_open(struct seccomp_builder *b, unsigned flags_arg)
{
	seccomp_load_arg(b, flags_arg, OPEN_CREATES);
	seccomp_jump_equal(b, 0, 4, 0);
	seccomp_load_arg(b, flags_arg + 1, MODE_SET_ID);
	seccomp_jump_equal(b, 0, 1, 0);
	seccomp_return_errno(b, EPERM);
	seccomp_return(b, seccomp_path_answer(b));
}

/* Which kind of thing, and which one: for groups and users 0 is not oneself but all of them. */
static void seccomp_block_oneself(struct seccomp_builder *b, uint32_t process)
{
	seccomp_load_arg(b, 0, 0xffffffffu);
	seccomp_jump_equal(b, process, 0, 2);
	seccomp_load_arg(b, 1, 0xffffffffu);
	seccomp_jump_equal(b, 0, 1, 0);
	seccomp_return_errno(b, EPERM);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}

/* Set-id bits are looked at by whoever answers. */
static void seccomp_block_notify_open(struct seccomp_builder *b, unsigned flags_arg)
{
	if (b->policy->files != SECCOMP_FILES_ALL) {
		seccomp_load_arg(b, flags_arg, OPEN_WRITES);
		seccomp_jump_equal(b, 0, 0, 1);
		seccomp_return(b, SECCOMP_RET_ALLOW);
	}
	seccomp_return(b, SECCOMP_RET_USER_NOTIF);
}

/*
 * File systems have ioctls of their own that change flags, make and remove subvolumes and more through any
 * descriptor, also one for reading, without a path that Landlock or we could see.  They are told by their
 * type (second byte): those of the common file systems are closed but for copying ranges, which needs a
 * descriptor for writing, and for looking.
 */
static void seccomp_block_ioctl_files(struct seccomp_builder *b)
{
	static const uint32_t passed[] = {
		0x40049409u, 0x4020940du, 0xc0189436u, /* FICLONE, -RANGE, FIDEDUPERANGE */
		0x80086601u, 0xc020660bu,              /* FS_IOC_GETFLAGS, FS_IOC_FIEMAP */
		0x801c581fu, 0x80087601u,              /* FS_IOC_FSGETXATTR, -GETVERSION */
	};
	static const uint32_t refused[] = {IOCTL_TIOCSTI, IOCTL_TIOCLINUX, IOCTL_TIOCCONS,
					   IOCTL_TIOCSETD};
	/* btrfs, FS_IOC_*, XFS and freezing, FS_IOC_SETVERSION, f2fs, bcachefs */
	static const uint32_t types[] = {0x9400u, 0x6600u, 0x5800u, 0x7600u, 0xf500u, 0xbc00u};
	size_t n = ARRAY_LEN(passed) + ARRAY_LEN(refused) + 1 + ARRAY_LEN(types);
	size_t at = 0; /* the instruction of n; behind them stand "allow" and "refuse" */

	seccomp_load_arg(b, 1, 0xffffffffu);
	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		seccomp_jump_equal(b, passed[i], n - ++at, 0);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		seccomp_jump_equal(b, refused[i], n - ++at + 1, 0);
	seccomp_emit(b, BPF_ALU | BPF_AND | BPF_K, 0xff00u, 0, 0);
	at++;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		seccomp_jump_equal(b, types[i], n - ++at + 1, 0);
	seccomp_return(b, SECCOMP_RET_ALLOW);
	seccomp_return_errno(b, EPERM);
}

static void seccomp_tree(struct seccomp_builder *b, size_t first, size_t last);

static void seccomp_answer(struct seccomp_builder *b, enum seccomp_act action)
{
	switch (action) {
	case SECCOMP_ACT_ALLOW:
		seccomp_return(b, SECCOMP_RET_ALLOW);
		return;
	case SECCOMP_ACT_EPERM:
		seccomp_return_errno(b, EPERM);
		return;
	case SECCOMP_ACT_ENOSYS:
		seccomp_return_errno(b, ENOSYS);
		return;
	case SECCOMP_ACT_KILL:
		seccomp_return(b, SECCOMP_RET_KILL_PROCESS);
		return;
	case SECCOMP_ACT_EOPNOTSUPP:
		seccomp_return_errno(b, EOPNOTSUPP);
		return;
	case SECCOMP_ACT_NOTIFY:
		seccomp_return(b, SECCOMP_RET_USER_NOTIF);
		return;
	case SECCOMP_ACT_IOCTL:
	case SECCOMP_ACT_CLONE:
	case SECCOMP_ACT_UNSHARE:
	case SECCOMP_ACT_PERSONALITY:
	case SECCOMP_ACT_PID_ARG0:
	case SECCOMP_ACT_FAST_OPEN_ARG2:
	case SECCOMP_ACT_FAST_OPEN_ARG3:
		seccomp_block_check(b, &seccomp_checks[action], SECCOMP_RET_ALLOW);
		return;
	case SECCOMP_ACT_MKNOD:
	case SECCOMP_ACT_MKNODAT:
	case SECCOMP_ACT_MODE_ARG1:
	case SECCOMP_ACT_MODE_ARG2:
		seccomp_block_check(b, &seccomp_checks[action], seccomp_path_answer(b));
		return;
	case SECCOMP_ACT_SOCKET:
		seccomp_block_socket(b);
		return;
	case SECCOMP_ACT_SOCKETPAIR:
		seccomp_block_socketpair(b);
		return;
	case SECCOMP_ACT_OPEN:
		seccomp_block_open(b, /* flags_arg= */ 1);
		return;
	case SECCOMP_ACT_OPENAT:
		seccomp_block_open(b, /* flags_arg= */ 2);
		return;
	case SECCOMP_ACT_PRIORITY:
		seccomp_block_oneself(b, PRIO_PROCESS);
		return;
	case SECCOMP_ACT_IOPRIO:
		seccomp_block_oneself(b, IOPRIO_WHO_PROCESS);
		return;
	case SECCOMP_ACT_NOTIFY_OPEN:
		seccomp_block_notify_open(b, /* flags_arg= */ 1);
		return;
	case SECCOMP_ACT_NOTIFY_OPENAT:
		seccomp_block_notify_open(b, /* flags_arg= */ 2);
		return;
	case SECCOMP_ACT_IOCTL_FILES:
		seccomp_block_ioctl_files(b);
		return;
	case SECCOMP_ACT_TELL_STAT: /* AT_EMPTY_PATH: fstat() */
		seccomp_block_tell(b, 3, 0x1000u, /* wants_bits= */ false);
		return;
	case SECCOMP_ACT_TELL_SENDTO: /* the low half of the pointer to the address will do */
		seccomp_block_tell(b, 4, 0xffffffffu, /* wants_bits= */ true);
		return;
	case SECCOMP_ACT_SETSOCKOPT:
		seccomp_block_setsockopt(b);
		return;
	case SECCOMP_ACT_COUNT:
		break;
	}
	b->error = -EINVAL;
}

/* A branch of the instruction at node: a range of its own leads to its answer, which is not there yet and is
 * noted; several become a subtree, which follows. */
static void seccomp_branch(struct seccomp_builder *b, size_t node, bool is_jt, size_t first,
			   size_t last)
{
	size_t distance = b->out->len - node - 1;

	if (b->error < 0)
		return;
	if (last - first == 1) {
		b->answers[node][is_jt] = (uint8_t)(b->ranges[first].action + 1);
		return;
	}
	if (distance > UINT8_MAX) {
		b->error = -E2BIG;
		return;
	}
	if (is_jt)
		b->out->insns[node].jt = (uint8_t)distance;
	else
		b->out->insns[node].jf = (uint8_t)distance;
	seccomp_tree(b, first, last);
}

/* Ranges first..last-1, at least two.  Depth is the logarithm of RANGES_MAX. */
static void seccomp_tree(struct seccomp_builder *b, size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t node = b->out->len;

	seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, 0, 0);
	seccomp_branch(b, node, /* is_jt= */ false, first, middle);
	seccomp_branch(b, node, /* is_jt= */ true, middle, last);
}

/* Writes the answers that the tree needs and lets it point to them.  A conditional jump reaches 255
 * instructions; a test builds every policy for every architecture. */
static void seccomp_answers(struct seccomp_builder *b)
{
	size_t tree_end = b->out->len;

	for (unsigned action = 0; action < SECCOMP_ACT_COUNT && b->error == 0; action++) {
		size_t start = b->out->len;
		bool is_used = false;

		for (size_t i = 0; i < tree_end; i++)
			for (unsigned is_jt = 0; is_jt < 2; is_jt++) {
				size_t distance = start - i - 1;

				if (b->answers[i][is_jt] != action + 1)
					continue;
				if (distance > UINT8_MAX)
					b->error = -E2BIG;
				if (is_jt)
					b->out->insns[i].jt = (uint8_t)distance;
				else
					b->out->insns[i].jf = (uint8_t)distance;
				is_used = true;
			}
		if (is_used)
			seccomp_answer(b, (enum seccomp_act)action);
	}
}

bool seccomp_row_holds(const struct seccomp_row *row, const struct seccomp_policy *p)
{
	switch ((enum seccomp_when)row->when) {
	case SECCOMP_WHEN_ALWAYS:
		return true;
	case SECCOMP_WHEN_NO_PTRACE:
		return !p->allows_ptrace;
	case SECCOMP_WHEN_NO_USERNS:
		return !p->allows_userns;
	case SECCOMP_WHEN_NO_TAKING:
		return !p->takes_descriptors;
	case SECCOMP_WHEN_HOST_IPC:
		return p->has_host_ipc;
	case SECCOMP_WHEN_HOST_PIDS:
		return p->has_host_pids;
	case SECCOMP_WHEN_NO_MEMFD:
		return p->denies_memfd;
	case SECCOMP_WHEN_NO_SET_ID:
		return p->denies_set_id;
	case SECCOMP_WHEN_FILES:
		return p->files != SECCOMP_FILES_KERNEL;
	case SECCOMP_WHEN_NO_LINK_ATTRIBUTES:
		return p->lacks_link_attributes;
	case SECCOMP_WHEN_TELLS_CONNECT:
		return p->tells_connect;
	case SECCOMP_WHEN_TELLS_PATHS:
		return p->tells_paths;
	case SECCOMP_WHEN_WAITS_CONNECT:
		return p->waits_connect;
	case SECCOMP_WHEN_COUNT:
		break;
	}
	return true;
}

static void seccomp_add_range(struct seccomp_builder *b, uint32_t first, uint8_t action)
{
	if (b->n && b->ranges[b->n - 1].action == action)
		return;
	b->ranges[b->n++] = (struct seccomp_range){first, action};
}

static void seccomp_make_ranges(struct seccomp_builder *b, enum seccomp_arch arch)
{
	const struct seccomp_arch_info *info = &seccomp_arches[arch];
	uint8_t actions[NR_TABLE] = {0};

	for (size_t i = 0; i < ARRAY_LEN(info->holes); i++)
		for (size_t nr = info->holes[i].first; nr <= info->holes[i].last; nr++)
			actions[nr] = SECCOMP_ACT_ENOSYS;
	for (size_t nr = info->newest + 1u; nr < NR_TABLE; nr++)
		actions[nr] = SECCOMP_ACT_ENOSYS;
	for (size_t i = 0; i < ARRAY_LEN(seccomp_rows); i++) {
		int nr = seccomp_row_nr(&seccomp_rows[i], arch);

		if (nr >= 0 && seccomp_row_holds(&seccomp_rows[i], b->policy))
			actions[nr] = seccomp_rows[i].action;
	}
	for (uint32_t nr = 0; nr < NR_TABLE; nr++)
		seccomp_add_range(b, nr, actions[nr]);
	if (info->has_x32)
		seccomp_add_range(b, NR_X32, SECCOMP_ACT_KILL);
	seccomp_add_range(b, NR_SKIPPED, SECCOMP_ACT_ENOSYS);
}

int seccomp_build_for(enum seccomp_arch arch, const struct seccomp_policy *p,
		      struct seccomp_program *ret)
{
	struct seccomp_program program = {0};
	struct seccomp_builder b = {.out = &program, .policy = p};

	if ((unsigned)arch >= SECCOMP_ARCH_COUNT)
		return -EINVAL;
	seccomp_make_ranges(&b, arch);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	seccomp_jump_equal(&b, seccomp_arches[arch].audit_arch, 1, 0);
	seccomp_return(&b, SECCOMP_RET_KILL_PROCESS);
	assert(b.error < 0 || program.len == SECCOMP_ARCH_INSNS);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	seccomp_tree(&b, 0, b.n);
	seccomp_answers(&b);
	if (b.error < 0)
		return b.error;
	*ret = program;
	return 0;
}

int seccomp_build(const struct seccomp_policy *p, struct seccomp_program *ret)
{
	enum seccomp_arch arch = seccomp_native_arch();

	return arch == SECCOMP_ARCH_COUNT ? -EOPNOTSUPP : seccomp_build_for(arch, p, ret);
}

int seccomp_callset_add(struct callset *s, const char *text)
{
	enum seccomp_arch arch = seccomp_native_arch();

	if (arch == SECCOMP_ARCH_COUNT)
		return -EOPNOTSUPP;
	return callset_add(s, seccomp_arches[arch].column, text);
}

const char *seccomp_call_name(int nr)
{
	enum seccomp_arch arch = seccomp_native_arch();
	const struct callname *c;

	for (size_t i = 0; arch != SECCOMP_ARCH_COUNT && (c = callname_at(i)); i++)
		if (c->nr[seccomp_arches[arch].column] == nr)
			return c->name;
	return NULL;
}

bool seccomp_text_has(const char *text, const char *name)
{
	struct callset all = {0}, one = {0};
	bool has = false;

	if (seccomp_callset_add(&all, text) < 0 || seccomp_callset_add(&one, name) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(all.bits); i++)
		has |= (all.bits[i] & one.bits[i]) != 0;
	return has;
}

/* The length of seccomp_denied_tree(). */
static size_t seccomp_denied_len(size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t lower;

	if (last - first == 1)
		return 1;
	lower = seccomp_denied_len(first, middle);
	return (lower > UINT8_MAX ? 2 : 1) + lower + seccomp_denied_len(middle, last);
}

/* Ranges first..last-1 as a tree whose leaves are the answers themselves.  There are as many as a list makes, so
 * the way over the lower half can be longer than a conditional jump reaches. */
static void seccomp_denied_tree(struct seccomp_builder *b, size_t first, size_t last)
{
	size_t middle = first + (last - first) / 2;
	size_t lower;

	if (last - first == 1) {
		seccomp_answer(b, (enum seccomp_act)b->ranges[first].action);
		return;
	}
	lower = seccomp_denied_len(first, middle);
	if (lower > UINT8_MAX) {
		seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, 0, 1);
		seccomp_emit(b, BPF_JMP | BPF_JA, (uint32_t)lower, 0, 0);
	} else {
		seccomp_emit(b, BPF_JMP | BPF_JGE | BPF_K, b->ranges[middle].first, lower, 0);
	}
	seccomp_denied_tree(b, first, middle);
	seccomp_denied_tree(b, middle, last);
}

int seccomp_build_denied(const struct callset *denied, struct seccomp_program *ret)
{
	static const struct seccomp_policy silent = {0}; /* a second filter has no listener */
	struct seccomp_program program = {0};
	struct seccomp_builder b = {.out = &program, .policy = &silent};

	/* The architecture is the first filter's business: a foreign one has been killed by it. */
	for (unsigned nr = 0; nr < CALLSET_NUMBERS; nr++)
		seccomp_add_range(&b, nr,
				  callset_has(denied, nr) ? SECCOMP_ACT_EPERM : SECCOMP_ACT_ALLOW);
	seccomp_add_range(&b, CALLSET_NUMBERS, SECCOMP_ACT_ALLOW);
	seccomp_emit(&b, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	seccomp_denied_tree(&b, 0, b.n);
	if (b.error < 0)
		return b.error;
	*ret = program;
	return 0;
}

/* The first filter's look at the architecture, the list, and then the first filter. */
int seccomp_join(const struct seccomp_program *denied, const struct seccomp_program *told,
		 struct seccomp_program *ret)
{
	size_t list = SECCOMP_ARCH_INSNS, rest = list + denied->len;
	struct seccomp_program p = {0};

	if (told->len < list || rest + told->len > SECCOMP_INSNS_MAX)
		return -E2BIG;
	memcpy(p.insns, told->insns, list * sizeof(p.insns[0]));
	memcpy(p.insns + list, denied->insns, denied->len * sizeof(p.insns[0]));
	memcpy(p.insns + rest, told->insns, told->len * sizeof(p.insns[0]));
	for (size_t i = list; i < rest; i++) {
		if (p.insns[i].code != (BPF_RET | BPF_K))
			continue;
		if (p.insns[i].k == SECCOMP_RET_ALLOW)
			p.insns[i] = (struct sock_filter){.code = BPF_JMP | BPF_JA,
							  .k = (uint32_t)(rest - i - 1)};
		else
			p.insns[i].k = SECCOMP_RET_USER_NOTIF;
	}
	p.len = (typeof(p.len))(rest + told->len);
	*ret = p;
	return 0;
}

enum seccomp_arch seccomp_native_arch(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	return SECCOMP_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__) && !defined(__ILP32__)
	return SECCOMP_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
	return SECCOMP_RISCV64;
#else
	return SECCOMP_ARCH_COUNT;
#endif
}

const char *seccomp_arch_name(enum seccomp_arch arch)
{
	return (unsigned)arch < SECCOMP_ARCH_COUNT ? seccomp_arches[arch].name : "unknown";
}

enum seccomp_arch seccomp_arch_find(const char *name)
{
	for (unsigned i = 0; i < SECCOMP_ARCH_COUNT; i++)
		if (strcmp(seccomp_arches[i].name, name) == 0)
			return (enum seccomp_arch)i;
	return SECCOMP_ARCH_COUNT;
}

const struct seccomp_row *seccomp_row(size_t i)
{
	return i < ARRAY_LEN(seccomp_rows) ? &seccomp_rows[i] : NULL;
}

int seccomp_row_nr(const struct seccomp_row *row, enum seccomp_arch arch)
{
	return row->nr[seccomp_arches[arch].column];
}

const struct seccomp_row *seccomp_row_of(int nr)
{
	enum seccomp_arch arch = seccomp_native_arch();

	for (size_t i = 0; nr >= 0 && arch != SECCOMP_ARCH_COUNT && i < ARRAY_LEN(seccomp_rows);
	     i++)
		if (seccomp_row_nr(&seccomp_rows[i], arch) == nr)
			return &seccomp_rows[i];
	return NULL;
}

const char *seccomp_row_action(const struct seccomp_row *row)
{
	if (row->action == SECCOMP_ACT_EPERM)
		return "EPERM";
	if (row->action == SECCOMP_ACT_ENOSYS)
		return "ENOSYS";
	if (row->action == SECCOMP_ACT_EOPNOTSUPP)
		return "EOPNOTSUPP";
	if (row->when == SECCOMP_WHEN_TELLS_CONNECT || row->when == SECCOMP_WHEN_TELLS_PATHS)
		return "told";
	return row->action == SECCOMP_ACT_NOTIFY ? "waits for an answer" : "by argument";
}

unsigned seccomp_newest(enum seccomp_arch arch)
{
	return seccomp_arches[arch].newest;
}
