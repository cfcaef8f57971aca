/* SPDX-License-Identifier: Apache-2.0 */
/* See reader.h. */
#include "backend/confine/reader.h"

#include "backend/confine/landlock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define READER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define READER_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define READER_ARCH AUDIT_ARCH_RISCV64
#endif

/* What moves bytes and memory; libc's qsort() asks how much there is.  Everything else fails with EPERM: that is as
 * tight as an end, and a call of libc that nobody thought of does not end a scan. */
static const int reader_calls[] = {
	SYS_read,           SYS_write,   SYS_readv,      SYS_writev,        SYS_close,
	SYS_munmap,         SYS_mremap,  SYS_brk,        SYS_madvise,       SYS_futex,
	SYS_getrandom,      SYS_lseek,   SYS_fstat,      SYS_clock_gettime, SYS_gettimeofday,
	SYS_rt_sigprocmask, SYS_exit,    SYS_exit_group, SYS_rt_sigreturn,  SYS_restart_syscall,
	SYS_ppoll,          SYS_sysinfo,
#if defined(__x86_64__)
	SYS_poll,
#endif
};

/* What reads a tree; Landlock says which. */
static const int reader_tree_calls[] = {
	SYS_openat,    SYS_getdents64, SYS_newfstatat, SYS_statx,  SYS_readlinkat,
	SYS_faccessat, SYS_faccessat2, SYS_fcntl,      SYS_getcwd,
#if defined(__x86_64__)
	SYS_open,      SYS_readlink,   SYS_lstat,      SYS_stat,   SYS_access,
#endif
};

/* Memory, as long as it is not to be executed. */
static const int reader_memory_calls[] = {SYS_mmap, SYS_mprotect};

struct reader_filter {
	struct sock_filter code[16 + 2 * (ARRAY_LEN(reader_calls) + ARRAY_LEN(reader_tree_calls)) +
				6 * ARRAY_LEN(reader_memory_calls)];
	size_t n;
};

static void reader_add(struct reader_filter *f, struct sock_filter op)
{
	f->code[f->n++] = op;
}

#define READER_STMT(f, code, k) reader_add(f, (struct sock_filter)BPF_STMT(code, k))
#define READER_JUMP(f, k, yes, no)                                                                 \
	reader_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no))

static void reader_allow(struct reader_filter *f, const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		READER_JUMP(f, (unsigned)calls[i], 0, 1);
		READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
}

static void reader_build(struct reader_filter *f, bool has_tree)
{
	READER_STMT(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	READER_JUMP(f, READER_ARCH, 1, 0);
	READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	READER_STMT(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	reader_allow(f, reader_calls, ARRAY_LEN(reader_calls));
	if (has_tree)
		reader_allow(f, reader_tree_calls, ARRAY_LEN(reader_tree_calls));
	for (size_t i = 0; i < ARRAY_LEN(reader_memory_calls); i++) {
		READER_JUMP(f, (unsigned)reader_memory_calls[i], 0, 5);
		/* the low half of the third argument, on every architecture that we know */
		READER_STMT(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]));
		READER_STMT(f, BPF_ALU | BPF_AND | BPF_K, PROT_EXEC);
		READER_JUMP(f, 0, 0, 1);
		READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	/* How wide the terminal is; not what types into it. */
	READER_JUMP(f, SYS_ioctl, 0, 4);
	READER_STMT(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]));
	READER_JUMP(f, TIOCGWINSZ, 1, 0);
	READER_JUMP(f, TCGETS, 0, 1);
	READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	READER_STMT(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
}

/* Where the kernel has no Landlock the filter alone is left: then a tree can be read as before. */
static int reader_files(int tree)
{
	struct stat st = {0};
	struct landlock_rule rule = {.fd = tree, .access = LANDLOCK_READ_NOEXEC};
	struct landlock_policy policy = {.abi = landlock_abi(), .rules = &rule};

	if (policy.abi <= 0)
		return 0;
	policy.denies_tcp = policy.abi >= LANDLOCK_ABI_TCP;
	policy.scopes_signals = policy.scopes_abstract_unix = policy.abi >= LANDLOCK_ABI_SCOPES;
	if (tree >= 0) {
		if (fstat(tree, &st) < 0)
			return -errno;
		rule.is_dir = S_ISDIR(st.st_mode);
		policy.n = 1;
	}
	return landlock_apply(&policy);
}

/* What seccomp() said.  A kernel without it says EINVAL, but so does one that takes the program for a wrong one: then
 * nobody may go on as if there were no such thing. */
static int reader_error(int error)
{
	if (error == EINVAL && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL)
		return -EOPNOTSUPP;
	return error == ENOSYS ? -EOPNOTSUPP : -error;
}

int reader_confine(int tree)
{
	struct reader_filter f = {.n = 0};
	struct sock_fprog program = {.filter = f.code};
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = reader_files(tree);
	if (r < 0)
		return r;
	reader_build(&f, tree >= 0);
	program.len = (unsigned short)f.n;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return reader_error(errno);
	return 0;
}
