/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors in messages, connections that are passed on, and the relay behind a pty. */
#include "run/links.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "run/relay.h"
#include "run/vtfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

static void test_fdpass(void **state)
{
	int pair[2], pipes[2], got[FDPASS_MAX], many[FDPASS_MAX];
	char word[8];
	size_t n = 9;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(fdpass_send(pair[0], "hi", 2, pipes, 2), 0);
	assert_int_equal(fdpass_receive(pair[1], word, sizeof(word), CLOCK_NEVER, got, &n), 2);
	assert_int_equal(n, 2);
	assert_memory_equal(word, "hi", 2);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(got[1], "x", 1), 1);
	assert_int_equal(read(pipes[0], word, 1), 1);
	(void)fd_close(got[0]);
	(void)fd_close(got[1]);
	/* without any, too many, nobody there, the end */
	assert_int_equal(fdpass_send(pair[0], "x", 1, NULL, 0), 0);
	assert_int_equal(fdpass_receive(pair[1], word, 1, CLOCK_NEVER, got, &n), 1);
	assert_int_equal(n, 0);
	assert_int_equal(fdpass_send(pair[0], "x", 1, pipes, FDPASS_MAX + 1), -EINVAL);
	assert_int_equal(fdpass_receive(pair[1], word, 1, clock_deadline(10), got, &n), -ETIMEDOUT);
	for (size_t i = 0; i < FDPASS_MAX; i++)
		many[i] = pipes[0];
	assert_int_equal(fdpass_send(pair[0], "x", 1, many, FDPASS_MAX), 0);
	assert_int_equal(fdpass_receive(pair[1], word, 1, CLOCK_NEVER, got, &n), 1);
	assert_int_equal(n, FDPASS_MAX);
	for (size_t i = 0; i < n; i++)
		(void)fd_close(got[i]);
	(void)fd_close(pair[0]);
	assert_int_equal(fdpass_receive(pair[1], word, 1, CLOCK_NEVER, got, &n), 0);
	assert_int_equal(fdpass_send(pair[1], "x", 1, NULL, 0), -EPIPE);
	(void)fd_close(pair[1]);
	(void)fd_close(pipes[0]);
	(void)fd_close(pipes[1]);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static int dial(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return fd_close(fd);
	return fd;
}

static void turn(struct links *l)
{
	struct pollfd polls[LINKS_POLLS];
	size_t n = links_poll(l, polls);

	assert_true(poll(polls, n, 1000) >= 0);
	links_move(l, polls);
}

static void test_links(void **state)
{
	char dir[] = "/tmp/cordon-links-XXXXXX", host[64], inside[64], word[16] = "";
	struct plan_op op = {.kind = PLAN_OP_SOCKET, .path = host};
	struct plan plan = {.ops = &op, .op_count = 1};
	struct links l;
	struct doors doors;
	int service, listener, client, server;

	(void)state;
	doors_init(&doors);
	assert_non_null(mkdtemp(dir));
	(void)snprintf(host, sizeof(host), "%s/host", dir);
	(void)snprintf(inside, sizeof(inside), "%s/inside", dir);
	assert_true(links_init(&l, &plan, NULL) < 0); /* there is none */
	links_done(&l);
	service = listen_at(host);
	listener = listen_at(inside);
	assert_int_equal(links_init(&l, &plan, NULL), 0);
	assert_int_equal(links_listen(&l, &doors), -EINVAL); /* one too few */
	doors.sockets[1] = listener;
	assert_int_equal(links_listen(&l, &doors), -EINVAL); /* not in its place */
	doors.sockets[0] = TAKE_FD(doors.sockets[1]);
	assert_int_equal(links_listen(&l, &doors), 0);
	/* Another one in its place is not the one that was granted. */
	assert_int_equal(rename(inside, host), 0);
	client = dial(host);
	assert_true(client >= 0);
	turn(&l);
	assert_int_equal(l.n_open, 1);
	server = accept4(service, NULL, NULL, SOCK_CLOEXEC);
	assert_true(server >= 0);
	assert_int_equal(write(client, "ask", 3), 3);
	turn(&l);
	assert_int_equal(read(server, word, sizeof(word)), 3);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	turn(&l);
	assert_int_equal(read(server, word, sizeof(word)), 0);
	assert_int_equal(write(server, "answer", 6), 6);
	turn(&l);
	assert_int_equal(read(client, word, sizeof(word)), 6);
	(void)fd_close(server);
	turn(&l);
	assert_int_equal(read(client, word, sizeof(word)), 0);
	assert_int_equal(l.n_open, 0);
	(void)fd_close(client);
	/* The service is gone: the connection ends. */
	(void)fd_close(service);
	client = dial(host);
	turn(&l);
	assert_int_equal(read(client, word, sizeof(word)), 0);
	assert_int_equal(l.n_open, 0);
	(void)fd_close(client);
	links_done(&l);
	(void)unlink(host);
	(void)rmdir(dir);
}

/* As many as there is room for, and the others wait. */
static void test_links_limit(void **state)
{
	char dir[] = "/tmp/cordon-links-XXXXXX", host[64], inside[64];
	struct plan_op op = {.kind = PLAN_OP_SOCKET, .path = host};
	struct plan plan = {.ops = &op, .op_count = 1};
	int clients[LIMIT_SOCKET_LINKS + 4];
	struct links l;
	struct doors doors;
	int service, listener;

	(void)state;
	doors_init(&doors);
	assert_non_null(mkdtemp(dir));
	(void)snprintf(host, sizeof(host), "%s/host", dir);
	(void)snprintf(inside, sizeof(inside), "%s/inside", dir);
	service = listen_at(host);
	listener = listen_at(inside);
	assert_int_equal(listen(service, 2 * LIMIT_SOCKET_LINKS), 0);
	assert_int_equal(listen(listener, 2 * LIMIT_SOCKET_LINKS), 0);
	assert_int_equal(links_init(&l, &plan, NULL), 0);
	doors.sockets[0] = listener;
	assert_int_equal(links_listen(&l, &doors), 0);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		clients[i] = dial(inside);
	for (size_t i = 0; i < LIMIT_SOCKET_LINKS; i++)
		turn(&l);
	assert_int_equal(l.n_open, LIMIT_SOCKET_LINKS);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		(void)fd_close(clients[i]);
	links_done(&l);
	(void)fd_close(service);
	(void)unlink(host);
	(void)unlink(inside);
	(void)rmdir(dir);
}

/* What is written to the far end comes out filtered, and at its end what was left changed is put back. */
static void test_terminal_relay(void **state)
{
	static const char in[] = "a\x1b]52;c;eA==\a\x1b[31mb";
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct buf capture = BUF_INIT(1024);
	struct relay_budget budget = {0};
	struct vtfilter filter;
	struct relay r;
	char out[64];
	int sink[2], slave, zero = 0;
	ssize_t n;

	(void)state;
	assert_int_equal(ioctl(master, TIOCSPTLCK, &zero), 0);
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	assert_int_equal(pipe2(sink, O_CLOEXEC), 0);
	vtfilter_init(&filter, true);
	assert_int_equal(relay_init_terminal(&r, master, sink[1], &capture, &budget, &filter), 0);
	assert_int_equal(write(slave, in, strlen(in)), strlen(in));
	(void)fd_close(slave);
	while (!relay_is_finished(&r)) {
		struct pollfd p = relay_poll(&r);

		assert_true(poll(&p, 1, 1000) > 0);
		assert_int_equal(relay_move(&r, p.revents), 0);
	}
	n = read(sink[0], out, sizeof(out));
	assert_int_equal(n, strlen("a\x1b[31mb\x1b[0m"));
	assert_memory_equal(out, "a\x1b[31mb\x1b[0m", (size_t)n);
	assert_string_equal(buf_cstr(&capture), in); /* the record has what was written */
	assert_false(r.is_cut);
	relay_done(&r);
	buf_done(&capture);
	(void)fd_close(sink[0]);
	(void)fd_close(sink[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fdpass),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_links_limit),
		cmocka_unit_test(test_terminal_relay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
