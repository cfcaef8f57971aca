/* SPDX-License-Identifier: Apache-2.0 */
/* The events, the pipes and the record of what was done; and the process around them. */
#include "proxy/ask.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/fdpass.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/shield.h"
#include "base/str.h"
#include "proxy/exfil.h"
#include "proxy/external.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOP_EVENTS 256
#define LOOP_SOCKETS 9              /* those of struct proxy_sockets, in its order */
#define LOOP_STOP_MS 2000           /* then it is killed */
#define LOOP_SERVE_MS 10000         /* until it serves what it was given */
#define LOOP_SERVED '.'             /* the word for that */
#define LOOP_PAUSE_MS 100           /* when nothing can be accepted */
#define LOOP_OWN_FILES 256          /* listeners, the resolver's, connections that ask for names */
#define LOOP_CONN_FILES 2           /* the sockets; a pipe is held only while something is in it */
#define LOOP_KEPT (4 * 1024 * 1024) /* bytes of free memory that are not given back */
#define LOOP_PIPES_WIDE 4           /* that hold LOOP_PIPE_BYTES */
#define LOOP_PIPE_SHARE 8           /* of the descriptors, one in so many is a pipe's end at most */

int loop_watch(struct source *s, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = s};
	int how = s->events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	if (events == s->events)
		return 0;
	if (epoll_ctl(s->loop->epoll, how, s->fd, &event) < 0)
		return -errno;
	s->events = events;
	return 0;
}

int loop_move(struct source *from, struct source *to)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = to};

	if (epoll_ctl(from->loop->epoll, from->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, from->fd,
		      &event) < 0)
		return -errno;
	to->fd = from->fd;
	to->events = EPOLLIN;
	from->fd = -1;
	from->events = 0;
	return 0;
}

void loop_close(struct source *s)
{
	stream_drop(s);
	s->events = 0; /* the close takes it out: nobody else has it open */
	s->fd = fd_close(s->fd);
}

int loop_pipe_take(struct loop *l, int ret[static 2])
{
	if (l->n_pipes > 0) {
		l->n_pipes--;
		ret[0] = l->pipes[l->n_pipes][0];
		ret[1] = l->pipes[l->n_pipes][1];
		return 0;
	}
	if (l->pipes_made >= l->pipes_max || shield_is_off(SHIELD_PIPES))
		return -EMFILE;
	if (pipe2(ret, O_NONBLOCK | O_CLOEXEC) < 0)
		return -errno;
	/* The first few hold more, for streams that last: a page is all that one of the places of a pipe takes from a
	 * socket, so that the usual sixteen are soon full.  Not all of them: what a user's pipes may hold has a limit, and
	 * beyond it every new one has two places. */
	if (l->pipes_made < LOOP_PIPES_WIDE)
		(void)fcntl(ret[1], F_SETPIPE_SZ, LOOP_PIPE_BYTES); /* or it stays as it is */
	l->pipes_made++;
	return 0;
}

void loop_pipe_drop(struct loop *l, int pipe[static 2])
{
	if (pipe[0] >= 0)
		l->pipes_made--;
	pipe[0] = fd_close(pipe[0]);
	pipe[1] = fd_close(pipe[1]);
}

void loop_pipe_give(struct loop *l, int pipe[static 2])
{
	if (l->n_pipes < LOOP_PIPES) {
		l->pipes[l->n_pipes][0] = pipe[0];
		l->pipes[l->n_pipes][1] = pipe[1];
		l->n_pipes++;
		pipe[0] = pipe[1] = -1;
	} else {
		loop_pipe_drop(l, pipe);
	}
}

int loop_hear(struct source *s)
{
	/* Where several processes serve one socket only one of them is woken. */
	return loop_watch(s, s->loop->is_alone ? EPOLLIN | (uint32_t)EPOLLEXCLUSIVE : EPOLLIN);
}

void loop_ring(struct loop *l)
{
	(void)!send(l->control.fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void loop_record(struct loop *l, const char *host, uint16_t port, bool is_allowed, const char *rule,
		 const char *remedy, uint64_t bytes)
{
	struct proxy_tally *t = l->tally;
	struct proxy_record *r = NULL;

	if (is_allowed)
		t->allowed++;
	else
		t->blocked++;
	t->bytes += bytes;
	for (uint32_t i = 0; i < t->n && !r; i++)
		if (t->records[i].port == port && t->records[i].is_allowed == is_allowed &&
		    strcmp(t->records[i].host, host) == 0 &&
		    strncmp(t->records[i].rule, rule, sizeof(r->rule) - 1) == 0)
			r = &t->records[i];
	/* Half for each, so that neither can hide the other. */
	if (!r && t->n < PROXY_RECORDS && l->n_records[is_allowed] < PROXY_RECORDS / 2) {
		l->n_records[is_allowed]++;
		r = &t->records[t->n];
		r->port = port;
		r->is_allowed = is_allowed;
		(void)snprintf(r->host, sizeof(r->host), "%s", host);
		(void)snprintf(r->rule, sizeof(r->rule), "%s", rule);
		(void)snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
		t->n++;
	}
	if (r) {
		r->count++;
		r->bytes += bytes;
	}
}

void loop_add_bytes(struct loop *l, const char *host, uint16_t port, uint64_t bytes)
{
	struct proxy_tally *t = l->tally;

	t->bytes += bytes;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->records[i].is_allowed && t->records[i].port == port &&
		    strcmp(t->records[i].host, host) == 0) {
			t->records[i].bytes += bytes;
			return;
		}
}

bool loop_is_own(const struct loop *l, const uint8_t addr[static ADDR_LEN])
{
	return authority_minds_own(l->authority, addr) && addr_is_own_host(addr) != 0;
}

void loop_pause(struct source *s)
{
	(void)!loop_watch(s, 0);
	s->loop->resume_ms = clock_deadline(LOOP_PAUSE_MS);
}

void loop_admit(struct loop *l)
{
	for (int i = 0; i < 2; i++)
		if (l->tcp[i].fd >= 0)
			(void)!loop_hear(&l->tcp[i]);
	if (l->hatch.fd >= 0)
		(void)!loop_hear(&l->hatch);
	if (l->handed.fd >= 0)
		(void)!loop_hear(&l->handed);
}

/* Listens again after a pause. */
static void loop_resume(struct loop *l)
{
	if (l->resume_ms == 0 || clock_ms() < l->resume_ms)
		return;
	l->resume_ms = 0;
	loop_admit(l);
	for (int i = 0; i < 2; i++)
		if (l->dns_tcp[i].fd >= 0)
			(void)!loop_watch(&l->dns_tcp[i], EPOLLIN);
	if (l->told.fd >= 0)
		(void)!loop_watch(&l->told, EPOLLIN);
}

/* The port that the sockets were made on. */
static uint16_t loop_port(int fd)
{
	struct sockaddr_storage a = {0};
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 0;
	if (a.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)(const void *)&a)->sin_port);
	return ntohs(((const struct sockaddr_in6 *)(const void *)&a)->sin6_port);
}

static void loop_listen(struct loop *l, struct source *s, int fd,
			void fn(struct source *, uint32_t))
{
	*s = (struct source){.fn = fn, .loop = l, .fd = fd};
	if (fd < 0)
		return;
	/* Those that are accepted inherit it; a socket of another kind does not have it. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	if (fd_nonblock(fd, true) < 0 || loop_hear(s) < 0)
		l->is_over = true; /* a socket that is not served would hang its clients */
}

/* The word from outside: our sockets, or the end. */
static void loop_control(struct source *s, uint32_t events)
{
	struct loop *l = s->loop;
	int fds[FDPASS_MAX];
	size_t n = 0;
	struct proxy_reply reply;
	uint8_t which[LOOP_SOCKETS];
	ssize_t len = fdpass_receive(s->fd, which, sizeof(which), clock_deadline(0), fds, &n);
	int sorted[LOOP_SOCKETS] = {-1, -1, -1, -1, -1, -1, -1, -1, -1};

	(void)events;
	if (len == -EAGAIN || len == -ETIMEDOUT)
		return;
	if (len == sizeof(reply) && n == 0) {
		memcpy(&reply, which, sizeof(reply));
		ask_reply(l, &reply);
		return;
	}
	if (len <= 0 || (size_t)len != n) {
		for (size_t i = 0; i < n; i++)
			(void)fd_close(fds[i]);
		l->is_over = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (which[i] < LOOP_SOCKETS && sorted[which[i]] < 0)
			sorted[which[i]] = fds[i];
		else
			(void)fd_close(fds[i]);
	}
	for (int i = 0; i < 2; i++) {
		loop_listen(l, &l->tcp[i], sorted[i], conn_accept_event);
		loop_listen(l, &l->dns_udp[i], sorted[2 + i], dnsd_udp_event);
		loop_listen(l, &l->dns_tcp[i], sorted[4 + i], dnsd_tcp_event);
		if (sorted[i] >= 0)
			l->port = loop_port(sorted[i]);
	}
	loop_listen(l, &l->told, sorted[6], told_event);
	loop_listen(l, &l->hatch, sorted[7], conn_accept_event);
	loop_listen(l, &l->handed, sorted[8], conn_handed_event);
	if (!l->is_alone && !l->is_over)
		(void)!send(s->fd, &(char){LOOP_SERVED}, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int loop_wait(struct loop *l)
{
	int a = conn_expire(l);
	int b = resolve_timeout(l);
	int c = spare_expire(l);

	if (l->resume_ms != 0)
		return LOOP_PAUSE_MS;
	if (c >= 0 && (a < 0 || c < a))
		a = c;
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static void loop_run(struct loop *l)
{
	struct epoll_event events[LOOP_EVENTS];

	while (!l->is_over) {
		int n = epoll_wait(l->epoll, events, LOOP_EVENTS, loop_wait(l));

		for (int i = 0; i < n; i++) {
			struct source *s = events[i].data.ptr;

			if (s->fd >= 0) /* not closed by an event before */
				s->fn(s, events[i].events);
		}
		if (n < 0 && errno != EINTR)
			return;
		loop_resume(l);
		resolve_tick(l);
		conn_free_dead(l);
	}
}

/* How the descriptors are shared out: pipes first, since without any every byte would be copied. */
static unsigned loop_share(rlim_t files, size_t *ret_pipes)
{
	rlim_t pipes = files / LOOP_PIPE_SHARE / 2;
	rlim_t own;

	*ret_pipes = pipes < LOOP_PIPES_MAX ? (size_t)pipes : LOOP_PIPES_MAX;
	own = LOOP_OWN_FILES + 2 * (rlim_t)*ret_pipes;
	if (files <= own + LOOP_CONN_FILES)
		return 1;
	files = (files - own) / LOOP_CONN_FILES;
	return files > INT_MAX ? INT_MAX : (unsigned)files;
}

unsigned proxy_capacity(void)
{
	struct rlimit files;
	size_t pipes;

	return getrlimit(RLIMIT_NOFILE, &files) < 0 ? 1 : loop_share(files.rlim_max, &pipes);
}

/* As many descriptors as we may have, and no more connections than those are enough for: with none left nothing could be
 * accepted, nor be told so. */
static void loop_fit(struct loop *l)
{
	struct rlimit files;
	unsigned most;

	l->pipes_max = LOOP_PIPES;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files); /* or it stays as it is */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	most = loop_share(files.rlim_cur, &l->pipes_max);
	if (most < l->limits.connections)
		l->limits.connections = most;
}

/* Values that are looked for: nobody else reads this memory.  0 or -errno. */
static int loop_secrets(struct loop *l, const struct proxy_options *o)
{
	static const struct rlimit none = {0};
	static struct boundary own;
	int r = 0;

	if (!o->leaks.is_on)
		return 0;
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	/* cordon-proxy has made one already, unless there was nothing to put in. */
	if (!l->boundary) {
		r = boundary_make(o->secrets, o->n_secrets, &own);
		l->boundary = &own;
	}
	return r < 0 ? r : exfil_prepare(l);
}

void loop_main(const struct proxy_options *o, int control, const struct proxy *p, pid_t parent)
{
	static struct loop l;
	sigset_t all;

	/* Nothing of ours has the sandbox's streams: a reader must see their end.  One that stands alone ends with the
	 * control socket: the thread that started it may go before its process does. */
	if (!o->is_alone && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(1);
	(void)prctl(PR_SET_NAME, "cordon-proxy");
	/* Signals to the caller's group are the call's business; and handlers of an embedder are not ours. */
	(void)sigfillset(&all); /* cannot fail with a valid pointer */
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		_exit(1);
	l.authority = o->authority;
	l.limits = o->limits;
	l.ask_ms = o->ask_ms;
	l.tally = p->tally;
	l.log = p->log;
	l.is_alone = o->is_alone;
	l.tls = o->tls;
	l.tls_data = o->tls_data;
	l.boundary = o->boundary;
	l.leaks = o->leaks;
	if (loop_secrets(&l, o) < 0)
		_exit(1);
	loop_fit(&l);
	/* Buffers of requests come and go: not each time from the kernel. */
	(void)mallopt(M_MMAP_THRESHOLD, LOOP_KEPT / 4);
	(void)mallopt(M_TRIM_THRESHOLD, LOOP_KEPT);
	l.next_expiry = CLOCK_NEVER;
	for (int i = 0; i < 2; i++)
		l.tcp[i].fd = l.dns_udp[i].fd = l.dns_tcp[i].fd = -1;
	l.told.fd = l.hatch.fd = l.handed.fd = -1;
	l.epoll = epoll_create1(EPOLL_CLOEXEC);
	l.control = (struct source){.fn = loop_control, .loop = &l, .fd = control};
	if (l.epoll < 0 || loop_watch(&l.control, EPOLLIN) < 0 || resolve_init(&l, o->resolver) < 0)
		_exit(1);
	if (confine_proxy() < 0)
		_exit(1);
	loop_run(&l);
	told_end(&l);
	conn_free_all(&l);
	_exit(0);
}

/* Memory that the process shares with us. */
static void *proxy_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void proxy_forget(struct proxy *p)
{
	if (p->tally)
		(void)munmap(p->tally, sizeof(*p->tally));
	if (p->log)
		(void)munmap(p->log, sizeof(*p->log));
	free(p->authority_pem);
	*p = PROXY_NONE;
}

int proxy_start(const struct proxy_options *o, struct proxy *ret, struct cordon_error *err)
{
	pid_t parent = getpid();
	int pair[2];
	int r;

	if (o->ends_tls)
		return external_start(o, ret, err);
	*ret = PROXY_NONE;
	ret->tally = proxy_shared(sizeof(*ret->tally));
	ret->log = o->is_alone ? proxy_shared(sizeof(*ret->log)) : NULL;
	if (!ret->tally || (o->is_alone && !ret->log)) {
		r = cordon_fail_errno(err, errno, "memory for the egress proxy");
		proxy_forget(ret);
		return r;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = cordon_fail_errno(err, errno, "a socket for the egress proxy");
		proxy_forget(ret);
		return r;
	}
	/* fork(), not clone3(): libc must know, for memory is allocated after it. */
	ret->proc.pid = fork();
	r = ret->proc.pid < 0 ? -errno : 0;
	if (ret->proc.pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		/* Of all that we hold it has one end of the pair. */
		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
		    (pair[1] != 3 && dup3(pair[1], 3, O_CLOEXEC) < 0) ||
		    syscall(SYS_close_range, 4U, ~0U, 0) < 0)
			_exit(1);
		loop_main(o, 3, ret, parent);
	}
	(void)fd_close(pair[1]);
	if (r == 0) {
		ret->proc.pidfd = (int)syscall(SYS_pidfd_open, ret->proc.pid, 0);
		r = ret->proc.pidfd < 0 ? -errno : 0;
	}
	if (r < 0) {
		(void)fd_close(pair[0]); /* a child without it ends by itself */
		proxy_forget(ret);
		return cordon_fail_leaf(err, r, "start the egress proxy");
	}
	ret->control = pair[0];
	return 0;
}

int proxy_give_listener(struct proxy *p, int fd, struct cordon_error *err)
{
	const uint8_t which = 0;
	int r = fdpass_send(p->control, &which, 1, &fd, 1);

	return r < 0 ? cordon_fail_leaf(err, r, "hand the socket to the egress proxy") : 0;
}

/* Waits for the word.  0 or -errno. */
static int proxy_is_serving(const struct proxy *p)
{
	char word = 0;
	ssize_t n = io_read(p->control, &word, 1, clock_deadline(LOOP_SERVE_MS));

	if (n == 0)
		return -ECONNRESET; /* it has ended */
	return n < 0 ? (int)n : word == LOOP_SERVED ? 0 : -EPROTO;
}

int proxy_give(struct proxy *p, const struct proxy_sockets *sockets, struct cordon_error *err)
{
	const int all[LOOP_SOCKETS] = {sockets->tcp[0],     sockets->tcp[1],
				       sockets->dns_udp[0], sockets->dns_udp[1],
				       sockets->dns_tcp[0], sockets->dns_tcp[1],
				       sockets->told,       sockets->hatch,
				       sockets->handed};
	bool is_whole = sockets->hatch >= 0 || sockets->handed >= 0 ||
			(all[0] >= 0 && all[2] >= 0 && all[4] >= 0);
	uint8_t which[LOOP_SOCKETS];
	int fds[LOOP_SOCKETS];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < LOOP_SOCKETS; i++)
		if (all[i] >= 0) {
			which[n] = (uint8_t)i;
			fds[n++] = all[i];
		}
	r = is_whole ? fdpass_send(p->control, which, n, fds, n) : -EINVAL;
	if (r == 0)
		r = proxy_is_serving(p);
	return r < 0 ? cordon_fail_leaf(err, r, "hand the sockets to the egress proxy") : 0;
}

int proxy_asked(struct proxy *p, struct proxy_question *ret)
{
	ssize_t n = recv(p->control, ret, sizeof(*ret), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(*ret))
		return n < 0 ? -errno : -EPIPE;
	ret->host[sizeof(ret->host) - 1] = '\0';
	return 1;
}

int proxy_answer(struct proxy *p, const struct proxy_question *q, bool is_granted)
{
	const struct proxy_reply reply = {
		.number = q->number, .answer = is_granted ? PROXY_ANSWER_YES : PROXY_ANSWER_NO};

	return send(p->control, &reply, sizeof(reply), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int proxy_take_back(struct proxy *p, uint32_t number)
{
	const struct proxy_reply reply = {.number = number, .answer = PROXY_ANSWER_FORGET};

	return send(p->control, &reply, sizeof(reply), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void proxy_stop(struct proxy *p)
{
	struct proc_exit end = {0};
	int64_t deadline = clock_deadline(LOOP_STOP_MS);

	if (p->proc.pidfd < 0)
		return;
	p->control = fd_close(p->control);
	for (;;) {
		int r = proc_reap(&p->proc, &end);
		struct pollfd pfd = {.fd = p->proc.pidfd, .events = POLLIN};
		int timeout = clock_poll_timeout(deadline);

		if (r != 0)
			break;
		if (timeout == 0)
			(void)!proc_signal(&p->proc, SIGKILL);
		(void)poll(&pfd, 1, timeout == 0 ? 100 : timeout);
	}
	p->has_failed = end.signal != 0 || end.code != 0;
	proc_done(&p->proc);
}

void proxy_done(struct proxy *p)
{
	proxy_stop(p);
	proxy_forget(p);
}
