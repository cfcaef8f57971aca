/* SPDX-License-Identifier: Apache-2.0 */
/* See keeper_pause.h. */
#include "core/keeper_pause.h"

#include "base/clock.h"
#include "base/fdpass.h"

#include <errno.h>
#include <sys/socket.h>

#define PAUSE_FREEZE_MS 2000 /* for processes that are in the kernel, uninterruptibly */
#define PAUSE_ANSWER_MS 5000 /* of the first process; who asked us waits longer */
#define PAUSE_STEP_MS 1      /* between looks at a group: version 1 tells nobody */

static int pause_end(struct keeper_pause *p, int r)
{
	if (r == 0)
		p->is_paused = p->errand != SERVE_CONTINUE;
	else if (p->errand != SERVE_CONTINUE)
		p->is_paused = false;
	p->errand = 0;
	return r;
}

/* What is half stopped is of use to nobody. */
static int pause_give_up(struct keeper_pause *p, int r)
{
	(void)!cgroup_freeze(p->group, /* is_to_stop= */ false); /* there is nothing else to try */
	return pause_end(p, r);
}

static int pause_step_group(struct keeper_pause *p)
{
	int r = cgroup_is_frozen(p->group);

	if (r < 0)
		return pause_give_up(p, r);
	if ((r == 1) == (p->errand != SERVE_CONTINUE))
		return pause_end(p, 0);
	if (p->errand == SERVE_LOOK)
		return pause_give_up(p, -EBUSY);
	if (clock_ms() < p->deadline)
		return KEEPER_UNDER_WAY;
	return p->errand == SERVE_PAUSE ? pause_give_up(p, -ETIMEDOUT) : pause_end(p, -ETIMEDOUT);
}

static int pause_step_signals(struct keeper_pause *p)
{
	int answer;
	ssize_t n;

	while ((n = recv(p->channel, &answer, sizeof(answer), MSG_DONTWAIT)) == sizeof(answer)) {
		if (p->unanswered == 0)
			return pause_end(p, answer);
		p->unanswered--;
	}
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		return pause_end(p, -EPROTO);
	if (clock_ms() < p->deadline)
		return KEEPER_UNDER_WAY;
	p->unanswered++;
	/* It may yet stop them, when nobody expects it: what comes after that lets them go on. */
	if (p->errand != SERVE_CONTINUE &&
	    fdpass_send(p->channel, &(struct serve_request){.kind = SERVE_CONTINUE},
			sizeof(struct serve_request), NULL, 0) == 0)
		p->unanswered++;
	return pause_end(p, -ETIMEDOUT);
}

int keeper_pause_begin(struct keeper_pause *p, enum serve_kind kind)
{
	struct serve_request request = {.kind = kind};
	int r = 0;

	p->errand = kind;
	p->deadline = clock_deadline(p->group ? PAUSE_FREEZE_MS : PAUSE_ANSWER_MS);
	if (!p->group)
		r = fdpass_send(p->channel, &request, sizeof(request), NULL, 0);
	else if (kind != SERVE_LOOK)
		r = cgroup_freeze(p->group, kind == SERVE_PAUSE);
	return r < 0 ? pause_end(p, r) : keeper_pause_step(p);
}

int keeper_pause_step(struct keeper_pause *p)
{
	return p->group ? pause_step_group(p) : pause_step_signals(p);
}

int64_t keeper_pause_deadline(const struct keeper_pause *p)
{
	int64_t next = p->group ? clock_deadline(PAUSE_STEP_MS) : p->deadline;

	if (!p->errand)
		return CLOCK_NEVER;
	return next < p->deadline ? next : p->deadline;
}
