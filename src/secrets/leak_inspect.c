/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaks of a whole text as findings.  A snippet shows what stands before the secret on its line, with
 * everything that redaction would take out taken out, and never a byte of the secret.
 */
#include "secrets/leak.h"

#include "base/buf.h"
#include "base/mem.h"
#include "secrets/redact.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { INSPECT_BEFORE = 40 }; /* characters shown before the secret */

struct inspection {
	const char *text;
	size_t len;
	struct findings *findings;
	size_t counted; /* newlines before this offset are in line */
	unsigned line;
	size_t line_start;
	int error;
};

static void inspection_snippet(const char *before, size_t n, char *out, size_t max)
{
	struct buf b = BUF_INIT(4096);

	redact_text(&b, before, n);
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.data[i] < 0x20 || (unsigned char)b.data[i] >= 0x7f)
			b.data[i] = ' ';
	(void)snprintf(out, max, "%s[redacted]", buf_cstr(&b));
	buf_done(&b);
}

static void inspection_add(void *data, const struct leak *leak)
{
	struct inspection *in = data;
	struct finding f = {.type = FINDING_DATA_LEAK, .confidence = leak->confidence};
	size_t start = (size_t)leak->start, from;
	const char *newline;

	if (in->error)
		return;
	while ((newline = memchr(in->text + in->counted, '\n', start - in->counted))) {
		in->counted = in->line_start = (size_t)(newline - in->text) + 1;
		in->line++;
	}
	in->counted = start;
	f.level = leak->confidence >= 0.85  ? THREAT_HIGH
		  : leak->confidence >= 0.3 ? THREAT_MEDIUM
					    : THREAT_LOW;
	f.line = in->line;
	f.column = (unsigned)(start - in->line_start) + 1;
	from = start - in->line_start > INSPECT_BEFORE ? start - INSPECT_BEFORE : in->line_start;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", leak->rule);
	(void)snprintf(f.message, sizeof(f.message), "%s in the text", leak->what);
	inspection_snippet(in->text + from, start - from, f.snippet, sizeof(f.snippet));
	in->error = findings_add(in->findings, &f);
}

static void inspection_freep(struct leak_scanner **s)
{
	leak_scanner_free(*s);
}

static int inspection_run(const char *text, size_t len, bool has_notices, struct findings *ret,
			  struct cordon_error *err)
{
	struct inspection in = {.text = text, .len = len, .findings = ret, .line = 1};
	AUTO(inspection_freep) struct leak_scanner *s = NULL;
	int r = leak_scanner_new(inspection_add, &in, &s, err);

	if (r == 0 && has_notices)
		leak_scanner_notice(s);
	if (r == 0)
		r = leak_feed(s, text, len, err);
	if (r == 0)
		r = leak_end(s, err);
	if (r == 0 && in.error)
		r = cordon_fail_errno(err, -in.error, "keep a finding");
	return r;
}

int leak_inspect(const char *text, size_t len, struct findings *ret, struct cordon_error *err)
{
	return inspection_run(text, len, /* has_notices= */ false, ret, err);
}

int leak_inspect_all(const char *text, size_t len, struct findings *ret, struct cordon_error *err)
{
	return inspection_run(text, len, /* has_notices= */ true, ret, err);
}
