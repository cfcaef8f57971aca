/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of `cordon proxy`: options to an outlet, then one loop over signals, the processes that serve, their logs,
 * and the command.
 */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "core/effective.h"
#include "core/egress_tls.h"
#include "core/outlet.h"
#include "net/devhosts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PROXY_LOG_MS 5000   /* a reader of the log who takes longer gets no more */
#define PROXY_GRACE_MS 5000 /* for the command, between SIGTERM and SIGKILL */
#define PROXY_LINE 4096     /* of the log */

struct proxy_run {
	struct outlet outlet;
	int log; /* -1: none */
	int signals;
	struct proc command;   /* pidfd -1: there is none */
	int64_t kill_deadline; /* of the command */
	bool is_asked;         /* to end */
	bool has_exit;
	struct proc_exit exit;
};

/* ---- the log ---- */

static void proxy_entry_json(const struct proxy_log_entry *e, struct json *j)
{
	char stamp[CLOCK_STAMP_LEN];

	clock_stamp_of(e->wall_ms, stamp);
	json_object(j, NULL);
	json_str(j, "time", stamp);
	json_str(j, "method", e->method);
	json_str(j, "host", e->host);
	json_int(j, "port", e->port);
	json_bool(j, "allowed", e->is_allowed);
	json_int(j, "status", e->status);
	json_str(j, "rule", e->rule);
	json_str(j, "remedy", e->remedy[0] ? e->remedy : NULL);
	json_end_object(j);
}

static void proxy_write(struct proxy_run *p, struct buf *line)
{
	buf_char(line, '\n');
	if (p->log >= 0 && buf_error(line) == 0 &&
	    io_write(p->log, line->data, line->len, clock_deadline(PROXY_LOG_MS)) < 0) {
		log_warning("the log cannot be written any more");
		p->log = fd_close(p->log);
	}
	buf_clear(line);
}

static void proxy_drain(struct proxy_run *p)
{
	struct buf line = BUF_INIT(PROXY_LINE);
	struct proxy_log_entry e;
	uint64_t lost = 0;

	pool_heard(&p->outlet.pool); /* before: what comes now rings again */
	while (pool_next(&p->outlet.pool, &e, &lost) > 0) {
		struct json j = JSON_INIT(&line);

		proxy_entry_json(&e, &j);
		proxy_write(p, &line);
	}
	if (lost > 0) {
		struct json j = JSON_INIT(&line);

		json_object(&j, NULL);
		json_int(&j, "lost", (int64_t)lost);
		json_end_object(&j);
		proxy_write(p, &line);
	}
	buf_done(&line);
}

/* ---- the command ---- */

_Noreturn static void proxy_exec(char **words, char **environment, const sigset_t *mask,
				 pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    sigprocmask(SIG_SETMASK, mask, NULL) < 0)
		_exit(CLI_EXIT_FAILED);
	(void)execvpe(words[0], words, environment);
	log_error("%s: %s", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Ours without those that the proxy sets, and those. */
static int proxy_environment(const struct strv *own, struct strv *ret)
{
	int r = 0;

	for (char **e = environ; r == 0 && *e; e++) {
		size_t len = strcspn(*e, "=");
		bool is_ours = false;

		for (size_t i = 0; i < own->n && !is_ours; i++)
			is_ours = strncmp(own->v[i], *e, len + 1) == 0;
		if (!is_ours)
			r = strv_add(ret, *e);
	}
	for (size_t i = 0; r == 0 && i < own->n; i++)
		r = strv_add(ret, own->v[i]);
	return r;
}

static int proxy_command(struct proxy_run *p, char **words, const sigset_t *mask,
			 struct cordon_error *err)
{
	AUTO(strv_done) struct strv own = {0};
	AUTO(strv_done) struct strv all = {0};
	pid_t parent = getpid();
	int r = outlet_variables(&p->outlet, &own);

	if (r == 0)
		r = strv_addf(&own, "CORDON_PROXY=%s", p->outlet.address);
	if (r == 0)
		r = proxy_environment(&own, &all);
	if (r == 0)
		r = proc_clone(0, &p->command);
	if (r == 0)
		proxy_exec(words, all.v, mask, parent);
	return r < 0 ? cordon_fail_leaf(err, r, "start the command") : 0;
}

/* ---- the loop ---- */

static void proxy_end(struct proxy_run *p, int sig)
{
	p->is_asked = true;
	if (p->command.pidfd >= 0) {
		(void)!proc_signal(&p->command, sig);
		if (p->kill_deadline == CLOCK_NEVER)
			p->kill_deadline = clock_deadline(PROXY_GRACE_MS);
	}
}

static void proxy_signal(struct proxy_run *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* What the terminal sends the command has got too. */
		if (info.ssi_code == SI_KERNEL)
			p->is_asked = true;
		else
			proxy_end(p, (int)info.ssi_signo);
	}
}

/* True: one of the processes that serve has ended. */
static bool proxy_has_lost_one(const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

static int proxy_serve(struct proxy_run *p, struct cordon_error *err)
{
	struct pool *pool = &p->outlet.pool;
	struct pollfd fds[2 + 2 * POOL_MAX];

	for (;;) {
		int timeout = clock_poll_timeout(p->kill_deadline);

		fds[0] = (struct pollfd){.fd = p->signals, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = p->command.pidfd, .events = POLLIN};
		for (size_t i = 0; i < pool->n; i++) {
			fds[2 + i] = (struct pollfd){.fd = pool->workers[i].proc.pidfd,
						     .events = POLLIN};
			/* Without a log nobody answers the ringing, and it rings once. */
			fds[2 + pool->n + i] = (struct pollfd){.fd = pool->workers[i].control,
							       .events = p->log < 0 ? 0 : POLLIN};
		}
		if (poll(fds, 2 + 2 * pool->n, timeout) < 0 && errno != EINTR)
			return cordon_fail_errno(err, errno, "wait");
		if (fds[0].revents)
			proxy_signal(p);
		if (p->log >= 0)
			proxy_drain(p);
		if (timeout == 0)
			(void)!proc_signal(&p->command, SIGKILL);
		if (fds[1].revents && p->command.pidfd >= 0 &&
		    proc_reap(&p->command, &p->exit) != 0) {
			p->has_exit = true;
			return 0;
		}
		if (p->is_asked && p->command.pidfd < 0)
			return 0;
		if (proxy_has_lost_one(fds + 2, pool->n)) {
			proxy_end(p, SIGTERM);
			return cordon_fail(err, CORDON_E_INTERNAL, "the proxy ended by itself");
		}
	}
}

static void proxy_announce(struct cli *cli, const struct proxy_run *p, const struct strv *vars,
			   bool is_json)
{
	struct buf b = BUF_INIT(LIMIT_ARG_BYTES);
	struct json j = JSON_INIT(&b);

	if (!is_json) {
		out_printf(&cli->out, "CORDON_PROXY=%s\n", p->outlet.address);
		for (size_t i = 0; i < vars->n; i++)
			out_printf(&cli->out, "%s\n", vars->v[i]);
	} else {
		json_object(&j, NULL);
		json_str(&j, "address", p->outlet.address);
		json_int(&j, "processes", (int64_t)p->outlet.pool.n);
		json_object(&j, "environment");
		for (size_t i = 0; i < vars->n; i++) {
			char name[64] = "";
			const char *equals = strchr(vars->v[i], '=');

			if (equals && (size_t)(equals - vars->v[i]) < sizeof(name)) {
				memcpy(name, vars->v[i], (size_t)(equals - vars->v[i]));
				json_str(&j, name, equals + 1);
			}
		}
		json_end_object(&j);
		json_end_object(&j);
		buf_char(&b, '\n');
		out_add(&cli->out, buf_cstr(&b), b.len);
		buf_done(&b);
	}
	out_flush(&cli->out);
}

/* ---- the start ---- */

/* The options as a layer over the policy that -p names. */
static int proxy_policy(const struct proxy_cli_options *o, struct effective *e,
			struct cordon_error *err)
{
	const struct {
		const char *option;
		enum policy_row row;
		const struct strv *texts;
	} lists[] = {
		{"--allow", POLICY_ALLOWED_HOSTS, &o->allow},
		{"--allow-private", POLICY_ALLOW_PRIVATE, &o->allow_private},
	};
	struct policy *layer = NULL;
	int r = effective_init(o->policy.cwd, e, err);

	if (r < 0)
		return r;
	layer = policy_new();
	if (!layer)
		return cordon_nomem(err);
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (size_t i = 0; r == 0 && i < lists[l].texts->n; i++)
			r = policy_option_text(layer, lists[l].row, &e->context, lists[l].option,
					       lists[l].texts->v[i], err);
	if (r == 0)
		r = effective_load(e, &o->policy.policies, layer, err);
	policy_free(layer);
	return r;
}

static int proxy_lists(const struct proxy_cli_options *o, struct strv *allow, struct strv *block)
{
	int r = 0;

	for (size_t i = 0; r == 0 && o->dev && devhosts_allow[i]; i++)
		r = strv_add(allow, devhosts_allow[i]);
	for (size_t i = 0; r == 0 && o->dev && devhosts_block[i]; i++)
		r = strv_add(block, devhosts_block[i]);
	for (size_t i = 0; r == 0 && i < o->allow.n; i++)
		r = strv_add(allow, o->allow.v[i]);
	for (size_t i = 0; r == 0 && i < o->block.n; i++)
		r = strv_add(block, o->block.v[i]);
	return r;
}

/* A link may be what a call has put there; those of /dev are the system's. */
static int proxy_open_log(const char *path, int *ret, struct cordon_error *err)
{
	int follow = str_starts(path ? path : "", "/dev/") ? 0 : O_NOFOLLOW;

	if (!path)
		return 0;
	*ret = strcmp(path, "-") == 0
		       ? fd_dup(STDERR_FILENO, 3)
		       : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | follow,
			      0600);
	return *ret < 0 ? cordon_fail_errno(err, errno, "--log: open '%.200s'", path) : 0;
}

static int proxy_begin(const struct proxy_cli_options *o, struct proxy_run *p,
		       struct cordon_error *err)
{
	AUTO(effective_done) struct effective e = {0};
	AUTO(strv_done) struct strv allow = {0};
	AUTO(strv_done) struct strv block = {0};
	bool has_policy = o->policy.policies.n > 0;
	struct outlet_options options = {
		.mode = AUTHORITY_ALLOWLIST,
		.allow = &allow,
		.block = &block,
		.allow_private = &o->allow_private,
		.listen = o->listen,
		.unix_path = o->unix_path,
		.connections = (unsigned)o->connections.value,
		.ca_file = o->ca_file,
	};
	int r = proxy_lists(o, &allow, &block);

	if (r < 0)
		return cordon_fail_leaf(err, r, "hosts");
	if (o->mode && outlet_mode(o->mode, &options.mode) < 0)
		return cordon_fail(err, CORDON_E_INVALID, "unknown mode '%.100s'", o->mode);
	r = proxy_open_log(o->log, &p->log, err);
	if (r == 0 && has_policy)
		r = proxy_policy(o, &e, err);
	options.policy = e.policy;
	if (r == 0 && has_policy && !o->ca_file && egress_tls_is_due(e.policy))
		log_warning("HTTPS to hosts with methods or paths in network.egress is refused "
			    "without --ca-file");
	if (r == 0)
		r = outlet_new(&options, &p->outlet, err);
	return r == 0 ? outlet_start(&p->outlet, &options, err) : r;
}

static int proxy_run(struct cli *cli, const struct proxy_cli_options *o, struct proxy_run *p,
		     struct cordon_error *err)
{
	AUTO(strv_done) struct strv vars = {0};
	sigset_t mask;
	sigset_t before;
	int r = proxy_begin(o, p, err);

	if (r < 0)
		return r;
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigaddset(&mask, SIGHUP);
	(void)sigaddset(&mask, SIGPIPE); /* of a log whose reader went away: only told by write() */
	if (sigprocmask(SIG_BLOCK, &mask, &before) < 0)
		return cordon_fail_errno(err, errno, "signals");
	(void)sigdelset(&mask, SIGPIPE);
	p->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signals < 0)
		return cordon_fail_errno(err, errno, "signals");
	if (cli->n_words > 0)
		r = proxy_command(p, cli->words, &before, err);
	else if (outlet_variables(&p->outlet, &vars) < 0)
		r = cordon_nomem(err);
	else
		proxy_announce(cli, p, &vars, o->policy.json);
	return r == 0 ? proxy_serve(p, err) : r;
}

int cmd_proxy_main(struct cli *cli, const struct proxy_cli_options *options)
{
	struct proxy_run p = {.outlet = OUTLET_NONE,
			      .log = -1,
			      .signals = -1,
			      .command = PROC_NONE,
			      .kill_deadline = CLOCK_NEVER};
	struct cordon_error err = {0};
	int r = proxy_run(cli, options, &p, &err);
	int code = r < 0 ? cli_fail(cli, &err) : 0;

	if (p.command.pidfd >= 0) {
		(void)!proc_signal(&p.command, SIGKILL);
		proc_done(&p.command);
	}
	outlet_stop(&p.outlet);
	proxy_drain(&p);
	if (r == 0 && p.has_exit)
		code = p.exit.signal ? 128 + p.exit.signal : p.exit.code;
	outlet_done(&p.outlet);
	(void)fd_close(p.signals);
	(void)fd_close(p.log);
	return code;
}
