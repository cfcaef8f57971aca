/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known about an expression without running it: its text where that is constant, the qualified
 * name of what it stands for ("os.system", "net/http.Get", "socket.socket()"), and where its data came
 * from.  Values live in an arena and never change once made.
 */
#pragma once

#include "inspect/code/tree.h"

/* The byte that stands for a part of a string that is not known. */
#define CODE_HOLE '\x1a'

enum code_flag {
	CODE_FROM_INPUT = 1 << 0,   /* a person, a request, the command line */
	CODE_FROM_PARAM = 1 << 1,   /* a parameter of the function */
	CODE_FROM_ENV = 1 << 2,     /* a variable of the environment */
	CODE_FROM_ENV_ALL = 1 << 3, /* the whole environment */
	CODE_FROM_SECRET = 1 << 4,  /* a credential */
	CODE_FROM_NET = 1 << 5,
	CODE_FROM_DECODED = 1 << 6, /* base64, hex, compression, ciphers, pictures */
	CODE_FROM_SYSTEM = 1 << 7,  /* names of the host, its user and its addresses */
	CODE_FROM_FILE = 1 << 8,
	CODE_FROM_SOCKET = 1 << 9,   /* is a socket or its descriptor */
	CODE_FROM_CAPTURE = 1 << 10, /* screen, clipboard, keys */
	CODE_IS_BUILT = 1 << 11,     /* a string put together from parts that are not constant */
	CODE_FROM_REMOTE = 1 << 12,  /* bytes that a peer sent on a connection */
	CODE_FROM_ARCHIVE = 1 << 13, /* a name in an archive */
	CODE_IS_CLEANED = 1 << 14,   /* a path without .. inside */
	CODE_FROM_ARGS = 1 << 15,    /* the command line, besides being input */
};

/* Which secret variables of the environment a value holds: flags, because these go wherever a value goes.  The last slot
 * is for all that have none of their own. */
enum { CODE_VARIABLES = 15 };
#define CODE_VARIABLE(slot) (UINT32_C(1) << (16 + (slot)))

struct code_value {
	const char *str; /* not terminated; NULL when nothing is known */
	uint32_t len;
	unsigned flags;
	const char *name; /* terminated; NULL when it stands for nothing by name */
	int64_t number;
	uint32_t node; /* the expression that it was made from */
	bool is_constant;
	bool is_number;
};

struct code_arena {
	struct code_chunk *chunks;
	size_t used; /* bytes of all chunks */
	size_t max;
	bool is_full;
};

void code_arena_done(struct code_arena *a);
/* size bytes, zeroed, aligned for anything; NULL when there is no more (is_full). */
void *code_arena_take(struct code_arena *a, size_t size);
/* A terminated copy, or NULL. */
char *code_arena_copy(struct code_arena *a, const char *s, size_t len);

/* A string that is being folded; `parts` that do not fit end it as not constant. */
struct code_text {
	char *data;
	size_t len, cap;
	struct code_arena *arena;
	bool is_broken;
};

void code_text_add(struct code_text *t, const char *s, size_t len);
void code_text_char(struct code_text *t, char c);
/* The character as UTF-8, or as one byte when as_byte and below 256. */
void code_text_rune(struct code_text *t, uint32_t rune, bool as_byte);

/* Undoes the escapes of python or go literals into t. */
void code_unescape(struct code_text *t, const char *s, size_t len, bool is_bytes);
/* Decodes; false when the text is not of that encoding. */
bool code_decode_base64(struct code_text *t, const char *s, size_t len);
bool code_decode_base32(struct code_text *t, const char *s, size_t len);
bool code_decode_hex(struct code_text *t, const char *s, size_t len);
void code_decode_rot13(struct code_text *t, const char *s, size_t len);
/* An identifier as python reads it: mathematical and full-width letters are the plain ones. */
void code_plain_name(struct code_text *t, const char *s, size_t len);
/* A number of python or go; false when it is none or too large. */
bool code_number(const char *s, size_t len, int64_t *ret);
