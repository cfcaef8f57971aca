/* SPDX-License-Identifier: Apache-2.0 */
/* Images, by what they are built from. */
#include "backend/devenv/program.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_LINE_BYTES (1024 * 1024)
#define BUILD_LAST_BYTES 400 /* of what a build that failed said last */

/* The engine's answer on the way: lines of JSON. */
struct build_answer {
	struct buf line;
	char error[BUILD_LAST_BYTES];
	char last[BUILD_LAST_BYTES];
	uint32_t n;
	uint32_t total;
};

static bool build_list(json_t *from, struct strv *to)
{
	size_t i;
	json_t *item;

	json_array_foreach(from, i, item)
	{
		if (!json_is_string(item) || strv_add(to, json_string_value(item)) < 0)
			return false;
	}
	return true;
}

int build_look(struct work *w, int out_fd, struct dockerfile *ret_file,
	       char ret_hash[static SHA256_HEX_LEN])
{
	AUTO(strv_done) struct strv denied = {0};
	const struct context_options o = {
		.dir = w->project,
		.dockerfile = work_text(w, "dockerfile"),
		.denied = &denied,
		.out_fd = out_fd,
	};

	*ret_file = (struct dockerfile){0};
	if (!build_list(json_object_get(w->brief, "denied"), &denied))
		return cordon_nomem(&w->err);
	return context_make(&o, ret_file, ret_hash, &w->err);
}

/* Digits at *p, which moves behind them; 0 when there are none or too many. */
static uint32_t build_number(const char **p)
{
	uint32_t n = 0;

	for (int i = 0; **p >= '0' && **p <= '9' && i < 6; i++, (*p)++)
		n = n * 10 + (uint32_t)(**p - '0');
	return **p >= '0' && **p <= '9' ? 0 : n;
}

static void build_step(struct build_answer *a, const char *text)
{
	struct devenv_word word = {.kind = DEVENV_WORD_STEP};

	if (str_starts(text, "Step ")) {
		const char *p = text + strlen("Step ");
		uint32_t n = build_number(&p);

		if (*p++ == '/') {
			a->n = n;
			a->total = build_number(&p);
		}
	}
	word.n = a->n;
	word.total = a->total;
	(void)snprintf(word.text, sizeof(word.text), "%s", text);
	/* What it says of its own is of no use to who looks for the error. */
	if (!str_starts(text, "Removing ") && !str_starts(text, "--->"))
		(void)snprintf(a->last, sizeof(a->last), "%s", text);
	work_send(&word);
}

static void build_line(struct build_answer *a)
{
	json_t *line = json_loadb(buf_cstr(&a->line), a->line.len, 0, NULL);
	const char *stream = json_string_value(json_object_get(line, "stream"));
	const char *error = json_string_value(json_object_get(line, "error"));

	if (!error)
		error = json_string_value(json_object_get(line, "message")); /* a refusal's */
	if (stream && stream[strspn(stream, " \t\r\n")]) {
		char text[sizeof(((struct devenv_word *)NULL)->text)];

		(void)snprintf(text, sizeof(text), "%s", stream + strspn(stream, " \t\r\n"));
		for (size_t n = strlen(text); n > 0 && strchr(" \t\r\n", text[n - 1]); n--)
			text[n - 1] = '\0';
		build_step(a, text);
	}
	if (error)
		(void)snprintf(a->error, sizeof(a->error), "%s", error);
	json_decref(line);
	buf_clear(&a->line);
}

static bool build_take(void *data, const char *bytes, size_t len)
{
	struct build_answer *a = data;

	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline ? (size_t)(newline - bytes) : len;

		buf_add(&a->line, bytes, n);
		if (buf_error(&a->line) < 0)
			return false;
		if (newline)
			build_line(a);
		bytes += n + (newline != NULL);
		len -= n + (newline != NULL);
	}
	return true;
}

/* 1 there is one that was built from this, 0 not, or a code. */
static int build_is_there(struct work *w, const char *tag, const char *hash)
{
	char path[WORK_PATH_MAX];
	struct http_answer a;
	json_t *body;
	const char *label;
	int r;

	(void)snprintf(path, sizeof(path), "/images/%s/json", tag);
	r = work_ask(w, "GET", path, NULL, &a);
	if (r < 0)
		return r;
	body = work_json(&a);
	label = json_string_value(json_object_get(
		json_object_get(json_object_get(body, "Config"), "Labels"), DEVENV_HASH));
	r = a.status == 200 && label && strcmp(label, hash) == 0;
	if (a.status != 200 && a.status != 404)
		r = work_refused(w, a.status, &a.body);
	json_decref(body);
	http_answer_done(&a);
	return r;
}

/* An engine fetches what is not there.  That is the network, and only a policy opens it. */
static int build_check(struct work *w, const struct dockerfile *d)
{
	if (work_flag(w, "has_network"))
		return 0;
	if (d->fetches || d->has_variable)
		return cordon_hint(&w->err,
				   cordon_fail(&w->err, CORDON_E_REFUSED,
					       "the Dockerfile %s, and the policy has no network",
					       d->fetches ? "may ADD from an address"
							  : "has an image in a variable"),
				   "fetch it first and write it out, or allow all of the network");
	for (size_t i = 0; i < d->images.n; i++) {
		char path[WORK_PATH_MAX];
		struct http_answer a;
		const char *name = d->images.v[i];
		int r;

		if (strpbrk(name, "?#% ") ||
		    (size_t)snprintf(path, sizeof(path), "/images/%s/json", name) >= sizeof(path))
			return cordon_fail(&w->err, CORDON_E_INVALID,
					   "'%.200s' is not the name of an image", name);
		r = work_need(w, "GET", path, NULL, 404, &a);
		if (r < 0)
			return r;
		http_answer_done(&a);
		if (a.status == 404)
			return cordon_hint(&w->err,
					   cordon_fail(&w->err, CORDON_E_NOT_FOUND,
						       "image '%.200s' is not there", name),
					   "pull it first, or allow all of the network");
	}
	return 0;
}

/* For a query: only letters, digits and what never means anything there. */
static void build_quote(struct buf *b, const char *s)
{
	for (; *s; s++)
		if ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		    (*s >= '0' && *s <= '9') || strchr("-._/", *s))
			buf_char(b, *s);
		else
			buf_printf(b, "%%%02X", (unsigned char)*s);
}

static int build_path(struct work *w, const char *tag, const char *hash, bool is_forced,
		      struct buf *ret)
{
	json_int_t memory = json_integer_value(json_object_get(w->brief, "memory"));

	buf_printf(ret, "/build?t=%s&rm=1&forcerm=1&nocache=%d&networkmode=%s&dockerfile=", tag,
		   is_forced, work_flag(w, "has_network") ? "host" : "none");
	build_quote(ret, work_text(w, "dockerfile"));
	if (memory > 0)
		buf_printf(ret, "&memory=%lld&memswap=%lld", (long long)memory, (long long)memory);
	buf_printf(ret, "&labels=%%7B%%22" DEVENV_HASH "%%22%%3A%%22%s%%22%%7D", hash);
	return buf_error(ret) < 0 ? cordon_nomem(&w->err) : 0;
}

static int build_send(struct work *w, const char *path, int archive)
{
	struct build_answer a = {.line = BUF_INIT(BUILD_LINE_BYTES)};
	struct stat st;
	struct http_stream s = {.body_fd = archive, .take = build_take, .data = &a};
	long status = 0;
	int r;

	if (fstat(archive, &st) < 0 || lseek(archive, 0, SEEK_SET) < 0)
		return cordon_fail_errno(&w->err, errno, "archive");
	s.body_len = st.st_size;
	r = http_stream(&w->http, path, &s, WORK_BUILD_MS, &status);
	if (a.line.len > 0 && status == 200)
		build_line(&a);
	if (r == -ECANCELED)
		r = cordon_fail(&w->err, CORDON_E_SYSTEM, "nobody waits for the build");
	else if (r < 0)
		r = cordon_hint(&w->err,
				cordon_fail(&w->err, CORDON_E_NO_BACKEND, "%s: %s", w->http.socket,
					    http_reason(&w->http, r)),
				"%s", http_hint(&w->http, r));
	else if (status != 200 && !a.error[0])
		r = work_refused(w, status, &a.line);
	else if (status != 200)
		r = cordon_hint(&w->err,
				cordon_fail(&w->err, CORDON_E_INVALID, "%s refused (%ld): %.300s",
					    w->engine, status, a.error),
				"see the Dockerfile, and the engine's log");
	else if (a.error[0])
		r = cordon_hint(&w->err,
				cordon_fail(&w->err, CORDON_E_INVALID, "the build failed: %s",
					    a.error),
				"step %u of %u; it said last: %.180s", a.n, a.total, a.last);
	buf_done(&a.line);
	return r;
}

static int build_now(struct work *w, const char *tag, const char *hash, bool is_forced, int archive)
{
	struct buf path = BUF_INIT(WORK_PATH_MAX);
	int r = build_path(w, tag, hash, is_forced, &path);

	if (r == 0)
		r = build_send(w, buf_cstr(&path), archive);
	if (r == 0)
		r = build_is_there(w, tag, hash);
	buf_done(&path);
	if (r == 0)
		return cordon_fail(&w->err, CORDON_E_NO_BACKEND,
				   "the engine says that it built the image, and has none");
	return r < 0 ? r : 0;
}

/* Once for each hash, however many ask at the same time.  The project's lock is taken when there is something to note. */
int build_image(struct work *w, bool is_forced, bool *ret_was_built)
{
	AUTO_CLOSE int archive = openat(w->place, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	AUTO(dockerfile_done) struct dockerfile file = {0};
	AUTO_CLOSE int lock = -1;
	char hash[SHA256_HEX_LEN];
	char tag[DEVENV_IMAGE_MAX];
	int there = 0;
	int r = archive < 0 ? cordon_fail_errno(&w->err, errno, "make a place for the archive")
			    : build_look(w, archive, &file, hash);

	if (r < 0)
		return r;
	(void)snprintf(tag, sizeof(tag), DEVENV_TAG ":%.*s", DEVENV_TAG_HEX, hash);
	lock = r = state_lock_build(w, hash);
	if (r >= 0)
		there = r = build_is_there(w, tag, hash);
	is_forced |= json_is_true(json_object_get(w->state, "invalid"));
	*ret_was_built = is_forced || !there;
	if (r >= 0)
		r = 0;
	if (r == 0 && *ret_was_built)
		r = build_check(w, &file);
	if (r == 0 && *ret_was_built)
		r = build_now(w, tag, hash, is_forced, archive);
	if (r == 0 && w->lock < 0)
		r = state_lock(w);
	if (r < 0)
		return r;
	state_set(w, "project", w->project);
	state_set(w, "image", tag);
	state_set(w, "hash", hash);
	state_set(w, "dockerfile", work_text(w, "dockerfile"));
	(void)json_object_del(w->state, "invalid"); /* or it was not there */
	return state_save(w);
}
