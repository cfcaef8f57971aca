/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a command, which are the attacker's words.  Beyond not crashing: what is found lies in the line, is
 * not empty and no longer than a path; a stream gives the same facts whole and byte by byte; and the store
 * stays within its limit.
 */
#include "base/limits.h"
#include "run/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct seen whole = {0}, pieces = {0};
	struct message_reader a = {.seen = &whole}, b = {.seen = &pieces};
	struct message m;

	if (message_parse(text, size, &m)) {
		require(m.text >= text && m.len > 0 && m.text + m.len <= text + size);
		require(m.len < LIMIT_PATH_BYTES && !memchr(m.text, '\0', m.len));
		require(m.kind == SEEN_PATH || m.kind == SEEN_NAME);
		require(m.kind != SEEN_NAME || m.cause == SEEN_CAUSE_NONE);
	}
	message_feed(&a, text, size);
	message_finish(&a);
	for (size_t i = 0; i < size; i++)
		message_feed(&b, text + i, 1);
	message_finish(&b);
	require(whole.n == pieces.n && whole.n <= LIMIT_SEEN);
	for (size_t i = 0; i < whole.n; i++)
		require(strcmp(whole.events[i].text, pieces.events[i].text) == 0 &&
			whole.events[i].count == pieces.events[i].count);
	message_reader_done(&a);
	message_reader_done(&b);
	seen_done(&whole);
	seen_done(&pieces);
	return 0;
}
