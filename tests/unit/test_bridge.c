/* SPDX-License-Identifier: Apache-2.0 */
/* backend/landlock/bridge.h: sockets are led to who holds the other end, and to nobody else. */
#include "backend/landlock/bridge.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct bridge bridge;
static int in = -1;

static int set_up(void **state)
{
	(void)state;
	return bridge_make(&bridge, &in);
}

static int tear_down(void **state)
{
	(void)state;
	bridge_done(&bridge);
	in = fd_close(in);
	return 0;
}

static struct hatch_head target(uint8_t last)
{
	return (struct hatch_head){.kind = HATCH_ADDRESS, .port = 443, .addr = {[15] = last}};
}

/* The other end that was handed out, and what it is for. */
static int take(uint8_t last)
{
	uint8_t bytes[HATCH_HEAD_SIZE];
	struct hatch_head head;
	int fds[FDPASS_MAX];
	size_t n = 0;

	assert_int_equal(fdpass_receive(in, bytes, sizeof(bytes), clock_deadline(1000), fds, &n),
			 HATCH_HEAD_SIZE);
	assert_int_equal(n, 1);
	assert_int_equal(hatch_read(bytes, &head), 0);
	assert_int_equal(head.port, 443);
	assert_int_equal(head.addr[15], last);
	return fds[0];
}

static void nothing_more(void)
{
	uint8_t bytes[HATCH_HEAD_SIZE];
	int fds[FDPASS_MAX];
	size_t n = 0;

	assert_int_equal(fdpass_receive(in, bytes, sizeof(bytes), clock_deadline(0), fds, &n),
			 -ETIMEDOUT);
}

static void speak(int from, int to, const char *word)
{
	char got[16] = {0};

	assert_int_equal(send(from, word, strlen(word), MSG_NOSIGNAL), strlen(word));
	assert_int_equal(recv(to, got, sizeof(got), 0), strlen(word));
	assert_string_equal(got, word);
}

static void test_leads(void **state)
{
	static const struct {
		int family;
		int flags;
	} rows[] = {
		{AF_INET, 0}, {AF_INET, SOCK_NONBLOCK}, {AF_INET6, 0}, {AF_INET6, SOCK_NONBLOCK}};

	(void)state;
	for (uint8_t i = 0; i < 4; i++) {
		AUTO_CLOSE int sock = socket(rows[i].family, SOCK_STREAM | rows[i].flags, 0);
		const struct hatch_head head = target(i);
		AUTO_CLOSE int other = -1;

		if (sock < 0 && rows[i].family == AF_INET6)
			continue; /* there is none here */
		assert_int_equal(bridge_lead(&bridge, sock, &head), 0);
		other = take(i);
		assert_true(fd_nonblock(other, false) == 0);
		speak(sock, other, "up");
		if (!rows[i].flags)
			speak(other, sock, "down");
		/* The flag is as it was, and there is one peer. */
		assert_int_equal(!!(fcntl(sock, F_GETFL) & O_NONBLOCK), rows[i].flags != 0);
		assert_int_equal(bridge_lead(&bridge, sock, &head), -EISCONN);
		nothing_more();
		speak(sock, other, "still");
	}
}

static int stranger(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(bridge.port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, "me", 2, MSG_NOSIGNAL), 2);
	return fd;
}

/* Those who came first are not taken for it. */
static void test_strangers(void **state)
{
	AUTO_CLOSE int sock = socket(AF_INET, SOCK_STREAM, 0);
	const struct hatch_head head = target(7);
	AUTO_CLOSE int other = -1;
	int strangers[8];
	char byte;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		strangers[i] = stranger();
	assert_int_equal(bridge_lead(&bridge, sock, &head), 0);
	other = take(7);
	assert_true(fd_nonblock(other, false) == 0);
	speak(sock, other, "mine");
	nothing_more();
	for (unsigned i = 0; i < 8; i++) {
		assert_true(recv(strangers[i], &byte, 1, 0) <= 0);
		(void)close(strangers[i]);
	}
}

/* Nobody to hand it to: refused, and the socket can be tried again. */
static void test_nobody(void **state)
{
	AUTO_CLOSE int sock = socket(AF_INET, SOCK_STREAM, 0);
	struct bridge again;
	const struct hatch_head head = target(9);
	AUTO_CLOSE int other = -1;

	(void)state;
	in = fd_close(in);
	assert_int_equal(bridge_lead(&bridge, sock, &head), -ECONNREFUSED);
	assert_int_equal(getpeername(sock, (struct sockaddr *)&(struct sockaddr_in){0},
				     &(socklen_t){sizeof(struct sockaddr_in)}),
			 -1);
	assert_int_equal(bridge_make(&again, &in), 0);
	assert_int_equal(bridge_lead(&again, sock, &head), 0);
	other = take(9);
	bridge_done(&again);
}

/* One that cannot be connected stays as it is. */
static void test_listener(void **state)
{
	AUTO_CLOSE int sock = socket(AF_INET, SOCK_STREAM, 0);
	const struct hatch_head head = target(1);
	int is_listening = 0;
	socklen_t len = sizeof(is_listening);

	(void)state;
	assert_int_equal(listen(sock, 1), 0);
	assert_true(bridge_lead(&bridge, sock, &head) < 0);
	assert_int_equal(getsockopt(sock, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len), 0);
	assert_int_equal(is_listening, 1);
	nothing_more();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_leads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_strangers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_listener, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
