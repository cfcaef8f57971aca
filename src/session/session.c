/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See session.h.  Every change is one transaction that begins with the write lock, so that writers queue (for
 * at most LIMIT_SESSION_LOCK_MS) and a process that dies in the middle leaves what was there before.  Sessions
 * beyond LIMIT_SESSIONS push out the one that was not used for the longest time, but never a tainted one:
 * otherwise many new sessions would wash the taint away.
 */
#include "session/session.h"

#include "session/db.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_VERSION 3
#define SESSION_PAGE 4096

static const char session_schema[] =
	"CREATE TABLE session(id TEXT PRIMARY KEY NOT NULL, created INTEGER NOT NULL, used INTEGER "
	"NOT NULL, calls INTEGER NOT NULL DEFAULT 0, marks INTEGER NOT NULL DEFAULT 0, tainted "
	"INTEGER NOT NULL DEFAULT 0, taint TEXT NOT NULL DEFAULT '', lifted INTEGER NOT NULL DEFAULT "
	"0) WITHOUT ROWID;"
	"CREATE INDEX session_used ON session(tainted, used);"
	"CREATE TABLE event(session TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, source "
	"INTEGER NOT NULL, facts INTEGER NOT NULL, tool TEXT NOT NULL, target TEXT NOT NULL, PRIMARY "
	"KEY(session, n)) WITHOUT ROWID;";

/* What came after version 1. */
static const char session_schema_2[] =
	"CREATE TABLE sandbox(id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, workspace TEXT NOT "
	"NULL, policy TEXT NOT NULL, environment BLOB NOT NULL, state INTEGER NOT NULL, why TEXT NOT "
	"NULL, created INTEGER NOT NULL, used INTEGER NOT NULL, paused INTEGER NOT NULL, resumed "
	"INTEGER NOT NULL, keeper INTEGER NOT NULL, started INTEGER NOT NULL, boot TEXT NOT NULL, idle "
	"INTEGER NOT NULL, socket TEXT NOT NULL, guarantees INTEGER NOT NULL, degraded INTEGER NOT "
	"NULL) WITHOUT ROWID;"
	"CREATE UNIQUE INDEX sandbox_name ON sandbox(name) WHERE name <> '';"
	"PRAGMA user_version=2;";

/* After version 2, in which there was one backend for them. */
static const char session_schema_3[] =
	"ALTER TABLE sandbox ADD COLUMN backend TEXT NOT NULL DEFAULT 'native';"
	"PRAGMA user_version=3;";

int session_fail(struct session_store *s, const char *what, struct cordon_error *err)
{
	int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;

	if (code == SQLITE_NOMEM)
		return cordon_nomem(err);
	if (code == SQLITE_FULL)
		return cordon_fail(err, CORDON_E_LIMIT, "session memory: %s: it is full", what);
	if (code == SQLITE_BUSY)
		return cordon_fail(err, CORDON_E_BUSY,
				   "session memory: %s: another process holds it", what);
	if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB)
		return cordon_fail(err, CORDON_E_SYSTEM, "session memory: %s: %s", what,
				   sqlite3_errmsg(s->db));
	return cordon_hint(
		err,
		cordon_fail(err, CORDON_E_CORRUPT, "session memory: %s: %s", what,
			    sqlite3_errmsg(s->db)),
		"what sessions did is not known; move state.db in the state directory away");
}

int session_exec(struct session_store *s, const char *sql, const char *what,
		 struct cordon_error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
								       : session_fail(s, what, err);
}

/* SQLite would make the file with our umask; -wal and -shm take its mode.  Returns a descriptor. */
static int session_make_file(const char *path, struct cordon_error *err)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return cordon_fail_errno(err, errno, "open '%.200s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return cordon_fail(err, CORDON_E_INVALID, "'%.200s' is not a file of ours", path);
	if ((st.st_mode & 077) != 0 && fchmod(fd, 0600) < 0)
		return cordon_fail_errno(err, errno, "close '%.200s' to others", path);
	return TAKE_FD(fd);
}

/*
 * SQLite's own locks do not cover the birth and the death of its log: a process that turns a database to
 * WAL, or the last one that closes it and removes the log, makes another's open fail at once, without any
 * wait.  So coming and going take turns under a lock of our own.  Returns its descriptor.
 */
static int session_lock(const char *path, struct cordon_error *err)
{
	AUTO_CLOSE int fd = session_make_file(path, err);
	int r;

	if (fd < 0)
		return fd;
	r = fd_flock(fd, LOCK_EX, clock_deadline(LIMIT_SESSION_LOCK_MS));
	if (r == -ETIMEDOUT)
		return cordon_fail(err, CORDON_E_BUSY,
				   "session memory: another process holds '%.200s'", path);
	return r < 0 ? cordon_fail_errno(err, -r, "lock '%.200s'", path) : TAKE_FD(fd);
}

static int session_version(struct session_store *s, int *ret, struct cordon_error *err)
{
	sqlite3_stmt *q = NULL;
	int r = 0;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) != SQLITE_OK ||
	    sqlite3_step(q) != SQLITE_ROW)
		r = session_fail(s, "read its version", err);
	else
		*ret = sqlite3_column_int(q, 0);
	(void)sqlite3_finalize(q);
	return r;
}

/* Two processes may come first at the same time: the second finds the tables made. */
static int session_upgrade(struct session_store *s, struct cordon_error *err)
{
	int version = 0;
	int r = session_version(s, &version, err);

	if (r == 0 && version >= 0 && version < SESSION_VERSION) {
		r = session_exec(s, "BEGIN IMMEDIATE", "lock it", err);
		if (r == 0)
			r = session_version(s, &version, err);
		if (r == 0 && version == 0)
			r = session_exec(s, session_schema, "make its tables", err);
		if (r == 0 && (version == 0 || version == 1)) {
			r = session_exec(s, session_schema_2, "make its tables", err);
			version = 2;
		}
		if (r == 0 && version == 2) {
			r = session_exec(s, session_schema_3, "make its tables", err);
			version = SESSION_VERSION;
		}
		if (r == 0)
			r = session_exec(s, "COMMIT", "make its tables", err);
	}
	if (r == 0 && version != SESSION_VERSION)
		return cordon_fail(err, CORDON_E_UNSUPPORTED,
				   "session memory: version %d, this program knows %d", version,
				   SESSION_VERSION);
	return r;
}

int session_open(const char *state_dir, struct session_store **ret, struct cordon_error *err)
{
	AUTO(session_closep) struct session_store *s = calloc(1, sizeof(*s));
	char path[LIMIT_PATH_BYTES];
	char pragmas[160];
	AUTO_CLOSE int lock_fd = -1;
	AUTO_CLOSE int fd = -1;
	int r;

	if (!s)
		return cordon_nomem(err);
	if (snprintf(path, sizeof(path), "%s/state.db", state_dir) >= (int)sizeof(path) ||
	    snprintf(s->lock, sizeof(s->lock), "%s/state.lock", state_dir) >= (int)sizeof(s->lock))
		return cordon_fail(err, CORDON_E_LIMIT, "a state directory with a long name");
	r = path_make_private_dir(state_dir, 0700);
	if (r < 0)
		return cordon_fail_leaf(err, r, "state directory '%.200s'", state_dir);
	lock_fd = session_lock(s->lock, err);
	if (lock_fd < 0)
		return lock_fd;
	fd = session_make_file(path, err);
	if (fd < 0)
		return fd;
	fd = fd_close(fd); /* later, it would take SQLite's locks along */
	if (sqlite3_open_v2(path, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return session_fail(s, "open it", err);
	(void)sqlite3_extended_result_codes(s->db, 0);
	(void)sqlite3_busy_timeout(s->db, LIMIT_SESSION_LOCK_MS);
	/* The log stays when we go, and is folded in when it is long: else every call would wait for the disk four times.
	 * A killed process loses nothing by it, only a machine that stops may lose the last calls. */
	(void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)snprintf(
		pragmas, sizeof(pragmas),
		"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
		"PRAGMA trusted_schema=OFF; PRAGMA max_page_count=%d",
		LIMIT_SESSION_BYTES / SESSION_PAGE);
	r = session_exec(s, pragmas, "set it up", err);
	if (r == 0)
		r = session_upgrade(s, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

void session_close(struct session_store *s)
{
	if (!s)
		return;
	if (s->db) {
		/* Without the lock another's open may fail; not closing would be worse. */
		AUTO_CLOSE int lock_fd = session_lock(s->lock, NULL);

		(void)lock_fd;
		(void)sqlite3_close(s->db);
	}
	free(s);
}

int session_prepare(struct session_store *s, sqlite3_stmt **ret, const char *sql, const char *types,
		    ...)
{
	va_list ap;
	int r = sqlite3_prepare_v2(s->db, sql, -1, ret, NULL);

	va_start(ap, types);
	for (int i = 0; r == SQLITE_OK && types[i]; i++)
		r = types[i] == 'i' ? sqlite3_bind_int64(*ret, i + 1, va_arg(ap, int64_t))
				    : sqlite3_bind_text(*ret, i + 1, va_arg(ap, const char *), -1,
							SQLITE_STATIC);
	va_end(ap);
	return r;
}

void session_column(sqlite3_stmt *q, int column, char *dst, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	(void)snprintf(dst, size, "%s", text ? text : "");
}

#define SESSION_COLUMNS "id, created, used, calls, marks, tainted, taint, lifted"

static void session_read(sqlite3_stmt *q, struct session_info *ret)
{
	*ret = (struct session_info){
		.created_ms = sqlite3_column_int64(q, 1),
		.used_ms = sqlite3_column_int64(q, 2),
		.calls = sqlite3_column_int64(q, 3),
		.marks = (unsigned)sqlite3_column_int(q, 4),
		.tainted_ms = sqlite3_column_int64(q, 5),
		.lifted_ms = sqlite3_column_int64(q, 7),
	};
	session_column(q, 0, ret->id, sizeof(ret->id));
	session_column(q, 6, ret->taint, sizeof(ret->taint));
}

int session_find(struct session_store *s, const char *id, struct session_info *ret,
		 struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q, "SELECT " SESSION_COLUMNS " FROM session WHERE id=?1", "s",
				id, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_step(q);
	if (r == SQLITE_DONE)
		return 0;
	if (r != SQLITE_ROW)
		return session_fail(s, "find the session", err);
	session_read(q, ret);
	return 1;
}

static int session_load(struct session_store *s, const char *id, struct sequence_state *ret,
			struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	struct session_info info;
	int r = session_find(s, id, &info, err);

	*ret = (struct sequence_state){0};
	if (r <= 0)
		return r;
	ret->marks = info.marks;
	r = session_prepare(s, &q,
			    "SELECT facts, tool FROM (SELECT n, facts, tool FROM event WHERE "
			    "session=?1 ORDER BY n DESC LIMIT ?2) ORDER BY n",
			    "si", id, (int64_t)SEQUENCE_RING, NULL);
	if (r == SQLITE_OK)
		while ((r = sqlite3_step(q)) == SQLITE_ROW && ret->n < SEQUENCE_RING) {
			struct sequence_call *call = &ret->calls[ret->n++];

			call->facts = (unsigned)sqlite3_column_int(q, 0);
			session_column(q, 1, call->tool, sizeof(call->tool));
		}
	return r == SQLITE_DONE || r == SQLITE_ROW ? 0 : session_fail(s, "read the session", err);
}

int session_judge(struct session_store *s, const char *id, const struct session_event *event,
		  const struct policy *p, struct findings *ret, struct cordon_error *err)
{
	struct sequence_state state;
	int r = session_load(s, id, &state, err);

	if (r == 0 && sequence_judge(&state, event, p, ret) < 0)
		r = cordon_nomem(err);
	return r;
}

int session_run(struct session_store *s, sqlite3_stmt *q, int prepared, struct cordon_error *err)
{
	if (prepared != SQLITE_OK || sqlite3_step(q) != SQLITE_DONE)
		return session_fail(s, "write to it", err);
	return 0;
}

static int session_make(struct session_store *s, const char *id, int64_t now,
			struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q,
				"INSERT INTO session(id, created, used) VALUES(?1, ?2, ?2) ON "
				"CONFLICT(id) DO UPDATE SET used=?2",
				"si", id, now, NULL);

	return session_run(s, q, r, err);
}

static int session_add_event(struct session_store *s, const char *id, const struct session_event *e,
			     int64_t now, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	AUTO_QUERY sqlite3_stmt *u = NULL;
	char target[512], tool[96];
	bool taints = (e->facts & SESSION_SENSITIVE) != 0;
	int r;

	(void)snprintf(target, sizeof(target), "%s", e->target);
	(void)snprintf(tool, sizeof(tool), "%s", e->tool);
	r = session_prepare(s, &q,
			    "INSERT INTO event(session, n, at, source, facts, tool, target) SELECT "
			    "?1, 1 + coalesce(max(n), 0), ?2, ?3, ?4, ?5, ?6 FROM event WHERE "
			    "session=?1",
			    "siiiss", id, now, (int64_t)e->source, (int64_t)e->facts, tool, target,
			    NULL);
	r = session_run(s, q, r, err);
	if (r < 0)
		return r;
	r = session_prepare(s, &u,
			    "UPDATE session SET calls=calls+1, marks=marks|?2, taint=CASE WHEN ?3 "
			    "AND tainted=0 THEN ?4 ELSE taint END, tainted=CASE WHEN ?3 AND "
			    "tainted=0 THEN ?5 ELSE tainted END WHERE id=?1",
			    "siisi", id, (int64_t)e->facts, (int64_t)taints, target, now, NULL);
	return session_run(s, u, r, err);
}

/* What is beyond the limits goes. */
static int session_prune(struct session_store *s, const char *id, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	AUTO_QUERY sqlite3_stmt *u = NULL;
	AUTO_QUERY sqlite3_stmt *count = NULL;
	int r = session_prepare(s, &q,
				"DELETE FROM event WHERE session=?1 AND n <= (SELECT max(n) FROM "
				"event WHERE session=?1) - ?2",
				"si", id, (int64_t)SEQUENCE_RING, NULL);

	r = session_run(s, q, r, err);
	if (r < 0)
		return r;
	r = session_prepare(s, &u,
			    "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE "
			    "tainted=0 AND id<>?1 ORDER BY used LIMIT max(0, (SELECT count(*) FROM "
			    "session) - ?2))",
			    "si", id, (int64_t)LIMIT_SESSIONS, NULL);
	r = session_run(s, u, r, err);
	if (r < 0)
		return r;
	if (sqlite3_changes(s->db) > 0)
		r = session_exec(s,
				 "DELETE FROM event WHERE session NOT IN (SELECT id FROM session)",
				 "forget old sessions", err);
	if (r < 0)
		return r;
	r = session_prepare(s, &count, "SELECT count(*) FROM session", "", NULL);
	if (r != SQLITE_OK || sqlite3_step(count) != SQLITE_ROW)
		return session_fail(s, "count the sessions", err);
	if (sqlite3_column_int64(count, 0) > LIMIT_SESSIONS)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_LIMIT, "more than %d tainted sessions",
					       LIMIT_SESSIONS),
				   "'cordon session lift' some of them");
	return 0;
}

int session_add(struct session_store *s, const char *id, const struct session_event *events,
		size_t n, struct cordon_error *err)
{
	int64_t now = clock_wall_ms();
	int r;

	if (str_empty(id) || strlen(id) > LIMIT_NAME_BYTES)
		return cordon_fail(err, CORDON_E_INVALID, "a session's name of %zu bytes",
				   id ? strlen(id) : 0);
	r = session_exec(s, "BEGIN IMMEDIATE", "lock it", err);
	if (r < 0)
		return r;
	r = session_make(s, id, now, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = session_add_event(s, id, &events[i], now, err);
	if (r == 0)
		r = session_prune(s, id, err);
	if (r == 0)
		r = session_exec(s, "COMMIT", "write to it", err);
	if (r < 0)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

int session_lift(struct session_store *s, const char *id, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q,
				"UPDATE session SET tainted=0, taint='', marks=0, lifted=?2 WHERE "
				"id=?1",
				"si", id, clock_wall_ms(), NULL);

	r = session_run(s, q, r, err);
	return r < 0 ? r : sqlite3_changes(s->db) > 0;
}

int session_each(struct session_store *s, session_info_fn *fn, void *data, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(
		s, &q, "SELECT " SESSION_COLUMNS " FROM session ORDER BY used DESC, id", "", NULL);

	while (r == SQLITE_OK || r == SQLITE_ROW) {
		struct session_info info;

		r = sqlite3_step(q);
		if (r == SQLITE_ROW) {
			session_read(q, &info);
			fn(data, &info);
		}
	}
	return r == SQLITE_DONE ? 0 : session_fail(s, "list the sessions", err);
}

int session_past(struct session_store *s, const char *id, session_past_fn *fn, void *data,
		 struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(
		s, &q,
		"SELECT at, source, facts, tool, target FROM event WHERE session=?1 "
		"ORDER BY n",
		"s", id, NULL);

	while (r == SQLITE_OK || r == SQLITE_ROW) {
		r = sqlite3_step(q);
		if (r == SQLITE_ROW) {
			struct session_past past = {
				.at_ms = sqlite3_column_int64(q, 0),
				.source = (enum session_source)sqlite3_column_int(q, 1),
				.facts = (unsigned)sqlite3_column_int(q, 2),
				.tool = (const char *)sqlite3_column_text(q, 3),
				.target = (const char *)sqlite3_column_text(q, 4),
			};

			fn(data, &past);
		}
	}
	return r == SQLITE_DONE ? 0 : session_fail(s, "read the session", err);
}
