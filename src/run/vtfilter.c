/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of vtfilter.h: which bytes belong together.  It follows the state diagram that terminals
 * share (ECMA-48, DEC's VT500): a control inside a sequence takes effect at once, ESC starts a new
 * sequence, CAN and SUB end one.
 *
 * Eight-bit controls (0x80 to 0x9f, alone or encoded as U+0080 to U+009F) are not carried out but shown as
 * U+FFFD: no program of today needs them, in other encodings they are letters, and which terminals obey
 * them is anybody's guess.  Inside a UTF-8 character the same bytes are just that.
 *
 * To leave a removed string early is always safe, because what introduced it was never written: the rest of
 * it is text like any other.
 */
#include "run/vtfilter.h"

#include <string.h>

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a
#define ESC 0x1b
#define LINUX_PALETTE_LEN 7 /* of "ESC ] P nrrggbb", which has no end */

enum vt_state {
	VT_GROUND,
	VT_C2,         /* the first byte of U+0080 to U+00BF is held */
	VT_ESCAPE,     /* ESC, and intermediates in hold */
	VT_CSI,        /* in hold */
	VT_CSI_IGNORE, /* too long */
	VT_OSC,        /* in hold if is_kept */
	VT_STRING,     /* DCS, SOS, PM, APC: removed */
	VT_STRING_ESC, /* an ESC in one of the three above */
	VT_PALETTE,
};

/* Controls that show or move.  Not ENQ (the terminal answers), not CAN (starts ZMODEM transfers). */
static bool vt_is_plain_control(unsigned char c)
{
	return (c >= BEL && c <= 0x0f) || c == 0;
}

static bool vt_is_plain(unsigned char c)
{
	return c < 0x20 ? vt_is_plain_control(c) : c < 0x80;
}

void vtfilter_init(struct vtfilter *f, bool is_utf8)
{
	*f = (struct vtfilter){.is_utf8 = is_utf8};
}

static size_t vt_replace(struct vtfilter *f, char *out)
{
	f->removed++;
	if (!f->is_utf8) {
		*out = '?';
		return 1;
	}
	memcpy(out, "\xef\xbf\xbd", 3);
	return 3;
}

static void vt_start(struct vtfilter *f, enum vt_state state)
{
	f->state = (uint8_t)state;
	f->held = 0;
	f->string_len = 0;
	f->is_kept = true;
}

static bool vt_hold(struct vtfilter *f, unsigned char c)
{
	if (f->held == sizeof(f->hold))
		return false;
	f->hold[f->held++] = c;
	return true;
}

/* A byte from 0x80 upwards in text. */
static size_t vt_high(struct vtfilter *f, unsigned char c, char *out)
{
	if (!f->is_utf8 || c < 0xc2 || c > 0xf4) {
		if (c < 0xa0)
			return vt_replace(f, out);
		*out = (char)c;
		return 1;
	}
	if (c == 0xc2) {
		f->state = VT_C2;
		return 0;
	}
	f->tail = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	f->tail_min = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	f->tail_max = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	*out = (char)c;
	return 1;
}

static size_t vt_ground(struct vtfilter *f, unsigned char c, char *out)
{
	if (f->tail > 0) {
		bool fits = c >= f->tail_min && c <= f->tail_max;

		f->tail = fits ? f->tail - 1 : 0;
		f->tail_min = 0x80;
		f->tail_max = 0xbf;
		if (fits) {
			*out = (char)c;
			return 1;
		}
	}
	if (c >= 0x80)
		return vt_high(f, c, out);
	if (c == ESC) {
		vt_start(f, VT_ESCAPE);
		return 0;
	}
	if (!vt_is_plain(c)) {
		f->removed++;
		return 0;
	}
	*out = (char)c;
	return 1;
}

/* The byte behind 0xc2. */
static size_t vt_c2(struct vtfilter *f, unsigned char c, char *out)
{
	f->state = VT_GROUND;
	if (c >= 0x80 && c < 0xa0)
		return vt_replace(f, out);
	out[0] = (char)0xc2;
	if (c >= 0xa0 && c < 0xc0) {
		out[1] = (char)c;
		return 2;
	}
	return 1 + vt_ground(f, c, out + 1);
}

/* What every sequence does with controls and high bytes.  Returns whether the byte is done with. */
static bool vt_interrupts(struct vtfilter *f, unsigned char c, char *out, size_t *n)
{
	*n = 0;
	if (c >= 0x20 && c < 0x7f)
		return false;
	if (c == ESC) {
		f->removed++;
		vt_start(f, VT_ESCAPE);
	} else if (c == CAN || c == SUB) {
		f->removed++;
		f->state = VT_GROUND;
	} else if (c >= 0x80) {
		f->removed++;
		f->state = VT_GROUND;
		*n = vt_ground(f, c, out);
	} else if (vt_is_plain_control(c)) {
		*out = (char)c;
		*n = 1;
	}
	return true;
}

static size_t vt_escape_final(struct vtfilter *f, char *out)
{
	f->state = VT_GROUND;
	if (!vtrules_escape(f, f->hold, f->held)) {
		f->removed++;
		return 0;
	}
	out[0] = ESC;
	memcpy(out + 1, f->hold, f->held);
	return f->held + 1;
}

static size_t vt_escape(struct vtfilter *f, unsigned char c, char *out)
{
	size_t n;

	if (vt_interrupts(f, c, out, &n))
		return n;
	if (f->held == 0) {
		switch (c) {
		case '[':
			vt_start(f, VT_CSI);
			return 0;
		case ']':
			vt_start(f, VT_OSC);
			return 0;
		case 'k': /* screen's title: it ends like an OSC */
			vt_start(f, VT_OSC);
			f->is_kept = false;
			return 0;
		case 'P':
		case 'X':
		case '^':
		case '_':
			vt_start(f, VT_STRING);
			f->is_kept = false;
			return 0;
		default:
			break;
		}
	}
	if (!vt_hold(f, c)) {
		f->removed++;
		f->state = VT_GROUND;
		return 0;
	}
	return c < 0x30 ? 0 : vt_escape_final(f, out);
}

static size_t vt_csi(struct vtfilter *f, unsigned char c, char *out)
{
	size_t n;

	if (vt_interrupts(f, c, out, &n))
		return n;
	if (f->state == VT_CSI && !vt_hold(f, c))
		f->state = VT_CSI_IGNORE;
	if (c < 0x40)
		return 0;
	n = f->state == VT_CSI ? vtrules_csi(f, f->hold, f->held, out + 2) : 0;
	f->state = VT_GROUND;
	if (n == 0) {
		f->removed++;
		return 0;
	}
	out[0] = ESC;
	out[1] = '[';
	return n + 2;
}

/* end: how the command ended it, BEL or ST. */
static size_t vt_osc_final(struct vtfilter *f, bool is_bel, char *out)
{
	size_t n = 0;

	f->state = VT_GROUND;
	if (!f->is_kept || !vtrules_osc(f, f->hold, f->held)) {
		f->removed++;
		return 0;
	}
	out[n++] = ESC;
	out[n++] = ']';
	memcpy(out + n, f->hold, f->held);
	n += f->held;
	if (!is_bel)
		out[n++] = ESC;
	out[n++] = is_bel ? BEL : '\\';
	return n;
}

static size_t vt_string(struct vtfilter *f, unsigned char c, char *out)
{
	bool is_osc = f->state == VT_OSC;

	if (is_osc && c == BEL)
		return vt_osc_final(f, true, out);
	if (c == ESC) {
		/* What kind it was is remembered by is_kept: only an OSC is. */
		f->state = VT_STRING_ESC;
		return 0;
	}
	if (c == CAN || c == SUB || ++f->string_len > VTFILTER_STRING_MAX) {
		f->removed++;
		f->state = VT_GROUND;
		return 0;
	}
	if (is_osc && f->is_kept && f->held == 0 && (c == 'P' || c == 'R')) {
		/* The Linux console's palette: a fixed length, or nothing, and no end. */
		f->removed++;
		f->state = c == 'P' ? VT_PALETTE : VT_GROUND;
		return 0;
	}
	if (f->is_kept && (c < 0x20 || c == 0x7f || !vt_hold(f, c)))
		f->is_kept = false;
	return 0;
}

static size_t vt_string_esc(struct vtfilter *f, unsigned char c, char *out)
{
	if (c == '\\')
		return vt_osc_final(f, false, out);
	f->removed++;
	vt_start(f, VT_ESCAPE);
	return vt_escape(f, c, out);
}

static size_t vt_palette(struct vtfilter *f, unsigned char c, char *out)
{
	bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

	if (!is_digit) {
		f->state = VT_GROUND;
		return vt_ground(f, c, out);
	}
	if (++f->string_len > LINUX_PALETTE_LEN)
		f->state = VT_GROUND;
	return 0;
}

static size_t vt_byte(struct vtfilter *f, unsigned char c, char *out)
{
	switch ((enum vt_state)f->state) {
	case VT_GROUND:
		return vt_ground(f, c, out);
	case VT_C2:
		return vt_c2(f, c, out);
	case VT_ESCAPE:
		return vt_escape(f, c, out);
	case VT_CSI:
	case VT_CSI_IGNORE:
		return vt_csi(f, c, out);
	case VT_OSC:
	case VT_STRING:
		return vt_string(f, c, out);
	case VT_STRING_ESC:
		return vt_string_esc(f, c, out);
	case VT_PALETTE:
		return vt_palette(f, c, out);
	}
	return 0;
}

/* The length of the character at s if its bytes need no second look, else 0. */
static size_t vt_character(const unsigned char *s, size_t len)
{
	size_t n = s[0] >= 0xc3 && s[0] <= 0xdf                   ? 2
		   : s[0] >= 0xe1 && s[0] <= 0xef && s[0] != 0xed ? 3
		   : s[0] >= 0xf1 && s[0] <= 0xf3                 ? 4
								  : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* How much of it is text that passes as it is. */
static size_t vt_text(const struct vtfilter *f, const unsigned char *s, size_t len)
{
	size_t i = 0;

	if (f->state != VT_GROUND || f->tail > 0)
		return 0;
	while (i < len) {
		size_t n = vt_is_plain(s[i]) ? 1 : f->is_utf8 ? vt_character(s + i, len - i) : 0;

		if (n == 0)
			break;
		i += n;
	}
	return i;
}

size_t vtfilter_feed(struct vtfilter *f, const char *in, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		/* Most of it is text. */
		size_t text = vt_text(f, (const unsigned char *)in + i, len - i);

		memcpy(out + n, in + i, text);
		n += text;
		i += text;
		if (i < len)
			n += vt_byte(f, (unsigned char)in[i++], out + n);
	}
	return n;
}

size_t vtfilter_end(struct vtfilter *f, char out[static VTFILTER_END_MAX])
{
	size_t n = 0;

	if (f->state == VT_C2)
		out[n++] = (char)0xc2;
	else if (f->state != VT_GROUND)
		f->removed++;
	f->state = VT_GROUND;
	f->tail = 0;
	n += vtrules_put_back(&f->left, out + n);
	f->left = (struct vtfilter_left){0};
	return n;
}
