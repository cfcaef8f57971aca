/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in a container that runs.  The engine turns the connection of one request into the command's streams, which
 * libcurl does not offer, so that this request is written by hand.  Outputs come in frames; the input is the tie of
 * hold.c, on which nothing is sent.
 */
#include "backend/devenv/program.h"

#include "backend/devenv/hold.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ATTACH_HEAD_MAX 16384
#define ATTACH_CHUNK 65536
#define ATTACH_FRAME 8

static int attach_lost(struct work *w)
{
	return cordon_hint(&w->err, cordon_fail(&w->err, CORDON_E_SYSTEM, "the engine was lost"),
			   "what ran there ends with the connection; see the engine's log");
}

/* The number of a new command, which does not run yet. */
static int attach_create(struct work *w, const char *container, char ret[static DEVENV_ID_MAX])
{
	json_t *words = json_pack("[ss]", HOLD_PATH, "run");
	json_t *body;
	AUTO_FREE char *text = NULL;
	char path[WORK_PATH_MAX];
	struct http_answer a;
	json_t *answer;
	const char *id;
	int r;

	if (words)
		(void)json_array_extend(words, json_object_get(w->brief, "argv"));
	body = json_pack("{sbsbsbsosOss}", "AttachStdin", 1, "AttachStdout", 1, "AttachStderr", 1,
			 "Cmd", words, "Env", json_object_get(w->brief, "env"), "WorkingDir",
			 work_text(w, "cwd"));
	text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	json_decref(body);
	if (!text)
		return cordon_nomem(&w->err);
	(void)snprintf(path, sizeof(path), "/containers/%s/exec", container);
	r = work_need(w, "POST", path, text, 0, &a);
	if (r < 0)
		return r;
	answer = work_json(&a);
	id = json_string_value(json_object_get(answer, "Id"));
	if (!id || strlen(id) >= DEVENV_ID_MAX || strspn(id, "0123456789abcdef") != strlen(id))
		r = cordon_fail(&w->err, CORDON_E_NO_BACKEND,
				"the answer of %s is none of a container engine", w->http.socket);
	else
		(void)snprintf(ret, DEVENV_ID_MAX, "%s", id);
	json_decref(answer);
	http_answer_done(&a);
	return r;
}

static int attach_connect(struct work *w)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(w->http.socket) >= sizeof(address.sun_path))
		return cordon_fail(&w->err, CORDON_E_INVALID, "the path of the socket is too long");
	memcpy(address.sun_path, w->http.socket, strlen(w->http.socket));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return cordon_fail_errno(&w->err, errno, "%s", w->http.socket);
	return TAKE_FD(fd);
}

/* Sends the request and reads the head of its answer, byte by byte: what follows belongs to the command. */
static int attach_begin(struct work *w, int fd, const char *id)
{
	static const char body[] = "{\"Detach\":false,\"Tty\":false}";
	char head[ATTACH_HEAD_MAX];
	int64_t deadline = clock_deadline(WORK_SLOW_MS);
	int n = snprintf(head, sizeof(head),
			 "POST /exec/%s/start HTTP/1.1\r\nHost: engine\r\n"
			 "Content-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
			 "Content-Length: %zu\r\n\r\n%s",
			 id, sizeof(body) - 1, body);
	size_t len = 0;

	if (io_write(fd, head, (size_t)n, deadline) < 0)
		return attach_lost(w);
	head[0] = '\0';
	while (!strstr(head + (len > 4 ? len - 4 : 0), "\r\n\r\n")) {
		if (len + 1 >= sizeof(head) || io_read(fd, head + len, 1, deadline) != 1)
			return attach_lost(w);
		head[++len] = '\0';
	}
	if (strncmp(head, "HTTP/1.1 101", 12) == 0 || strncmp(head, "HTTP/1.1 200", 12) == 0)
		return 0;
	return cordon_hint(&w->err,
			   cordon_fail(&w->err, CORDON_E_NO_BACKEND,
				       "the engine does not start the command: %.60s",
				       head + strlen("HTTP/1.1 ")),
			   "see the engine's log");
}

/* Passes the outputs on until the command's end. */
static int attach_pass(struct work *w, int fd)
{
	AUTO_FREE char *chunk = malloc(ATTACH_CHUNK);
	unsigned char head[ATTACH_FRAME];

	if (!chunk)
		return cordon_nomem(&w->err);
	for (;;) {
		struct pollfd polls[] = {{.fd = fd, .events = POLLIN},
					 {.fd = DEVENV_CALLER, .events = POLLIN}};
		uint32_t left;
		ssize_t n;

		if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
			return cordon_fail_errno(&w->err, errno, "wait for the command");
		if (polls[1].revents)
			_exit(1); /* nobody listens; the connection goes with us, and the command with that */
		if (!polls[0].revents)
			continue;
		n = io_read(fd, head, sizeof(head), CLOCK_NEVER);
		if (n == 0)
			return 0;
		if (n != sizeof(head) || head[0] > 2)
			return attach_lost(w);
		left = (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 |
		       head[7];
		while (left > 0) {
			n = io_read(fd, chunk, left < ATTACH_CHUNK ? left : ATTACH_CHUNK,
				    CLOCK_NEVER);
			if (n <= 0)
				return attach_lost(w);
			/* Who closed the output ends the command, as by a pipe. */
			if (io_write(head[0] == 2 ? STDERR_FILENO : STDOUT_FILENO, chunk, (size_t)n,
				     CLOCK_NEVER) < 0)
				_exit(1);
			left -= (uint32_t)n;
		}
	}
}

static int attach_code(struct work *w, const char *id, int *ret_code)
{
	char path[WORK_PATH_MAX];
	int64_t deadline = clock_deadline(WORK_END_MS);

	(void)snprintf(path, sizeof(path), "/exec/%s/json", id);
	do {
		struct http_answer a;
		json_t *body;
		json_t *code;
		bool is_over;
		int r = work_need(w, "GET", path, NULL, 0, &a);

		if (r < 0)
			return r;
		body = work_json(&a);
		code = json_object_get(body, "ExitCode");
		is_over = json_is_false(json_object_get(body, "Running")) && json_is_integer(code);
		if (is_over)
			*ret_code = (int)json_integer_value(code) & 0xff;
		json_decref(body);
		http_answer_done(&a);
		if (is_over)
			return 0;
		(void)poll(NULL, 0, 10);
	} while (clock_ms() < deadline);
	return attach_lost(w);
}

int attach_run(struct work *w, const char *container, int *ret_code)
{
	struct devenv_word begun = {.kind = DEVENV_WORD_BEGUN};
	AUTO_CLOSE int fd = -1;
	char id[DEVENV_ID_MAX];
	int r = attach_create(w, container, id);

	if (r == 0)
		fd = r = attach_connect(w);
	if (r >= 0)
		r = attach_begin(w, fd, id);
	if (r < 0)
		return r;
	work_send(&begun);
	w->http.control = fd_close(w->http.control); /* the caller has closed its end */
	r = attach_pass(w, fd);
	return r == 0 ? attach_code(w, id, ret_code) : r;
}
