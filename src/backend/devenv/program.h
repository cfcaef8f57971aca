/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of cordon-devenv: one piece of work. */
#pragma once

#include <jansson.h>

#include "backend/container/engine_http.h"
#include "backend/devenv/context.h"
#include "backend/devenv/devenv.h"

#include <limits.h>

#define WORK_SLOW_MS 60000    /* for a request that works */
#define WORK_BUILD_MS 3600000 /* for a build */
#define WORK_LOCK_MS 3600000  /* for somebody else's */
#define WORK_END_MS 15000     /* until a container is gone */
#define WORK_PATH_MAX 768

struct work {
	struct http http;
	json_t *brief;
	const char *engine;  /* its name */
	const char *project; /* canonical */
	int place;           /* $STATE/containers */
	char key[SHA256_HEX_LEN];
	json_t *state; /* of the project; never NULL */
	int lock;      /* of the project, or -1 */
	struct cordon_error err;
};

const char *work_text(const struct work *w, const char *name);
bool work_flag(const struct work *w, const char *name);
void work_send(struct devenv_word *word);
/* A request; any status is an answer.  0, or a code in w->err. */
CORDON_MUST_CHECK int work_ask(struct work *w, const char *method, const char *path,
			       const char *body, struct http_answer *ret);
/* The same where only 2xx and also will do. */
CORDON_MUST_CHECK int work_need(struct work *w, const char *method, const char *path,
				const char *body, long also, struct http_answer *ret);
/* Raises what the engine said. */
int work_refused(struct work *w, long status, const struct buf *body);
json_t *work_json(const struct http_answer *a);

/* state.c */
CORDON_MUST_CHECK int state_open(struct work *w);
CORDON_MUST_CHECK int state_lock(struct work *w);
CORDON_MUST_CHECK int state_lock_build(struct work *w, const char *hash);
CORDON_MUST_CHECK int state_save(struct work *w);
const char *state_text(const struct work *w, const char *name);
void state_set(struct work *w, const char *name, const char *value); /* NULL: forget */

/* build.c */
/* The hash as it would be now; its archive when out_fd >= 0. */
CORDON_MUST_CHECK int build_look(struct work *w, int out_fd, struct dockerfile *ret_file,
				 char ret_hash[static SHA256_HEX_LEN]);
CORDON_MUST_CHECK int build_image(struct work *w, bool is_forced, bool *ret_was_built);

/* attach.c: a command in the container.  Returns the exit code. */
CORDON_MUST_CHECK int attach_run(struct work *w, const char *container, int *ret_code);
