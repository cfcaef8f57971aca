/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of an audit log from arbitrary bytes.  Properties: what the JSON check accepts every parser
 * accepts; a line that parses has the members that its type promises; its OCSF form is JSON; a body that
 * the writer would take gives a line that the reader takes, with the right hash.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "audit/export.h"
#include "base/json_check.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_json(const char *text, size_t len)
{
	json_t *o;

	if (json_check(text, len) < 0)
		return;
	o = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
	must(o != NULL);
	json_decref(o);
}

static void check_line(const char *text, size_t len, bool must_parse)
{
	struct audit_line line = {0};
	struct cordon_error err = {0};
	struct audit_finding finding;
	struct buf out = BUF_INIT(16 * LIMIT_AUDIT_RECORD);

	if (audit_line_parse(text, len, &line, NULL, &err) < 0) {
		must(err.message[0] != '\0' && !must_parse);
		return;
	}
	must(line.is_hash_right || !must_parse);
	must(line.head.seq > 0 && line.type && line.id && line.ts);
	for (size_t i = 0; i < audit_line_findings(&line); i++)
		audit_line_finding(&line, i, &finding);
	audit_ocsf_event(&out, &line);
	must(buf_error(&out) == 0);
	check_json(out.data, out.len);
	must(json_check(out.data, out.len) == 0);
	buf_done(&out);
	audit_line_done(&line);
}

/* The bytes as a body. */
static void check_body(const char *text, size_t len)
{
	struct buf middle = BUF_INIT(LIMIT_AUDIT_RECORD), line = BUF_INIT(2 * LIMIT_AUDIT_RECORD);
	struct audit_event ev = {.type = AUDIT_EVENT_CALL, .body = text, .body_len = len};
	struct audit_head head = {.seq = 41, .hash = AUDIT_ZERO_HASH};

	audit_line_middle(&middle, &ev, "0123456789abcdef", NULL);
	if (audit_line_check(&line, &middle) == 0) {
		buf_clear(&line);
		audit_line_seal(&line, "2026-01-02T03:04:05.678Z", &middle, &head);
		must(buf_error(&line) == 0 && line.data[line.len - 1] == '\n');
		must(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
		check_line(line.data, line.len - 1, /* must_parse= */ true);
	}
	buf_done(&middle);
	buf_done(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	check_json(text, size);
	check_line(text, size, /* must_parse= */ false);
	check_body(text, size);
	return 0;
}
