/* SPDX-License-Identifier: Apache-2.0 */
/* See reader.h.  All files are opened at once, under the lock: later renames and deletions do not matter. */
#include "audit/reader.h"

#include "audit/store.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READER_CHUNK = 64 * 1024 };

struct reader_file {
	int fd;
	char name[AUDIT_NAME_LEN];
	uint64_t first_seq; /* 0: the current file */
	uint64_t size;      /* when the reader was opened */
	uint64_t inode;
};

struct audit_reader {
	struct reader_file *files;
	size_t n;
	size_t cap;
	size_t at;       /* file */
	uint64_t offset; /* in it, of the bytes that follow the buffered ones */
	uint64_t line;
	char *data; /* LIMIT_AUDIT_RECORD + READER_CHUNK bytes */
	size_t start, len;
};

/* Takes fd, also on failure. */
static int reader_add(struct audit_reader *rd, int take_fd, const char *name, uint64_t first_seq,
		      uint64_t size, struct cordon_error *err)
{
	AUTO_CLOSE int fd = take_fd;
	void *p = rd->files;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "'%s'", name);
	r = mem_grow(&p, &rd->cap, rd->n + 1, sizeof(*rd->files), LIMIT_AUDIT_FILES + 1);
	rd->files = p;
	if (r < 0)
		return cordon_fail_leaf(err, r, "audit files");
	rd->files[rd->n] = (struct reader_file){
		.first_seq = first_seq,
		.size = size,
		.inode = (uint64_t)st.st_ino,
	};
	memcpy(rd->files[rd->n].name, name, strlen(name) + 1);
	rd->files[rd->n++].fd = TAKE_FD(fd);
	return 0;
}

static int reader_add_rotated(struct audit_reader *rd, int dirfd, struct cordon_error *err)
{
	AUTO(audit_files_done) struct audit_files all = {0};
	int r;

	r = audit_store_list(dirfd, &all, err);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		uint64_t size = 0;
		int fd = -1;

		r = audit_store_open_file(dirfd, all.v[i].name, O_RDONLY, &fd, &size, err);
		if (r == 0)
			r = reader_add(rd, fd, all.v[i].name, all.v[i].first_seq, size, err);
	}
	return r;
}

static void reader_drop_files(struct audit_reader *rd)
{
	for (size_t i = 0; i < rd->n; i++)
		(void)fd_close(rd->files[i].fd);
	rd->n = 0;
}

/* Are the opened files exactly those that are there now? */
static bool reader_is_current(const struct audit_reader *rd, int dirfd)
{
	AUTO(audit_files_done) struct audit_files now = {0};

	if (audit_store_list(dirfd, &now, NULL) < 0 || now.n != rd->n)
		return false;
	for (size_t i = 0; i < now.n; i++)
		if (strcmp(now.v[i].name, rd->files[i].name) != 0)
			return false;
	return true;
}

/* With no current file there is nothing to lock.  The list is good if there is still none afterwards and
 * the same files stand there: meanwhile a whole file may have come, recorded that the oldest one goes, and
 * been rotated itself.  Names of rotated files are never used twice.
 * Returns 1 when it must be done again. */
static int reader_snapshot_unlocked(struct audit_reader *rd, int dirfd, struct cordon_error *err)
{
	int r = reader_add_rotated(rd, dirfd, err);

	if (r < 0 && r != CORDON_E_NOT_FOUND)
		return r;
	if (r == 0 && faccessat(dirfd, AUDIT_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    reader_is_current(rd, dirfd))
		return 0;
	reader_drop_files(rd);
	return 1;
}

static int reader_snapshot(struct audit_reader *rd, int dirfd, struct cordon_error *err)
{
	int64_t deadline = clock_deadline(LIMIT_AUDIT_LOCK_MS);

	do {
		AUTO_UNLOCK int lock = -1;
		uint64_t size = 0;
		int r, fd;

		r = audit_store_lock(dirfd, O_RDONLY, LOCK_SH, deadline, &lock, &size, err);
		if (r == CORDON_E_NOT_FOUND) {
			r = reader_snapshot_unlocked(rd, dirfd, err);
			if (r <= 0)
				return r;
			continue;
		}
		if (r == 0)
			r = reader_add_rotated(rd, dirfd, err);
		if (r < 0)
			return r;
		fd = fd_dup(lock, 0);
		if (fd < 0)
			return cordon_fail_errno(err, -fd, "'" AUDIT_FILE "'");
		return reader_add(rd, fd, AUDIT_FILE, 0, size, err);
	} while (clock_ms() < deadline);
	return cordon_fail(err, CORDON_E_BUSY, "the audit files change all the time");
}

int audit_reader_open(const char *dir, const struct audit_position *from, struct audit_reader **ret,
		      struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *rd = calloc(1, sizeof(*rd));
	AUTO_FREE char *own = NULL;
	AUTO_CLOSE int dirfd = -1;
	int r;

	if (!rd || !(rd->data = malloc(LIMIT_AUDIT_RECORD + READER_CHUNK)))
		return cordon_nomem(err);
	if (!dir) {
		r = env_state_dir(&own);
		if (r < 0)
			return cordon_fail_leaf(err, r, "find the state directory");
		dir = own;
	}
	r = audit_store_open_dir(dir, /* make= */ false, &dirfd, err);
	if (r == 0)
		r = reader_snapshot(rd, dirfd, err);
	if (r < 0 && r != CORDON_E_NOT_FOUND)
		return cordon_wrap(err, r, "audit trail in '%s'", dir);
	cordon_error_clear(err); /* not there is empty */
	for (size_t i = 0; from && from->inode && i < rd->n; i++)
		if (rd->files[i].inode == from->inode && from->offset <= rd->files[i].size) {
			rd->at = i;
			rd->offset = from->offset;
			rd->line = from->line;
		}
	*ret = TAKE_PTR(rd);
	return 0;
}

void audit_reader_close(struct audit_reader *rd)
{
	if (!rd)
		return;
	reader_drop_files(rd);
	free(rd->files);
	free(rd->data);
	free(rd);
}

/* Reads on behind what is buffered.  The count, 0 at the end of the file. */
static ssize_t reader_fill(struct audit_reader *rd)
{
	const struct reader_file *f = &rd->files[rd->at];
	uint64_t left = f->size - rd->offset;
	size_t want = left < READER_CHUNK ? (size_t)left : READER_CHUNK;
	ssize_t n;

	if (want == 0)
		return 0;
	memmove(rd->data, rd->data + rd->start, rd->len);
	rd->start = 0;
	n = audit_store_read(f->fd, rd->data + rd->len, want, rd->offset);
	if (n > 0) {
		rd->len += (size_t)n;
		rd->offset += (uint64_t)n;
	}
	return n;
}

/* At the end of a file: what is left there, or on to the next one (true). */
static bool reader_end_of_file(struct audit_reader *rd, enum audit_step *ret_step,
			       const char **ret_text, size_t *ret_len)
{
	if (rd->len > 0) {
		*ret_step = AUDIT_STEP_TORN;
		*ret_text = rd->data + rd->start;
		*ret_len = rd->len;
		rd->line++;
		rd->len = 0;
		return false;
	}
	if (rd->at + 1 >= rd->n) {
		*ret_step = AUDIT_STEP_END;
		return false;
	}
	rd->at++;
	rd->offset = rd->line = 0;
	rd->start = 0;
	return true;
}

int audit_reader_raw(struct audit_reader *rd, enum audit_step *ret_step, const char **ret_text,
		     size_t *ret_len, struct cordon_error *err)
{
	size_t scanned = 0;

	*ret_step = AUDIT_STEP_END;
	if (rd->n == 0)
		return 0;
	for (;;) {
		const char *at = rd->data + rd->start;
		const char *newline = memchr(at + scanned, '\n', rd->len - scanned);
		ssize_t n;

		if (newline) {
			*ret_step = AUDIT_STEP_LINE;
			*ret_text = at;
			*ret_len = (size_t)(newline - at);
			rd->start += *ret_len + 1;
			rd->len -= *ret_len + 1;
			rd->line++;
			return 0;
		}
		scanned = rd->len;
		if (scanned > LIMIT_AUDIT_RECORD) {
			rd->line++;
			*ret_step = AUDIT_STEP_LONG;
			*ret_text = at;
			*ret_len = scanned;
			return 0;
		}
		n = reader_fill(rd);
		if (n < 0)
			return cordon_fail_errno(err, (int)-n, "read '%s'", audit_reader_file(rd));
		if (n == 0 && !reader_end_of_file(rd, ret_step, ret_text, ret_len))
			return 0;
		if (n == 0)
			scanned = 0;
	}
}

int audit_reader_next(struct audit_reader *rd, struct audit_line *ret, struct cordon_error *err)
{
	enum audit_step step = AUDIT_STEP_END;
	const char *text = NULL;
	size_t len = 0;
	int r;

	r = audit_reader_raw(rd, &step, &text, &len, err);
	if (r < 0)
		return r;
	if (step == AUDIT_STEP_END || (step == AUDIT_STEP_TORN && rd->at + 1 == rd->n))
		return 0;
	if (step != AUDIT_STEP_LINE)
		r = cordon_fail(err, CORDON_E_CORRUPT, "%s",
				step == AUDIT_STEP_LONG ? audit_line_fault_text(AUDIT_LINE_LONG)
							: "an unfinished line inside the log");
	else
		r = audit_line_parse(text, len, ret, /* ret_fault= */ NULL, err);
	if (r == 0 && !ret->is_hash_right) {
		audit_line_done(ret);
		r = cordon_fail(err, CORDON_E_CORRUPT, "%s",
				audit_line_fault_text(AUDIT_LINE_HASH));
	}
	if (r == 0)
		return 1;
	r = cordon_wrap(err, r, "%s:%llu", audit_reader_file(rd), (unsigned long long)rd->line);
	return cordon_hint(err, r, "see 'cordon audit verify'");
}

/* Counts the newlines of a file up to offset. */
static int reader_count_lines(struct audit_reader *rd, uint64_t offset, uint64_t *ret_lines)
{
	uint64_t lines = 0;

	for (uint64_t at = 0; at < offset;) {
		size_t want = offset - at < READER_CHUNK ? (size_t)(offset - at) : READER_CHUNK;
		ssize_t n = audit_store_read(rd->files[rd->at].fd, rd->data, want, at);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		for (ssize_t i = 0; i < n; i++)
			lines += rd->data[i] == '\n';
		at += (uint64_t)n;
	}
	*ret_lines = lines;
	return 0;
}

int audit_reader_seek_last(struct audit_reader *rd, uint64_t n, struct cordon_error *err)
{
	uint64_t seen = 0; /* newlines from the end, the one that ends the last line included */
	int r;

	rd->start = rd->len = 0;
	for (rd->at = rd->n; rd->at-- > 0;) {
		const struct reader_file *f = &rd->files[rd->at];

		for (uint64_t end = f->size; end > 0;) {
			size_t want = end < READER_CHUNK ? (size_t)end : READER_CHUNK;
			ssize_t got = audit_store_read(f->fd, rd->data, want, end - want);

			if (got != (ssize_t)want)
				return cordon_fail_errno(err, got < 0 ? (int)-got : EIO,
							 "read '%s'", f->name);
			for (size_t i = want; i-- > 0;) {
				if (rd->data[i] != '\n' || ++seen <= n)
					continue;
				rd->offset = end - want + i + 1;
				r = reader_count_lines(rd, rd->offset, &rd->line);
				return r < 0 ? cordon_fail_errno(err, -r, "read '%s'", f->name) : 0;
			}
			end -= want;
		}
	}
	rd->at = 0;
	rd->offset = rd->line = 0;
	return 0;
}

const char *audit_reader_file(const struct audit_reader *rd)
{
	return rd->n ? rd->files[rd->at].name : AUDIT_FILE;
}

uint64_t audit_reader_line(const struct audit_reader *rd)
{
	return rd->line;
}

uint64_t audit_reader_file_seq(const struct audit_reader *rd)
{
	return rd->n ? rd->files[rd->at].first_seq : 0;
}

void audit_reader_tell(const struct audit_reader *rd, struct audit_position *ret)
{
	*ret = (struct audit_position){0};
	if (rd->n)
		*ret = (struct audit_position){
			.inode = rd->files[rd->at].inode,
			.offset = rd->offset - rd->len,
			.line = rd->line,
		};
}
