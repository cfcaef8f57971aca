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

int view_dev(struct view_program *p)
{
	struct view_step *s = view_add(p, VIEW_DIRECTORY, "dev");

	/* 0755 and not sticky: as root, open(O_CREAT) of a device in a sticky directory is refused. */
	if (!s)
		return -ENOMEM;
	s->mode = 0755;
	for (size_t i = 0; i < ARRAY_LEN(program_devices); i++) {
		struct stat st;

		if (stat(program_devices[i], &st) < 0)
			return -errno;
		if (!view_add(p, VIEW_EMPTY, program_devices[i]) ||
		    view_bind(p, program_devices[i], &st, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) <
			    0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(program_dev_links); i++) {
		s = view_add(p, VIEW_SYMLINK, program_dev_links[i].path);
		if (!s)
			return -ENOMEM;
		s->source = program_dev_links[i].target;
	}
	if (!(s = view_add(p, VIEW_DIRECTORY, "dev/pts")))
		return -ENOMEM;
	s->mode = 0755;
	if (!view_add(p, VIEW_PTS, "dev/pts") || !(s = view_add(p, VIEW_DIRECTORY, "dev/shm")))
		return -ENOMEM;
	s->mode = 0755;
	if (!(s = view_add(p, VIEW_TMPFS, "dev/shm")))
		return -ENOMEM;
	s->mode = 01777;
	s->attrs = ATTRS_COMMON | (p->plan->separates_exec ? MOUNT_ATTR_NOEXEC : 0);
	s->source = view_tmpfs_size(p);
	if (!s->source)
		return -ENOMEM;
	return view_rule_add(p, "/dev", view_write_access(p->plan->separates_exec));
}

/*
 * Most of /proc outside the processes asks for no capability, only for the owner, and that is root: the
 * program that handles core dumps is one write away from root's sandbox.  So these are read-only, and what
 * tells about the machine's memory, keys and timers is closed.  For others the owner is somebody else; what
 * everybody may read there and shows more than the call's own is closed for them as well.
 */
static const struct {
	const char *path;
	bool is_closed; /* else read-only */
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

	if (view_place(p, i, "/proc", true) < 0 ||
	    view_rule_add(p, "/proc", view_write_access(p->plan->separates_exec)) < 0 ||
	    !view_add(p, VIEW_PROC, "/proc"))
		return -ENOMEM;
	for (size_t k = 0; k < ARRAY_LEN(program_proc_rows) && !shield_is_off(SHIELD_PROC); k++) {
		const char *path = program_proc_rows[k].path;

		if (!is_root && !program_proc_rows[k].is_for_all)
			continue;
		if ((program_proc_rows[k].is_closed ? view_cover(p, -1, path, CLOSED_FILE)
						    : view_seal(p, path)) < 0)
			return -ENOMEM;
		p->steps[p->n - 1].may_be_missing = true;
	}
	return 0;
}
