/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit trail: who asked for what, what was decided, what became of it.  Append-only lines of
 * JSON in <state dir>/audit.ndjson, each chained to the one before by SHA-256.
 *
 * Theory of operation
 *
 * A record is one line, an object whose members stand in this order:
 *
 *   {"ts":"2026-01-02T03:04:05.678Z","seq":7,"id":"0123456789abcdef","type":"call",
 *    "session_id":S,"call_id":S,"decision":S,"rule":S,"actor":{"pid":1,"uid":0[,"exe":"…"]},
 *    <the caller's members>,"prev_hash":"<64 hex>","hash":"<64 hex>"}
 *
 * where S is a string or null.  hash is the SHA-256, in lower-case hex, of the exact bytes of the line
 * from its first brace up to and not including `,"hash":"`; so prev_hash is among the hashed bytes,
 * and the newline is not.  prev_hash is the hash of the record before, 64 zeros for the first record of
 * a log.  seq counts 1, 2, 3… over the life of the log, across files.
 *
 * Files.  audit.ndjson is the current file.  When a record would take it beyond max_file_bytes it is
 * renamed to audit-<seq of its first record, 12 digits>.ndjson, and whoever next finds no current file
 * makes one.  An empty current file means: continue the newest rotated file, with an audit.rotate
 * record that names it and its head; or, when there is none, a new log with an audit.open record.
 * So no moment between rename and creation needs to be guarded: any writer can go on from it.
 *
 * Writers hold flock(LOCK_EX) on the current file, opened anew for each record, and check under the
 * lock that the name still leads to the locked inode (otherwise it was rotated meanwhile: try again).
 * All of a record goes out in one write at the end of the last complete line.
 *
 * Torn tails.  A writer that is killed in its write leaves bytes without a newline at the end.  The
 * next one, under the lock, (1) appends them to audit.torn behind a header with offset, length and
 * SHA-256, (2) writes its own records over them, an audit.repair with the count and hash first, and
 * (3) cuts what still sticks out behind.  Killed anywhere in this, it leaves a torn tail again and the
 * bytes in audit.torn: nothing is cut before the record of it is in the log.
 *
 * What an acknowledged record survives: the death of any process.  Power loss only with AUDIT_SYNC.
 *
 * What the chain shows and what not.  A changed, missing, moved or inserted record breaks it.  Complete
 * records missing from the very end do not, and whoever may write the file may build a whole new chain:
 * against both compare with a head noted elsewhere (struct audit_receipt; audit_verify's want_head).
 *
 * Secrets.  The trail stores what it is given.  Callers give inputs as audit_hash_argv() unless the
 * policy asks for more (audit.log_inputs), and never a secret's value, not even then: redact first.
 */
#pragma once

#include "audit/event.h"
#include "base/error.h"
#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each record is on the disk (fdatasync, and fsync of the directory for new names) before it is
 * acknowledged. */
#define AUDIT_SYNC (1U << 0)

/* Zero is a default everywhere. */
struct audit_options {
	size_t struct_size; /* sizeof(struct audit_options) */
	const char *dir;    /* state directory; default env_state_dir() */
	unsigned flags;     /* AUDIT_SYNC */
	unsigned kept; /* rotated files kept, at most LIMIT_AUDIT_FILES / 2; LIMIT_AUDIT_KEPT */
	uint64_t max_file_bytes; /* rotate beyond; LIMIT_AUDIT_FILE */
	int64_t retention_ms; /* delete rotated files last written longer ago; 0: only by number */
	int64_t lock_ms;      /* wait for other writers; LIMIT_AUDIT_LOCK_MS */
	const char *exe;      /* actor.exe; left out when NULL */
};

/* One thing to record.  Borrows everything; NULL strings are written as null. */
struct audit_event {
	enum audit_event_type type; /* not one of audit.* */
	const char *session_id;
	const char *call_id;
	const char *decision; /* allow, deny, constrain, block, dry-run… */
	const char *rule;     /* what decided */
	/* Further members of the object as JSON text, without braces: `"a":1,"b":[2]`.  Checked: they must be
	 * well-formed, without duplicates and with none of the names above.  Names that the readers know:
	 * "verdict" (SAFE…, or an object with "verdict" and "findings"), "findings" (as in a report),
	 * "target" ({"host","port"}), "argv_hash", "cwd", "exit_code", "message". */
	const char *body;
	size_t body_len;
};

struct audit_receipt {
	uint64_t seq;
	char hash[SHA256_HEX_LEN];
};

struct audit;

/* Gives a writer.  Touches nothing on disk: directory and file are made by the first record. */
CORDON_MUST_CHECK int audit_open(const struct audit_options *options, struct audit **ret,
				 struct cordon_error *err);
/* Appends one record; ret (may be NULL) says which.  On any error the record is not acknowledged and the
 * caller must not do what it wanted to record.  CORDON_E_CORRUPT: the log's end is not what a writer left;
 * CORDON_E_BUSY: the lock was not free in time; CORDON_E_INVALID: the body; CORDON_E_LIMIT: too long.
 * A caller with a file size limit must ignore SIGXFSZ. */
CORDON_MUST_CHECK int audit_append(struct audit *a, const struct audit_event *ev,
				   struct audit_receipt *ret, struct cordon_error *err);
/* Deletes rotated files beyond number and age, each with a record.  Rotation does it too; this is for
 * logs that grow slowly.  Returns the number of deleted files. */
CORDON_MUST_CHECK int audit_expire(struct audit *a, struct cordon_error *err);
/* Frees; takes NULL. */
void audit_close(struct audit *a);

static inline void audit_closep(struct audit **a)
{
	audit_close(*a);
}

#define AUDIT_ARGV_HASH_LEN (7 + SHA256_HEX_LEN) /* "sha256:", 64 hex, NUL */
/* The words joined by NUL bytes (none at the end), hashed: equal calls give equal values, and nothing of
 * the words can be read from them but by guessing them whole. */
void audit_hash_argv(char *const *argv, char ret_hash[static AUDIT_ARGV_HASH_LEN]);
