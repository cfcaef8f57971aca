/* SPDX-License-Identifier: Apache-2.0 */
/* See screen.h. */
#include "core/screen.h"

#include "core/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCREEN_BETWEEN_BYTES ((size_t)4 * 1024 * 1024) /* what marks may make of one read */

static int screen_failed(struct screen_stream *s, int r)
{
	s->has_failed = true;
	return r < 0 && r > -4096 ? r : -EIO;
}

static int screen_feed(void *data, const char *bytes, size_t len, struct buf *out)
{
	struct screen_stream *s = data;
	int r = 0;

	if (s->has_failed)
		return -EIO;
	if (s->needle && !s->leak)
		return (r = needle_feed(s->needle, bytes, len, out)) < 0 ? screen_failed(s, r) : 0;
	if (s->needle) {
		buf_clear(&s->between);
		r = needle_feed(s->needle, bytes, len, &s->between);
		bytes = buf_cstr(&s->between);
		len = s->between.len;
	}
	if (r == 0)
		r = leak_redact_feed(s->leak, bytes, len, out, &s->err);
	return r < 0 ? screen_failed(s, r) : 0;
}

/* What both hold, as far as it can go out now: through the one, then with that through the other. */
static int screen_let_go(struct screen_stream *s,
			 int (*first)(struct needle_screen *needle, struct buf *out),
			 int (*second)(struct leak_redactor *leak, struct buf *out,
				       struct cordon_error *err),
			 struct buf *out)
{
	int r = 0;

	if (s->has_failed)
		return -EIO;
	buf_clear(&s->between);
	if (s->needle)
		r = first(s->needle, s->leak ? &s->between : out);
	if (r == 0 && s->leak)
		r = leak_redact_feed(s->leak, buf_cstr(&s->between), s->between.len, out, &s->err);
	if (r == 0 && s->leak)
		r = second(s->leak, out, &s->err);
	return r < 0 ? screen_failed(s, r) : 0;
}

static int screen_quiet(void *data, struct buf *out)
{
	return screen_let_go(data, needle_quiet, leak_redact_quiet, out);
}

static int screen_finish(void *data, struct buf *out)
{
	return screen_let_go(data, needle_end, leak_redact_end, out);
}

static int screen_cut(void *data, struct buf *out)
{
	/* Of what the rules look for: all but a word that may go on, as in a quiet moment. */
	return screen_let_go(data, needle_cut, leak_redact_quiet, out);
}

static size_t screen_held(const void *data)
{
	const struct screen_stream *s = data;

	return (s->needle ? needle_held(s->needle) : 0) + (s->leak ? leak_held(s->leak) : 0);
}

static void screen_note(void *data, const struct leak *leak)
{
	struct screen_stream *s = data;
	struct finding f = {
		.type = FINDING_DATA_LEAK,
		.confidence = leak->confidence,
		.level = leak->confidence >= 0.85  ? THREAT_HIGH
			 : leak->confidence >= 0.3 ? THREAT_MEDIUM
						   : THREAT_LOW,
	};

	(void)snprintf(f.rule, sizeof(f.rule), "%s", leak->rule);
	(void)snprintf(f.message, sizeof(f.message), "%s in the output", leak->what);
	(void)snprintf(f.snippet, sizeof(f.snippet), "[hidden]");
	if (findings_add(&s->findings, &f) < 0)
		s->has_failed = true;
}

int screen_begin(const struct policy *p, const struct secret_grants *grants, struct screen *ret,
		 const struct stage *ret_stages[STAGE_STREAM_COUNT], struct cordon_error *err)
{
	bool has_rules = output_is_screened(p);
	int r = 0;

	if (grants->n == 0 && !has_rules)
		return 0;
	ret->grants = grants;
	ret->action = output_stored_action(p);
	if (grants->n > 0)
		r = needles_new(grants, &ret->needles);
	if (r < 0)
		return cordon_fail_leaf(err, r, "look for the secrets in the output");
	for (size_t i = 0; r == 0 && i < STAGE_STREAM_COUNT; i++) {
		struct screen_stream *s = &ret->streams[i];

		s->between = BUF_INIT(SCREEN_BETWEEN_BYTES);
		if (ret->needles && needle_screen_new(ret->needles, ret->action, &s->needle) < 0)
			r = cordon_nomem(err);
		if (r == 0 && has_rules)
			r = leak_redactor_new(&s->leak, err);
		if (s->leak)
			leak_redactor_name(s->leak, screen_note, s);
		s->stage = (struct stage){.data = s,
					  .feed = screen_feed,
					  .quiet = screen_quiet,
					  .end = screen_finish,
					  .cut = screen_cut,
					  .held = screen_held};
		ret_stages[i] = &s->stage;
	}
	return r;
}

/* One finding for each stored secret that a stream had. */
static int screen_stored(const struct screen *s, const struct screen_stream *stream,
			 const char *where, struct report *report)
{
	static const char *const done[SCAN_ACTION_COUNT] = {
		[SECRET_WARN] = "passed on",
		[SECRET_REDACT] = "hidden",
		[SECRET_BLOCK] = "withheld with all that came after it",
	};
	int r = 0;

	for (size_t i = 0; r == 0 && stream->needle && i < s->grants->n; i++) {
		uint64_t count = needle_count(stream->needle, i);
		struct finding f = {
			.rule = "stored-secret",
			.type = FINDING_DATA_LEAK,
			.level = THREAT_HIGH,
			.confidence = 1,
		};

		if (count == 0)
			continue;
		(void)snprintf(f.message, sizeof(f.message),
			       "stored secret '%s' in %s, %llu times: %s", s->grants->items[i].name,
			       where, (unsigned long long)count, done[s->action]);
		r = findings_add(&report->findings, &f);
		if (s->action == SECRET_REDACT)
			report->output_hidden += (size_t)count;
		report->output_withheld += s->action == SECRET_BLOCK;
	}
	return r;
}

int screen_end(struct screen *s, struct report *report, struct cordon_error *err)
{
	static const char *const names[STAGE_STREAM_COUNT] = {
		[STAGE_STDOUT] = "standard output",
		[STAGE_STDERR] = "standard error",
		[STAGE_TERMINAL] = "what the terminal showed",
	};

	for (size_t i = 0; i < STAGE_STREAM_COUNT; i++) {
		struct screen_stream *stream = &s->streams[i];
		int r = screen_stored(s, stream, names[i], report);

		if (stream->has_failed)
			return cordon_fail(
				err, CORDON_E_SYSTEM,
				"%s could not be searched for secrets and was kept back%s%s",
				names[i], stream->err.message[0] ? ": " : "", stream->err.message);
		for (size_t k = 0; r == 0 && k < stream->findings.n; k++)
			r = findings_add(&report->findings, &stream->findings.items[k]);
		if (r < 0)
			return cordon_nomem(err);
		if (stream->leak)
			report->output_hidden += (size_t)leak_redacted(stream->leak);
	}
	return 0;
}

void screen_done(struct screen *s)
{
	for (size_t i = 0; i < STAGE_STREAM_COUNT; i++) {
		needle_screen_free(s->streams[i].needle);
		leak_redactor_free(s->streams[i].leak);
		findings_done(&s->streams[i].findings);
		if (s->streams[i].between.data)
			explicit_bzero(s->streams[i].between.data, s->streams[i].between.cap);
		buf_done(&s->streams[i].between);
	}
	needles_free(s->needles);
	*s = (struct screen){0};
}
