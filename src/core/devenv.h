/* SPDX-License-Identifier: Apache-2.0 */
/* The container and the image of a project, as its policy asks for them (backend/devenv/client.h). */
#pragma once

#include "backend/devenv/client.h"
#include "backend/select.h"
#include "core/effective.h"
#include "core/fsplan.h"

struct devenv_room {
	struct devenv devenv;
	struct plan plan;
	struct fsplan view;
	struct request *request;
	struct strv writes;
	char *dockerfile;
};

struct devenv_options {
	const char *engine;        /* NULL: docker */
	const char *dockerfile;    /* in the project; NULL: Dockerfile */
	const struct strv *writes; /* directories, from the project; or NULL */
};

/* Borrows the effective policy.  *ret is always set up. */
CORDON_MUST_CHECK int devenv_room_open(const struct effective *e, const struct devenv_options *o,
				       struct devenv_room *ret, struct cordon_error *err);
void devenv_room_done(struct devenv_room *room);
/* Runs calls in the container of the room, as `held` and `entry` of the corridor. */
void devenv_room_enter(struct devenv_room *room, struct plan_entry *ret_entry,
		       struct selection *ret_held);
