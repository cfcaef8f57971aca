/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See qemu.h.
 *
 * Theory of operation.  A monitor (monitor.h) builds the same view as native where the emulator runs; the emulator
 * shares it with the machine over 9p.  So grants, denials and protected names are held by this machine's kernel, of
 * which the command sees nothing.  Inside, the guest's first process (guest.c) puts private directories over the share,
 * limits the call with a control group of its own, and starts the launcher, which applies Landlock and our filter as
 * everywhere.  There is no network card.
 */
#include "backend/vm/qemu.h"

#include "backend/idmap.h"
#include "backend/launch/image.h"
#include "backend/launch/launch.h"
#include "backend/launch/tool.h"
#include "backend/restrict.h"
#include "backend/trial.h"
#include "backend/vm/call.h"
#include "backend/vm/kernel.h"
#include "backend/vm/monitor.h"
#include "backend/vm/template.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QEMU_START_MS 150000 /* more than the monitor waits for anything by itself */
#define QEMU_TRIAL_MS                                                                              \
	60000 /* for a script of a few commands, with an emulated processor on a busy host */
#define QEMU_KEPT "kvm" /* in the store: whether it works since this boot of the host */
#define QEMU_KEPT_MAX 128
#define QEMU_SAID_MAX 512
#define QEMU_SAID_MS 1000

/* What the guest's control group holds, whatever this machine has. */
#define QEMU_LIMITS (GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_PERCENT))
/* What the share and the guest's own mounts hold, as the trial has seen of their like. */
#define QEMU_VIEW                                                                                  \
	(GUARANTEE_BIT(WRITE_XOR_EXECUTE) | GUARANTEE_BIT(DEBUG_GRANT) |                           \
	 GUARANTEE_BIT(CACHE_GRANT) | GUARANTEE_BIT(SECRET_ENV) | GUARANTEE_BIT(SECRET_FILE))

/* Everything that a call needs beside its plan. */
struct qemu_call {
	struct machine machine;
	struct vm_store store;
	struct buf block;
	struct strv words;
	struct view_program view;
	int tool;
	int kernel;
	int initrd;
	bool is_told; /* an error of a template, in err */
};

/* What the emulator or the monitor said before it gave up. */
static int qemu_said(int fd, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	struct buf said = BUF_INIT(QEMU_SAID_MAX);
	size_t len = 0;
	int r = io_read_all(fd, QEMU_SAID_MAX, clock_deadline(QEMU_SAID_MS), &text, &len);

	if (r == 0 && len > 0)
		str_escape(&said, text, strcspn(text, "\n"));
	(void)cordon_fail(err, CORDON_E_SYSTEM, "qemu: %s",
			  said.len > 0 ? buf_cstr(&said) : "it ended before the command started");
	buf_done(&said);
	return cordon_hint(err, CORDON_E_SYSTEM, "see 'cordon doctor', or use another backend");
}

/* Starts the monitor and waits until the command runs, or the template is made (there is no view then). */
static int qemu_monitor(struct monitor *m, struct spawn_result *ret, struct cordon_error *err)
{
	uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			 CLONE_NEWUTS;
	AUTO_CLOSE int null = m->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int said = -1;
	struct proc proc = PROC_NONE;
	int pair[2];
	int pipes[2];
	int r = null < 0 ? -errno : stage_mount_namespace(&m->parent_mnt);

	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare the machine");
	ours = pair[0];
	m->channel = pair[1];
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		(void)fd_close(pair[1]);
		return cordon_fail_errno(err, errno, "make a pipe");
	}
	said = pipes[0];
	m->said = pipes[1];
	r = stage_clone(flags, /* group= */ NULL, monitor_main, m, &proc);
	(void)fd_close(pair[1]);
	(void)fd_close(pipes[1]);
	if (r < 0)
		return cordon_hint(err, cordon_fail_errno(err, -r, "make namespaces"),
				   "see 'cordon doctor'");
	r = idmap_own(proc.pid);
	if (r < 0)
		r = cordon_fail_errno(err, -r, "map user and group ids");
	else if (send(ours, "", 1, MSG_NOSIGNAL) != 1)
		r = cordon_fail_errno(err, errno, "start the machine");
	else
		r = stage_hear_for(ours, m->program, /* doors= */ NULL, QEMU_START_MS, err);
	if (r == -EPIPE)
		r = qemu_said(said, err);
	if (r < 0) {
		stage_abandon(&proc);
		return r;
	}
	*ret = (struct spawn_result){
		.proc = proc,
		.has_own_group = m->program && !m->program->plan->keeps_group,
		.status_fd = TAKE_FD(ours),
		.is_relayed = true,
		.is_agent = true,
	};
	return 0;
}

/* The block for the guest, and the program without what belongs into its /proc. */
static int qemu_block(struct qemu_call *c, struct cordon_error *err)
{
	struct buf image = BUF_INIT(LAUNCH_IMAGE_MAX);
	struct view_program *p = &c->view;
	size_t kept = 0;
	int r = launch_image_of(
		p, &(struct launch_setting){.landlock_abi = LAUNCH_ABI_ASK, .stdin_offset = -1},
		&image);

	if (r == 0)
		r = vm_call_write(p, image.data, image.len, &c->block);
	/* The environment may hold secrets. */
	if (image.data)
		explicit_bzero(image.data, image.len);
	buf_done(&image);
	for (size_t i = 0; i < p->n; i++)
		if (p->steps[i].kind != VIEW_PROC && !str_starts(p->steps[i].path, "proc/"))
			p->steps[kept++] = p->steps[i];
	p->n = kept;
	if (r == -EOPNOTSUPP)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'qemu' cannot pass sockets or devices into a machine");
	return r < 0 ? cordon_fail_leaf(err, r, "prepare the machine") : 0;
}

static int qemu_check(const struct plan *plan, struct cordon_error *err)
{
	if (!plan->argv || !plan->argv[0] || plan->serves || plan->entry)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'qemu' runs one command per machine");
	if (plan->net != PLAN_NET_NONE || doors_are_wanted(plan))
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'qemu' gives a machine no network");
	if (plan->cpu_shares.is_given || plan->terminal)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "backend 'qemu' cannot weigh processor time or make a terminal");
	return 0;
}

/* Boots a machine and saves it.  The store is locked. */
static int qemu_make_template(struct qemu_call *c, const char *name, struct cordon_error *err)
{
	struct machine machine = {.start = MACHINE_TEMPLATE,
				  .has_kvm = c->machine.has_kvm,
				  .memory_mb = c->machine.memory_mb};
	AUTO(strv_done) struct strv words = {0};
	struct vm_draft draft = {.ram = -1, .state = -1};
	struct spawn_result made = {.proc = PROC_NONE, .status_fd = -1};
	struct monitor m = {.machine = &machine, .tool = c->tool, .fds = {-1, -1, -1, -1, -1, -1}};
	int r = vm_draft_make(&c->store, machine.memory_mb, &draft);

	if (r == 0)
		r = machine_line(&machine, &words);
	m.argv = words.v;
	m.fds[MACHINE_FD_KERNEL - MACHINE_FD_LINK] = c->kernel;
	m.fds[MACHINE_FD_INITRD - MACHINE_FD_LINK] = c->initrd;
	m.fds[MACHINE_FD_RAM - MACHINE_FD_LINK] = draft.ram;
	m.fds[MACHINE_FD_STATE - MACHINE_FD_LINK] = draft.state;
	r = r < 0 ? cordon_fail_leaf(err, r, "make a template of the machine")
		  : qemu_monitor(&m, &made, err);
	if (r == 0) {
		stage_abandon(&made.proc);
		(void)fd_close(made.status_fd);
		r = vm_draft_keep(&c->store, name, &draft);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "keep a template of the machine");
	}
	vm_draft_done(&c->store, &draft);
	return r;
}

/* A template's memory and devices; the first who needs one makes it. */
static int qemu_template(struct qemu_call *c, int *ret_ram, int *ret_state,
			 struct cordon_error *err)
{
	unsigned mb = c->machine.memory_mb;
	char name[VM_TEMPLATE_NAME_MAX];
	int r = vm_template_name(&c->machine, c->tool, name);

	if (r == 0)
		r = vm_template_open(&c->store, name, mb, ret_ram, ret_state);
	if (r != -ENOENT)
		return r < 0 ? cordon_fail_leaf(err, r, "open the template of the machine") : 0;
	r = vm_store_lock(&c->store, err);
	if (r < 0)
		return r;
	r = vm_template_open(&c->store, name, mb, ret_ram, ret_state);
	if (r == -ENOENT) {
		r = qemu_make_template(c, name, err);
		if (r == 0)
			r = vm_template_open(&c->store, name, mb, ret_ram, ret_state);
		else
			c->is_told = true;
	}
	vm_store_unlock(&c->store);
	return r < 0 && !c->is_told ? cordon_fail_leaf(err, r, "open the template of the machine")
				    : r;
}

/* What was found out since the host booted: 1 the processor's own virtualization runs a machine, 0 it does not, -1
 * nobody has tried.  *boot is the host's boot, given. */
static int qemu_kept(const struct vm_store *store, char **boot)
{
	AUTO_FREE char *kept = NULL;
	size_t len;

	if (io_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, boot, &len) < 0)
		return 0;
	(*boot)[strcspn(*boot, "\n")] = '\0';
	if (io_read_file_at(store->dir, QEMU_KEPT, QEMU_KEPT_MAX, &kept, &len) < 0 ||
	    !str_starts(kept, *boot))
		return -1;
	return kept[strlen(*boot)] == '+';
}

/* What was found out once holds only while the device can be opened. */
static int qemu_open_kvm(void)
{
	return open("/dev/kvm", O_RDWR | O_CLOEXEC);
}

static bool qemu_is_accelerated(const char *key)
{
	AUTO_FREE char *boot = NULL;
	AUTO_CLOSE int kvm = qemu_open_kvm();
	struct vm_store store = VM_STORE_NONE;
	bool is = kvm >= 0 && vm_store_open(key, &store, NULL) == 0 &&
		  qemu_kept(&store, &boot) == 1;

	vm_store_done(&store);
	return is;
}

/* Does the processor's own virtualization run a machine?  Tried once for each boot of the host. */
static int qemu_accelerator(struct qemu_call *c)
{
	AUTO_FREE char *boot = NULL;
	AUTO_CLOSE int kvm = qemu_open_kvm();
	struct cordon_error ignored = {0};
	char line[QEMU_KEPT_MAX];
	int ram = -1;
	int state = -1;
	int known;

	if (kvm < 0)
		return 0;
	known = qemu_kept(&c->store, &boot);
	c->machine.has_kvm = known != 0;
	if (known >= 0)
		return 0;
	if (qemu_template(c, &ram, &state, &ignored) < 0)
		c->machine.has_kvm = false;
	c->is_told = false;
	(void)fd_close(ram);
	(void)fd_close(state);
	(void)snprintf(line, sizeof(line), "%s%c\n", boot, c->machine.has_kvm ? '+' : '-');
	return io_write_file_at(c->store.dir, QEMU_KEPT, line, strlen(line), 0600);
}

/* Kernel, initramfs and template. */
static int qemu_files(struct qemu_call *c, struct monitor *m, struct cordon_error *err)
{
	struct vm_kernel kernel = {0};
	char why[VM_WHY_MAX];
	int r = vm_kernel_find(&kernel, why);

	if (r < 0)
		return cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why);
	r = vm_store_open(kernel.key, &c->store, err);
	if (r == 0)
		r = vm_kernel_open(&kernel, &c->store, &c->kernel, &c->initrd, err);
	vm_kernel_done(&kernel);
	if (r < 0)
		return r;
	r = qemu_accelerator(c);
	if (r < 0)
		return cordon_fail_leaf(err, r, "keep what was found out about /dev/kvm");
	m->fds[MACHINE_FD_KERNEL - MACHINE_FD_LINK] = c->kernel;
	m->fds[MACHINE_FD_INITRD - MACHINE_FD_LINK] = c->initrd;
	c->machine.start = MACHINE_RESUME;
	return qemu_template(c, &m->fds[MACHINE_FD_RAM - MACHINE_FD_LINK],
			     &m->fds[MACHINE_FD_STATE - MACHINE_FD_LINK], err);
}

static int qemu_run(struct qemu_call *c, const struct plan *plan, struct spawn_result *ret,
		    struct cordon_error *err)
{
	struct monitor m = {
		.program = &c->view,
		.machine = &c->machine,
		.has_one_output = vm_call_has_one_output(plan),
		.tool = c->tool,
		.fds = {-1, -1, -1, -1, -1, -1},
	};
	char name[VM_TEMPLATE_NAME_MAX];
	int r = qemu_files(c, &m, err);

	if (r == 0 && !c->machine.has_kvm && (plan->needs & GUARANTEE_BIT(UNEMULATED)))
		r = cordon_hint(
			err,
			cordon_fail(err, CORDON_E_NO_BACKEND,
				    "the machine would be emulated: /dev/kvm runs none now"),
			"see who may open /dev/kvm, or permit it: sandbox.vm.emulation: true");
	if (r == 0 && machine_line(&c->machine, &c->words) < 0)
		r = cordon_nomem(err);
	if (r == 0 && vm_call_stamp(c->block.data, c->block.len) < 0)
		r = cordon_fail(err, CORDON_E_SYSTEM, "no random numbers for the machine");
	m.argv = c->words.v;
	m.block = c->block.data;
	m.block_len = c->block.len;
	if (r == 0) {
		r = qemu_monitor(&m, ret, err);
		/* Not the command's fault, so perhaps the template's. */
		if (r == CORDON_E_SYSTEM && vm_template_name(&c->machine, c->tool, name) == 0) {
			vm_template_forget(&c->store, name);
			r = cordon_hint(err, r,
					"the template of the machine was thrown away; try again");
		}
	}
	(void)fd_close(m.fds[MACHINE_FD_RAM - MACHINE_FD_LINK]);
	(void)fd_close(m.fds[MACHINE_FD_STATE - MACHINE_FD_LINK]);
	return r;
}

static int qemu_spawn(const struct plan *plan, struct spawn_result *ret, struct cordon_error *err)
{
	struct qemu_call c = {
		.machine = {.has_system = vm_call_has_system(plan),
			    .memory_mb = machine_memory_mb(
				    plan->memory_bytes.is_given ? plan->memory_bytes.value : 0)},
		.kernel = -1,
		.initrd = -1,
		.store = VM_STORE_NONE,
		.block = BUF_SECRET(VM_CALL_MAX),
	};
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	int r = qemu_check(plan, err);

	if (r < 0)
		return r;
	c.tool = tool_open(MACHINE_PROGRAM, path, why);
	if (c.tool < 0)
		return cordon_hint(err, cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why),
				   "install " MACHINE_PACKAGE);
	r = view_compile(plan, &c.view, err);
	if (r == 0)
		r = qemu_block(&c, err);
	if (r == 0)
		r = qemu_run(&c, plan, ret, err);
	view_program_done(&c.view);
	strv_done(&c.words);
	buf_done(&c.block);
	vm_store_done(&c.store);
	(void)fd_close(c.kernel);
	(void)fd_close(c.initrd);
	(void)fd_close(c.tool);
	return r;
}

static void qemu_probe(enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	char path[TOOL_PATH_MAX];
	char why[TOOL_WHY_MAX];
	char no_kernel[VM_WHY_MAX];
	struct vm_kernel kernel = {0};
	struct trial trial = {
		.info = &backend_infos[BACKEND_QEMU],
		.spawn = qemu_spawn,
		.fix = "see 'cordon doctor', or use another backend",
		.tool = path,
		.deadline_ms = QEMU_TRIAL_MS,
		.depends = kernel.key,
	};
	int fd = tool_open(MACHINE_PROGRAM, path, why);

	(void)wanted;
	*ret = (struct probe){0};
	if (fd < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s; install %s", why,
			       MACHINE_PACKAGE);
		return;
	}
	(void)fd_close(fd);
	if (vm_kernel_find(&kernel, no_kernel) < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s", no_kernel);
		return;
	}
	trial_probe(&trial, form, ret);
	if (ret->is_available)
		ret->guarantees |= QEMU_VIEW | QEMU_LIMITS;
	if (ret->is_available && qemu_is_accelerated(kernel.key))
		ret->guarantees |= GUARANTEE_BIT(UNEMULATED);
	else if (ret->is_available)
		(void)snprintf(
			ret->lacks, sizeof(ret->lacks),
			"no machine boots with /dev/kvm here; the policy may permit software "
			"emulation: sandbox.vm.emulation: true");
	if (ret->guarantees & GUARANTEE_BIT(SYSCALL_FILTER))
		ret->guarantees |= GUARANTEE_BIT(SYSCALL_LIST);
	if (ret->guarantees & GUARANTEE_BIT(PROTECT_MISSING))
		ret->guarantees |= GUARANTEE_BIT(COW_WORKSPACE) | GUARANTEE_BIT(ROLLBACK);
	vm_kernel_done(&kernel);
}

const struct cordon_backend qemu_backend = {
	.info = &backend_infos[BACKEND_QEMU],
	.summary = "a virtual machine for each call, with a kernel of its own",
	.takes_cgroup = false,
	.terminal = BACKEND_TERMINAL_NONE,
	.probe = qemu_probe,
	.spawn = qemu_spawn,
	.restrict_filesystem = backend_default_restrict_filesystem,
	.restrict_network = backend_default_restrict_network,
	.restrict_syscalls = backend_default_restrict_syscalls,
	.apply_restrictions = backend_default_apply_restrictions,
	.snapshot = restrict_snapshot,
	.rollback = restrict_rollback,
	.get_audit_log = backend_default_get_audit_log,
};
