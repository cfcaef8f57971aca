/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runsc is told, on its command line and in the bundle.
 *
 * --overlay2=none: what is written goes where the view says, not into memory of gVisor's.
 * --directfs=false: files are changed by the gofer, which is in the mount namespace of the view.  With it gVisor's kernel
 * does that itself, from a mount namespace without these mounts, and Linux lets who does not see a mount remove or
 * replace the name that it stands on: what is denied or protected would go with one rename.
 * --rootless: without it gVisor's kernel would become another user, whom a namespace of one id does not have.
 * --file-access=shared: the host changes files too, and the call has to see them.
 * --host-uds=open only for a plan with sockets: without it no socket of the host's can be reached by path, whatever
 * the view shows.  Sockets that the call makes exist in gVisor's memory alone.
 * No --host-fifo=open: gVisor waits for the other side also when it is asked not to.
 * --network=host only in a network of ours with doors in it, or where the host's was asked for; else gVisor's own
 * loopback is all there is.
 * --ignore-cgroups: our child has entered the call's group; whatever runsc starts is born in it.
 * No terminal: runsc would make one of its own in place of the one that is ours.
 * No seccomp and no limits in the bundle: the launcher applies them inside, as it does elsewhere.
 */
#include "backend/gvisor/gvisor.h"

#include "backend/doors.h"
#include "backend/launch/image.h"
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SPEC_OPTION_MAX 32      /* "size=" and a number */
#define SPEC_STATE "/run/runsc" /* in the private root: it goes with it */

static const char *const spec_platforms[] = {
	[GVISOR_SYSTRAP] = "--platform=systrap",
	[GVISOR_PTRACE] = "--platform=ptrace",
	[GVISOR_KVM] = "--platform=kvm",
};
static_assert(ARRAY_LEN(spec_platforms) == GVISOR_PLATFORM_COUNT, "each platform has its option");

static bool spec_has_sockets(const struct plan *plan)
{
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_SOCKET)
			return true;
	return false;
}

int gvisor_line(const struct launch_line *line, enum gvisor_platform platform, struct strv *out)
{
	const struct plan *plan = line->plan;
	bool is_closed = plan->net == PLAN_NET_NONE && !doors_are_wanted(plan);
	const char *const words[] = {
		"runsc",
		spec_platforms[platform],
		is_closed ? "--network=none" : "--network=host",
		spec_has_sockets(plan) ? "--host-uds=open" : "--host-uds=none",
		"--ignore-cgroups",
		"--rootless",
		"--directfs=false",
		"--overlay2=none",
		"--file-access=shared",
		"--root=" SPEC_STATE,
		"run",
		"--bundle=" LAUNCH_BUNDLE,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(words); i++)
		r = strv_add(out, words[i]);
	for (int fd = LAUNCH_FD_IMAGE; r == 0 && fd < LAUNCH_FD_END; fd++)
		r = strv_addf(out, "--pass-fd=%d:%d", fd, fd);
	return r == 0 ? strv_add(out, PLAN_HOSTNAME) : r;
}

static void spec_mount(struct json *j, const char *path, const char *type, const char *source,
		       const char *const *options, size_t n)
{
	json_object(j, NULL);
	json_str(j, "destination", path);
	json_str(j, "type", type);
	json_str(j, "source", source);
	json_array(j, "options");
	for (size_t i = 0; i < n; i++)
		json_str(j, NULL, options[i]);
	json_end_array(j);
	json_end_object(j);
}

/* What of its own /proc and /dev is worth to be denied; the rest of it is about the call, or without content. */
bool gvisor_shows(const char *path)
{
	static const char *const names[] = {
		"/dev/full",     "/dev/fuse",     "/dev/net",
		"/dev/null",     "/dev/ptmx",     "/dev/pts",
		"/dev/random",   "/dev/shm",      "/dev/tty",
		"/dev/urandom",  "/dev/zero",     "/proc/cgroups",
		"/proc/cmdline", "/proc/cpuinfo", "/proc/filesystems",
		"/proc/fs",      "/proc/loadavg", "/proc/meminfo",
		"/proc/mounts",  "/proc/net",     "/proc/sentry-meminfo",
		"/proc/stat",    "/proc/sys",     "/proc/uptime",
		"/proc/version",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return false;
}

/* gVisor has only the devices that it knows, and its /proc and /dev are its own: nothing can be put there. */
static bool spec_is_known(const struct plan_op *op)
{
	bool is_own = str_starts(op->path, "/dev/") || str_starts(op->path, "/proc/");

	switch (op->kind) {
	case PLAN_OP_DENY:
	case PLAN_OP_PROTECT:
		return strcmp(op->path, "/dev") != 0 && strcmp(op->path, "/proc") != 0;
	case PLAN_OP_DEVICE:
	case PLAN_OP_COUNT:
		return false;
	case PLAN_OP_SYSTEM:
	case PLAN_OP_BIND_RO:
	case PLAN_OP_COW:
	case PLAN_OP_BIND_RW:
	case PLAN_OP_TMPFS:
	case PLAN_OP_SYMLINK:
	case PLAN_OP_FILE:
	case PLAN_OP_SHOWN:
	case PLAN_OP_DEV:
	case PLAN_OP_PROC:
	case PLAN_OP_CACHE:
	case PLAN_OP_SOCKET:
		return !is_own;
	}
	return false;
}

static int spec_check(const struct launch_line *line)
{
	const struct plan *plan = line->plan;

	if (plan->separates_exec)
		return -EOPNOTSUPP; /* what it has in memory it executes, wherever that came from */
	for (size_t i = 0; i < plan->op_count; i++)
		if (!spec_is_known(&plan->ops[i]))
			return -EOPNOTSUPP;
	for (size_t i = 0; i < line->n_covers; i++)
		if (!utf8_is_valid(line->covers[i].path, strlen(line->covers[i].path)) ||
		    !utf8_is_valid(line->covers[i].source, strlen(line->covers[i].source)))
			return -EILSEQ;
	return 0;
}

/* Does the plan show something of the host's at path or below? */
static bool spec_shows(const struct plan *plan, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < plan->op_count; i++)
		if (strncmp(plan->ops[i].path, path, len) == 0 &&
		    (!plan->ops[i].path[len] || plan->ops[i].path[len] == '/'))
			return true;
	return false;
}

static void spec_mounts(struct json *j, const struct launch_line *line)
{
	char size[SPEC_OPTION_MAX];
	const char *const shm[] = {"nosuid", "nodev", "mode=1777", size};
	static const char *const cover[] = {"ro", "rbind"};
	static const char *const empty[] = {"ro", "nosuid", "nodev", "noexec"};

	json_array(j, "mounts");
	spec_mount(j, "/proc", "proc", "proc", NULL, 0);
	spec_mount(j, "/dev", "tmpfs", "dev", NULL, 0);
	(void)snprintf(size, sizeof(size), "size=%llu", (unsigned long long)line->shm_bytes);
	spec_mount(j, "/dev/shm", "tmpfs", "shm", shm, ARRAY_LEN(shm));
	/* Else gVisor puts one of its own there. */
	if (spec_shows(line->plan, "/sys"))
		spec_mount(j, "/sys", "bind", LAUNCH_VIEW "/sys", cover, ARRAY_LEN(cover));
	else
		spec_mount(j, "/sys", "tmpfs", "sys", empty, ARRAY_LEN(empty));
	for (size_t i = 0; i < line->n_covers; i++)
		spec_mount(j, line->covers[i].path, "bind", line->covers[i].source, cover,
			   ARRAY_LEN(cover));
	json_end_array(j);
}

static void spec_process(struct json *j, const struct launch_line *line)
{
	static const char *const none[] = {"bounding", "effective", "inheritable", "permitted"};

	json_object(j, "process");
	json_object(j, "user");
	/* Who is not root outside is called so inside: runsc maps no other id. */
	json_int(j, "uid", line->is_root ? (int64_t)line->uid : 0);
	json_int(j, "gid", line->is_root ? (int64_t)line->gid : 0);
	json_end_object(j);
	json_array(j, "args");
	json_str(j, NULL, LAUNCH_FILE);
	json_end_array(j);
	json_str(j, "cwd", "/");
	json_bool(j, "noNewPrivileges", true);
	json_object(j, "capabilities");
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		json_array(j, none[i]);
		json_end_array(j);
	}
	json_end_object(j);
	json_end_object(j);
}

int gvisor_spec(const struct launch_line *line, struct buf *out)
{
	static const char *const namespaces[] = {"pid", "ipc", "uts", "mount"};
	struct json j = JSON_INIT(out);
	int r = spec_check(line);

	if (r < 0)
		return r;
	json_object(&j, NULL);
	json_str(&j, "ociVersion", "1.0.0");
	spec_process(&j, line);
	json_object(&j, "root");
	json_str(&j, "path", LAUNCH_VIEW);
	json_end_object(&j);
	json_str(&j, "hostname", PLAN_HOSTNAME);
	spec_mounts(&j, line);
	json_object(&j, "linux");
	json_array(&j, "namespaces");
	for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
		json_object(&j, NULL);
		json_str(&j, "type", namespaces[i]);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_end_object(&j);
	return buf_error(out);
}
