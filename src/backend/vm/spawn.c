/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See spawn.h.
 *
 * Theory of operation.  A monitor (monitor.h) builds the same view as native where the emulator runs; that, or a
 * program of ours beside it, shares it with the machine over 9p.  So grants, denials and protected names are held by this machine's kernel, of
 * which the command sees nothing.  Inside, the guest's first process (guest.c) puts private directories over the share,
 * limits the call with a control group of its own, and starts the launcher, which applies Landlock and our filter as
 * everywhere.  There is no network card.
 */
#include "backend/vm/spawn.h"

#include "backend/command.h"
#include "backend/idmap.h"
#include "backend/launch/image.h"
#include "backend/launch/launch.h"
#include "backend/launch/tool.h"
#include "backend/restrict.h"
#include "backend/trial.h"
#include "backend/vm/call.h"
#include "backend/vm/kernel.h"
#include "backend/vm/share.h"
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

#define SPAWN_START_MS 150000 /* more than the monitor waits for anything by itself */
#define SPAWN_TRIAL_MS                                                                             \
	60000 /* for a script of a few commands, with an emulated processor on a busy host */
#define SPAWN_KEPT "kvm" /* in the store: whether it works since this boot of the host */
#define SPAWN_KEPT_MAX 128
#define SPAWN_SAID_MAX 512
#define SPAWN_SAID_MS 1000

/* What the guest's control group holds, whatever this machine has. */
#define SPAWN_LIMITS (GUARANTEE_BIT(MEMORY_TREE) | GUARANTEE_BIT(PIDS) | GUARANTEE_BIT(CPU_PERCENT))
/* What the share and the guest's own mounts hold, as the trial has seen of their like. */
#define SPAWN_VIEW                                                                                 \
	(GUARANTEE_BIT(WRITE_XOR_EXECUTE) | GUARANTEE_BIT(DEBUG_GRANT) |                           \
	 GUARANTEE_BIT(CACHE_GRANT) | GUARANTEE_BIT(SECRET_ENV) | GUARANTEE_BIT(SECRET_FILE))

/* Everything that a call needs beside its plan. */
struct spawn_call {
	const struct vm_kind *kind;
	struct machine machine;
	struct vm_store store;
	struct vm_template template;
	struct buf block;
	struct strv words;
	struct view_program view;
	int tool;
	int share; /* the program that shares the view, or -1 */
	int kernel;
	int initrd;
	bool is_told; /* an error of a template, in err */
};

/* What the emulator or the monitor said before it gave up. */
static int spawn_said(const struct monitor *m, int fd, struct cordon_error *err)
{
	AUTO_FREE char *text = NULL;
	struct buf said = BUF_INIT(SPAWN_SAID_MAX);
	size_t len = 0;
	int r = io_read_all(fd, SPAWN_SAID_MAX, clock_deadline(SPAWN_SAID_MS), &text, &len);

	if (r == 0 && len > 0)
		str_escape(&said, text, strcspn(text, "\n"));
	(void)cordon_fail(err, CORDON_E_SYSTEM, "%s: %s", m->argv[0],
			  said.len > 0 ? buf_cstr(&said) : "it ended before the command started");
	buf_done(&said);
	return cordon_hint(err, CORDON_E_SYSTEM, "see 'cordon doctor', or use another backend");
}

/* The memory of a machine that is resumed is copied while its emulator starts. */
static int spawn_fill(const struct monitor *m, int channel, struct cordon_error *err)
{
	int r = 0;

	if (m->source < 0)
		return 0;
	r = vm_template_fill(m->source, m->fds[MACHINE_FD_RAM - MACHINE_FD_LINK]);
	if (r < 0)
		return cordon_hint(err, cordon_fail_leaf(err, r, "copy the memory of the machine"),
				   "a machine needs memory for what it was saved with");
	/* A monitor that has ended has said why. */
	(void)send(channel, "", 1, MSG_NOSIGNAL);
	return 0;
}

/* Starts the monitor and waits until the command runs, or the template is made (there is no view then). */
static int spawn_monitor(struct monitor *m, struct spawn_result *ret, struct cordon_error *err)
{
	uint64_t flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			 CLONE_NEWUTS;
	AUTO_CLOSE int null = m->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int said = -1;
	struct doors doors;
	struct proc proc = PROC_NONE;
	int pair[2];
	int pipes[2];
	int r = null < 0 ? -errno : stage_mount_namespace(&m->parent_mnt);

	doors_init(&doors);
	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare the machine");
	ours = m->parent_end = pair[0];
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
		r = spawn_fill(m, ours, err);
	if (r == 0)
		r = stage_hear_for(ours, m->program, &doors, SPAWN_START_MS, err);
	if (r == -EPIPE)
		r = spawn_said(m, said, err);
	if (r < 0) {
		stage_abandon(&proc);
		doors_done(&doors);
		return r;
	}
	*ret = (struct spawn_result){
		.proc = proc,
		.has_own_group = m->program && !m->program->plan->keeps_group,
		.status_fd = TAKE_FD(ours),
		.doors = doors,
		.is_relayed = true,
		.is_agent = true,
	};
	return 0;
}

/* The block for the guest, and the program without what belongs into its /proc. */
static int spawn_block(struct spawn_call *c, struct cordon_error *err)
{
	struct buf image = BUF_INIT(LAUNCH_IMAGE_MAX);
	struct view_program *p = &c->view;
	size_t kept = 0;
	int r = launch_image_of(
		p, &(struct launch_setting){.landlock_abi = LAUNCH_ABI_ASK, .stdin_offset = -1},
		/* covered= */ NULL, &image);

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
				   "backend '%s' cannot pass sockets or devices into a machine",
				   c->kind->info->name);
	return r < 0 ? cordon_fail_leaf(err, r, "prepare the machine") : 0;
}

static int spawn_check(const struct vm_kind *kind, const struct plan *plan,
		       struct cordon_error *err)
{
	const char *lacks = NULL;

	if (!plan->argv || !plan->argv[0] || plan->serves || plan->entry)
		lacks = "runs one command per machine";
	else if (plan->net == PLAN_NET_HOST)
		lacks = "has no network but that of an allowlist (--allow-host)";
	else if (plan->n_ports > 0 || plan->n_publish > 0)
		lacks = "passes no single ports";
	else if (plan->cpu_shares.is_given)
		lacks = "cannot weigh processor time";
	return lacks ? cordon_fail(err, CORDON_E_UNSUPPORTED, "backend '%s' %s", kind->info->name,
				   lacks)
		     : command_check_stdio(plan, err);
}

/* Boots a machine and saves it.  The store is locked. */
static int spawn_make_template(struct spawn_call *c, const char *name, struct cordon_error *err)
{
	struct machine machine = {.start = MACHINE_TEMPLATE,
				  .has_kvm = c->machine.has_kvm,
				  .memory_mb = c->machine.memory_mb};
	AUTO(strv_done) struct strv words = {0};
	struct vm_draft draft = {.ram = -1, .state = -1};
	struct spawn_result made = {.proc = PROC_NONE, .status_fd = -1};
	struct monitor m = {.engine = c->kind->engine,
			    .machine = &machine,
			    .tool = c->tool,
			    .share = -1,
			    .network = -1,
			    .source = -1,
			    .told = -1,
			    .fds = {-1, -1, -1, -1, -1, -1, -1}};
	int r = vm_draft_make(&c->store, machine.memory_mb, &draft);

	if (r == 0)
		r = c->kind->line(&machine, &words);
	m.argv = words.v;
	m.fds[MACHINE_FD_KERNEL - MACHINE_FD_LINK] = c->kernel;
	m.fds[MACHINE_FD_INITRD - MACHINE_FD_LINK] = c->initrd;
	m.fds[MACHINE_FD_RAM - MACHINE_FD_LINK] = draft.ram;
	m.fds[MACHINE_FD_STATE - MACHINE_FD_LINK] = draft.state;
	if (r < 0) {
		r = vm_store_full(err, r,
				  cordon_fail_leaf(err, r, "make a template of the machine"));
	} else {
		r = spawn_monitor(&m, &made, err);
		/* Perhaps they were damaged since. */
		if (r == CORDON_E_SYSTEM) {
			vm_kernel_forget(&c->store);
			r = cordon_hint(
				err, r,
				"what was made of the kernel was thrown away; try again, or "
				"install the kernel's package anew");
		}
	}
	if (r == 0) {
		stage_abandon(&made.proc);
		(void)fd_close(made.status_fd);
		r = vm_draft_keep(&c->store, name, &draft);
		if (r < 0)
			r = vm_store_full(
				err, r, cordon_fail_leaf(err, r, "keep a template of the machine"));
	}
	vm_draft_done(&c->store, &draft);
	return r;
}

/* A template's memory and devices; the first who needs one makes it. */
static int spawn_template(struct spawn_call *c, struct vm_template *ret, struct cordon_error *err)
{
	unsigned mb = c->machine.memory_mb;
	char name[VM_TEMPLATE_NAME_MAX];
	int r = vm_template_name(&c->machine, c->tool, name);

	if (r == 0)
		r = vm_template_open(&c->store, name, mb, ret);
	if (r != -ENOENT && r != -EIO)
		return r < 0 ? cordon_hint(err,
					   cordon_fail_leaf(err, r,
							    "open the template of the machine"),
					   "see who writes in the state directory, and remove "
					   "'vm' there")
			     : 0;
	r = vm_store_lock(&c->store, err);
	if (r < 0)
		return r;
	r = vm_template_open(&c->store, name, mb, ret);
	if (r == -EIO) /* its memory is not whole */
		vm_template_forget(&c->store, name);
	if (r == -ENOENT || r == -EIO) {
		r = spawn_make_template(c, name, err);
		if (r == 0)
			r = vm_template_open(&c->store, name, mb, ret);
		else
			c->is_told = true;
	}
	vm_store_unlock(&c->store);
	return r < 0 && !c->is_told ? cordon_fail_leaf(err, r, "open the template of the machine")
				    : r;
}

/* What was found out since the host booted: 1 the processor's own virtualization runs a machine, 0 it does not, -1
 * nobody has tried.  *boot is the host's boot, given. */
static int spawn_kept(const struct vm_store *store, char **boot)
{
	AUTO_FREE char *kept = NULL;
	size_t len;

	if (io_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, boot, &len) < 0)
		return 0;
	(*boot)[strcspn(*boot, "\n")] = '\0';
	if (io_read_file_at(store->dir, SPAWN_KEPT, SPAWN_KEPT_MAX, &kept, &len) < 0 ||
	    !str_starts(kept, *boot))
		return -1;
	return kept[strlen(*boot)] == '+';
}

/* What was found out once holds only while the device can be opened. */
static bool spawn_is_accelerated(const char *key)
{
	AUTO_FREE char *boot = NULL;
	AUTO_CLOSE int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct vm_store store = VM_STORE_NONE;
	bool is = kvm >= 0 && vm_store_open(key, &store, NULL) == 0 &&
		  spawn_kept(&store, &boot) == 1;

	vm_store_done(&store);
	return is;
}

/* Does the processor's own virtualization run a machine?  Tried once for each boot of the host. */
static int spawn_accelerator(struct spawn_call *c)
{
	AUTO_FREE char *boot = NULL;
	AUTO_CLOSE int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct cordon_error ignored = {0};
	char line[SPAWN_KEPT_MAX];
	struct vm_template ignored_template = VM_TEMPLATE_NONE;
	int known;

	if (c->kind->needs_kvm) {
		c->machine.has_kvm = true;
		return 0;
	}
	if (kvm < 0)
		return 0;
	known = spawn_kept(&c->store, &boot);
	c->machine.has_kvm = known != 0;
	if (known >= 0)
		return 0;
	if (spawn_template(c, &ignored_template, &ignored) < 0)
		c->machine.has_kvm = false;
	c->is_told = false;
	vm_template_done(&ignored_template);
	(void)snprintf(line, sizeof(line), "%s%c\n", boot, c->machine.has_kvm ? '+' : '-');
	return io_write_file_at(c->store.dir, SPAWN_KEPT, line, strlen(line), 0600);
}

/* Kernel, initramfs and template. */
static int spawn_files(struct spawn_call *c, struct monitor *m, struct cordon_error *err)
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
	r = spawn_accelerator(c);
	if (r < 0)
		return cordon_fail_leaf(err, r, "keep what was found out about /dev/kvm");
	m->fds[MACHINE_FD_KERNEL - MACHINE_FD_LINK] = c->kernel;
	m->fds[MACHINE_FD_INITRD - MACHINE_FD_LINK] = c->initrd;
	c->machine.start = MACHINE_RESUME;
	r = spawn_template(c, &c->template, err);
	m->source = c->template.source;
	m->fds[MACHINE_FD_RAM - MACHINE_FD_LINK] = c->template.ram;
	m->fds[MACHINE_FD_STATE - MACHINE_FD_LINK] = c->template.state;
	return r;
}

static int spawn_run(struct spawn_call *c, const struct plan *plan, struct spawn_result *ret,
		     struct cordon_error *err)
{
	struct monitor m = {
		.engine = c->kind->engine,
		.program = &c->view,
		.machine = &c->machine,
		.has_one_output = vm_call_has_one_output(plan),
		.tool = c->tool,
		.share = c->share,
		.network = -1,
		.source = -1,
		.told = -1,
		.fds = {-1, -1, -1, -1, -1, -1, -1},
	};
	char name[VM_TEMPLATE_NAME_MAX];
	int r = spawn_files(c, &m, err);

	if (r == 0 && !c->machine.has_kvm && (plan->needs & GUARANTEE_BIT(UNEMULATED)))
		r = cordon_hint(
			err,
			cordon_fail(err, CORDON_E_NO_BACKEND,
				    "the machine would be emulated: /dev/kvm runs none now"),
			"see who may open /dev/kvm, or permit it: sandbox.vm.emulation: true");
	if (r == 0 && c->kind->line(&c->machine, &c->words) < 0)
		r = cordon_nomem(err);
	if (r == 0 && vm_call_stamp(c->block.data, c->block.len) < 0)
		r = cordon_fail(err, CORDON_E_SYSTEM, "no random numbers for the machine");
	m.argv = c->words.v;
	m.block = c->block.data;
	m.block_len = c->block.len;
	if (r == 0) {
		r = spawn_monitor(&m, ret, err);
		/* Not the command's fault, so perhaps the template's. */
		if (r == CORDON_E_SYSTEM && vm_template_name(&c->machine, c->tool, name) == 0) {
			vm_template_forget(&c->store, name);
			r = cordon_hint(err, r,
					"the template of the machine was thrown away; try again");
		}
	}
	return r;
}

/* The program, and what it needs of the machine. */
static int spawn_find(const struct vm_kind *kind, char ret_path[static TOOL_PATH_MAX],
		      struct cordon_error *err)
{
	char why[TOOL_WHY_MAX];
	AUTO_CLOSE int kvm = -1;
	AUTO_CLOSE int tool = tool_open(kind->program, ret_path, why);

	if (tool < 0)
		return cordon_hint(err, cordon_fail(err, CORDON_E_NO_BACKEND, "%s", why),
				   "install %s", kind->package);
	if (!kind->needs_kvm)
		return TAKE_FD(tool);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NO_BACKEND, "/dev/kvm: %s",
					       strerrordesc_np(errno)),
				   "%s needs it: load kvm_intel or kvm_amd, and be in its group",
				   kind->program);
	return TAKE_FD(tool);
}

int vm_spawn(const struct vm_kind *kind, const struct plan *plan, struct spawn_result *ret,
	     struct cordon_error *err)
{
	struct spawn_call c = {
		.kind = kind,
		.machine = {.has_system = vm_call_has_system(plan),
			    .memory_mb = machine_memory_mb(
				    plan->memory_bytes.is_given ? plan->memory_bytes.value : 0)},
		.share = -1,
		.kernel = -1,
		.initrd = -1,
		.store = VM_STORE_NONE,
		.template = VM_TEMPLATE_NONE,
		.block = BUF_SECRET(VM_CALL_MAX),
	};
	char path[TOOL_PATH_MAX];
	int r = spawn_check(kind, plan, err);

	if (r < 0)
		return r;
	c.tool = spawn_find(kind, path, err);
	if (c.tool < 0)
		return c.tool;
	if (kind->engine->shares) {
		c.share = share_program();
		r = c.share < 0 ? cordon_fail_leaf(err, c.share, "prepare the share") : 0;
	}
	if (r == 0)
		r = view_compile(plan, &c.view, err);
	if (r == 0)
		r = spawn_block(&c, err);
	if (r == 0)
		r = spawn_run(&c, plan, ret, err);
	view_program_done(&c.view);
	strv_done(&c.words);
	buf_done(&c.block);
	vm_template_done(&c.template);
	vm_store_done(&c.store);
	(void)fd_close(c.kernel);
	(void)fd_close(c.initrd);
	(void)fd_close(c.share);
	(void)fd_close(c.tool);
	return r;
}

/* A machine with the network of an allowlist starts a command: its kernel has what that needs. */
static bool spawn_try_network(const struct vm_kind *kind)
{
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char program[] = "/usr/bin/true";
	char *const argv[] = {program, NULL};
	char *const envp[] = {NULL};
	const struct plan_op ops[] = {
		{.kind = PLAN_OP_SYSTEM, .path = VM_CALL_SYSTEM},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib", .text = "usr/lib"},
		{.kind = PLAN_OP_SYMLINK, .path = "/lib64", .text = "usr/lib64"},
		{.kind = PLAN_OP_DEV, .path = "/dev"},
		{.kind = PLAN_OP_PROC, .path = "/proc"},
	};
	const struct plan plan = {
		.argv = argv,
		.envp = envp,
		.stdin_fd = null,
		.stdout_fd = null,
		.stderr_fd = null,
		.ops = ops,
		.op_count = ARRAY_LEN(ops),
		.net = PLAN_NET_PROXY,
	};
	struct spawn_result spawned = {.proc = PROC_NONE, .status_fd = -1};
	struct cordon_error ignored = {0};
	struct proc_exit end;

	if (null < 0 || kind->spawn(&plan, &spawned, &ignored) < 0)
		return false;
	doors_done(&spawned.doors);
	return trial_end(&spawned, SPAWN_TRIAL_MS, &end) == 0 && end.code == 0;
}

/* Tried where somebody wants it, and kept with the rest. */
static void spawn_network(const struct vm_kind *kind, const struct trial *trial,
			  enum probe_form form, guarantee_set wanted, struct probe *ret)
{
	static const guarantee_set given = GUARANTEE_BIT(NET_ALLOWLIST) | GUARANTEE_BIT(NET_SSRF) |
					   GUARANTEE_BIT(SECRET_BOUNDARY);

	if (!ret->is_available || (form == PROBE_QUICK && !(wanted & given & ~ret->guarantees)) ||
	    !spawn_try_network(kind))
		return;
	ret->guarantees |= given;
	trial_keep_more(trial, form, ret);
}

void vm_probe(const struct vm_kind *kind, enum probe_form form, guarantee_set wanted,
	      struct probe *ret)
{
	char path[TOOL_PATH_MAX];
	char no_kernel[VM_WHY_MAX];
	struct vm_kernel kernel = {0};
	struct cordon_error err = {0};
	struct trial trial = {
		.info = kind->info,
		.spawn = kind->spawn,
		.fix = "see 'cordon doctor', or use another backend",
		.has_hints = true,
		.tool = path,
		.deadline_ms = SPAWN_TRIAL_MS,
		.depends = kernel.key,
	};
	int fd = spawn_find(kind, path, &err);

	*ret = (struct probe){0};
	if (fd < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%.120s; %.120s", err.message,
			       err.hint);
		return;
	}
	(void)fd_close(fd);
	if (vm_kernel_find(&kernel, no_kernel) < 0) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s", no_kernel);
		return;
	}
	trial_probe(&trial, form, ret);
	spawn_network(kind, &trial, form, wanted, ret);
	if (ret->is_available)
		ret->guarantees |= SPAWN_VIEW | SPAWN_LIMITS;
	if (ret->is_available && (kind->needs_kvm || spawn_is_accelerated(kernel.key)))
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
