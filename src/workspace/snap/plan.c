/* SPDX-License-Identifier: Apache-2.0 */
/* See plan.h. */
#include "workspace/snap/plan.h"

#include "base/fd.h"
#include "base/limits.h"
#include "base/path.h"
#include "workspace/snap/extra.h"
#include "workspace/snap/meta.h"
#include "workspace/snap/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The names of one file. */
struct plan_group {
	const struct snap_entry *leader; /* to which the others are joined */
	uint64_t ino;                    /* of the leader now; 0: it gets another one */
	uint64_t now;                    /* the leader's, or of the first that is there */
	uint64_t names;                  /* of the group that have this one */
};

void snap_plan_done(struct snap_plan *p)
{
	snap_index_done(&p->now);
	snap_map_done(&p->groups);
	free(p->group_list);
	free(p->actions);
	for (size_t i = 0; i < p->n_goners; i++)
		free(p->goners[i].path);
	free(p->goners);
}

/* Is path, in this tree, at or below one of those that were chosen (or above one, for is_above)? */
static bool plan_choice(const struct snap_plan *p, size_t root, const char *path, bool is_above)
{
	const struct snap_restore_options *o = p->options;

	for (size_t i = 0; i < o->only_count; i++) {
		const char *only = snap_extra_below(p->paths[root], o->only[i]);

		if (only &&
		    (is_above ? snap_path_within(only, path) : snap_path_within(path, only)))
			return true;
		/* the whole tree lies below what was chosen */
		if (!only && !is_above && path_is_within(p->paths[root], o->only[i]))
			return true;
	}
	return o->only_count == 0 && !is_above;
}

bool snap_plan_is_chosen(const struct snap_plan *p, const struct snap_entry *e)
{
	return plan_choice(p, e->root, e->path, /* is_above= */ false);
}

static int plan_change(struct snap_plan *p, enum snap_op op, size_t root, const char *path)
{
	struct snap_changes *c = p->changes;
	AUTO_FREE char *full = NULL;

	p->conflicts += op == SNAP_CONFLICT;
	if (mem_grow((void **)&c->v, &c->cap, c->n + 1, sizeof(*c->v),
		     2 * (size_t)LIMIT_SNAPSHOT_FILES) < 0 ||
	    snap_tree_path(p->paths[root], path, &full) < 0)
		return cordon_nomem(p->err);
	c->v[c->n++] = (struct snap_change){.op = op, .path = TAKE_PTR(full)};
	return 0;
}

static int plan_act(struct snap_plan *p, const struct snap_action *a)
{
	enum snap_op op = !a->exists ? SNAP_ADD : a->act == ACT_META ? SNAP_META : SNAP_MODIFY;

	if (mem_grow((void **)&p->actions, &p->cap, p->n + 1, sizeof(*p->actions),
		     LIMIT_SNAPSHOT_FILES + 1) < 0)
		return cordon_nomem(p->err);
	p->actions[p->n++] = *a;
	return plan_change(p, op, a->entry->root, a->entry->path);
}

/* Does the file hold what the entry says?  1, 0 or -errno. */
static int plan_same_content(struct snap_plan *p, const struct snap_entry *e)
{
	AUTO_CLOSE int fd = -1;

	fd = snap_place_open_name(&p->places[e->root], e->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd == -EACCES || fd == -EPERM ? 0 : fd;
	for (size_t i = 0; i < e->n_chunks; i++) {
		const uint8_t *want = e->chunks + SNAP_DIGEST * i;
		uint8_t digest[SNAP_DIGEST];
		size_t len = snap_chunk_len(e, i), got = 0;

		while (got < len) {
			ssize_t n = pread(fd, p->store->chunk + got, len - got,
					  (off_t)((uint64_t)i * SNAP_CHUNK + got));

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n < 0 ? -errno : 0;
			got += (size_t)n;
		}
		if (snap_digest_is_hole(want)) {
			if (p->store->chunk[0] != 0 ||
			    memcmp(p->store->chunk, p->store->chunk + 1, len - 1) != 0)
				return 0;
			continue;
		}
		snap_digest(p->store->chunk, len, digest);
		if (memcmp(digest, want, SNAP_DIGEST) != 0)
			return 0;
		if (snap_store_check_deadline(p->deadline_ms, p->err) < 0)
			return -ETIMEDOUT;
	}
	return 1;
}

static int plan_same_target(struct snap_plan *p, const struct snap_entry *e)
{
	char target[LIMIT_PATH_BYTES];
	const char *name;
	int dir = snap_place_parent(&p->places[e->root], e->path, &name);
	ssize_t n = dir < 0 ? -1 : readlinkat(dir, name, target, sizeof(target));

	return n >= 0 && (size_t)n == strlen(e->target) &&
	       memcmp(target, e->target, (size_t)n) == 0;
}

static int plan_same_xattrs(struct snap_plan *p, const struct snap_entry *e)
{
	AUTO_CLOSE int fd = snap_place_open_name(&p->places[e->root], e->path, O_PATH | O_NOFOLLOW);
	struct buf now = BUF_INIT(2 * (size_t)LIMIT_SNAPSHOT_XATTRS);
	int r;

	if (fd == -ELOOP) { /* the name itself is a link: NO_SYMLINKS refuses that */
		const char *name;
		int dir = snap_place_parent(&p->places[e->root], e->path, &name);

		fd = dir < 0 ? dir : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0)
		return fd;
	r = snap_meta_read_xattrs(fd, &now);
	if (r == 0)
		r = now.len == e->xattrs_len &&
		    (now.len == 0 || memcmp(now.data, e->xattrs, now.len) == 0);
	buf_done(&now);
	return r;
}

/* Compares something of the right kind.  *ret_content, *ret_meta: is that as it was? */
static int plan_compare(struct snap_plan *p, const struct snap_entry *e, const struct statx *st,
			bool *ret_content, bool *ret_meta)
{
	const struct snap_entry *known = snap_index_find(&p->now, e->root, e->path, st);
	int r;

	*ret_content = true;
	if (known) {
		*ret_content = known->size == e->size && strcmp(known->target, e->target) == 0 &&
			       (e->n_chunks == 0 ||
				memcmp(known->chunks, e->chunks, SNAP_DIGEST * e->n_chunks) == 0);
		*ret_meta = snap_meta_is_equal(e, st) && known->xattrs_len == e->xattrs_len &&
			    (e->xattrs_len == 0 ||
			     memcmp(known->xattrs, e->xattrs, e->xattrs_len) == 0);
		return 0;
	}
	if (e->kind == SNAP_FILE) {
		r = e->size == st->stx_size ? plan_same_content(p, e) : 0;
		if (r < 0)
			return r;
		*ret_content = r;
	} else if (e->kind == SNAP_LINK) {
		*ret_content = plan_same_target(p, e);
	}
	r = snap_meta_is_equal(e, st) ? plan_same_xattrs(p, e) : 0;
	if (r < 0)
		return r;
	*ret_meta = r;
	return 0;
}

static struct plan_group *plan_group_of(struct snap_plan *p, const struct snap_entry *e)
{
	uint8_t key[SNAP_DIGEST];
	uint64_t *at;

	if (!e->link)
		return NULL;
	snap_map_key(e->link, e->root, key);
	at = snap_map_get(&p->groups, key);
	return at ? &p->group_list[*at] : NULL;
}

static int plan_new_group(struct snap_plan *p, const struct snap_entry *e)
{
	uint8_t key[SNAP_DIGEST];

	snap_map_key(e->link, e->root, key);
	if (mem_grow((void **)&p->group_list, &p->group_cap, p->n_groups + 1,
		     sizeof(*p->group_list), LIMIT_SNAPSHOT_FILES) < 0 ||
	    snap_map_put(&p->groups, key, p->n_groups) < 0)
		return cordon_nomem(p->err);
	p->group_list[p->n_groups++] = (struct plan_group){.leader = e};
	return 0;
}

/* The leader of each group: a name that still has the inode, else the first that is there, else the first. */
static int plan_find_leaders(struct snap_plan *p)
{
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < p->manifest->n; i++) {
			const struct snap_entry *e = &p->manifest->entries[i];
			struct plan_group *g = plan_group_of(p, e);
			struct statx st;

			if (!e->link || !snap_plan_is_chosen(p, e))
				continue;
			if (!g && plan_new_group(p, e) < 0)
				return CORDON_E_NOMEM;
			g = plan_group_of(p, e);
			if (snap_place_stat(&p->places[e->root], e->path, &st) < 0 ||
			    snap_meta_kind(&st) != SNAP_FILE)
				continue;
			if (pass == 0 &&
			    (g->now == 0 || (st.stx_ino == e->link && g->now != e->link))) {
				g->leader = e;
				g->now = st.stx_ino;
			}
			g->names += pass == 1 && st.stx_ino == g->now;
		}
	}
	return 0;
}

/* Everything in a directory that is in the way of something else must be about to go. */
static int plan_check_obstacle(struct snap_plan *p, const struct snap_entry *e)
{
	AUTO_FREE char *kept = NULL;
	int r = snap_extra_find_kept(p, e->root, e->path, &kept);

	if (r < 0)
		return cordon_fail_leaf(p->err, r, "look at '%s/%s'", p->paths[e->root], e->path);
	return kept ? plan_change(p, SNAP_CONFLICT, e->root, kept) : 0;
}

static int plan_missing(struct snap_plan *p, const struct snap_entry *e, struct snap_action *a)
{
	struct plan_group *g = plan_group_of(p, e);

	a->act = e->kind == SNAP_FILE ? ACT_WRITE : ACT_MAKE;
	if (g && g->leader != e) {
		a->act = ACT_JOIN;
		a->leader = g->leader;
	} else if (g) {
		g->ino = 0;
	}
	return plan_act(p, a);
}

/* A file that is there. */
static int plan_file(struct snap_plan *p, const struct snap_entry *e, const struct statx *st,
		     bool same_content, bool same_meta, struct snap_action *a)
{
	struct plan_group *g = plan_group_of(p, e);

	if (g && g->leader != e) {
		/* The leader was decided on before. */
		if (g->ino != 0 && st->stx_ino == g->ino)
			return 0;
		a->act = ACT_JOIN;
		a->leader = g->leader;
		return plan_act(p, a);
	}
	a->act = ACT_META;
	if (!e->link && st->stx_nlink > 1)
		a->act =
			ACT_WRITE; /* it was alone, and what it shares the inode with is not known */
	else if (g && st->stx_ino != e->link && st->stx_nlink != g->names)
		a->act = ACT_WRITE;
	else if (!same_content)
		a->act = e->link && st->stx_ino == e->link && st->stx_nlink > 1 ? ACT_IN_PLACE
										: ACT_WRITE;
	if (g)
		g->ino = a->act == ACT_WRITE ? 0 : st->stx_ino;
	return a->act == ACT_META && same_meta ? 0 : plan_act(p, a);
}

static int plan_entry(struct snap_plan *p, const struct snap_entry *e)
{
	bool is_chosen = snap_plan_is_chosen(p, e), same_content = true, same_meta = true;
	struct snap_action a = {.entry = e, .act = ACT_META};
	struct statx st;
	int r;

	if (!is_chosen && (e->kind != SNAP_DIR || !plan_choice(p, e->root, e->path, true)))
		return 0;
	r = snap_place_stat(&p->places[e->root], e->path, &st);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return plan_missing(p, e, &a);
	if (r == -EXDEV) /* something was mounted there */
		return plan_change(p, SNAP_CONFLICT, e->root, e->path);
	if (r < 0)
		return cordon_fail_leaf(p->err, r, "look at '%s/%s'", p->paths[e->root], e->path);
	a.exists = true;
	if (snap_meta_kind(&st) != e->kind) {
		a.is_other = true;
		a.is_dir_in_place = S_ISDIR(st.stx_mode);
		r = plan_missing(p, e, &a);
		return r == 0 && a.is_dir_in_place ? plan_check_obstacle(p, e) : r;
	}
	if (!is_chosen)
		return 0;
	r = plan_compare(p, e, &st, &same_content, &same_meta);
	if (r < 0)
		return r == -ETIMEDOUT
			       ? cordon_fail(p->err, CORDON_E_TIMEOUT, "the restore took too long")
			       : cordon_fail_leaf(p->err, r, "read '%s/%s'", p->paths[e->root],
						  e->path);
	if (e->kind == SNAP_FILE)
		return plan_file(p, e, &st, same_content, same_meta, &a);
	/* What has another name, which is to be something else, does not get its values for it. */
	if (!same_content || (e->kind != SNAP_DIR && st.stx_nlink > 1))
		a.act = ACT_MAKE;
	return same_content && same_meta ? 0 : plan_act(p, &a);
}

/* Leaders first: what becomes of them decides about the others.  The actions are put in order afterwards. */
static int plan_entries(struct snap_plan *p)
{
	int r = plan_find_leaders(p);

	for (size_t i = 0; r == 0 && i < p->n_groups; i++)
		r = plan_entry(p, p->group_list[i].leader);
	p->now.cursor = 0;
	for (size_t i = 0; r == 0 && i < p->manifest->n; i++) {
		const struct snap_entry *e = &p->manifest->entries[i];
		const struct plan_group *g = plan_group_of(p, e);

		if (!g || g->leader != e)
			r = plan_entry(p, e);
		if (r == 0)
			r = snap_store_check_deadline(p->deadline_ms, p->err);
	}
	return r;
}

static int plan_compare_actions(const void *a, const void *b)
{
	const struct snap_action *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int plan_compare_changes(const void *a, const void *b)
{
	const struct snap_change *x = a, *y = b;
	int c = snap_path_compare(x->path, y->path);

	return c ? c : (int)x->op - (int)y->op;
}

static int plan_check_choice(struct snap_plan *p)
{
	const struct snap_restore_options *o = p->options;

	for (size_t i = 0; i < o->only_count; i++) {
		bool is_there = false;

		for (size_t k = 0; !is_there && k < p->manifest->n_trees; k++) {
			const char *below = snap_extra_below(p->paths[k], o->only[i]);

			is_there = path_is_within(p->paths[k], o->only[i]) ||
				   (below && snap_manifest_find(p->manifest, k, below));
			for (size_t n = 0; below && !is_there && n < p->n_goners; n++)
				is_there = p->goners[n].root == k &&
					   snap_path_within(p->goners[n].path, below);
		}
		if (!is_there)
			return cordon_fail(p->err, CORDON_E_NOT_FOUND,
					   "'%s' is not in the snapshot", o->only[i]);
	}
	return 0;
}

int snap_plan_make(struct snap_plan *p, const struct snap_journal *again)
{
	int r = snap_index_load(p->store, p->manifest->trees, p->manifest->n_trees, &p->now,
				p->err);

	if (r == 0)
		r = again ? snap_extra_again(p, again) : snap_extra_find(p);
	if (r == 0 && !again && !p->options->may_miss) /* again: it was judged when it began */
		r = plan_check_choice(p);
	for (size_t i = 0; r == 0 && i < p->n_goners; i++)
		r = plan_change(p, SNAP_REMOVE, p->goners[i].root, p->goners[i].path);
	if (r == 0)
		r = plan_entries(p);
	if (p->n > 1)
		qsort(p->actions, p->n, sizeof(*p->actions), plan_compare_actions);
	if (p->changes->n > 1)
		qsort(p->changes->v, p->changes->n, sizeof(*p->changes->v), plan_compare_changes);
	return r;
}
