/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation.  Each op of the plan becomes a few steps.  Three things need thought:
 *
 * Places to mount on.  In the new root and in every tmpfs we make them; in a bind they exist, because
 * paths are canonical and the same on both sides.  Which of the two holds is decided here, from the ops
 * so far: the child never makes a directory where somebody else's link could lead it astray.
 *
 * Protected names.  A directory that holds some is not bound but mounted as an overlay whose upper layer is
 * the host's directory and whose lower layer is a directory of placeholders in our own tmpfs.  So a name
 * that does not exist on the host has an entry to mount on, and the host never sees it.  The entry is a
 * socket, with an empty read-only file mounted on it: programs that read it find an empty file, programs that
 * list the directory and go by the type (git, find, ripgrep) pass it by.  The directories above a protected
 * name exist in both layers; overlayfs refuses to rename such a directory (EXDEV), so no protected path can
 * be moved aside and made anew.  Nothing here ever needs the overlay's work directory (no entry of the lower
 * layer can be written, removed or copied up), so it is removed as soon as the command runs.
 *
 * Denied names exist or are protected from creation; an unreadable file or directory is mounted over them.
 */
#include "backend/native/program.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORK_PREFIX ".cordon-work-"
#define WORK_FD_PATH_MAX 32 /* "/proc/self/fd/" and a number */
#define WORK_AGE_S 60       /* longer than any call takes to start */

/* Of a private directory, unless the plan says otherwise.  There are three (/tmp, home, /dev/shm), nobody can
 * be killed to free what is in them, and the kernel's default is half of the memory each. */
#define TMPFS_SIZE "25%"

#define ATTRS_COMMON (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define ATTRS_SEALED (ATTRS_COMMON | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC)

/* What is mounted on or over something, by type. */
#define EMPTY_FILE NATIVE_DIR "/file"
#define EMPTY_DIR NATIVE_DIR "/dir"
#define CLOSED_FILE NATIVE_DIR "/closed-file"
#define CLOSED_DIR NATIVE_DIR "/closed-dir"

static struct native_step *program_add(struct native_program *p, enum native_step_kind kind,
				       const char *path)
{
	void *steps = p->steps;

	if (mem_grow(&steps, &p->cap, p->n + 1, sizeof(*p->steps), NATIVE_STEPS_MAX) < 0)
		return NULL;
	p->steps = steps;
	while (*path == '/')
		path++;
	p->steps[p->n] = (struct native_step){.kind = kind, .path = path, .fd = -1};
	return &p->steps[p->n++];
}

/* Keeps a copy of the first len bytes of s. */
static const char *program_keep(struct native_program *p, const char *s, size_t len)
{
	if (strv_addf(&p->strings, "%.*s", (int)len, s) < 0)
		return NULL;
	return p->strings.v[p->strings.n - 1];
}

static int program_rule(struct native_program *p, const char *path, enum landlock_access access)
{
	void *rules = p->rules;

	if (mem_grow(&rules, &p->rules_cap, p->n_rules + 1, sizeof(*p->rules), NATIVE_STEPS_MAX) <
	    0)
		return -ENOMEM;
	p->rules = rules;
	p->rules[p->n_rules++] = (struct native_rule){.path = path, .access = access};
	return 0;
}

static bool op_is_mount(enum plan_op_kind kind)
{
	return kind <= PLAN_OP_TMPFS || kind == PLAN_OP_PROC;
}

/* The directory in which path stands, as far as the ops before `before` have built it: NULL when that is
 * the host's, else the path of the tmpfs. */
static const char *program_tmpfs_above(const struct plan *plan, size_t before, const char *path)
{
	const struct plan_op *found = NULL;

	for (size_t i = 0; i < before; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op_is_mount(op->kind) && path_is_within(path, op->path) &&
		    strcmp(path, op->path) != 0)
			found = op; /* later ones cover earlier ones */
	}
	if (!found)
		return "";
	return found->kind == PLAN_OP_TMPFS ? found->path : NULL;
}

/* Makes path (a directory, or an empty file) where it stands in a tmpfs of ours. */
static int program_place(struct native_program *p, size_t before, const char *path, bool is_dir)
{
	const char *top = program_tmpfs_above(p->plan, before, path);
	const char *at;

	if (!top)
		return 0;
	for (at = path + strlen(top) + 1; (at = strchr(at, '/')); at++) {
		const char *parent = program_keep(p, path, (size_t)(at - path));
		struct native_step *s = parent ? program_add(p, NATIVE_DIRECTORY, parent) : NULL;

		if (!s)
			return -ENOMEM;
		s->mode = 0755;
	}
	if (!program_add(p, is_dir ? NATIVE_DIRECTORY : NATIVE_EMPTY, path))
		return -ENOMEM;
	p->steps[p->n - 1].mode = is_dir ? 0755 : 0444;
	return 0;
}

/* Mounts the host's path at itself. */
static int program_bind(struct native_program *p, const char *path, const struct stat *st,
			uint64_t attrs)
{
	struct native_step *s = program_add(p, NATIVE_BIND, path);

	if (!s)
		return -ENOMEM;
	s->source = path;
	s->attrs = attrs;
	s->dev = st->st_dev;
	s->ino = st->st_ino;
	return 0;
}

/* Clones of the placeholder have its attributes from now on. */
static int program_seal(struct native_program *p, const char *path)
{
	struct native_step *s = program_add(p, NATIVE_SEAL, path);

	if (!s)
		return -ENOMEM;
	s->source = s->path;
	s->attrs = ATTRS_SEALED;
	return 0;
}

/* owner: the grant around path, or -1. */
static int program_cover(struct native_program *p, int owner, const char *path, const char *with)
{
	struct native_step *s = program_add(p, NATIVE_COVER, path);
	const char *dir = owner >= 0 ? p->plan->ops[owner].path : NULL;
	const char *name = dir ? path + strlen(dir) + 1 : NULL;

	if (!s)
		return -ENOMEM;
	s->source = with;
	if (name && path_is_within(path, dir) && strlen(path) > strlen(dir) && !strchr(name, '/')) {
		s->dir = dir + 1;
		s->name = name;
	}
	return 0;
}

/* A bind of the op, writable or not. */
static int program_grant(struct native_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	uint64_t attrs = op->kind == PLAN_OP_DEVICE ? MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC
						    : ATTRS_COMMON;
	struct stat st;
	int r;

	if (lstat(op->path, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", op->path);
	if (S_ISLNK(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is a symbolic link", op->path);
	if (op->kind == PLAN_OP_SYSTEM || op->kind == PLAN_OP_BIND_RO)
		attrs |= MOUNT_ATTR_RDONLY;
	if (op->is_noexec)
		attrs |= MOUNT_ATTR_NOEXEC;
	r = program_place(p, i, op->path, S_ISDIR(st.st_mode));
	if (r == 0 && (op->kind == PLAN_OP_BIND_RW || op->kind == PLAN_OP_DEVICE))
		r = program_rule(p, op->path,
				 op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE);
	if (r == 0)
		r = program_bind(p, op->path, &st, attrs);
	return r < 0 ? cordon_fail_leaf(err, r, "'%s'", op->path) : 0;
}

/* A directory of the system of which root shall see only what everybody may see. */
static int program_public(struct native_program *p, size_t i, struct cordon_error *err)
{
	const char *path = p->plan->ops[i].path;
	struct native_step *s;
	int r;

	if (p->n_trees == ARRAY_LEN(p->trees))
		return cordon_fail(err, CORDON_E_LIMIT, "too many system directories");
	r = native_public_tree(path);
	if (r < 0)
		return cordon_hint(err,
				   cordon_fail_errno(err, -r, "close private files in '%s'", path),
				   "its file system cannot be mounted with other owners; "
				   "run cordon as an ordinary user");
	p->trees[p->n_trees++] = r;
	if (program_place(p, i, path, true) < 0 || !(s = program_add(p, NATIVE_TREE, path)))
		return cordon_nomem(err);
	s->fd = r;
	s->attrs = ATTRS_COMMON | MOUNT_ATTR_RDONLY;
	return 0;
}

static int program_tmpfs(struct native_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct native_step *s;

	if (program_place(p, i, op->path, true) < 0 ||
	    program_rule(p, op->path, op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE) < 0 ||
	    !(s = program_add(p, NATIVE_TMPFS, op->path)))
		return cordon_nomem(err);
	s->mode = op->mode ? op->mode : 0755;
	s->attrs = ATTRS_COMMON | (op->is_noexec ? MOUNT_ATTR_NOEXEC : 0);
	s->source = TMPFS_SIZE;
	if (op->size_bytes) {
		if (strv_addf(&p->strings, "%llu", (unsigned long long)op->size_bytes) < 0)
			return cordon_nomem(err);
		s->source = p->strings.v[p->strings.n - 1];
	}
	return 0;
}

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

static int program_dev(struct native_program *p)
{
	struct native_step *s = program_add(p, NATIVE_DIRECTORY, "dev");

	/* 0755 and not sticky: as root, open(O_CREAT) of a device in a sticky directory is refused. */
	if (!s)
		return -ENOMEM;
	s->mode = 0755;
	for (size_t i = 0; i < ARRAY_LEN(program_devices); i++) {
		struct stat st;

		if (stat(program_devices[i], &st) < 0)
			return -errno;
		if (!program_add(p, NATIVE_EMPTY, program_devices[i]) ||
		    program_bind(p, program_devices[i], &st,
				 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(program_dev_links); i++) {
		s = program_add(p, NATIVE_SYMLINK, program_dev_links[i].path);
		if (!s)
			return -ENOMEM;
		s->source = program_dev_links[i].target;
	}
	if (!(s = program_add(p, NATIVE_DIRECTORY, "dev/pts")))
		return -ENOMEM;
	s->mode = 0755;
	if (!program_add(p, NATIVE_PTS, "dev/pts") ||
	    !(s = program_add(p, NATIVE_DIRECTORY, "dev/shm")))
		return -ENOMEM;
	s->mode = 0755;
	if (!(s = program_add(p, NATIVE_TMPFS, "dev/shm")))
		return -ENOMEM;
	s->mode = 01777;
	s->attrs = ATTRS_COMMON;
	s->source = TMPFS_SIZE;
	return program_rule(p, "/dev", LANDLOCK_WRITE);
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

static int program_proc(struct native_program *p, size_t i)
{
	bool is_root = geteuid() == 0;

	if (program_place(p, i, "/proc", true) < 0 ||
	    program_rule(p, "/proc", LANDLOCK_WRITE) < 0 || !program_add(p, NATIVE_PROC, "/proc"))
		return -ENOMEM;
	for (size_t k = 0; k < ARRAY_LEN(program_proc_rows); k++) {
		const char *path = program_proc_rows[k].path;

		if (!is_root && !program_proc_rows[k].is_for_all)
			continue;
		if ((program_proc_rows[k].is_closed ? program_cover(p, -1, path, CLOSED_FILE)
						    : program_seal(p, path)) < 0)
			return -ENOMEM;
		p->steps[p->n - 1].may_be_missing = true;
	}
	return 0;
}

/* overlays */

/* The writable grant that path stands in, by index, or -1: the last one that covers it. */
static int program_owner(const struct plan *plan, const char *path)
{
	int found = -1;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (op_is_mount(op->kind) && path_is_within(path, op->path))
			found = (int)i;
	}
	return found >= 0 && plan->ops[found].kind == PLAN_OP_BIND_RW ? found : -1;
}

/* Which writable grants hold a guarded path, other than themselves. */
static void program_find_guarded(struct native_program *p)
{
	const struct plan *plan = p->plan;

	for (size_t i = 0; i < plan->op_count; i++) {
		const struct plan_op *op = &plan->ops[i];
		int owner;

		if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY)
			continue;
		owner = program_owner(plan, op->path);
		if (owner >= 0 && strcmp(op->path, plan->ops[owner].path) != 0)
			p->guarded[owner] = true;
	}
}

static int program_mnt_id(const char *path, uint64_t *ret)
{
	struct statx sx;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &sx) < 0)
		return -errno;
	if (!(sx.stx_mask & STATX_MNT_ID))
		return -EOPNOTSUPP;
	*ret = sx.stx_mnt_id;
	return 0;
}

/* Removes a work directory and what overlayfs makes in one.  What cannot be removed stays: it is no harm.  No
 * link is followed: where the directory stands, an earlier call may have written. */
static void program_remove_work(int at, const char *name)
{
	static const char *const inner[] = {"work", "incompat", "volatile"};
	int fds[ARRAY_LEN(inner) + 1];
	size_t depth = 0;

	fds[0] = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (fds[0] >= 0 && depth < ARRAY_LEN(inner)) {
		char path[WORK_FD_PATH_MAX];

		fds[depth + 1] = openat(fds[depth], inner[depth],
					O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fds[depth + 1] < 0)
			break;
		/* Overlayfs makes them unreadable. */
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[++depth]);
		(void)chmod(path, 0700);
	}
	if (depth == ARRAY_LEN(inner))
		(void)unlinkat(fds[depth], "dirty", 0);
	for (; depth > 0; depth--) {
		(void)unlinkat(fds[depth - 1], inner[depth - 1], AT_REMOVEDIR);
		(void)fd_close(fds[depth]);
	}
	(void)unlinkat(at, name, AT_REMOVEDIR);
	(void)fd_close(fds[0]);
}

/* Removes what calls left that were killed in the moment between making and removing theirs. */
static void program_sweep(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	time_t now = time(NULL);

	while (d && (e = readdir(d))) {
		struct stat st;

		if (str_starts(e->d_name, WORK_PREFIX) &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_uid == geteuid() && now - st.st_mtim.tv_sec >= WORK_AGE_S)
			program_remove_work(dirfd(d), e->d_name);
	}
	if (d)
		(void)closedir(d);
}

/* A new, empty directory on the mount of upper, outside it. */
static int program_work(struct native_program *p, const char *upper, const char **ret)
{
	const char *slash = strrchr(upper, '/');
	const char *parent = program_keep(p, upper, slash == upper ? 1 : (size_t)(slash - upper));
	const char *candidates[] = {p->plan->scratch_dir, "/var/tmp", "/tmp", parent};
	uint64_t want;
	int r = program_mnt_id(upper, &want);

	if (r < 0)
		return r;
	if (!parent)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
		uint64_t have;

		if (!candidates[i] || path_is_within(candidates[i], upper) ||
		    program_mnt_id(candidates[i], &have) < 0 || have != want)
			continue;
		program_sweep(candidates[i]);
		if (strv_addf(&p->work, "%s/" WORK_PREFIX "XXXXXX", candidates[i]) < 0)
			return -ENOMEM;
		if (mkdtemp(p->work.v[p->work.n - 1])) {
			*ret = p->work.v[p->work.n - 1];
			return 0;
		}
		p->work.v[p->work.n - 1][0] = '\0'; /* not made: nothing to remove */
	}
	return -EXDEV;
}

static int program_overlay(struct native_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct native_step *s;
	const char *work = NULL;
	const char *lower;
	struct stat st;
	int r;

	if (lstat(op->path, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", op->path);
	if (!S_ISDIR(st.st_mode))
		return cordon_fail(err, CORDON_E_INVALID, "'%s' is not a directory", op->path);
	r = program_work(p, op->path, &work);
	if (r < 0)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "protect missing names in '%s': no place on its file system: %s",
				    op->path, strerrordesc_np(-r)),
			"run in a directory below the top of that file system");
	if (strv_addf(&p->strings, NATIVE_DIR "/lower-%zu", i) < 0)
		return cordon_nomem(err);
	lower = p->strings.v[p->strings.n - 1];
	if (program_place(p, i, op->path, true) < 0 ||
	    program_rule(p, op->path, op->is_noexec ? LANDLOCK_WRITE_NOEXEC : LANDLOCK_WRITE) < 0 ||
	    !(s = program_add(p, NATIVE_OVERLAY, op->path)))
		return cordon_nomem(err);
	s->source = op->path;
	s->lower = lower;
	s->work = work;
	s->attrs = ATTRS_COMMON | (op->is_noexec ? MOUNT_ATTR_NOEXEC : 0);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	return 0;
}

/* guards */

/* One guard, looked up on the host. */
struct guard {
	const struct plan_op *op;
	int owner;      /* index of the writable grant around it */
	const char *at; /* the path, or the first component of it that is missing or no directory */
	bool exists;    /* at does */
	struct stat st; /* of at */
	bool is_whole;  /* at is the whole path */
	bool is_visible; /* something grants it: there is something to mount on */
};

static int guard_look(struct native_program *p, const struct plan_op *op, struct guard *ret)
{
	struct guard g = {.op = op, .owner = program_owner(p->plan, op->path)};
	const char *from = g.owner >= 0 ? p->plan->ops[g.owner].path : "";
	const char *end = op->path + strlen(from);

	do {
		const char *next = strchr(end + 1, '/');

		end = next ? next : op->path + strlen(op->path);
		g.is_whole = *end == '\0';
		g.at = g.is_whole ? op->path : program_keep(p, op->path, (size_t)(end - op->path));
		if (!g.at)
			return -ENOMEM;
		g.exists = lstat(g.at, &g.st) == 0;
		if (!g.exists && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			return -errno;
		if (!g.exists && errno == EACCES)
			g.is_whole = true; /* nor can the command look there */
	} while (!g.is_whole && g.exists && S_ISDIR(g.st.st_mode));
	for (size_t i = 0; i < p->plan->op_count; i++)
		if (op_is_mount(p->plan->ops[i].kind) && path_is_within(g.at, p->plan->ops[i].path))
			g.is_visible = p->plan->ops[i].kind != PLAN_OP_TMPFS &&
				       p->plan->ops[i].kind != PLAN_OP_PROC;
	*ret = g;
	return 0;
}

/* The entries that a guard needs in the lower layer of the overlay around it. */
static int guard_lower(struct native_program *p, const struct guard *g)
{
	const char *top = p->plan->ops[g->owner].path;
	const char *at = g->at + strlen(top) + 1;
	struct native_step *s;
	const char *slash;

	for (const char *from = at; (slash = strchr(from, '/')); from = slash + 1) {
		if (strv_addf(&p->strings, NATIVE_DIR "/lower-%d/%.*s", g->owner, (int)(slash - at),
			      at) < 0 ||
		    !(s = program_add(p, NATIVE_DIRECTORY, p->strings.v[p->strings.n - 1])))
			return -ENOMEM;
		s->mode = 0755;
	}
	if (g->exists)
		return 0;
	if (strv_addf(&p->strings, NATIVE_DIR "/lower-%d/%s", g->owner, at) < 0)
		return -ENOMEM;
	s = program_add(p, g->op->is_dir || !g->is_whole ? NATIVE_DIRECTORY : NATIVE_SOCKET,
			p->strings.v[p->strings.n - 1]);
	if (!s)
		return -ENOMEM;
	s->mode = s->kind == NATIVE_DIRECTORY ? 0555 : 0444;
	return 0;
}

/* A file of its own for a name that needs some content. */
static int guard_cover_text(struct native_program *p, const struct guard *g)
{
	struct native_step *s;

	if (strv_addf(&p->strings, NATIVE_DIR "/text-%zu", p->n) < 0)
		return -ENOMEM;
	s = program_add(p, NATIVE_FILE, p->strings.v[p->strings.n - 1]);
	if (!s)
		return -ENOMEM;
	s->source = g->op->text;
	s->mode = 0444;
	return program_seal(p, s->path) < 0
		       ? -ENOMEM
		       : program_cover(p, g->owner, g->at, p->strings.v[p->strings.n - 1]);
}

/* What is mounted at the guarded path once everything else is in place. */
static int guard_cover(struct native_program *p, const struct guard *g)
{
	bool is_dir = g->op->is_dir || !g->is_whole;

	if (!g->exists && !is_dir && g->op->text)
		return guard_cover_text(p, g);
	if (!g->exists)
		return program_cover(p, g->owner, g->at, is_dir ? EMPTY_DIR : EMPTY_FILE);
	if (g->op->kind == PLAN_OP_DENY && g->is_whole)
		return program_cover(p, g->owner, g->at,
				     S_ISDIR(g->st.st_mode) ? CLOSED_DIR : CLOSED_FILE);
	/* Itself, read-only.  A link stands for itself and can then not be replaced. */
	return program_bind(p, g->at, &g->st, ATTRS_COMMON | MOUNT_ATTR_RDONLY);
}

static bool guard_is_repeated(const struct guard *guards, size_t n, const struct guard *g)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(guards[i].at, g->at) == 0 &&
		    (guards[i].op->kind == g->op->kind || guards[i].op->kind == PLAN_OP_DENY))
			return true;
	return false;
}

static int program_guards(struct native_program *p, struct guard *guards, size_t *n)
{
	for (size_t i = 0; i < p->plan->op_count; i++) {
		const struct plan_op *op = &p->plan->ops[i];
		struct guard g;
		int r;

		if (op->kind != PLAN_OP_PROTECT && op->kind != PLAN_OP_DENY)
			continue;
		r = guard_look(p, op, &g);
		if (r < 0)
			return r;
		/* What nothing grants is not there, and what nobody may write needs no protection. */
		if (!g.is_visible || (g.owner < 0 && (op->kind == PLAN_OP_PROTECT || !g.exists)) ||
		    guard_is_repeated(guards, *n, &g))
			continue;
		guards[(*n)++] = g;
		if (g.owner >= 0 && strcmp(g.at, p->plan->ops[g.owner].path) != 0) {
			r = guard_lower(p, &g);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int program_op(struct native_program *p, size_t i, struct cordon_error *err)
{
	const struct plan_op *op = &p->plan->ops[i];
	struct native_step *s;

	switch (op->kind) {
	case PLAN_OP_SYSTEM:
		return op->is_public_only ? program_public(p, i, err) : program_grant(p, i, err);
	case PLAN_OP_BIND_RW:
		if (p->guarded[i])
			return program_overlay(p, i, err);
		return program_grant(p, i, err);
	case PLAN_OP_BIND_RO:
	case PLAN_OP_DEVICE:
		return program_grant(p, i, err);
	case PLAN_OP_TMPFS:
		return program_tmpfs(p, i, err);
	case PLAN_OP_SYMLINK:
	case PLAN_OP_FILE:
		s = program_add(p, op->kind == PLAN_OP_FILE ? NATIVE_FILE : NATIVE_SYMLINK,
				op->path);
		if (!s)
			return cordon_nomem(err);
		s->source = op->text;
		s->mode = 0644;
		return 0;
	case PLAN_OP_DEV:
		if (program_dev(p) < 0)
			return cordon_fail(err, CORDON_E_SYSTEM, "prepare /dev");
		return 0;
	case PLAN_OP_PROC:
		/* Nowhere else: what is closed in it is known by path. */
		if (strcmp(op->path, "/proc") != 0)
			return cordon_fail(err, CORDON_E_UNSUPPORTED, "/proc at '%s'", op->path);
		return program_proc(p, i) < 0 ? cordon_nomem(err) : 0;
	case PLAN_OP_PROTECT:
	case PLAN_OP_DENY:
		return 0; /* before and after the others: program_guards(), guard_cover() */
	case PLAN_OP_COUNT:
		break;
	}
	return cordon_fail(err, CORDON_E_UNSUPPORTED, "backend 'native' does not know op %d",
			   (int)op->kind);
}

static int program_placeholders(struct native_program *p)
{
	static const struct {
		enum native_step_kind kind;
		const char *path;
		unsigned mode;
	} rows[] = {
		{NATIVE_DIRECTORY, NATIVE_DIR, 0700}, {NATIVE_EMPTY, EMPTY_FILE, 0444},
		{NATIVE_DIRECTORY, EMPTY_DIR, 0555},  {NATIVE_EMPTY, CLOSED_FILE, 0},
		{NATIVE_DIRECTORY, CLOSED_DIR, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct native_step *s = program_add(p, rows[i].kind, rows[i].path);

		if (!s)
			return -ENOMEM;
		s->mode = rows[i].mode;
		if (i > 0 && program_seal(p, rows[i].path) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < p->plan->op_count; i++) {
		struct native_step *s;

		if (!p->guarded[i])
			continue;
		if (strv_addf(&p->strings, NATIVE_DIR "/lower-%zu", i) < 0 ||
		    !(s = program_add(p, NATIVE_DIRECTORY, p->strings.v[p->strings.n - 1])))
			return -ENOMEM;
		s->mode = 0755;
	}
	return 0;
}

static int program_build(struct native_program *p, struct guard *guards, struct cordon_error *err)
{
	size_t n = 0;
	int r;

	program_find_guarded(p);
	r = program_placeholders(p);
	if (r == 0)
		r = program_guards(p, guards, &n);
	if (r < 0)
		return cordon_fail_leaf(err, r, "prepare protected paths");
	for (size_t i = 0; i < p->plan->op_count; i++) {
		r = program_op(p, i, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < n; i++)
		if (guard_cover(p, &guards[i]) < 0)
			return cordon_nomem(err);
	p->open_rules = calloc(p->n_rules + 1, sizeof(*p->open_rules));
	return p->open_rules ? 0 : cordon_nomem(err);
}

int native_compile(const struct plan *plan, struct native_program *ret, struct cordon_error *err)
{
	const struct seccomp_policy policy = {
		.allows_inet =
			true, /* in a network namespace of its own there is nobody to reach */
		.allows_unix = !plan->seals_unix,
		.allows_netlink_route = true,
		.denies_set_id = true,
	};
	AUTO_FREE struct guard *guards = calloc(plan->op_count + 1, sizeof(*guards));
	int r;

	*ret = (struct native_program){.plan = plan};
	ret->guarded = calloc(plan->op_count + 1, sizeof(*ret->guarded));
	if (!guards || !ret->guarded)
		return cordon_nomem(err);
	r = seccomp_build(&policy, &ret->seccomp);
	if (r < 0)
		return cordon_fail_leaf(err, r, "system call filter");
	r = landlock_abi();
	ret->landlock_abi = r > 0 ? r : 0;
	return program_build(ret, guards, err);
}

void native_program_done(struct native_program *p)
{
	for (size_t i = 0; i < p->n_trees; i++)
		(void)fd_close(p->trees[i]);
	for (size_t i = 0; i < p->work.n; i++)
		if (p->work.v[i][0])
			program_remove_work(AT_FDCWD, p->work.v[i]);
	free(p->steps);
	free(p->rules);
	free(p->open_rules);
	free(p->guarded);
	strv_done(&p->strings);
	strv_done(&p->work);
	*p = (struct native_program){0};
}
