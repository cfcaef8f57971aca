/* SPDX-License-Identifier: Apache-2.0 */
/* Removing what no snapshot needs: the listings that records name are read, what they point to stays. */
#include "base/fd.h"
#include "workspace/snap/map.h"
#include "workspace/snap/object.h"
#include "workspace/snap/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sweeping {
	struct snap_store *store;
	struct snap_map listings;
	struct snap_map objects;
	struct snap_swept swept;
	char dir[3]; /* of objects/ that is swept */
	struct cordon_error *err;
};

static int sweep_mark(struct sweeping *w, const uint8_t listing[static SNAP_DIGEST])
{
	struct snap_manifest m = {0};
	int r = snap_map_put(&w->listings, listing, 0);

	if (r <= 0)
		return r < 0 ? cordon_nomem(w->err) : 0;
	r = snap_listing_read(w->store, listing, &m, w->err);
	for (size_t i = 0; r == 0 && i < m.n; i++)
		for (size_t k = 0; r == 0 && k < m.entries[i].n_chunks; k++)
			if (snap_map_put(&w->objects, m.entries[i].chunks + SNAP_DIGEST * k, 0) < 0)
				r = cordon_nomem(w->err);
	snap_manifest_done(&m);
	return r;
}

/* Of a file in objects/ or listings/: is it needed? */
static bool sweep_needs(struct sweeping *w, const struct snap_map *map, const char *name)
{
	size_t len = strlen(name);
	uint8_t digest[SNAP_DIGEST];
	char hex[SNAP_HEX + 2];

	if (len > 2 && strcmp(name + len - 2, ".z") == 0)
		len -= 2;
	if (strlen(w->dir) + len != SNAP_HEX - 1)
		return false;
	(void)snprintf(hex, sizeof(hex), "%s%.*s", w->dir, (int)len, name);
	return snap_unhex(hex, strlen(hex), digest) && snap_map_get(map, digest);
}

static int sweep_file(struct sweeping *w, const struct snap_map *map, int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (sweep_needs(w, map, name)) {
		w->swept.kept++;
		w->swept.kept_bytes += (uint64_t)st.st_size;
		return 0;
	}
	snap_step();
	if (unlinkat(dirfd, name, 0) < 0)
		return -errno;
	w->swept.objects++;
	w->swept.bytes += (uint64_t)st.st_size;
	return 0;
}

static int sweep_listing(void *arg, int dirfd, const char *name)
{
	struct sweeping *w = arg;

	return sweep_file(w, &w->listings, dirfd, name);
}

static int sweep_object(void *arg, int dirfd, const char *name)
{
	struct sweeping *w = arg;

	return sweep_file(w, &w->objects, dirfd, name);
}

static int sweep_objects_dir(void *arg, int dirfd, const char *name)
{
	struct sweeping *w = arg;
	AUTO_CLOSE int fd = -1;

	if (strlen(name) != 2)
		return 0;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	memcpy(w->dir, name, sizeof(w->dir));
	return snap_store_each(fd, sweep_object, w);
}

/* A record whose writer died before it had its name. */
static int sweep_name(void *arg, int dirfd, const char *name)
{
	(void)arg;
	return name[0] == '.' && unlinkat(dirfd, name, 0) < 0 ? -errno : 0;
}

/* Listings go first: an index whose listing is gone is not believed, whatever of its objects is still there. */
static int sweep_all(struct sweeping *w)
{
	struct snap_store *s = w->store;
	int r = snap_store_each(s->dirs[STORE_NAMES], sweep_name, NULL);

	if (r == 0)
		r = snap_store_each(s->dirs[STORE_LISTINGS], sweep_listing, w);
	if (r == 0 && fsync(s->dirs[STORE_LISTINGS]) < 0)
		r = -errno;
	if (r == 0)
		r = snap_store_each(s->dirs[STORE_OBJECTS], sweep_objects_dir, w);
	if (r == 0)
		snap_store_remove_tree(s->fd, STORE_DAMAGED);
	return r < 0 ? cordon_fail_leaf(w->err, r, "sweep the snapshot store '%s'", s->path) : 0;
}

static int sweep_locked(struct sweeping *w)
{
	struct snap_list list = {0};
	/* A record that is damaged may name anything: nothing is removed then. */
	int r = snap_list(w->store, NULL, &list, NULL, w->err);

	for (size_t i = 0; r == 0 && i < list.n; i++)
		r = sweep_mark(w, list.v[i].manifest);
	snap_list_done(&list);
	if (r == 0)
		r = sweep_all(w);
	if (r == 0)
		r = snap_store_set_usage(w->store, w->swept.kept_bytes, w->err);
	return r;
}

static int sweep_journal(void *arg, int dirfd, const char *name)
{
	(void)arg;
	(void)dirfd;
	return strlen(name) == SNAP_HEX - 1;
}

int snap_gc(struct snap_store *s, struct snap_swept *ret, struct cordon_error *err)
{
	struct sweeping w = {.store = s, .err = err};
	int r = snap_store_needs_writing(s, err);

	if (r == 0)
		r = snap_recover(s, err);
	if (r == 0)
		r = snap_store_lock(s, LOCK_EX, err);
	if (r < 0)
		return r;
	/* A restore that waits to be finished needs its objects. */
	r = snap_store_each(s->dirs[STORE_JOURNAL], sweep_journal, NULL);
	if (r > 0)
		r = cordon_fail(err, CORDON_E_BUSY, "an interrupted restore is not finished yet");
	else if (r < 0)
		r = cordon_fail_leaf(err, r, "sweep the snapshot store '%s'", s->path);
	else
		r = sweep_locked(&w);
	snap_store_unlock(s);
	if (r == 0 && ret)
		*ret = w.swept;
	snap_map_done(&w.listings);
	snap_map_done(&w.objects);
	return r;
}
