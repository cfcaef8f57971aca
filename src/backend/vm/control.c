/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See control.h.  One command at a time; of an answer only matters whether it is one ("return") or an error, and
 * which status an event tells.  What is more than a line's room, or anything else, ends the attempt.
 */
#include "backend/vm/control.h"

#include "base/clock.h"
#include "base/fdpass.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROL_LINE_MAX 8192

/* Only what is in memory files is left out of the saved state, and its end is told. */
#define CONTROL_CAPABILITIES                                                                       \
	"{\"execute\":\"migrate-set-capabilities\",\"arguments\":{\"capabilities\":["              \
	"{\"capability\":\"x-ignore-shared\",\"state\":true},"                                     \
	"{\"capability\":\"events\",\"state\":true}]}}\n"

/* The next line, NUL-terminated, without its end. */
static int control_line(int fd, char line[static CONTROL_LINE_MAX], int64_t deadline_ms)
{
	for (size_t n = 0; n < CONTROL_LINE_MAX - 1; n++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (poll(&p, 1, clock_poll_timeout(deadline_ms)) <= 0)
			return -ETIMEDOUT;
		if (read(fd, &line[n], 1) != 1)
			return -EPIPE;
		if (line[n] == '\n') {
			line[n] = '\0';
			return 0;
		}
	}
	return -EPROTO;
}

/* Waits for a line with the text. */
static int control_wait(int fd, const char *text, int64_t deadline_ms)
{
	char line[CONTROL_LINE_MAX];
	int r;

	while ((r = control_line(fd, line, deadline_ms)) == 0) {
		if (strstr(line, text))
			return 0;
		if (strstr(line, "\"error\"") || strstr(line, "\"failed\""))
			return -EIO;
	}
	return r;
}

static int control_do(int fd, const char *command, int64_t deadline_ms)
{
	size_t len = strlen(command);

	if (send(fd, command, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EPIPE;
	return control_wait(fd, "\"return\"", deadline_ms);
}

static int control_greet(int fd, int64_t deadline_ms)
{
	int r = control_wait(fd, "\"QMP\"", deadline_ms);

	if (r == 0)
		r = control_do(fd, "{\"execute\":\"qmp_capabilities\"}\n", deadline_ms);
	return r < 0 ? r : control_do(fd, CONTROL_CAPABILITIES, deadline_ms);
}

int control_save(int control, int state, int64_t deadline_ms)
{
	static const char give[] = "{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"state\"}}\n";
	static const char save[] =
		"{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"fd:state\"}}\n";
	int r = control_greet(control, deadline_ms);

	if (r == 0)
		r = control_do(control, "{\"execute\":\"stop\"}\n", deadline_ms);
	if (r == 0)
		r = fdpass_send(control, give, strlen(give), &state, 1);
	if (r == 0)
		r = control_wait(control, "\"return\"", deadline_ms);
	if (r == 0)
		r = control_do(control, save, deadline_ms);
	return r < 0 ? r : control_wait(control, "\"completed\"", deadline_ms);
}

int control_load(int control, int number, int64_t deadline_ms)
{
	char load[128];
	int r = control_greet(control, deadline_ms);

	(void)snprintf(load, sizeof(load),
		       "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"fd:%d\"}}\n",
		       number);
	if (r == 0)
		r = control_do(control, load, deadline_ms);
	if (r == 0)
		r = control_wait(control, "\"completed\"", deadline_ms);
	/* It was saved standing still. */
	return r < 0 ? r : control_do(control, "{\"execute\":\"cont\"}\n", deadline_ms);
}
