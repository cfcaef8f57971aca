/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer.  One append is: lock, find the end, put the line (and before it whatever the state of the
 * files calls for: audit.open, audit.rotate, audit.expire, audit.repair) into one buffer, write that
 * once, unlock.  audit.h has the theory; rotate.c and repair.c the rarer steps.
 */
#include "audit/writer.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

/* A batch is the caller's line and some short ones of our own. */
enum { AUDIT_BATCH_MAX = LIMIT_AUDIT_RECORD + LIMIT_AUDIT_FILES * 1024 };

int audit_open(const struct audit_options *options, struct audit **ret, struct cordon_error *err)
{
	struct audit_options o = {0};
	AUTO(audit_closep) struct audit *a = NULL;
	int r;

	if (options) {
		if (options->struct_size < offsetof(struct audit_options, dir) ||
		    options->struct_size > sizeof(o))
			return cordon_fail(err, CORDON_E_INVALID, "audit options of unknown size");
		memcpy(&o, options, options->struct_size);
	}
	if (o.kept > LIMIT_AUDIT_FILES / 2 || o.retention_ms < 0 || o.lock_ms < 0 ||
	    (o.flags & ~AUDIT_SYNC))
		return cordon_fail(err, CORDON_E_INVALID, "audit options out of range");
	a = calloc(1, sizeof(*a));
	if (!a)
		return cordon_nomem(err);
	a->dirfd = -1;
	a->middle = BUF_INIT(LIMIT_AUDIT_RECORD);
	a->scratch = BUF_INIT(2 * LIMIT_AUDIT_RECORD);
	a->batch = BUF_INIT(AUDIT_BATCH_MAX);
	a->flags = o.flags;
	a->kept = o.kept ? o.kept : LIMIT_AUDIT_KEPT;
	a->max_file_bytes = o.max_file_bytes ? o.max_file_bytes : LIMIT_AUDIT_FILE;
	a->retention_ms = o.retention_ms;
	a->lock_ms = o.lock_ms ? o.lock_ms : LIMIT_AUDIT_LOCK_MS;
	if (o.exe && !(a->exe = strdup(o.exe)))
		return cordon_nomem(err);
	if (o.dir) {
		a->dir = strdup(o.dir);
		if (!a->dir)
			return cordon_nomem(err);
	} else {
		r = env_state_dir(&a->dir);
		if (r < 0)
			return cordon_fail_leaf(err, r, "find the state directory");
	}
	*ret = TAKE_PTR(a);
	return 0;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	(void)fd_close(a->dirfd);
	buf_done(&a->middle);
	buf_done(&a->scratch);
	buf_done(&a->batch);
	free(a->dir);
	free(a->exe);
	free(a);
}

int audit_make_id(char ret_id[static 17], struct cordon_error *err)
{
	uint64_t id = 0;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != (ssize_t)sizeof(id))
		return cordon_fail_errno(err, errno, "random bytes for a record's id");
	(void)snprintf(ret_id, 17, "%016llx", (unsigned long long)id);
	return 0;
}

int audit_batch_own(struct audit *a, struct audit_head *head, enum audit_event_type type,
		    const struct buf *body, struct cordon_error *err)
{
	struct buf middle = BUF_INIT(LIMIT_AUDIT_RECORD);
	struct audit_event ev = {
		.type = type,
		.body = body->data,
		.body_len = body->len,
	};
	char stamp[CLOCK_STAMP_LEN], id[17];
	int r;

	r = audit_make_id(id, err);
	if (r < 0)
		return r;
	audit_line_middle(&middle, &ev, id, a->exe);
	r = buf_error(body) < 0 ? buf_error(body) : buf_error(&middle);
	if (r == 0) {
		clock_stamp(stamp);
		audit_line_seal(&a->batch, stamp, &middle, head);
		r = buf_error(&a->batch);
	}
	buf_done(&middle);
	return r < 0 ? cordon_fail_leaf(err, r, "make a record") : 0;
}

/* Writes the batch behind the last complete line.  0 or -errno. */
static int audit_write(int fd, const struct buf *batch, uint64_t end)
{
	size_t used = 0;

	while (used < batch->len) {
		ssize_t n = pwrite(fd, batch->data + used, batch->len - used, (off_t)(end + used));

		if (n > 0)
			used += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n == 0 ? -EIO : -errno;
	}
	return 0;
}

/*
 * Puts the batch into the file.  When the write fails half way the file is cut back, so that a full disk
 * leaves no trace; but not over a torn tail, whose repair is not recorded yet: that stays torn, and the
 * next writer takes it up.
 */
static int audit_commit(struct audit *a, int fd, uint64_t size, const struct audit_tail *tail,
			struct cordon_error *err)
{
	uint64_t new_size = tail->end + a->batch.len;
	int r;

	r = audit_write(fd, &a->batch, tail->end);
	if (r < 0) {
		if (tail->torn == 0 && ftruncate(fd, (off_t)tail->end) < 0) {
			/* the tail stays torn, which the next writer repairs */
		}
		return cordon_fail_errno(err, -r, "write '" AUDIT_FILE "'");
	}
	if (size > new_size && ftruncate(fd, (off_t)new_size) < 0)
		return cordon_fail_errno(err, errno, "cut '" AUDIT_FILE "'");
	if (!(a->flags & AUDIT_SYNC))
		return 0;
	if (fdatasync(fd) < 0 || (tail->end == 0 && fsync(a->dirfd) < 0))
		return cordon_fail_errno(err, errno, "sync '" AUDIT_FILE "'");
	return 0;
}

/*
 * Under the lock.  line is the caller's middle part or NULL (audit_expire()).  Returns 1 when the file
 * was rotated away instead and everything must be tried again.
 */
static int audit_append_locked(struct audit *a, int fd, uint64_t size, const struct buf *line,
			       struct audit_head *ret_head, struct cordon_error *err)
{
	AUTO(audit_expiry_done) struct audit_expiry expiry = {0};
	char stamp[CLOCK_STAMP_LEN];
	struct audit_tail tail;
	struct audit_head head;
	int r;

	r = audit_store_tail(fd, size, AUDIT_FILE, &a->scratch, &tail, err);
	if (r < 0)
		return r;
	if (line && tail.end > 0 && tail.torn == 0 && tail.end + line->len > a->max_file_bytes) {
		r = audit_rotate(a, fd, err);
		return r < 0 ? r : 1;
	}
	head = tail.head;
	buf_clear(&a->batch);
	if (tail.end == 0)
		r = audit_begin_file(a, &head, &expiry, err);
	else if (!line)
		r = audit_expiry_plan(a, &head, &expiry, err);
	if (r == 0 && tail.torn > 0)
		r = audit_repair(a, &tail, &head, err);
	if (r < 0)
		return r;
	if (line) {
		clock_stamp(stamp);
		audit_line_seal(&a->batch, stamp, line, &head);
	}
	r = buf_error(&a->batch);
	if (r < 0)
		return cordon_fail_leaf(err, r, "make a record");
	r = audit_commit(a, fd, size, &tail, err);
	if (r < 0)
		return r;
	audit_expiry_apply(a, &expiry);
	*ret_head = head;
	a->expired = expiry.files.n;
	return 0;
}

static int audit_locked(struct audit *a, const struct buf *line, struct audit_head *ret_head,
			struct cordon_error *err)
{
	int64_t deadline = clock_deadline(a->lock_ms);
	int r;

	if (a->dirfd < 0) {
		r = audit_store_open_dir(a->dir, /* make= */ true, &a->dirfd, err);
		if (r < 0)
			return r;
	}
	do {
		AUTO_UNLOCK int fd = -1;
		uint64_t size = 0;

		r = audit_store_lock(a->dirfd, O_RDWR | O_CREAT, LOCK_EX, deadline, &fd, &size,
				     err);
		if (r < 0)
			return r;
		r = audit_append_locked(a, fd, size, line, ret_head, err);
		if (r <= 0)
			return r;
	} while (clock_ms() < deadline);
	return cordon_fail(err, CORDON_E_BUSY, "'" AUDIT_FILE "' is rotated all the time");
}

int audit_append(struct audit *a, const struct audit_event *ev, struct audit_receipt *ret,
		 struct cordon_error *err)
{
	struct audit_head head;
	char id[17];
	int r;

	if ((unsigned)ev->type >= AUDIT_EVENT_COUNT || audit_event_is_own(ev->type))
		return cordon_fail(err, CORDON_E_INVALID, "not an event that can be recorded: %d",
				   (int)ev->type);
	r = audit_make_id(id, err);
	if (r < 0)
		return r;
	buf_clear(&a->middle);
	audit_line_middle(&a->middle, ev, id, a->exe);
	r = audit_line_check(&a->scratch, &a->middle);
	if (r == -EEXIST)
		return cordon_fail(err, CORDON_E_INVALID, "audit record: duplicate member");
	if (r < 0)
		return cordon_fail_leaf(err, r, "audit record");
	r = audit_locked(a, &a->middle, &head, err);
	if (r < 0)
		return cordon_wrap(err, r, "audit trail in '%s'", a->dir);
	if (ret) {
		ret->seq = head.seq;
		memcpy(ret->hash, head.hash, sizeof(ret->hash));
	}
	return 0;
}

int audit_expire(struct audit *a, struct cordon_error *err)
{
	struct audit_head head;
	int r;

	r = audit_locked(a, /* line= */ NULL, &head, err);
	if (r < 0)
		return cordon_wrap(err, r, "audit trail in '%s'", a->dir);
	return (int)a->expired;
}

void audit_hash_argv(char *const *argv, char ret_hash[static AUDIT_ARGV_HASH_LEN])
{
	uint8_t digest[SHA256_LEN];
	struct sha256 s;

	sha256_init(&s);
	for (size_t i = 0; argv[i]; i++) {
		if (i > 0)
			sha256_add(&s, "", 1);
		sha256_add(&s, argv[i], strlen(argv[i]));
	}
	sha256_finish(&s, digest);
	memcpy(ret_hash, "sha256:", 7);
	sha256_to_hex(digest, ret_hash + 7);
}
