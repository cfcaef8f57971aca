/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line in full, for readers; see line.h.  The only file of the folder that knows the JSON library:
 * everything else asks for members by name.
 */
#include "audit/line.h"

#include "base/mem.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* A member that is a string or null. */
static bool parse_text(const json_t *o, const char *name, bool may_be_null, const char **ret)
{
	const json_t *v = json_object_get(o, name);

	if (json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v)) {
		*ret = json_string_value(v);
		return true;
	}
	*ret = NULL;
	return may_be_null && json_is_null(v);
}

static bool parse_members(const json_t *o, struct audit_line *line)
{
	const json_t *actor = json_object_get(o, "actor");
	const json_t *pid = json_object_get(actor, "pid");
	const json_t *uid = json_object_get(actor, "uid");
	const json_t *exe = json_object_get(actor, "exe");

	if (!parse_text(o, "ts", false, &line->ts) || !parse_text(o, "id", false, &line->id) ||
	    !parse_text(o, "type", false, &line->type) ||
	    !parse_text(o, "session_id", true, &line->session_id) ||
	    !parse_text(o, "call_id", true, &line->call_id) ||
	    !parse_text(o, "decision", true, &line->decision) ||
	    !parse_text(o, "rule", true, &line->rule))
		return false;
	if (!json_is_integer(pid) || !json_is_integer(uid) || (exe && !json_is_string(exe)))
		return false;
	line->pid = json_integer_value(pid);
	line->uid = json_integer_value(uid);
	line->exe = exe ? json_string_value(exe) : NULL;
	line->event = audit_event_by_name(line->type, strlen(line->type));
	return audit_time_parse(line->ts, strlen(line->ts), &line->time_ms) == 0;
}

static int parse_fault(enum audit_line_fault fault, enum audit_line_fault *ret_fault,
		       struct cordon_error *err)
{
	if (ret_fault)
		*ret_fault = fault;
	return cordon_fail(err, fault == AUDIT_LINE_LONG ? CORDON_E_LIMIT : CORDON_E_CORRUPT, "%s",
			   audit_line_fault_text(fault));
}

int audit_line_parse(const char *text, size_t len, struct audit_line *ret,
		     enum audit_line_fault *ret_fault, struct cordon_error *err)
{
	struct audit_line line = {.text = text, .len = len};
	enum audit_line_fault fault;
	json_error_t why;
	json_t *o;

	fault = audit_line_head(text, len, &line.head, line.prev_hash);
	if (fault != AUDIT_LINE_OK && fault != AUDIT_LINE_HASH)
		return parse_fault(fault, ret_fault, err);
	line.is_hash_right = fault == AUDIT_LINE_OK;
	o = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!o && json_error_code(&why) == json_error_out_of_memory)
		return cordon_nomem(err);
	if (!o)
		return parse_fault(AUDIT_LINE_JSON, ret_fault, err);
	if (!parse_members(o, &line)) {
		json_decref(o);
		return parse_fault(AUDIT_LINE_SHAPE, ret_fault, err);
	}
	line.object = o;
	*ret = line;
	if (ret_fault)
		*ret_fault = fault;
	return 0;
}

void audit_line_done(struct audit_line *line)
{
	if (!line)
		return;
	json_decref(line->object);
	*line = (struct audit_line){0};
}

/* "a" or "a.b" */
static const json_t *line_get(const struct audit_line *line, const char *name)
{
	const char *dot = strchr(name, '.');
	const json_t *o = line->object;

	if (!dot)
		return json_object_get(o, name);
	return json_object_get(json_object_getn(o, name, (size_t)(dot - name)), dot + 1);
}

const char *audit_line_str(const struct audit_line *line, const char *name)
{
	return json_string_value(line_get(line, name));
}

bool audit_line_int(const struct audit_line *line, const char *name, int64_t *ret)
{
	const json_t *v = line_get(line, name);

	if (!json_is_integer(v))
		return false;
	*ret = json_integer_value(v);
	return true;
}

const char *audit_line_verdict(const struct audit_line *line)
{
	const char *s = audit_line_str(line, "verdict");

	return s ? s : audit_line_str(line, "verdict.verdict");
}

static const json_t *line_findings(const struct audit_line *line)
{
	const json_t *v = line_get(line, "findings");

	return json_is_array(v) ? v : line_get(line, "verdict.findings");
}

size_t audit_line_findings(const struct audit_line *line)
{
	return json_array_size(line_findings(line));
}

void audit_line_finding(const struct audit_line *line, size_t index, struct audit_finding *ret)
{
	const json_t *f = json_array_get(line_findings(line), index);
	const char *path = json_string_value(json_object_get(f, "path"));

	*ret = (struct audit_finding){
		.rule = json_string_value(json_object_get(f, "rule")),
		.type = json_string_value(json_object_get(f, "type")),
		.level = json_string_value(json_object_get(f, "level")),
		.severity = json_string_value(json_object_get(f, "severity")),
		.message = json_string_value(json_object_get(f, "message")),
		.path = path ? path : json_string_value(json_object_get(f, "file")),
		.line = json_integer_value(json_object_get(f, "line")),
		.column = json_integer_value(json_object_get(f, "column")),
	};
}
