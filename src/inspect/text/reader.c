/* SPDX-License-Identifier: Apache-2.0 */
/* See reader.h. */
#include "inspect/text/reader.h"

#include "base/limits.h"

enum { READER_EDGE = 512 }; /* how far back from the end of a piece a blank is looked for */

void reader_init(struct reader *r, const char *source, size_t len)
{
	*r = (struct reader){.source = source, .len = len};
}

/* Where the piece from origin ends: at a blank near its size if there is one. */
static size_t reader_edge(const struct reader *r)
{
	size_t end = r->len - r->origin > LIMIT_TEXT_PIECE ? r->origin + LIMIT_TEXT_PIECE : r->len;

	if (end == r->len)
		return end;
	for (size_t i = 0; i < READER_EDGE; i++)
		if (r->source[end - i - 1] == '\n' || r->source[end - i - 1] == ' ')
			return end - i;
	/* Not inside a character. */
	for (size_t i = 0; i < 3 && ((unsigned char)r->source[end] & 0xc0) == 0x80; i++)
		end--;
	return end;
}

int reader_next(struct reader *r)
{
	size_t end;

	if (r->next >= r->len)
		return 0;
	r->origin = r->next > READER_OVERLAP ? r->next - READER_OVERLAP : 0;
	while (r->origin < r->next && ((unsigned char)r->source[r->origin] & 0xc0) == 0x80)
		r->origin++;
	end = reader_edge(r);
	r->text = r->source + r->origin;
	r->text_len = end - r->origin;
	r->fresh = r->next - r->origin;
	r->passes = 0;
	while (r->passes < READER_PASSES && !normal_is_plain(r->text, r->text_len)) {
		struct normal *n = &r->pass[r->passes];
		int e = normal_make(n, r->text, r->text_len);

		if (e < 0)
			return e;
		r->text = buf_cstr(&n->text);
		r->text_len = n->text.len;
		r->passes++;
		if (!n->is_decoded)
			break;
	}
	/* In normal form, the new part starts where the source's does. */
	if (r->passes > 0 && r->fresh > 0) {
		size_t low = 0, high = r->text_len;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (reader_source(r, middle) < r->next)
				low = middle + 1;
			else
				high = middle;
		}
		r->fresh = low;
	}
	r->next = end;
	return 1;
}

size_t reader_source(const struct reader *r, size_t at)
{
	for (unsigned i = r->passes; i > 0; i--)
		at = normal_source(&r->pass[i - 1], at);
	return r->origin + at < r->len ? r->origin + at : r->len;
}

void reader_done(struct reader *r)
{
	for (unsigned i = 0; i < READER_PASSES; i++)
		normal_done(&r->pass[i]);
	*r = (struct reader){0};
}
