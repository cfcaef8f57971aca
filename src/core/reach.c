/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order: a special address that is written as such, the egress rules (first match), the mode.  A
 * host that is allowed here can still be refused when its name resolves to a special address.
 */
#include "core/reach.h"

#include "base/limits.h"
#include "net/hostrule.h"

#include <stdio.h>
#include <string.h>

/* Settles the answer: "what (where)". */
static int reach_answer(const struct policy *p, const struct origin *o, bool is_allowed,
			const char *what, struct reach *ret)
{
	struct buf from = BUF_INIT(LIMIT_PATH_BYTES * 2);

	policy_origin_text(p, o, &from);
	ret->is_allowed = is_allowed;
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s (%s)", what, buf_cstr(&from));
	buf_done(&from);
	return 1;
}

/* 1 settled, 0 not, or an error. */
static int reach_address(const struct policy *p, const struct host *host, struct reach *ret,
			 struct cordon_error *err)
{
	const struct addr_row *row = NULL;
	char what[160];

	if (host->kind == HOST_NAME || !p->ssrf || !p->ssrf_block_private)
		return 0;
	row = addr_class(host->addr);
	for (size_t i = 0; row && i < p->allow_private.n; i++) {
		struct addr_cidr exception;
		int r = addr_cidr_parse(p->allow_private.items[i].text, &exception, err);

		if (r < 0)
			return r;
		row = addr_refusal(host->addr, &exception, 1);
	}
	if (!row)
		return 0;
	(void)snprintf(what, sizeof(what), "%s is a special address: %s", row->text, row->name);
	return reach_answer(p, &p->origin[POLICY_SSRF_PRIVATE], false, what, ret);
}

static int reach_rule(const char *text, const struct host *host, uint16_t port, bool *ret,
		      struct cordon_error *err)
{
	struct hostrule rule;
	int r = hostrule_parse(text, strlen(text), &rule, err);

	if (r < 0)
		return r;
	*ret = hostrule_match(&rule, host, port);
	return 0;
}

static int reach_egress(const struct policy *p, const struct host *host, uint16_t port,
			struct reach *ret, struct cordon_error *err)
{
	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];
		bool denies = origin_is_set(&e->origin[EGRESS_ACTION_ROW]) &&
			      e->action == EGRESS_DENY;
		bool is_partial = e->methods.n > 0 || e->paths.n > 0;
		bool matches = false;
		char what[400];
		int r = reach_rule(e->host, host, port, &matches, err);

		if (r < 0)
			return r;
		/* What only some requests are denied may be reached by the others. */
		if (!matches || (denies && is_partial))
			continue;
		(void)snprintf(what, sizeof(what), "%s entry '%s' %s%s",
			       shape_policy.fields[POLICY_EGRESS].path, e->host,
			       denies ? "denies it" : "allows it",
			       is_partial ? ", for some methods or paths" : "");
		return reach_answer(p, &e->origin[EGRESS_HOST_ROW], !denies, what, ret);
	}
	return 0;
}

static int reach_list(const struct policy *p, const struct host *host, uint16_t port,
		      struct reach *ret, struct cordon_error *err)
{
	for (size_t i = 0; i < p->allowed_hosts.n; i++) {
		const struct item *item = &p->allowed_hosts.items[i];
		bool matches = false;
		char what[400];
		int r = reach_rule(item->text, host, port, &matches, err);

		if (r < 0)
			return r;
		if (!matches)
			continue;
		(void)snprintf(what, sizeof(what), "%s entry '%s' allows it",
			       shape_policy.fields[POLICY_ALLOWED_HOSTS].path, item->text);
		return reach_answer(p, &item->origin, true, what, ret);
	}
	return reach_answer(p, &p->origin[POLICY_NET_MODE], false,
			    "the mode is allowlist and no entry allows this host and port", ret);
}

static int reach_mode(const struct policy *p, const struct host *host, uint16_t port,
		      struct reach *ret, struct cordon_error *err)
{
	const struct origin *o = &p->origin[POLICY_NET_MODE];
	int r;

	if (p->net_mode == NET_DENY)
		return reach_answer(p, o, false, "the network is denied", ret);
	r = reach_egress(p, host, port, ret, err);
	if (r != 0)
		return r;
	if (p->net_mode == NET_ALLOW_ALL)
		return reach_answer(p, o, true, "the mode is allow-all", ret);
	return reach_list(p, host, port, ret, err);
}

int reach_host(const struct policy *p, const struct host *host, uint16_t port, struct reach *ret,
	       struct cordon_error *err)
{
	int r;

	*ret = (struct reach){0};
	r = p->net_mode == NET_DENY ? 0 : reach_address(p, host, ret, err);
	if (r == 0)
		r = reach_mode(p, host, port, ret, err);
	return r < 0 ? r : 0;
}
