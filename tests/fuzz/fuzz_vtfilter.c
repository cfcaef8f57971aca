/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal filter on arbitrary bytes.  Properties: the pieces in which they come do not matter; what
 * came out passes again unchanged; no class of sequence that is removed is in it, by another reading than
 * the filter's own; text without controls is never changed.
 */
#include "run/vtfilter.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX 8192

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* Nothing but the letters of a few sequences may follow an ESC. */
static void check_output(const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool is_whole = i + 1 < len;

		check(s[i] != 0x05 && s[i] != 0x18);
		if (s[i] >= 0x80 && s[i] < 0xa0)
			check(i > 0 && s[i - 1] >= 0x80 && s[i - 1] != 0xc2);
		if (s[i] != 0x1b)
			continue;
		check(is_whole && strchr("[]\\78=>DEHMNOc()*+#", s[i + 1]));
		if (s[i + 1] == '[') {
			size_t end = i + 2;

			while (end < len && s[end] < 0x40)
				check(s[end++] >= 0x20);
			check(end < len &&
			      !strchr("ijkoptvwxyz{|}~]Q", s[end] == 't' ? 'A' : s[end]) &&
			      (s[end] != 't' ||
			       (s[i + 2] == '2' && (s[i + 3] == '2' || s[i + 3] == '3'))));
		} else if (s[i + 1] == ']') {
			check(i + 2 < len && s[i + 2] != '5' && s[i + 2] != '9' && s[i + 2] != '7');
			check(i + 6 >= len || memcmp(s + i + 2, "1337", 4) != 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *once = NULL, *split = NULL, *again = NULL;
	struct vtfilter f;
	size_t n, m = 0;
	bool is_text = true;

	if (size > INPUT_MAX)
		return 0;
	once = malloc(VTFILTER_ROOM(size) + VTFILTER_END_MAX);
	split = malloc(VTFILTER_ROOM(size));
	again = malloc(VTFILTER_ROOM(VTFILTER_ROOM(size) + VTFILTER_END_MAX) + VTFILTER_END_MAX);
	if (!once || !split || !again)
		return 0;
	vtfilter_init(&f, true);
	n = vtfilter_feed(&f, (const char *)data, size, once);
	check(n <= VTFILTER_ROOM(size));
	vtfilter_init(&f, true);
	for (size_t i = 0; i < size; i++)
		m += vtfilter_feed(&f, (const char *)data + i, 1, split + m);
	check(n == m && memcmp(once, split, n) == 0);
	for (size_t i = 0; i < size; i++)
		is_text &= data[i] >= 0x20 &&
			   !(data[i] == 0xc2 && (i + 1 == size || data[i + 1] < 0xa0));
	if (is_text && utf8_is_valid((const char *)data, size))
		check(n == size && memcmp(once, data, n) == 0);
	/* With what is put back at the end nothing is left to be put back. */
	n += vtfilter_end(&f, once + n);
	check_output((const unsigned char *)once, n);
	vtfilter_init(&f, true);
	m = vtfilter_feed(&f, once, n, again);
	m += vtfilter_end(&f, again + m);
	check(n == m && memcmp(once, again, n) == 0);
	return 0;
}
