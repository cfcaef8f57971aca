/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a ceiling.  The first error sticks: appends after it do nothing, and
 * buf_error() or buf_take() report it, so that a writer of many small pieces checks once.
 */
#pragma once

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* always NUL-terminated once anything was appended */
	size_t len;
	size_t cap;
	size_t max;     /* ceiling in bytes, without the NUL */
	int error;      /* 0, -ENOMEM, -E2BIG or -EILSEQ (%ls of a bad wide string) */
	bool is_secret; /* what it was kept in is wiped before it is given back */
};

#define BUF_INIT(max_bytes) ((struct buf){.max = (max_bytes)})
#define BUF_SECRET(max_bytes) ((struct buf){.max = (max_bytes), .is_secret = true})

void buf_done(struct buf *b);
/* Forgets the contents and the error, keeps the memory. */
void buf_clear(struct buf *b);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) CORDON_PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) CORDON_PRINTF(2, 0);
/* Cuts to len bytes (len <= b->len). */
void buf_truncate(struct buf *b, size_t len);
/* The contents as a string, "" when empty; borrows. */
const char *buf_cstr(const struct buf *b);
CORDON_MUST_CHECK int buf_error(const struct buf *b);
/* Gives the contents (caller frees) as a NUL-terminated string and empties the buffer. */
CORDON_MUST_CHECK int buf_take(struct buf *b, char **ret_data, size_t *ret_len);
