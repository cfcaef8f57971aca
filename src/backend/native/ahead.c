/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  The helper is a process with our memory and our descriptors but namespaces of its
 * own; it makes raw system calls only, because errno is ours as well (clone() of libc writes it only when it
 * fails, and then no helper is used).  Signals stay blocked in it; its stack need not hold 3 KiB.  We and the
 * helper take turns over one word in memory (a futex):
 *
 *     helper: all namespaces but the network's and the pids'      MAKING → MADE
 *     we:     the ids of the new user namespace                   MADE → MAPPED
 *     helper: the namespace that takes owners away                MAPPED → NAMED
 *     helper: the new root with what is in every one, the pids'   NAMED → READY
 *     we:     the program of the call is compiled                 READY → GO
 *     helper: a copy of our process, in the namespaces            GO → BORN, and it ends
 *
 * The copy is a child of ours (CLONE_PARENT), and has the memory and the descriptors of the moment in which it
 * is born, as if we had cloned it ourselves.  A second helper then makes the network's namespace, which takes as
 * long as all else together.  When it has, it leaves a descriptor of it and ends; if somebody was born before, it stays
 * and writes to another descriptor that it is ready, and the copy, which has built its view meanwhile, finds the
 * namespace by its process.  What a call needs in there (doors.h) is made by
 * the copy, which has an errno of its own.
 *
 * A scheduler may put a new process behind the one that made it, where it waits until that one sleeps, although
 * other processors are idle; then nothing would be done ahead.  So the first helper is moved away from our processor, and
 * what it starts begins there.  The copy may then use all that we may: we are about to wait, and another may be busy.
 *
 * To be woken on an idle processor takes longer than most of these waits, above all on a virtual machine.  So who
 * waits looks at the word for a while before it sleeps, but only if the other one was last seen on another
 * processor: else it would keep it from its own.
 *
 * While it waits for its ids it reads the kernel's list of sockets, which on a desktop is long; those in the
 * system's directories are closed (core/fsguard.c).
 *
 * Nothing of the call is decided before: helpers that are not used are killed.  They also die with us, all but
 * the one that makes the namespace without owners, which ends by itself after eight system calls.  Who waits
 * for the helper looks now and then whether it lives; if not, the call goes the other way.
 *
 * The start.  Where the program has an entry of its own (cli/entry.c) the first helper is started there, before the
 * C library, which takes as long as the namespaces do.  Nothing is relocated then and there is no thread: up to MADE
 * helpers call nothing of libc but clone(), and have a place of their own where a thread's variables would be (the
 * stack protector looks there).  The second helper is started at once, since the other processor has nothing to do.
 *
 * The end.  The last process of a mount namespace unmounts everything before it is gone, twice waiting for
 * all processors, and a caller would wait for that too.  So we hold the namespace until our own end, and then
 * leave it to the kernel's collector of descriptors that nobody can reach, which works by itself.  When we
 * are killed, it ends with us.
 */
#include "backend/native/child.h"
#include "backend/native/ahead.h"

#include "backend/cgroup/cgroup.h"
#include "backend/cgroup/parent.h"
#include "backend/confine/privileges.h"
#include "backend/idmap.h"
#include "base/fd.h"
#include "base/raw.h"
#include "base/shield.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define AHEAD_STACK_BYTES 32768
#define AHEAD_LOOK_MS 20    /* between looks whether the helper lives */
#define AHEAD_LOOKS_MAX 500 /* then it is given up */
#define AHEAD_SPIN_US 300   /* at most, before somebody sleeps */
#define AHEAD_SPINS 64      /* between looks at the clock */

#define AHEAD_SOCKETS_BYTES                                                                        \
	262144 /* of the kernel's list; with more of them it is read when it is asked for */
#define AHEAD_SIGSET_BYTES 8 /* of the kernel */

enum ahead_state {
	AHEAD_NONE,
	AHEAD_MAKING,
	AHEAD_MADE,
	AHEAD_MAPPED,
	AHEAD_NAMED,
	AHEAD_READY,
	AHEAD_GO,
	AHEAD_BORN,
	AHEAD_FAILED
};

enum ahead_network {
	AHEAD_NETWORK_MAKING,
	AHEAD_NETWORK_MADE,  /* there is a descriptor, or an error */
	AHEAD_NETWORK_WANTED /* somebody will wait for it */
};

static struct {
	_Atomic int state;
	bool is_early; /* before the C library */
	long thread;   /* our thread's variables, when there is one */
	struct proc helper;
	struct proc network; /* the second one */
	int network_ready;   /* eventfd */
	_Atomic int network_state;
	int network_ns;      /* in the descriptors that we share, as are all here; or -errno */
	_Atomic int our_cpu; /* where we and the first helper were last seen, or -1 */
	_Atomic int helper_cpu;
	struct native_cpus cpus; /* that we may use; empty if the helper may, too */
	int mount_ns;
	int left[2]; /* the sockets that it is on its way in, or -1 */
	pid_t parent;
	ino_t parent_mnt; /* our own mount namespace; known when the ids are mapped */
	ino_t parent_net; /* our own network's, as the first helper has seen it; or 0 */
	struct view_maps maps;
	int nobody_ns;
	int root;
	_Atomic long sockets_len; /* when they are read */
	bool is_kept;
	struct view_program base;
	sigset_t all_signals;
	struct native_child *child;
	int pidfd; /* of the process that was born */
	long pid;
} ahead = {
	.helper = PROC_NONE,
	.network = PROC_NONE,
	.network_ready = -1,
	.network_ns = -1,
	.our_cpu = -1,
	.helper_cpu = -1,
	.mount_ns = -1,
	.left = {-1, -1},
	.nobody_ns = -1,
	.root = -1,
};

static void ahead_set(enum ahead_state state)
{
	atomic_store(&ahead.state, (int)state);
	(void)raw_call(SYS_futex, &ahead.state, FUTEX_WAKE_PRIVATE, 1);
}

/* Notes where the caller is. */
__attribute__((no_stack_protector)) static int ahead_seen(_Atomic int *where)
{
	unsigned cpu = 0;

	(void)raw_call(SYS_getcpu, &cpu, 0, 0); /* cannot fail with a valid pointer */
	atomic_store(where, (int)cpu);
	return (int)cpu;
}

static int64_t ahead_now_us(void)
{
	struct timespec now = {0};

	(void)raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void ahead_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* Is the helper, or what it started, at work on another processor than ours?  Before it was seen: if it was moved there. */
static bool ahead_is_elsewhere(void)
{
	int helper = atomic_load(&ahead.helper_cpu);

	return helper < 0 ? ahead.cpus.bytes > 0 : helper != ahead_seen(&ahead.our_cpu);
}

/* Looks at the word until it is at least wanted, or for a while. */
static void ahead_spin(enum ahead_state wanted)
{
	int64_t end = ahead_now_us() + AHEAD_SPIN_US;

	do
		for (int i = 0; i < AHEAD_SPINS; i++) {
			if (atomic_load(&ahead.state) >= (int)wanted)
				return;
			ahead_pause();
		}
	while (ahead_now_us() < end);
}

/* In the helper: waits until we have had our turn. */
static int ahead_await(enum ahead_state wanted)
{
	int now;

	while ((now = atomic_load(&ahead.state)) < (int)wanted)
		(void)raw_call(SYS_futex, &ahead.state, FUTEX_WAIT_PRIVATE, now);
	return now;
}

/* Moves the helper to another processor than ours, if there is one that it may use. */
__attribute__((no_stack_protector)) static void ahead_part(void)
{
	/* Not on the stack: a compiler would clear it by a function of libc, which is not there yet. */
	static unsigned long others[ARRAY_LEN(ahead.cpus.bits)];
	bool is_any = false;
	long n = raw_call(SYS_sched_getaffinity, 0, sizeof(ahead.cpus.bits), ahead.cpus.bits);
	size_t cpu = (size_t)ahead_seen(&ahead.our_cpu);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*others); i++) {
		others[i] = ahead.cpus.bits[i];
		if (i == cpu / NATIVE_CPU_BITS)
			others[i] &= ~(1UL << cpu % NATIVE_CPU_BITS);
		is_any = is_any || others[i];
	}
	if (is_any && raw_call(SYS_sched_setaffinity, ahead.helper.pid, n, others) == 0)
		ahead.cpus.bytes = n;
}

_Noreturn static void ahead_exit(void)
{
	for (;;)
		(void)raw_call(SYS_exit_group, 0);
}

static long ahead_write(const char *path, const char *text)
{
	long fd = raw_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
	long r;

	if (fd < 0)
		return fd;
	r = raw_call(SYS_write, fd, text, (long)strlen(text));
	(void)raw_call(SYS_close, fd);
	return r;
}

static int ahead_nobody_main(void *arg)
{
	long r = raw_call(SYS_unshare, CLONE_NEWUSER);

	(void)arg;
	if (r >= 0)
		r = ahead_write("/proc/self/setgroups", "deny");
	if (r >= 0)
		r = ahead_write("/proc/self/uid_map", ahead.maps.uid);
	if (r >= 0)
		r = ahead_write("/proc/self/gid_map", ahead.maps.gid);
	if (r >= 0)
		r = raw_call(SYS_openat, AT_FDCWD, "/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	ahead.nobody_ns = (int)r;
	ahead_exit();
}

/* view_nobody_namespace() for here: clone() touches errno only when it fails, and like this it needs nothing
 * but memory. */
static void ahead_nobody(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];
	int pid = clone(ahead_nobody_main, stack + sizeof(stack),
			CLONE_VM | CLONE_VFORK | CLONE_FILES, NULL);

	if (pid < 0)
		ahead.nobody_ns = -ENOMEM;
	else
		(void)raw_call(SYS_wait4, pid, 0, __WALL);
}

/* The process that a call is in, or nothing. */
static void ahead_bear(void)
{
	struct clone_args args = {
		.flags = CLONE_PARENT | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&ahead.pidfd,
	};
	const struct cgroup *group = ahead.child->program->plan->cgroup;

	if (group) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)cgroup_clone_fd(group);
		ahead.child->is_in_cgroup = true;
	}
	ahead.pid = raw_call(SYS_clone3, &args, sizeof(args));
	if (ahead.pid == 0)
		native_child_main(ahead.child);
	ahead_set(ahead.pid > 0 ? AHEAD_BORN : AHEAD_FAILED);
}

/* Dies with us. */
static long ahead_tie(void)
{
	long r = raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);

	if (r == 0 && raw_call(SYS_getppid, 0) != ahead.parent)
		ahead_exit(); /* we were gone before */
	return r;
}

/* One of the two is first.  Are we? */
static bool ahead_network_becomes(enum ahead_network state)
{
	int making = AHEAD_NETWORK_MAKING;

	return atomic_compare_exchange_strong(&ahead.network_state, &making, (int)state);
}

/* The second helper: stays until it is killed if somebody wants to find its namespace. */
_Noreturn static int ahead_network_main(void *arg)
{
	uint64_t word;
	long r = ahead_tie();

	(void)arg;
	if (r == 0)
		r = raw_call(SYS_unshare, CLONE_NEWNET);
	if (r == 0)
		r = native_loopback();
	ahead.network_ns = (int)(r < 0 ? r
				       : raw_call(SYS_openat, AT_FDCWD, "/proc/self/ns/net",
						  O_RDONLY | O_CLOEXEC));
	if (ahead_network_becomes(AHEAD_NETWORK_MADE))
		ahead_exit();
	word = 1 + (r < 0 ? (uint64_t)-r : 0); /* what went wrong, for who waits */
	(void)raw_call(SYS_write, ahead.network_ready, &word, sizeof(word));
	for (;;)
		(void)raw_call(SYS_rt_sigsuspend, &ahead.all_signals, AHEAD_SIGSET_BYTES);
}

static long ahead_make(void)
{
	long r = raw_call(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
					       CLONE_NEWCGROUP);

	/* After it: new credentials clear it. */
	if (r == 0)
		r = ahead_tie();
	if (r < 0)
		return r;
	ahead.mount_ns =
		(int)raw_call(SYS_openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (ahead.mount_ns < 0)
		return ahead.mount_ns;
	r = native_hostname();
	return r < 0 ? r : privileges_bound();
}

/* Starts the second helper.  Unless it is early, not before the first one has done its part: on two processors it
 * would take the first one's, and nobody needs the network until the view is built. */
static int ahead_network(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];

	ahead.network.pid = clone(ahead_network_main, stack + sizeof(stack),
				  CLONE_VM | CLONE_FILES | CLONE_PARENT | CLONE_PIDFD, NULL,
				  &ahead.network.pidfd);
	return ahead.network.pid < 0 ? -ECHILD : 0;
}

/* Before the first mount: in the wrong namespace every step would change the machine. */
static int ahead_check_namespace(void)
{
	struct stat st;
	long r = raw_call(SYS_newfstatat, ahead.mount_ns, "", &st, AT_EMPTY_PATH);

	if (r < 0)
		return (int)r;
	return ahead.parent_mnt != 0 && st.st_ino != ahead.parent_mnt ? 0 : -EPERM;
}

/* The new root and the steps of the base, of which none opens something for good or needs libc. */
static int ahead_build(void)
{
	struct view_cache cache = VIEW_CACHE_EMPTY;
	int r = ahead_check_namespace();

	if (r < 0)
		return r;
	(void)raw_call(SYS_umask, 0);
	ahead.root = view_root_make();
	if (ahead.root < 0)
		return ahead.root;
	for (size_t i = 0; i < ahead.base.n; i++) {
		r = view_step_run(ahead.root, &ahead.base.steps[i], &cache);
		if (r < 0)
			return r;
	}
	return 0;
}

static char ahead_sockets_text[AHEAD_SOCKETS_BYTES];

/* In the network that we and the first helper are in. */
static void ahead_read_sockets(void)
{
	long fd = raw_call(SYS_openat, AT_FDCWD, "/proc/net/unix", O_RDONLY | O_CLOEXEC);
	long room = AHEAD_SOCKETS_BYTES - 1;
	long r = fd < 0 ? fd : 1;

	while (r > 0 && room > 0) {
		r = raw_call(SYS_read, fd, ahead_sockets_text + AHEAD_SOCKETS_BYTES - 1 - room,
			     room);
		room -= r > 0 ? r : 0;
	}
	if (fd >= 0)
		(void)raw_call(SYS_close, fd);
	if (r == 0 && room > 0) /* to the end */
		atomic_store(&ahead.sockets_len, AHEAD_SOCKETS_BYTES - 1 - room);
}

char *native_ahead_sockets(void)
{
	long len = atomic_exchange(&ahead.sockets_len, 0);

	if (len == 0)
		return NULL;
	ahead_sockets_text[len] = '\0';
	return ahead_sockets_text;
}

#if defined(__x86_64__)
/* The variables of our thread, as a helper has them that was started later. */
static void ahead_adopt_thread(void)
{
	if (ahead.is_early)
		(void)raw_call(SYS_arch_prctl, ARCH_SET_FS, ahead.thread);
}

static void ahead_note_thread(void)
{
	__asm__("mov %%fs:0, %0" : "=r"(ahead.thread));
}
#else
static void ahead_adopt_thread(void)
{
}

static void ahead_note_thread(void)
{
}
#endif

static int ahead_main(void *arg)
{
	long r = ahead_make();
	struct stat net;

	(void)arg;
	if (r == 0 && ahead.is_early)
		r = ahead_network();
	ahead_set(r < 0 ? AHEAD_FAILED : AHEAD_MADE);
	/* Before the second helper has another one; we have nothing to do until there are ids. */
	if (r == 0 && raw_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/net", &net, 0) == 0)
		ahead.parent_net = net.st_ino;
	if (r == 0)
		ahead_read_sockets();
	/* Without looking at the word first: the second helper needs a processor now. */
	if (r < 0 || ahead_await(AHEAD_MAPPED) != AHEAD_MAPPED)
		ahead_exit();
	ahead_adopt_thread();
	(void)ahead_seen(&ahead.helper_cpu);
	ahead_nobody();
	ahead_set(AHEAD_NAMED);
	r = ahead_build();
	if (r == 0 && !ahead.is_early)
		r = ahead_network();
	/* Last: the next process that we start is the first of them. */
	if (r == 0)
		r = raw_call(SYS_unshare, CLONE_NEWPID);
	ahead_set(r < 0 ? AHEAD_FAILED : AHEAD_READY);
	if (r == 0 && ahead_seen(&ahead.helper_cpu) != atomic_load(&ahead.our_cpu))
		ahead_spin(AHEAD_GO);
	if (r == 0 && ahead_await(AHEAD_GO) == AHEAD_GO)
		ahead_bear();
	ahead_exit();
}

#if defined(__x86_64__)
#define AHEAD_THREAD_BYTES 4096 /* more than the variables of a thread */

_Noreturn __attribute__((used, no_stack_protector)) static void ahead_early_main(void)
{
	_Alignas(64) static long thread[AHEAD_THREAD_BYTES / sizeof(long)];
	long *self = thread + ARRAY_LEN(thread) / 2;

	*self = (long)self;
	if (raw_call(SYS_arch_prctl, ARCH_SET_FS, self) == 0)
		(void)ahead_main(NULL);
	ahead_exit();
}

/* clone() for here: it writes no errno. */
__attribute__((no_stack_protector)) static long ahead_early_clone(char *stack)
{
	register long r10 __asm__("r10") = 0;
	long r;

	__asm__ volatile("syscall\n"
			 "	test %%rax, %%rax\n"
			 "	jnz 1f\n"
			 "	xor %%ebp, %%ebp\n"
			 "	call ahead_early_main\n"
			 "1:"
			 : "=a"(r)
			 : "a"(SYS_clone), "D"(CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD),
			   "S"(stack), "d"(&ahead.helper.pidfd), "r"(r10)
			 : "rcx", "r11", "memory");
	return r;
}

__attribute__((no_stack_protector)) void native_ahead_early(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];
	const unsigned long all = ~0UL;
	unsigned long old = 0;
	long r = raw_call(SYS_eventfd2, 0, EFD_CLOEXEC);

	if (r < 0)
		return;
	ahead.network_ready = (int)r;
	__builtin_memcpy(&ahead.all_signals, &all, sizeof(all));
	if (raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, AHEAD_SIGSET_BYTES) < 0)
		return;
	ahead.parent = (pid_t)raw_call(SYS_getpid, 0);
	ahead.is_early = true;
	atomic_store(&ahead.state, AHEAD_MAKING);
	ahead.helper.pid = (pid_t)ahead_early_clone(stack + sizeof(stack));
	if (ahead.helper.pid < 0)
		atomic_store(&ahead.state, AHEAD_FAILED);
	else
		ahead_part();
	(void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, AHEAD_SIGSET_BYTES);
}
#endif

static void ahead_begin(void)
{
	_Alignas(16) static char stack[AHEAD_STACK_BYTES];
	sigset_t old;

	(void)sigfillset(&ahead.all_signals); /* cannot fail with a valid pointer */
	ahead.network_ready = eventfd(0, EFD_CLOEXEC);
	if (ahead.network_ready < 0 || pthread_sigmask(SIG_SETMASK, &ahead.all_signals, &old) != 0)
		return;
	ahead.parent = getpid();
	atomic_store(&ahead.state, AHEAD_MAKING);
	ahead.helper.pid = clone(ahead_main, stack + sizeof(stack),
				 CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD, NULL,
				 &ahead.helper.pidfd);
	if (ahead.helper.pid < 0) {
		ahead.helper = PROC_NONE;
		atomic_store(&ahead.state, AHEAD_FAILED);
	} else {
		ahead_part();
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* a mask that was in force is valid */
}

void native_ahead_start(void)
{
	if (shield_any_off())
		return;
	if (atomic_load(&ahead.state) == AHEAD_NONE)
		ahead_begin();
	else if (!ahead.is_early || atomic_load(&ahead.state) == AHEAD_FAILED)
		return;
	/* Not before: the helper needs the rest only when it has been given its ids. */
	cgroup_parent_helpers(native_ahead_done);
	ahead_note_thread();
	view_nobody_maps(&ahead.maps);
	if (ahead.helper.pidfd >= 0 && view_base(&ahead.base) < 0)
		native_ahead_done();
	native_ahead_map();
}

/* The first helper has ended by itself when somebody was born. */
void native_ahead_stop(void)
{
	if (ahead.network.pidfd >= 0 && atomic_load(&ahead.network_state) == AHEAD_NETWORK_WANTED)
		(void)!proc_signal(&ahead.network, SIGKILL); /* or it has ended */
}

static void ahead_kill(struct proc *p)
{
	if (p->pidfd < 0)
		return;
	(void)!proc_signal(p, SIGKILL); /* or it has ended */
	while (waitid(P_PIDFD, (id_t)p->pidfd, &(siginfo_t){0}, WEXITED | __WALL) < 0)
		if (errno != EINTR)
			break;
	proc_done(p);
}

void native_ahead_done(void)
{
	/* In this order: the first one makes the second one. */
	ahead_kill(&ahead.helper);
	ahead_kill(&ahead.network);
	ahead.network_ready = fd_close(ahead.network_ready);
	ahead.network_ns = fd_close(ahead.network_ns);
	ahead.nobody_ns = fd_close(ahead.nobody_ns);
	ahead.root = fd_close(ahead.root);
	atomic_store(&ahead.state, AHEAD_FAILED);
}

/* Takes the descriptor: sends it, and the socket that would receive it, to that socket.  Nobody can take either
 * from there, and the collector, which the last close() starts, finds both.  Our own descriptor goes before
 * that: if it were the last one, we would unmount after all. */
static void ahead_leave(int fd)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte = 0;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ahead.left) < 0) {
		ahead.left[0] = ahead.left[1] = -1;
		(void)fd_close(fd);
		return;
	}
	fds[0] = ahead.left[0];
	fds[1] = fd;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	/* Or it ends with the close.  The first process of the sandbox is in that namespace as well until its end. */
	(void)sendmsg(ahead.left[1], &m, MSG_NOSIGNAL);
	(void)fd_close(fd);
}

void native_ahead_settle(void)
{
	native_ahead_done();
	if (ahead.mount_ns >= 0)
		ahead_leave(TAKE_FD(ahead.mount_ns));
}

void native_ahead_end(void)
{
	native_ahead_settle();
	ahead.left[0] = fd_close(ahead.left[0]);
	ahead.left[1] = fd_close(ahead.left[1]);
}

/* Waits for one of our turns.  Is it that one? */
static bool ahead_reaches(enum ahead_state wanted)
{
	if (atomic_load(&ahead.state) < (int)wanted && ahead_is_elsewhere())
		ahead_spin(wanted);
	for (int looks = 0; looks < AHEAD_LOOKS_MAX;) {
		const struct timespec pause = {.tv_nsec = AHEAD_LOOK_MS * 1000000L};
		int now = atomic_load(&ahead.state);
		siginfo_t info = {0};
		long r;

		if (now >= (int)wanted)
			return now != AHEAD_FAILED;
		r = raw_call(SYS_futex, &ahead.state, FUTEX_WAIT_PRIVATE, now, &pause);
		if (r != -ETIMEDOUT)
			continue;
		looks++;
		if (waitid(P_PIDFD, (id_t)ahead.helper.pidfd, &info, WEXITED | WNOHANG | WNOWAIT) <
			    0 ||
		    info.si_pid != 0) {
			/* It may have reached its last state, and ended, since we looked. */
			now = atomic_load(&ahead.state);
			return now >= (int)wanted && now != AHEAD_FAILED;
		}
	}
	return false;
}

void native_ahead_keep(bool is_kept)
{
	ahead.is_kept = is_kept;
}

static bool ahead_fits(const struct plan *plan)
{
	if (ahead.is_kept || ahead.helper.pidfd < 0 || plan->net == PLAN_NET_HOST)
		return false;
	/* Groups that are entered by writing cost far more than all of this saves. */
	if (plan->cgroup && !cgroup_is_entered_by_clone(plan->cgroup))
		return false;
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_DEV)
			return true;
	return false;
}

void native_ahead_map(void)
{
	struct stat st;

	if (ahead.helper.pidfd < 0 || atomic_load(&ahead.state) != AHEAD_MADE)
		return;
	if (stat("/proc/self/ns/mnt", &st) < 0 || idmap_own(ahead.helper.pid) < 0) {
		native_ahead_done();
		return;
	}
	ahead.parent_mnt = st.st_ino;
	(void)ahead_seen(&ahead.our_cpu);
	ahead_set(AHEAD_MAPPED);
}

/* The helper is about to have its namespaces: without ids it can do nothing more, and we would wait for it longer
 * later on than now. */
void native_ahead_meet(void)
{
	if (atomic_load(&ahead.state) == AHEAD_MAKING && ahead_is_elsewhere())
		ahead_spin(AHEAD_MADE);
	native_ahead_map();
}

static int ahead_give_nobody(void)
{
	return ahead_reaches(AHEAD_NAMED) && ahead.nobody_ns >= 0 ? fd_dup(ahead.nobody_ns, 3)
								  : -ECHILD;
}

const struct view_made *native_ahead_made(const struct plan *plan)
{
	static const struct view_made nothing;
	static const struct view_made made = {.base = &ahead.base, .nobody = ahead_give_nobody};

	native_ahead_map();
	return ahead_fits(plan) && atomic_load(&ahead.state) >= AHEAD_MAPPED ? &made : &nothing;
}

int native_ahead_clone(struct native_child *c, struct proc *ret)
{
	int r = 0;

	if (!ahead_fits(c->program->plan))
		return -ECHILD;
	if (atomic_load(&ahead.state) < AHEAD_MAPPED && ahead_reaches(AHEAD_MADE))
		native_ahead_map();
	r = ahead_reaches(AHEAD_READY) ? 0 : -ECHILD;
	if (r == 0) {
		c->cache.nobody_ns = ahead.nobody_ns;
		c->is_mapped = true;
		c->parent_mnt = ahead.parent_mnt;
		c->parent_net = ahead.parent_net;
		c->root = ahead.root;
		c->cpus = ahead.cpus;
		c->network_ready = c->network = -1;
		if (ahead_network_becomes(AHEAD_NETWORK_WANTED)) {
			c->network_ready = ahead.network_ready;
			c->network = ahead.network.pidfd;
		} else {
			c->network = ahead.network_ns;
		}
		r = c->network < 0 ? -ECHILD : 0;
	}
	if (r == 0) {
		ahead.child = c;
		ahead_set(AHEAD_GO);
		r = ahead_reaches(AHEAD_BORN) ? 0 : -ECHILD;
	}
	if (r < 0) {
		native_ahead_done();
		c->cache.nobody_ns = c->root = -1;
		c->is_mapped = c->is_in_cgroup = false;
		c->cpus.bytes = 0;
		return r;
	}
	*ret = (struct proc){.pid = (pid_t)ahead.pid, .pidfd = ahead.pidfd};
	return 0;
}

void native_ahead_listen(int channel)
{
	int64_t end = ahead_now_us() + AHEAD_SPIN_US;
	char byte;

	if (!ahead_is_elsewhere())
		return;
	while (recv(channel, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN &&
	       ahead_now_us() < end)
		for (int i = 0; i < AHEAD_SPINS; i++)
			ahead_pause();
}
