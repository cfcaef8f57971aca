/* SPDX-License-Identifier: Apache-2.0 */
/* See verify.h. */
#include "audit/verify.h"

#include "audit/reader.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	const char *text;
} damage_rows[] = {
#define AUDIT_DAMAGE_ROW(id, word, text) [AUDIT_DAMAGE_##id] = {word, text},
	AUDIT_DAMAGE_TABLE(AUDIT_DAMAGE_ROW)
#undef AUDIT_DAMAGE_ROW
};
static_assert(ARRAY_LEN(damage_rows) == AUDIT_DAMAGE_COUNT, "one row for each kind of damage");

const char *audit_damage_word(enum audit_damage damage)
{
	return damage < AUDIT_DAMAGE_COUNT ? damage_rows[damage].word : "unknown";
}

const char *audit_damage_text(enum audit_damage damage)
{
	return damage < AUDIT_DAMAGE_COUNT ? damage_rows[damage].text : "unknown damage";
}

struct verify {
	struct audit_reader *reader;
	const struct audit_head *want;
	struct audit_verify_result *result;
	char first_prev[SHA256_HEX_LEN]; /* of the first record that is there */
	char first_file[AUDIT_NAME_LEN];
	bool is_head_explained;
	bool has_want;
};

static void verify_note(struct verify *v, enum audit_damage damage)
{
	v->result->damage = damage;
	v->result->line = audit_reader_line(v->reader);
	(void)snprintf(v->result->file, sizeof(v->result->file), "%s",
		       audit_reader_file(v->reader));
}

/* Does this record say that retention deleted everything before the first one that is there? */
static void verify_expire(struct verify *v, const struct audit_line *line)
{
	const char *head = audit_line_str(line, "head");
	int64_t last = 0;

	v->result->expired++;
	if (head && audit_line_int(line, "last_seq", &last) && last > 0 &&
	    (uint64_t)last + 1 == v->result->first_seq && strcmp(head, v->first_prev) == 0)
		v->is_head_explained = true;
}

static void verify_first(struct verify *v, const struct audit_line *line)
{
	bool is_start = line->head.seq == 1 && strcmp(line->prev_hash, AUDIT_ZERO_HASH) == 0;

	v->result->first_seq = line->head.seq;
	memcpy(v->first_prev, line->prev_hash, sizeof(v->first_prev));
	(void)snprintf(v->first_file, sizeof(v->first_file), "%s", audit_reader_file(v->reader));
	v->is_head_explained = is_start;
}

static enum audit_damage verify_link(const struct verify *v, const struct audit_line *line)
{
	const struct audit_head *head = &v->result->head;
	uint64_t announced = audit_reader_file_seq(v->reader);

	if (!line->is_hash_right)
		return AUDIT_DAMAGE_EDITED;
	if (v->result->records > 0) {
		if (line->head.seq <= head->seq)
			return AUDIT_DAMAGE_REORDERED;
		if (line->head.seq > head->seq + 1)
			return AUDIT_DAMAGE_REMOVED;
		if (strcmp(line->prev_hash, head->hash) != 0)
			return AUDIT_DAMAGE_FORGED;
	} else if (line->head.seq == 1 && strcmp(line->prev_hash, AUDIT_ZERO_HASH) != 0) {
		return AUDIT_DAMAGE_FORGED;
	}
	if (audit_reader_line(v->reader) == 1 && announced != 0 && announced != line->head.seq)
		return AUDIT_DAMAGE_FILE_NAME;
	return AUDIT_DAMAGE_NONE;
}

/* Takes one parsed record.  false: damage, which is noted. */
static bool verify_record(struct verify *v, const struct audit_line *line)
{
	enum audit_damage damage = verify_link(v, line);

	if (damage != AUDIT_DAMAGE_NONE) {
		verify_note(v, damage);
		return false;
	}
	if (v->result->records++ == 0)
		verify_first(v, line);
	if (audit_reader_line(v->reader) == 1)
		v->result->files++;
	v->result->head = line->head;
	if (v->want && v->want->seq == line->head.seq)
		v->has_want = strcmp(v->want->hash, line->head.hash) == 0;
	v->result->repairs += line->event == AUDIT_EVENT_AUDIT_REPAIR;
	v->result->unknown += line->event == AUDIT_EVENT_COUNT;
	if (line->event == AUDIT_EVENT_AUDIT_EXPIRE)
		verify_expire(v, line);
	return true;
}

/* One step.  1 to go on, 0 when the log or the proof ends here. */
static int verify_step(struct verify *v, struct cordon_error *err)
{
	enum audit_line_fault fault = AUDIT_LINE_LONG;
	enum audit_step step = AUDIT_STEP_END;
	struct audit_line line = {0};
	const char *text = NULL;
	size_t len = 0;
	bool is_good;
	int r;

	r = audit_reader_raw(v->reader, &step, &text, &len, err);
	if (r < 0 || step == AUDIT_STEP_END)
		return r;
	if (step == AUDIT_STEP_TORN) {
		verify_note(v, AUDIT_DAMAGE_TORN);
		v->result->torn_bytes = len;
		/* Only the end of the current file may be torn: rotation starts from a complete line. */
		if (audit_reader_file_seq(v->reader) != 0) {
			v->result->damage = AUDIT_DAMAGE_MALFORMED;
			v->result->fault = AUDIT_LINE_JSON;
		}
		return 0;
	}
	r = 0;
	if (step == AUDIT_STEP_LINE)
		r = audit_line_parse(text, len, &line, &fault, err);
	if (r == CORDON_E_NOMEM)
		return r;
	if (step != AUDIT_STEP_LINE || r < 0) {
		cordon_error_clear(err); /* it is the result, not an error */
		verify_note(v, AUDIT_DAMAGE_MALFORMED);
		v->result->fault = fault;
		return 0;
	}
	is_good = verify_record(v, &line);
	audit_line_done(&line);
	return is_good;
}

/* Records are missing here; when the next one in number stands further on, they were only moved. */
static int verify_search_moved(struct verify *v, struct cordon_error *err)
{
	const struct audit_head *head = &v->result->head;

	for (;;) {
		enum audit_step step = AUDIT_STEP_END;
		char prev[SHA256_HEX_LEN];
		struct audit_head other;
		const char *text = NULL;
		size_t len = 0;
		int r = audit_reader_raw(v->reader, &step, &text, &len, err);

		if (r < 0)
			return r;
		if (step != AUDIT_STEP_LINE)
			return 0;
		if (audit_line_head(text, len, &other, prev) == AUDIT_LINE_OK &&
		    other.seq == head->seq + 1 && strcmp(prev, head->hash) == 0) {
			v->result->damage = AUDIT_DAMAGE_REORDERED;
			return 0;
		}
	}
}

int audit_verify(const char *dir, const struct audit_head *want_head,
		 struct audit_verify_result *ret, struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verify_result result = {0};
	struct verify v = {.want = want_head, .result = &result};
	int r;

	r = audit_reader_open(dir, /* from= */ NULL, &reader, err);
	if (r < 0)
		return r;
	v.reader = reader;
	do
		r = verify_step(&v, err);
	while (r > 0);
	if (r == 0 && result.damage == AUDIT_DAMAGE_REMOVED)
		r = verify_search_moved(&v, err);
	if (r < 0)
		return r;
	if ((result.damage == AUDIT_DAMAGE_NONE || result.damage == AUDIT_DAMAGE_TORN) &&
	    result.records > 0 && !v.is_head_explained) {
		result.damage = AUDIT_DAMAGE_HEAD_MISSING;
		result.line = 1;
		memcpy(result.file, v.first_file, sizeof(result.file));
	} else if ((result.damage == AUDIT_DAMAGE_NONE || result.damage == AUDIT_DAMAGE_TORN) &&
		   want_head && !v.has_want) {
		verify_note(&v, AUDIT_DAMAGE_TAIL_MISSING);
	}
	result.is_intact = result.damage == AUDIT_DAMAGE_NONE || result.damage == AUDIT_DAMAGE_TORN;
	*ret = result;
	return 0;
}
