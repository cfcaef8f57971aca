/* SPDX-License-Identifier: Apache-2.0 */
/* See sandbox.h. */
#include "core/sandbox.h"

#include "backend/registry.h"
#include "backend/scratch.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/path.h"
#include "core/environment.h"
#include "core/fsgrant.h"
#include "core/keeper_plan.h"
#include "core/sandbox_freeze.h"
#include "core/sandbox_set.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SANDBOX_DIR "keepers"
#define SANDBOX_END_MS 15000 /* for a keeper to end its sandbox */

int sandbox_manager_open(const char *state_dir, int64_t max, struct sandbox_manager *ret,
			 struct cordon_error *err)
{
	int r;

	*ret = (struct sandbox_manager){.max = max > 0 ? max : LIMIT_SANDBOXES};
	ret->state_dir = strdup(state_dir);
	if (!ret->state_dir || path_join(state_dir, SANDBOX_DIR, &ret->dir) < 0)
		return cordon_nomem(err);
	r = session_open(state_dir, &ret->store, err);
	if (r < 0)
		return r;
	r = path_make_private_dir(ret->dir, 0700);
	return r < 0 ? cordon_fail_leaf(err, r, "directory '%.200s'", ret->dir) : 0;
}

void sandbox_manager_done(struct sandbox_manager *m)
{
	session_close(m->store);
	free(m->state_dir);
	free(m->dir);
	*m = (struct sandbox_manager){0};
}

void sandbox_done(struct sandbox *s)
{
	(void)fd_close(s->lock);
	sandbox_row_done(&s->row);
	free(s->dir);
	*s = SANDBOX_NONE;
}

static int sandbox_dir(const struct sandbox_manager *m, const char *id, char **ret)
{
	return path_join(m->dir, id, ret);
}

/* The lock's file stands beside the directory, which may go while somebody waits. */
static int sandbox_lock_path(const struct sandbox_manager *m, const char *id, char **ret)
{
	char name[SANDBOX_ID_LEN + 8];

	(void)snprintf(name, sizeof(name), "%s.lock", id);
	return path_join(m->dir, name, ret);
}

void sandbox_drop_lock(const struct sandbox_manager *m, const char *id)
{
	AUTO_FREE char *path = NULL;

	if (sandbox_lock_path(m, id, &path) == 0)
		(void)unlink(path); /* or the next one finds it, and nobody holds it */
}

static int sandbox_lock(const struct sandbox_manager *m, const char *id, int64_t wait_ms,
			int *ret_fd, struct cordon_error *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int fd = -1;
	int r;

	if (sandbox_lock_path(m, id, &path) < 0)
		return cordon_nomem(err);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", path);
	r = fd_flock(fd, LOCK_EX, clock_deadline(wait_ms));
	if (r == -ETIMEDOUT)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY,
					       "another command works with sandbox '%s'", id),
				   "try again when it is done");
	if (r < 0)
		return cordon_fail_errno(err, -r, "lock sandbox '%s'", id);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* What of the row is not true any more?  Returns whether anything was. */
static bool sandbox_put_right(const struct sandbox_manager *m, struct sandbox *s)
{
	struct sandbox_row *row = &s->row;
	enum sandbox_state was = row->state;
	int64_t had = row->keeper;
	struct serve_answer answer = {0};
	char boot[SANDBOX_BOOT_LEN];
	AUTO_CLOSE int fd = -1;
	pid_t pid = 0;

	if (keeper_find(s->dir, &pid) <= 0) {
		keeper_boot(boot);
		if (was == SANDBOX_PAUSED)
			scratch_sweep(
				m->state_dir); /* what a freezer of version 1 holds does not die by itself */
		if (was == SANDBOX_STOPPED || (was == SANDBOX_CREATED && s->lock < 0))
			return false; /* it is being made, as far as we can see */
		if (was != SANDBOX_ERROR)
			(void)snprintf(row->why, sizeof(row->why), "%s",
				       row->boot[0] && strcmp(row->boot, boot) != 0
					       ? "the machine was started anew"
				       : was == SANDBOX_CREATED ? "it was never started"
								: "its processes have ended");
		row->state = was == SANDBOX_ERROR ? was : SANDBOX_STOPPED;
		row->keeper = row->started = 0;
		return row->state != was || had != 0;
	}
	fd = keeper_connect(s->dir, row->socket);
	if (fd < 0 || keeper_ask(fd, SERVE_STATUS, &answer) < 0) {
		if (keeper_find(s->dir, &pid) <= 0 && s->lock >= 0)
			return sandbox_put_right(m, s); /* it ended just now */
		row->state = SANDBOX_ERROR;
		(void)snprintf(row->why, sizeof(row->why), "its keeper does not answer");
		return was != row->state;
	}
	s->calls = answer.calls;
	s->idle_ms = answer.idle_ms;
	s->freezer = (enum cgroup_freezer)answer.freezer;
	row->state = answer.is_paused ? SANDBOX_PAUSED : SANDBOX_RUNNING;
	row->why[0] = '\0';
	if (row->keeper != pid) {
		row->keeper = pid;
		row->started = keeper_start_time(pid);
		keeper_boot(row->boot);
	}
	return row->state != was || had != row->keeper;
}

/* A row, or a change set that 'cordon run' kept. */
static int sandbox_find_any(struct sandbox_manager *m, const char *word, struct sandbox_row *ret,
			    struct cordon_error *err)
{
	int r = sandbox_find(m->store, word, ret, err);

	return r == CORDON_E_NOT_FOUND ? sandbox_find_set(m, word, ret, err) : r;
}

int sandbox_look_at(struct sandbox_manager *m, const char *word, struct sandbox *ret,
		    struct cordon_error *err)
{
	struct sandbox s = SANDBOX_NONE;
	int r = sandbox_find_any(m, word, &s.row, err);

	if (r < 0)
		return r;
	if (sandbox_dir(m, s.row.id, &s.dir) < 0) {
		sandbox_done(&s);
		return cordon_nomem(err);
	}
	(void)sandbox_put_right(m, &s);
	*ret = s;
	return 0;
}

int sandbox_acquire(struct sandbox_manager *m, const char *word, struct sandbox *ret,
		    struct cordon_error *err)
{
	struct sandbox s = SANDBOX_NONE;
	char id[SANDBOX_ID_LEN];
	int r = sandbox_find_any(m, word, &s.row, err);

	if (r < 0)
		return r;
	(void)snprintf(id, sizeof(id), "%s", s.row.id);
	r = sandbox_lock(m, id, LIMIT_SANDBOX_LOCK_MS, &s.lock, err);
	/* Whoever had the lock before us may have changed or removed it. */
	sandbox_row_done(&s.row);
	if (r == 0)
		r = sandbox_find_any(m, id, &s.row, err);
	if (r == CORDON_E_NOT_FOUND)
		sandbox_drop_lock(m, id); /* made by us, for nothing */
	if (r == 0 && sandbox_dir(m, id, &s.dir) < 0)
		r = cordon_nomem(err);
	if (r == 0 && sandbox_put_right(m, &s))
		r = sandbox_update(m->store, &s.row, err);
	if (r < 0) {
		sandbox_done(&s);
		return r;
	}
	*ret = s;
	return 0;
}

/* Starts the keeper of a row and writes down what came of it. */
static int sandbox_start(struct sandbox_manager *m, struct sandbox *s, const struct policy *p,
			 const struct selection *selection, struct cordon_error *err)
{
	const struct keeper_options o = {.policy = p,
					 .selection = selection,
					 .row = &s->row,
					 .state_dir = m->state_dir,
					 .dir = s->dir};
	struct keeper_started started;
	int r = path_make_private_dir(s->dir, 0700);

	if (r < 0)
		return cordon_fail_leaf(err, r, "directory '%.200s'", s->dir);
	r = sandbox_finish_restore(m, s, err);
	if (r == 0)
		r = keeper_start(&o, &started, err);
	if (r < 0)
		return r;
	s->row.state = SANDBOX_RUNNING;
	s->row.why[0] = '\0';
	s->row.keeper = started.pid;
	s->row.started = keeper_start_time(started.pid);
	keeper_boot(s->row.boot);
	s->row.guarantees = started.guarantees;
	s->row.degraded = started.degraded;
	s->row.used_ms = clock_wall_ms();
	return sandbox_update(m->store, &s->row, err);
}

/* Where its keeper will listen. */
static int sandbox_socket_path(const struct sandbox_manager *m, const char *id, char **ret)
{
	AUTO_FREE char *runtime = NULL;
	AUTO_FREE char *dir = NULL;
	char name[SANDBOX_ID_LEN + 8];
	int r = env_runtime_dir(&runtime);

	if (r < 0 && r != -ENOENT)
		return r;
	(void)snprintf(name, sizeof(name), "%s.sock", id);
	if (runtime && path_make_private_dir(runtime, 0700) == 0)
		return path_join(runtime, name, ret);
	r = sandbox_dir(m, id, &dir);
	return r < 0 ? r : path_join(dir, "sock", ret);
}

/* The environment that every call gets, without what is new for each. */
static int sandbox_environment(const struct sandbox_options *o, struct strv *ret,
			       struct cordon_error *err)
{
	static char word[] = "true";
	char *argv[] = {word, NULL};
	AUTO(request_freep) struct request *request = NULL;
	AUTO(strv_done) struct strv all = {0};
	int r = request_from_argv(argv, &(struct request_options){.cwd = o->workspace}, &request,
				  err);

	if (r == 0)
		r = environment_build(o->policy, request, o->environ, &all, err);
	for (size_t i = 0; r == 0 && i < all.n; i++)
		if (!str_starts(all.v[i], "CORDON_ID=") && strv_add(ret, all.v[i]) < 0)
			r = cordon_nomem(err);
	return r;
}

static int sandbox_fill(struct sandbox_manager *m, const struct sandbox_options *o,
			struct sandbox_row *row, struct cordon_error *err)
{
	int r = o->name ? sandbox_check_name(o->name, err) : 0;

	if (r < 0)
		return r;
	(void)snprintf(row->name, sizeof(row->name), "%s", o->name ? o->name : "");
	row->state = SANDBOX_CREATED;
	row->created_ms = row->used_ms = clock_wall_ms();
	row->idle_ms = o->idle_ms;
	row->workspace = strdup(o->workspace);
	if (!row->workspace || sandbox_socket_path(m, row->id, &row->socket) < 0)
		return cordon_nomem(err);
	r = sandbox_environment(o, &row->environment, err);
	return r < 0 ? r : sandbox_freeze(o->policy, row, o->home, &row->policy, err);
}

static int sandbox_layers(const struct policy *p, const struct cordon_backend *b,
			  enum cow_layers *ret, struct cordon_error *err)
{
	*ret = b->copies_workspace ? COW_COPY : COW_OVERLAY;
	if (b->copies_workspace && p->submounts.n > 0)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_UNSUPPORTED,
				    "backend '%s' has no mounts, and cannot leave any out of "
				    "a change set",
				    b->info->name),
			"use --backend native or bwrap");
	return 0;
}

int sandbox_create(struct sandbox_manager *m, const struct sandbox_options *o, struct sandbox *ret,
		   struct cordon_error *err)
{
	AUTO(strv_done) struct strv mounts = {0};
	struct cow_options co = {
		.state_dir = m->state_dir, .workspace = o->workspace, .mounts = &mounts};
	struct cow cow = COW_NONE;
	struct sandbox s = SANDBOX_NONE;
	struct selection selection = {0};
	int r;

	scratch_sweep(m->state_dir);
	cow_sweep(m->state_dir);
	r = keeper_plan_check(o->policy, err);
	if (r == 0)
		r = keeper_plan_select(o->policy, o->backend, &selection, err);
	if (r == 0)
		r = sandbox_layers(o->policy, selection.backend, &co.layers, err);
	if (r == 0)
		r = fsgrant_submounts(o->policy, o->workspace, &mounts, err);
	/* The change set gives the id.  One that is left without a row can be listed and removed like any other. */
	if (r == 0)
		r = cow_create(&co, &cow, err);
	if (r == 0) {
		(void)snprintf(s.row.id, sizeof(s.row.id), "%.15s", cow.id);
		(void)snprintf(s.row.backend, sizeof(s.row.backend), "%s",
			       selection.backend->info->name);
		r = sandbox_fill(m, o, &s.row, err);
	}
	if (r == 0 && sandbox_dir(m, s.row.id, &s.dir) < 0)
		r = cordon_nomem(err);
	if (r == 0)
		r = sandbox_lock(m, s.row.id, LIMIT_SANDBOX_LOCK_MS, &s.lock, err);
	if (r == 0)
		r = sandbox_add(m->store, &s.row, m->max, err);
	if (r < 0) {
		if (s.lock >= 0)
			sandbox_drop_lock(m, s.row.id);
		if (cow.fd >= 0)
			(void)!cow_discard(&cow, NULL); /* empty; what went wrong first counts */
		sandbox_done(&s);
		return r;
	}
	cow_close(&cow); /* the keeper has its turn */
	r = sandbox_start(m, &s, o->policy, &selection, err);
	if (r < 0) {
		struct cordon_error ignored = {0}; /* what went wrong first is what counts */

		(void)!sandbox_delete(m, &s, /* is_forced= */ true, &ignored);
		sandbox_done(&s);
		return r;
	}
	*ret = s;
	return 0;
}

/* A request to a keeper that lives. */
static int sandbox_ask(const struct sandbox *s, enum serve_kind kind, struct serve_answer *ret,
		       struct cordon_error *err)
{
	AUTO_CLOSE int fd = keeper_connect(s->dir, s->row.socket);
	int r = fd < 0 ? fd : keeper_ask(fd, kind, ret);

	if (r == 0 && ret->error)
		r = -ret->error;
	return r < 0 ? cordon_fail_errno(err, -r, "ask the keeper of sandbox '%s'", s->row.id) : 0;
}

static int sandbox_not_running(const struct sandbox *s, struct cordon_error *err)
{
	int r;

	if (!s->row.policy)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%s' is a change set that 'cordon run' kept",
					       s->row.id),
				   "it can be looked at, committed and discarded");
	r = cordon_fail(err, CORDON_E_INVALID, "sandbox '%s' is %s%s%s", s->row.id,
			sandbox_state_word(s->row.state), s->row.why[0] ? ": " : "", s->row.why);

	return s->row.state == SANDBOX_ERROR
		       ? cordon_hint(err, r, "'cordon sandbox rm --force %s' ends it", s->row.id)
		       : cordon_hint(err, r, "'cordon sandbox resume %s' first", s->row.id);
}

int sandbox_pause(struct sandbox_manager *m, struct sandbox *s, struct cordon_error *err)
{
	struct serve_answer answer = {0};
	int r;

	if (s->row.state == SANDBOX_PAUSED)
		return 0;
	if (s->row.state != SANDBOX_RUNNING)
		return sandbox_not_running(s, err);
	r = sandbox_ask(s, SERVE_PAUSE, &answer, err);
	if (r < 0 && (answer.error == EBUSY || answer.error == ETIMEDOUT))
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_BUSY,
				    "processes of sandbox '%s' go on running: %s", s->row.id,
				    answer.error == EBUSY
					    ? "a timer of theirs continues what is stopped"
					    : "they are in the kernel and cannot be stopped now"),
			"end them, or wait for them; nothing is paused");
	if (r < 0)
		return r;
	s->row.state = SANDBOX_PAUSED;
	s->row.paused_ms = clock_wall_ms();
	return sandbox_update(m->store, &s->row, err);
}

int sandbox_resume(struct sandbox_manager *m, struct sandbox *s, bool *ret_anew,
		   struct cordon_error *err)
{
	AUTO(policy_freep) struct policy *p = NULL;
	AUTO_FREE char *home = NULL;
	struct selection selection = {0};
	struct serve_answer answer;
	int r;

	*ret_anew = false;
	if (s->row.state == SANDBOX_RUNNING)
		return 0;
	if (s->row.state == SANDBOX_PAUSED) {
		r = sandbox_ask(s, SERVE_CONTINUE, &answer, err);
		if (r < 0)
			return r;
		s->row.state = SANDBOX_RUNNING;
		s->row.resumed_ms = clock_wall_ms();
		return sandbox_update(m->store, &s->row, err);
	}
	if (s->row.state == SANDBOX_ERROR || !s->row.policy)
		return sandbox_not_running(s, err);
	r = env_home(&home);
	if (r < 0 && r != -ENOENT)
		return cordon_fail_leaf(err, r, "find the home directory");
	r = sandbox_policy(&s->row, home, /* options= */ NULL, &p, err);
	if (r < 0)
		return r;
	r = keeper_plan_select(p, s->row.backend, &selection, err);
	if (r < 0)
		return r;
	s->row.resumed_ms = clock_wall_ms();
	*ret_anew = true;
	return sandbox_start(m, s, p, &selection, err);
}

/* Asks, and when that does not help kills: with the keeper everything goes. */
static int sandbox_end_keeper(const struct sandbox *s, struct cordon_error *err)
{
	struct serve_answer answer;
	struct pollfd p = {.fd = -1, .events = POLLIN};
	AUTO_CLOSE int pidfd = -1;
	pid_t pid = 0;
	pid_t again = 0;
	int r = keeper_find(s->dir, &pid);

	if (r == 0)
		return 0;
	if (r < 0)
		return cordon_fail_errno(err, -r, "look for the keeper of sandbox '%s'", s->row.id);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	/* The number is the keeper's only as long as it holds the lock. */
	if (pidfd < 0 || keeper_find(s->dir, &again) != 1 || again != pid)
		return keeper_find(s->dir, &again) == 0
			       ? 0
			       : cordon_fail(err, CORDON_E_SYSTEM,
					     "cannot get hold of the keeper of sandbox '%s'",
					     s->row.id);
	p.fd = pidfd;
	if (sandbox_ask(s, SERVE_END, &answer, err) == 0 && poll(&p, 1, SANDBOX_END_MS) > 0)
		return 0;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return cordon_fail_errno(err, errno, "end the keeper of sandbox '%s'", s->row.id);
	return poll(&p, 1, SANDBOX_END_MS) > 0
		       ? 0
		       : cordon_fail(err, CORDON_E_TIMEOUT,
				     "the keeper of sandbox '%s' does not end", s->row.id);
}

int sandbox_stop(struct sandbox_manager *m, struct sandbox *s, struct cordon_error *err)
{
	int r = sandbox_end_keeper(s, err);

	if (r < 0 || s->row.state == SANDBOX_STOPPED)
		return r;
	s->row.state = SANDBOX_STOPPED;
	(void)snprintf(s->row.why, sizeof(s->row.why), "it was ended");
	s->row.keeper = s->row.started = 0;
	return sandbox_update(m->store, &s->row, err);
}

/* Out of the way in one step; whoever sweeps next finishes it (scratch.h). */
static int sandbox_remove_dir(const struct sandbox_manager *m, const struct sandbox *s,
			      struct cordon_error *err)
{
	AUTO_FREE char *away = NULL;
	char name[sizeof(SCRATCH_PREFIX) + SANDBOX_ID_LEN];

	(void)snprintf(name, sizeof(name), SCRATCH_PREFIX "%s", s->row.id);
	if (path_join(m->state_dir, name, &away) < 0)
		return cordon_nomem(err);
	if (rename(s->dir, away) < 0 && errno != ENOENT)
		return cordon_fail_errno(err, errno, "remove '%.200s'", s->dir);
	return 0;
}

int sandbox_delete(struct sandbox_manager *m, struct sandbox *s, bool is_forced,
		   struct cordon_error *err)
{
	int r;

	if (!is_forced && s->calls > 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_BUSY, "%u calls run in sandbox '%s'",
					       s->calls, s->row.id),
				   "wait for them, or use --force");
	r = is_forced ? 0 : sandbox_check_unchanged(m, s, err);
	if (r == 0)
		r = sandbox_end_keeper(s, err);
	if (r == 0)
		r = sandbox_remove_dir(m, s, err);
	if (r == 0)
		r = sandbox_forget_changes(m, s, err);
	if (r == 0)
		r = sandbox_remove(m->store, s->row.id, err);
	if (r < 0)
		return r;
	if (s->row.socket)
		(void)unlink(s->row.socket); /* of a keeper that was killed */
	sandbox_drop_lock(m, s->row.id);
	scratch_sweep(m->state_dir);
	cow_sweep(m->state_dir);
	return 0;
}

int sandbox_use(struct sandbox_manager *m, struct sandbox *s, struct cordon_error *err)
{
	int r;

	if (s->row.state != SANDBOX_RUNNING)
		return sandbox_not_running(s, err);
	s->row.used_ms = clock_wall_ms();
	r = sandbox_update(m->store, &s->row, err);
	if (r == 0)
		s->lock = fd_close(s->lock);
	return r;
}

int sandbox_held(const struct sandbox_row *row, struct selection *ret, struct cordon_error *err)
{
	const struct cordon_backend *backend = NULL;
	int r = registry_find(row->backend, &backend, err);

	if (r < 0)
		return r;
	*ret = (struct selection){
		.backend = backend, .guarantees = row->guarantees, .degraded = row->degraded};
	(void)snprintf(ret->reason, sizeof(ret->reason), "sandbox '%s'", row->id);
	return 0;
}

int sandbox_reach(void *data, struct cordon_error *err)
{
	struct sandbox_way *way = data;
	const struct sandbox_row *row = &way->sandbox->row;
	int fd = keeper_connect(way->sandbox->dir, row->socket);

	if (fd < 0)
		return cordon_hint(err,
				   cordon_fail_errno(err, -fd, "reach the keeper of sandbox '%s'",
						     row->id),
				   "'cordon sandbox status %s' tells what became of it", row->id);
	sandbox_way_done(way); /* of a keeper that was asked before, and had no room */
	way->keeper = fd;
	return fd;
}

int sandbox_channel(void *data)
{
	const struct sandbox_way *way = data;

	return way->keeper;
}

void sandbox_way_done(struct sandbox_way *way)
{
	way->keeper = fd_close(way->keeper);
}

int sandbox_manager_list(struct sandbox_manager *m, struct sandbox_list *ret,
			 struct cordon_error *err)
{
	int r = sandbox_list(m->store, ret, err);

	scratch_sweep(m->state_dir);
	cow_sweep(m->state_dir);
	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		struct sandbox s = {.row = ret->rows[i], .lock = -1};

		if (sandbox_dir(m, s.row.id, &s.dir) < 0)
			return cordon_nomem(err);
		(void)sandbox_put_right(m, &s);
		ret->rows[i] = s.row;
		free(s.dir);
	}
	return r == 0 ? sandbox_list_sets(m, ret, err) : r;
}

int sandbox_manager_cleanup(struct sandbox_manager *m, int64_t max_age_ms, struct strv *ret_removed,
			    struct cordon_error *err)
{
	struct sandbox_list all;
	int64_t now = clock_wall_ms();
	int r = sandbox_list(m->store, &all, err);

	for (size_t i = 0; r == 0 && i < all.n; i++) {
		struct sandbox s = SANDBOX_NONE;

		if (now - all.rows[i].used_ms < max_age_ms)
			continue;
		r = sandbox_acquire(m, all.rows[i].id, &s, err);
		if (r == CORDON_E_NOT_FOUND) {
			r = 0; /* somebody else was faster */
			continue;
		}
		if (r == 0 && s.calls == 0 && now - s.row.used_ms >= max_age_ms) {
			r = sandbox_delete(m, &s, /* is_forced= */ true, err);
			if (r == 0 && strv_add(ret_removed, all.rows[i].id) < 0)
				r = cordon_nomem(err);
		}
		sandbox_done(&s);
	}
	sandbox_list_done(&all);
	return r;
}
