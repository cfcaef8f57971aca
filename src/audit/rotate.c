/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one file to the next.  Rotation is a rename and nothing else; what the new file begins with is
 * decided by whoever finds it empty, so a writer killed at any point leaves a state that is complete.
 */
#include "audit/writer.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* renameat() that never replaces.  0 or -errno. */
static int rotate_rename(int dirfd, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A filesystem without the flag; all writers are behind the lock, so looking first will do. */
	if (fstatat(dirfd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dirfd, from, dirfd, to) < 0 ? -errno : 0;
}

int audit_rotate(struct audit *a, int fd, struct cordon_error *err)
{
	char front[128], name[AUDIT_NAME_LEN];
	uint64_t seq = 0;
	ssize_t n;
	int r;

	n = audit_store_read(fd, front, sizeof(front), 0);
	if (n < 0)
		return cordon_fail_errno(err, (int)-n, "read '" AUDIT_FILE "'");
	if (audit_line_first_seq(front, (size_t)n, &seq) < 0) {
		r = cordon_fail(err, CORDON_E_CORRUPT,
				"the first line of '" AUDIT_FILE "' is damaged");
		return cordon_hint(err, r, "see 'cordon audit verify'");
	}
	audit_store_rotated_name(seq, name);
	r = rotate_rename(a->dirfd, AUDIT_FILE, name);
	if (r == -EEXIST) {
		r = cordon_fail(err, CORDON_E_CORRUPT,
				"cannot rotate '" AUDIT_FILE "': '%s' is there already", name);
		return cordon_hint(err, r, "see 'cordon audit verify'; one of the two is a copy");
	}
	if (r < 0)
		return cordon_fail_errno(err, -r, "rename '" AUDIT_FILE "' to '%s'", name);
	if ((a->flags & AUDIT_SYNC) && fsync(a->dirfd) < 0)
		return cordon_fail_errno(err, errno, "sync the state directory");
	return 0;
}

/* The head of a rotated file, which must end with a complete line. */
static int rotate_head_of(struct audit *a, const char *name, struct audit_head *ret,
			  struct cordon_error *err)
{
	/* Not a->scratch: torn bytes of the current file may be borrowed from it. */
	struct buf scratch = BUF_INIT(2 * LIMIT_AUDIT_RECORD);
	struct audit_tail tail = {0};
	AUTO_CLOSE int fd = -1;
	uint64_t size = 0;
	int r;

	r = audit_store_open_file(a->dirfd, name, O_RDONLY, &fd, &size, err);
	if (r == 0)
		r = audit_store_tail(fd, size, name, &scratch, &tail, err);
	buf_done(&scratch);
	if (r < 0)
		return r;
	if (tail.end == 0 || tail.torn > 0) {
		r = cordon_fail(err, CORDON_E_CORRUPT, "'%s' does not end with a complete record",
				name);
		return cordon_hint(err, r, "see 'cordon audit verify'");
	}
	*ret = tail.head;
	return 0;
}

static int rotate_record(struct audit *a, struct audit_head *head, enum audit_event_type type,
			 const struct audit_file *file, const struct audit_head *last,
			 struct cordon_error *err)
{
	struct buf body = BUF_INIT(1024);
	int r;

	buf_printf(&body, "\"file\":\"%s\",\"first_seq\":%llu,\"last_seq\":%llu,\"head\":\"%s\"",
		   file->name, (unsigned long long)file->first_seq, (unsigned long long)last->seq,
		   last->hash);
	r = audit_batch_own(a, head, type, &body, err);
	buf_done(&body);
	return r;
}

/* Of the files, oldest first, the ones that retention deletes; the newest always stays: its head is
 * what an empty current file continues. */
static int expiry_choose(struct audit *a, const struct audit_files *all, struct audit_head *head,
			 struct audit_expiry *expiry, struct cordon_error *err)
{
	int64_t now = clock_wall_ms();

	for (size_t i = 0; i + 1 < all->n; i++) {
		const struct audit_file *file = &all->v[i];
		bool is_old = a->retention_ms > 0 && now - file->mtime_ms > a->retention_ms;
		void *p = expiry->files.v;
		struct audit_head last;
		int r;

		if (all->n - i <= a->kept && !is_old)
			break;
		/* A file that cannot be read to its head is evidence.  It stays, and so do all after it:
		 * a hole in the middle of the chain could not be told from an attack. */
		if (rotate_head_of(a, file->name, &last, NULL) < 0)
			break;
		r = mem_grow(&p, &expiry->files.cap, expiry->files.n + 1, sizeof(*file),
			     LIMIT_AUDIT_FILES);
		expiry->files.v = p;
		if (r < 0)
			return cordon_nomem(err);
		r = rotate_record(a, head, AUDIT_EVENT_AUDIT_EXPIRE, file, &last, err);
		if (r < 0)
			return r;
		expiry->files.v[expiry->files.n++] = *file;
	}
	return 0;
}

int audit_expiry_plan(struct audit *a, struct audit_head *head, struct audit_expiry *expiry,
		      struct cordon_error *err)
{
	AUTO(audit_files_done) struct audit_files all = {0};
	int r;

	r = audit_store_list(a->dirfd, &all, err);
	if (r < 0)
		return r;
	return expiry_choose(a, &all, head, expiry, err);
}

void audit_expiry_apply(struct audit *a, const struct audit_expiry *expiry)
{
	for (size_t i = 0; i < expiry->files.n; i++)
		if (unlinkat(a->dirfd, expiry->files.v[i].name, 0) < 0) {
			/* It stays, the chain is only longer than announced, and the next time tries again. */
		}
}

void audit_expiry_done(struct audit_expiry *expiry)
{
	audit_files_done(&expiry->files);
}

int audit_begin_file(struct audit *a, struct audit_head *head, struct audit_expiry *expiry,
		     struct cordon_error *err)
{
	AUTO(audit_files_done) struct audit_files all = {0};
	const struct audit_file *newest;
	struct buf none = BUF_INIT(0);
	struct audit_head last;
	int r;

	r = audit_store_list(a->dirfd, &all, err);
	if (r < 0)
		return r;
	if (all.n == 0) {
		*head = (struct audit_head){.hash = AUDIT_ZERO_HASH};
		return audit_batch_own(a, head, AUDIT_EVENT_AUDIT_OPEN, &none, err);
	}
	newest = &all.v[all.n - 1];
	r = rotate_head_of(a, newest->name, &last, err);
	if (r < 0)
		return r;
	*head = last;
	r = rotate_record(a, head, AUDIT_EVENT_AUDIT_ROTATE, newest, &last, err);
	if (r < 0)
		return r;
	return expiry_choose(a, &all, head, expiry, err);
}
