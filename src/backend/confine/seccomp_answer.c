/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of the filter: a return, or a block that looks at arguments.  seccomp.c opens with the whole. */
#include "backend/confine/seccomp_builder.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Same numbers on every architecture of the table (asm-generic/ioctls.h). */
#define IOCTL_TIOCSTI 0x5412u
#define IOCTL_TIOCLINUX 0x541cu
#define IOCTL_TIOCCONS 0x541du
#define IOCTL_TIOCSETD 0x5423u

#define FCNTL_SETLEASE 1024u
#define FCNTL_NOTIFY 1026u
#define FCNTL_SETSIG 10u

#define CLONE_NAMESPACES                                                                           \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |  \
		    CLONE_NEWPID | CLONE_NEWNET))
#define MODE_SET_ID ((uint32_t)(S_ISUID | S_ISGID))
#define OPEN_CREATES                                                                               \
	020000100u /* O_CREAT and the bit that is O_TMPFILE's alone; the same everywhere */
#define OPEN_WRITES (OPEN_CREATES | 01003u) /* and O_ACCMODE, O_TRUNC */
#define SEND_FAST_OPEN 0x20000000u          /* MSG_FASTOPEN: sends and connects */
#define CLONE_TIME 0x80u /* CLONE_NEWTIME; in clone() these bits are the exit signal */

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
	[SECCOMP_ACT_FCNTL] = {1, true, 2, 0xffffffffu, {FCNTL_SETLEASE, FCNTL_NOTIFY}},
	[SECCOMP_ACT_CLONE] = {0, false, 1, CLONE_NAMESPACES, {0}},
	[SECCOMP_ACT_UNSHARE] = {0, false, 1, CLONE_NAMESPACES | CLONE_TIME, {0}},
	[SECCOMP_ACT_PERSONALITY] = {0, false, 3, 0xffffffffu, {0, 0xffffffffu, 0x0040000u}},
	[SECCOMP_ACT_MKNOD] = {1, false, 4, S_IFMT | MODE_SET_ID, {0, S_IFREG, S_IFIFO, S_IFSOCK}},
	[SECCOMP_ACT_MKNODAT] = {2, false, 4, S_IFMT | MODE_SET_ID, {0, S_IFREG, S_IFIFO, S_IFSOCK}},
	[SECCOMP_ACT_PID_ARG0] = {0, false, 1, 0xffffffffu, {0}},
	[SECCOMP_ACT_FCNTL_FIRST] =
		{1, true, 3, 0xffffffffu, {FCNTL_SETLEASE, FCNTL_NOTIFY, FCNTL_SETSIG}},
	[SECCOMP_ACT_FIRST_ARG0] = {0, true, 1, 0xffffffffu, {1}},
	[SECCOMP_ACT_MODE_ARG1] = {1, false, 1, MODE_SET_ID, {0}},
	[SECCOMP_ACT_MODE_ARG2] = {2, false, 1, MODE_SET_ID, {0}},
	[SECCOMP_ACT_FAST_OPEN_ARG2] = {2, false, 1, SEND_FAST_OPEN, {0}},
	[SECCOMP_ACT_FAST_OPEN_ARG3] = {3, false, 1, SEND_FAST_OPEN, {0}},
};
_Static_assert(ARRAY_LEN(seccomp_checks) == SECCOMP_ACT_SOCKET,
	       "the others have blocks of their own");

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

/* Goes on where an argument of 64 bits is not 0; else over the next n instructions. */
static void seccomp_skip_null(struct seccomp_builder *b, unsigned arg, size_t n)
{
	uint32_t low = (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));

	seccomp_emit(b, BPF_LD | BPF_W | BPF_ABS, low, 0, 0);
	seccomp_jump_equal(b, 0, 0, 2);
	seccomp_emit(b, BPF_LD | BPF_W | BPF_ABS, low + (uint32_t)sizeof(uint32_t), 0, 0);
	seccomp_jump_equal(b, 0, n, 0);
}
#define SKIP_NULL 4u /* its length */

/* "Yes", and nothing done.  A listener has nothing to tell. */
static void seccomp_return_unchanged(struct seccomp_builder *b)
{
	seccomp_return(b, SECCOMP_RET_ERRNO);
}

static void seccomp_block_setrlimit(struct seccomp_builder *b)
{
	seccomp_load_arg(b, 0, 0xffffffffu);
	seccomp_jump_equal(b, RLIMIT_CORE, 0, 1);
	seccomp_return_unchanged(b);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}

/* pid, which limit, what it shall be (or NULL), where to write what it was (or NULL). */
static void seccomp_block_prlimit(struct seccomp_builder *b, bool is_own_only)
{
	if (is_own_only) {
		seccomp_load_arg(b, 0, 0xffffffffu);
		seccomp_jump_equal(b, 0, 1, 0);
		seccomp_return_errno(b, EPERM);
	}
	seccomp_load_arg(b, 1, 0xffffffffu);
	seccomp_jump_equal(b, RLIMIT_CORE, 0, 2 * SKIP_NULL + 2);
	seccomp_skip_null(b, 2, SKIP_NULL + 2);
	seccomp_skip_null(b, 3, 1);
	seccomp_return_errno(b, EPERM); /* no filter can write it there */
	seccomp_return_unchanged(b);
	seccomp_return(b, SECCOMP_RET_ALLOW);
}

void seccomp_answer(struct seccomp_builder *b, enum seccomp_act action)
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
	case SECCOMP_ACT_FCNTL:
	case SECCOMP_ACT_CLONE:
	case SECCOMP_ACT_UNSHARE:
	case SECCOMP_ACT_PERSONALITY:
	case SECCOMP_ACT_PID_ARG0:
	case SECCOMP_ACT_FIRST_ARG0:
	case SECCOMP_ACT_FCNTL_FIRST:
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
	case SECCOMP_ACT_SETRLIMIT:
		seccomp_block_setrlimit(b);
		return;
	case SECCOMP_ACT_PRLIMIT:
	case SECCOMP_ACT_PRLIMIT_OWN:
		seccomp_block_prlimit(b, action == SECCOMP_ACT_PRLIMIT_OWN);
		return;
	case SECCOMP_ACT_COUNT:
		break;
	}
	b->error = -EINVAL;
}
