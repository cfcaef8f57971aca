/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SARIF 2.1.0.  The results come first and the tool's rules last, because the rules are known only when
 * all records were read; JSON leaves the order of members free.
 */
#include "audit/export.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

struct sarif {
	const struct audit_export *out;
	struct buf buf;
	struct json json;
	struct strv rules; /* sorted */
};

/* The place of a rule in the sorted list; *ret_found says whether it is there. */
static size_t sarif_rule_place(const struct sarif *s, const char *rule, bool *ret_found)
{
	size_t low = 0, high = s->rules.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(s->rules.v[mid], rule);

		if (order == 0) {
			*ret_found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_found = false;
	return low;
}

static int sarif_add_rule(struct sarif *s, const char *rule, struct cordon_error *err)
{
	bool found = false;
	size_t place = sarif_rule_place(s, rule, &found);
	char *last;
	int r;

	if (found)
		return 0;
	if (s->rules.n >= LIMIT_AUDIT_RULES)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d rules", LIMIT_AUDIT_RULES);
	r = strv_add(&s->rules, rule);
	if (r < 0)
		return cordon_fail_leaf(err, r, "rules");
	last = s->rules.v[s->rules.n - 1];
	memmove(s->rules.v + place + 1, s->rules.v + place,
		(s->rules.n - 1 - place) * sizeof(s->rules.v[0]));
	s->rules.v[place] = last;
	return 0;
}

static int sarif_flush(struct sarif *s, struct cordon_error *err)
{
	int r = buf_error(&s->buf);

	if (r == 0 && s->buf.len > 0)
		r = s->out->write(s->out->userdata, s->buf.data, s->buf.len);
	buf_clear(&s->buf);
	return r < 0 ? cordon_fail_leaf(err, r, "write SARIF") : 0;
}

static const char *sarif_level(const struct audit_finding *f)
{
	if (f->severity && strcmp(f->severity, "error") == 0)
		return "error";
	if (f->severity && strcmp(f->severity, "warning") == 0)
		return "warning";
	switch (audit_finding_severity(f)) {
	case 5:
	case 4:
		return "error";
	case 3:
		return "warning";
	default:
		return "note";
	}
}

/* A path as a URI reference (RFC 3986): everything but unreserved bytes and slashes is escaped. */
static void sarif_uri(struct buf *b, const char *path)
{
	if (path[0] == '/')
		buf_str(b, "file://");
	for (const char *p = path; *p; p++) {
		bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
				(*p >= '0' && *p <= '9') || strchr("-._~/", *p);

		if (is_plain)
			buf_char(b, *p);
		else
			buf_printf(b, "%%%02X", (unsigned)(unsigned char)*p);
	}
}

/* Where: the finding's file, or the call itself under a URI of its own. */
static void sarif_location(struct sarif *s, const struct audit_line *line,
			   const struct audit_finding *f)
{
	struct buf uri = BUF_INIT(3 * LIMIT_AUDIT_RECORD);
	struct json *j = &s->json;

	if (f->path) {
		sarif_uri(&uri, f->path);
	} else {
		buf_str(&uri, line->call_id ? "cordon:call/" : "cordon:record/");
		sarif_uri(&uri, line->call_id ? line->call_id : line->id);
	}
	json_array(j, "locations");
	json_object(j, NULL);
	json_object(j, "physicalLocation");
	json_object(j, "artifactLocation");
	json_str(j, "uri", buf_cstr(&uri));
	json_end_object(j);
	if (f->line > 0) {
		json_object(j, "region");
		json_int(j, "startLine", f->line);
		if (f->column > 0)
			json_int(j, "startColumn", f->column);
		json_end_object(j);
	}
	json_end_object(j);
	json_end_object(j);
	json_end_array(j);
	s->buf.error = s->buf.error ? s->buf.error : buf_error(&uri);
	buf_done(&uri);
}

static int sarif_result(struct sarif *s, const struct audit_line *line,
			const struct audit_finding *f, struct cordon_error *err)
{
	const char *rule = f->rule ? f->rule : f->type ? f->type : line->type;
	struct json *j = &s->json;
	int r;

	r = sarif_add_rule(s, rule, err);
	if (r < 0)
		return r;
	json_object(j, NULL);
	json_str(j, "ruleId", rule);
	json_str(j, "level", sarif_level(f));
	json_object(j, "message");
	json_str(j, "text", f->message ? f->message : rule);
	json_end_object(j);
	sarif_location(s, line, f);
	json_object(j, "partialFingerprints");
	json_str(j, "recordHash/v1", line->head.hash);
	json_end_object(j);
	json_object(j, "properties");
	json_str(j, "ts", line->ts);
	json_int(j, "seq", (int64_t)line->head.seq);
	json_str(j, "event", line->type);
	json_str(j, "decision", line->decision);
	json_str(j, "session_id", line->session_id);
	json_str(j, "call_id", line->call_id);
	json_end_object(j);
	json_end_object(j);
	return 0;
}

static int sarif_record(struct sarif *s, const struct audit_line *line, struct cordon_error *err)
{
	size_t n = audit_line_findings(line);
	struct audit_finding f;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		audit_line_finding(line, i, &f);
		r = sarif_result(s, line, &f, err);
	}
	if (n == 0 && line->event == AUDIT_EVENT_REFUSED) {
		/* What failed has a code; the rule is then the reason in words, which differ from call to call. */
		const char *code = audit_line_str(line, "error");

		f = (struct audit_finding){
			.rule = code ? code : line->rule,
			.severity = "error",
			.message = code ? line->rule : audit_line_str(line, "message"),
		};
		if (!f.message)
			f.message = "the call was refused";
		r = sarif_result(s, line, &f, err);
	}
	return r < 0 ? r : sarif_flush(s, err);
}

static int sarif_end(struct sarif *s, struct cordon_error *err)
{
	struct json *j = &s->json;
	int r;

	json_end_array(j);
	json_object(j, "tool");
	json_object(j, "driver");
	json_str(j, "name", "cordon");
	json_str(j, "version", CORDON_VERSION);
	json_str(j, "semanticVersion", CORDON_VERSION);
	json_array(j, "rules");
	for (size_t i = 0; i < s->rules.n; i++) {
		json_object(j, NULL);
		json_str(j, "id", s->rules.v[i]);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	json_end_object(j);
	json_str(j, "columnKind", "unicodeCodePoints");
	json_end_object(j);
	json_end_array(j);
	json_end_object(j);
	buf_char(&s->buf, '\n');
	r = sarif_flush(s, err);
	return r;
}

int audit_export_sarif(const char *dir, const struct audit_export *out, struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct sarif s = {.out = out, .buf = BUF_INIT(64 * LIMIT_AUDIT_RECORD)};
	struct audit_line line;
	int r, end;

	s.json = JSON_INIT(&s.buf);
	r = audit_reader_open(dir, /* from= */ NULL, &reader, err);
	if (r < 0)
		return r;
	json_object(&s.json, NULL);
	json_str(&s.json, "$schema", SARIF_SCHEMA);
	json_str(&s.json, "version", "2.1.0");
	json_array(&s.json, "runs");
	json_object(&s.json, NULL);
	json_array(&s.json, "results");
	r = sarif_flush(&s, err);
	while (r == 0 && (r = audit_query_next(reader, out->filter, &line, err)) > 0) {
		r = sarif_record(&s, &line, err);
		audit_line_done(&line);
	}
	/* The document is closed in any case; the first error is the one to report. */
	end = sarif_end(&s, r < 0 ? NULL : err);
	buf_done(&s.buf);
	strv_done(&s.rules);
	return r < 0 ? r : end;
}
