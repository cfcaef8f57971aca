/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command writes, on its way to somebody's real terminal.  Escape sequences that attack the person
 * in front of it are taken out: those that set the clipboard, send files or notifications, program keys,
 * print, move windows, or make the terminal type an answer that the command chose.  Text always passes.
 *
 * It is an allowlist.  A sequence is held until it is whole, judged by the tables of vtrules.c and then
 * written in one canonical form or not at all; so no two readings of a broken or split sequence matter, and
 * a command cannot leave half of one behind.  State is bounded; bytes may come in any pieces.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTFILTER_HOLD 2048          /* bytes of one sequence; longer ones are removed */
#define VTFILTER_STRING_MAX 1048576 /* bytes of a removed string; then text begins again */
#define VTFILTER_GROWTH 3           /* one byte becomes at most this many */
#define VTFILTER_END_MAX 512        /* what vtfilter_end() writes at most */
/* Room that vtfilter_feed() needs for len bytes. */
#define VTFILTER_ROOM(len) ((len)*VTFILTER_GROWTH + VTFILTER_HOLD + 16)

/* What the command changed in the terminal and has not changed back. */
struct vtfilter_left {
	uint64_t modes; /* by row of the table of modes */
	bool attributes;
	bool cursor_style;
	bool margins;
	uint8_t charsets; /* by G0 to G3: other than ASCII */
	bool keypad;
};

struct vtfilter {
	uint8_t state;
	bool is_utf8;
	bool is_deaf; /* set after vtfilter_init(): nobody reads answers, so no question passes */
	bool is_kept; /* of a string: it is in hold */
	uint8_t tail; /* bytes of the current character that are to come */
	uint8_t tail_min;
	uint8_t tail_max; /* what the next of them may be */
	size_t held;
	size_t string_len;
	bool has_asked; /* a question passed: the terminal may still be answering */
	uint64_t removed;
	struct vtfilter_left left;
	unsigned char hold[VTFILTER_HOLD];
};

/* is_utf8: the terminal shows UTF-8; else every byte from 0x80 to 0x9f counts as a control. */
void vtfilter_init(struct vtfilter *f, bool is_utf8);
/* Filters len bytes into out, which has VTFILTER_ROOM(len) bytes.  Returns how many it wrote. */
size_t vtfilter_feed(struct vtfilter *f, const char *in, size_t len, char *out);
/* The command has ended: forgets what is not whole and puts back what it left changed (cursor, screen,
 * mouse, colours, ...).  out has VTFILTER_END_MAX bytes. */
size_t vtfilter_end(struct vtfilter *f, char out[static VTFILTER_END_MAX]);

/* vtrules.c: may this whole sequence pass?  body has what stands between introducer and end.  The ones that
 * return a length write the canonical form to out (room for len + 8 bytes); 0 removes it. */
bool vtrules_escape(struct vtfilter *f, const unsigned char *body, size_t len);
size_t vtrules_csi(struct vtfilter *f, const unsigned char *body, size_t len, char *out);
bool vtrules_osc(struct vtfilter *f, const unsigned char *body, size_t len);
size_t vtrules_put_back(const struct vtfilter_left *left, char *out);
