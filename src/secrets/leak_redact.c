/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See leak_redact.h.  The scanner says up to where its judgement is final; until then the bytes wait
 * here.  Bytes that went out while the stream was quiet are still before the scanner's eyes: a
 * credential that is found later and reaches back to them is taken out from there on.
 */
#include "secrets/leak_redact.h"

#include "base/limits.h"
#include "base/mem.h"
#include "secrets/leak.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define REDACT_MARK "[redacted]"
/* What waits before a piece comes, and the piece. */
#define REDACT_HELD_MAX (2 * LIMIT_LEAK_WINDOW)

enum { REDACT_WORD_MIN = 12 }; /* a shorter beginning of a word tells nobody anything */

struct redact_range {
	uint64_t start, end;
	struct leak leak;
	bool is_asked, is_passed; /* may it be seen? */
};

struct redact_ranges {
	struct redact_range *item;
	size_t n, cap;
	int error;
};

struct leak_redactor {
	struct leak_scanner *scanner;
	char *held; /* from offset base on */
	size_t len, room;
	uint64_t base;
	struct redact_ranges found;  /* final ones that are not yet behind us */
	struct redact_ranges peeked; /* of a quiet moment */
	uint64_t count;
	size_t word;   /* bytes of the last word that went out before its end had come */
	leak_fn *note; /* NULL: marks are all the same */
	void *note_data;
	bool covers; /* length for length */
	leak_passes_fn *passes;
	uint64_t mark_end; /* the credential that the last mark stands for ends here */
};

static void redact_ranges_add(void *data, const struct leak *leak)
{
	struct redact_ranges *ranges = data;

	if (ranges->error)
		return;
	ranges->error = mem_grow((void **)&ranges->item, &ranges->cap, ranges->n + 1,
				 sizeof(*ranges->item), LIMIT_LEAK_PENDING);
	if (ranges->error == 0)
		ranges->item[ranges->n++] = (struct redact_range){
			.start = leak->start, .end = leak->end, .leak = *leak};
}

int leak_redactor_new(struct leak_redactor **ret, struct cordon_error *err)
{
	struct leak_redactor *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return cordon_fail_errno(err, ENOMEM, "leak redactor");
	e = leak_scanner_new(redact_ranges_add, &r->found, &r->scanner, err);
	if (e < 0) {
		free(r);
		return e;
	}
	*ret = r;
	return 0;
}

void leak_redactor_free(struct leak_redactor *r)
{
	if (!r)
		return;
	leak_scanner_free(r->scanner);
	if (r->held)
		explicit_bzero(r->held, r->room);
	free(r->held);
	free(r->found.item);
	free(r->peeked.item);
	free(r);
}

void leak_redactor_name(struct leak_redactor *r, leak_fn *note, void *data)
{
	r->note = note;
	r->note_data = data;
}

void leak_redactor_cover(struct leak_redactor *r, leak_fn *note, leak_passes_fn *passes, void *data)
{
	leak_redactor_name(r, note, data);
	r->covers = true;
	r->passes = passes;
}

uint64_t leak_redacted(const struct leak_redactor *r)
{
	return r->count;
}

size_t leak_held(const struct leak_redactor *r)
{
	return r->len;
}

/* How much of an open word has gone out, after n bytes of what is held. */
static void redact_count_word(struct leak_redactor *r, size_t n)
{
	size_t word = 0;

	while (word < n && !isspace((unsigned char)r->held[n - word - 1]))
		word++;
	r->word = word == n ? r->word + word : word;
}

static void redact_mark(struct leak_redactor *r, const struct leak *leak, struct buf *out)
{
	if (r->covers) {
		r->note(r->note_data, leak);
	} else if (r->note) {
		buf_printf(out, "[hidden: %s]", leak->rule);
		r->note(r->note_data, leak);
	} else {
		buf_str(out, REDACT_MARK);
	}
}

/* May the credential be seen?  Asked once, while all of it is here. */
static bool redact_passes(const struct leak_redactor *r, struct redact_range *range)
{
	if (!range->is_asked)
		range->is_passed = r->passes && range->start >= r->base &&
				   range->end <= r->base + r->len &&
				   r->passes(r->note_data, r->held + (range->start - r->base),
					     (size_t)(range->end - range->start));
	range->is_asked = true;
	return range->is_passed;
}

/* Sends what is held up to an offset, without what is in the ranges.  A range that began before what is
 * held still hides its rest, under the mark that it already has. */
static void redact_send(struct leak_redactor *r, struct redact_ranges *ranges, uint64_t until,
			struct buf *out)
{
	uint64_t at = r->base;

	for (size_t i = 0; i < ranges->n && at < until; i++) {
		struct redact_range *range = &ranges->item[i];

		if (range->end <= at || range->start >= until || redact_passes(r, range))
			continue;
		if (range->start > at)
			buf_add(out, r->held + (at - r->base), (size_t)(range->start - at));
		if (range->start >= r->mark_end || r->mark_end == 0) {
			redact_mark(r, &range->leak, out);
			r->count++;
		}
		if (range->end > r->mark_end)
			r->mark_end = range->end;
		if (range->start > at)
			at = range->start;
		while (r->covers && at < range->end && at < until) {
			buf_char(out, '*');
			at++;
		}
		at = range->end < until ? range->end : until;
	}
	if (at < until)
		buf_add(out, r->held + (at - r->base), (size_t)(until - at));
	redact_count_word(r, (size_t)(until - r->base));
	memmove(r->held, r->held + (until - r->base), r->len - (size_t)(until - r->base));
	r->len -= (size_t)(until - r->base);
	r->base = until;
}

/* Sends what is settled and forgets the ranges that are behind it. */
static int redact_settle(struct leak_redactor *r, uint64_t until, struct buf *out,
			 struct cordon_error *err)
{
	size_t kept = 0;

	if (r->found.error)
		return cordon_fail_errno(err, -r->found.error, "leak redactor");
	if (until > r->base)
		redact_send(r, &r->found, until, out);
	for (size_t i = 0; i < r->found.n; i++)
		if (r->found.item[i].end > r->base)
			r->found.item[kept++] = r->found.item[i];
	r->found.n = kept;
	if (buf_error(out) < 0)
		return cordon_fail_errno(err, -buf_error(out), "leak redactor");
	return 0;
}

int leak_redact_feed(struct leak_redactor *r, const char *bytes, size_t len, struct buf *out,
		     struct cordon_error *err)
{
	while (len > 0) {
		size_t part = len < LIMIT_LEAK_WINDOW ? len : LIMIT_LEAK_WINDOW;
		int e = mem_grow((void **)&r->held, &r->room, r->len + part, 1, REDACT_HELD_MAX);

		if (e < 0)
			return cordon_fail_errno(err, -e, "leak redactor");
		memcpy(r->held + r->len, bytes, part);
		r->len += part;
		bytes += part;
		len -= part;
		e = leak_feed(r->scanner, bytes - part, part, err);
		if (e == 0)
			e = leak_flush(r->scanner, err);
		if (e == 0)
			e = redact_settle(r, leak_settled(r->scanner), out, err);
		if (e < 0)
			return e;
	}
	return 0;
}

/* Where the last word of what is held begins; the end when all of it is short. */
static size_t redact_last_word(const struct leak_redactor *r)
{
	size_t n = r->len;

	while (n > 0 && !isspace((unsigned char)r->held[n - 1]))
		n--;
	return r->len - n + (n == 0 ? r->word : 0) < REDACT_WORD_MIN ? r->len : n;
}

int leak_redact_quiet(struct leak_redactor *r, struct buf *out, struct cordon_error *err)
{
	uint64_t until;
	int e;

	if (r->len == 0)
		return 0;
	/* The lines of a private key are not prompts. */
	if (memmem(r->held, r->len, "-----BEGIN", 10))
		return 0;
	r->peeked.n = 0;
	e = leak_peek(r->scanner, redact_ranges_add, &r->peeked, err);
	if (e < 0)
		return e;
	if (r->peeked.error)
		return cordon_fail_errno(err, -r->peeked.error, "leak redactor");
	until = r->base + redact_last_word(r);
	for (size_t i = 0; i < r->peeked.n; i++)
		if (r->peeked.item[i].start < until && r->peeked.item[i].end >= until)
			until = r->peeked.item[i].start;
	if (until > r->base)
		redact_send(r, &r->peeked, until, out);
	if (buf_error(out) < 0)
		return cordon_fail_errno(err, -buf_error(out), "leak redactor");
	return 0;
}

int leak_redact_end(struct leak_redactor *r, struct buf *out, struct cordon_error *err)
{
	int e = leak_end(r->scanner, err);

	return e < 0 ? e : redact_settle(r, r->base + r->len, out, err);
}
