/* SPDX-License-Identifier: Apache-2.0 */
/* See spec.h. */
#include "backend/container/spec.h"

#include "backend/confine/seccomp.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPEC_SHM_BYTES (1 << 20) /* the container's own; the call has another */
#define SPEC_PROFILE_MAX 65536
#define SPEC_GROUPS_MAX 65536
#define SPEC_CPU_PERIOD 100000 /* microseconds */

struct spec_mount {
	const char *source;
	const char *target;
	bool is_read_only;
	bool is_aside; /* what is mounted below it is of no use */
};

struct spec_mounts {
	struct spec_mount *v;
	size_t n;
	size_t cap;
	struct strv strings;
};

static void spec_mounts_done(struct spec_mounts *m)
{
	free(m->v);
	strv_done(&m->strings);
}

static int spec_mount_add(struct spec_mounts *m, const char *source, const char *target,
			  bool is_read_only)
{
	void *v = m->v;

	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->v[i].target, target) != 0)
			continue;
		m->v[i].is_read_only &= is_read_only;
		return 0;
	}
	/* It goes as JSON, which can hold no other. */
	if (!utf8_is_valid(source, strlen(source)))
		return -EILSEQ;
	if (mem_grow(&v, &m->cap, m->n + 1, sizeof(*m->v), LIMIT_PLAN_OPS) < 0)
		return -ENOMEM;
	m->v = v;
	m->v[m->n++] = (struct spec_mount){.source = source,
					   .target = target,
					   .is_read_only = is_read_only,
					   .is_aside = str_starts(target, SPEC_ASIDE)};
	return 0;
}

static bool spec_op_grants(enum plan_op_kind kind)
{
	return kind == PLAN_OP_SYSTEM || kind == PLAN_OP_BIND_RO || plan_op_is_writable(kind);
}

/* Another grant of at least the same kind holds the path: it needs no mount of its own. */
static bool spec_is_within(const struct plan *plan, size_t i)
{
	const struct plan_op *op = &plan->ops[i];

	for (size_t k = 0; k < plan->op_count; k++) {
		const struct plan_op *other = &plan->ops[k];

		if (k == i || !spec_op_grants(other->kind) ||
		    (plan->image && other->kind == PLAN_OP_SYSTEM) ||
		    (op->kind == PLAN_OP_BIND_RW && other->kind != PLAN_OP_BIND_RW))
			continue;
		if (path_is_within(op->path, other->path) &&
		    (strcmp(op->path, other->path) != 0 || k < i))
			return true;
	}
	return false;
}

static int spec_mnt_id(const char *path, uint64_t *ret)
{
	struct statx sx;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &sx) < 0)
		return -errno;
	*ret = sx.stx_mnt_id;
	return sx.stx_mask & STATX_MNT_ID ? 0 : -EOPNOTSUPP;
}

/* Does the view mount the grant as an overlay, which wants a directory beside it? */
static bool spec_needs_aside(const struct plan *plan, const struct plan_op *op)
{
	if (op->kind != PLAN_OP_BIND_RW)
		return false;
	for (size_t i = 0; i < plan->op_count; i++)
		if (plan->ops[i].kind == PLAN_OP_PROTECT &&
		    path_is_within(plan->ops[i].path, op->path))
			return true;
	return false;
}

/* The nearest directory that holds both the grant and a place beside it where we may write, on one mount.  Only
 * our own program sees it: it stands in the container, not in the view. */
static int spec_aside(struct spec_mounts *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[LIMIT_PATH_BYTES];
	const char *const candidates[] = {parent, "/var/tmp", "/tmp"};
	uint64_t want;
	int r = spec_mnt_id(path, &want);

	if (r < 0)
		return r;
	(void)snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int)(slash - path),
		       path);
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
		char both[LIMIT_PATH_BYTES];
		uint64_t have;

		if (path_is_within(candidates[i], path) || spec_mnt_id(candidates[i], &have) < 0 ||
		    have != want || faccessat(AT_FDCWD, candidates[i], W_OK | X_OK, AT_EACCESS) < 0)
			continue;
		(void)snprintf(both, sizeof(both), "%s", candidates[i]);
		while (!path_is_within(path, both) && strrchr(both, '/') != both)
			*strrchr(both, '/') = '\0';
		if (!path_is_within(path, both))
			(void)snprintf(both, sizeof(both), "/");
		if (strv_add(&m->strings, both) < 0 ||
		    strv_addf(&m->strings, SPEC_ASIDE "%s", strcmp(both, "/") ? both : "") < 0)
			return -ENOMEM;
		return spec_mount_add(m, m->strings.v[m->strings.n - 2],
				      m->strings.v[m->strings.n - 1], /* is_read_only= */ false);
	}
	return -EXDEV;
}

static int spec_mount_fail(const char *path, int r, struct cordon_error *err)
{
	if (r == -EILSEQ)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "a container engine takes no path that is not UTF-8: '%s'",
				    path),
			"rename it, or use --backend native");
	return r < 0 ? cordon_fail_leaf(err, r, "mount '%s'", path) : 0;
}

static int spec_op(struct spec_mounts *m, const struct plan *plan, size_t i,
		   struct cordon_error *err)
{
	const struct plan_op *op = &plan->ops[i];
	struct stat st;
	int r = 0;

	if (op->kind == PLAN_OP_CACHE || op->kind == PLAN_OP_COW)
		r = spec_mount_add(m, op->text, op->text, /* is_read_only= */ false);
	/* The system is the image's then. */
	if (plan->image && op->kind == PLAN_OP_SYSTEM)
		return 0;
	if (r == 0 && spec_op_grants(op->kind) && !spec_is_within(plan, i) &&
	    lstat(op->path, &st) == 0 && !S_ISLNK(st.st_mode))
		r = spec_mount_add(m, op->path, op->path, op->kind != PLAN_OP_BIND_RW);
	if (r == 0 && spec_needs_aside(plan, op))
		r = spec_aside(m, op->path);
	if (r == -EXDEV)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "protect missing names in '%s': no place on its file system",
				    op->path),
			"run in a directory below the top of that file system");
	return spec_mount_fail(op->path, r, err);
}

/* Where our own program finds it: the call gets what is in it from there (root.h). */
static int spec_root(struct spec_mounts *m, const char *root, struct cordon_error *err)
{
	return spec_mount_fail(root, spec_mount_add(m, root, SPEC_ROOT, /* is_read_only= */ true),
			       err);
}

/* Before the engine is asked: what it mounts later has to be the same. */
static int spec_mark(const struct spec *s, const struct spec_mounts *m, struct marks *ret,
		     struct cordon_error *err)
{
	for (size_t i = 0; i < m->n; i++) {
		int r;

		if (s->parts_at && strpbrk(m->v[i].source, s->parts_at))
			return cordon_hint(
				err,
				cordon_fail(err, CORDON_E_UNSUPPORTED,
					    "podman takes no path with a comma, a quotation mark "
					    "or a line break: '%s'",
					    m->v[i].source),
				"rename it, or use another backend");
		r = marks_add(ret, m->v[i].source, m->v[i].target);
		if (r == -ELOOP)
			return cordon_hint(err,
					   cordon_fail(err, CORDON_E_SYSTEM,
						       "mount '%s': a part of it became a link",
						       m->v[i].source),
					   "see who changes it, and try again");
		if (r < 0)
			return cordon_fail_leaf(err, r, "mount '%s'", m->v[i].source);
	}
	return 0;
}

/* An engine puts files of its own over these, in the host's /etc. */
const char *const spec_unmarked[] = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", NULL};

static int spec_etc(struct spec_mounts *m, const struct plan *plan)
{
	int r = 0;

	for (const char *const *name = spec_unmarked; r == 0 && !plan->image && *name; name++)
		for (size_t k = 0; r == 0 && k < plan->op_count; k++)
			if (spec_op_grants(plan->ops[k].kind) &&
			    path_is_within(*name, plan->ops[k].path) && access(*name, F_OK) == 0)
				r = spec_mount_add(m, *name, *name, /* is_read_only= */ true);
	return r;
}

static void spec_write_mounts(struct json *j, const struct spec_mounts *m)
{
	json_array(j, "Mounts");
	for (size_t i = 0; i < m->n; i++) {
		json_object(j, NULL);
		json_str(j, "Type", "bind");
		json_str(j, "Source", m->v[i].source);
		json_str(j, "Target", m->v[i].target);
		json_bool(j, "ReadOnly", m->v[i].is_read_only);
		/* Propagation is the engine's choice: private, but where its own data is below. */
		if (m->v[i].is_aside) {
			json_object(j, "BindOptions");
			json_bool(j, "NonRecursive", true);
			json_end_object(j);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

/* What it takes to build a view, which our own filter takes away again before the command starts. */
static bool spec_builds_a_view(const char *call)
{
	static const char *const calls[] = {
		"mount",          "umount2",       "pivot_root",       "open_tree",
		"open_tree_attr", "move_mount",    "fsopen",           "fsconfig",
		"fsmount",        "fspick",        "mount_setattr",    "chroot",
		"unshare",        "setns",         "clone3",           "clone",
		"sethostname",    "setdomainname", "process_vm_readv", "process_vm_writev",
		"ptrace",
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (strcmp(calls[i], call) == 0)
			return true;
	return false;
}

/* The rows of our table that refuse a call whatever its arguments, in the engines' form. */
int spec_profile(struct buf *out)
{
	const struct seccomp_policy policy = {.allows_inet = true, .allows_unix = true};
	const struct seccomp_row *row;
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "defaultAction", "SCMP_ACT_ALLOW");
	json_array(&j, "syscalls");
	json_object(&j, NULL);
	json_array(&j, "names");
	for (size_t i = 0; (row = seccomp_row(i)); i++)
		if (seccomp_row_holds(row, &policy) && !spec_builds_a_view(row->name) &&
		    strcmp(seccomp_row_action(row), "EPERM") == 0)
			json_str(&j, NULL, row->name);
	json_end_array(&j);
	json_str(&j, "action", "SCMP_ACT_ERRNO");
	json_end_object(&j);
	json_end_array(&j);
	json_end_object(&j);
	return buf_error(out);
}

static int spec_security(struct json *j, const char *file)
{
	/* Root maps ids and reads what belongs to others; nobody else has any of these. */
	static const char *const root[] = {"SETUID",       "SETGID", "SETFCAP",
					   "DAC_OVERRIDE", "FOWNER", "SETPCAP"};
	struct buf profile = BUF_INIT(SPEC_PROFILE_MAX);
	int r;

	buf_printf(&profile, "seccomp=%s", file ? file : "");
	r = file ? buf_error(&profile) : spec_profile(&profile);
	json_array(j, "CapDrop");
	json_str(j, NULL, "ALL");
	json_end_array(j);
	json_array(j, "CapAdd");
	for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(root); i++)
		json_str(j, NULL, root[i]);
	json_end_array(j);
	json_array(j, "SecurityOpt");
	json_str(j, NULL, "no-new-privileges");
	json_str(j, NULL, buf_cstr(&profile));
	/* Their rules for containers forbid every mount; ours inside are stricter. */
	json_str(j, NULL, "apparmor=unconfined");
	json_str(j, NULL, "label=disable");
	if (file)
		json_str(j, NULL, "unmask=ALL");
	json_end_array(j);
	/* A new /proc can only be mounted where nothing of the old one is hidden. */
	json_array(j, "MaskedPaths");
	json_end_array(j);
	json_array(j, "ReadonlyPaths");
	json_end_array(j);
	buf_done(&profile);
	return r;
}

void spec_limits(struct json *j, const struct plan *plan, unsigned own_processes)
{
	if (plan->memory_bytes.is_given) {
		json_int(j, "Memory", (int64_t)plan->memory_bytes.value);
		json_int(j, "MemorySwap", (int64_t)plan->memory_bytes.value);
	}
	if (plan->cpu_shares.is_given)
		json_int(j, "CpuShares", (int64_t)plan->cpu_shares.value);
	if (plan->cpu_percent.is_given) {
		json_int(j, "CpuPeriod", SPEC_CPU_PERIOD);
		json_int(j, "CpuQuota", (int64_t)plan->cpu_percent.value * (SPEC_CPU_PERIOD / 100));
	}
	if (plan->max_processes.is_given)
		json_int(j, "PidsLimit", (int64_t)plan->max_processes.value + own_processes);
}

static int spec_groups(struct json *j)
{
	int n = getgroups(0, NULL);
	AUTO_FREE gid_t *groups = n > 0 && n <= SPEC_GROUPS_MAX ? calloc((size_t)n, sizeof(*groups))
								: NULL;

	if (n < 0 || n > SPEC_GROUPS_MAX || (n > 0 && !groups))
		return -ENOMEM;
	if (n > 0)
		n = getgroups(n, groups);
	json_array(j, "GroupAdd");
	for (int i = 0; i < n; i++) {
		char id[16];

		(void)snprintf(id, sizeof(id), "%u", (unsigned)groups[i]);
		json_str(j, NULL, id);
	}
	json_end_array(j);
	return 0;
}

static void spec_devices(struct json *j, const struct plan *plan)
{
	json_array(j, "Devices");
	for (size_t i = 0; i < plan->op_count; i++) {
		if (plan->ops[i].kind != PLAN_OP_DEVICE)
			continue;
		json_object(j, NULL);
		json_str(j, "PathOnHost", plan->ops[i].path);
		json_str(j, "PathInContainer", plan->ops[i].path);
		json_str(j, "CgroupPermissions", "rw");
		json_end_object(j);
	}
	json_end_array(j);
}

static int spec_host(struct json *j, const struct spec *s, const struct spec_mounts *m)
{
	const struct plan *plan = s->plan;
	int r;

	json_object(j, "HostConfig");
	json_bool(j, "AutoRemove", true);
	if (plan->runtime)
		json_str(j, "Runtime", plan->runtime);
	json_str(j, "NetworkMode", plan->net == PLAN_NET_HOST ? "host" : "none");
	json_str(j, "IpcMode", "private");
	json_int(j, "ShmSize", SPEC_SHM_BYTES);
	/* podman would put copies of /run, /tmp and /var/tmp over a read-only root, also where the host's are granted.  No
	 * command sees that root, and it goes with the container. */
	json_bool(j, "ReadonlyRootfs", !s->profile);
	json_object(j, "LogConfig");
	json_str(j, "Type", "none");
	json_end_object(j);
	r = spec_security(j, s->profile);
	if (r == 0)
		r = spec_groups(j);
	spec_devices(j, plan);
	spec_limits(j, plan, SPEC_OWN_PROCESSES);
	spec_write_mounts(j, m);
	json_end_object(j);
	return r;
}

int spec_write(const struct spec *s, struct buf *out, struct marks *marks, struct cordon_error *err)
{
	AUTO(spec_mounts_done) struct spec_mounts m = {0};
	struct json j = JSON_INIT(out);
	char user[32];
	char idle[16];
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->op_count; i++)
		r = spec_op(&m, s->plan, i, err);
	if (r == 0 && s->root)
		r = spec_root(&m, s->root, err);
	if (r == 0)
		r = spec_mark(s, &m, marks, err);
	if (r < 0)
		return r;
	if (spec_etc(&m, s->plan) < 0 ||
	    spec_mount_add(&m, s->inside, SPEC_INSIDE, /* is_read_only= */ true) < 0 ||
	    spec_mount_add(&m, s->call_dir, SPEC_CALL,
			   /* is_read_only= */ s->idle_s == 0 && !s->plan->runtime) < 0)
		return cordon_nomem(err);
	(void)snprintf(idle, sizeof(idle), "%u", s->idle_s);
	(void)snprintf(user, sizeof(user), "%u:%u", (unsigned)geteuid(), (unsigned)getegid());
	json_object(&j, NULL);
	json_str(&j, "Image", s->image);
	json_str(&j, "User", user);
	json_str(&j, "WorkingDir", "/");
	json_str(&j, "Hostname", PLAN_HOSTNAME);
	json_array(&j, "Entrypoint");
	json_str(&j, NULL, SPEC_INSIDE);
	if (s->idle_s > 0)
		json_str(&j, NULL, idle);
	json_end_array(&j);
	json_array(&j, "Env");
	json_end_array(&j);
	json_object(&j, "Labels");
	json_str(&j, SPEC_LABEL, s->idle_s > 0 ? "warm" : s->plan->id ? s->plan->id : "trial");
	json_str(&j, SPEC_PLACE, s->call_dir);
	json_end_object(&j);
	r = spec_host(&j, s, &m);
	json_end_object(&j);
	if (r == 0)
		r = buf_error(out);
	return r < 0 ? cordon_fail_leaf(err, r, "describe the container") : 0;
}
