/* SPDX-License-Identifier: Apache-2.0 */
/* cordon-devenv; see devenv.h. */
#include "backend/devenv/program.h"

#include "backend/devenv/hold.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/path.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORK_SETTLE_MS 150 /* a container that is not what was asked for has ended by then */
#define WORK_LOOK_MS 15
#define WORK_LOST_MS                                                                               \
	500 /* between the end of a command that was killed and that of its container */
#define WORK_EXIT_LOST 125

const char *work_text(const struct work *w, const char *name)
{
	const char *s = json_string_value(json_object_get(w->brief, name));

	return s ? s : "";
}

bool work_flag(const struct work *w, const char *name)
{
	return json_is_true(json_object_get(w->brief, name));
}

/* What comes from the engine is made harmless here. */
void work_send(struct devenv_word *word)
{
	for (char *p = word->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	for (char *p = word->hint; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	(void)send(DEVENV_CONTROL, word, sizeof(*word), MSG_NOSIGNAL); /* or nobody hears it */
}

json_t *work_json(const struct http_answer *a)
{
	return json_loadb(a->body.data ? a->body.data : "", a->body.len, 0, NULL);
}

int work_ask(struct work *w, const char *method, const char *path, const char *body,
	     struct http_answer *ret)
{
	int r = http_request(&w->http, method, path, body, body ? strlen(body) : 0, WORK_SLOW_MS,
			     ret);

	if (r == -ECANCELED)
		return cordon_fail(&w->err, CORDON_E_SYSTEM, "nobody waits for it");
	if (r == -ENAMETOOLONG)
		return cordon_fail_leaf(&w->err, r, "request");
	if (r < 0)
		return cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_NO_BACKEND, "%s: %s",
					       w->http.socket, http_reason(&w->http, r)),
				   "%s", http_hint(&w->http, r));
	return 0;
}

int work_refused(struct work *w, long status, const struct buf *body)
{
	json_t *said = json_loadb(body->data ? body->data : "", body->len, 0, NULL);
	const char *message = json_string_value(json_object_get(said, "message"));
	int r = cordon_fail(&w->err, CORDON_E_NO_BACKEND, "%s refused (%ld): %.300s", w->engine,
			    status, message ? message : "it gave no reason");

	json_decref(said);
	return cordon_hint(&w->err, r, "see the engine's log");
}

int work_need(struct work *w, const char *method, const char *path, const char *body, long also,
	      struct http_answer *ret)
{
	int r = work_ask(w, method, path, body, ret);

	if (r < 0 || (ret->status >= 200 && ret->status < 300) || ret->status == also)
		return r;
	r = work_refused(w, ret->status, &ret->body);
	http_answer_done(ret);
	return r;
}

static bool work_is_id(const char *id)
{
	return id && *id && strlen(id) < DEVENV_ID_MAX &&
	       strspn(id, "0123456789abcdef") == strlen(id);
}

/* Whoever is still there to hear of it.  0 also when there is none. */
static int work_remove(struct work *w, const char *id)
{
	char path[WORK_PATH_MAX];
	struct http_answer a;
	bool was_tied = w->http.is_tied;
	int r;

	w->http.is_tied = false;
	(void)snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", id);
	r = work_need(w, "DELETE", path, NULL, 404, &a);
	if (r == 0)
		http_answer_done(&a);
	w->http.is_tied = was_tied;
	return r;
}

/* 1 it runs, 0 not (*ret_code: why), or a code. */
static int work_look(struct work *w, const char *id, int *ret_code)
{
	char path[WORK_PATH_MAX];
	struct http_answer a;
	json_t *state;
	json_t *body;
	int r;

	*ret_code = 0;
	if (!work_is_id(id))
		return 0;
	(void)snprintf(path, sizeof(path), "/containers/%s/json", id);
	r = work_need(w, "GET", path, NULL, 404, &a);
	if (r < 0)
		return r;
	body = work_json(&a);
	state = json_object_get(body, "State");
	r = json_is_true(json_object_get(state, "Running"));
	*ret_code = (int)json_integer_value(json_object_get(state, "ExitCode"));
	json_decref(body);
	http_answer_done(&a);
	return r;
}

/* Containers of this project that nobody noted: of one of us that was killed. */
static int work_sweep(struct work *w)
{
	char path[WORK_PATH_MAX];
	struct http_answer a;
	json_t *list;
	json_t *item;
	size_t i;
	int r;

	(void)snprintf(path, sizeof(path),
		       "/containers/json?all=1&filters=%%7B%%22label%%22%%3A%%5B%%22" DEVENV_LABEL
		       "%%3D%s%%22%%5D%%7D",
		       w->key);
	r = work_need(w, "GET", path, NULL, 0, &a);
	if (r < 0)
		return r;
	list = work_json(&a);
	json_array_foreach(list, i, item)
	{
		const char *id = json_string_value(json_object_get(item, "Id"));

		if (r == 0 && work_is_id(id) && strcmp(id, state_text(w, "container")) != 0)
			r = work_remove(w, id);
	}
	json_decref(list);
	http_answer_done(&a);
	return r;
}

/* The body of the request: what the command wrote, and the image. */
static int work_create(struct work *w, const char *image, char ret[static DEVENV_ID_MAX])
{
	json_t *body = json_loads(work_text(w, "create"), 0, NULL);
	AUTO_FREE char *text = NULL;
	struct http_answer a;
	json_t *answer;
	json_t *warning;
	const char *id;
	size_t i;
	int r;

	(void)json_object_set_new(body, "Image", json_string(image));
	(void)json_object_set_new(body, "Labels", json_pack("{ss}", DEVENV_LABEL, w->key));
	text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	json_decref(body);
	if (!text)
		return cordon_nomem(&w->err);
	r = work_need(w, "POST", "/containers/create", text, 404, &a);
	if (r < 0)
		return r;
	answer = work_json(&a);
	id = json_string_value(json_object_get(answer, "Id"));
	if (a.status == 404)
		r = cordon_hint(&w->err,
				cordon_fail(&w->err, CORDON_E_NOT_FOUND,
					    "image '%.200s' is not there", image),
				"'cordon image build' makes it again; cordon fetches no images");
	else if (!work_is_id(id))
		r = cordon_fail(&w->err, CORDON_E_NO_BACKEND,
				"the answer of %s is none of a container engine", w->http.socket);
	else
		(void)snprintf(ret, DEVENV_ID_MAX, "%s", id);
	/* A limit that the engine cannot hold is dropped or weakened with a warning: not here. */
	json_array_foreach(json_object_get(answer, "Warnings"), i, warning)
	{
		const char *said = json_string_value(warning);

		if (r == 0 && http_warning_counts(said))
			r = cordon_hint(&w->err,
					cordon_fail(&w->err, CORDON_E_UNSUPPORTED, "%.300s",
						    said ? said : "a warning that is no text"),
					"leave the limit out of the policy");
	}
	json_decref(answer);
	http_answer_done(&a);
	return r;
}

static const char *work_hold_text(int code)
{
	switch (code) {
#define WORK_HOLD_CASE(id, code_, text)                                                            \
	case code_:                                                                                \
		return text;
		HOLD_EXIT_TABLE(WORK_HOLD_CASE)
#undef WORK_HOLD_CASE
	default:
		return "it ended at once";
	}
}

/* Our program in it ends if the container is not what was asked for. */
static int work_settle(struct work *w, const char *id)
{
	int64_t deadline = clock_deadline(WORK_SETTLE_MS);
	int code = 0;
	int r;

	while ((r = work_look(w, id, &code)) > 0 && clock_ms() < deadline)
		(void)poll(NULL, 0, WORK_LOOK_MS);
	if (r < 0)
		return r;
	return r > 0 ? 0
		     : cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_UNSUPPORTED,
					       "the container is not what was asked for: %s",
					       work_hold_text(code)),
				   "see the engine's configuration and its log");
}

/* A container that runs, or nothing of it. */
static int work_run(struct work *w, const char *image, char ret[static DEVENV_ID_MAX])
{
	char path[WORK_PATH_MAX];
	char id[DEVENV_ID_MAX] = "";
	struct http_answer a;
	int r;

	w->http.is_tied =
		false; /* what is being made has no name yet by which it could be removed */
	r = work_create(w, image, id);
	(void)snprintf(path, sizeof(path), "/containers/%s/start", id);
	if (r == 0)
		r = work_need(w, "POST", path, NULL, 0, &a);
	if (r == 0) {
		http_answer_done(&a);
		r = work_settle(w, id);
	}
	w->http.is_tied = true;
	if (r == 0 && http_is_deserted(&w->http))
		r = cordon_fail(&w->err, CORDON_E_SYSTEM, "nobody waits for it");
	if (r < 0) {
		struct cordon_error why = w->err;

		if (id[0] && work_remove(w, id) < 0)
			(void)cordon_wrap(&why, r, "and container %.12s could not be removed", id);
		w->err = why;
		return r;
	}
	memcpy(ret, id, sizeof(id));
	return 0;
}

static int work_image(struct work *w, const char **ret)
{
	const char *image = work_text(w, "image");

	*ret = *image ? image : state_text(w, "image");
	if (strlen(*ret) >= DEVENV_IMAGE_MAX)
		return cordon_fail(&w->err, CORDON_E_INVALID, "the name of the image is too long");
	return **ret ? 0
		     : cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_NOT_FOUND,
					       "there is no image for this project"),
				   "'cordon image build' makes one, or name one with --image");
}

/* Notes the container that runs now. */
static int work_note(struct work *w, const char *id, const char *image)
{
	state_set(w, "project", w->project);
	state_set(w, "container", id);
	state_set(w, "runs", id ? image : NULL);
	state_set(w, "terms", id ? work_text(w, "terms") : NULL);
	(void)json_object_set_new(w->state, "has_network",
				  json_boolean(work_flag(w, "has_network")));
	(void)json_object_set_new(w->state, "can_write", json_boolean(work_flag(w, "can_write")));
	return state_save(w);
}

static int work_start(struct work *w)
{
	char id[DEVENV_ID_MAX];
	const char *image = NULL;
	int code;
	int r = state_lock(w);

	if (r == 0)
		r = work_look(w, state_text(w, "container"), &code);
	if (r > 0)
		return cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_BUSY,
					       "the project's container runs already"),
				   "'cordon container stop' ends it, 'swap' replaces it");
	if (r == 0)
		r = work_image(w, &image);
	if (r == 0 && work_is_id(state_text(w, "container")))
		r = work_remove(w, state_text(w, "container")); /* it has ended */
	if (r == 0)
		state_set(w, "container", NULL);
	if (r == 0)
		r = work_sweep(w);
	if (r == 0)
		r = work_run(w, image, id);
	if (r == 0)
		r = work_note(w, id, image);
	return r;
}

static int work_stop(struct work *w)
{
	int r = state_lock(w);

	if (r == 0 && work_is_id(state_text(w, "container")))
		r = work_remove(w, state_text(w, "container"));
	if (r < 0)
		return r;
	state_set(w, "container", NULL);
	r = work_sweep(w);
	return r == 0 ? work_note(w, NULL, NULL) : r;
}

/* The old one goes when the new one runs and is noted. */
static int work_swap(struct work *w, struct devenv_status *s)
{
	char old[DEVENV_ID_MAX];
	char id[DEVENV_ID_MAX];
	const char *image = NULL;
	int r = 0;

	if (work_flag(w, "builds"))
		r = build_image(w, work_flag(w, "force"), &s->was_built);
	else
		r = state_lock(w);
	(void)snprintf(old, sizeof(old), "%s", state_text(w, "container"));
	if (r == 0)
		r = work_image(w, &image);
	if (r == 0)
		r = work_sweep(w);
	if (r == 0)
		r = work_run(w, image, id);
	if (r < 0)
		return r;
	r = work_note(w, id, image);
	if (r < 0) {
		struct cordon_error why = w->err;

		(void)work_remove(w, id); /* the note names the old one */
		w->err = why;
		return r;
	}
	return work_is_id(old) ? work_remove(w, old) : 0;
}

static int work_status(struct work *w, struct devenv_status *s)
{
	AUTO(dockerfile_done) struct dockerfile file = {0};
	int code;
	int r = 0;

	(void)snprintf(s->image, sizeof(s->image), "%s", state_text(w, "image"));
	(void)snprintf(s->hash, sizeof(s->hash), "%s", state_text(w, "hash"));
	(void)snprintf(s->container, sizeof(s->container), "%s", state_text(w, "container"));
	(void)snprintf(s->runs, sizeof(s->runs), "%s", state_text(w, "runs"));
	s->has_network = json_is_true(json_object_get(w->state, "has_network"));
	s->can_write = json_is_true(json_object_get(w->state, "can_write"));
	if (work_flag(w, "looks")) {
		r = build_look(w, /* out_fd= */ -1, &file, s->wanted);
		s->is_stale = json_is_true(json_object_get(w->state, "invalid")) ||
			      strcmp(s->hash, s->wanted) != 0;
	}
	if (r == 0)
		r = work_look(w, s->container, &code);
	s->is_running = r > 0;
	if (!s->is_running)
		s->container[0] = s->runs[0] = '\0';
	return r < 0 ? r : 0;
}

/* A command that ended badly may have ended with its container: then nobody knows how, and what it was is no answer.  The
 * engine tells of the two ends one after the other. */
static int work_lost(struct work *w, const char *id, int exit_code)
{
	int64_t deadline = clock_deadline(WORK_LOST_MS);
	bool may_be = exit_code == HOLD_EXIT_TROUBLE || exit_code == 128 + SIGKILL;
	int code;
	int r = 1;

	while (may_be && (r = work_look(w, id, &code)) > 0 && clock_ms() < deadline)
		(void)poll(NULL, 0, WORK_LOOK_MS);
	if (r != 0)
		return r < 0 ? r : 0;
	return cordon_hint(
		&w->err,
		cordon_fail(&w->err, CORDON_E_SYSTEM, "the container ended while the command ran"),
		"nothing of it is left running; 'cordon container start' starts another");
}

static int work_exec(struct work *w)
{
	const char *id = state_text(w, "container");
	int code;
	int r = work_look(w, id, &code);

	if (r == 0)
		return cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_NO_BACKEND,
					       "no container runs for this project"),
				   "'cordon container start' starts one");
	/* It was made under other terms: another policy, or a denied file that was not there. */
	if (r > 0 && strcmp(work_text(w, "terms"), state_text(w, "terms")) != 0)
		return cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_REFUSED,
					       "the container was started under another policy, or "
					       "denied files have changed since"),
				   "'cordon container swap' starts a new one");
	if (r > 0 && work_flag(w, "tightened") &&
	    (json_is_true(json_object_get(w->state, "has_network")) ||
	     json_is_true(json_object_get(w->state, "can_write"))))
		return cordon_hint(
			&w->err,
			cordon_fail(&w->err, CORDON_E_REFUSED,
				    "this call would be held tighter than the container is"),
			"start it without --write and without network, or use 'cordon run'");
	if (r > 0)
		r = attach_run(w, id, &code);
	if (r == 0)
		r = work_lost(w, id, code);
	if (r == 0)
		_exit(code);
	if (w->http.control < 0) { /* only the command's own outputs are left to say it on */
		(void)dprintf(STDERR_FILENO, "cordon: %s\ncordon: hint: %s\n", w->err.message,
			      w->err.hint);
		_exit(WORK_EXIT_LOST);
	}
	return r;
}

static int work_do(struct work *w, enum devenv_verb verb, struct devenv_status *s)
{
	int r = 0;

	switch (verb) {
	case DEVENV_BUILD:
		r = build_image(w, work_flag(w, "force"), &s->was_built);
		break;
	case DEVENV_INVALIDATE:
		r = state_lock(w);
		if (r == 0)
			r = json_object_set_new(w->state, "invalid", json_true()) < 0
				    ? cordon_nomem(&w->err)
				    : state_save(w);
		return r;
	case DEVENV_START:
		r = work_start(w);
		break;
	case DEVENV_STOP:
		r = work_stop(w);
		break;
	case DEVENV_SWAP:
		r = work_swap(w, s);
		break;
	case DEVENV_EXEC:
		return work_exec(w);
	case DEVENV_STATUS:
		break;
	case DEVENV_VERB_COUNT:
		return cordon_fail(&w->err, CORDON_E_INTERNAL, "unknown verb");
	}
	return r == 0 ? work_status(w, s) : r;
}

static enum devenv_verb work_verb(const struct work *w)
{
	static const char *const names[] = {
#define WORK_VERB_NAME(id, name) [DEVENV_##id] = (name),
		DEVENV_VERB_TABLE(WORK_VERB_NAME)
#undef WORK_VERB_NAME
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], work_text(w, "verb")) == 0)
			return (enum devenv_verb)i;
	return DEVENV_VERB_COUNT;
}

int main(void)
{
	struct work w = {.lock = -1, .place = -1};
	struct devenv_word word = {.kind = DEVENV_WORD_DONE};
	AUTO_FREE char *text = NULL;
	size_t len;
	int r;

	(void)signal(SIGPIPE, SIG_IGN);
	if (io_read_all(DEVENV_BRIEF, DEVENV_BRIEF_MAX, clock_deadline(WORK_SLOW_MS), &text, &len) <
	    0)
		return 1;
	w.brief = json_loadb(text, len, 0, NULL);
	w.engine = work_text(&w, "engine");
	w.project = work_text(&w, "project");
	r = http_open(&w.http, work_text(&w, "socket"), DEVENV_CONTROL, DEVENV_CALLER);
	r = r < 0 ? cordon_nomem(&w.err) : state_open(&w);
	if (r == 0)
		r = work_do(&w, work_verb(&w), &word.status);
	if (r < 0) {
		word.kind = DEVENV_WORD_ERROR;
		word.code = r;
		(void)snprintf(word.text, sizeof(word.text), "%.511s", w.err.message);
		(void)snprintf(word.hint, sizeof(word.hint), "%.255s", w.err.hint);
	}
	work_send(&word);
	http_close(&w.http);
	json_decref(w.state);
	json_decref(w.brief);
	(void)fd_close(w.place);
	(void)fd_close(w.lock);
	return r < 0;
}
