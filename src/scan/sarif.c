/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a scan as SARIF 2.1.0, for code hosts and editors.  Paths are relative and percent-encoded. */
#include "scan/tree.h"

#include "base/buf.h"
#include "base/json.h"
#include "scan/rules.h"

#include <ctype.h>
#include <string.h>

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static const char *sarif_level(enum threat level)
{
	return level >= THREAT_HIGH ? "error" : level == THREAT_MEDIUM ? "warning" : "note";
}

/* Was the rule of this hit seen before it? */
static bool sarif_is_new(const struct scan_report *r, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(r->hits[i].finding.rule, r->hits[at].finding.rule) == 0)
			return false;
	return true;
}

static void sarif_rules(const struct scan_report *r, struct json *j)
{
	json_array(j, "rules");
	for (size_t i = 0; i < r->n; i++) {
		const struct finding *f = &r->hits[i].finding;

		if (!sarif_is_new(r, i))
			continue;
		json_object(j, NULL);
		json_str(j, "id", f->rule);
		json_object(j, "shortDescription");
		json_str(j, "text", f->message);
		json_end_object(j);
		json_object(j, "defaultConfiguration");
		json_str(j, "level", sarif_level(f->level));
		json_end_object(j);
		json_end_object(j);
	}
	json_end_array(j);
}

static void sarif_uri(struct json *j, const char *path)
{
	struct buf b = BUF_INIT(4 * 4096 * 3);

	for (const unsigned char *s = (const unsigned char *)path; *s; s++) {
		if (isalnum(*s) || strchr("-._~/", *s))
			buf_char(&b, (char)*s);
		else
			buf_printf(&b, "%%%02X", *s);
	}
	json_str(j, "uri", buf_cstr(&b));
	buf_done(&b);
}

static void sarif_result(const struct scan_hit *hit, struct json *j)
{
	const struct finding *f = &hit->finding;

	json_object(j, NULL);
	json_str(j, "ruleId", f->rule);
	json_str(j, "level", sarif_level(f->level));
	json_object(j, "message");
	json_str(j, "text", f->message);
	json_end_object(j);
	json_array(j, "locations");
	json_object(j, NULL);
	json_object(j, "physicalLocation");
	json_object(j, "artifactLocation");
	sarif_uri(j, hit->path);
	json_str(j, "uriBaseId", "SRCROOT");
	json_end_object(j);
	if (f->line > 0) {
		json_object(j, "region");
		json_int(j, "startLine", f->line);
		json_end_object(j);
	}
	json_end_object(j);
	json_end_object(j);
	json_end_array(j);
	json_object(j, "properties");
	json_double(j, "confidence", f->confidence, 2);
	json_end_object(j);
	json_end_object(j);
}

void scan_report_sarif(const struct scan_report *r, struct buf *out)
{
	struct json j = JSON_INIT(out);

	json_object(&j, NULL);
	json_str(&j, "$schema", SARIF_SCHEMA);
	json_str(&j, "version", "2.1.0");
	json_array(&j, "runs");
	json_object(&j, NULL);
	json_object(&j, "tool");
	json_object(&j, "driver");
	json_str(&j, "name", "cordon");
	json_str(&j, "version", CORDON_VERSION);
	sarif_rules(r, &j);
	json_end_object(&j);
	json_end_object(&j);
	json_array(&j, "results");
	for (size_t i = 0; i < r->n; i++)
		sarif_result(&r->hits[i], &j);
	json_end_array(&j);
	json_end_object(&j);
	json_end_array(&j);
	json_end_object(&j);
}
