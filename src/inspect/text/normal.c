/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See normal.h.  One walk over the bytes; runs of ordinary ASCII are copied as they are, everything else is
 * handled by what it starts with.  The result is never longer than three times the source.
 */
#include "inspect/text/normal.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "inspect/text/bits.h"
#include "inspect/text/fold.h"
#include "inspect/text/spans.h"

#include <errno.h>
#include <string.h>

enum {
	NORMAL_WORD_MAX = 96,        /* bytes of a word of two scripts */
	NORMAL_OSC_MAX = 4096,       /* bytes of one string for a terminal */
	NORMAL_SELECTOR_RUN = 4,     /* one or two belong to a glyph */
	NORMAL_BLACK_FLAG = 0x1f3f4, /* tags behind it are a flag */
};

struct normal_walk {
	struct normal *n;
	const char *s;
	size_t len, i;
	size_t block;     /* 64 bytes, or SIZE_MAX at first */
	uint64_t special; /* which of them are */
	uint32_t last;    /* the character before this one */
	unsigned selectors;
	bool in_flag;
	size_t bits; /* up to here characters of no width were read as bits */
	int error;
};

static bool normal_is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool normal_is_letter(uint32_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int normal_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Does a special byte (spans.h) decode, or stand for something else?  The two that are common in plain text count only
 * where they can. */
static bool normal_matters(const char *s, size_t len, size_t i)
{
	unsigned char c = (unsigned char)s[i];

	if (c == '&')
		return i + 1 < len &&
		       (s[i + 1] == '#' || normal_is_letter((unsigned char)s[i + 1]));
	if (c == '%')
		return i + 2 < len && normal_hex(s[i + 1]) >= 0 && normal_hex(s[i + 2]) >= 0;
	return true;
}

bool normal_is_plain(const char *s, size_t len)
{
	for (size_t at = 0; at < len; at += SPANS_BITS)
		for (uint64_t bits = spans_of(spans_special, s + at, len - at); bits;
		     bits &= bits - 1)
			if (normal_matters(s, len, at + (size_t)__builtin_ctzll(bits)))
				return false;
	return true;
}

/* Where the next special byte is, from w->i on.  All else is copied. */
static size_t normal_next(struct normal_walk *w)
{
	size_t i = w->i;

	while (i < w->len) {
		uint64_t bits;

		if (i >= w->block + SPANS_BITS || w->block == SIZE_MAX) {
			w->block = i;
			w->special = spans_of(spans_special, w->s + i, w->len - i);
		}
		bits = w->special >> (i - w->block);
		if (bits)
			return i + (size_t)__builtin_ctzll(bits);
		i = w->block + SPANS_BITS;
	}
	return w->len;
}

static void normal_sign(struct normal_walk *w, enum normal_sign sign)
{
	if (w->n->signs[sign].count++ == 0)
		w->n->signs[sign].at = w->i;
}

/* From here on the result corresponds to the source at w->i. */
static void normal_mark(struct normal_walk *w)
{
	struct normal *n = w->n;
	void *p = n->marks;

	if (w->error < 0 || (n->n_marks > 0 && n->marks[n->n_marks - 1].out == n->text.len)) {
		if (w->error == 0)
			n->marks[n->n_marks - 1].source = w->i;
		return;
	}
	if (n->n_marks == n->cap_marks) {
		w->error = mem_grow(&p, &n->cap_marks, n->n_marks + 1, sizeof(*n->marks),
				    (size_t)3 * LIMIT_TEXT_PIECE);
		n->marks = p;
	}
	if (w->error == 0)
		n->marks[n->n_marks++] = (struct normal_mark){n->text.len, w->i};
}

static void normal_put(struct normal_walk *w, uint32_t code)
{
	char b[4];
	size_t n = 0;

	if (code < 0x80) {
		b[n++] = (char)code;
	} else if (code < 0x800) {
		b[n++] = (char)(0xc0 | code >> 6);
		b[n++] = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		b[n++] = (char)(0xe0 | code >> 12);
		b[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (code & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | code >> 18);
		b[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (code & 0x3f));
	}
	buf_add(&w->n->text, b, n);
	w->last = code;
}

/* What an escape of skip bytes stands for.  Not a character, or a control: nothing is decoded. */
static bool normal_decoded(struct normal_walk *w, uint32_t code, size_t skip, enum normal_sign sign)
{
	if (code == '\n' || code == '\r' || code == '\t')
		code = ' ';
	if (code < 0x20 || code == 0x7f || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return false;
	if (normal_is_letter(code))
		normal_sign(w, sign);
	normal_put(w, code);
	w->n->is_decoded = true;
	w->i += skip;
	normal_mark(w);
	return true;
}

/* A number of at most max digits at s + i.  Returns how many digits. */
static size_t normal_number(const struct normal_walk *w, size_t i, unsigned base, size_t max,
			    uint32_t *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < max && i + n < w->len; n++) {
		int d = normal_hex(w->s[i + n]);

		if (d < 0 || (unsigned)d >= base)
			break;
		*ret = *ret * base + (unsigned)d;
	}
	return n;
}

static bool normal_entity(struct normal_walk *w)
{
	static const struct {
		const char *name;
		uint32_t code;
	} names[] = {{"lt;", '<'},      {"gt;", '>'},
		     {"amp;", '&'},     {"quot;", '"'},
		     {"apos;", '\''},   {"nbsp;", ' '},
		     {"colon;", ':'},   {"period;", '.'},
		     {"sol;", '/'},     {"excl;", '!'},
		     {"NewLine;", ' '}, {"Tab;", ' '},
		     {"zwnj;", 0x200c}, {"ZeroWidthSpace;", 0x200b},
		     {"shy;", 0xad}};
	size_t left = w->len - w->i - 1, digits;
	const char *s = w->s + w->i + 1;
	uint32_t code;

	if (left > 2 && s[0] == '#') {
		bool is_hex = (s[1] | 0x20) == 'x';
		size_t at = w->i + 2 + is_hex;

		digits = normal_number(w, at, is_hex ? 16 : 10, 7, &code);
		if (digits == 0)
			return false;
		at += digits;
		return normal_decoded(w, code, at + (at < w->len && w->s[at] == ';') - w->i,
				      NORMAL_ENTITY);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i].name);

		if (left >= n && memcmp(s, names[i].name, n) == 0)
			return normal_decoded(w, names[i].code, n + 1, NORMAL_ENTITY);
	}
	return false;
}

static bool normal_percent(struct normal_walk *w)
{
	uint32_t code;

	return normal_number(w, w->i + 1, 16, 2, &code) == 2 && code < 0x7f &&
	       normal_decoded(w, code, 3, NORMAL_PERCENT);
}

static bool normal_backslash(struct normal_walk *w)
{
	char c = w->i + 1 < w->len ? w->s[w->i + 1] : '\0';
	size_t want = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint32_t code;

	if (c == 'n' || c == 'r' || c == 't') {
		buf_char(&w->n->text, c == 'n' ? '\n' : ' ');
		w->last = ' ';
		w->i += 2;
		normal_mark(w);
		return true;
	}
	if (c == '"' || c == '\'' || c == '/')
		return normal_decoded(w, (unsigned char)c, 2, NORMAL_ESCAPE);
	if (c == 'u' && w->i + 2 < w->len && w->s[w->i + 2] == '{') {
		size_t n = normal_number(w, w->i + 3, 16, 6, &code);

		return n > 0 && w->i + 3 + n < w->len && w->s[w->i + 3 + n] == '}' &&
		       normal_decoded(w, code, n + 4, NORMAL_ESCAPE);
	}
	if (want > 0)
		return normal_number(w, w->i + 2, 16, want, &code) == want &&
		       normal_decoded(w, code, want + 2, NORMAL_ESCAPE);
	return normal_number(w, w->i + 1, 8, 3, &code) == 3 && code < 0x7f &&
	       normal_decoded(w, code, 4, NORMAL_ESCAPE);
}

/* A string for the terminal (OSC, DCS, APC): its content is read by a model, so it stays as text. */
static void normal_terminal_string(struct normal_walk *w)
{
	size_t start = w->i + 2, end = start;

	while (end < w->len && end - start < NORMAL_OSC_MAX && w->s[end] != '\a' &&
	       w->s[end] != '\033')
		end++;
	if (w->s[w->i + 1] == ']' && end - start > 3 && memcmp(w->s + start, "52;", 3) == 0)
		normal_sign(w, NORMAL_CLIPBOARD);
	buf_char(&w->n->text, ' ');
	w->i = start;
	normal_mark(w);
}

static void normal_terminal(struct normal_walk *w)
{
	char c = w->i + 1 < w->len ? w->s[w->i + 1] : '\0';
	size_t end = w->i + 2;

	if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X') {
		normal_terminal_string(w);
		return;
	}
	if (c == '[') {
		while (end < w->len && (unsigned char)w->s[end] >= 0x20 &&
		       (unsigned char)w->s[end] < 0x40)
			end++;
		if (end < w->len && w->s[end] == 'm' && w->s[end - 1] == '8' &&
		    (w->s[end - 2] == '[' || w->s[end - 2] == ';'))
			normal_sign(w, NORMAL_CONCEAL);
		end += end < w->len;
	}
	w->i = end < w->len ? end : w->len;
	normal_mark(w);
}

static void normal_control(struct normal_walk *w)
{
	if (w->s[w->i] == '\033') {
		normal_terminal(w);
		return;
	}
	normal_sign(w, NORMAL_CONTROL);
	w->i++; /* dropped: a NUL after every letter is UTF-16, a backspace is nothing to a model */
	normal_mark(w);
}

/* Collects what tags and selectors hide.  A flag of a region is spelt in tags and hides nothing. */
static void normal_hide(struct normal_walk *w, uint32_t code, size_t n, enum fold_class class)
{
	struct normal *r = w->n;
	int byte = fold_hidden_byte(code);

	if (class == FOLD_SELECTOR) {
		if (++w->selectors == NORMAL_SELECTOR_RUN)
			normal_sign(w, NORMAL_SELECTOR);
	} else {
		if (w->last == NORMAL_BLACK_FLAG)
			w->in_flag = true;
		if (!w->in_flag)
			normal_sign(w, NORMAL_TAG);
	}
	if (byte >= 0 && !w->in_flag && (class == FOLD_TAG || w->selectors > 1)) {
		if (r->hidden.len == 0)
			r->hidden_at = w->i;
		buf_char(&r->hidden, (char)byte);
	}
	w->i += n;
	w->last = code;
	normal_mark(w);
}

/* A word with a letter that may be taken for a Latin one: the whole word decides. */
static void normal_word(struct normal_walk *w)
{
	char raw[NORMAL_WORD_MAX + 8], plain[NORMAL_WORD_MAX + 8], to[FOLD_TO_MAX + 1];
	size_t n_raw = 0, n_plain = 0, i = w->i;
	bool has_latin = w->n->text.len > 0 &&
			 normal_is_letter((unsigned char)w->n->text.data[w->n->text.len - 1]);
	bool has_other = false;

	while (i < w->len && n_raw < NORMAL_WORD_MAX) {
		uint32_t code = 0;
		size_t n = utf8_decode(w->s + i, w->len - i, &code);
		enum fold_class class;

		if (n == 0 || (code < 0x80 && !normal_is_word((unsigned char)code)))
			break;
		class = code < 0x80 ? FOLD_KEEP : fold_char(code, to);
		if (class != FOLD_KEEP && class != FOLD_LOOKALIKE && class != FOLD_ZERO_WIDTH &&
		    !(class == FOLD_STYLE && normal_is_letter((unsigned char)to[0])))
			break;
		if (class != FOLD_ZERO_WIDTH) {
			memcpy(raw + n_raw, w->s + i, n);
			n_raw += n;
		}
		if (class == FOLD_LOOKALIKE || class == FOLD_STYLE)
			plain[n_plain++] = to[0];
		else if (class == FOLD_KEEP) {
			memcpy(plain + n_plain, w->s + i, n);
			n_plain += n;
			has_other |= code >= 0x80;
		}
		has_latin |= class == FOLD_STYLE || normal_is_letter(code);
		i += n;
	}
	if (has_latin && !has_other) {
		normal_sign(w, NORMAL_MIXED);
		buf_add(&w->n->text, plain, n_plain);
	} else {
		buf_add(&w->n->text, raw, n_raw);
	}
	w->last = 'a';
	w->i = i;
	normal_mark(w);
}

static bool normal_is_ascii_word_at(const struct normal_walk *w, size_t i)
{
	return i < w->len && normal_is_word((unsigned char)w->s[i]);
}

/* What a run of characters of no width spells is hidden text, too. */
static void normal_bits(struct normal_walk *w)
{
	struct normal *r = w->n;
	size_t before = r->hidden.len;

	w->bits = w->i + bits_read(w->s + w->i, w->len - w->i, &r->hidden);
	if (r->hidden.len == before)
		return;
	normal_sign(w, NORMAL_BITS);
	if (before == 0)
		r->hidden_at = w->i;
}

static void normal_wide(struct normal_walk *w)
{
	uint32_t code = 0;
	size_t n = utf8_decode(w->s + w->i, w->len - w->i, &code);
	char to[FOLD_TO_MAX + 1];
	enum fold_class class;

	if (n == 0) {
		w->i++;
		buf_char(&w->n->text, '?');
		normal_mark(w);
		return;
	}
	class = fold_char(code, to);
	if (class == FOLD_LOOKALIKE) {
		normal_word(w);
		return;
	}
	if (class == FOLD_TAG || class == FOLD_SELECTOR) {
		normal_hide(w, code, n, class);
		return;
	}
	if ((code >= 0x590 && code <= 0x8ff) || (code >= 0xfb1d && code <= 0xfdff))
		normal_sign(w, NORMAL_RIGHT_TO_LEFT);
	if (class == FOLD_ZERO_WIDTH && w->i >= w->bits)
		normal_bits(w);
	if (class == FOLD_OVERRIDE)
		normal_sign(w, NORMAL_OVERRIDE);
	else if (class == FOLD_BIDI)
		normal_sign(w, NORMAL_BIDI);
	else if (class == FOLD_ZERO_WIDTH && code != 0xad && w->last < 0x80 &&
		 normal_is_word((unsigned char)w->last) && normal_is_ascii_word_at(w, w->i + n))
		normal_sign(w, NORMAL_ZERO_WIDTH);
	else if (class == FOLD_STYLE) {
		if (normal_is_letter((unsigned char)to[0]) && code >= 0x2100)
			normal_sign(w, NORMAL_STYLE);
		buf_str(&w->n->text, to);
	} else if (class == FOLD_BLANK)
		buf_char(&w->n->text, ' ');
	else if (class == FOLD_KEEP)
		buf_add(&w->n->text, w->s + w->i, n);
	w->last = code;
	w->i += n;
	normal_mark(w);
}

int normal_make(struct normal *n, const char *s, size_t len)
{
	struct normal_walk w = {.n = n, .s = s, .len = len, .block = SIZE_MAX};

	normal_clear(n);
	n->text.max = (size_t)3 * (len + FOLD_TO_MAX);
	n->hidden.max = len;
	normal_mark(&w);
	while (w.i < len && w.error == 0) {
		size_t start = w.i;
		unsigned char c;
		bool is_done = false;

		w.i = normal_next(&w);
		if (w.i > start) {
			buf_add(&n->text, s + start, w.i - start);
			w.last = (unsigned char)s[w.i - 1];
			w.selectors = 0;
			w.in_flag = false;
		}
		if (w.i >= len)
			break;
		c = (unsigned char)s[w.i];
		if (c >= 0x80) {
			if (c < 0xe2)
				w.selectors = 0;
			normal_wide(&w);
			continue;
		}
		if (c < 0x20 || c == 0x7f) {
			normal_control(&w);
			continue;
		}
		is_done = c == '&'   ? normal_entity(&w)
			  : c == '%' ? normal_percent(&w)
				     : normal_backslash(&w);
		if (!is_done) {
			buf_char(&n->text, (char)c);
			w.last = c;
			w.i++;
		}
	}
	if (w.error < 0)
		return w.error;
	return buf_error(&n->text) < 0 ? buf_error(&n->text) : buf_error(&n->hidden);
}

size_t normal_source(const struct normal *n, size_t out)
{
	size_t low = 0, high = n->n_marks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (n->marks[middle].out <= out)
			low = middle;
		else
			high = middle;
	}
	return n->n_marks == 0 ? out : n->marks[low].source + (out - n->marks[low].out);
}

void normal_clear(struct normal *n)
{
	buf_clear(&n->text);
	buf_clear(&n->hidden);
	n->n_marks = 0;
	n->hidden_at = 0;
	n->is_decoded = false;
	memset(n->signs, 0, sizeof(n->signs));
}

void normal_done(struct normal *n)
{
	buf_done(&n->text);
	buf_done(&n->hidden);
	free(n->marks);
	*n = (struct normal){0};
}
