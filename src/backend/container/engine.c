/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See engine.h.  The brief names the engine's socket, the image, whether that is our own empty one, and the body of
 * the create call (spec.h), which is passed on as it is.
 *
 * The engine removes the container itself when its first process ends (AutoRemove), also when both of us were
 * killed: that process ends with the call's socket.  Here we wait until it is gone.
 */
#include <jansson.h>

#include "backend/container/call.h"
#include "backend/container/engine.h"
#include "backend/container/engine_http.h"
#include "backend/container/spec.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#define ENGINE_SLOW_MS 50000   /* for a request that works; less than CALL_START_MS: we know why */
#define ENGINE_END_MS 15000    /* until a container that was killed is gone */
#define ENGINE_STALE_MS 180000 /* a container that was not started by then will not be */
#define ENGINE_LOOK_MS 20      /* between two looks whether it is, at first */
#define ENGINE_LOOK_PART 32    /* then this part of the time that it lasts */
#define ENGINE_LOOK_MAX_MS 500 /* at most */
#define ENGINE_WAIT_MS                                                                             \
	1000 /* the first time that an engine is asked to tell the end; each further one twice as long */
#define ENGINE_WAIT_MAX_MS 16000
#define ENGINE_PATH_MAX 512
#define ENGINE_BLOCK 512 /* of a tar archive: two of zeros are its end */

struct engine {
	struct http http;
	const char *name; /* "docker" or "podman" */
	const char *image;
	const char *create; /* the body */
	bool is_own_image;
	bool is_ahead; /* for a call that is to come: see warm.h */
	bool has_wait; /* it answers at the end, also if that comes first */
	char id[HTTP_ID_MAX];
};

/* What the engine said: its "message", or the status alone. */
static const char *engine_said(const struct http_answer *a, char *text, size_t size)
{
	json_t *body = json_loadb(a->body.data ? a->body.data : "", a->body.len, 0, NULL);
	const char *message = json_string_value(json_object_get(body, "message"));

	(void)snprintf(text, size, "%s", message ? message : "it gave no reason");
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	json_decref(body);
	return text;
}

/* Without is_forced the engine refuses to remove one that runs.  It may be gone. */
static void engine_remove_id(struct engine *e, const char *id, bool is_forced)
{
	char path[ENGINE_PATH_MAX];
	struct http_answer a;

	(void)snprintf(path, sizeof(path), "/containers/%s?force=%d&v=1", id, is_forced);
	if (http_request(&e->http, "DELETE", path, NULL, 0, ENGINE_END_MS, &a) == 0)
		http_answer_done(&a);
}

/* Removes what was created, whoever is still there to hear of it. */
static void engine_remove(struct engine *e)
{
	e->http.is_tied = false;
	if (e->id[0])
		engine_remove_id(e, e->id, /* is_forced= */ true);
	e->id[0] = '\0';
}

/* Says why there is no container, removes what there is of it, and ends.  The word first: an engine that is slow may not
 * remove it in time. */
_Noreturn static void engine_fail(struct engine *e, int code, const char *hint, const char *fmt,
				  ...) CORDON_PRINTF(4, 5);
_Noreturn static void engine_fail(struct engine *e, int code, const char *hint, const char *fmt,
				  ...)
{
	struct engine_word word = {.code = code};
	int len =
		snprintf(word.message, sizeof(word.message), "%s: ", e->name ? e->name : "engine");
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(word.message + len, sizeof(word.message) - (size_t)len, fmt, ap);
	va_end(ap);
	(void)snprintf(word.hint, sizeof(word.hint), "%s", hint);
	(void)send(ENGINE_CONTROL, &word, sizeof(word), MSG_NOSIGNAL); /* or nobody hears it */
	engine_remove(e);
	_exit(1);
}

/* A request that has to be answered; what the engine refused is told, and is the end. */
static long engine_ask(struct engine *e, const char *path, const char *body, size_t len, long also,
		       struct http_answer *ret)
{
	char text[384];
	int r = http_request(&e->http, "POST", path, body, len, ENGINE_SLOW_MS, ret);

	if (r == -ECANCELED) {
		engine_remove(e);
		_exit(1); /* nobody listens any more */
	}
	if (r < 0)
		engine_fail(e, CORDON_E_NO_BACKEND, http_hint(&e->http, r), "%s: %s",
			    e->http.socket, http_reason(&e->http, r));
	if ((ret->status >= 200 && ret->status < 300) || ret->status == also)
		return ret->status;
	engine_said(ret, text, sizeof(text));
	engine_fail(e, CORDON_E_NO_BACKEND,
		    strcasestr(text, "no space left")
			    ? "make room where the engine keeps its data"
			    : "see the engine's log, or use another backend",
		    "the engine refused (%ld): %s", ret->status, text);
}

/* An image with nothing in it: the plan brings everything. */
static void engine_import(struct engine *e)
{
	static const char empty[2 * ENGINE_BLOCK];
	char path[ENGINE_PATH_MAX];
	struct http_answer a;
	const char *colon = strrchr(e->image, ':');

	(void)snprintf(path, sizeof(path), "/images/create?fromSrc=-&repo=%.*s&tag=%s",
		       (int)(colon ? colon - e->image : 0), e->image, colon ? colon + 1 : "");
	(void)engine_ask(e, path, empty, sizeof(empty), 0, &a);
	http_answer_done(&a);
}

static bool engine_is_id(const struct engine *e, const char *id)
{
	return strlen(id) < sizeof(e->id) && strspn(id, "0123456789abcdef") == strlen(id);
}

/* A limit that the engine cannot hold is dropped or weakened with a warning: not here. */
static void engine_check_warnings(struct engine *e, json_t *warnings)
{
	size_t i;
	json_t *warning;

	json_array_foreach(warnings, i, warning)
	{
		const char *text = json_string_value(warning);

		if (http_warning_counts(text))
			engine_fail(e, CORDON_E_UNSUPPORTED,
				    "use a backend that holds what it does not", "%s",
				    text ? text : "a warning that is no text");
	}
}

/* Not tied to the caller: one that is being made has no name yet by which it could be removed. */
static void engine_create(struct engine *e)
{
	struct http_answer a;
	json_t *body;
	const char *id;
	long status;

	e->http.is_tied = false;
	status = engine_ask(e, "/containers/create", e->create, strlen(e->create), 404, &a);

	if (status == 404 && e->is_own_image) {
		http_answer_done(&a);
		engine_import(e);
		status = engine_ask(e, "/containers/create", e->create, strlen(e->create), 0, &a);
	}
	if (status == 404)
		engine_fail(e, CORDON_E_NO_BACKEND,
			    "pull or build it first; cordon fetches no images",
			    "image '%s' is not there", e->image);
	body = json_loadb(a.body.data ? a.body.data : "", a.body.len, 0, NULL);
	id = json_string_value(json_object_get(body, "Id"));
	/* It goes into paths. */
	if (!id || !engine_is_id(e, id))
		engine_fail(e, CORDON_E_NO_BACKEND, "is that socket a container engine's?",
			    "the answer of %s is none of a container engine", e->http.socket);
	(void)snprintf(e->id, sizeof(e->id), "%s", id);
	engine_check_warnings(e, json_object_get(body, "Warnings"));
	json_decref(body);
	http_answer_done(&a);
	e->http.is_tied = !e->is_ahead;
}

static void engine_start(struct engine *e)
{
	char path[ENGINE_PATH_MAX];
	struct http_answer a;

	(void)snprintf(path, sizeof(path), "/containers/%s/start", e->id);
	(void)engine_ask(e, path, NULL, 0, 0, &a);
	http_answer_done(&a);
}

/* One question whether the container is gone.  1, 0 when it is not, or the engine does not say, or -errno. */
static int engine_is_gone(struct engine *e)
{
	char path[ENGINE_PATH_MAX];
	struct http_answer a;
	int r;

	(void)snprintf(path, sizeof(path), "/containers/%s/json", e->id);
	r = http_request(&e->http, "GET", path, NULL, 0, ENGINE_END_MS, &a);
	if (r < 0)
		return http_is_slow(&e->http, r) ? 0 : r;
	http_answer_done(&a);
	return a.status == 404;
}

/* The longer it lasts the less often it is looked: each look costs podman more than a millisecond. */
static int engine_look(struct engine *e)
{
	int64_t began = clock_ms();
	int r;

	while ((r = engine_is_gone(e)) == 0) {
		int64_t pause_ms = (clock_ms() - began) / ENGINE_LOOK_PART;

		pause_ms = pause_ms < ENGINE_LOOK_MS ? ENGINE_LOOK_MS : pause_ms;
		(void)poll(NULL, 0,
			   (int)(pause_ms < ENGINE_LOOK_MAX_MS ? pause_ms : ENGINE_LOOK_MAX_MS));
	}
	return r;
}

/* Until the container is gone, or our caller is.  Docker never answers who asks in the moment in which it removes the
 * container: it waits for the next removal of the same one.  So nobody asks for good. */
static int engine_wait(struct engine *e)
{
	int64_t timeout_ms = ENGINE_WAIT_MS;
	char path[ENGINE_PATH_MAX];
	struct http_answer a;
	int r;

	if (!e->has_wait)
		return engine_look(e);
	(void)snprintf(path, sizeof(path), "/containers/%s/wait?condition=removed", e->id);
	do {
		r = http_request(&e->http, "POST", path, NULL, 0, timeout_ms, &a);
		if (r == 0)
			http_answer_done(&a);
		if (r == 0 || !http_is_slow(&e->http, r))
			return r;
		if (timeout_ms < ENGINE_WAIT_MAX_MS)
			timeout_ms *= 2;
		r = engine_is_gone(e);
	} while (r == 0);
	return r;
}

/* Until its first process listens: then the lock of the directory is that one's, too. */
static void engine_await(struct engine *e)
{
	int64_t deadline = clock_deadline(ENGINE_END_MS);

	while (faccessat(ENGINE_CONTROL, CALL_SOCKET, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		if (clock_ms() >= deadline) {
			engine_remove(e);
			_exit(1);
		}
		(void)poll(NULL, 0, ENGINE_LOOK_MS);
	}
}

/* Is nobody there any more who could start it?  The directory of its call is locked as long as somebody is, and is the
 * same for all who use this engine: it has to see it, too. */
static bool engine_is_deserted(const char *place)
{
	AUTO_CLOSE int fd = place && place[0] == '/'
				    ? open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				    : -1;

	if (fd < 0)
		return place && place[0] == '/' && errno == ENOENT;
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static bool engine_is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

/* Containers of ours that were made and never started, because both of us were killed in between: known by the directory of
 * their call, or, where that is hidden from us, by their age, for another call may be about to start its own.  And those that
 * ended, and that the engine did not remove, because it was not there or its disk was full: nobody waits for what is in them.
 *
 * The list is not believed: Docker goes on listing a container as created when its disk was full at the moment in which
 * it started, as long as that runs.  So none is removed by force. */
static void engine_sweep(struct engine *e)
{
	static const char *const fresh[] = {"created", "configured", "initialized", NULL};
	static const char *const ended[] = {"exited", "dead", "stopped", NULL};
	struct http_answer a;
	json_t *list;
	json_t *item;
	size_t i;

	/* {"label":["dev.cordon.call"]}.  Not by state: podman refuses a list with a word that only Docker knows. */
	if (http_request(&e->http, "GET",
			 "/containers/json?all=1&filters=%7B%22label%22%3A%5B%22" SPEC_LABEL
			 "%22%5D%7D",
			 NULL, 0, ENGINE_END_MS, &a) < 0)
		return;
	list = json_loadb(a.body.data ? a.body.data : "", a.body.len, 0, NULL);
	json_array_foreach(list, i, item)
	{
		const char *id = json_string_value(json_object_get(item, "Id"));
		const char *state = json_string_value(json_object_get(item, "State"));
		const char *place = json_string_value(
			json_object_get(json_object_get(item, "Labels"), SPEC_PLACE));
		json_int_t made = json_integer_value(json_object_get(item, "Created"));
		bool is_old = clock_wall_ms() / 1000 - made >= ENGINE_STALE_MS / 1000;

		if (id && state && engine_is_id(e, id) &&
		    (engine_is_one_of(state, ended) ||
		     (engine_is_one_of(state, fresh) && (is_old || engine_is_deserted(place)))))
			engine_remove_id(e, id, /* is_forced= */ false);
	}
	json_decref(list);
	http_answer_done(&a);
}

static const char *engine_text(json_t *brief, const char *name)
{
	const char *s = json_string_value(json_object_get(brief, name));

	return s ? s : "";
}

int main(void)
{
	struct engine e = {0};
	AUTO_FREE char *text = NULL;
	size_t len;
	json_t *brief;
	int r;

	if (io_read_all(ENGINE_BRIEF, ENGINE_BRIEF_MAX, clock_deadline(ENGINE_SLOW_MS), &text,
			&len) < 0)
		return 1;
	brief = json_loadb(text, len, 0, NULL);
	e.name = engine_text(brief, "engine");
	e.image = engine_text(brief, "image");
	e.create = engine_text(brief, "create");
	e.is_own_image = json_is_true(json_object_get(brief, "is_own_image"));
	e.has_wait = json_is_true(json_object_get(brief, "has_wait"));
	e.is_ahead = json_is_true(json_object_get(brief, "is_ahead"));
	if (http_open(&e.http, engine_text(brief, "socket"), ENGINE_CONTROL, ENGINE_CALLER) < 0)
		engine_fail(&e, CORDON_E_NOMEM, "", "no memory");
	engine_create(&e);
	engine_start(&e);
	if (e.is_ahead)
		engine_await(&e);
	engine_sweep(&e); /* while the call goes on */
	r = e.is_ahead ? 0 : engine_wait(&e);
	if (r == -ECANCELED)
		engine_remove(&e);
	/* Who lost the engine does not know the container's end.  It ends with the call's socket. */
	http_close(&e.http);
	json_decref(brief);
	return r < 0 && r != -ECANCELED ? 1 : 0;
}
