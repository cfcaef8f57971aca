/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the audit trail: their names, opening them safely, the lock, the end of a file, and the
 * list of rotated files.  Private to this folder; the rules are in audit.h.
 */
#pragma once

#include "audit/line.h"

#include <sys/types.h>

#define AUDIT_FILE "audit.ndjson"
#define AUDIT_TORN_FILE "audit.torn"

enum { AUDIT_NAME_LEN = 40 };

struct audit_file {
	char name[AUDIT_NAME_LEN];
	uint64_t first_seq; /* from the name */
	int64_t mtime_ms;
};

/* Rotated files, oldest first. */
struct audit_files {
	struct audit_file *v;
	size_t n;
	size_t cap;
};

/* The end of a file. */
struct audit_tail {
	uint64_t end;           /* behind the last complete line; 0: there is none */
	size_t torn;            /* bytes behind that */
	const char *torn_bytes; /* borrowed from the scratch buffer */
	struct audit_head head; /* of the last complete line */
};

/* Opens the state directory, which must be ours and writable by nobody else.  Makes it when make.
 * CORDON_E_NOT_FOUND when it is not there. */
CORDON_MUST_CHECK int audit_store_open_dir(const char *dir, bool make, int *ret_fd,
					   struct cordon_error *err);
/* Opens one of the files: regular, ours, no symbolic link, not writable by others.  CORDON_E_NOT_FOUND
 * without O_CREAT; CORDON_E_CORRUPT when it is something else. */
CORDON_MUST_CHECK int audit_store_open_file(int dirfd, const char *name, int flags, int *ret_fd,
					    uint64_t *ret_size, struct cordon_error *err);
/* Opens the current file and locks it (flock's operation) until the deadline; what comes back is the file
 * that has the name now.  CORDON_E_NOT_FOUND without O_CREAT; CORDON_E_BUSY. */
CORDON_MUST_CHECK int audit_store_lock(int dirfd, int flags, int operation, int64_t deadline_ms,
				       int *ret_fd, uint64_t *ret_size, struct cordon_error *err);
/* Unlocks and closes; takes -1. */
void audit_store_unlock(int fd);

static inline void audit_store_unlockp(int *fd)
{
	audit_store_unlock(*fd);
}

#define AUTO_UNLOCK AUTO(audit_store_unlockp)

/* Reads and checks the end of a file of that size.  CORDON_E_CORRUPT when it is not a writer's work. */
CORDON_MUST_CHECK int audit_store_tail(int fd, uint64_t size, const char *name, struct buf *scratch,
				       struct audit_tail *ret, struct cordon_error *err);
/* Lists the rotated files.  CORDON_E_LIMIT beyond LIMIT_AUDIT_FILES. */
CORDON_MUST_CHECK int audit_store_list(int dirfd, struct audit_files *ret,
				       struct cordon_error *err);
void audit_files_done(struct audit_files *files);
void audit_store_rotated_name(uint64_t first_seq, char ret_name[static AUDIT_NAME_LEN]);
/* pread() until len bytes or the end of the file.  The count or -errno. */
CORDON_MUST_CHECK ssize_t audit_store_read(int fd, char *dst, size_t len, uint64_t offset);
