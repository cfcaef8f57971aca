/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leak detection over arbitrary bytes.  Properties: however the stream is cut and flushed, the same
 * leaks are reported, in order, apart from one another and inside the stream; and the stage that takes
 * them out lets through what it does in one piece.
 *
 * The first two bytes choose how the rest is cut.
 */
#include "base/buf.h"
#include "secrets/leak.h"
#include "secrets/leak_redact.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void note(void *data, const struct leak *leak)
{
	buf_printf(data, "%s %llu %llu\n", leak->rule, (unsigned long long)leak->start,
		   (unsigned long long)leak->end);
	check(leak->start < leak->end && leak->confidence > 0 && leak->confidence <= 1);
}

static void scan(const char *text, size_t len, size_t piece, bool is_flushed, struct buf *out)
{
	struct leak_scanner *s = NULL;

	check(leak_scanner_new(note, out, &s, NULL) == 0);
	for (size_t at = 0; at < len; at += piece) {
		check(leak_feed(s, text + at, len - at < piece ? len - at : piece, NULL) == 0);
		if (is_flushed)
			check(leak_flush(s, NULL) == 0);
	}
	check(leak_end(s, NULL) == 0);
	leak_scanner_free(s);
}

static void redact(const char *text, size_t len, size_t piece, bool is_quiet, struct buf *out)
{
	struct leak_redactor *r = NULL;

	check(leak_redactor_new(&r, NULL) == 0);
	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		check(leak_redact_feed(r, text + at, n, out, NULL) == 0);
		if (is_quiet)
			check(leak_redact_quiet(r, out, NULL) == 0);
	}
	check(leak_redact_end(r, out, NULL) == 0 && leak_held(r) == 0);
	leak_redactor_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24);
	const char *text;
	size_t piece, len;

	if (size < 3 || size > 65536)
		return 0;
	piece = (size_t)data[0] % 97 + 1;
	text = (const char *)data + 2;
	len = size - 2;
	scan(text, len, len, false, &whole);
	scan(text, len, piece, data[1] & 1, &cut);
	check(buf_error(&whole) == 0 && strcmp(buf_cstr(&whole), buf_cstr(&cut)) == 0);
	buf_clear(&whole);
	buf_clear(&cut);
	redact(text, len, len, false, &whole);
	redact(text, len, piece, false, &cut);
	check(whole.len == cut.len &&
	      (whole.len == 0 || memcmp(whole.data, cut.data, cut.len) == 0));
	buf_clear(&cut);
	redact(text, len, piece, true, &cut);
	check(buf_error(&cut) == 0);
	buf_done(&whole);
	buf_done(&cut);
	return 0;
}
