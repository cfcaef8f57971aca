/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a virtual machine that runs one call: static, and with the launcher and a few kernel modules
 * all that there is in the machine.  It says that it is ready, and here a template of the machine is taken: nothing of
 * any call has come in yet.  Then it takes one call, sets the clock and the entropy that come with it, builds the root
 * from the host's share, and starts the launcher (launch/inner.c) as the first process of a pid namespace, with
 * everything that the command must not have taken away.  It passes streams and signals until the command has ended,
 * tells that, and waits for the machine to be switched off.
 */
#include "backend/vm/guest.h"

#include "backend/launch/image.h"
#include "backend/stage.h"
#include "backend/vm/wire.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/random.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GUEST_PORT_MS 20000 /* for the port to appear */
#define GUEST_NAME_MAX 256
#define GUEST_ORDER_MAX 8192
#define GUEST_FDS_SAFE 32

struct guest {
	struct vm_link link;
	bool is_vsock; /* the link is a stream to the host, not a port */
	struct vm_end_of_stream streams[VM_STREAM_COUNT];
	struct vm_call call;
	int channel; /* to the launcher */
	pid_t launcher;
	bool is_started;
	bool has_status;
	bool is_over;    /* the launcher has ended */
	bool is_starved; /* and we have ended it, at its memory limit */
	int pressure;    /* see guest_group_watch() */
	int told;        /* see guest_network() */
	int tty;         /* the near end of the command's terminal, or -1 */
	int status;
	struct rusage usage;
};

/* Nobody can read what went wrong but from the console, which is only there for who looks for it. */
_Noreturn static void guest_stop(const char *what)
{
	(void)dprintf(STDERR_FILENO, "cordon: %s: %s\n", what, strerror(errno));
	for (;;)
		(void)pause();
}

static void guest_module(const char *name)
{
	char path[sizeof(GUEST_MODULES) + GUEST_NAME_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", GUEST_MODULES, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
		guest_stop(path);
	(void)close(fd);
}

static void guest_modules(void)
{
	static char order[GUEST_ORDER_MAX];
	int fd = open(GUEST_MODULES "/order", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, order, sizeof(order) - 1);

	if (n < 0)
		guest_stop("order of modules");
	(void)close(fd);
	for (char *at = order, *line; (line = strsep(&at, "\n"));)
		if (*line)
			guest_module(line);
}

int guest_vsock(unsigned port)
{
	const struct sockaddr_vm host = {
		.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = port};
	AUTO_CLOSE int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&host, sizeof(host)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* A port where there is one, else a stream: no machine has both. */
static int guest_link(struct guest *g)
{
	g->link = (struct vm_link){.fd = open(GUEST_PORT, O_RDWR | O_CLOEXEC | O_NONBLOCK)};
	if (g->link.fd >= 0)
		return 0;
	g->link.fd = guest_vsock(GUEST_VSOCK_LINK);
	g->is_vsock = g->link.fd >= 0;
	return g->is_vsock ? fd_nonblock(g->link.fd, true) : g->link.fd;
}

static void guest_setup(struct guest *g)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd;

	if (mount("dev", "/dev", "devtmpfs", 0, NULL) < 0 && errno != EBUSY)
		guest_stop("/dev");
	guest_modules();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		guest_stop("loopback");
	(void)close(fd);
	if (sethostname(PLAN_HOSTNAME, strlen(PLAN_HOSTNAME)) < 0)
		guest_stop("host name");
	errno = -guest_group_make();
	if (errno)
		guest_stop("control group");
	for (int waited = 0; guest_link(g) < 0; waited++) {
		if (waited == GUEST_PORT_MS)
			guest_stop(GUEST_PORT);
		(void)usleep(1000);
	}
}

static int guest_wait(struct guest *g, short events)
{
	struct pollfd p = {.fd = g->link.fd, .events = events};

	/* Nobody at the other end: a template waits like that. */
	if (poll(&p, 1, -1) > 0 && p.revents & POLLHUP)
		(void)usleep(1000);
	return 0;
}

static void guest_ready(struct guest *g)
{
	vm_link_put(&g->link, VM_READY, 0, NULL, 0);
	while (vm_link_flush(&g->link) == 0 && g->link.out_len > 0)
		(void)guest_wait(g, POLLOUT);
}

/* The parts of the call, put together. */
static void guest_receive(struct guest *g)
{
	char *block = malloc(VM_CALL_MAX);
	size_t len = 0;

	if (!block)
		guest_stop("memory");
	guest_ready(g);
	for (;;) {
		struct vm_frame f;
		int r = vm_link_next(&g->link, &f);

		/* A template that was loaded has lost its stream: the next one is of the call's monitor. */
		if (g->is_vsock && r < 0 && r != -EPROTO && len == 0) {
			(void)fd_close(g->link.fd);
			while (guest_link(g) < 0)
				(void)usleep(1000);
			guest_ready(g);
			continue;
		}
		if (r == 0 || r == -EPIPE) {
			(void)guest_wait(g, POLLIN);
			continue;
		}
		/* Asked of a machine that was saved. */
		if (r == 1 && f.head.type == VM_READY && len == 0) {
			guest_ready(g);
			continue;
		}
		if (r < 0 || f.head.type != VM_CALL || f.head.len > VM_CALL_MAX - len) {
			errno = EPROTO;
			guest_stop("call");
		}
		if (f.head.len == 0)
			break;
		memcpy(block + len, f.data, f.head.len);
		len += f.head.len;
	}
	if (vm_call_read(block, len, &g->call) < 0) {
		errno = EINVAL;
		guest_stop("call");
	}
}

/* A machine that was copied has the time and the random numbers of its copies, until now. */
static int guest_renew(const struct vm_call *c)
{
	const struct timespec now = {.tv_sec = c->head.time_ns / 1000000000,
				     .tv_nsec = c->head.time_ns % 1000000000};
	struct {
		int bits;
		int bytes;
		uint8_t data[VM_SEED_BYTES];
	} entropy = {.bits = VM_SEED_BYTES * 8, .bytes = VM_SEED_BYTES};
	AUTO_CLOSE int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	memcpy(entropy.data, c->head.seed, sizeof(entropy.data));
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &entropy) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0)
		return -errno;
	return clock_settime(CLOCK_REALTIME, &now) < 0 ? -errno : 0;
}

/* The command's ids, and the one capability that the launcher needs. */
static int guest_become(const struct vm_call *c)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {
		{.effective = 1U << CAP_SETPCAP,
		 .permitted = 1U << CAP_SETPCAP,
		 .inheritable = 1U << CAP_SETPCAP},
	};

	/* What an execve() of root could give back: with it the tie to our end would be undone. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (cap != CAP_SETPCAP && prctl(PR_CAPBSET_DROP, cap) < 0)
			return -errno;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || syscall(SYS_setgroups, 0, NULL) < 0 ||
	    setresgid(c->head.gid, c->head.gid, c->head.gid) < 0 ||
	    setresuid(c->head.uid, c->head.uid, c->head.uid) < 0 ||
	    syscall(SYS_capset, &header, caps) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETPCAP, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return 0;
}

static int guest_image(const struct vm_call *c)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, c->image, c->head.image_bytes) != (ssize_t)c->head.image_bytes)
		return -EIO;
	return fd < 0 ? -errno : fd;
}

/* Each to its number, and nothing else.  fds as enum launch_fd orders them. */
static int guest_descriptors(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((fds[i] = fd_dup(fds[i], GUEST_FDS_SAFE)) < 0)
			return fds[i];
	for (size_t i = 0; i < n; i++)
		if (dup3(fds[i], LAUNCH_FD_PROGRAM + (int)i, 0) < 0)
			return -errno;
	return syscall(SYS_close_range, (unsigned)LAUNCH_FD_END, ~0U, 1U << 2 /* CLOEXEC */) < 0
		       ? -errno
		       : 0;
}

/* The command's terminal takes the place of its streams; our end of it goes to our parent. */
static int guest_take_tty(const struct vm_call *c, int parent, int *fds)
{
	AUTO_CLOSE int master = -1;
	int slave;
	int r = guest_tty_open(c, &master, &slave);

	if (r < 0)
		return r;
	fds[LAUNCH_FD_STDIN - LAUNCH_FD_PROGRAM] = fds[LAUNCH_FD_STDOUT - LAUNCH_FD_PROGRAM] =
		slave;
	if (c->head.has_one_output)
		fds[LAUNCH_FD_STDERR - LAUNCH_FD_PROGRAM] = slave;
	return fdpass_send(parent, "", 1, &master, 1);
}

/* In the first process of the new pid namespace.  parent: takes our end of a terminal. */
_Noreturn static void guest_child(const struct vm_call *c, bool is_vsock, int parent, int *fds,
				  size_t n)
{
	char name[] = "cordon-launch";
	char *const words[] = {name, NULL};
	struct stage_message m = {.stage = STAGE_CGROUP};
	int group = open(GUEST_GROUP "/cgroup.procs", O_WRONLY | O_CLOEXEC);
	int stage = STAGE_ROOT;
	int channel = fds[LAUNCH_FD_CHANNEL - LAUNCH_FD_PROGRAM];
	int r = group < 0 ? -errno : guest_root(c, is_vsock, &stage);

	m.stage = group < 0 ? STAGE_CGROUP : stage;
	m.step = -1;
	if (r == 0 && c->head.has_terminal) {
		m.stage = STAGE_STDIO;
		r = guest_take_tty(c, parent, fds);
	}
	if (r == 0) {
		m.stage = STAGE_CGROUP;
		r = write(group, "0", 1) == 1 ? 0 : -errno;
	}
	if (r == 0) {
		m.stage = STAGE_PRIVILEGES;
		r = guest_become(c);
	}
	if (r == 0) {
		m.stage = STAGE_TOOL;
		r = guest_descriptors(fds, n);
		channel = LAUNCH_FD_CHANNEL;
	}
	if (r == 0) {
		(void)execveat(LAUNCH_FD_PROGRAM, "", words, &words[1], AT_EMPTY_PATH);
		r = -errno;
	}
	stage_report(channel, &m, r);
}

/* What the streams of the command are inside: pipes of ours. */
static int guest_pipes(struct guest *g, int ret[static VM_STREAM_COUNT])
{
	for (unsigned i = 0; i < VM_STREAM_COUNT; i++) {
		bool is_source = i != VM_STDIN;
		int ends[2];

		if (i == VM_STDERR && g->call.head.has_one_output) {
			ret[i] = ret[VM_STDOUT];
			vm_stream_init(&g->streams[i], -1, true);
			g->streams[i].is_finished = true;
			continue;
		}
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		/* Ours alone: the command gets what blocks. */
		if (fd_nonblock(ends[is_source ? 0 : 1], true) < 0)
			return -errno;
		ret[i] = ends[is_source ? 1 : 0];
		vm_stream_init(&g->streams[i], ends[is_source ? 0 : 1], is_source);
	}
	return 0;
}

/* Our end of the terminal, in the place of the pipes.  Without one the launcher has ended, and said why. */
static void guest_hear_tty(struct guest *g, int child)
{
	int fds[FDPASS_MAX];
	size_t n = 0;
	char word;

	(void)fd_close(g->streams[VM_STDIN].fd);
	(void)fd_close(g->streams[VM_STDOUT].fd);
	if (fdpass_receive(child, &word, 1, CLOCK_NEVER, fds, &n) == 1 && n == 1)
		g->tty = fds[0];
	vm_stream_init(&g->streams[VM_STDIN], g->tty < 0 ? -1 : fd_dup(g->tty, 3), false);
	vm_stream_init(&g->streams[VM_STDOUT], g->tty < 0 ? -1 : fd_dup(g->tty, 3), true);
	g->streams[VM_STDOUT].is_finished = g->streams[VM_STDOUT].fd < 0 ||
					    fd_nonblock(g->tty, true) < 0;
}

static int guest_start(struct guest *g)
{
	int pair[2];
	int tty[2];
	int pipes[VM_STREAM_COUNT];
	int image = guest_image(&g->call);
	int launcher = open(GUEST_LAUNCHER, O_RDONLY | O_CLOEXEC);
	int r = image < 0 ? image : launcher < 0 ? -errno : guest_renew(&g->call);

	if (r == 0)
		r = guest_group(&g->call);
	if (r == 0) {
		g->pressure = guest_group_watch(&g->call);
		r = g->call.head.memory_bytes && g->pressure < 0 ? g->pressure : 0;
	}
	if (r == 0)
		r = guest_pipes(g, pipes);
	if (r == 0 && g->call.head.has_network)
		r = guest_network(g->is_vsock, &g->told);
	if (r == 0 && (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
		       socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, tty) < 0))
		r = -errno;
	if (r < 0)
		return r;
	g->channel = pair[0];
	g->launcher = (pid_t)syscall(SYS_clone,
				     CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
					     CLONE_NEWCGROUP | SIGCHLD,
				     NULL, NULL, NULL, NULL);
	if (g->launcher < 0)
		return -errno;
	if (g->launcher == 0) {
		int fds[] = {launcher,         image,           pair[1], pipes[VM_STDIN],
			     pipes[VM_STDOUT], pipes[VM_STDERR]};

		(void)fd_close(tty[0]);
		guest_child(&g->call, g->is_vsock, tty[1], fds, ARRAY_LEN(fds));
	}
	(void)fd_close(tty[1]);
	if (g->call.head.has_terminal)
		guest_hear_tty(g, tty[0]);
	(void)fd_close(tty[0]);
	(void)fd_close(pair[1]);
	(void)fd_close(image);
	(void)fd_close(launcher);
	for (unsigned i = 0; i < VM_STREAM_COUNT; i++)
		if (i != VM_STDERR || !g->call.head.has_one_output)
			(void)fd_close(pipes[i]);
	return 0;
}

/* What the launcher tells: how far it got, and then how the command ended. */
static void guest_hear(struct guest *g)
{
	struct stage_message m;
	int status;

	if (!g->is_started && recv(g->channel, &m, sizeof(m), MSG_DONTWAIT) == (ssize_t)sizeof(m)) {
		g->is_started = true;
		vm_link_put(&g->link, VM_STAGE, 0, &m, sizeof(m));
	}
	if (g->is_started && !g->has_status &&
	    recv(g->channel, &status, sizeof(status), MSG_DONTWAIT) == (ssize_t)sizeof(status)) {
		g->has_status = true;
		g->status = status;
	}
}

static void guest_reap(struct guest *g)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid != g->launcher)
			continue;
		guest_hear(g);
		g->is_over = true;
		g->usage = usage;
		if (!g->has_status)
			g->status = status;
		g->streams[VM_STDIN].fd = fd_close(g->streams[VM_STDIN].fd);
	}
}

/* What the network rejected; what there is no room for is lost. */
static void guest_hear_told(struct guest *g)
{
	char message[VM_TOLD_MAX];
	ssize_t n;

	while (g->told >= 0 && vm_link_has_room(&g->link, VM_FRAME_MAX) &&
	       (n = recv(g->told, message, sizeof(message), MSG_DONTWAIT)) > 0)
		vm_link_put(&g->link, VM_TOLD, 0, message, (size_t)n);
}

static void guest_finish(struct guest *g)
{
	struct vm_end end = {
		.status = g->status,
		.is_oom = g->is_starved || guest_group_count("memory.events", "oom_kill") > 0,
		.is_fork_refused = guest_group_count("pids.events", "max") > 0,
		.max_rss_kb = g->usage.ru_maxrss,
		.user_us = (int64_t)g->usage.ru_utime.tv_sec * 1000000 + g->usage.ru_utime.tv_usec,
		.sys_us = (int64_t)g->usage.ru_stime.tv_sec * 1000000 + g->usage.ru_stime.tv_usec,
		.memory_peak_kb = guest_group_count("memory.peak", NULL),
	};

	if (end.memory_peak_kb > 0)
		end.memory_peak_kb /= 1024;
	guest_hear_told(g);
	vm_link_put(&g->link, VM_END, 0, &end, sizeof(end));
	while (vm_link_flush(&g->link) == 0 && g->link.out_len > 0)
		(void)guest_wait(g, POLLOUT);
	for (;;)
		(void)pause();
}

static int guest_frame(struct guest *g, const struct vm_frame *f)
{
	if (f->head.type == VM_SIGNAL && f->head.len == 1) {
		/* A failure means that the command has ended. */
		(void)send(g->channel, f->data, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		return 0;
	}
	if (f->head.type == VM_SIZE && f->head.len == sizeof(struct winsize)) {
		if (g->tty >= 0)
			(void)ioctl(g->tty, TIOCSWINSZ, f->data); /* fails only when it is gone */
		return 0;
	}
	if (f->head.stream >= VM_STREAM_COUNT)
		return -EPROTO;
	return vm_stream_take(&g->streams[f->head.stream], f->head.stream, f, &g->link);
}

static bool guest_is_finished(const struct guest *g)
{
	return g->is_over && vm_stream_is_over(&g->streams[VM_STDOUT]) &&
	       vm_stream_is_over(&g->streams[VM_STDERR]) &&
	       vm_link_has_room(&g->link, sizeof(struct vm_end));
}

static void guest_loop(struct guest *g, int signals)
{
	while (!guest_is_finished(g)) {
		enum { LINK, SIGNALS, CHANNEL, PRESSURE, TOLD, FIRST_STREAM };
		struct pollfd p[FIRST_STREAM + VM_STREAM_COUNT] = {
			[LINK] = {.fd = g->link.fd, .events = vm_link_events(&g->link)},
			[SIGNALS] = {.fd = signals, .events = POLLIN},
			[CHANNEL] = {.fd = g->has_status ? -1 : g->channel, .events = POLLIN},
			[PRESSURE] = {.fd = g->pressure, .events = POLLPRI},
			[TOLD] = {.fd = vm_link_has_room(&g->link, VM_FRAME_MAX) ? g->told : -1,
				  .events = POLLIN},
		};
		struct vm_frame f;
		char drained[512];
		int r;

		for (unsigned i = 0; i < VM_STREAM_COUNT; i++) {
			p[FIRST_STREAM + i].events = vm_stream_events(&g->streams[i], &g->link);
			p[FIRST_STREAM + i].fd = p[FIRST_STREAM + i].events ? g->streams[i].fd : -1;
		}
		(void)poll(p, ARRAY_LEN(p), g->is_over ? 100 : -1);
		if (p[PRESSURE].revents && !g->is_over) {
			g->is_starved = true;
			g->pressure = fd_close(g->pressure);
			guest_group_kill();
		}
		while (read(signals, drained, sizeof(drained)) > 0)
			;
		guest_hear(g);
		guest_reap(g);
		if (p[TOLD].revents)
			guest_hear_told(g);
		for (unsigned i = 0; i < VM_STREAM_COUNT; i++)
			if (p[FIRST_STREAM + i].revents && g->streams[i].fd >= 0)
				vm_stream_move(&g->streams[i], i, &g->link);
		while (vm_link_has_room(&g->link, VM_FRAME_MAX) &&
		       (r = vm_link_next(&g->link, &f)) == 1)
			if (guest_frame(g, &f) < 0)
				guest_stop("frame");
		if (vm_link_flush(&g->link) < 0)
			guest_stop("send");
	}
}

int main(void)
{
	static struct guest g = {.told = -1, .tty = -1};
	sigset_t all;
	int signals;
	int r;

	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		guest_stop("signals");
	(void)umask(0);
	guest_setup(&g);
	guest_receive(&g);
	signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	r = signals < 0 ? -errno : guest_start(&g);
	if (r < 0) {
		const struct stage_message m = {.stage = STAGE_TOOL, .error = -r, .step = -1};

		vm_link_put(&g.link, VM_STAGE, 0, &m, sizeof(m));
		if (vm_link_flush(&g.link) < 0)
			guest_stop("send");
		errno = -r;
		guest_stop("start");
	}
	guest_loop(&g, signals);
	guest_finish(&g);
}
