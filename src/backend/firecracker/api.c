/* SPDX-License-Identifier: Apache-2.0 */
/* See api.h. */
#include "backend/firecracker/api.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define API_ANSWER_MAX 8192
#define API_REQUEST_MAX 4096
#define API_LENGTH "content-length:"
#define API_STATUS_LEN 12 /* "HTTP/1.1 204" */

int api_head(const char *head, int *ret_status, size_t *ret_length)
{
	int64_t status = 0;
	int64_t length = 0;
	char number[24];

	if (!str_starts(head, "HTTP/1.") || strlen(head) < API_STATUS_LEN)
		return -EPROTO;
	(void)snprintf(number, sizeof(number), "%.3s", head + API_STATUS_LEN - 3);
	if (parse_int(number, 100, 599, &status) < 0)
		return -EPROTO;
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, API_LENGTH, strlen(API_LENGTH)) != 0)
			continue;
		line += strlen(API_LENGTH);
		line += strspn(line, " ");
		(void)snprintf(number, sizeof(number), "%.*s", (int)strcspn(line, " \r"), line);
		if (parse_int(number, 0, API_ANSWER_MAX, &length) < 0)
			return -EPROTO;
	}
	*ret_status = (int)status;
	*ret_length = (size_t)length;
	return 0;
}

/* One byte more of the answer. */
static int api_byte(int fd, char *ret, int64_t deadline_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, clock_poll_timeout(deadline_ms)) <= 0)
		return -ETIMEDOUT;
	return read(fd, ret, 1) == 1 ? 0 : -EPIPE;
}

/* The text of a fault, without what could be more than a line. */
static void api_why(const char *path, int status, const char *body, char ret[static API_WHY_MAX])
{
	static const char key[] = "\"fault_message\"";
	const char *at = strstr(body, key);

	at = at ? strchr(at + sizeof(key) - 1, '"') : NULL;
	(void)snprintf(ret, API_WHY_MAX, "%s: status %d: %.*s", path, status,
		       at ? (int)strcspn(at + 1, "\"\r\n") : 0, at ? at + 1 : "");
}

int api_call(int fd, const char *method, const char *path, const char *body, int64_t deadline_ms,
	     char ret_why[static API_WHY_MAX])
{
	char request[API_REQUEST_MAX];
	char answer[API_ANSWER_MAX];
	size_t n = 0;
	size_t length = 0;
	int status = 0;
	int len = snprintf(request, sizeof(request),
			   "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
			   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			   method, path, strlen(body), body);
	int r = len < 0 || len >= (int)sizeof(request) ? -E2BIG : 0;

	(void)snprintf(ret_why, API_WHY_MAX, "%s: no answer", path);
	if (r == 0 && send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
		r = -EPIPE;
	while (r == 0 && (n < 4 || memcmp(answer + n - 4, "\r\n\r\n", 4) != 0))
		r = n >= sizeof(answer) - 1 ? -EPROTO : api_byte(fd, &answer[n++], deadline_ms);
	if (r == 0) {
		answer[n] = '\0';
		r = api_head(answer, &status, &length);
	}
	if (r == -EPROTO)
		(void)snprintf(ret_why, API_WHY_MAX, "%s: the answer is not one of Firecracker's",
			       path);
	for (n = 0; r == 0 && n < length; n++)
		r = n >= sizeof(answer) - 1 ? -EPROTO : api_byte(fd, &answer[n], deadline_ms);
	if (r < 0)
		return r;
	answer[n] = '\0';
	if (status >= 200 && status < 300)
		return 0;
	api_why(path, status, answer, ret_why);
	return -EREMOTEIO;
}
