/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the trail, oldest record first, over all files, with the memory of one record.  A reader sees the
 * log as it was when it was opened: it takes the lock for that moment only, so that it never meets a
 * line half written, and writers never wait for it.
 */
#pragma once

#include "audit/line.h"

/* Where a reader stands; lets another one go on from there, also across rotation. */
struct audit_position {
	uint64_t inode; /* 0: from the beginning */
	uint64_t offset;
	uint64_t line;
};

struct audit_reader;

/* Gives a reader of the log in dir (NULL: env_state_dir()).  A directory or log that is not there reads as
 * empty.  from may be NULL; a file that is gone meanwhile means from the beginning. */
CORDON_MUST_CHECK int audit_reader_open(const char *dir, const struct audit_position *from,
					struct audit_reader **ret, struct cordon_error *err);
void audit_reader_close(struct audit_reader *r);

static inline void audit_reader_closep(struct audit_reader **r)
{
	audit_reader_close(*r);
}

/* What a step of audit_reader_raw() found. */
enum audit_step {
	AUDIT_STEP_END,  /* of the log */
	AUDIT_STEP_LINE, /* a line */
	AUDIT_STEP_TORN, /* bytes without a newline at the end of a file */
	AUDIT_STEP_LONG, /* a line beyond LIMIT_AUDIT_RECORD; the reader stops there */
	AUDIT_STEP_COUNT
};

/* The next line as bytes, unchecked and without its newline; borrowed until the next call. */
CORDON_MUST_CHECK int audit_reader_raw(struct audit_reader *r, enum audit_step *ret_step,
				       const char **ret_text, size_t *ret_len,
				       struct cordon_error *err);
/* The next record: 1 and *ret (give it to audit_line_done() before the next call), 0 at the end, or an
 * error that names file and line.  A wrong hash is an error; a torn end is the end. */
CORDON_MUST_CHECK int audit_reader_next(struct audit_reader *r, struct audit_line *ret,
					struct cordon_error *err);
/* Moves to the last n lines of what there is. */
CORDON_MUST_CHECK int audit_reader_seek_last(struct audit_reader *r, uint64_t n,
					     struct cordon_error *err);
/* Of the line given last: the file's name (borrowed) and the line in it, from 1. */
const char *audit_reader_file(const struct audit_reader *r);
uint64_t audit_reader_line(const struct audit_reader *r);
/* The seq that the current file's name announces; 0 for the current file. */
uint64_t audit_reader_file_seq(const struct audit_reader *r);
/* Behind the line given last. */
void audit_reader_tell(const struct audit_reader *r, struct audit_position *ret);
