/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load for a proxy on loopback: servers and clients in one program, without libraries.
 *
 *   load tunnels PROXY PID N     N tunnels at one time, data on each, twice; PSS of PID and its descendants meanwhile
 *   load rate PROXY BYTES        one stream through CONNECT; PROXY may be "direct" or "relay:ADDRESS"
 *   load delay PROXY COUNT       small requests, each on a connection of its own
 *   load delay-kept PROXY COUNT  the same, on one connection as long as the other side keeps it
 *   load server                  what rate and delay talk to; prints its address, ends with its input
 *   load relay TARGET            the least relay that splices; prints its address, ends with its input
 *
 * PROXY and TARGET are 127.0.0.1:PORT.  rate and delay take the server's address in LOAD_SERVER.  Results are lines of
 * NAME=VALUE; the exit code is 1 if anything failed.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE (1 << 18)
#define TUNNELS_MS 120000 /* for all of one stage */
#define CONNECTS 256      /* that are under way at one time */

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* The digits at the start; 0 without any. */
static uint64_t number_of(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n < UINT64_MAX / 100; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	const char *colon = strrchr(text, ':');
	char host[32];

	if (!colon || colon - text >= (ptrdiff_t)sizeof(host)) {
		fprintf(stderr, "load: '%s' is not ADDRESS:PORT\n", text);
		exit(2);
	}
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die(text);
	a.sin_port = htons((uint16_t)number_of(colon + 1));
	return a;
}

static int listen_on_loopback(struct sockaddr_in *ret)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 4096) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die("listen");
	*ret = a;
	return fd;
}

static void announce(const struct sockaddr_in *a)
{
	printf("127.0.0.1:%u\n", ntohs(a->sin_port));
	fflush(stdout);
}

static int dial(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* seen when the answer is read */
		if (n <= 0)
			die("send");
		p += n;
		len -= (size_t)n;
	}
}

/* Reads a head up to its empty line.  The length, or -1. */
static ssize_t read_head(int fd, char *text, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		ssize_t got = recv(fd, text + n, size - 1 - n, 0);

		if (got <= 0)
			return -1;
		n += (size_t)got;
		text[n] = '\0';
		if (strstr(text, "\r\n\r\n"))
			return (ssize_t)n;
	}
	return -1;
}

/* ---- the server: "B<bytes>\n" is answered with that many bytes, an HTTP request with 200 ---- */

static void serve_bytes(int fd, uint64_t left)
{
	static char piece[PIECE];

	while (left > 0) {
		ssize_t n = send(fd, piece, left < sizeof(piece) ? (size_t)left : sizeof(piece),
				 MSG_NOSIGNAL);

		if (n <= 0)
			return;
		left -= (uint64_t)n;
	}
}

static void serve_one(int fd)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char text[8192];
	size_t n = 0;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (;;) {
		ssize_t got = recv(fd, text + n, sizeof(text) - 1 - n, 0);

		if (got <= 0)
			return;
		n += (size_t)got;
		text[n] = '\0';
		if (text[0] == 'B' && strchr(text, '\n')) {
			serve_bytes(fd, number_of(text + 1));
			return;
		}
		if (strstr(text, "\r\n\r\n")) {
			send_all(fd, ok, sizeof(ok) - 1);
			n = 0;
		}
	}
}

/* Ends with its input, so that nothing is left when the caller dies. */
static bool is_over(int listener)
{
	struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = listener, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0)
		;
	return fds[0].revents != 0;
}

static int main_server(void)
{
	struct sockaddr_in a;
	int listener = listen_on_loopback(&a);

	signal(SIGCHLD, SIG_IGN);
	announce(&a);
	while (!is_over(listener)) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		char first;

		if (fd < 0)
			continue;
		/* Streams last: they have a process of their own.  Requests do not. */
		if (recv(fd, &first, 1, MSG_PEEK) == 1 && first == 'B') {
			if (fork() == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				serve_one(fd);
				_exit(0);
			}
		} else {
			serve_one(fd);
		}
		close(fd);
	}
	return 0;
}

/* ---- the least relay ---- */

static void relay_way(int from, int to, const int pipe_fds[2])
{
	for (;;) {
		ssize_t n = splice(from, NULL, pipe_fds[1], NULL, PIECE, SPLICE_F_MOVE);

		if (n <= 0)
			break;
		while (n > 0) {
			ssize_t m = splice(pipe_fds[0], NULL, to, NULL, (size_t)n, SPLICE_F_MOVE);

			if (m <= 0)
				return;
			n -= m;
		}
	}
	shutdown(to, SHUT_WR);
}

static void relay_both(int client, const struct sockaddr_in *target)
{
	int server = dial(target);
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pipe2(fds, O_CLOEXEC) < 0)
			die("pipe");
		relay_way(client, server, fds);
		_exit(0);
	}
	relay_way(server, client, fds);
	if (pid > 0)
		kill(pid, SIGKILL);
}

static int main_relay(const char *target)
{
	struct sockaddr_in to = address_of(target);
	struct sockaddr_in a;
	int listener = listen_on_loopback(&a);

	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	announce(&a);
	while (!is_over(listener)) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0 && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			relay_both(fd, &to);
			_exit(0);
		}
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/* ---- one stream, and small requests ---- */

static const char *server_text(void)
{
	const char *text = getenv("LOAD_SERVER");

	if (!text) {
		fprintf(stderr, "load: LOAD_SERVER is not set\n");
		exit(2);
	}
	return text;
}

/* A connection to the server, through whatever PROXY is. */
static int through(const char *proxy)
{
	const char *server = server_text();
	struct sockaddr_in a;
	char text[4096];
	int fd;

	if (strcmp(proxy, "direct") == 0) {
		a = address_of(server);
		return dial(&a);
	}
	if (strncmp(proxy, "relay:", 6) == 0) {
		a = address_of(proxy + 6);
		return dial(&a);
	}
	a = address_of(proxy);
	fd = dial(&a);
	snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", server, server);
	send_all(fd, text, strlen(text));
	if (read_head(fd, text, sizeof(text)) < 0 || strncmp(text + 8, " 200", 4) != 0) {
		fprintf(stderr, "load: the proxy says: %.100s\n", text);
		exit(1);
	}
	return fd;
}

static int main_rate(const char *proxy, uint64_t bytes)
{
	static char piece[PIECE];
	int fd = through(proxy);
	int64_t start = now_us();
	uint64_t got = 0;
	char text[64];

	snprintf(text, sizeof(text), "B%llu\n", (unsigned long long)bytes);
	send_all(fd, text, strlen(text));
	while (got < bytes) {
		ssize_t n = recv(fd, piece, sizeof(piece), MSG_TRUNC);

		if (n <= 0)
			die("stream");
		got += (uint64_t)n;
	}
	printf("mb_per_s=%.1f\n", (double)bytes / (double)(now_us() - start));
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

enum answer { GONE, LAST, KEPT };

/* One small request and its answer; GONE: the other side had closed. */
static enum answer ask(int fd, const char *request, bool is_kept)
{
	char text[4096] = "";

	send_all(fd, request, strlen(request));
	if (read_head(fd, text, sizeof(text)) < 0)
		return GONE;
	if (strncmp(text + 8, " 200", 4) != 0) {
		fprintf(stderr, "load: answer: %.100s\n", text);
		exit(1);
	}
	while (!strstr(text, "\r\n\r\nok")) {
		size_t n = strlen(text);
		ssize_t got = recv(fd, text + n, sizeof(text) - 1 - n, 0);

		if (got <= 0)
			die("answer");
		text[n + (size_t)got] = '\0';
	}
	return is_kept && strncmp(text, "HTTP/1.1", 8) == 0 &&
			       !strcasestr(text, "connection: close")
		       ? KEPT
		       : LAST;
}

static int main_delay(const char *proxy, size_t count, bool is_kept)
{
	const char *server = server_text();
	bool is_direct = strcmp(proxy, "direct") == 0;
	struct sockaddr_in a = address_of(is_direct ? server : proxy);
	int64_t *times = calloc(count, sizeof(*times));
	char request[256];
	int fd = -1;

	snprintf(request, sizeof(request), "GET %s%s/ HTTP/1.1\r\nHost: %s\r\n%s\r\n",
		 is_direct ? "" : "http://", is_direct ? "" : server, server,
		 is_kept ? "" : "Connection: close\r\n");
	for (size_t i = 0; times && i < count; i++) {
		int64_t start = now_us();
		enum answer answer = fd >= 0 ? ask(fd, request, is_kept) : GONE;

		if (answer == GONE) {
			if (fd >= 0)
				close(fd);
			fd = dial(&a);
			answer = ask(fd, request, is_kept);
		}
		times[i] = now_us() - start;
		if (answer == GONE)
			die("answer");
		if (answer == LAST) {
			close(fd);
			fd = -1;
		}
	}
	qsort(times, count, sizeof(*times), compare);
	printf("median_us=%lld\np90_us=%lld\n", (long long)times[count / 2],
	       (long long)times[count * 9 / 10]);
	free(times);
	return 0;
}

/* ---- many tunnels ---- */

static unsigned long pss_of(long pid)
{
	char path[64], line[256];
	unsigned long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "Pss:", 4) == 0) {
			kb = (unsigned long)number_of(line + 4 + strspn(line + 4, " \t"));
			break;
		}
	if (f)
		fclose(f);
	return kb;
}

static long parent_of(long pid)
{
	char path[64], text[512];
	long parent = 0;
	FILE *f;
	size_t n;
	char *end;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	if (end)
		parent = (long)number_of(end + 4);
	return parent;
}

/* Of a process and all below it. */
static unsigned long pss_of_tree(long root, unsigned *processes)
{
	unsigned long kb = 0;
	DIR *d = opendir("/proc");
	struct dirent *e;

	*processes = 0;
	while (d && (e = readdir(d))) {
		long pid = (long)number_of(e->d_name);
		long at = pid;

		while (at > 1 && at != root)
			at = parent_of(at);
		if (pid > 0 && at == root) {
			kb += pss_of(pid);
			++*processes;
		}
	}
	if (d)
		closedir(d);
	return kb;
}

/* Sends back what comes, on as many connections as there are. */
_Noreturn static void echo_run(int listener, pid_t parent)
{
	struct epoll_event events[256];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	fcntl(listener, F_SETFL, O_NONBLOCK);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int n = epoll_wait(epoll, events, 256, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;
			char text[4096];
			ssize_t got;

			if (fd == listener) {
				int new =
					accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

				event.data.fd = new;
				if (new >= 0)
					epoll_ctl(epoll, EPOLL_CTL_ADD, new, &event);
				continue;
			}
			got = recv(fd, text, sizeof(text), 0);
			if (got <= 0 && errno == EAGAIN)
				continue;
			if (got <= 0 || send(fd, text, (size_t)got, MSG_NOSIGNAL) != got)
				close(fd);
		}
	}
}

enum stage { DIALS, ASKS, OPEN, WAITS, DONE, FAILED };

struct tunnel {
	int fd;
	enum stage stage;
	size_t n;
	char text[128];
};

struct tunnels {
	int epoll;
	size_t n;
	size_t open; /* at the stage that is wanted */
	size_t under_way;
	size_t failed;
	struct tunnel *all;
	struct sockaddr_in proxy;
	char request[128];
};

static void tunnel_fail(struct tunnels *t, struct tunnel *c)
{
	if (t->failed++ < 5)
		fprintf(stderr, "load: tunnel %zu failed at stage %d: %.60s\n",
			(size_t)(c - t->all), (int)c->stage, c->text);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->stage = FAILED;
	t->under_way--;
}

static void tunnel_dial(struct tunnels *t, struct tunnel *c)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = c};

	t->under_way++;
	c->stage = DIALS;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0 ||
	    (connect(c->fd, (struct sockaddr *)&t->proxy, sizeof(t->proxy)) < 0 &&
	     errno != EINPROGRESS) ||
	    epoll_ctl(t->epoll, EPOLL_CTL_ADD, c->fd, &event) < 0)
		tunnel_fail(t, c);
}

/* One event of a tunnel that opens. */
static void tunnel_open_event(struct tunnels *t, struct tunnel *c)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
	ssize_t n;

	if (c->stage == DIALS) {
		size_t len = strlen(t->request);

		c->stage = ASKS;
		if (send(c->fd, t->request, len, MSG_NOSIGNAL) != (ssize_t)len ||
		    epoll_ctl(t->epoll, EPOLL_CTL_MOD, c->fd, &event) < 0)
			tunnel_fail(t, c);
		return;
	}
	n = recv(c->fd, c->text + c->n, sizeof(c->text) - 1 - c->n, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		tunnel_fail(t, c);
		return;
	}
	c->n += (size_t)n;
	c->text[c->n] = '\0';
	if (!strstr(c->text, "\r\n\r\n")) {
		if (c->n == sizeof(c->text) - 1)
			tunnel_fail(t, c);
		return;
	}
	if (strncmp(c->text + 8, " 200", 4) != 0) {
		tunnel_fail(t, c);
		return;
	}
	c->stage = OPEN;
	c->n = 0;
	t->open++;
	t->under_way--;
}

/* The echo of what was sent. */
static void tunnel_echo_event(struct tunnels *t, struct tunnel *c)
{
	char want[64];
	ssize_t n = recv(c->fd, c->text + c->n, sizeof(c->text) - 1 - c->n, 0);
	size_t len;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		tunnel_fail(t, c);
		return;
	}
	c->n += (size_t)n;
	len = (size_t)snprintf(want, sizeof(want), "tunnel %zu of %zu\n", (size_t)(c - t->all),
			       t->n);
	if (c->n < len)
		return;
	if (c->n != len || memcmp(c->text, want, len) != 0) {
		tunnel_fail(t, c);
		return;
	}
	c->stage = DONE;
	c->n = 0;
	t->open++;
	t->under_way--;
}

static void tunnels_wait(struct tunnels *t, int64_t end)
{
	struct epoll_event events[256];
	int n = epoll_wait(t->epoll, events, 256, 1000);

	for (int i = 0; i < n; i++) {
		struct tunnel *c = events[i].data.ptr;

		if (c->stage == DIALS || c->stage == ASKS)
			tunnel_open_event(t, c);
		else if (c->stage == WAITS)
			tunnel_echo_event(t, c);
		else if (c->stage != FAILED) {
			t->under_way++;
			tunnel_fail(t, c); /* nothing is due there */
		}
	}
	if (now_us() > end) {
		fprintf(stderr, "load: %zu tunnels are still under way\n", t->under_way);
		t->failed += t->under_way;
		t->under_way = 0;
	}
}

static void tunnels_open(struct tunnels *t)
{
	int64_t end = now_us() + TUNNELS_MS * INT64_C(1000);
	size_t next = 0;

	t->open = 0;
	while ((next < t->n || t->under_way > 0) && now_us() < end) {
		while (next < t->n && t->under_way < CONNECTS)
			tunnel_dial(t, &t->all[next++]);
		tunnels_wait(t, end);
	}
}

static void tunnels_talk(struct tunnels *t)
{
	int64_t end = now_us() + TUNNELS_MS * INT64_C(1000);

	t->open = 0;
	for (size_t i = 0; i < t->n; i++) {
		struct tunnel *c = &t->all[i];
		char text[64];
		int len = snprintf(text, sizeof(text), "tunnel %zu of %zu\n", i, t->n);

		if (c->stage == FAILED)
			continue;
		c->stage = WAITS;
		c->n = 0;
		t->under_way++;
		if (send(c->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
			tunnel_fail(t, c);
	}
	while (t->under_way > 0)
		tunnels_wait(t, end);
}

static int main_tunnels(const char *proxy, long pid, size_t n)
{
	struct tunnels t = {.n = n, .proxy = address_of(proxy)};
	struct rlimit files;
	struct sockaddr_in a;
	int listener = listen_on_loopback(&a);
	int64_t start;
	unsigned long kb;
	unsigned processes;
	pid_t me = getpid();
	pid_t echo;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		die("limits");
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur < n + 64)
		die("descriptors");
	echo = fork();
	if (echo == 0)
		echo_run(listener, me);
	close(listener);
	t.epoll = epoll_create1(EPOLL_CLOEXEC);
	t.all = calloc(n, sizeof(*t.all));
	if (echo < 0 || t.epoll < 0 || !t.all)
		die("memory");
	snprintf(t.request, sizeof(t.request),
		 "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", ntohs(a.sin_port),
		 ntohs(a.sin_port));
	start = now_us();
	tunnels_open(&t);
	printf("opened=%zu\nopen_s=%.2f\n", t.open, (double)(now_us() - start) / 1e6);
	start = now_us();
	tunnels_talk(&t);
	printf("answered=%zu\ntalk_s=%.2f\n", t.open, (double)(now_us() - start) / 1e6);
	kb = pss_of_tree(pid, &processes);
	tunnels_talk(&t); /* they are all still there */
	printf("answered_again=%zu\nfailed=%zu\npss_mb=%.1f\nprocesses=%u\n", t.open, t.failed,
	       (double)kb / 1024, processes);
	kill(echo, SIGKILL);
	waitpid(echo, NULL, 0);
	return t.failed == 0 && t.open == n ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	signal(SIGPIPE, SIG_IGN);
	if (argc == 5 && strcmp(verb, "tunnels") == 0)
		return main_tunnels(argv[2], (long)number_of(argv[3]), number_of(argv[4]));
	if (argc == 4 && strcmp(verb, "rate") == 0)
		return main_rate(argv[2], number_of(argv[3]));
	if (argc == 4 && (strcmp(verb, "delay") == 0 || strcmp(verb, "delay-kept") == 0))
		return main_delay(argv[2], number_of(argv[3]), verb[5] != '\0');
	if (argc == 2 && strcmp(verb, "server") == 0)
		return main_server();
	if (argc == 3 && strcmp(verb, "relay") == 0)
		return main_relay(argv[2]);
	fprintf(stderr, "usage: load tunnels PROXY PID N | rate PROXY BYTES | delay PROXY COUNT | "
			"server | relay TARGET\n");
	return 2;
}
