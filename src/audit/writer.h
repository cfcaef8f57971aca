/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a writer, shared by audit.c, rotate.c and repair.c.  Everything here but audit_make_id()
 * runs under the lock.
 */
#pragma once

#include "audit/store.h"

struct audit {
	char *dir;
	char *exe;
	int dirfd; /* -1 until the first record */
	unsigned flags;
	unsigned kept;
	uint64_t max_file_bytes;
	int64_t retention_ms;
	int64_t lock_ms;
	size_t expired;     /* files deleted by the last append */
	struct buf middle;  /* the caller's record */
	struct buf scratch; /* the end of the file */
	struct buf batch;   /* what will be written */
};

/* Rotated files that go when the record of it is written. */
struct audit_expiry {
	struct audit_files files;
};

void audit_expiry_done(struct audit_expiry *expiry);

CORDON_MUST_CHECK int audit_make_id(char ret_id[static 17], struct cordon_error *err);
/* Adds one of the audit.* records to the batch and moves *head on. */
CORDON_MUST_CHECK int audit_batch_own(struct audit *a, struct audit_head *head,
				      enum audit_event_type type, const struct buf *body,
				      struct cordon_error *err);
/* Renames the current file, which is locked and ends with a complete line. */
CORDON_MUST_CHECK int audit_rotate(struct audit *a, int fd, struct cordon_error *err);
/* First records of an empty file: where the chain comes from.  Sets *head and fills the batch. */
CORDON_MUST_CHECK int audit_begin_file(struct audit *a, struct audit_head *head,
				       struct audit_expiry *expiry, struct cordon_error *err);
/* Finds what retention deletes and records it.  *expiry owns the list. */
CORDON_MUST_CHECK int audit_expiry_plan(struct audit *a, struct audit_head *head,
					struct audit_expiry *expiry, struct cordon_error *err);
/* Deletes.  Only after the records are written: a file without its record would look like an attack. */
void audit_expiry_apply(struct audit *a, const struct audit_expiry *expiry);
/* Saves the torn bytes to audit.torn and adds the audit.repair record. */
CORDON_MUST_CHECK int audit_repair(struct audit *a, const struct audit_tail *tail,
				   struct audit_head *head, struct cordon_error *err);
