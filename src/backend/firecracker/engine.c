/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See engine.h.  Theory of operation.
 *
 * Firecracker has neither 9p nor a network of ours, only a vsock device: streams that the machine opens to a port
 * arrive at a Unix socket of that number.  The machine's first process opens one for itself (the link), one for each
 * share, which a program of ours serves (vm/share.h), and with an allowlist one for all connections (vm/network.c).  There are no drives: a copy of the system and the workspace on
 * one would have to be made before a call and read back after it, and would show changes of neither meanwhile.
 *
 * Firecracker runs in the monitor's room without the view: it gets a mount namespace of its own from which that is
 * taken away.  With a user, a pid, a network and a mount namespace, a root of its own and no capability, that is
 * what its jailer would do as root, and for every user; the jailer itself is not used, because it can be started by
 * root only and would copy the program for each call.
 *
 * A template is a snapshot.  Its streams are cut when it is loaded; the first process opens its link anew and says
 * again that it is ready.  Paths are the same for every machine, so a snapshot needs no other when it is loaded.
 */
#include "backend/firecracker/engine.h"

#include "backend/confine/privileges.h"
#include "backend/firecracker/api.h"
#include "backend/vm/guest.h"
#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENGINE_SOCKET_MS 5000 /* for the program to listen */
#define ENGINE_FDS_SAFE 64
#define ENGINE_LISTENER 3 /* of a share: the number of its socket */
#define ENGINE_BODY_MAX 1024
#define ENGINE_FD_PATH "/proc/self/fd/%d"
#define ENGINE_GUEST_CID 3

/* No PCI and no console: neither is there.  psi and the rest as for every machine of ours. */
#define ENGINE_BOOT_ARGS                                                                           \
	"quiet psi=1 panic=-1 reboot=k pci=off 8250.nr_uarts=0 mitigations=off "                   \
	"cryptomgr.notests random.trust_bootloader=off"

static int engine_listen(unsigned port)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), ENGINE_VSOCK "_%u", port);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 1) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* While we may still mount: Firecracker gets a view of the room without the call's. */
static int engine_launch(struct monitor *m)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : 0;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (unshare(CLONE_NEWNS) < 0 || umount2(ROOM_VIEW, MNT_DETACH) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || privileges_drop() < 0 ||
	    privileges_verify(SIGKILL) < 0)
		monitor_lost(m, "it cannot be confined");
	monitor_execute(m);
}

/* Shares a directory of the view on the port. */
static int engine_share(struct monitor *m, unsigned port, const char *dir, bool is_readonly)
{
	char name[] = "cordon-share";
	char number[8];
	char mode[4];
	char *const words[] = {name, number, mode, NULL};
	static char *const no_environment[] = {NULL};
	int listener = engine_listen(port);
	pid_t pid;
	int program;

	if (listener < 0)
		return listener;
	pid = fork();
	if (pid != 0) {
		(void)fd_close(listener);
		return pid < 0 ? -errno : 0;
	}
	(void)snprintf(number, sizeof(number), "%d", ENGINE_LISTENER);
	(void)snprintf(mode, sizeof(mode), "%s", is_readonly ? "ro" : "rw");
	listener = fd_dup(listener, ENGINE_FDS_SAFE);
	program = fd_dup(m->share, ENGINE_FDS_SAFE);
	if (listener < 0 || program < 0 || chdir(dir) < 0 || dup3(m->null, STDIN_FILENO, 0) < 0 ||
	    dup3(m->null, STDOUT_FILENO, 0) < 0 || dup3(m->null, STDERR_FILENO, 0) < 0 ||
	    syscall(SYS_close_range, 3U, ~0U, 1U << 2 /* CLOEXEC */) < 0 ||
	    dup3(listener, ENGINE_LISTENER, 0) < 0)
		_exit(127);
	(void)execveat(program, "", words, no_environment, AT_EMPTY_PATH);
	_exit(127);
}

/* Firecracker has ended, and said why. */
static void engine_check(void)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) > 0)
		_exit(MONITOR_EXIT_LOST);
}

static int engine_reach(struct monitor *m)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = ENGINE_SOCKET};
	int64_t deadline = clock_deadline(ENGINE_SOCKET_MS);

	m->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (m->control < 0)
		return -errno;
	while (connect(m->control, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		engine_check();
		if (clock_ms() > deadline)
			monitor_lost(m, "it does not listen on its socket");
		(void)usleep(1000);
	}
	return 0;
}

/* One request; what is not obeyed is the end. */
static void engine_ask(struct monitor *m, const char *method, const char *path, const char *body)
{
	char why[API_WHY_MAX];

	if (api_call(m->control, method, path, body, clock_deadline(MONITOR_CONTROL_MS), why) < 0) {
		/* Gone before it answered: its own words are better. */
		(void)usleep(1000);
		engine_check();
		monitor_lost(m, why);
	}
}

static void engine_boot(struct monitor *m)
{
	char body[ENGINE_BODY_MAX];

	(void)snprintf(body, sizeof(body), "{\"vcpu_count\":1,\"mem_size_mib\":%u}",
		       m->machine->memory_mb);
	engine_ask(m, "PUT", "/machine-config", body);
	(void)snprintf(body, sizeof(body),
		       "{\"kernel_image_path\":\"" ENGINE_FD_PATH
		       "\",\"initrd_path\":\"" ENGINE_FD_PATH "\",\"boot_args\":\"%s\"}",
		       MACHINE_FD_KERNEL, MACHINE_FD_INITRD, ENGINE_BOOT_ARGS);
	engine_ask(m, "PUT", "/boot-source", body);
	(void)snprintf(body, sizeof(body), "{\"guest_cid\":%d,\"uds_path\":\"" ENGINE_VSOCK "\"}",
		       ENGINE_GUEST_CID);
	engine_ask(m, "PUT", "/vsock", body);
	engine_ask(m, "PUT", "/actions", "{\"action_type\":\"InstanceStart\"}");
}

static void engine_load(struct monitor *m)
{
	char body[ENGINE_BODY_MAX];

	(void)snprintf(body, sizeof(body),
		       "{\"snapshot_path\":\"" ENGINE_FD_PATH
		       "\",\"mem_backend\":{\"backend_type\":\"File\",\"backend_path\":"
		       "\"" ENGINE_FD_PATH "\"},\"resume_vm\":true}",
		       MACHINE_FD_STATE, MACHINE_FD_RAM);
	engine_ask(m, "PUT", "/snapshot/load", body);
}

/* The machine's first process opens the link. */
static int engine_accept(struct monitor *m, int listener)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	int64_t deadline = clock_deadline(MONITOR_KVM_MS);

	while (poll(&p, 1, 100) <= 0) {
		engine_check();
		if (clock_ms() > deadline)
			monitor_lost(m, "the machine did not boot in time");
	}
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static int engine_connect(struct monitor *m, int *ret_link)
{
	AUTO_CLOSE int listener = engine_listen(GUEST_VSOCK_LINK);
	int r = listener < 0 ? listener : 0;

	if (r == 0 && m->program)
		r = engine_share(m, GUEST_VSOCK_VIEW, ROOM_VIEW, /* is_readonly= */ false);
	if (r == 0 && m->program && m->machine->has_system)
		r = engine_share(m, GUEST_VSOCK_SYSTEM, ROOM_VIEW VM_CALL_SYSTEM,
				 /* is_readonly= */ true);
	/* The stream for all of the machine's connections. */
	if (r == 0 && m->program && m->program->plan->net == PLAN_NET_PROXY) {
		m->network = engine_listen(GUEST_VSOCK_NETWORK);
		m->network_listens = true;
		r = m->network < 0 ? m->network : 0;
	}
	if (r == 0)
		r = engine_reach(m);
	if (r < 0)
		return r;
	engine_ask(m, "PUT", "/logger", "{\"log_path\":\"/proc/self/fd/2\",\"level\":\"Error\"}");
	if (m->machine->start == MACHINE_RESUME && monitor_memory(m) < 0)
		_exit(MONITOR_EXIT_LOST); /* who copies it has said why */
	if (m->machine->start == MACHINE_RESUME)
		engine_load(m);
	else
		engine_boot(m);
	*ret_link = engine_accept(m, listener);
	return *ret_link < 0 ? -errno : 0;
}

static int engine_save(struct monitor *m)
{
	char body[ENGINE_BODY_MAX];

	engine_ask(m, "PATCH", "/vm", "{\"state\":\"Paused\"}");
	(void)snprintf(body, sizeof(body),
		       "{\"snapshot_type\":\"Full\",\"snapshot_path\":\"" ENGINE_FD_PATH
		       "\",\"mem_file_path\":\"" ENGINE_FD_PATH "\"}",
		       MACHINE_FD_STATE, MACHINE_FD_RAM);
	engine_ask(m, "PUT", "/snapshot/create", body);
	return 0;
}

const struct monitor_engine firecracker_engine = {
	.shares = true,
	.is_heard = true,
	.launch = engine_launch,
	.connect = engine_connect,
	.save = engine_save,
};
