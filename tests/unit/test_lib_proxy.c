/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of the library: what the modes and lists mean, row by row, and one that serves: what it lets through, what
 * it writes down, and that nothing of it is left.
 */
#include "lib_helper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

struct row {
	const char *mode;
	const char *const *allowed;
	const char *const *blocked;
	const char *host;
	unsigned port;
	int answer; /* -1: an error */
};

static const char *const two[] = {"github.com", "*.golang.org", NULL};
static const char *const wild[] = {"*.github.com", "*.example.org", NULL};
static const char *const evil[] = {"evil.com", "*.malware.net", NULL};
static const char *const inner[] = {"evil.github.com", NULL};
static const char *const inside[] = {"*.internal", "*.corp", NULL};
static const char *const port[] = {"github.com:8443", NULL};

static const struct row rows[] = {
	{"allowlist", two, NULL, "github.com", 443, 1},
	{"allowlist", two, NULL, "GitHub.Com", 443, 1},
	{"allowlist", two, NULL, "github.com.", 443, 1},
	{"allowlist", two, NULL, "pkg.golang.org", 443, 1},
	{"allowlist", two, NULL, "a.b.golang.org", 80, 1},
	{"allowlist", two, NULL, "evil.com", 443, 0},
	{"allowlist", two, NULL, "random.org", 443, 0},
	{"allowlist", two, NULL, "api.github.com", 443, 0},
	{"allowlist", two, NULL, "notgithub.com", 443, 0},
	{"allowlist", two, NULL, "github.com", 22, 0},
	{"allowlist", two, NULL, "github.com:443", 0, 1},
	{"allowlist", two, NULL, "github.com", 0, 1},
	{"allowlist", two, NULL, "evil.com:443", 0, 0},
	{"allowlist", port, NULL, "github.com", 8443, 1},
	{"allowlist", port, NULL, "github.com", 443, 0},
	{NULL, two, NULL, "github.com", 443, 1},
	{NULL, NULL, NULL, "github.com", 443, 0},
	{"allowlist", wild, NULL, "api.github.com", 443, 1},
	{"allowlist", wild, NULL, "sub.example.org", 443, 1},
	{"allowlist", wild, NULL, "github.com", 443, 0}, /* an entry of its own is needed */
	{"allowlist", wild, NULL, "notgithub.com", 443, 0},
	{"allowlist", wild, inner, "api.github.com", 443, 1},
	{"allowlist", wild, inner, "evil.github.com", 443, 0},
	{"blocklist", NULL, evil, "github.com", 443, 1},
	{"blocklist", NULL, evil, "github.com", 22, 1},
	{"blocklist", NULL, evil, "evil.com", 443, 0},
	{"blocklist", NULL, evil, "evil.com", 22, 0}, /* without a port: every port */
	{"blocklist", NULL, evil, "sub.malware.net", 8080, 0},
	{"blocklist", NULL, evil, "malware.net", 443, 1},
	{"blocklist", NULL, port, "github.com", 8443, 0},
	{"blocklist", NULL, port, "github.com", 443, 1},
	{"blocklist", NULL, inside, "db.corp", 443, 0},
	{"blocklist", NULL, NULL, "10.0.0.1", 443, 0},
	{"open", NULL, NULL, "anything.com", 443, 1},
	{"open", NULL, evil, "evil.com", 443, 0}, /* what is blocked is blocked */
	{"open", NULL, NULL, "192.168.1.1", 443, 0},
	{"open", NULL, NULL, "127.0.0.1", 443, 0},
	{"open", NULL, NULL, "localhost", 443, 0},
	{"open", NULL, NULL, "[::1]", 443, 0},
	{"open", NULL, NULL, "::ffff:10.0.0.1", 443, 0},
	{"open", NULL, NULL, "1.1.1.1", 443, 1},
	{"closed", NULL, NULL, "github.com", 443, 0},
	{"closed", NULL, NULL, "localhost", 443, 0},
	{"open", NULL, NULL, "0x7f000001", 443, -1},
	{"open", NULL, NULL, "2130706433", 443, -1},
	{"open", NULL, NULL, "a b", 443, -1},
	{"open", NULL, NULL, "a.example:1", 2, -1},
	{"open", NULL, NULL, "a.example", 70000, -1},
};

static struct cordon_proxy *make_proxy(const char *mode, const char *const *allowed,
				       const char *const *blocked)
{
	struct cordon_proxy_config config = {.struct_size = sizeof(config)};
	struct cordon_proxy *p = NULL;
	struct cordon_error err;

	config.mode = mode;
	config.allowed = allowed;
	config.blocked = blocked;
	if (cordon_proxy_new(&config, &p, &err) < 0)
		fail_msg("%s", err.message);
	return p;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct cordon_proxy *p = make_proxy(row->mode, row->allowed, row->blocked);
		struct cordon_proxy_answer answer = {.struct_size = sizeof(answer)};
		struct cordon_error err;
		int r = cordon_proxy_is_allowed(p, row->host, row->port, &answer, &err);

		if ((r < 0 ? -1 : r) != row->answer)
			fail_msg("row %zu: %s %s: %d, %s", i, row->mode, row->host, r,
				 r < 0 ? err.message : answer.rule);
		if (r >= 0) {
			assert_int_equal(answer.allowed, r);
			assert_string_not_equal(answer.rule, "");
			assert_int_equal(answer.remedy[0] == '\0', r);
		}
		cordon_proxy_free(p);
	}
}

static void test_development(void **state)
{
	static const struct {
		const char *host;
		int answer;
	} hosts[] = {
		{"api.github.com", 1},   {"github.com", 1},
		{"proxy.golang.org", 1}, {"registry.npmjs.org", 1},
		{"pypi.org", 1},         {"files.pythonhosted.org", 1},
		{"crates.io", 1},        {"static.crates.io", 1},
		{"rubygems.org", 1},     {"registry-1.docker.io", 1},
		{"registry.k8s.io", 1},  {"storage.googleapis.com", 1},
		{"service.internal", 0}, {"169.254.169.254", 0},
		{"10.0.0.1", 0},         {"192.168.1.1", 0},
		{"172.16.0.1", 0},       {"localhost", 0},
		{"127.0.0.1", 0},        {"[::1]", 0},
		{"100.64.0.1", 0},       {"10.evil.com", 0},
		{"evil.com", 0},         {"github.com.evil.com", 0},
	};
	struct cordon_proxy_config config = {.struct_size = sizeof(config)};
	struct cordon_proxy *p = NULL;

	(void)state;
	assert_int_equal(cordon_proxy_default_development(&config, NULL), 0);
	assert_int_equal(cordon_proxy_new(&config, &p, NULL), 0);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		if (cordon_proxy_is_allowed(p, hosts[i].host, 443, NULL, NULL) != hosts[i].answer)
			fail_msg("%s", hosts[i].host);
	cordon_proxy_free(p);
}

/* ---- one that serves ---- */

static unsigned server_port;

/* Answers "pong" to whatever comes. */
static void *server_run(void *data)
{
	int listener = *(int *)data;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		char byte[64];

		if (fd < 0)
			return NULL;
		if (recv(fd, byte, sizeof(byte), 0) > 0)
			(void)!send(fd, "pong", 4, MSG_NOSIGNAL);
		(void)close(fd);
	}
}

static int server_start(pthread_t *thread, int *listener)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);

	*listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*listener < 0 || bind(*listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(*listener, 16) < 0 || getsockname(*listener, (struct sockaddr *)&a, &len) < 0)
		return -1;
	server_port = ntohs(a.sin_port);
	return pthread_create(thread, NULL, server_run, listener);
}

static int dial(const char *address)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct cordon_host h = {.struct_size = sizeof(h)};
	struct timeval patience = {.tv_sec = 30};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(cordon_host_parse(address, strlen(address), &h, NULL), 0);
	a.sin_port = htons((uint16_t)h.port);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* CONNECT to the port; the answer's head, and after 200 what a ping brings. */
static void ask(const char *address, unsigned to, char *answer, size_t size)
{
	char text[200];
	int fd = dial(address);
	ssize_t n;

	assert_true(fd >= 0);
	(void)snprintf(text, sizeof(text),
		       "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", to, to);
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	n = recv(fd, answer, size - 1, 0);
	assert_true(n > 0);
	if (memcmp(answer, "HTTP/1.1 200", 12) == 0) {
		assert_int_equal(send(fd, "ping", 4, MSG_NOSIGNAL), 4);
		n = recv(fd, answer, size - 1, MSG_WAITALL);
		assert_true(n >= 0);
	}
	answer[n] = '\0';
	(void)close(fd);
}

static void check_log(struct cordon_proxy *p)
{
	struct cordon_proxy_entry e = {.struct_size = sizeof(e)};

	assert_int_equal(cordon_proxy_get_log(p, &e, NULL), 1);
	assert_string_equal(e.method, "CONNECT");
	assert_string_equal(e.host, "127.0.0.1");
	assert_int_equal(e.port, server_port);
	assert_int_equal(e.allowed, 1);
	assert_int_equal(e.status, 200);
	assert_true(e.time_ms > INT64_C(1500000000000));
	assert_string_equal(e.remedy, "");
	assert_int_equal(cordon_proxy_get_log(p, &e, NULL), 1);
	assert_int_equal(e.port, 1);
	assert_int_equal(e.allowed, 0);
	assert_int_equal(e.status, 403);
	assert_string_equal(e.remedy, "--allow 127.0.0.1:1");
	assert_int_equal(e.lost, 0);
	assert_int_equal(cordon_proxy_get_log(p, &e, NULL), 0);
}

static void check_stats(struct cordon_proxy *p)
{
	struct cordon_proxy_stats s = {.struct_size = sizeof(s)};

	assert_int_equal(cordon_proxy_get_stats(p, &s, NULL), 0);
	assert_int_equal(s.allowed, 1);
	assert_int_equal(s.blocked, 1);
	assert_int_equal(s.failed, 0);
	assert_int_equal(s.hosts, 1);
	assert_int_equal(s.bytes, 8);
	assert_int_equal(cordon_proxy_requests(p, "127.0.0.1"), 2);
	assert_int_equal(cordon_proxy_requests(p, "other.example"), 0);
}

static void test_serves(void **state)
{
	struct cordon_proxy_config config = {.struct_size = sizeof(config)};
	struct cordon_proxy *p = NULL;
	struct cordon_error err;
	char allowed[40], answer[2048], name[64], wanted[100];
	char **env = NULL;
	pthread_t thread;
	int listener;

	(void)state;
	assert_int_equal(server_start(&thread, &listener), 0);
	(void)snprintf(allowed, sizeof(allowed), "127.0.0.1:%u", server_port);
	config.allowed = LIST(allowed);
	config.allow_private = LIST("127.0.0.0/8");
	assert_int_equal(cordon_proxy_new(&config, &p, NULL), 0);
	assert_null(cordon_proxy_address(p));
	if (cordon_proxy_start(p, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(cordon_proxy_start(p, NULL), CORDON_E_INVALID);
	(void)snprintf(name, sizeof(name), "%s", cordon_proxy_address(p));
	assert_memory_equal(name, "127.0.0.1:", 10);
	assert_int_equal(cordon_proxy_env(p, &env, NULL), 0);
	(void)snprintf(wanted, sizeof(wanted), "HTTP_PROXY=http://%s", name);
	assert_string_equal(env[0], wanted);
	cordon_free(env);
	ask(name, server_port, answer, sizeof(answer));
	assert_string_equal(answer, "pong");
	ask(name, 1, answer, sizeof(answer));
	assert_memory_equal(answer, "HTTP/1.1 403 ", 13);
	assert_non_null(strstr(answer, "x-proxy-error: network.allowed_hosts"));
	cordon_proxy_stop(p);
	assert_int_equal(dial(name), -1);
	check_log(p);
	check_stats(p);
	cordon_proxy_stop(p);
	cordon_proxy_free(p);
	/* Nothing of ours is left to be waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	(void)shutdown(listener, SHUT_RDWR);
	(void)close(listener);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *start_in_thread(void *p)
{
	return cordon_proxy_start(p, NULL) == 0 ? p : NULL;
}

/* The thread that started it may go. */
static void test_thread(void **state)
{
	struct cordon_proxy *p = make_proxy("closed", NULL, NULL);
	char answer[2048];
	pthread_t thread;
	void *r = NULL;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, start_in_thread, p), 0);
	assert_int_equal(pthread_join(thread, &r), 0);
	assert_ptr_equal(r, p);
	ask(cordon_proxy_address(p), 1, answer, sizeof(answer));
	assert_memory_equal(answer, "HTTP/1.1 403 ", 13);
	cordon_proxy_free(p);
}

static void test_unix(void **state)
{
	struct cordon_proxy_config config = {.struct_size = sizeof(config)};
	struct cordon_proxy *p = NULL;
	char path[400];
	struct stat st;
	char **env = NULL;
	int fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/p.sock", place);
	config.unix_path = path;
	config.listen = "127.0.0.1:0";
	assert_int_equal(cordon_proxy_new(&config, &p, NULL), CORDON_E_INVALID);
	config.listen = NULL;
	assert_int_equal(cordon_proxy_new(&config, &p, NULL), 0);
	assert_int_equal(cordon_proxy_start(p, NULL), 0);
	assert_string_equal(cordon_proxy_address(p), path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(cordon_proxy_env(p, &env, NULL), 0);
	assert_null(env[0]);
	cordon_free(env);
	cordon_proxy_stop(p);
	assert_int_equal(stat(path, &st), -1);
	/* What is there after it is somebody else's. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(cordon_proxy_env(p, &env, NULL), 0);
	assert_null(env[0]);
	cordon_free(env);
	cordon_proxy_free(p);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_development),
		cmocka_unit_test(test_serves), cmocka_unit_test(test_thread),
		cmocka_unit_test(test_unix),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
