/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds on to the placeholders of protected names (view_hold()).  Pid 1 does, because it lives as long as the
 * view.  But to look them up takes a third of the time in which pid 1 builds the view, so the parent, which only
 * waits then, looks them up in the overlays, as soon as these are made and before they have a place, and passes
 * them on.  The command starts when all are found and verified: there is no moment in which a name that
 * the host makes could be had.
 */
#pragma once

#include "backend/native/child.h"

/* In the child: the overlays are made.  0 or -errno. */
CORDON_MUST_CHECK int native_hold_ask(const struct native_child *c);
/* In the parent: waits for that, looks up, and lets the child go.  *ret is what the child said: 0 is returned with
 * another stage when it could not make them. */
CORDON_MUST_CHECK int native_hold(const struct native_child *c, int channel, int64_t deadline,
				  struct native_message *ret, struct cordon_error *err);
/* In pid 1, when nothing else is open any more: takes them, for good.  0 or -errno. */
CORDON_MUST_CHECK int native_hold_take(int channel);
