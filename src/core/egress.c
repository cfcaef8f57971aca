/* SPDX-License-Identifier: Apache-2.0 */
/* See egress.h. */
#include "core/egress.h"

#include "base/str.h"
#include "core/egress_tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define EGRESS_QUESTIONS 4 /* that may be before one's own */
#define EGRESS_ANSWER_MS 5000

bool egress_is_needed(const struct policy *p)
{
	/* An open network is the host's own, unless somebody asked for the special ranges to be closed. */
	return p->net_mode == NET_ALLOWLIST || (p->net_mode == NET_ALLOW_ALL && p->egress.n > 0) ||
	       (p->net_mode == NET_ALLOW_ALL && egress_secrets_are_due(p)) ||
	       (p->net_mode == NET_ALLOW_ALL && p->ssrf && p->ssrf_block_private &&
		(policy_is_written(p, POLICY_SSRF) || policy_is_written(p, POLICY_SSRF_PRIVATE)));
}

/* "network.allowed_hosts[2] 'x' (file:line:column)"; kept in call->strings. */
static const char *egress_name(const struct policy *p, struct egress_call *call, const char *what,
			       size_t i, const char *text, const struct origin *origin)
{
	struct buf name = BUF_INIT(2048);
	const char *kept = NULL;

	buf_printf(&name, "%s[%zu] '%.200s' (", what, i, text);
	policy_origin_text(p, origin, &name);
	buf_char(&name, ')');
	if (buf_error(&name) == 0 && strv_add(&call->strings, buf_cstr(&name)) == 0)
		kept = call->strings.v[call->strings.n - 1];
	buf_done(&name);
	return kept;
}

static int egress_hosts(const struct policy *p, struct egress_call *call, struct cordon_error *err)
{
	const struct item_list *list = &p->allowed_hosts;

	call->allowed = calloc(list->n + 1, sizeof(*call->allowed));
	if (!call->allowed)
		return cordon_nomem(err);
	for (size_t i = 0; i < list->n; i++) {
		struct authority_entry *e = &call->allowed[i];
		const char *text = list->items[i].text;
		int r = hostrule_parse(text, strlen(text), &e->host, err);

		if (r < 0)
			return r;
		e->name = egress_name(p, call, "network.allowed_hosts", i, text,
				      &list->items[i].origin);
		if (!e->name)
			return cordon_nomem(err);
	}
	call->authority.allowed = call->allowed;
	call->authority.n_allowed = list->n;
	return 0;
}

/* A list as a NULL-terminated vector in `words`; NULL when it is empty. */
static const char *const *egress_words(const struct item_list *list, const char **words, size_t *at)
{
	const char *const *start = &words[*at];

	if (list->n == 0)
		return NULL;
	for (size_t i = 0; i < list->n; i++)
		words[(*at)++] = list->items[i].text;
	words[(*at)++] = NULL;
	return start;
}

static int egress_rules(const struct policy *p, struct egress_call *call, struct cordon_error *err)
{
	size_t n_words = 0;
	size_t at = 0;

	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];

		n_words += e->methods.n + e->paths.n + 2;
	}
	call->rules = calloc(p->egress.n + 1, sizeof(*call->rules));
	call->words = calloc(n_words + 1, sizeof(*call->words));
	if (!call->rules || !call->words)
		return cordon_nomem(err);
	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];
		struct authority_rule *rule = &call->rules[i];
		int r = hostrule_parse(e->host, strlen(e->host), &rule->host, err);

		if (r < 0)
			return r;
		rule->methods = egress_words(&e->methods, call->words, &at);
		rule->paths = egress_words(&e->paths, call->words, &at);
		rule->is_denial = e->action == EGRESS_DENY;
		rule->name = egress_name(p, call, "network.egress", i, e->host,
					 &e->origin[EGRESS_HOST_ROW]);
		if (!rule->name)
			return cordon_nomem(err);
	}
	call->authority.rules = call->rules;
	call->authority.n_rules = p->egress.n;
	return 0;
}

static int egress_exceptions(const struct policy *p, struct egress_call *call,
			     struct cordon_error *err)
{
	const struct item_list *list = &p->allow_private;

	call->exceptions = calloc(list->n + 1, sizeof(*call->exceptions));
	if (!call->exceptions)
		return cordon_nomem(err);
	for (size_t i = 0; i < list->n; i++) {
		int r = addr_cidr_parse(list->items[i].text, &call->exceptions[i], err);

		if (r < 0)
			return r;
	}
	call->authority.exceptions = call->exceptions;
	call->authority.n_exceptions = list->n;
	return 0;
}

int egress_authority(const struct policy *p, struct egress_call *ret, struct cordon_error *err)
{
	int r;

	*ret = EGRESS_CALL;
	ret->authority.mode = p->net_mode == NET_ALLOWLIST   ? AUTHORITY_ALLOWLIST
			      : p->net_mode == NET_ALLOW_ALL ? AUTHORITY_OPEN
							     : AUTHORITY_CLOSED;
	ret->authority.opens_private = !p->ssrf || !p->ssrf_block_private;
	r = egress_hosts(p, ret, err);
	if (r == 0)
		r = egress_rules(p, ret, err);
	if (r == 0)
		r = egress_exceptions(p, ret, err);
	return r;
}

/*
 * The host's own table of names would lead to addresses that no rule names, past our name server: inside it names the
 * sandbox alone.  The proxy reads the host's, so that what stands there is judged by its name like any other.
 */
static int egress_names_view(struct fsplan *view, struct cordon_error *err)
{
	static const char names[] = "127.0.0.1\tlocalhost\n"
				    "::1\tlocalhost ip6-localhost ip6-loopback\n"
				    "127.0.1.1\t" PLAN_HOSTNAME "\n";
	struct plan_op op = {.kind = PLAN_OP_SHOWN, .text = names};
	AUTO_FREE char *path = realpath("/etc/hosts", NULL);
	struct stat st;

	if (!path || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0; /* then there is none inside either */
	op.path = path;
	return fsplan_append(view, op) < 0 ? cordon_nomem(err) : 0;
}

/* The host's directories that the call can write to: where nothing is taken from.  NULL: no memory. */
static const char **egress_writable(const struct fsplan *view)
{
	const char **paths = calloc(view->n + 1, sizeof(*paths));
	size_t n = 0;

	for (size_t i = 0; paths && i < view->n; i++) {
		const struct plan_op *op = &view->ops[i];

		if (plan_op_is_writable(op->kind))
			paths[n++] = op->path;
		else if (op->kind == PLAN_OP_CACHE)
			paths[n++] = op->text;
	}
	return paths;
}

int egress_start(const struct policy *p, const struct egress_secrets *secrets, struct fsplan *view,
		 struct egress_call *ret, struct cordon_error *err)
{
	AUTO_FREE const char **writable = egress_writable(view);
	struct proxy_options o = {.limits = PROXY_LIMITS, .writable = writable};
	int r = egress_authority(p, ret, err);

	if (r == 0 && !writable)
		r = cordon_nomem(err);
	o.authority = &ret->authority;
	ret->asked.authority = &ret->authority;
	/* For the person, and a little for the way there and back. */
	if (p->net_ask && p->net_mode == NET_ALLOWLIST)
		o.ask_ms = p->approval_timeout_s * 1000 * EGRESS_QUESTIONS + EGRESS_ANSWER_MS;
	o.ends_tls = egress_tls_is_due(p);
	o.secrets = secrets->items;
	o.n_secrets = secrets->n;
	o.leaks = egress_secrets_leaks(p, secrets);
	if (r == 0 && o.ends_tls)
		r = egress_tls_trust(&o.trust, err);
	if (r == 0)
		r = egress_names_view(view, err);
	if (r == 0)
		r = proxy_start(&o, &ret->proxy, err);
	if (r == 0 && o.ends_tls)
		r = egress_tls_view(o.trust, &ret->proxy, view, err);
	return r;
}

int egress_take(void *call, const struct doors *doors, struct cordon_error *err)
{
	struct egress_call *c = call;
	const int *fds = doors->capture;
	const struct proxy_sockets sockets = {
		.tcp = {fds[0], fds[1]},
		.dns_udp = {fds[2], fds[3]},
		.dns_tcp = {fds[4], fds[5]},
		.told = doors->told,
		.hatch = doors->hatch,
		.handed = doors->handed,
	};

	c->is_untold = sockets.told < 0 && sockets.hatch < 0 && sockets.handed < 0;
	return proxy_give(&c->proxy, &sockets, err);
}

int egress_asked(void *call, int64_t deadline, int command_pidfd)
{
	struct egress_call *c = call;
	struct proxy_question q;
	int r = proxy_asked(&c->proxy, &q);

	if (r <= 0)
		return r;
	return proxy_answer(&c->proxy, &q, asked_answer(&c->asked, &q, deadline, command_pidfd));
}

int egress_asked_inside(void *call, int64_t deadline, int command_pidfd)
{
	struct egress_call *c = call;
	struct proxy keeper = {.control = c->entry->channel(c->entry->data)};
	struct proxy_question q;
	int r = proxy_asked(&keeper, &q);

	if (r <= 0)
		return r;
	return proxy_answer(&keeper, &q, asked_answer(&c->asked, &q, deadline, command_pidfd));
}

/* A record is the proxy's word: its strings are ended here. */
static int egress_record(const struct proxy_record *shared, struct report *report)
{
	struct proxy_record rec = *shared;
	char target[HOST_FORMAT_SIZE + 8];
	char remedy[sizeof(rec.remedy) + 1];
	struct denied d = {.kind = "host"};

	rec.host[sizeof(rec.host) - 1] = rec.rule[sizeof(rec.rule) - 1] =
		rec.remedy[sizeof(rec.remedy) - 1] = '\0';
	if (rec.is_allowed)
		return report_host(report, rec.host, rec.count, rec.bytes);
	if (rec.port)
		(void)snprintf(target, sizeof(target), "%s:%u", rec.host, rec.port);
	else
		(void)snprintf(target, sizeof(target), "%s", rec.host);
	(void)snprintf(remedy, sizeof(remedy), "%s", rec.remedy);
	d.target = target;
	d.rule = rec.rule;
	d.remedy = remedy;
	d.count = rec.count;
	if (str_starts(remedy, "--allow-host ")) {
		d.grant = remedy + strlen("--allow-host ");
		d.under = (char *)(uintptr_t)shape_policy.fields[POLICY_ALLOWED_HOSTS].path;
	}
	return report_deny_more(report, &d);
}

int egress_end(struct egress_call *call, struct report *report, struct cordon_error *err)
{
	const struct proxy_tally *t = call->proxy.tally;
	uint32_t n;

	proxy_stop(&call->proxy);
	if (!t)
		return 0;
	if (call->proxy.has_failed &&
	    report_deny(report, "host", "*", "the egress proxy ended before the call did",
			"run the call again; report it if it happens again") < 0)
		return cordon_nomem(err);
	if (call->is_untold &&
	    report_deny(report, "host", "*",
			"untracked: what is neither TCP nor a question for a name is refused, and "
			"the kernel does not tell of it here",
			"nftables needs tracing (nf_tables, NFNLGRP_NFTRACE) to list it") < 0)
		return cordon_nomem(err);
	report->net_allowed = t->allowed;
	report->net_blocked = t->blocked;
	report->net_bytes = t->bytes;
	n = t->n < PROXY_RECORDS ? t->n : PROXY_RECORDS;
	for (uint32_t i = 0; i < n; i++)
		if (egress_record(&t->records[i], report) < 0)
			return cordon_nomem(err);
	return 0;
}

void egress_done(struct egress_call *call)
{
	proxy_done(&call->proxy);
	free(call->allowed);
	free(call->rules);
	free(call->words);
	free(call->exceptions);
	strv_done(&call->strings);
	*call = EGRESS_CALL;
}

int egress_variables(struct strv *env, const char *address)
{
	static const char *const http[] = {
		"HTTP_PROXY",
		"http_proxy",
		"HTTPS_PROXY",
		"https_proxy",
		"WS_PROXY",
		"WSS_PROXY",
		"YARN_HTTP_PROXY",
		"YARN_HTTPS_PROXY",
		"NPM_CONFIG_PROXY",
		"NPM_CONFIG_HTTP_PROXY",
		"NPM_CONFIG_HTTPS_PROXY",
		"BUNDLE_HTTP_PROXY",
		"BUNDLE_HTTPS_PROXY",
		"PIP_PROXY",
		"DOCKER_HTTP_PROXY",
		"DOCKER_HTTPS_PROXY",
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(http); i++)
		r = strv_addf(env, "%s=http://%s", http[i], address);
	if (r == 0)
		r = strv_addf(env, "ALL_PROXY=socks5h://%s", address);
	if (r == 0)
		r = strv_addf(env, "all_proxy=socks5h://%s", address);
	if (r == 0)
		r = strv_add(env, "NO_PROXY=localhost,127.0.0.1,::1");
	if (r == 0)
		r = strv_add(env, "no_proxy=localhost,127.0.0.1,::1");
	return r < 0 ? r : strv_add(env, "NODE_USE_ENV_PROXY=1");
}

int egress_environment(struct strv *env)
{
	char address[32];

	(void)snprintf(address, sizeof(address), "127.0.0.1:%d", CAPTURE_PORT);
	return egress_variables(env, address);
}
