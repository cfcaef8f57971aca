/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listener that writes down what a call was refused and what it asked for.  It decides nothing: an error
 * of the filter is answered with that error, everything else goes on, because mounts, namespaces and Landlock
 * decide about it.  So it does not matter that a caller can change its memory behind our back: it
 * can make the record wrong, and nothing else.
 */
#pragma once

#include "backend/confine/notify.h"
#include "backend/plan.h"
#include "backend/seen.h"
#include "base/mem.h"

struct watch {
	struct seccomp_program filter; /* as built: what to answer */
	struct seccomp_program denied; /* the policy's own list; empty when it has none */
	const struct plan *plan;       /* borrowed */
	int root;                      /* of the call, once it was looked at; -1 */
};

/* Gives a watch for the listener's side of the filter; NULL when there is no memory.  denied: what was joined to
 * it, or NULL. */
struct watch *watch_new(const struct plan *plan, const struct seccomp_program *filter,
			const struct seccomp_program *denied);
void watch_free(struct watch *w);
DEFINE_FREEP(struct watch, watch_free)
/* For struct notify_handler. */
int watch_handle(void *data, int listener);
void watch_done(void *data);
/* Private to watch*.c. */

/* Writes a fact of the caller down. */
void watch_note(const struct watch *w, const struct notify_call *c, const struct seen_event *fact,
		const char *text);
/* "socket AF_ALG": the refused call and the argument that counts. */
void watch_call_text(const struct seccomp_data *data, const char *name, struct buf *out);
/* A call that names paths. */
void watch_paths(struct watch *w, const struct notify_call *c);
