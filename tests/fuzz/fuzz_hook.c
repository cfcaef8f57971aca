/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question of an agent, and settings: the first byte chooses.  Whatever is read, an answer to it is JSON or nothing
 * with an exit code of 0 or 2, and a change of settings never leaves the text.
 */
#include "hook/reply.h"

#include "base/json_check.h"
#include "hook/splice.h"
#include "hook/withhold.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int claim)
{
	if (!claim)
		abort();
}

static void settings(const char *text, size_t len)
{
	struct buf out = BUF_INIT(1 << 20);
	struct splice_place place;
	size_t root = splice_root(text, len);

	require(root <= len);
	if (splice_member(text, len, root, "hooks", &place)) {
		require(place.whole.end <= len && place.value.start <= place.value.end &&
			place.before <= place.whole.start);
		splice_remove(text, len, &place, &out);
		require(out.len <= len);
		buf_clear(&out);
	}
	if (splice_append(text, text, len, root, "hooks", "{}", &out))
		require(out.len > len || buf_error(&out) < 0);
	buf_done(&out);
}

/* However the question is broken, what is said instead of an answer is whole. */
static void withheld(const struct hook_dialect *d, const char *text, size_t len)
{
	struct buf out = BUF_INIT(4 << 20);
	int code = 1;

	hook_withhold(d, text, len, "it is a test", &out, &code);
	require(buf_error(&out) == 0);
	require(code == (out.len > 0 ? HOOK_EXIT_PASS : HOOK_EXIT_DENY));
	require(out.len == 0 || json_check(out.data, out.len) == 0);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hook_call call = {0};
	struct cordon_error err = {0};
	const char *text;

	if (size == 0)
		return 0;
	text = (const char *)data + 1;
	if (data[0] >= HOOK_DIALECT_COUNT * HOOK_ACT_COUNT) {
		settings(text, size - 1);
		return 0;
	}
	withheld(hook_dialect((enum hook_dialect_id)(data[0] % HOOK_DIALECT_COUNT)), text,
		 size - 1);
	if (hook_call_parse(hook_dialect((enum hook_dialect_id)(data[0] % HOOK_DIALECT_COUNT)),
			    text, size - 1, &call, &err) == 0 &&
	    call.event) {
		struct hook_answer a = {
			.act = (enum hook_act)(data[0] / HOOK_DIALECT_COUNT),
			.reason = "why",
			.input = json_incref(call.input),
			.output = json_incref(call.output ? call.output : call.input),
		};
		struct buf out = BUF_INIT(1 << 20);
		int code = 1;
		int r = hook_reply_write(&call, &a, false, &out, &code);

		require(code == HOOK_EXIT_PASS || code == HOOK_EXIT_DENY);
		/* The check is stricter than JSON; what it does not take is denied. */
		if (r == 0 && out.len > 0)
			require(out.data[0] == '{' && json_check(out.data, out.len) != -EEXIST);
		buf_done(&out);
		hook_answer_done(&a);
	}
	hook_call_done(&call);
	return 0;
}
