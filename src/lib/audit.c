/* SPDX-License-Identifier: Apache-2.0 */
/* The audit trail for readers. */
#include "lib/border.h"

#include "audit/query.h"
#include "audit/verify.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof(((struct cordon_audit_result *)NULL)->head_hash) == SHA256_HEX_LEN &&
		      sizeof(((struct cordon_audit_result *)NULL)->file) >= AUDIT_NAME_LEN,
	      "sizes differ");

static int audit_want(uint64_t seq, const char *hash, struct audit_head *ret,
		      struct cordon_error *err)
{
	if (strlen(hash) != SHA256_HEX_LEN - 1 ||
	    strspn(hash, "0123456789abcdef") != SHA256_HEX_LEN - 1)
		return cordon_fail(err, CORDON_E_INVALID, "want_hash is not 64 hexadecimal digits");
	ret->seq = seq;
	memcpy(ret->hash, hash, SHA256_HEX_LEN);
	return 0;
}

static void audit_result(const struct audit_verify_result *v, struct cordon_audit_result *ret)
{
	ret->intact = v->is_intact;
	ret->damage = audit_damage_word(v->damage);
	ret->text = audit_damage_text(v->damage);
	ret->records = v->records;
	ret->files = v->files;
	ret->first_seq = v->first_seq;
	ret->head_seq = v->head.seq;
	ret->torn_bytes = v->torn_bytes;
	ret->line = v->line;
	memcpy(ret->head_hash, v->head.hash, sizeof(ret->head_hash));
	(void)snprintf(ret->file, sizeof(ret->file), "%s", v->file);
}

int cordon_audit_verify(const char *dir, uint64_t want_seq, const char *want_hash,
			struct cordon_audit_result *ret, struct cordon_error *err)
{
	struct cordon_audit_result out = {.struct_size = sizeof(out)};
	struct audit_verify_result v = {0};
	struct audit_head want = {0};
	int r;

	lib_enter(err);
	r = lib_struct_check(ret, "struct cordon_audit_result", err);
	if (r == 0 && want_hash)
		r = audit_want(want_seq, want_hash, &want, err);
	if (r == 0)
		r = audit_verify(dir, want_hash ? &want : NULL, &v, err);
	if (r < 0)
		return lib_leave(r, err);
	audit_result(&v, &out);
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}

struct audit_each {
	cordon_audit_fn *fn;
	void *data;
};

static int audit_each_line(void *data, const struct audit_line *line)
{
	const struct audit_each *e = data;
	const struct cordon_audit_record record = {
		.struct_size = sizeof(record),
		.json = line->text,
		.json_len = line->len,
		.seq = line->head.seq,
		.time_ms = line->time_ms,
		.time = line->ts,
		.id = line->id,
		.type = line->type,
		.session_id = line->session_id,
		.call_id = line->call_id,
		.decision = line->decision,
		.rule = line->rule,
		.verdict = audit_line_verdict(line),
		.hash = line->head.hash,
	};

	return e->fn(e->data, &record) != 0;
}

int cordon_audit_each(const char *dir, const struct cordon_audit_filter *filter,
		      cordon_audit_fn *fn, void *data, struct cordon_error *err)
{
	struct audit_each each = {.fn = fn, .data = data};
	struct audit_position position = {0};
	struct cordon_audit_filter f = {0};
	struct audit_filter own;
	int r = 0;

	lib_enter(err);
	if (!fn)
		return lib_leave(lib_missing(err, "callback"), err);
	if (filter)
		r = lib_struct_in(&f, sizeof(f), filter, "struct cordon_audit_filter", err);
	if (r < 0)
		return lib_leave(r, err);
	own = (struct audit_filter){
		.type = f.type,
		.call_id = f.call_id,
		.session_id = f.session_id,
		.verdict = f.verdict,
		.decision = f.decision,
		.since_ms = f.since_ms,
		.until_ms = f.until_ms,
	};
	return lib_leave(audit_walk(dir, &position, &own, audit_each_line, &each, err), err);
}
