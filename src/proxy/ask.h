/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that are on no list, put to whoever started the proxy: once for each, while connections and questions for names
 * that want them are held.  Nothing but the missing entry may be in a host's way; what is closed by a rule, or by
 * what its address is, is not asked for.
 */
#pragma once

#include "proxy/loop.h"

#define ASK_MAX PROXY_QUESTIONS

enum ask_state { ASK_FREE, ASK_NO, ASK_WAITS, ASK_YES };

struct ask {
	struct host host;
	uint16_t port; /* 0: those of the web */
	enum ask_state state;
};

struct asks {
	size_t n;
	struct ask items[ASK_MAX];
	struct authority
		authority; /* in force, with what was allowed; borrows the rest of the first one */
	struct authority_entry *allowed;
};

/* What became of the question for this host, which is asked now if it was not.  port 0: only the name is wanted.
 * answer: why it is refused; says more after a no. */
enum ask_state ask_host(struct loop *l, const struct host *host, uint16_t port,
			struct authority_answer *answer);
/* An answer came, or one is taken back: those who wait are told. */
void ask_reply(struct loop *l, const struct proxy_reply *reply);
