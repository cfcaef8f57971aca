/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a keeper stops the processes of its sandbox and lets them go on.  By the freezer of its control group where there
 * is one: nothing inside can do anything about it.  Elsewhere the first process does it by signals, and looks whether
 * they stand still (backend/native/still.h).  Both take a while, in which the keeper serves others: an errand is begun,
 * and then asked about until it is done.
 */
#pragma once

#include "backend/cgroup/cgroup.h"
#include "backend/native/serve.h"

struct keeper_pause {
	const struct cgroup *group; /* NULL: by signals.  Borrowed */
	int channel;                /* to the first process.  Borrowed */
	bool is_paused;
	enum serve_kind errand; /* SERVE_PAUSE, SERVE_CONTINUE or SERVE_LOOK; 0: none is under way */
	int64_t deadline;
	size_t unanswered; /* errands of which nobody waits for the answer any more */
};

#define KEEPER_PAUSE_NONE ((struct keeper_pause){.channel = -1})
#define KEEPER_UNDER_WAY 1

/* Begins one; none may be under way.  KEEPER_UNDER_WAY, or what keeper_pause_step() says. */
CORDON_MUST_CHECK int keeper_pause_begin(struct keeper_pause *p, enum serve_kind kind);
/* KEEPER_UNDER_WAY; 0: it is done; or -errno, and then the processes go on: -EBUSY when something continues what is
 * stopped, -ETIMEDOUT. */
CORDON_MUST_CHECK int keeper_pause_step(struct keeper_pause *p);
/* Until when to wait before the next step; CLOCK_NEVER without an errand. */
int64_t keeper_pause_deadline(const struct keeper_pause *p);
