/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See textdiff.h.  The shortest way from one text to the other is looked for from both ends (E. Myers, "An O(ND)
 * difference algorithm and its variations", 1986): where the two searches meet, the problem falls into two that
 * are half as hard.
 */
#include "workspace/cow/textdiff.h"

#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define TEXTDIFF_COST 1000 /* steps of one search from each end, before it gives up */
#define TEXTDIFF_CONTEXT 3 /* equal lines around a difference */
#define TEXTDIFF_LOOK 8000 /* bytes in which a NUL is looked for */
#define TEXTDIFF_NOWHERE (-(1L << 40))

struct line {
	const char *s;
	size_t len; /* with its newline, if it has one */
	uint64_t hash;
};

struct side {
	struct line *v;
	long n;
	bool *is_changed;
};

struct textdiff {
	struct side a;
	struct side b;
	long forth[2 * TEXTDIFF_COST + 5]; /* by diagonal: how far one gets from the beginning */
	long back[2 * TEXTDIFF_COST + 5];  /* and from the end */
};

bool textdiff_is_binary(const char *s, size_t len)
{
	return memchr(s, '\0', len < TEXTDIFF_LOOK ? len : TEXTDIFF_LOOK) != NULL;
}

static void side_done(struct side *s)
{
	free(s->v);
	free(s->is_changed);
}

static int side_split(struct side *ret, const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n' || i + 1 == len;
	ret->v = calloc(n + 1, sizeof(*ret->v));
	ret->is_changed = calloc(n + 1, sizeof(*ret->is_changed));
	if (!ret->v || !ret->is_changed)
		return -ENOMEM;
	while (len > 0) {
		const char *end = memchr(s, '\n', len);
		struct line *l = &ret->v[ret->n++];

		l->s = s;
		l->len = end ? (size_t)(end - s) + 1 : len;
		l->hash = UINT64_C(14695981039346656037);
		for (size_t i = 0; i < l->len; i++)
			l->hash = (l->hash ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
		s += l->len;
		len -= l->len;
	}
	return 0;
}

static bool textdiff_same(const struct textdiff *d, long i, long k)
{
	const struct line *x = &d->a.v[i], *y = &d->b.v[k];

	return x->hash == y->hash && x->len == y->len && memcmp(x->s, y->s, x->len) == 0;
}

/* A stretch of each side. */
struct box {
	long a, a_end;
	long b, b_end;
};

/* One more step on diagonal k; reach: of all diagonals, by k + middle.  The new place, or TEXTDIFF_NOWHERE. */
static long textdiff_step(const struct textdiff *d, const struct box *box, long *reach, long k,
			  bool is_back)
{
	const long middle = TEXTDIFF_COST + 2;
	long n = box->a_end - box->a, m = box->b_end - box->b;
	long down = reach[middle + k + 1], right = reach[middle + k - 1] + 1;
	long x = down > right ? down : right;
	long y = x - k;

	if (x < 0 || y < 0 || x > n || y > m)
		return reach[middle + k] = TEXTDIFF_NOWHERE;
	while (x < n && y < m &&
	       (is_back ? textdiff_same(d, box->a_end - 1 - x, box->b_end - 1 - y)
			: textdiff_same(d, box->a + x, box->b + y))) {
		x++;
		y++;
	}
	return reach[middle + k] = x;
}

/* Where the searches meet, counted from the beginning of the box. */
static bool textdiff_meet(struct textdiff *d, const struct box *box, long *ret_x, long *ret_y)
{
	const long middle = TEXTDIFF_COST + 2;
	long n = box->a_end - box->a, m = box->b_end - box->b;
	long delta = n - m;

	for (size_t i = 0; i < ARRAY_LEN(d->forth); i++)
		d->forth[i] = d->back[i] = TEXTDIFF_NOWHERE;
	d->forth[middle + 1] = d->back[middle + 1] = 0;
	for (long steps = 0; steps <= TEXTDIFF_COST && steps <= (n + m + 1) / 2; steps++) {
		for (long k = -steps; k <= steps; k += 2) {
			long x = textdiff_step(d, box, d->forth, k, false);
			long other = delta - k;

			if (delta % 2 != 0 && x >= 0 && other > -steps && other < steps &&
			    d->back[middle + other] >= 0 && x + d->back[middle + other] >= n) {
				*ret_x = x;
				*ret_y = x - k;
				return true;
			}
		}
		for (long k = -steps; k <= steps; k += 2) {
			long x = textdiff_step(d, box, d->back, k, true);
			long other = delta - k;

			if (delta % 2 == 0 && x >= 0 && other >= -steps && other <= steps &&
			    d->forth[middle + other] >= 0 && x + d->forth[middle + other] >= n) {
				*ret_x = n - x;
				*ret_y = m - (x - k);
				return true;
			}
		}
	}
	return false;
}

static void textdiff_box(struct textdiff *d, struct box box)
{
	long x = 0, y = 0;

	while (box.a < box.a_end && box.b < box.b_end && textdiff_same(d, box.a, box.b)) {
		box.a++;
		box.b++;
	}
	while (box.a < box.a_end && box.b < box.b_end &&
	       textdiff_same(d, box.a_end - 1, box.b_end - 1)) {
		box.a_end--;
		box.b_end--;
	}
	if (box.a < box.a_end && box.b < box.b_end && textdiff_meet(d, &box, &x, &y) &&
	    (x > 0 || y > 0) && (box.a + x < box.a_end || box.b + y < box.b_end)) {
		textdiff_box(d, (struct box){box.a, box.a + x, box.b, box.b + y});
		textdiff_box(d, (struct box){box.a + x, box.a_end, box.b + y, box.b_end});
		return;
	}
	for (long i = box.a; i < box.a_end; i++)
		d->a.is_changed[i] = true;
	for (long i = box.b; i < box.b_end; i++)
		d->b.is_changed[i] = true;
}

static void textdiff_line(struct buf *out, char mark, const struct line *l)
{
	buf_char(out, mark);
	buf_add(out, l->s, l->len);
	if (l->len == 0 || l->s[l->len - 1] != '\n')
		buf_str(out, "\n\\ No newline at end of file\n");
}

/* A range of a header: empty ones name the line before. */
static void textdiff_range(struct buf *out, long from, long n)
{
	buf_printf(out, "%ld", n == 0 ? from : from + 1);
	if (n != 1)
		buf_printf(out, ",%ld", n);
}

static void textdiff_hunk(const struct textdiff *d, const struct box *h, struct buf *out)
{
	long i = h->a, k = h->b;

	buf_str(out, "@@ -");
	textdiff_range(out, h->a, h->a_end - h->a);
	buf_str(out, " +");
	textdiff_range(out, h->b, h->b_end - h->b);
	buf_str(out, " @@\n");
	while (i < h->a_end || k < h->b_end) {
		if (i < h->a_end && d->a.is_changed[i])
			textdiff_line(out, '-', &d->a.v[i++]);
		else if (k < h->b_end && d->b.is_changed[k])
			textdiff_line(out, '+', &d->b.v[k++]);
		else if (i < h->a_end && k < h->b_end)
			textdiff_line(out, ' ', (k++, &d->a.v[i++]));
		else
			break; /* cannot be: equal lines come in pairs */
	}
}

/* Unchanged lines run side by side, so one walk finds every hunk. */
static void textdiff_hunks(const struct textdiff *d, struct buf *out)
{
	long i = 0, k = 0;

	while (i < d->a.n || k < d->b.n) {
		struct box h;
		long quiet = 0;

		if (!(i < d->a.n && d->a.is_changed[i]) && !(k < d->b.n && d->b.is_changed[k])) {
			i++;
			k++;
			continue;
		}
		h.a = i > TEXTDIFF_CONTEXT ? i - TEXTDIFF_CONTEXT : 0;
		h.b = k - (i - h.a);
		while ((i < d->a.n || k < d->b.n) && quiet <= 2 * TEXTDIFF_CONTEXT) {
			if (i < d->a.n && d->a.is_changed[i]) {
				i++;
				quiet = 0;
			} else if (k < d->b.n && d->b.is_changed[k]) {
				k++;
				quiet = 0;
			} else {
				i++;
				k++;
				quiet++;
			}
		}
		/* Of what was quiet at the end only the context belongs to it. */
		quiet = quiet > TEXTDIFF_CONTEXT ? quiet - TEXTDIFF_CONTEXT : 0;
		h.a_end = i - quiet;
		h.b_end = k - quiet;
		textdiff_hunk(d, &h, out);
		i = h.a_end;
		k = h.b_end;
	}
}

int textdiff(const char *a, size_t a_len, const char *b, size_t b_len, struct buf *out)
{
	struct textdiff *d = calloc(1, sizeof(*d));
	int r = d ? side_split(&d->a, a, a_len) : -ENOMEM;

	if (r == 0)
		r = side_split(&d->b, b, b_len);
	if (r == 0) {
		textdiff_box(d, (struct box){0, d->a.n, 0, d->b.n});
		textdiff_hunks(d, out);
	}
	if (d) {
		side_done(&d->a);
		side_done(&d->b);
	}
	free(d);
	return r;
}
