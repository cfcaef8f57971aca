/* SPDX-License-Identifier: Apache-2.0 */
/* See sandbox.h. */
#include "session/sandbox.h"

#include "session/db.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SANDBOX_ID_PREFIX "sb-"

#define SANDBOX_COLUMNS                                                                            \
	"id, name, workspace, policy, environment, state, why, created, used, paused, resumed, "   \
	"keeper, started, boot, idle, socket, guarantees, degraded, backend"

static const char *const sandbox_state_words[SANDBOX_STATE_COUNT] = {
#define SANDBOX_STATE_WORD(id, word) [SANDBOX_##id] = word,
	SANDBOX_STATE_TABLE(SANDBOX_STATE_WORD)
#undef SANDBOX_STATE_WORD
};

const char *sandbox_state_word(enum sandbox_state state)
{
	return (unsigned)state < SANDBOX_STATE_COUNT ? sandbox_state_words[state] : "error";
}

void sandbox_row_done(struct sandbox_row *row)
{
	if (!row)
		return;
	free(row->workspace);
	free(row->policy);
	free(row->socket);
	strv_done(&row->environment);
	*row = (struct sandbox_row){0};
}

int sandbox_check_name(const char *name, struct cordon_error *err)
{
	size_t len = strlen(name);
	bool is_bad = len == 0 || len >= SANDBOX_NAME_LEN || name[0] == '.' || name[0] == '_' ||
		      name[0] == '-' || str_starts(name, SANDBOX_ID_PREFIX);

	for (size_t i = 0; !is_bad && i < len; i++)
		is_bad = !((name[i] >= 'a' && name[i] <= 'z') ||
			   (name[i] >= 'A' && name[i] <= 'Z') ||
			   (name[i] >= '0' && name[i] <= '9') || strchr("._-", name[i]));
	if (!is_bad)
		return 0;
	return cordon_hint(
		err, cordon_fail(err, CORDON_E_INVALID, "'%.100s' is no name for a sandbox", name),
		"at most %d letters, digits, '.', '_' and '-', a letter or digit first, "
		"not beginning with '" SANDBOX_ID_PREFIX "'",
		SANDBOX_NAME_LEN - 1);
}

/* The environment is kept as strings with their NULs, one after the other. */
static int sandbox_bind(sqlite3_stmt *q, const struct sandbox_row *row, struct buf *environment)
{
	const char *const texts[] = {row->id, row->name, row->workspace, row->policy};
	const int64_t numbers[] = {row->created_ms, row->used_ms, row->paused_ms,
				   row->resumed_ms, row->keeper,  row->started};
	int r = SQLITE_OK;

	for (size_t i = 0; i < row->environment.n; i++)
		buf_add(environment, row->environment.v[i], strlen(row->environment.v[i]) + 1);
	if (buf_error(environment) < 0)
		return SQLITE_TOOBIG;
	for (int i = 0; r == SQLITE_OK && i < 4; i++)
		r = sqlite3_bind_text(q, 1 + i, texts[i] ? texts[i] : "", -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_blob(q, 5, buf_cstr(environment), (int)environment->len,
				      SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_int(q, 6, (int)row->state);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(q, 7, row->why, -1, SQLITE_STATIC);
	for (int i = 0; r == SQLITE_OK && i < (int)ARRAY_LEN(numbers); i++)
		r = sqlite3_bind_int64(q, 8 + i, numbers[i]);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(q, 14, row->boot, -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_int64(q, 15, row->idle_ms);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(q, 16, row->socket ? row->socket : "", -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_int64(q, 17, (int64_t)row->guarantees);
	if (r == SQLITE_OK)
		r = sqlite3_bind_int64(q, 18, (int64_t)row->degraded);
	return r == SQLITE_OK ? sqlite3_bind_text(q, 19, row->backend, -1, SQLITE_STATIC) : r;
}

static int sandbox_copy(sqlite3_stmt *q, int column, char **ret)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	*ret = strdup(text ? text : "");
	return *ret ? 0 : -ENOMEM;
}

/* Whoever wrote the last string ended it; a blob that does not is damaged. */
static int sandbox_read_environment(sqlite3_stmt *q, int column, struct strv *ret)
{
	const char *p = sqlite3_column_blob(q, column);
	size_t left = (size_t)sqlite3_column_bytes(q, column);

	while (p && left > 0) {
		size_t len = strnlen(p, left);
		int r = len < left ? strv_add(ret, p) : -EINVAL;

		if (r < 0)
			return r;
		p += len + 1;
		left -= len + 1;
	}
	return 0;
}

static int sandbox_read(struct session_store *s, sqlite3_stmt *q, struct sandbox_row *ret,
			struct cordon_error *err)
{
	struct sandbox_row row = {
		.state = (enum sandbox_state)sqlite3_column_int(q, 5),
		.created_ms = sqlite3_column_int64(q, 7),
		.used_ms = sqlite3_column_int64(q, 8),
		.paused_ms = sqlite3_column_int64(q, 9),
		.resumed_ms = sqlite3_column_int64(q, 10),
		.keeper = sqlite3_column_int64(q, 11),
		.started = sqlite3_column_int64(q, 12),
		.idle_ms = sqlite3_column_int64(q, 14),
		.guarantees = (uint64_t)sqlite3_column_int64(q, 16),
		.degraded = (uint64_t)sqlite3_column_int64(q, 17),
	};
	int r;

	(void)s;
	session_column(q, 0, row.id, sizeof(row.id));
	session_column(q, 1, row.name, sizeof(row.name));
	session_column(q, 6, row.why, sizeof(row.why));
	session_column(q, 13, row.boot, sizeof(row.boot));
	session_column(q, 18, row.backend, sizeof(row.backend));
	if ((unsigned)row.state >= SANDBOX_STATE_COUNT)
		row.state = SANDBOX_ERROR;
	r = sandbox_copy(q, 2, &row.workspace);
	if (r == 0)
		r = sandbox_copy(q, 3, &row.policy);
	if (r == 0)
		r = sandbox_copy(q, 15, &row.socket);
	if (r == 0)
		r = sandbox_read_environment(q, 4, &row.environment);
	if (r < 0) {
		sandbox_row_done(&row);
		return r == -ENOMEM ? cordon_nomem(err)
				    : cordon_fail(err, CORDON_E_CORRUPT,
						  "the state of a sandbox is damaged");
	}
	*ret = row;
	return 0;
}

static int sandbox_count(struct session_store *s, const char *name, int64_t *ret_all,
			 int64_t *ret_named, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q,
				"SELECT count(*), coalesce(sum(name<>'' AND name=?1), 0) FROM "
				"sandbox",
				"s", name, NULL);

	if (r != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
		return session_fail(s, "count the sandboxes", err);
	*ret_all = sqlite3_column_int64(q, 0);
	*ret_named = sqlite3_column_int64(q, 1);
	return 0;
}

static int sandbox_insert(struct session_store *s, const struct sandbox_row *row,
			  struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	struct buf environment = BUF_INIT(LIMIT_ARG_BYTES);
	int r = session_prepare(s, &q,
				"INSERT INTO sandbox(" SANDBOX_COLUMNS
				") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,"
				"?15,?16,?17,?18,?19)",
				"", NULL);

	if (r == SQLITE_OK)
		r = sandbox_bind(q, row, &environment);
	r = r == SQLITE_TOOBIG ? cordon_fail(err, CORDON_E_LIMIT, "an environment of that size")
			       : session_run(s, q, r, err);
	buf_done(&environment);
	return r;
}

int sandbox_add(struct session_store *s, const struct sandbox_row *row, int64_t max,
		struct cordon_error *err)
{
	int64_t all = 0;
	int64_t named = 0;
	int r = session_exec(s, "BEGIN IMMEDIATE", "lock it", err);

	if (r < 0)
		return r;
	r = sandbox_count(s, row->name, &all, &named, err);
	if (r == 0 && named > 0)
		r = cordon_fail(err, CORDON_E_INVALID, "there is a sandbox '%s' already",
				row->name);
	if (r == 0 && all >= max)
		r = cordon_hint(err,
				cordon_fail(err, CORDON_E_LIMIT, "there are %lld sandboxes already",
					    (long long)all),
				"'cordon sandbox rm' or 'cordon sandbox cleanup' some of them");
	if (r == 0)
		r = sandbox_insert(s, row, err);
	if (r == 0)
		r = session_exec(s, "COMMIT", "write to it", err);
	if (r < 0)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* Looks with one condition.  Returns how many there are (at most 2), *ret the first. */
static int sandbox_look(struct session_store *s, const char *sql, const char *word,
			struct sandbox_row *ret, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int n = 0;
	int r = session_prepare(s, &q, sql, "s", word, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_step(q);
	if (r == SQLITE_ROW) {
		r = sandbox_read(s, q, ret, err);
		if (r < 0)
			return r;
		n = 1;
		r = sqlite3_step(q);
	}
	if (r == SQLITE_ROW) {
		sandbox_row_done(ret);
		return 2;
	}
	return r == SQLITE_DONE ? n : session_fail(s, "find the sandbox", err);
}

int sandbox_find(struct session_store *s, const char *word, struct sandbox_row *ret,
		 struct cordon_error *err)
{
	size_t prefix = strlen(SANDBOX_ID_PREFIX);
	bool is_id = str_starts(word, SANDBOX_ID_PREFIX);
	int n;

	/* '_' and '%' of LIKE are no hex digits, and names hold no '%'. */
	if (is_id && word[prefix + strspn(word + prefix, "0123456789abcdef")] == '\0' &&
	    word[prefix])
		n = sandbox_look(s,
				 "SELECT " SANDBOX_COLUMNS
				 " FROM sandbox WHERE id LIKE ?1||'%' ORDER BY id LIMIT 2",
				 word, ret, err);
	else
		n = is_id ? 0
			  : sandbox_look(s,
					 "SELECT " SANDBOX_COLUMNS
					 " FROM sandbox WHERE name<>'' AND name=?1",
					 word, ret, err);
	if (n < 0)
		return n;
	if (n > 1)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "'%.100s' is the beginning of more than one id",
					       word),
				   "write more of it");
	if (n == 0)
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_NOT_FOUND, "no sandbox '%.100s'", word),
			"'cordon sandbox list' lists them");
	return 0;
}

int sandbox_update(struct session_store *s, const struct sandbox_row *row, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(
		s, &q,
		"UPDATE sandbox SET state=?2, why=?3, used=?4, paused=?5, resumed=?6, keeper=?7, "
		"started=?8, boot=?9, socket=?10, guarantees=?11, degraded=?12 WHERE id=?1",
		"sisiiiiissii", row->id, (int64_t)row->state, row->why, row->used_ms,
		row->paused_ms, row->resumed_ms, row->keeper, row->started, row->boot,
		row->socket ? row->socket : "", (int64_t)row->guarantees, (int64_t)row->degraded,
		NULL);

	r = session_run(s, q, r, err);
	if (r == 0 && sqlite3_changes(s->db) == 0)
		r = cordon_fail(err, CORDON_E_NOT_FOUND, "sandbox '%s' is gone", row->id);
	return r;
}

int sandbox_remove(struct session_store *s, const char *id, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q, "DELETE FROM sandbox WHERE id=?1", "s", id, NULL);

	return session_run(s, q, r, err);
}

int sandbox_list(struct session_store *s, struct sandbox_list *ret, struct cordon_error *err)
{
	AUTO_QUERY sqlite3_stmt *q = NULL;
	int r = session_prepare(s, &q,
				"SELECT " SANDBOX_COLUMNS " FROM sandbox ORDER BY created DESC, id",
				"", NULL);

	*ret = (struct sandbox_list){0};
	while (r == SQLITE_OK || r == SQLITE_ROW) {
		r = sqlite3_step(q);
		if (r != SQLITE_ROW)
			break;
		if (mem_grow((void **)&ret->rows, &ret->cap, ret->n + 1, sizeof(*ret->rows),
			     LIMIT_SANDBOXES) < 0)
			return cordon_nomem(err);
		if (sandbox_read(s, q, &ret->rows[ret->n], err) < 0)
			return err ? err->code : CORDON_E_CORRUPT;
		ret->n++;
	}
	return r == SQLITE_DONE ? 0 : session_fail(s, "list the sandboxes", err);
}

void sandbox_list_done(struct sandbox_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		sandbox_row_done(&l->rows[i]);
	free(l->rows);
	*l = (struct sandbox_list){0};
}
