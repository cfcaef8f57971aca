/* SPDX-License-Identifier: Apache-2.0 */
/* The file systems of the kernel: /dev and /proc, as little of them as a program needs. */
#include "backend/view/build.h"

#include "base/shield.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const program_devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

static const struct {
	const char *path;
	const char *target;
} program_dev_links[] = {
	{"dev/fd", "/proc/self/fd"},       {"dev/stdin", "/proc/self/fd/0"},
	{"dev/stdout", "/proc/self/fd/1"}, {"dev/stderr", "/proc/self/fd/2"},
	{"dev/ptmx", "pts/ptmx"},
};

static int dev_node(struct view_program *p, const char *path)
{
	struct view_step *s;
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	s = view_add(p, VIEW_EMPTY, path);
	if (!s || !(s = view_add(p, VIEW_DEVICE, path)))
		return -ENOMEM;
	s->source = path;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

int view_dev(struct view_program *p)
{
	static const char *const directories[] = {"dev", "dev/pts", "dev/shm"};
	struct view_step *s;

	/* 0755 and not sticky: as root, open(O_CREAT) of a device in a sticky directory is refused. */
	for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
		if (!(s = view_add(p, VIEW_DIRECTORY, directories[i])))
			return -ENOMEM;
		s->mode = 0755;
	}
	for (size_t i = 0; i < ARRAY_LEN(program_devices); i++) {
		int r = dev_node(p, program_devices[i]);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_LEN(program_dev_links); i++) {
		s = view_add(p, VIEW_SYMLINK, program_dev_links[i].path);
		if (!s)
			return -ENOMEM;
		s->source = program_dev_links[i].target;
	}
	if (!view_add(p, VIEW_PTS, "dev/pts") ||
	    view_private(p, "dev/shm", 01777, /* is_noexec= */ false) < 0)
		return -ENOMEM;
	return 0;
}

int view_dev_of_plan(struct view_program *p)
{
	bool is_noexec = p->plan->separates_exec;
	struct view_step *s;

	if (view_rule_add(p, "/dev", view_write_access(is_noexec)) < 0)
		return -ENOMEM;
	if (!plan_memory_by_process(p->plan))
		return is_noexec ? view_private(p, "dev/shm", 01777, is_noexec) : 0;
	s = view_add(p, VIEW_TMPFS, "dev/shm");
	if (!s)
		return -ENOMEM;
	s->mode = 01777;
	s->attrs = ATTRS_COMMON | (is_noexec ? MOUNT_ATTR_NOEXEC : 0);
	s->source = view_tmpfs_size(p);
	return s->source ? 0 : -ENOMEM;
}

/*
 * Most of /proc outside the processes asks for no capability, only for the owner, and that is root: the
 * program that handles core dumps is one write away from root's sandbox.  So root's /proc is read-only, and
 * what tells about the machine's memory, keys and timers is closed.  For others the owner is somebody else;
 * what everybody may read there and shows more than the call's own is closed for them as well.  Making the
 * directories read-only one by one was rejected: a dozen mounts, so that root may change the name or the
 * score of a process of its own.
 */
static const struct {
	const char *path;
	bool is_closed; /* else read-only: for who mounts /proc himself */
	bool is_for_all;
} program_proc_rows[] = {
	{"/proc/acpi", false, false},
	{"/proc/asound", false, false},
	{"/proc/bus", false, false},
	{"/proc/driver", false, false},
	{"/proc/dynamic_debug", false, false},
	{"/proc/fs", false, false},
	{"/proc/irq", false, false},
	{"/proc/mtrr", false, false},
	{"/proc/pressure", false, false},
	{"/proc/scsi", false, false},
	{"/proc/sys", false, false},
	{"/proc/tty", false, false},
	{"/proc/sysrq-trigger", true, false},
	{"/proc/kcore", true, false},
	{"/proc/kmsg", true, false},
	{"/proc/kpagecgroup", true, false},
	{"/proc/kpagecount", true, false},
	{"/proc/kpageflags", true, false},
	{"/proc/latency_stats", true, false},
	{"/proc/sched_debug", true, false},
	{"/proc/slabinfo", true, false},
	{"/proc/timer_list", true, false},
	{"/proc/vmallocinfo", true, false},
	{"/proc/key-users", true, true},
	{"/proc/keys", true, true},
};

int view_proc(struct view_program *p, size_t i)
{
	bool is_root = geteuid() == 0;
	struct view_step *s;

	if (view_place(p, i, "/proc", true) < 0 ||
	    view_rule_add(p, "/proc", view_write_access(p->plan->separates_exec)) < 0 ||
	    !(s = view_add(p, VIEW_PROC, "/proc")))
		return -ENOMEM;
	s->attrs = is_root && !shield_is_off(SHIELD_PROC) ? MOUNT_ATTR_RDONLY : 0;
	for (size_t k = 0; k < ARRAY_LEN(program_proc_rows) && !shield_is_off(SHIELD_PROC); k++) {
		const char *path = program_proc_rows[k].path;

		if (!is_root && !program_proc_rows[k].is_for_all)
			continue;
		if ((program_proc_rows[k].is_closed
			     ? view_cover(p, -1, path, VIEW_CLOSED_FILE, /* is_for_owned= */ false)
			     : view_seal(p, path)) < 0)
			return -ENOMEM;
		s = &p->steps[p->n - 1];
		s->is_spare = !program_proc_rows[k].is_closed;
		s->dir = "proc";
		s->name = path + strlen("/proc/");
		s->may_be_missing = true;
	}
	return 0;
}
