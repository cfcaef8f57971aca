/* SPDX-License-Identifier: Apache-2.0 */
/* See checkpoint.h. */
#include "backend/checkpoint.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/snap/snap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int64_t checkpoint_clock(clockid_t id)
{
	struct timespec now = {0};

	(void)clock_gettime(id, &now); /* cannot fail with these */
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * File systems stamp with a clock that goes in ticks.  What somebody made before a span must not bear a stamp of it, nor
 * what is made behind it: so both ends wait until that clock is beyond the moment.
 */
static int64_t checkpoint_next_tick(void)
{
	const struct timespec pause = {.tv_nsec = 200000};
	int64_t moment = checkpoint_clock(CLOCK_REALTIME), tick;

	for (int i = 0; i < 500;
	     i++) { /* a tick is at most 10 ms; never for ever if the clock is set back */
		tick = checkpoint_clock(CLOCK_REALTIME_COARSE);
		if (tick > moment)
			return tick;
		(void)nanosleep(&pause, NULL);
	}
	return moment;
}

void checkpoint_span_begin(struct checkpoint_span *s)
{
	s->from_ns = checkpoint_next_tick();
	s->to_ns = INT64_MAX;
}

void checkpoint_span_end(struct checkpoint_span *s)
{
	s->to_ns = checkpoint_clock(CLOCK_REALTIME);
	(void)checkpoint_next_tick();
}

/* Was it made while a call was running?  Where the file system does not say when: no. */
static bool checkpoint_was_made(void *arg, const char *path)
{
	const struct checkpoint *c = arg;
	struct statx st;
	int64_t made;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME))
		return false;
	made = st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
	for (size_t i = 0; i < c->n_spans; i++)
		if (made >= c->spans[i].from_ns && made <= c->spans[i].to_ns)
			return true;
	return false;
}

static int checkpoint_open(const struct checkpoint *c, struct snap_store **ret,
			   struct cordon_error *err)
{
	AUTO_FREE char *dir = NULL;
	int r;

	if (c->state_dir)
		return snap_open(c->state_dir, ret, err);
	r = env_state_dir(&dir);
	return r < 0 ? cordon_fail_leaf(err, r, "find the state directory")
		     : snap_open(dir, ret, err);
}

static int checkpoint_save(const struct checkpoint *c, struct snap_store *s, const char *name,
			   char **ret_name, struct cordon_error *err)
{
	struct snap_take_options o = {
		.name = name,
		.owner = c->owner,
		.roots = (const char *const *)c->paths->v,
		.root_count = c->paths->n,
		.skips_unreadable = c->skips_unreadable,
		.replaces = name != NULL,
		.keep = CHECKPOINT_KEPT,
		.deadline_ms = c->timeout_ms ? clock_deadline(c->timeout_ms) : 0,
	};
	struct snap_info info = {0};
	int r;

	snap_set_ceilings(s, &(struct snap_ceilings){.files = c->max_files});
	r = snap_take(s, &o, &info, err);
	if (r == 0 && ret_name)
		*ret_name = TAKE_PTR(info.name);
	snap_info_done(&info);
	return r;
}

int checkpoint_take(const struct checkpoint *c, char **ret_name, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *s = NULL;
	int r;

	if (c->paths->n == 0)
		return cordon_fail(err, CORDON_E_INVALID,
				   "no path is writable: there is nothing to save");
	r = checkpoint_open(c, &s, err);
	return r < 0 ? r : checkpoint_save(c, s, NULL, ret_name, err);
}

static bool checkpoint_covers(const struct checkpoint *c, const char *root)
{
	for (size_t i = 0; i < c->paths->n; i++) {
		AUTO_FREE char *path = NULL;

		if (path_resolve(c->paths->v[i], &path) == 0 && path_is_within(root, path))
			return true;
	}
	return false;
}

static int checkpoint_check(const struct checkpoint *c, struct snap_store *s, const char *name,
			    struct cordon_error *err)
{
	struct snap_info info = {0};
	int r = snap_find(s, name, &info, err);

	if (r == 0 && strcmp(info.owner, c->owner) != 0)
		r = cordon_fail(err, CORDON_E_INVALID, "snapshot '%s' is not one of these", name);
	for (size_t i = 0; r == 0 && i < info.roots.n; i++)
		if (!checkpoint_covers(c, info.roots.v[i]))
			r = cordon_fail(err, CORDON_E_INVALID,
					"snapshot '%s' is of '%s', which is not writable here",
					name, info.roots.v[i]);
	snap_info_done(&info);
	return r;
}

int checkpoint_back(const struct checkpoint *c, const char *name, struct cordon_error *err)
{
	AUTO(snap_closep) struct snap_store *s = NULL;
	struct checkpoint own = *c;
	struct snap_restore_options o = {.may_remove = checkpoint_was_made, .may_remove_arg = &own};
	char undo[LIMIT_SNAPSHOT_NAME + 1];
	int r = checkpoint_open(c, &s, err);

	if (r == 0)
		r = checkpoint_check(c, s, name, err);
	if (r < 0)
		return r;
	(void)snprintf(undo, sizeof(undo), "undo-%.59s", name);
	own.owner = "undo"; /* kept apart: it does not push out what it can undo */
	r = checkpoint_save(&own, s, undo, NULL, err);
	return r < 0 ? r : snap_restore(s, name, &o, NULL, err);
}
