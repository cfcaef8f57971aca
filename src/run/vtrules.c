/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which escape sequences of a command reach the terminal: the tables behind vtfilter.h.  What no row names
 * is removed.  Left out on purpose, and why:
 *
 *   OSC 52 (clipboard), 9 and 99 and 777 (notifications), 1337 (files), 7 and 133 and 633 (tell the terminal
 *   where the shell is and what was typed), 50 (fonts), 4 and 10 to 19 when they set colours (they outlive
 *   the call and can hide what comes later); hyperlinks other than http and https; DCS altogether (key
 *   programming, status requests, the way through tmux, pictures); APC, PM, SOS (kitty's pictures are read
 *   from files by name); CSI t (windows, and reports of the title, which the command could choose) but for
 *   the stack of titles; CSI i (printing), *y (checksums of what is on the screen), x, =c, $p and ?n other
 *   than 6 (answers that no ordinary program waits for); 2h (locks the keyboard), ?3 (resizes); u with a
 *   prefix and >m (other encodings of keys, which would outlive the call); "p, SP F, SP G, % (other
 *   encodings of controls: this filter would no longer see them).
 */
#include "run/vtfilter.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define ST_NUMBER_MAX                                                                              \
	4 /* digits of a parameter; a count of 99999 is an attack on the terminal's time */
#define SGR_NUMBER_MAX 5
#define MODES_MAX 16
#define MODE_SAVE_CURSOR 1048

enum vt_check {
	CHECK_NUMBERS, /* any numbers */
	CHECK_NONE,    /* no parameter */
	CHECK_SGR,
	CHECK_ZERO,      /* none, or 0 */
	CHECK_STATUS,    /* 5 or 6 */
	CHECK_POSITION,  /* 6 */
	CHECK_TITLES,    /* 22 or 23 */
	CHECK_INSERT,    /* 4 or 34 */
	CHECK_MODES,     /* those of the table of modes, the others are taken out */
	CHECK_STYLE,     /* numbers; remembered */
	CHECK_MARGINS,   /* numbers; remembered */
	CHECK_SOFT_RESET /* nothing is left changed */
};

static const struct vt_csi {
	char prefix; /* 0, or one of <=>? */
	char middle; /* 0, or one of SP to / */
	char final;
	uint8_t check;
	bool asks; /* the terminal answers */
	const char *why;
} csi_rows[] = {
	{0, 0, '@', CHECK_NUMBERS, false, "insert characters"},
	{0, 0, 'A', CHECK_NUMBERS, false, "cursor up"},
	{0, 0, 'B', CHECK_NUMBERS, false, "cursor down"},
	{0, 0, 'C', CHECK_NUMBERS, false, "cursor right"},
	{0, 0, 'D', CHECK_NUMBERS, false, "cursor left"},
	{0, 0, 'E', CHECK_NUMBERS, false, "next line"},
	{0, 0, 'F', CHECK_NUMBERS, false, "previous line"},
	{0, 0, 'G', CHECK_NUMBERS, false, "column"},
	{0, 0, 'H', CHECK_NUMBERS, false, "cursor position"},
	{0, 0, 'I', CHECK_NUMBERS, false, "tabs forward"},
	{0, 0, 'J', CHECK_NUMBERS, false, "erase in display"},
	{'?', 0, 'J', CHECK_NUMBERS, false, "the same, selectively"},
	{0, 0, 'K', CHECK_NUMBERS, false, "erase in line"},
	{'?', 0, 'K', CHECK_NUMBERS, false, "the same, selectively"},
	{0, 0, 'L', CHECK_NUMBERS, false, "insert lines"},
	{0, 0, 'M', CHECK_NUMBERS, false, "delete lines"},
	{0, 0, 'P', CHECK_NUMBERS, false, "delete characters"},
	{0, 0, 'S', CHECK_NUMBERS, false, "scroll up"},
	{0, 0, 'T', CHECK_NUMBERS, false, "scroll down"},
	{0, 0, 'X', CHECK_NUMBERS, false, "erase characters"},
	{0, 0, 'Z', CHECK_NUMBERS, false, "tabs backward"},
	{0, 0, '`', CHECK_NUMBERS, false, "column"},
	{0, 0, 'a', CHECK_NUMBERS, false, "cursor right"},
	{0, 0, 'b', CHECK_NUMBERS, false, "repeat the last character"},
	{0, 0, 'c', CHECK_ZERO, true, "what terminal is it; the answer is fixed"},
	{'>', 0, 'c', CHECK_ZERO, true, "which version; the answer is fixed"},
	{'?', 0, 'c', CHECK_NUMBERS, false, "the Linux console's cursor shape"},
	{0, 0, 'd', CHECK_NUMBERS, false, "row"},
	{0, 0, 'e', CHECK_NUMBERS, false, "cursor down"},
	{0, 0, 'f', CHECK_NUMBERS, false, "cursor position"},
	{0, 0, 'g', CHECK_NUMBERS, false, "clear tab stops"},
	{0, 0, 'h', CHECK_INSERT, false, "insert mode, cursor of screen"},
	{0, 0, 'l', CHECK_INSERT, false, "the same, off"},
	{'?', 0, 'h', CHECK_MODES, false, "the modes of the table"},
	{'?', 0, 'l', CHECK_MODES, false, "the same, off"},
	{0, 0, 'm', CHECK_SGR, false, "colours and attributes"},
	{0, 0, 'n', CHECK_STATUS, true, "where is the cursor: shells and editors need it; digits"},
	{'?', 0, 'n', CHECK_POSITION, true, "the same"},
	{0, '!', 'p', CHECK_SOFT_RESET, false, "soft reset"},
	{0, ' ', 'q', CHECK_STYLE, false, "cursor style"},
	{'>', 0, 'q', CHECK_ZERO, true, "name and version; the answer is fixed"},
	{0, 0, 'r', CHECK_MARGINS, false, "scrolling region"},
	{0, 0, 's', CHECK_NONE, false, "save the cursor"},
	{0, 0, 't', CHECK_TITLES, false, "put the title aside and take it back"},
	{0, 0, 'u', CHECK_NONE, false, "restore the cursor"},
};

/* Private modes.  is_on: that is how a terminal starts, and how it is left. */
static const struct vt_mode {
	uint16_t number;
	bool is_on;
	const char *why;
} mode_rows[] = {
	{2026, false, "show updates at once; first, for it holds back all others"},
	{1, false, "cursor keys of applications"},
	{5, false, "reverse video: the visible bell"},
	{6, false, "origin"},
	{7, true, "wrap at the margin"},
	{9, false, "mouse"},
	{12, false, "blinking cursor"},
	{25, true, "cursor"},
	{45, false, "wrap backwards"},
	{47, false, "other screen"},
	{66, false, "keypad"},
	{1000, false, "mouse"},
	{1002, false, "mouse"},
	{1003, false, "mouse"},
	{1004, false, "focus"},
	{1005, false, "mouse"},
	{1006, false, "mouse"},
	{1007, false, "wheel"},
	{1015, false, "mouse"},
	{1016, false, "mouse"},
	{1034, false, "eighth bit of meta"},
	{1047, false, "other screen"},
	{1048, false, "save the cursor"},
	{1049, false, "other screen and cursor"},
	{2004, false, "bracketed paste: a shell's protection against pasted commands"},
};

/* Final bytes of ESC sequences; first column: intermediates of which one may stand before. */
static const struct {
	const char *middle;
	const char *finals;
} escape_rows[] = {
	{"", "78=>DEHMNOc"},                 /* cursor, keypad, lines, tabs, reset */
	{"()*+", "012345679<>=ABCEHIKQRYZ"}, /* character sets, line drawing */
	{"#", "34568"},                      /* size of lines, alignment */
};

static const char *const osc_resets[] = {"104", "105", "110", "111", "112", "117", "119"};
/* What has a background: light or dark decides how editors colour text.  Digits are answered. */
static const char *const osc_questions[] = {"10;?", "11;?"};
static const char *const link_schemes[] = {"http://", "https://"};

static void vt_remember_charset(struct vtfilter *f, unsigned set, bool is_other)
{
	f->left.charsets = (uint8_t)(f->left.charsets & ~(1U << set)) | (uint8_t)(is_other << set);
}

bool vtrules_escape(struct vtfilter *f, const unsigned char *body, size_t len)
{
	unsigned char final = body[len - 1];

	if (len > 2)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(escape_rows); i++) {
		const char *middle = escape_rows[i].middle;

		if ((len == 2 ? !strchr(middle, body[0]) : *middle != '\0') ||
		    !strchr(escape_rows[i].finals, final))
			continue;
		if (len == 2 && *middle == '(')
			vt_remember_charset(f, (unsigned)(body[0] - '('), final != 'B');
		else if (len == 1 && (final == '=' || final == '>'))
			f->left.keypad = final == '=';
		else if (len == 1 && final == 'c')
			f->left = (struct vtfilter_left){0};
		return true;
	}
	return false;
}

static bool vt_numbers(const unsigned char *s, size_t len, size_t digits_max, bool has_colons)
{
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		bool is_digit = s[i] >= '0' && s[i] <= '9';

		if (!is_digit && s[i] != ';' && !(has_colons && s[i] == ':'))
			return false;
		digits = is_digit ? digits + 1 : 0;
		if (digits > digits_max)
			return false;
	}
	return true;
}

static bool vt_is(const unsigned char *s, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(s, text, len) == 0;
}

static void vt_remember_mode(struct vtfilter *f, size_t row, bool on)
{
	if (mode_rows[row].number == MODE_SAVE_CURSOR)
		return; /* to put it back would move the cursor */
	if (on != mode_rows[row].is_on)
		f->left.modes |= (uint64_t)1 << row;
	else
		f->left.modes &= ~((uint64_t)1 << row);
}

/* "?25;3;1049h" without the modes that are not in the table. */
static size_t vt_modes(struct vtfilter *f, const unsigned char *s, size_t len, char final,
		       char *out)
{
	size_t n = 0, kept = 0;

	static_assert(ARRAY_LEN(mode_rows) <= 64, "one bit each");
	if (!vt_numbers(s, len, ST_NUMBER_MAX, false))
		return 0;
	out[n++] = '?';
	for (size_t i = 0; i < len && kept < MODES_MAX; i++) {
		unsigned number = 0;
		size_t from = i;

		for (; i < len && s[i] != ';'; i++)
			number = number * 10 + (s[i] - '0');
		for (size_t row = 0; row < ARRAY_LEN(mode_rows); row++) {
			if (mode_rows[row].number != number || i == from)
				continue;
			vt_remember_mode(f, row, final == 'h');
			if (kept++ > 0)
				out[n++] = ';';
			memcpy(out + n, s + from, i - from);
			n += i - from;
		}
	}
	out[n++] = final;
	return kept ? n : 0;
}

/* Are the parameters what the row takes? */
static bool vt_check(struct vtfilter *f, const struct vt_csi *row, const unsigned char *s,
		     size_t len)
{
	switch ((enum vt_check)row->check) {
	case CHECK_NUMBERS:
		return vt_numbers(s, len, ST_NUMBER_MAX, false);
	case CHECK_NONE:
		return len == 0;
	case CHECK_SGR:
		f->left.attributes = !(len == 0 || vt_is(s, len, "0"));
		return vt_numbers(s, len, SGR_NUMBER_MAX, true);
	case CHECK_ZERO:
		return len == 0 || vt_is(s, len, "0");
	case CHECK_STATUS:
		return vt_is(s, len, "5") || vt_is(s, len, "6");
	case CHECK_POSITION:
		return vt_is(s, len, "6");
	case CHECK_TITLES:
		return len >= 2 && vt_numbers(s, len, 2, false) &&
		       (memcmp(s, "22", 2) == 0 || memcmp(s, "23", 2) == 0);
	case CHECK_INSERT:
		return vt_is(s, len, "4") || vt_is(s, len, "34");
	case CHECK_STYLE:
		f->left.cursor_style = len > 0 && !vt_is(s, len, "0");
		return vt_numbers(s, len, 1, false);
	case CHECK_MARGINS:
		f->left.margins = len > 0;
		return vt_numbers(s, len, ST_NUMBER_MAX, false);
	case CHECK_SOFT_RESET:
		return len == 0;
	case CHECK_MODES:
		break; /* not a question of yes or no */
	}
	return false;
}

size_t vtrules_csi(struct vtfilter *f, const unsigned char *body, size_t len, char *out)
{
	const unsigned char *s = body;
	size_t n = len - 1;
	char final = (char)body[len - 1], prefix = 0, middle = 0;

	if (n > 0 && s[0] >= '<' && s[0] <= '?') {
		prefix = (char)*s++;
		n--;
	}
	if (n > 0 && s[n - 1] >= ' ' && s[n - 1] <= '/')
		middle = (char)s[--n];
	for (size_t i = 0; i < ARRAY_LEN(csi_rows); i++) {
		const struct vt_csi *row = &csi_rows[i];

		if (row->prefix != prefix || row->middle != middle || row->final != final)
			continue;
		if (row->check == CHECK_MODES)
			return vt_modes(f, s, n, final, out);
		if (!vt_check(f, row, s, n) || (row->asks && f->is_deaf))
			return 0;
		f->has_asked |= row->asks;
		memcpy(out, body, len);
		return len;
	}
	return 0;
}

/* Text of a title: printable, valid, without eight-bit controls. */
static bool vt_is_text(const struct vtfilter *f, const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_decode((const char *)s + i, len - i, &code);

		if (n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) ||
		    (code >= 0x80 && !f->is_utf8))
			return false;
		i += n;
	}
	return true;
}

/* "8;params;uri": the end of a link, or one to the web. */
static bool vt_is_link(const unsigned char *s, size_t len)
{
	const unsigned char *uri = memchr(s + 2, ';', len - 2);

	if (!uri)
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] >= 0x7f)
			return false;
	uri++;
	len -= (size_t)(uri - s);
	if (len == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(link_schemes); i++)
		if (len > strlen(link_schemes[i]) &&
		    memcmp(uri, link_schemes[i], strlen(link_schemes[i])) == 0)
			return true;
	return false;
}

bool vtrules_osc(struct vtfilter *f, const unsigned char *body, size_t len)
{
	/* Titles are shown, never read back: the reports are removed.  A lone "?" would ask. */
	if (len >= 2 && body[0] >= '0' && body[0] <= '2' && body[1] == ';')
		return vt_is_text(f, body + 2, len - 2) && !vt_is(body + 2, len - 2, "?");
	if (len >= 3 && memcmp(body, "8;", 2) == 0)
		return vt_is_link(body, len);
	for (size_t i = 0; i < ARRAY_LEN(osc_resets); i++) {
		size_t n = strlen(osc_resets[i]);

		if (len >= n && memcmp(body, osc_resets[i], n) == 0 &&
		    (len == n || (body[n] == ';' && vt_numbers(body + n, len - n, 3, false))))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(osc_questions); i++)
		if (!f->is_deaf && vt_is(body, len, osc_questions[i])) {
			f->has_asked = true;
			return true;
		}
	return false;
}

size_t vtrules_put_back(const struct vtfilter_left *left, char *out)
{
	const struct {
		bool is_left;
		const char *text;
	} rows[] = {
		{left->margins, "\x1b"
				"7\x1b[r\x1b"
				"8"},
		{left->charsets & 1, "\x1b(B"},
		{left->charsets & 2, "\x1b)B"},
		{left->charsets & 4, "\x1b*B"},
		{left->charsets & 8, "\x1b+B"},
		{left->charsets != 0, "\x0f"},
		{left->keypad, "\x1b>"},
		{left->cursor_style, "\x1b[0 q"},
		{left->attributes, "\x1b[0m"},
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(mode_rows); i++)
		if (left->modes & (uint64_t)1 << i)
			n += (size_t)snprintf(out + n, VTFILTER_END_MAX - 1 - n, "\x1b[?%u%c",
					      mode_rows[i].number, mode_rows[i].is_on ? 'h' : 'l');
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].is_left) {
			memcpy(out + n, rows[i].text, strlen(rows[i].text));
			n += strlen(rows[i].text);
		}
	return n;
}
