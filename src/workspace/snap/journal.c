/* SPDX-License-Identifier: Apache-2.0 */
/* See journal.h. */
#include "workspace/snap/journal.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "workspace/snap/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char journal_magic[16] = "cordon-journal1\n";

void snap_journal_done(struct snap_journal *j)
{
	free(j->data);
	free(j->only_owned);
	free(j->goners_owned);
	*j = (struct snap_journal){0};
}

int snap_journal_lock(struct snap_store *s, const char *key, bool waits, int *ret_fd,
		      struct cordon_error *err)
{
	AUTO_CLOSE int fd = -1;
	char name[SNAP_HEX + 8];
	int r;

	(void)snprintf(name, sizeof(name), "%s.lock", key);
	fd = openat(s->dirs[STORE_JOURNAL], name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return cordon_fail_errno(err, errno, "write to the snapshot store '%s'", s->path);
	r = fd_flock(fd, LOCK_EX, waits ? clock_deadline(LIMIT_SNAPSHOT_LOCK_MS) : clock_ms());
	if (r == -ETIMEDOUT)
		return cordon_fail(err, CORDON_E_BUSY,
				   "another process takes or restores a snapshot of these files");
	if (r < 0)
		return cordon_fail_leaf(err, r, "lock the snapshot store '%s'", s->path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static void journal_encode(struct buf *b, const struct snap_journal *j)
{
	buf_add(b, journal_magic, sizeof(journal_magic));
	snap_put(b, j->is_changing, 1);
	snap_put(b, j->is_foreign, 1);
	buf_add(b, j->listing, SNAP_DIGEST);
	snap_put_str(b, j->stage);
	snap_put_str(b, j->target);
	snap_put(b, j->only_count, 4);
	for (size_t i = 0; i < j->only_count; i++)
		snap_put_str(b, j->only[i]);
	snap_put(b, j->goner_count, 4);
	for (size_t i = 0; i < j->goner_count; i++) {
		snap_put(b, j->goners[i].root, 2);
		snap_put_str(b, j->goners[i].path);
	}
	snap_put(b, j->time_count, 2);
	for (size_t i = 0; i < j->time_count; i++) {
		snap_put(b, (uint64_t)j->times[i].tv_sec, 8);
		snap_put(b, (uint64_t)j->times[i].tv_nsec, 4);
	}
	if (!b->error)
		snap_put_seal(b);
}

int snap_journal_write(struct snap_store *s, const char *key, const struct snap_journal *j,
		       struct cordon_error *err)
{
	struct buf b = BUF_INIT(LIMIT_SNAPSHOT_MANIFEST);
	int r;

	journal_encode(&b, j);
	r = buf_error(&b);
	if (r == 0)
		r = io_write_file_at(s->dirs[STORE_JOURNAL], key, b.data, b.len, 0600);
	buf_done(&b);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write to the snapshot store '%s'", s->path);
	r = snap_store_sync_dir(s, STORE_JOURNAL, err);
	snap_step();
	return r;
}

static int journal_decode_lists(struct snap_reader *r, struct snap_journal *j)
{
	size_t n = (size_t)snap_get(r, 4);

	if (r->is_bad || n > (size_t)(r->end - r->p))
		return -EBADMSG;
	j->only_owned = calloc(n + 1, sizeof(*j->only_owned));
	if (!j->only_owned)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		j->only_owned[i] = snap_get_str(r, LIMIT_PATH_BYTES, NULL);
	j->only = n ? j->only_owned : NULL;
	j->only_count = n;
	n = (size_t)snap_get(r, 4);
	if (r->is_bad || n > (size_t)(r->end - r->p))
		return -EBADMSG;
	j->goners_owned = calloc(n + 1, sizeof(*j->goners_owned));
	if (!j->goners_owned)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *path;

		j->goners_owned[i].root = (size_t)snap_get(r, 2);
		path = snap_get_str(r, LIMIT_PATH_BYTES, NULL);
		if (!path || !snap_path_is_plain(path) ||
		    j->goners_owned[i].root >= LIMIT_SNAPSHOT_ROOTS)
			return -EBADMSG;
		j->goners_owned[i].path = j->data + (path - j->data);
	}
	j->goners = j->goners_owned;
	j->goner_count = n;
	j->time_count = (size_t)snap_get(r, 2);
	if (j->time_count > LIMIT_SNAPSHOT_ROOTS)
		return -EBADMSG;
	for (size_t i = 0; i < j->time_count; i++) {
		j->times[i].tv_sec = (time_t)snap_get(r, 8);
		j->times[i].tv_nsec = (long)snap_get(r, 4);
	}
	return 0;
}

int snap_journal_decode(char *data, size_t len, struct snap_journal *ret)
{
	struct snap_journal j = {.data = data};
	struct snap_reader r;
	const uint8_t *magic, *listing;
	const char *stage;
	size_t n = 0;
	int e = snap_check_seal(data, &len) ? 0 : -EBADMSG;

	r = SNAP_READER(data, e == 0 ? len : 0);
	magic = snap_get_raw(&r, sizeof(journal_magic));
	j.is_changing = snap_get(&r, 1) != 0;
	j.is_foreign = snap_get(&r, 1) != 0;
	listing = snap_get_raw(&r, SNAP_DIGEST);
	stage = snap_get_str(&r, 16, &n);
	j.target = snap_get_str(&r, LIMIT_PATH_BYTES, NULL);
	if (r.is_bad || n != 16 || memcmp(magic, journal_magic, sizeof(journal_magic)) != 0 ||
	    strspn(stage, "0123456789abcdef") != 16)
		e = -EBADMSG;
	if (e == 0) {
		memcpy(j.listing, listing, SNAP_DIGEST);
		memcpy(j.stage, stage, 17);
		e = journal_decode_lists(&r, &j);
	}
	if (e == 0 && !snap_get_end(&r))
		e = -EBADMSG;
	if (e < 0) {
		snap_journal_done(&j);
		return e;
	}
	*ret = j;
	return 0;
}

int snap_journal_remove(struct snap_store *s, const char *key, struct cordon_error *err)
{
	if (unlinkat(s->dirs[STORE_JOURNAL], key, 0) < 0 && errno != ENOENT)
		return cordon_fail_errno(err, errno, "write to the snapshot store '%s'", s->path);
	return snap_store_sync_dir(s, STORE_JOURNAL, err);
}

void snap_journal_stage_name(const char stage[static 17], char ret[static JOURNAL_STAGE_NAME])
{
	(void)snprintf(ret, JOURNAL_STAGE_NAME, "%s%s", JOURNAL_STAGE_PREFIX, stage);
}
