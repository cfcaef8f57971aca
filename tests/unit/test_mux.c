/* SPDX-License-Identifier: Apache-2.0 */
/* Many connections over one channel: an end that breaks the rules ends it, and one that keeps them does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/relay/mux.h"
#include "base/mem.h"

#define BROKEN 3

/* A connection that takes nothing: nobody reads at its other end. */
static int dial_full(void *data)
{
	static char zeros[4096];
	int pair[2];

	(void)data;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	while (send(pair[0], zeros, sizeof(zeros), MSG_NOSIGNAL) > 0)
		;
	return pair[0];
}

/* How the end outside takes these bytes: 0, or BROKEN. */
static int serve(const uint8_t *bytes, size_t len)
{
	int pair[2];
	char sink[4096];
	int status = 0;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct mux m = {.channel = pair[1], .listener = -1, .dial = dial_full};
		int r;

		(void)signal(SIGPIPE, SIG_IGN);
		(void)alarm(20);
		(void)close(pair[0]);
		r = mux_serve(&m);
		_exit(r == -EPROTO ? BROKEN : r < 0);
	}
	(void)close(pair[1]);
	while (len > 0) {
		ssize_t n = send(pair[0], bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		bytes += n;
		len -= (size_t)n;
	}
	assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
	while (read(pair[0], sink, sizeof(sink)) > 0)
		;
	(void)close(pair[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define OPEN "\1\0\0\5\0\0"
#define DATA "\2\0\0\5\0\1x"
#define END "\4\0\0\5\0\0"
#define GONE "\5\0\0\5\0\0"
#define ROW(what, bytes, want)                                                                     \
	{                                                                                          \
		what, bytes, sizeof(bytes) - 1, want                                               \
	}

static void test_rules(void **state)
{
	static const struct {
		const char *what;
		const char *bytes;
		size_t len;
		int want;
	} rows[] = {
		ROW("nothing", "", 0),
		ROW("a connection and its end", OPEN DATA DATA END, 0),
		ROW("a part of a frame", OPEN "\2\0\0", 0),
		ROW("a number that is used again", OPEN GONE, 0),
		ROW("a number that is taken", OPEN OPEN, BROKEN),
		ROW("a number beyond the last", "\1\0\1\0\0\0", BROKEN),
		ROW("no kind", "\0\0\0\5\0\0", BROKEN),
		ROW("a kind that there is not", OPEN "\6\0\0\5\0\0", BROKEN),
		ROW("a byte that is not 0", "\1\1\0\5\0\0", BROKEN),
		ROW("an opening with bytes", "\1\0\0\5\0\1x", BROKEN),
		ROW("data of nobody", DATA, BROKEN),
		ROW("data of another", OPEN "\2\0\0\6\0\1x", BROKEN),
		ROW("no data", OPEN "\2\0\0\5\0\0", BROKEN),
		ROW("a frame that is too long", OPEN "\2\0\0\5\x20\1", BROKEN),
		ROW("room that is not there", OPEN "\3\0\0\5\0\4\0\0\0\1", BROKEN),
		ROW("room that is no number", OPEN "\3\0\0\5\0\3\0\0\0", BROKEN),
		ROW("two ends", OPEN END END, BROKEN),
		ROW("data after the end", OPEN END DATA, BROKEN),
		ROW("data after it is gone", OPEN GONE DATA, BROKEN),
		ROW("an end with bytes", OPEN "\4\0\0\5\0\1x", BROKEN),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (serve((const uint8_t *)rows[i].bytes, rows[i].len) != rows[i].want)
			fail_msg("%s", rows[i].what);
}

/* As much as there is room for, and one byte more. */
static void test_window(void **state)
{
	static uint8_t bytes[6 + MUX_WINDOW / MUX_FRAME * (6 + MUX_FRAME) + 7];
	size_t n = 0;

	(void)state;
	memcpy(bytes, OPEN, 6);
	n += 6;
	for (int i = 0; i < MUX_WINDOW / MUX_FRAME; i++) {
		const uint8_t head[6] = {2, 0, 0, 5, MUX_FRAME >> 8, MUX_FRAME & 255};

		memcpy(bytes + n, head, sizeof(head));
		n += sizeof(head) + MUX_FRAME;
	}
	assert_int_equal(serve(bytes, n), 0);
	memcpy(bytes + n, DATA, 7);
	assert_int_equal(serve(bytes, n + 7), BROKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
