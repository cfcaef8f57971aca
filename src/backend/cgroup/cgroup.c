/* SPDX-License-Identifier: Apache-2.0 */
/* See cgroup.h. */
#include "backend/cgroup/cgroup.h"

#include "backend/cgroup/dir.h"
#include "backend/cgroup/layout.h"
#include "backend/cgroup/limit.h"
#include "backend/cgroup/parent.h"
#include "backend/cgroup/scope.h"
#include "backend/cgroup/value.h"
#include "backend/scratch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <sys/statfs.h>
#include <unistd.h>

#define CGROUP_DIRS_MAX (CGROUP_CONTROLLER_COUNT + 1)
#define CGROUP_NONE SIZE_MAX

/* The group in one hierarchy. */
struct cgroup_dir {
	bool is_v2;
	int parent_fd;
	int fd;       /* holds the lock */
	int procs_fd; /* writing "0" enters */
};

struct cgroup {
	char name[CGROUP_NAME_BYTES];
	struct cgroup_dir dirs[CGROUP_DIRS_MAX];
	size_t n;
	size_t of[CGROUP_CONTROLLER_COUNT]; /* index of the directory, or CGROUP_NONE */
	struct scratch_note note;           /* so that the next command finds the directories */
	int event_fd; /* version 1: an eventfd; version 2: memory.events.local; else -1 */
	/* Once we kill nothing may fork, and the refusals are no longer the call's. */
	bool is_killed;
	bool was_fork_refused;
};

static int group_layout(struct cgroup_layout *ret, struct cordon_error *err)
{
	AUTO_FREE char *mounts = NULL;
	AUTO_FREE char *self = NULL;
	size_t mounts_len = 0, self_len = 0;
	int r = io_read_file_at(AT_FDCWD, "/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES, &mounts,
				&mounts_len);

	if (r == 0)
		r = io_read_file_at(AT_FDCWD, "/proc/self/cgroup", LIMIT_CGROUP_FILE, &self,
				    &self_len);
	if (r == 0 && (strlen(mounts) != mounts_len || strlen(self) != self_len))
		r = -EINVAL;
	if (r == 0)
		r = cgroup_layout_parse(mounts, self, ret);
	return r < 0 ? cordon_fail_leaf(err, r, "find the control groups of this process") : 0;
}

/* Says what would help. */
static int group_fail(struct cordon_error *err, int r, const char *where)
{
	int code = cordon_fail_errno(err, -r, "make a control group below '%.200s'", where);

	if (r == -EBUSY || (geteuid() != 0 && (r == -EACCES || r == -EPERM)))
		return cordon_hint(
			err, code,
			"start it with 'systemd-run %s--scope -p Delegate=yes cordon …'%s",
			geteuid() == 0 ? "" : "--user ", geteuid() == 0 ? "" : ", or as root");
	if (r == -EROFS)
		return cordon_hint(err, code, "mount the cgroup file system writable");
	return code;
}

/* Writes down where the directory will be, before it is. */
static int group_note(const struct cgroup *g, int parent_fd)
{
	char link[32];
	char path[LIMIT_PATH_BYTES];
	ssize_t len;

	if (!g->note.path)
		return 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", parent_fd);
	len = readlink(link, path, sizeof(path) - CGROUP_NAME_BYTES - 1);
	if (len <= 0)
		return -errno;
	(void)snprintf(path + len, sizeof(path) - (size_t)len, "/%s", g->name);
	return scratch_note_add(&g->note, path);
}

/* Makes the directory below parent_fd, which is taken.  0 or -errno. */
static int group_add(struct cgroup *g, int parent_fd, bool is_v2)
{
	AUTO_CLOSE int parent = parent_fd;
	AUTO_CLOSE int fd = -1;
	int procs;
	int r = group_note(g, parent);

	if (r < 0)
		return r;
	fd = cgroup_dir_make(parent, g->name);
	if (fd < 0)
		return fd;
	procs = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0) {
		r = -errno;
		(void)!cgroup_dir_remove(parent, g->name);
		return r;
	}
	g->dirs[g->n++] = (struct cgroup_dir){
		.is_v2 = is_v2,
		.parent_fd = TAKE_FD(parent),
		.fd = TAKE_FD(fd),
		.procs_fd = procs,
	};
	return 0;
}

/* The unified hierarchy: with the controllers that the plan needs and version 1 does not have; also without
 * any, for cgroup.kill, which can be done without. */
static int group_add_v2(struct cgroup *g, const struct cgroup_layout *l, const struct plan *plan,
			struct cordon_error *err)
{
	const char *needed[CGROUP_CONTROLLER_COUNT + 1] = {NULL};
	size_t n = 0;
	int r;

	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++) {
		if (!l->v1[c] && cgroup_limit_wants(plan, (enum cgroup_controller)c)) {
			needed[n++] = cgroup_controller_names[c];
			g->of[c] = g->n;
		}
	}
	if (!l->v2)
		return n == 0 ? 0
			      : cordon_hint(err,
					    cordon_fail(err, CORDON_E_UNSUPPORTED,
							"no control group hierarchy with the "
							"controller '%s' is mounted here",
							needed[0]),
					    "mount cgroup2 at /sys/fs/cgroup");
	r = cgroup_parent_v2(l->v2, needed);
	if (r >= 0)
		r = group_add(g, r, /* is_v2= */ true);
	if (r == -ENOENT && n > 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "a controller of '%s%s%s' is not given to '%.200s'",
					       needed[0], n > 1 ? ", " : "", n > 1 ? needed[1] : "",
					       l->v2),
				   "enable it in cgroup.subtree_control of the groups above");
	return r < 0 && n > 0 ? group_fail(err, r, l->v2) : 0;
}

static int group_add_v1(struct cgroup *g, const char *path)
{
	int parent = cgroup_parent_open(path, /* is_v2= */ false);

	return parent < 0 ? parent : group_add(g, parent, /* is_v2= */ false);
}

static int group_add_all(struct cgroup *g, const struct cgroup_layout *l, const struct plan *plan,
			 struct cordon_error *err)
{
	int r = group_add_v2(g, l, plan, err);

	for (size_t c = 0; r == 0 && c < CGROUP_CONTROLLER_COUNT; c++) {
		/* It ends a tree without cgroup.kill, or stops one without cgroup.freeze. */
		bool is_aid = (c == CGROUP_PIDS && g->n == 0 && cgroup_is_needed(plan)) ||
			      (c == CGROUP_FREEZER && plan->serves &&
			       cgroup_freezer_of(g) == CGROUP_FREEZER_NONE);

		if (!l->v1[c] || g->of[c] != CGROUP_NONE)
			continue;
		if (!is_aid && !cgroup_limit_wants(plan, (enum cgroup_controller)c))
			continue;
		r = group_add_v1(g, l->v1[c]);
		if (r < 0 && c == CGROUP_FREEZER && cgroup_is_needed(plan))
			return 0; /* can be done without */
		if (r < 0)
			return group_fail(err, r, l->v1[c]);
		/* Its other controllers come with it. */
		for (size_t other = c; other < CGROUP_CONTROLLER_COUNT; other++)
			if (l->v1[other] && strcmp(l->v1[other], l->v1[c]) == 0)
				g->of[other] = g->n - 1;
	}
	return r;
}

static const struct cgroup_dir *group_dir(const struct cgroup *g, enum cgroup_controller c)
{
	return g->of[c] == CGROUP_NONE ? NULL : &g->dirs[g->of[c]];
}

/* Arranges to be told of memory trouble. */
static int group_watch(struct cgroup *g, struct cordon_error *err)
{
	const struct cgroup_dir *d = group_dir(g, CGROUP_MEMORY);
	AUTO_CLOSE int control = -1;
	char text[64];
	int r;

	if (!d)
		return 0;
	if (d->is_v2) {
		g->event_fd = openat(d->fd, "memory.events.local", O_RDONLY | O_CLOEXEC);
		if (g->event_fd < 0 && errno == ENOENT) /* Linux before 5.2 */
			g->event_fd = openat(d->fd, "memory.events", O_RDONLY | O_CLOEXEC);
		return g->event_fd < 0 ? cordon_fail_errno(err, errno, "open memory.events") : 0;
	}
	control = openat(d->fd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	g->event_fd = control < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->event_fd < 0)
		return cordon_fail_errno(err, errno, "watch memory.oom_control");
	(void)snprintf(text, sizeof(text), "%d %d", g->event_fd, control);
	r = cgroup_dir_write(d->fd, "cgroup.event_control", text);
	return r < 0 ? cordon_fail_leaf(err, r, "watch memory.oom_control") : 0;
}

static int group_limit(struct cgroup *g, const struct plan *plan, struct cordon_error *err)
{
	int r = 0;

	for (size_t c = 0; r == 0 && c < CGROUP_CONTROLLER_COUNT; c++)
		if (g->of[c] != CGROUP_NONE)
			r = cgroup_limit_apply(g->dirs[g->of[c]].fd, g->dirs[g->of[c]].is_v2,
					       (enum cgroup_controller)c, plan, err);
	return r;
}

/* Makes and sets up, without looking for leftovers. */
static int group_new(const struct plan *plan, struct cgroup **ret, struct cordon_error *err)
{
	struct cgroup_layout l = {0};
	struct cgroup *g;
	int r;

	if (!plan->id || !*plan->id || strlen(plan->id) > 64 ||
	    plan->id[strspn(plan->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-")] != '\0')
		return cordon_fail(err, CORDON_E_INVALID, "limits need a call id");
	g = calloc(1, sizeof(*g));
	if (!g)
		return cordon_nomem(err);
	(void)snprintf(g->name, sizeof(g->name), CGROUP_NAME_PREFIX "%s", plan->id);
	g->event_fd = -1;
	g->note = SCRATCH_NOTE_NONE;
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++)
		g->of[c] = CGROUP_NONE;
	r = group_layout(&l, err);
	if (r == 0 && plan->scratch_dir) {
		r = scratch_note_make(plan->scratch_dir, &g->note);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "write into '%s'", plan->scratch_dir);
	}
	if (r == 0)
		r = group_add_all(g, &l, plan, err);
	if (r == 0)
		r = group_limit(g, plan, err);
	if (r == 0)
		r = group_watch(g, err);
	cgroup_layout_done(&l);
	if (r < 0) {
		(void)cgroup_end(g); /* nothing ran in it */
		return r;
	}
	*ret = g;
	return 0;
}

/* Asks systemd for a group that is ours, where that can help.  Are we in one now? */
static bool group_move(const struct plan *plan)
{
	struct cgroup_layout l = {0};
	bool is_needed = false;
	bool has_moved;

	if (!scope_is_permitted() || group_layout(&l, NULL) < 0)
		return false;
	for (size_t c = 0; c < CGROUP_CONTROLLER_COUNT; c++)
		is_needed |= !l.v1[c] && cgroup_limit_wants(plan, (enum cgroup_controller)c);
	has_moved = is_needed && l.v2 && scope_enter(l.v2) == 0;
	cgroup_layout_done(&l);
	return has_moved;
}

int cgroup_make(const struct plan *plan, struct cgroup **ret, struct cordon_error *err)
{
	struct cgroup *g = cgroup_take_kept(plan);
	int r;

	if (g) {
		r = group_limit(g, plan, err);
		if (r < 0)
			(void)cgroup_end(g); /* nothing ran in it */
		else
			*ret = g;
		return r;
	}
	r = group_new(plan, &g, err);
	if (r < 0 && group_move(plan)) {
		if (err)
			*err = (struct cordon_error){0};
		r = group_new(plan, &g, err);
	}
	if (r < 0 || !g)
		return r;
	/* Ours is locked by now, so that leftovers can be looked for without a race with ourselves. */
	for (size_t i = 0; i < g->n; i++)
		(void)cgroup_dir_clean(g->dirs[i].parent_fd);
	*ret = g;
	return 0;
}

void cgroup_sweep(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *above = slash && slash > path ? strndup(path, (size_t)(slash - path))
						      : NULL;
	AUTO_CLOSE int parent = -1;

	if (!above)
		return;
	parent = cgroup_parent_open(above, /* is_v2= */ true);
	if (parent < 0)
		parent = cgroup_parent_open(above, /* is_v2= */ false);
	if (parent >= 0)
		cgroup_dir_clean_one(parent, slash + 1);
}

int cgroup_clone_fd(const struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->dirs[i].is_v2)
			return g->dirs[i].fd;
	return -1;
}

bool cgroup_is_unified(void)
{
	struct statfs fs;

	return statfs("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

bool cgroup_is_entered_by_clone(const struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!g->dirs[i].is_v2)
			return false;
	return g->n > 0;
}

int cgroup_enter(const struct cgroup *g, bool was_cloned_into)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->dirs[i].is_v2 && was_cloned_into)
			continue;
		if (write(g->dirs[i].procs_fd, "0", 1) != 1)
			return -errno;
	}
	return 0;
}

struct pollfd cgroup_poll(const struct cgroup *g)
{
	const struct cgroup_dir *d = group_dir(g, CGROUP_MEMORY);

	return (struct pollfd){.fd = g->event_fd, .events = d && d->is_v2 ? POLLPRI : POLLIN};
}

/* Reads the version 2 counters through the descriptor that is waited on: that is what makes it wait
 * again. */
static bool group_look_v2(const struct cgroup *g)
{
	char text[1024];
	ssize_t n = pread(g->event_fd, text, sizeof(text) - 1, 0);
	uint64_t kills = 0, group_kills = 0;

	if (n < 0)
		return false;
	text[n] = '\0';
	/* The second counts where the victim was in a group below: our limit, their process. */
	return (cgroup_stat(text, "oom_kill", &kills) == 0 && kills > 0) ||
	       (cgroup_stat(text, "oom_group_kill", &group_kills) == 0 && group_kills > 0);
}

void cgroup_look(const struct cgroup *g, struct cgroup_events *ret)
{
	const struct cgroup_dir *memory = group_dir(g, CGROUP_MEMORY);
	const struct cgroup_dir *pids = group_dir(g, CGROUP_PIDS);
	uint64_t n = 0;

	*ret = (struct cgroup_events){0};
	if (memory && memory->is_v2) {
		ret->is_oom_killed = group_look_v2(g);
	} else if (memory) {
		uint64_t count;

		if (g->event_fd >= 0 && read(g->event_fd, &count, sizeof(count)) < 0)
			count = 0; /* nothing was reported; the counter is what is believed */
		ret->is_oom_killed = cgroup_dir_read_stat(memory->fd, "memory.oom_control",
							  "oom_kill", &n) == 0 &&
				     n > 0;
	}
	ret->is_fork_refused = g->was_fork_refused;
	if (pids && !g->is_killed)
		ret->is_fork_refused =
			cgroup_dir_read_stat(pids->fd, "pids.events", "max", &n) == 0 && n > 0;
}

static int64_t group_number(const struct cgroup_dir *d, const char *v1_file, const char *v2_file)
{
	uint64_t v = 0;
	int r = d ? cgroup_dir_read_number(d->fd, d->is_v2 ? v2_file : v1_file, &v) : -ENOENT;

	return r < 0 || v > INT64_MAX ? -1 : (int64_t)v;
}

void cgroup_measure(const struct cgroup *g, struct cgroup_usage *ret)
{
	const struct cgroup_dir *cpu = group_dir(g, CGROUP_CPU);
	uint64_t user = 0, sys = 0;

	*ret = (struct cgroup_usage){
		.memory_peak_bytes = group_number(group_dir(g, CGROUP_MEMORY),
						  "memory.max_usage_in_bytes", "memory.peak"),
		.processes_peak = group_number(group_dir(g, CGROUP_PIDS), "pids.peak", "pids.peak"),
		.user_ms = -1,
		.sys_ms = -1,
	};
	for (size_t i = 0; i < g->n; i++) {
		/* Every version 2 group counts processor time, with or without its controller. */
		if (!g->dirs[i].is_v2 ||
		    cgroup_dir_read_stat(g->dirs[i].fd, "cpu.stat", "user_usec", &user) < 0 ||
		    cgroup_dir_read_stat(g->dirs[i].fd, "cpu.stat", "system_usec", &sys) < 0)
			continue;
		ret->user_ms = (double)user / 1e3;
		ret->sys_ms = (double)sys / 1e3;
		return;
	}
	/* Version 1 counts it in cpuacct, which mostly shares the hierarchy of cpu. */
	if (cpu && cgroup_dir_read_number(cpu->fd, "cpuacct.usage_user", &user) == 0 &&
	    cgroup_dir_read_number(cpu->fd, "cpuacct.usage_sys", &sys) == 0) {
		ret->user_ms = (double)user / 1e6;
		ret->sys_ms = (double)sys / 1e6;
	}
}

/* Of the version 2 group where it has one: there what is stopped can still be killed. */
static const struct cgroup_dir *group_freezer(const struct cgroup *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->dirs[i].is_v2 && faccessat(g->dirs[i].fd, "cgroup.freeze", W_OK, 0) == 0)
			return &g->dirs[i];
	return group_dir(g, CGROUP_FREEZER);
}

enum cgroup_freezer cgroup_freezer_of(const struct cgroup *g)
{
	const struct cgroup_dir *d = group_freezer(g);

	return !d ? CGROUP_FREEZER_NONE : d->is_v2 ? CGROUP_FREEZER_V2 : CGROUP_FREEZER_V1;
}

int cgroup_freeze(const struct cgroup *g, bool is_to_stop)
{
	const struct cgroup_dir *d = group_freezer(g);

	if (!d)
		return -ENOTSUP;
	return d->is_v2
		       ? cgroup_dir_write(d->fd, "cgroup.freeze", is_to_stop ? "1" : "0")
		       : cgroup_dir_write(d->fd, "freezer.state", is_to_stop ? "FROZEN" : "THAWED");
}

int cgroup_is_frozen(const struct cgroup *g)
{
	const struct cgroup_dir *d = group_freezer(g);
	AUTO_FREE char *state = NULL;
	uint64_t frozen = 0;
	int r;

	if (!d)
		return -ENOTSUP;
	if (d->is_v2) {
		r = cgroup_dir_read_stat(d->fd, "cgroup.events", "frozen", &frozen);
		return r < 0 ? r : frozen == 1;
	}
	r = cgroup_dir_read(d->fd, "freezer.state", &state);
	return r < 0 ? r : strcmp(state, "FROZEN\n") == 0;
}

void cgroup_kill(struct cgroup *g)
{
	struct cgroup_events events;

	if (!g->is_killed) {
		cgroup_look(g, &events);
		g->was_fork_refused = events.is_fork_refused;
		g->is_killed = true;
	}
	for (size_t i = 0; i < g->n; i++)
		cgroup_dir_kill(g->dirs[i].fd);
}

/* Removes what can be removed.  Is everything gone? */
static bool group_remove(struct cgroup *g)
{
	bool is_gone = true;

	for (size_t i = 0; i < g->n; i++)
		is_gone &= cgroup_dir_remove(g->dirs[i].parent_fd, g->name) == 0;
	return is_gone;
}

int cgroup_end(struct cgroup *g)
{
	int64_t deadline = clock_deadline(CGROUP_END_MS);
	bool is_gone;

	if (!g)
		return 0;
	is_gone = group_remove(g);
	for (int pause_ms = 1; !is_gone && clock_ms() < deadline; pause_ms += pause_ms < 16) {
		cgroup_kill(g);
		(void)poll(NULL, 0, pause_ms);
		is_gone = group_remove(g);
	}
	for (size_t i = 0; i < g->n; i++) {
		(void)fd_close(g->dirs[i].procs_fd);
		(void)fd_close(g->dirs[i].fd);
		(void)fd_close(g->dirs[i].parent_fd);
	}
	(void)fd_close(g->event_fd);
	if (is_gone)
		scratch_note_done(&g->note);
	scratch_note_drop(&g->note); /* else it stays, for the next command */
	free(g);
	return is_gone ? 0 : -EBUSY;
}
