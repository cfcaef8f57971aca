/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a container engine on its Unix socket, with libcurl.  One at a time. */
#pragma once

#include "base/buf.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_ID_MAX 129
#define HTTP_BODY_MAX (8 * 1024 * 1024) /* of an answer */

struct http {
	CURL *easy;
	CURLM *multi;
	const char *socket;
	int control; /* requests end when its other end does, unless a byte came before; -1: it did */
	int caller;   /* and when this process does */
	bool is_tied; /* they do */
	CURLcode last;
	long os_error;
	char error[CURL_ERROR_SIZE];
};

struct http_answer {
	long status;
	struct buf body;
};

CORDON_MUST_CHECK int http_open(struct http *h, const char *socket, int control, int caller);
void http_close(struct http *h);
/* Does nobody want the call any more? */
bool http_is_deserted(struct http *h);
/* timeout_ms: negative for none.  0 with *ret given; -ECANCELED when the control ended; -EIO otherwise. */
CORDON_MUST_CHECK int http_request(struct http *h, const char *method, const char *path,
				   const char *body, size_t len, int64_t timeout_ms,
				   struct http_answer *ret);
/* A POST whose body is a file and whose answer is taken as it comes; take returns false to stop. */
struct http_stream {
	int body_fd; /* at its beginning */
	int64_t body_len;
	bool (*take)(void *data, const char *bytes, size_t len);
	void *data;
};
CORDON_MUST_CHECK int http_stream(struct http *h, const char *path, const struct http_stream *s,
				  int64_t timeout_ms, long *ret_status);
void http_answer_done(struct http_answer *a);
/* What went wrong with the last one, and what to do. */
const char *http_reason(const struct http *h, int r);
/* Does a container's warning say that a limit is dropped or weaker?  All do, but for what is known to be about other
 * things: a new one stops the call. */
bool http_warning_counts(const char *text);
const char *http_hint(const struct http *h, int r);
/* Was the last one, which returned r, not answered in time? */
bool http_is_slow(const struct http *h, int r);
