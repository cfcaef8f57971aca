/* SPDX-License-Identifier: Apache-2.0 */
/* Containers and images of projects: src/core/devenv.h behind the border. */
#include "lib/lib.h"

#include "base/env.h"
#include "core/devenv.h"

#include <errno.h>
#include <string.h>

struct cordon_container {
	const struct cordon_policy *policy;
	char *engine; /* or NULL */
	struct strv writable;
	char *image; /* or NULL */
	struct devenv_status status;
};

struct cordon_devenv {
	struct cordon_container container;
	cordon_swap_fn *on_swap;
	void *data;
};

DEFINE_FREEP(struct cordon_container, cordon_container_free)
DEFINE_FREEP(struct cordon_devenv, cordon_devenv_free)

static void container_clear(struct cordon_container *c)
{
	free(c->engine);
	free(c->image);
	strv_done(&c->writable);
}

static int container_init(struct cordon_container *c, const struct cordon_policy *policy,
			  const char *engine, const char *const *writable, struct cordon_error *err)
{
	c->policy = policy;
	c->engine = engine ? strdup(engine) : NULL;
	if (engine && !c->engine)
		return cordon_nomem(err);
	return lib_list(writable, &c->writable, err);
}

static int container_open(const struct cordon_container *c, const char *dockerfile,
			  struct devenv_room *room, struct cordon_error *err)
{
	AUTO_FREE char *config_dir = NULL;
	const struct devenv_options o = {
		.engine = c->engine, .dockerfile = dockerfile, .writes = &c->writable};
	struct effective e = {.workspace = c->policy->workspace,
			      .state_dir = c->policy->state_dir,
			      .policy = c->policy->policy};
	int r = env_config_dir(&config_dir);

	if (r < 0 && r != -ENOENT)
		return cordon_fail_leaf(err, r, "find the configuration directory");
	e.config_dir = config_dir;
	return devenv_room_open(&e, &o, room, err);
}

static int container_do(struct cordon_container *c, enum devenv_verb verb, const char *dockerfile,
			struct devenv_ask ask, struct cordon_error *err)
{
	AUTO(devenv_room_done) struct devenv_room room = {0};
	int r = container_open(c, dockerfile, &room, err);

	ask.image = c->image;
	return r < 0 ? r : devenv_do(&room.devenv, verb, &ask, &c->status, err);
}

int cordon_container_new(const struct cordon_policy *policy, const char *engine,
			 const char *const *writable, struct cordon_container **ret,
			 struct cordon_error *err)
{
	AUTO(cordon_container_freep) struct cordon_container *c = NULL;
	int r;

	lib_enter(err);
	if (!policy || !ret)
		return lib_leave(lib_missing(err, policy ? "place for the container" : "policy"),
				 err);
	c = calloc(1, sizeof(*c));
	r = c ? container_init(c, policy, engine, writable, err) : cordon_nomem(err);
	if (r == 0)
		*ret = TAKE_PTR(c);
	return lib_leave(r, err);
}

void cordon_container_free(struct cordon_container *c)
{
	if (c)
		container_clear(c);
	free(c);
}

static int container_public(struct cordon_container *c, enum devenv_verb verb,
			    const char *dockerfile, struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(c ? container_do(c, verb, dockerfile, (struct devenv_ask){0}, err)
			   : lib_missing(err, "container"),
			 err);
}

int cordon_container_start(struct cordon_container *c, struct cordon_error *err)
{
	return container_public(c, DEVENV_START, /* dockerfile= */ NULL, err);
}

int cordon_container_stop(struct cordon_container *c, struct cordon_error *err)
{
	return container_public(c, DEVENV_STOP, /* dockerfile= */ NULL, err);
}

int cordon_container_hot_swap(struct cordon_container *c, struct cordon_error *err)
{
	return container_public(c, DEVENV_SWAP, /* dockerfile= */ NULL, err);
}

int cordon_container_running(struct cordon_container *c, struct cordon_error *err)
{
	int r = container_public(c, DEVENV_STATUS, /* dockerfile= */ NULL, err);

	return r < 0 ? r : c->status.is_running;
}

int cordon_container_build(struct cordon_container *c, const char *dockerfile,
			   struct cordon_error *err)
{
	int r = container_public(c, DEVENV_BUILD, dockerfile, err);

	return r < 0 ? r : cordon_container_set_image(c, c->status.image, err);
}

int cordon_container_set_image(struct cordon_container *c, const char *image,
			       struct cordon_error *err)
{
	char *copy = image ? strdup(image) : NULL;

	lib_enter(err);
	if (!c || (image && !copy)) {
		free(copy);
		return lib_leave(c ? cordon_nomem(err) : lib_missing(err, "container"), err);
	}
	free(c->image);
	c->image = copy;
	return 0;
}

const char *cordon_container_image(const struct cordon_container *c)
{
	return c && c->image ? c->image : "";
}

const char *cordon_container_id(const struct cordon_container *c)
{
	return c ? c->status.container : "";
}

static int container_exec(struct cordon_container *c, const char *command, int64_t timeout_ms,
			  struct cordon_report **ret, struct cordon_error *err)
{
	static char *const none[] = {NULL};
	AUTO(devenv_room_done) struct devenv_room room = {0};
	AUTO(strv_done) struct strv words = {0};
	struct cordon_request request = {0};
	struct plan_entry entry;
	struct selection held;
	const struct lib_entry way = {
		.entry = &entry, .held = &held, .environment = none, .timeout_ms = timeout_ms};
	int r = container_open(c, /* dockerfile= */ NULL, &room, err);

	if (r < 0)
		return r;
	if (strv_add(&words, "/bin/sh") < 0 || strv_add(&words, "-c") < 0 ||
	    strv_add(&words, command) < 0)
		return cordon_nomem(err);
	devenv_room_enter(&room, &entry, &held);
	r = request_from_argv(words.v, &(struct request_options){.cwd = c->policy->workspace},
			      &request.request, err);
	if (r == 0)
		r = lib_run(c->policy, &request, /* options= */ NULL, &way, ret, err);
	request_free(request.request);
	return r;
}

int cordon_container_exec(struct cordon_container *c, const char *command, int64_t timeout_ms,
			  struct cordon_report **ret, struct cordon_error *err)
{
	lib_enter(err);
	if (!c || !command || !ret)
		return lib_leave(lib_missing(err, !c         ? "container"
						  : !command ? "command"
							     : "place for the report"),
				 err);
	if (timeout_ms < 0)
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "a time-out below 0"), err);
	return lib_leave(container_exec(c, command, timeout_ms, ret, err), err);
}

int cordon_devenv_new(const struct cordon_policy *policy, const char *engine,
		      cordon_swap_fn *on_swap, void *data, struct cordon_devenv **ret,
		      struct cordon_error *err)
{
	AUTO(cordon_devenv_freep) struct cordon_devenv *d = NULL;
	int r;

	lib_enter(err);
	if (!policy || !ret)
		return lib_leave(lib_missing(err, policy ? "place for the manager" : "policy"),
				 err);
	d = calloc(1, sizeof(*d));
	r = d ? container_init(&d->container, policy, engine, /* writable= */ NULL, err)
	      : cordon_nomem(err);
	if (r == 0) {
		d->on_swap = on_swap;
		d->data = data;
		*ret = TAKE_PTR(d);
	}
	return lib_leave(r, err);
}

void cordon_devenv_free(struct cordon_devenv *d)
{
	if (d)
		container_clear(&d->container);
	free(d);
}

static int devenv_build(struct cordon_devenv *d, const char *dockerfile, bool is_forced,
			char **ret_image, struct cordon_error *err)
{
	AUTO_FREE char *image = NULL;
	int r;

	if (!d || !ret_image)
		return lib_missing(err, d ? "place for the image" : "manager");
	r = container_do(&d->container, DEVENV_BUILD, dockerfile,
			 (struct devenv_ask){.is_forced = is_forced}, err);
	if (r < 0)
		return r;
	image = strdup(d->container.status.image);
	if (!image)
		return cordon_nomem(err);
	if (is_forced && d->on_swap && d->on_swap(d->data, image) != 0)
		return cordon_fail(err, CORDON_E_REFUSED,
				   "image '%s' was built, and the swap to it failed", image);
	*ret_image = TAKE_PTR(image);
	return 0;
}

int cordon_devenv_get_or_build(struct cordon_devenv *d, const char *dockerfile, char **ret_image,
			       struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(devenv_build(d, dockerfile, /* is_forced= */ false, ret_image, err), err);
}

int cordon_devenv_rebuild_and_force_swap(struct cordon_devenv *d, const char *dockerfile,
					 char **ret_image, struct cordon_error *err)
{
	lib_enter(err);
	return lib_leave(devenv_build(d, dockerfile, /* is_forced= */ true, ret_image, err), err);
}

int cordon_devenv_is_stale(struct cordon_devenv *d, const char *dockerfile,
			   struct cordon_error *err)
{
	int r;

	lib_enter(err);
	if (!d)
		return lib_leave(lib_missing(err, "manager"), err);
	r = container_do(&d->container, DEVENV_STATUS, dockerfile,
			 (struct devenv_ask){.looks = true}, err);
	return r < 0 ? lib_leave(r, err) : d->container.status.is_stale;
}

int cordon_devenv_invalidate(struct cordon_devenv *d, struct cordon_error *err)
{
	return container_public(d ? &d->container : NULL, DEVENV_INVALIDATE,
				/* dockerfile= */ NULL, err);
}
