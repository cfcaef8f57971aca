/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why_host(): may a host be reached?  The text is read by the one parser of hosts; what it refuses is
 * denied with its reason.  Then, in the order in which a connection meets them: the mode, the
 * allowlist, egress rules that close the whole host, and the ranges of ssrf_protection.
 */
#include "core/why_answer.h"

#include "base/json.h"
#include "net/hostrule.h"
#include "net/name.h"
#include "net/url.h"

#include <string.h>

#define WHY_PORT_HTTP 80
#define WHY_PORT_HTTPS 443

struct host_question {
	const struct policy *policy;
	struct host host;
	uint16_t ports[2]; /* those in question */
	size_t n_ports;
	char text[HOST_FORMAT_SIZE]; /* canonical */
};

static int why_host_parse(const char *text, struct host *ret, struct cordon_error *err)
{
	enum url_scheme scheme;
	size_t len = strlen(text);

	return strstr(text, "://") ? url_host(text, len, &scheme, ret, err)
				   : host_parse(text, len, HOST_PORT_ALLOWED, ret, err);
}

/* Does a rule's text allow the host on this port?  A text that does not parse allows nothing. */
static bool why_host_matches(const char *rule_text, const struct host *host, uint16_t port)
{
	struct hostrule rule;

	return hostrule_parse(rule_text, strlen(rule_text), &rule, NULL) == 0 &&
	       hostrule_match(&rule, host, port);
}

/* Is the host named by the rule, on whatever port? */
static bool why_host_named(const char *rule_text, const struct host *host)
{
	struct hostrule rule;

	return hostrule_parse(rule_text, strlen(rule_text), &rule, NULL) == 0 &&
	       hostrule_match(&rule, host, rule.host.port ? rule.host.port : WHY_PORT_HTTPS);
}

static const struct item *why_host_allowed(const struct policy *p, const struct host *host,
					   uint16_t port)
{
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		if (why_host_matches(p->allowed_hosts.items[i].text, host, port))
			return &p->allowed_hosts.items[i];
	return NULL;
}

/* The class of an address that no exception opens; each exception speaks for itself. */
static const struct addr_row *why_address(const struct policy *p, const struct host *host)
{
	const struct addr_row *row = addr_refusal(host->addr, NULL, 0);

	for (size_t i = 0; row && i < p->allow_private.n; i++) {
		struct addr_cidr exception;

		if (addr_cidr_parse(p->allow_private.items[i].text, &exception, NULL) == 0)
			row = addr_refusal(host->addr, &exception, 1);
	}
	return row;
}

/* What keeps the address or name closed, as text; false when nothing does. */
static bool why_host_special(const struct host_question *q, struct buf *out, bool *ret_is_final)
{
	const struct policy *p = q->policy;
	const struct addr_row *address;
	const struct name_row *name;

	*ret_is_final = false;
	if (!p->ssrf || !p->ssrf_block_private)
		return false;
	if (q->host.kind != HOST_NAME) {
		address = why_address(p, &q->host);
		if (address)
			buf_printf(out, "%s is %s (%s, %s)", q->host.name,
				   addr_kind_name(address->kind), address->text, address->source);
		return address != NULL;
	}
	name = name_class(&q->host);
	if (!name)
		return false;
	/* What such a name resolves to is checked anyway: with an exception the address decides. */
	*ret_is_final = name->kind == NAME_RESERVED;
	if (!*ret_is_final && p->allow_private.n > 0)
		return false;
	buf_printf(out, "%s is a special name: %s (%s, %s)", q->host.name,
		   name_kind_name(name->kind), name->name, name->source);
	return true;
}

static void why_host_private_option(struct why *w, const struct host_question *q)
{
	if (q->host.kind == HOST_NAME)
		buf_str(&w->remedy, " --allow-private CIDR (of the addresses that it has)");
	else
		buf_printf(&w->remedy, " --allow-private %s", q->host.name);
}

/* "cordon run --allow-host HOST[:PORT] [--allow-private …]" */
static void why_host_remedy(struct why *w, const struct host_question *q)
{
	struct buf special = BUF_INIT(1024);
	bool is_final = false;

	buf_str(&w->option, "--allow-host ");
	str_shell_quote(&w->option, q->text);
	buf_printf(&w->remedy, "cordon run %s", buf_cstr(&w->option));
	buf_str(&w->under, shape_policy.fields[POLICY_ALLOWED_HOSTS].path);
	buf_str(&w->yaml, "- ");
	json_quote(&w->yaml, q->text, strlen(q->text));
	if (why_host_special(q, &special, &is_final)) {
		why_host_private_option(w, q);
		if (q->host.kind != HOST_NAME)
			buf_printf(&w->option, " --allow-private %s", q->host.name);
	}
	buf_printf(&w->remedy, ", or %s: allowlist with %s: [\"%s\"]",
		   shape_policy.fields[POLICY_NET_MODE].path,
		   shape_policy.fields[POLICY_ALLOWED_HOSTS].path, q->text);
	if (q->policy->origin[POLICY_NET_MODE].layer == LAYER_CEILING) {
		buf_str(&w->remedy, "; the ceiling must allow it first (");
		policy_origin_text(q->policy, &q->policy->origin[POLICY_NET_MODE], &w->remedy);
		buf_char(&w->remedy, ')');
	}
	buf_done(&special);
}

static void why_host_other_ports(struct why *w, const struct host_question *q)
{
	const struct policy *p = q->policy;

	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		if (why_host_named(p->allowed_hosts.items[i].text, &q->host)) {
			why_note(w,
				 "the host is allowed on other ports, by '%s': HOST alone means "
				 "ports 80 and 443, others need HOST:PORT",
				 p->allowed_hosts.items[i].text);
			return;
		}
}

/* The mode and the allowlist. */
static void why_host_by_mode(struct why *w, const struct host_question *q)
{
	const struct policy *p = q->policy;
	const struct origin *mode = &p->origin[POLICY_NET_MODE];
	const struct item *allowed = NULL;
	size_t at = 0;

	if (p->net_mode == NET_ALLOW_ALL) {
		why_decide(w, WHY_ALLOW, POLICY_NET_MODE, "allow-all", mode);
		buf_str(&w->remedy, "to forbid it: cordon run --net deny, or --net allowlist with "
				    "the hosts that are needed");
		return;
	}
	if (p->net_mode == NET_DENY) {
		why_decide(w, WHY_DENY, POLICY_NET_MODE, "deny", mode);
		why_host_remedy(w, q);
		return;
	}
	while (at < q->n_ports && !(allowed = why_host_allowed(p, &q->host, q->ports[at])))
		at++;
	if (!allowed) {
		why_decide(w, WHY_DENY, POLICY_NET_MODE, "allowlist", mode);
		buf_str(&w->rule, ": no entry of allowed_hosts matches");
		why_host_remedy(w, q);
		why_host_other_ports(w, q);
		return;
	}
	why_decide(w, WHY_ALLOW, POLICY_ALLOWED_HOSTS, allowed->text, &allowed->origin);
	buf_str(&w->remedy, "to forbid it: ");
	why_remove(w, p, POLICY_ALLOWED_HOSTS, allowed->text, &allowed->origin);
	for (size_t i = 0; i < q->n_ports; i++)
		if (!why_host_allowed(p, &q->host, q->ports[i]))
			why_note(w, "on port %u only, not on %u", q->ports[at], q->ports[i]);
}

static void why_host_egress_note(struct why *w, const struct policy *p, const struct egress *e)
{
	struct buf b = BUF_INIT(4096);

	for (size_t i = 0; i < e->methods.n; i++)
		buf_printf(&b, " %s", e->methods.items[i].text);
	for (size_t i = 0; i < e->paths.n; i++)
		buf_printf(&b, " %s", e->paths.items[i].text);
	if (b.len)
		buf_str(&b, " there");
	buf_str(&b, " (");
	policy_origin_text(p, &e->origin[EGRESS_HOST_ROW], &b);
	buf_char(&b, ')');
	why_note(w, "an egress rule for '%s' says %s:%s", e->host,
		 names_word(&names_egress_action, e->action),
		 buf_error(&b) == 0 ? buf_cstr(&b) : " …");
	buf_done(&b);
}

/* Egress rules: one that closes the whole host decides, the others are told. */
static void why_host_egress(struct why *w, const struct host_question *q, enum policy_row *row)
{
	const struct policy *p = q->policy;

	for (size_t i = 0; i < p->egress.n; i++) {
		const struct egress *e = p->egress.records[i];
		bool is_whole = e->methods.n == 0 && e->paths.n == 0;

		if (!why_host_matches(e->host, &q->host, q->ports[0]))
			continue;
		if (is_whole && e->action == EGRESS_DENY && w->decision == WHY_ALLOW) {
			why_decide(w, WHY_DENY, POLICY_EGRESS, e->host,
				   &e->origin[EGRESS_HOST_ROW]);
			buf_str(&w->rule, " (deny)");
			why_remove(w, p, POLICY_EGRESS, e->host, &e->origin[EGRESS_HOST_ROW]);
			*row = POLICY_EGRESS;
			return;
		}
		why_host_egress_note(w, p, e);
		if (is_whole)
			return; /* the first that matches decides */
	}
}

static void why_host_ssrf(struct why *w, const struct host_question *q, enum policy_row *row)
{
	const struct policy *p = q->policy;
	struct buf special = BUF_INIT(1024);
	bool is_final = false;

	if (!p->ssrf || !p->ssrf_block_private) {
		why_note(w, "ssrf_protection is off: private, local and metadata addresses are not "
			    "refused");
	} else if (why_host_special(q, &special, &is_final)) {
		why_decide(w, WHY_DENY, POLICY_SSRF_PRIVATE, NULL, &p->origin[POLICY_SSRF_PRIVATE]);
		buf_printf(&w->rule, ": %s", buf_cstr(&special));
		if (is_final) {
			buf_str(&w->remedy, "none: such a name is never resolved; use another");
		} else {
			buf_str(&w->remedy, "cordon run");
			why_host_private_option(w, q);
			buf_printf(&w->remedy, ", or an entry of %s",
				   shape_policy.fields[POLICY_ALLOW_PRIVATE].path);
		}
		*row = POLICY_SSRF_PRIVATE;
	}
	buf_done(&special);
}

static void why_host_notes(struct why *w, const struct host_question *q)
{
	if (w->decision != WHY_ALLOW || q->policy->level == LEVEL_NONE)
		return;
	if (q->host.kind == HOST_NAME && q->policy->ssrf)
		why_note(w,
			 "the name is resolved when it is dialled, and every address that it has "
			 "is checked again then");
	if (q->policy->ssrf)
		why_note(w, "this machine's own addresses are refused at run time too");
}

static void why_host_answer(struct why *w, struct host_question *q)
{
	enum policy_row row = POLICY_NET_MODE;

	if (q->host.port) {
		q->ports[q->n_ports++] = q->host.port;
	} else {
		q->ports[q->n_ports++] = WHY_PORT_HTTPS;
		q->ports[q->n_ports++] = WHY_PORT_HTTP;
	}
	host_format(&q->host, q->text);
	why_host_by_mode(w, q);
	if (q->policy->net_mode != NET_DENY)
		why_host_egress(w, q, &row);
	if (w->decision == WHY_ALLOW)
		why_host_ssrf(w, q, &row);
	why_level(w, q->policy, row);
	why_host_notes(w, q);
}

int why_host(const struct policy *p, const char *text, struct why *ret, struct cordon_error *err)
{
	struct host_question q = {.policy = p};
	struct cordon_error why_not = {0};
	struct why w = WHY_INIT;
	int r = why_host_parse(text, &q.host, &why_not);

	if (r == CORDON_E_NOMEM)
		return cordon_nomem(err);
	if (r < 0) {
		/* Whoever would dial it refuses it for the same reason. */
		why_decide_builtin(&w, WHY_DENY, "not a host: ");
		buf_str(&w.rule, why_not.message);
		buf_str(&w.remedy,
			why_not.hint[0] ? why_not.hint : "write HOST, HOST:PORT or a URL");
		return why_finish(&w, 0, ret, err);
	}
	why_host_answer(&w, &q);
	w.resolved = strdup(q.text);
	if (!w.resolved)
		return why_finish(&w, cordon_nomem(err), ret, err);
	return why_finish(&w, 0, ret, err);
}
