/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See leak.h.  Theory of operation:
 *
 * The stream goes through a window.  The engine finds the places where a rule may apply; the rule then
 * looks at a bounded part of the text around the place: LIMIT_LEAK_LEAD before it and LIMIT_LEAK_SPAN
 * behind it.  A place is judged only once all of that has come, or the line is complete (no credential
 * but a private key goes over lines), or the stream has ended.  So the answer depends on the text alone,
 * not on how it arrived.
 *
 * What rules find may overlap: a GitHub token in an assignment is found by both.  Findings wait until
 * nothing can come any more that begins before their end; then those that overlap become one, under the
 * name of the surest.
 */
#include "secrets/leak.h"

#include "base/limits.h"
#include "base/mem.h"
#include "match/match.h"
#include "secrets/leak_form.h"
#include "secrets/leak_rules.h"
#include "secrets/shape.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

MATCH_DB(leak);

#define LEAK_BUFFER (LIMIT_LEAK_LEAD + LIMIT_LEAK_WINDOW + LIMIT_LEAK_SPAN)

/* Of a token whose shape is telling although it is not random. */
#define LEAK_DULL 0.35

struct leak_scanner {
	leak_fn *fn;
	void *data;
	struct match *match;
	char *text; /* grows to LEAK_BUFFER */
	size_t len, room;
	uint64_t base; /* the offset of text in the stream */
	size_t judged; /* places up to here, in text, have been judged */
	uint64_t safe; /* nothing new can begin before this offset */
	struct leak *found;
	size_t n, cap;
	bool has_notices;
	int error; /* of the callback */
};

int leak_scanner_new(leak_fn *fn, void *data, struct leak_scanner **ret, struct cordon_error *err)
{
	struct leak_scanner *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return cordon_fail_errno(err, ENOMEM, "leak scanner");
	s->fn = fn;
	s->data = data;
	r = match_new(&match_db_leak, &s->match);
	if (r < 0) {
		leak_scanner_free(s);
		return cordon_fail_errno(err, -r, "leak scanner");
	}
	*ret = s;
	return 0;
}

void leak_scanner_notice(struct leak_scanner *s)
{
	s->has_notices = true;
}

void leak_scanner_free(struct leak_scanner *s)
{
	if (!s)
		return;
	match_free(s->match);
	if (s->text)
		explicit_bzero(s->text, s->len);
	free(s->text);
	free(s->found);
	free(s);
}

size_t leak_rule_count(void)
{
	return leak_rules_n;
}

static int leak_order(const void *a, const void *b)
{
	const struct leak *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->confidence < y->confidence || x->confidence > y->confidence)
		return x->confidence > y->confidence ? -1 : 1;
	return strcmp(x->rule, y->rule);
}

/* Makes one of those that overlap; a chain of them is cut where it gets too long. */
static void leak_merge(struct leak_scanner *s)
{
	size_t n = 0;

	if (s->n == 0)
		return;
	qsort(s->found, s->n, sizeof(*s->found), leak_order);
	for (size_t i = 1; i < s->n; i++) {
		struct leak *have = &s->found[n];
		struct leak next = s->found[i];

		if (next.start < have->end && next.end > have->start + LIMIT_LEAK_SPAN)
			next.start = have->end;
		if (next.start >= next.end)
			continue;
		if (next.start >= have->end) {
			s->found[++n] = next;
			continue;
		}
		if (next.end > have->end)
			have->end = next.end;
		if (next.confidence > have->confidence) {
			have->confidence = next.confidence;
			have->rule = next.rule;
			have->what = next.what;
		}
	}
	s->n = n + 1;
}

static int leak_add(struct leak_scanner *s, const struct leak *leak)
{
	int r;

	if (s->n == LIMIT_LEAK_PENDING)
		leak_merge(s);
	r = mem_grow((void **)&s->found, &s->cap, s->n + 1, sizeof(*s->found), LIMIT_LEAK_PENDING);
	if (r < 0)
		return r;
	s->found[s->n++] = *leak;
	return 0;
}

/* Is the byte before a token the end of something else?  \n, %3D and -D end
 * with letters and are not. */
static bool leak_is_inside(const char *text, size_t at)
{
	if (at == 0 || !isalnum((unsigned char)text[at - 1]) || !isalnum((unsigned char)text[at]))
		return false;
	if (at > 1 && text[at - 2] == '\\' && leak_is_any(text[at - 1], "nrt"))
		return false;
	if (at > 1 && text[at - 2] == '-' && text[at - 1] == 'D') /* -Dname=value */
		return false;
	return !(at > 2 && text[at - 3] == '%' && isxdigit((unsigned char)text[at - 2]) &&
		 isxdigit((unsigned char)text[at - 1]));
}

/* Does base64 go on before or behind it, over a sign that is no letter or digit? */
static bool leak_is_base64(const struct leak_text *t, const struct leak_hit *hit)
{
	const char *p = t->text;

	return (hit->start > 1 && leak_is_any(p[hit->start - 1], "+/") &&
		isalnum((unsigned char)p[hit->start - 2])) ||
	       (hit->end + 1 < t->len && leak_is_any(p[hit->end], "+/") &&
		isalnum((unsigned char)p[hit->end + 1]));
}

/* The usual: what machines make has three bits in each character, hexadecimal a little less. */
static bool leak_is_lively(const struct leak_rule *rule, const char *s, size_t len)
{
	double want = (double)rule->entropy / 10;

	if (rule->entropy == 0)
		want = len < 14 ? 2 : len < 20 ? 2.5 : leak_is_hex(s, len) ? 2.7 : 3;
	return leak_entropy(s, len) >= want;
}

static bool leak_token(const struct leak_rule *rule, const struct leak_text *t,
		       struct leak_hit *hit)
{
	struct shape shape;
	size_t anchor, from, lead = 0;
	int sure;

	if (shape_parse(rule->shape, &shape) < 0)
		return false;
	anchor = shape.part[shape.anchor].max + shape_tail(&shape, shape_add_none, NULL);
	/* What begins with a literal can be seen not to begin here before all of it is looked at. */
	if (anchor > t->at || (shape.anchor == 0 && leak_is_inside(t->text, t->at - anchor)) ||
	    !shape_around(&shape, t->text, t->len, t->at - anchor, &hit->start, &hit->end))
		return false;
	if (leak_is_inside(t->text, hit->start) || (rule->is_plain && leak_is_base64(t, hit)))
		return false;
	if (shape.part[0].literal)
		lead = shape.part[0].max;
	from = hit->start + lead;
	hit->confidence = rule->confidence;
	if (leak_is_example(t->text + from, hit->end - from))
		return false;
	/* The half of a pair of keys that is for everybody. */
	if (rule->check == LEAK_CHECK_RANDOM && hit->start > 1 &&
	    memcmp(t->text + hit->start - 2, "pk", 2) == 0)
		return false;
	if (!leak_is_lively(rule, t->text + from, hit->end - from) ||
	    leak_is_masked(t->text + from, hit->end - from)) {
		if (!rule->is_plain)
			return false;
		hit->confidence = LEAK_DULL;
	}
	sure = leak_verify(rule->check, t->text + hit->start, hit->end - hit->start);
	if (sure > 0)
		hit->confidence = 0.99;
	return sure >= 0;
}

/* One pass over the places between two ends. */
struct leak_pass {
	struct leak_scanner *s;
	size_t scanned_from; /* of text, where the engine began */
	size_t after, until; /* ends of triggers, in text */
};

static int leak_place(void *data, unsigned id, uint64_t from, uint64_t to)
{
	struct leak_pass *pass = data;
	struct leak_scanner *s = pass->s;
	size_t at = pass->scanned_from + (size_t)to, low, high;
	const struct leak_rule *rule = &leak_rules[id];
	struct leak_hit hit = {0};
	struct leak_text t;
	const char *newline;

	(void)from;
	if (at <= pass->after || at > pass->until)
		return 0;
	low = at > LIMIT_LEAK_LEAD ? at - LIMIT_LEAK_LEAD : 0;
	high = s->len - at > LIMIT_LEAK_SPAN ? at + LIMIT_LEAK_SPAN : s->len;
	t = (struct leak_text){.text = s->text + low, .len = high - low, .at = at - low};
	if (rule->kind == LEAK_KIND_FORM) {
		newline = memrchr(t.text, '\n', t.at);
		t.line = newline ? (size_t)(newline - t.text) + 1 : 0;
		newline = memchr(t.text + t.at, '\n', t.len - t.at);
		t.end = newline ? (size_t)(newline - t.text) : t.len;
	}
	if (!(rule->kind == LEAK_KIND_FORM ? leak_form_ask(rule->form, &t, &hit)
					   : leak_token(rule, &t, &hit)))
		return 0;
	if ((hit.confidence <= LEAK_NOTICE && !s->has_notices) ||
	    leak_is_published(t.text + hit.start, hit.end - hit.start))
		return 0;
	if (hit.rule)
		rule = hit.rule;
	s->error = leak_add(s, &(struct leak){.rule = rule->id,
					      .what = rule->what,
					      .start = s->base + low + hit.start,
					      .end = s->base + low + hit.end,
					      .confidence = hit.confidence});
	return s->error;
}

/* Judges the places that end up to until. */
static int leak_judge(struct leak_scanner *s, size_t until, struct cordon_error *err)
{
	struct leak_pass pass = {.s = s, .after = s->judged, .until = until};
	int r;

	if (until <= s->judged)
		return 0;
	pass.scanned_from = s->judged > LIMIT_LEAK_LEAD ? s->judged - LIMIT_LEAK_LEAD : 0;
	r = match_scan(s->match, s->text + pass.scanned_from, until - pass.scanned_from, leak_place,
		       &pass);
	if (r == -ECANCELED && s->error)
		r = s->error;
	if (r < 0)
		return cordon_fail_errno(err, -r, "scan for credentials");
	return 0;
}

/* Reports what ends before the safe offset and keeps the rest. */
static void leak_report(struct leak_scanner *s)
{
	size_t kept = 0;

	leak_merge(s);
	for (size_t i = 0; i < s->n; i++) {
		if (s->found[i].end <= s->safe)
			s->fn(s->data, &s->found[i]);
		else
			s->found[kept++] = s->found[i];
	}
	s->n = kept;
}

static int leak_advance(struct leak_scanner *s, size_t until, size_t lead, struct cordon_error *err)
{
	int r = leak_judge(s, until, err);
	uint64_t safe = s->base + until;

	if (r < 0)
		return r;
	safe -= safe < lead ? safe : lead;
	if (until > s->judged)
		s->judged = until;
	if (safe > s->safe)
		s->safe = safe;
	leak_report(s);
	return 0;
}

/* Drops what no place that is still to come can look back to. */
static void leak_slide(struct leak_scanner *s)
{
	size_t drop = s->judged > LIMIT_LEAK_LEAD ? s->judged - LIMIT_LEAK_LEAD : 0;

	memmove(s->text, s->text + drop, s->len - drop);
	s->base += drop;
	s->len -= drop;
	s->judged -= drop;
}

int leak_feed(struct leak_scanner *s, const char *bytes, size_t len, struct cordon_error *err)
{
	while (len > 0) {
		size_t part = LEAK_BUFFER - s->len < len ? LEAK_BUFFER - s->len : len;
		int r = mem_grow((void **)&s->text, &s->room, s->len + part, 1, LEAK_BUFFER);

		if (r < 0)
			return cordon_fail_errno(err, -r, "leak scanner");
		memcpy(s->text + s->len, bytes, part);
		s->len += part;
		bytes += part;
		len -= part;
		if (s->len < LEAK_BUFFER)
			break;
		r = leak_advance(s, s->len - LIMIT_LEAK_SPAN, LIMIT_LEAK_LEAD, err);
		if (r < 0)
			return r;
		leak_slide(s);
	}
	return 0;
}

/* Where a private key begins whose end may still come, at or before until; else until. */
static size_t leak_open_key(const struct leak_scanner *s, size_t until)
{
	size_t from = s->len > LIMIT_LEAK_SPAN + 64 ? s->len - LIMIT_LEAK_SPAN - 64 : 0;
	const char *found;

	/* An end that stands on the last, incomplete line has not come whole. */
	while (from < until && (found = memmem(s->text + from, until - from, "-----END", 8)))
		from = (size_t)(found - s->text) + 8;
	found = from < until ? memmem(s->text + from, until - from, "-----BEGIN", 10) : NULL;
	return found ? (size_t)(found - s->text) : until;
}

int leak_flush(struct leak_scanner *s, struct cordon_error *err)
{
	const char *newline;
	size_t until;
	int r = 0;

	if (s->len == s->judged)
		return 0;
	newline = memrchr(s->text + s->judged, '\n', s->len - s->judged);
	if (newline) {
		size_t key;

		until = (size_t)(newline - s->text) + 1;
		key = leak_open_key(s, until);
		if (key < until) {
			newline = memrchr(s->text, '\n', key);
			until = newline ? (size_t)(newline - s->text) + 1 : 0;
		}
		if (until > s->judged)
			r = leak_advance(s, until, 0, err);
	}
	/* Of a long line, or a key without an end, what has all that it may look at. */
	if (r == 0 && s->len - s->judged > LIMIT_LEAK_SPAN)
		r = leak_advance(s, s->len - LIMIT_LEAK_SPAN, LIMIT_LEAK_LEAD, err);
	return r;
}

int leak_end(struct leak_scanner *s, struct cordon_error *err)
{
	return leak_advance(s, s->len, 0, err);
}

uint64_t leak_settled(const struct leak_scanner *s)
{
	uint64_t settled = s->safe;

	for (size_t i = 0; i < s->n; i++)
		if (s->found[i].start < settled)
			settled = s->found[i].start;
	return settled;
}

int leak_peek(struct leak_scanner *s, leak_fn *fn, void *data, struct cordon_error *err)
{
	size_t n = s->n;
	AUTO_FREE struct leak *keep = malloc((n ? n : 1) * sizeof(*keep));
	int r;

	if (!keep)
		return cordon_fail_errno(err, ENOMEM, "scan for credentials");
	if (n > 0)
		memcpy(keep, s->found, n * sizeof(*keep));
	r = leak_judge(s, s->len, err);
	if (r == 0) {
		leak_merge(s);
		for (size_t i = 0; i < s->n; i++)
			fn(data, &s->found[i]);
	}
	if (n > 0)
		memcpy(s->found, keep, n * sizeof(*keep));
	s->n = n;
	return r;
}
