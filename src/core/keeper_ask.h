/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the proxy of a sandbox that stays asks (proxy/ask.h), put to somebody who has a call in it: the one that came
 * last, one with a terminal before others.  The caller judges the question, asks the person and writes the answer
 * down, as for a call of its own (core/asked.h); it answers on its connection to the keeper.
 *
 * An answer holds as long as the call of who gave it.  After that, and where nobody has a call, a host that is asked for
 * is refused, and the next who wants it makes the proxy ask again: what a person allowed for a session or a project is
 * found then by the call that is asked.
 */
#pragma once

#include "base/mem.h"
#include "proxy/proxy.h"

#define KEEPER_ASK_NOBODY (-1)

struct keeper_ask {
	struct proxy *proxy;      /* NULL: it asks nothing.  Borrowed */
	int who[PROXY_QUESTIONS]; /* whose connection each question went to, or KEEPER_ASK_NOBODY */
};

void keeper_ask_init(struct keeper_ask *a, struct proxy *proxy);
/* What to wait for, or -1. */
int keeper_ask_fd(const struct keeper_ask *a);
/* It can be read: the question goes to this connection, or to nobody. */
void keeper_ask_pass(struct keeper_ask *a, int connection);
/* A connection can be read.  False: it has ended, or says what it may not. */
CORDON_MUST_CHECK bool keeper_ask_hear(struct keeper_ask *a, int connection);
/* The connection is about to be closed: its answers are taken back. */
void keeper_ask_gone(struct keeper_ask *a, int connection);
