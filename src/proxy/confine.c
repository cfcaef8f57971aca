/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's own cage: no capability, no file but those that say where names are looked up, LIMIT_PROXY_MEMORY, and only
 * the system calls that a program needs which moves bytes between sockets.  Any other ends it, and with it the sandbox's
 * network; without memory a connection ends.
 */
#include "proxy/loop.h"

#include "backend/confine/landlock.h"
#include "backend/confine/privileges.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#endif

#define CONFINE_STATM_MAX 256

static const int confine_calls[] = {
	SYS_read,         SYS_write,          SYS_readv,        SYS_writev,
	SYS_close,        SYS_recvfrom,       SYS_recvmsg,      SYS_sendto,
	SYS_sendmsg,      SYS_splice,         SYS_epoll_pwait,  SYS_epoll_ctl,
	SYS_accept4,      SYS_connect,        SYS_bind,         SYS_getsockopt,
	SYS_setsockopt,   SYS_getsockname,    SYS_getpeername,  SYS_shutdown,
	SYS_pipe2,        SYS_fcntl,          SYS_fstat,        SYS_newfstatat,
	SYS_statx,        SYS_openat,         SYS_lseek,        SYS_mmap,
	SYS_munmap,       SYS_mprotect,       SYS_mremap,       SYS_brk,
	SYS_madvise,      SYS_futex,          SYS_getrandom,    SYS_clock_gettime,
	SYS_gettimeofday, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_getpid,
	SYS_uname,        SYS_exit_group,     SYS_exit,         SYS_restart_syscall,
	SYS_ioctl,        SYS_ppoll,
#if defined(__x86_64__)
	SYS_epoll_wait,   SYS_poll,           SYS_open,         SYS_stat,
	SYS_time,
#endif
};

/* Families of sockets: to the servers, and what getifaddrs() asks. */
static const int confine_families[] = {AF_INET, AF_INET6, AF_NETLINK};

#define CONFINE_LEN (8 + ARRAY_LEN(confine_calls) * 2 + 4 + ARRAY_LEN(confine_families) * 2)

static int confine_filter(void)
{
	struct sock_filter code[CONFINE_LEN];
	struct sock_fprog program = {.filter = code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_LEN(confine_calls); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)confine_calls[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, args[0]));
	for (size_t i = 0; i < ARRAY_LEN(confine_families); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)confine_families[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES);
	program.len = (unsigned short)n;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

static int confine_files(void)
{
	static const char *const files[] = {"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf",
					    "/etc/host.conf", "/etc/services"};
	struct landlock_rule rules[ARRAY_LEN(files)];
	struct landlock_policy policy = {.abi = landlock_abi(),
					 .rules = rules,
					 .scopes_signals = true,
					 .scopes_abstract_unix = true};
	int r;

	if (policy.abi <= 0)
		return 0; /* then there are no capabilities and the filter */
	policy.scopes_signals = policy.scopes_abstract_unix = policy.abi >= LANDLOCK_ABI_SCOPES;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		int fd = open(files[i], O_PATH | O_CLOEXEC);

		if (fd >= 0)
			rules[policy.n++] =
				(struct landlock_rule){.fd = fd, .access = LANDLOCK_READ_NOEXEC};
	}
	r = landlock_apply(&policy);
	for (size_t i = 0; i < policy.n; i++)
		(void)fd_close(rules[i].fd);
	return r;
}

/* Whoever speaks with us from inside a sandbox must not get at the host's memory through ours, which no limit of the
 * call counts.  What was there before the fork is the caller's and is not counted either: it may be anything. */
static int confine_memory(void)
{
	AUTO_FREE char *text = NULL;
	struct rlimit limit;
	int64_t pages = 0;
	uint64_t bytes;
	size_t len = 0;
	int fields = 0;
	int r = io_read_file_at(AT_FDCWD, "/proc/self/statm", CONFINE_STATM_MAX, &text, &len);

	/* "size resident shared text lib data dt" */
	for (char *rest = text, *word; r == 0 && (word = strsep(&rest, " ")) && fields < 6;)
		if (++fields == 6)
			r = parse_int(word, 0, INT64_MAX / 2, &pages);
	if (r < 0 || fields < 6)
		return r < 0 ? r : -EINVAL;
	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return -errno;
	bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) + LIMIT_PROXY_MEMORY;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < bytes)
		bytes = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = bytes;
	return setrlimit(RLIMIT_DATA, &limit) < 0 ? -errno : 0;
}

int confine_proxy(void)
{
	int r = confine_memory();

	if (r == 0)
		r = geteuid() == 0 ? privileges_drop() : privileges_renounce();
	if (r == 0)
		r = confine_files();
	return r == 0 ? confine_filter() : r;
}
