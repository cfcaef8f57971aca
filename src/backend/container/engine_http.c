/* SPDX-License-Identifier: Apache-2.0 */
/* See engine_http.h. */
#include "backend/container/engine_http.h"

#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HTTP_URL_MAX 1024
#define HTTP_CONNECT_MS 5000L
#define HTTP_POLL_MS 60000

int http_open(struct http *h, const char *socket, int control, int caller)
{
	*h = (struct http){.socket = socket, .control = control, .caller = caller, .is_tied = true};
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK)
		return -ENOMEM;
	h->easy = curl_easy_init();
	h->multi = curl_multi_init();
	return h->easy && h->multi ? 0 : -ENOMEM;
}

void http_close(struct http *h)
{
	curl_easy_cleanup(h->easy);
	(void)curl_multi_cleanup(h->multi);
	curl_global_cleanup();
}

static size_t http_take(char *data, size_t size, size_t n, void *arg)
{
	struct buf *body = arg;

	buf_add(body, data, size * n);
	return buf_error(body) < 0 ? 0 : size * n;
}

bool http_is_deserted(struct http *h)
{
	struct pollfd caller = {.fd = h->caller, .events = POLLIN};
	ssize_t n;
	char byte;

	if (!h->is_tied)
		return false;
	n = h->control < 0 ? -1 : recv(h->control, &byte, 1, MSG_DONTWAIT);
	if (n == 1)
		h->control = fd_close(h->control);
	return n == 0 || poll(&caller, 1, 0) > 0;
}

/* Until it is answered, or nobody wants the answer any more. */
static int http_perform(struct http *h)
{
	int running = 1;
	int left;

	h->last = CURLE_FAILED_INIT;
	if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
		return -EIO;
	while (running && !http_is_deserted(h)) {
		struct curl_waitfd ties[] = {{.fd = h->caller, .events = CURL_WAIT_POLLIN},
					     {.fd = h->control, .events = CURL_WAIT_POLLIN}};

		if (curl_multi_perform(h->multi, &running) != CURLM_OK ||
		    (running &&
		     curl_multi_poll(h->multi, ties, h->is_tied ? 1U + (h->control >= 0) : 0,
				     HTTP_POLL_MS, NULL) != CURLM_OK))
			break;
	}
	for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &left));)
		if (m->msg == CURLMSG_DONE)
			h->last = m->data.result;
	(void)curl_multi_remove_handle(h->multi, h->easy); /* it is there */
	(void)curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &h->os_error);
	if (running && http_is_deserted(h))
		return -ECANCELED;
	return h->last == CURLE_OK ? 0 : -EIO;
}

/* What every request has; the headers are the caller's to free. */
static int http_prepare(struct http *h, const char *path, const char *type, int64_t timeout_ms,
			struct curl_slist **ret_headers)
{
	char url[HTTP_URL_MAX];
	CURL *c = h->easy;

	if ((size_t)snprintf(url, sizeof(url), "http://engine%s", path) >= sizeof(url))
		return -ENAMETOOLONG;
	*ret_headers = curl_slist_append(NULL, type);
	curl_easy_reset(c);
	if (!*ret_headers || curl_easy_setopt(c, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, h->socket) != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http") != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_PROXY, "") != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, HTTP_CONNECT_MS) != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, timeout_ms < 0 ? 0L : (long)timeout_ms) !=
		    CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->error) != CURLE_OK ||
	    curl_easy_setopt(c, CURLOPT_HTTPHEADER, *ret_headers) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

int http_request(struct http *h, const char *method, const char *path, const char *body, size_t len,
		 int64_t timeout_ms, struct http_answer *ret)
{
	struct curl_slist *headers = NULL;
	struct http_answer a = {.body = BUF_INIT(HTTP_BODY_MAX)};
	CURL *c = h->easy;
	bool is_json = body && body[0] == '{';
	int r = http_prepare(h, path,
			     is_json ? "Content-Type: application/json"
				     : "Content-Type: application/x-tar",
			     timeout_ms, &headers);

	if (r == 0 &&
	    (curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, http_take) != CURLE_OK ||
	     curl_easy_setopt(c, CURLOPT_WRITEDATA, &a.body) != CURLE_OK ||
	     (strcmp(method, "GET") != 0 &&
	      (curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len) != CURLE_OK ||
	       curl_easy_setopt(c, CURLOPT_POSTFIELDS, body ? body : "") != CURLE_OK)) ||
	     curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method) != CURLE_OK))
		r = -ENOMEM;
	if (r == 0)
		r = http_perform(h);
	curl_slist_free_all(headers);
	if (r == 0 && curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status) != CURLE_OK)
		r = -EIO;
	if (r < 0)
		http_answer_done(&a);
	else
		*ret = a;
	return r;
}

static size_t http_stream_read(char *to, size_t size, size_t n, void *arg)
{
	const struct http_stream *s = arg;
	ssize_t got = read(s->body_fd, to, size * n);

	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static size_t http_stream_take(char *bytes, size_t size, size_t n, void *arg)
{
	const struct http_stream *s = arg;

	return s->take(s->data, bytes, size * n) ? size * n : 0;
}

int http_stream(struct http *h, const char *path, const struct http_stream *s, int64_t timeout_ms,
		long *ret_status)
{
	struct curl_slist *headers = NULL;
	CURL *c = h->easy;
	int r = http_prepare(h, path, "Content-Type: application/x-tar", timeout_ms, &headers);

	if (r == 0 && (curl_easy_setopt(c, CURLOPT_POST, 1L) != CURLE_OK ||
		       curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)s->body_len) !=
			       CURLE_OK ||
		       curl_easy_setopt(c, CURLOPT_READFUNCTION, http_stream_read) != CURLE_OK ||
		       curl_easy_setopt(c, CURLOPT_READDATA, s) != CURLE_OK ||
		       curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, http_stream_take) != CURLE_OK ||
		       curl_easy_setopt(c, CURLOPT_WRITEDATA, s) != CURLE_OK))
		r = -ENOMEM;
	if (r == 0)
		r = http_perform(h);
	curl_slist_free_all(headers);
	if (r == 0 && curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, ret_status) != CURLE_OK)
		r = -EIO;
	return r;
}

void http_answer_done(struct http_answer *a)
{
	buf_done(&a->body);
}

const char *http_reason(const struct http *h, int r)
{
	if (r == -ENOMEM)
		return "no memory";
	if (h->last == CURLE_COULDNT_CONNECT && h->os_error)
		return strerrordesc_np((int)h->os_error);
	if (h->last == CURLE_OPERATION_TIMEDOUT)
		return "the engine does not answer";
	return h->error[0] ? h->error : curl_easy_strerror(h->last);
}

bool http_is_slow(const struct http *h, int r)
{
	return r == -EIO && h->last == CURLE_OPERATION_TIMEDOUT;
}

const char *http_hint(const struct http *h, int r)
{
	if (r == -EIO && h->last == CURLE_COULDNT_CONNECT && h->os_error == EACCES)
		return "you may not use that socket; join the engine's group, or run an engine of your own";
	if (r == -EIO && h->last == CURLE_COULDNT_CONNECT)
		return "start the engine, or name its socket with DOCKER_HOST or CONTAINER_HOST";
	if (h->last == CURLE_OPERATION_TIMEDOUT)
		return "see the engine's log; it may be overloaded";
	return "is that socket a container engine's, and does it still run?";
}

bool http_warning_counts(const char *text)
{
	return !text || !strcasestr(text, "forwarding is disabled");
}
