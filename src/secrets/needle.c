/* SPDX-License-Identifier: Apache-2.0 */
/* See needle.h; the forms of a value are made in needle_form.c. */
#include "secrets/needle.h"

#include "base/limits.h"
#include "base/mem.h"
#include "secrets/needle_form.h"

#include <errno.h>
#include <string.h>

#define NEEDLE_WITHHELD "[cordon: the rest of this output is withheld: it holds a stored secret]\n"
#define NEEDLE_LINE_MIN 16 /* characters between two line ends inside one form */
#define NEEDLE_LINE_ENDS 2 /* "\r\n" */
#define NEEDLE_PAIRS 65536 /* of bytes */
/* What waits before a piece comes, with line ends, and the piece.  Never grown: that leaves copies. */
#define NEEDLE_HELD_MAX ((size_t)4 * LIMIT_NEEDLE_PIECE)

struct needles {
	struct form_list forms;
	struct locked *memory; /* of the forms, one for each secret */
	size_t n;
	const struct secret_grants *grants;
	/* By the first two bytes: the first form, and from form to form with next.  For a first byte that is the last one so
	 * far, or stands at the end of a line, all that begin with it. */
	int *first;
	int *next;
	int alone[256];
	int *next_alone;
};

struct needle_screen {
	const struct needles *needles;
	enum scan_action action;
	char *held;
	size_t len;
	size_t out; /* bytes of held that went on in a quiet moment */
	bool is_shut;
	int error;
	size_t before; /* 1 + the secret of which a piece stood right before held; 0: none */
	uint64_t *counts;
};

void needles_free(struct needles *n)
{
	if (!n)
		return;
	for (size_t i = 0; n->memory && i < n->n; i++)
		locked_done(&n->memory[i]);
	free(n->memory);
	free(n->forms.items);
	free(n->first);
	free(n->next);
	free(n->next_alone);
	free(n);
}

/* No form is shorter than two bytes. */
static size_t needle_pair(const char *text)
{
	return (size_t)(unsigned char)text[0] << 8 | (unsigned char)text[1];
}

static int needles_index(struct needles *n)
{
	n->first = malloc(NEEDLE_PAIRS * sizeof(*n->first));
	n->next = calloc(n->forms.n + 1, sizeof(*n->next));
	n->next_alone = calloc(n->forms.n + 1, sizeof(*n->next_alone));
	if (!n->first || !n->next || !n->next_alone)
		return -ENOMEM;
	for (size_t i = 0; i < NEEDLE_PAIRS; i++)
		n->first[i] = -1;
	for (size_t i = 0; i < ARRAY_LEN(n->alone); i++)
		n->alone[i] = -1;
	for (size_t i = n->forms.n; i > 0; i--) {
		const char *text = n->forms.items[i - 1].text;
		unsigned char c = (unsigned char)text[0];

		n->next_alone[i - 1] = n->alone[c];
		n->alone[c] = (int)(i - 1);
		n->next[i - 1] = n->first[needle_pair(text)];
		n->first[needle_pair(text)] = (int)(i - 1);
	}
	return 0;
}

/* The forms that may begin at `at`, and what leads from one to the next. */
static int needles_from(const struct needles *n, const char *at, size_t len, const int **ret_next)
{
	bool is_alone = len < 2 || at[1] == '\n' || at[1] == '\r';

	*ret_next = is_alone ? n->next_alone : n->next;
	return is_alone ? n->alone[(unsigned char)*at] : n->first[needle_pair(at)];
}

int needles_new(const struct secret_grants *grants, struct needles **ret)
{
	struct needles *n = calloc(1, sizeof(*n));
	size_t total = 0;
	int r = 0;

	if (!n)
		return -ENOMEM;
	n->grants = grants;
	n->memory = calloc(grants->n + 1, sizeof(*n->memory));
	if (!n->memory)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < grants->n; i++) {
		const struct secret_grant *g = &grants->items[i];

		total += FORM_ROOM(g->len);
		if (total > LIMIT_NEEDLE_BYTES)
			r = -E2BIG;
		if (r == 0)
			r = locked_new(FORM_ROOM(g->len), LOCKED_STAYS, &n->memory[i]);
		if (r == 0) {
			n->n++;
			r = form_make(g->value, g->len, i, &n->memory[i], &n->forms);
		}
	}
	if (r == 0)
		r = needles_index(n);
	if (r < 0) {
		needles_free(n);
		return r;
	}
	*ret = n;
	return 0;
}

int needle_screen_new(const struct needles *n, enum scan_action action, struct needle_screen **ret)
{
	struct needle_screen *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->needles = n;
	s->action = action;
	s->counts = calloc(n->grants->n + 1, sizeof(*s->counts));
	s->held = malloc(NEEDLE_HELD_MAX);
	if (!s->counts || !s->held) {
		needle_screen_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void needle_screen_free(struct needle_screen *s)
{
	if (!s)
		return;
	if (s->held)
		explicit_bzero(s->held, NEEDLE_HELD_MAX);
	free(s->held);
	free(s->counts);
	free(s);
}

size_t needle_held(const struct needle_screen *s)
{
	return s->len - s->out;
}

uint64_t needle_count(const struct needle_screen *s, size_t secret)
{
	return s->counts[secret];
}

enum needle_match { MATCH_NONE, MATCH_PARTIAL, MATCH_FULL };

/* Line ends between two characters of a form that people break over lines; 0 when there is none that counts. */
static size_t needle_line_end(const char *at, size_t len, size_t since)
{
	size_t n = 0;

	if (since < NEEDLE_LINE_MIN)
		return 0;
	while (n < NEEDLE_LINE_ENDS && n < len && (at[n] == '\n' || at[n] == '\r'))
		n++;
	return n;
}

static enum needle_match needle_compare(const struct form *f, const char *at, size_t len,
					size_t *ret_used)
{
	/* The form may begin anywhere in its first line. */
	size_t i = 0, k = 0, since = NEEDLE_LINE_MIN;

	if (!f->wraps) {
		size_t n = len < f->len ? len : f->len;

		*ret_used = f->len;
		if (memcmp(at, f->text, n) != 0)
			return MATCH_NONE;
		return n == f->len ? MATCH_FULL : MATCH_PARTIAL;
	}
	for (; k < f->len; i++, k++, since++) {
		size_t skip = i < len ? needle_line_end(at + i, len - i, since) : 0;

		i += skip;
		since = skip ? 0 : since;
		if (i >= len)
			return MATCH_PARTIAL;
		if (at[i] != f->text[k])
			return MATCH_NONE;
	}
	*ret_used = i;
	return MATCH_FULL;
}

/* The longest value that begins at `at`.  PARTIAL: a longer one may come. */
static enum needle_match needle_at(const struct needles *n, const char *at, size_t len,
				   size_t *ret_used, const struct form **ret)
{
	enum needle_match found = MATCH_NONE;
	const int *next;
	size_t best = 0;

	for (int f = needles_from(n, at, len, &next); f >= 0; f = next[f]) {
		const struct form *form = &n->forms.items[f];
		size_t used = 0;
		enum needle_match m = needle_compare(form, at, len, &used);

		if (m == MATCH_PARTIAL)
			return MATCH_PARTIAL;
		if (m == MATCH_FULL && used > best) {
			best = used;
			found = MATCH_FULL;
			*ret_used = used;
			*ret = form;
		}
	}
	return found;
}

/* The same when nothing more comes. */
static enum needle_match needle_last(const struct needles *n, const char *at, size_t len,
				     size_t *ret_used, const struct form **ret)
{
	enum needle_match found = MATCH_NONE;
	const int *next;

	*ret_used = 0;
	for (int f = needles_from(n, at, len, &next); f >= 0; f = next[f]) {
		size_t used = 0;

		if (needle_compare(&n->forms.items[f], at, len, &used) != MATCH_FULL ||
		    used <= *ret_used)
			continue;
		*ret_used = used;
		*ret = &n->forms.items[f];
		found = MATCH_FULL;
	}
	return found;
}

static void needle_found(struct needle_screen *s, size_t from, size_t used, const struct form *f,
			 struct buf *out)
{
	bool is_rest = f->goes_on && s->before == f->secret + 1;
	size_t secret = f->secret;

	s->counts[secret] += !is_rest;
	s->before = secret + 1;
	switch (s->action) {
	case SECRET_WARN:
		from = from > s->out ? from : s->out;
		buf_add(out, s->held + from, used - from);
		return;
	case SECRET_REDACT:
		if (is_rest)
			return;
		buf_printf(out, "[hidden: %s]", s->needles->grants->items[secret].name);
		return;
	case SECRET_BLOCK:
	case SCAN_ACTION_COUNT:
		buf_str(out, NEEDLE_WITHHELD);
		s->is_shut = true;
		return;
	}
}

/* Sends what is decided; what may become a value stays. */
static void needle_sift(struct needle_screen *s, bool is_end, struct buf *out)
{
	const struct needles *n = s->needles;
	size_t i = 0, sent = s->out;

	while (i < s->len && !s->is_shut) {
		const struct form *form = NULL;
		size_t used = 0;
		enum needle_match m = MATCH_NONE;

		if (n->alone[(unsigned char)s->held[i]] >= 0)
			m = is_end ? needle_last(n, s->held + i, s->len - i, &used, &form)
				   : needle_at(n, s->held + i, s->len - i, &used, &form);
		if (m == MATCH_PARTIAL)
			break;
		if (m == MATCH_NONE) {
			s->before = 0;
			i++;
			continue;
		}
		if (i > sent)
			buf_add(out, s->held + sent, i - sent);
		needle_found(s, i, i + used, form, out);
		i += used;
		sent = i;
	}
	if (!s->is_shut && i > sent)
		buf_add(out, s->held + sent, i - sent);
	if (s->is_shut)
		i = s->len;
	memmove(s->held, s->held + i, s->len - i);
	s->len -= i;
	s->out = s->out > i ? s->out - i : 0;
}

static int needle_state(struct needle_screen *s, const struct buf *out)
{
	if (buf_error(out) < 0)
		s->error = buf_error(out);
	return s->error;
}

int needle_feed(struct needle_screen *s, const char *bytes, size_t len, struct buf *out)
{
	while (len > 0 && s->error == 0 && !s->is_shut) {
		size_t part = len < LIMIT_NEEDLE_PIECE ? len : LIMIT_NEEDLE_PIECE;

		if (part > NEEDLE_HELD_MAX - s->len) {
			s->error = -E2BIG;
			break;
		}
		memcpy(s->held + s->len, bytes, part);
		s->len += part;
		bytes += part;
		len -= part;
		needle_sift(s, /* is_end= */ false, out);
	}
	return needle_state(s, out);
}

/* Is what waits the next piece of a value whose last one has just gone by? */
static bool needle_goes_on(const struct needle_screen *s)
{
	const struct needles *n = s->needles;
	const int *next;

	if (s->len == 0 || s->before == 0)
		return false;
	for (int f = needles_from(n, s->held, s->len, &next); f >= 0; f = next[f]) {
		const struct form *form = &n->forms.items[f];
		size_t used;

		if (form->goes_on && form->secret == s->before - 1 &&
		    needle_compare(form, s->held, s->len, &used) == MATCH_PARTIAL)
			return true;
	}
	return false;
}

int needle_quiet(struct needle_screen *s, struct buf *out)
{
	size_t until = s->len < NEEDLE_TEASER ? s->len : NEEDLE_TEASER;

	if (needle_goes_on(s))
		return s->error;
	if (s->error == 0 && !s->is_shut && until > s->out) {
		buf_add(out, s->held + s->out, until - s->out);
		s->out = until;
	}
	return needle_state(s, out);
}

int needle_cut(struct needle_screen *s, struct buf *out)
{
	if (s->action == SECRET_WARN)
		return needle_end(s, out);
	/* All that was fed has been sifted: what is left is the first part of something, or is nothing. */
	explicit_bzero(s->held, s->len);
	s->len = s->out = 0;
	return needle_state(s, out);
}

int needle_end(struct needle_screen *s, struct buf *out)
{
	if (s->error == 0)
		needle_sift(s, /* is_end= */ true, out);
	return needle_state(s, out);
}
