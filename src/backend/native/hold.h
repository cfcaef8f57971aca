/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds on to the placeholders of protected names (view_hold()).  Pid 1 does, because it lives as long as the
 * view.  But to look them up takes as long as all that pid 1 has to do between its last mount and the command,
 * so the parent, which only waits then, looks them up and passes them on.  The command starts when all of them
 * are found and verified: there is no moment in which a name that the host makes could be had.
 */
#pragma once

#include "backend/native/child.h"

/* In the child: the view is built, root is its top.  0 or -errno. */
CORDON_MUST_CHECK int native_hold_ask(const struct native_child *c, int root);
/* In the parent: waits for that, looks up, and lets the child go.  *ret is what the child said: 0 is returned with
 * another stage when it could not build the view. */
CORDON_MUST_CHECK int native_hold(const struct native_child *c, int channel, int64_t deadline,
				  struct native_message *ret, struct cordon_error *err);
/* In pid 1, when nothing else is open any more: takes them, for good.  0 or -errno. */
CORDON_MUST_CHECK int native_hold_take(int channel);
