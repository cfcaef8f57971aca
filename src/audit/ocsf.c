/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCSF 1.1: one event per record, with the class that the event's row names.  What has no place in the
 * schema goes to `unmapped`, the chain among it, so that an event leads back to its record.
 */
#include "audit/export.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OCSF_VERSION "1.1.0"

enum {
	OCSF_PROCESS = 1007,
	OCSF_FINDING = 2004,
	OCSF_NETWORK = 4001,
	OCSF_LIFECYCLE = 6002,
	OCSF_OTHER = 99, /* activity_id */
};

struct ocsf_class {
	unsigned class_uid;
	unsigned category_uid;
	const char *class_name;
	const char *category_name;
};

static const struct ocsf_class ocsf_classes[] = {
	{OCSF_PROCESS, 1, "Process Activity", "System Activity"},
	{OCSF_FINDING, 2, "Detection Finding", "Findings"},
	{OCSF_NETWORK, 4, "Network Activity", "Network Activity"},
	{OCSF_LIFECYCLE, 6, "Application Lifecycle", "Application Activity"},
};

struct ocsf_activity {
	unsigned id;
	const char *name;
};

static const struct {
	const char *level;
	int id;
} ocsf_levels[] = {{"LOW", 2}, {"MEDIUM", 3}, {"HIGH", 4}, {"CRITICAL", 5}};

static const char *const ocsf_severities[] = {"Unknown", "Informational", "Low",
					      "Medium",  "High",          "Critical"};

int audit_finding_severity(const struct audit_finding *f)
{
	for (size_t i = 0; f->level && i < ARRAY_LEN(ocsf_levels); i++)
		if (strcmp(f->level, ocsf_levels[i].level) == 0)
			return ocsf_levels[i].id;
	if (f->severity && strcmp(f->severity, "error") == 0)
		return 4;
	return f->severity && strcmp(f->severity, "warning") == 0 ? 3 : 1;
}

static bool ocsf_is_denied(const struct audit_line *line)
{
	const char *d = line->decision;

	return line->event == AUDIT_EVENT_REFUSED ||
	       (d && (strcmp(d, "deny") == 0 || strcmp(d, "block") == 0 ||
		      strcmp(d, "refused") == 0 || strcmp(d, "blocked") == 0));
}

/* The worst finding; a refusal without one is medium. */
static int ocsf_severity(const struct audit_line *line)
{
	size_t n = audit_line_findings(line);
	int worst = ocsf_is_denied(line) ? 3 : 1;

	for (size_t i = 0; i < n; i++) {
		struct audit_finding f;
		int id;

		audit_line_finding(line, i, &f);
		id = audit_finding_severity(&f);
		worst = id > worst ? id : worst;
	}
	return worst;
}

static const struct ocsf_class *ocsf_class_of(const struct audit_line *line)
{
	unsigned uid = line->event < AUDIT_EVENT_COUNT ? audit_event_row(line->event)->ocsf_class
						       : (unsigned)OCSF_LIFECYCLE;

	for (size_t i = 0; i < ARRAY_LEN(ocsf_classes); i++)
		if (ocsf_classes[i].class_uid == uid)
			return &ocsf_classes[i];
	return &ocsf_classes[ARRAY_LEN(ocsf_classes) - 1];
}

static struct ocsf_activity ocsf_activity_of(const struct audit_line *line)
{
	switch (line->event) {
	case AUDIT_EVENT_START:
		return (struct ocsf_activity){1, "Launch"};
	case AUDIT_EVENT_CALL:
		return (struct ocsf_activity){2, "Terminate"};
	case AUDIT_EVENT_REFUSED:
	case AUDIT_EVENT_HOOK:
	case AUDIT_EVENT_FINDING:
	case AUDIT_EVENT_APPROVAL:
		return (struct ocsf_activity){1, "Create"};
	case AUDIT_EVENT_NETWORK:
		if (ocsf_is_denied(line))
			return (struct ocsf_activity){5, "Refuse"};
		return (struct ocsf_activity){1, "Open"};
	case AUDIT_EVENT_AUDIT_OPEN:
		return (struct ocsf_activity){3, "Start"};
	case AUDIT_EVENT_POLICY:
	case AUDIT_EVENT_SESSION:
	case AUDIT_EVENT_AUDIT_ROTATE:
	case AUDIT_EVENT_AUDIT_EXPIRE:
	case AUDIT_EVENT_AUDIT_REPAIR:
	case AUDIT_EVENT_COUNT:
		break;
	}
	return (struct ocsf_activity){OCSF_OTHER, line->type};
}

static void ocsf_product(struct json *j, const char *name)
{
	json_object(j, name);
	json_str(j, "name", "cordon");
	json_str(j, "vendor_name", "cordon");
	json_str(j, "version", CORDON_VERSION);
	json_end_object(j);
}

static void ocsf_metadata(struct json *j, const struct audit_line *line)
{
	json_object(j, "metadata");
	json_str(j, "version", OCSF_VERSION);
	ocsf_product(j, "product");
	json_str(j, "uid", line->id);
	json_str(j, "event_code", line->type);
	json_int(j, "sequence", (int64_t)line->head.seq);
	json_str(j, "log_name", "audit.ndjson");
	if (line->session_id || line->call_id)
		json_str(j, "correlation_uid", line->session_id ? line->session_id : line->call_id);
	json_end_object(j);
}

/* Who wrote the record: the process of cordon that judged or ran the call. */
static void ocsf_actor(struct json *j, const struct audit_line *line)
{
	char uid[24];

	(void)snprintf(uid, sizeof(uid), "%lld", (long long)line->uid);
	json_object(j, "actor");
	json_object(j, "process");
	json_int(j, "pid", line->pid);
	json_str(j, "name", "cordon");
	if (line->exe) {
		json_object(j, "file");
		json_str(j, "name",
			 strrchr(line->exe, '/') ? strrchr(line->exe, '/') + 1 : line->exe);
		json_str(j, "path", line->exe);
		json_int(j, "type_id", 1);
		json_end_object(j);
	}
	json_end_object(j);
	json_object(j, "user");
	json_str(j, "uid", uid);
	json_int(j, "type_id", line->uid == 0 ? 2 : 1);
	json_end_object(j);
	json_end_object(j);
}

static void ocsf_device(struct json *j)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	json_object(j, "device");
	json_str(j, "hostname", host[0] ? host : "localhost");
	json_int(j, "type_id", 0);
	json_end_object(j);
}

static void ocsf_process(struct json *j, const struct audit_line *line)
{
	const char *hash = audit_line_str(line, "argv_hash");
	int64_t code = 0;

	json_object(j, "process");
	json_str(j, "uid", line->call_id ? line->call_id : line->id);
	json_str(j, "name", hash ? hash : "call");
	json_end_object(j);
	if (audit_line_int(line, "exit_code", &code))
		json_int(j, "exit_code", code);
	ocsf_device(j);
}

static void ocsf_finding_info(struct json *j, const struct audit_line *line)
{
	size_t n = audit_line_findings(line);
	struct audit_finding f = {0};
	const char *title;

	if (n > 0)
		audit_line_finding(line, 0, &f);
	title = f.message ? f.message : audit_line_str(line, "message");
	if (!title)
		title = line->event < AUDIT_EVENT_COUNT ? audit_event_row(line->event)->summary
							: line->type;
	json_object(j, "finding_info");
	json_str(j, "uid", line->head.hash);
	json_str(j, "title", title);
	if (f.type) {
		json_array(j, "types");
		json_str(j, NULL, f.type);
		json_end_array(j);
	}
	if (f.rule || line->rule) {
		json_object(j, "analytic");
		json_int(j, "type_id", 1);
		json_str(j, "uid", f.rule ? f.rule : line->rule);
		json_end_object(j);
	}
	json_end_object(j);
}

static void ocsf_network(struct json *j, const struct audit_line *line)
{
	const char *host = audit_line_str(line, "target.host");
	int64_t port = 0;

	json_object(j, "dst_endpoint");
	json_str(j, "hostname", host ? host : "unknown");
	if (audit_line_int(line, "target.port", &port))
		json_int(j, "port", port);
	json_end_object(j);
	ocsf_device(j);
}

static void ocsf_head(struct json *j, const struct audit_line *line)
{
	const struct ocsf_class *class = ocsf_class_of(line);
	struct ocsf_activity activity = ocsf_activity_of(line);
	int severity = ocsf_severity(line);

	json_int(j, "activity_id", activity.id);
	json_str(j, "activity_name", activity.name);
	json_int(j, "category_uid", class->category_uid);
	json_str(j, "category_name", class->category_name);
	json_int(j, "class_uid", class->class_uid);
	json_str(j, "class_name", class->class_name);
	json_int(j, "type_uid", (int64_t) class->class_uid * 100 + activity.id);
	json_int(j, "time", line->time_ms);
	json_int(j, "severity_id", severity);
	json_str(j, "severity", ocsf_severities[severity]);
	json_int(j, "status_id", ocsf_is_denied(line) ? 2 : 1);
	json_str(j, "status", ocsf_is_denied(line) ? "Failure" : "Success");
	if (line->rule)
		json_str(j, "status_detail", line->rule);
}

void audit_ocsf_event(struct buf *out, const struct audit_line *line)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	ocsf_head(&j, line);
	ocsf_metadata(&j, line);
	ocsf_actor(&j, line);
	switch (ocsf_class_of(line)->class_uid) {
	case OCSF_PROCESS:
		ocsf_process(&j, line);
		break;
	case OCSF_FINDING:
		ocsf_finding_info(&j, line);
		break;
	case OCSF_NETWORK:
		ocsf_network(&j, line);
		break;
	default:
		ocsf_product(&j, "app");
		break;
	}
	json_object(&j, "unmapped");
	json_str(&j, "decision", line->decision);
	json_str(&j, "verdict", audit_line_verdict(line));
	json_str(&j, "session_id", line->session_id);
	json_str(&j, "call_id", line->call_id);
	json_str(&j, "prev_hash", line->prev_hash);
	json_str(&j, "hash", line->head.hash);
	json_end_object(&j);
	json_strn(&j, "raw_data", line->text, line->len);
	json_end_object(&j);
}

int audit_export_ocsf(const char *dir, const struct audit_export *out, struct cordon_error *err)
{
	AUTO(audit_reader_closep) struct audit_reader *reader = NULL;
	struct buf buf = BUF_INIT(16 * LIMIT_AUDIT_RECORD);
	struct audit_line line;
	int r;

	r = audit_reader_open(dir, /* from= */ NULL, &reader, err);
	while (r == 0 && (r = audit_query_next(reader, out->filter, &line, err)) > 0) {
		buf_clear(&buf);
		audit_ocsf_event(&buf, &line);
		audit_line_done(&line);
		buf_char(&buf, '\n');
		r = buf_error(&buf);
		if (r == 0)
			r = out->write(out->userdata, buf.data, buf.len);
		if (r < 0)
			r = cordon_fail_leaf(err, r, "write OCSF");
	}
	buf_done(&buf);
	return r;
}
