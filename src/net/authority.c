/* SPDX-License-Identifier: Apache-2.0 */
/* See authority.h.  Everything here is pure: the answers can be tested row by row. */
#include "net/authority.h"

#include "base/glob.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "net/httpclaim.h"
#include "net/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void authority_text(const struct host *host, uint16_t port,
			   char out[static HOST_FORMAT_SIZE])
{
	struct host h = *host;

	h.port = port == 80 || port == 443 ? 0 : port;
	host_format(&h, out);
}

static void authority_deny(struct authority_answer *ret, const char *rule, const char *remedy)
{
	ret->is_allowed = false;
	(void)snprintf(ret->rule, sizeof(ret->rule), "%s", rule);
	(void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
}

static const struct authority_entry *authority_find(const struct authority_entry *entries, size_t n,
						    const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < n; i++)
		if (hostrule_match(&entries[i].host, host, port))
			return &entries[i];
	return NULL;
}

static const struct authority_entry *authority_blocked(const struct authority *a,
						       const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < a->n_blocked; i++)
		if (hostrule_denies(&a->blocked[i].host, host, port))
			return &a->blocked[i];
	return NULL;
}

/* Does the rule speak of this host?  A denial without a port does so on every port. */
static bool authority_speaks(const struct authority_rule *rule, const struct host *host,
			     uint16_t port)
{
	return rule->is_denial ? hostrule_denies(&rule->host, host, port)
			       : hostrule_match(&rule->host, host, port);
}

/* A rule that closes the whole host, whatever is said to it. */
static const struct authority_rule *authority_closes(const struct authority *a,
						     const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct authority_rule *rule = &a->rules[i];

		if (!authority_speaks(rule, host, port))
			continue;
		if (rule->methods || rule->paths)
			return NULL; /* an earlier rule lets something through, or must read */
		return rule->is_denial ? rule : NULL;
	}
	return NULL;
}

bool authority_reads(const struct authority *a, const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct authority_rule *rule = &a->rules[i];

		if (!authority_speaks(rule, host, port))
			continue;
		if (rule->methods || rule->paths)
			return true;
		return false; /* decides by itself */
	}
	return false;
}

bool authority_names_methods(const struct authority *a, const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < a->n_rules; i++)
		if (a->rules[i].methods && authority_speaks(&a->rules[i], host, port))
			return true;
	return false;
}

/* Is the host allowed by a rule of its own, and not only by the list? */
static const struct authority_rule *authority_admits(const struct authority *a,
						     const struct host *host, uint16_t port)
{
	for (size_t i = 0; i < a->n_rules; i++)
		if (!a->rules[i].is_denial && hostrule_match(&a->rules[i].host, host, port))
			return &a->rules[i];
	return NULL;
}

static void authority_unlisted(const struct authority *a, const struct host *host, uint16_t port,
			       struct authority_answer *ret)
{
	char text[HOST_FORMAT_SIZE];
	char remedy[AUTHORITY_TEXT];

	authority_text(host, port, text);
	(void)snprintf(remedy, sizeof(remedy), "%s %s", a->is_alone ? "--allow" : "--allow-host",
		       text);
	authority_deny(ret, "network.allowed_hosts: no entry for it", remedy);
	ret->is_unlisted = true;
}

static void authority_listed(const struct authority *a, const struct host *host, uint16_t port,
			     struct authority_answer *ret)
{
	const struct authority_entry *entry = authority_find(a->allowed, a->n_allowed, host, port);
	const struct authority_rule *rule = entry ? NULL : authority_admits(a, host, port);
	const struct hostrule *by = entry ? &entry->host : rule ? &rule->host : NULL;

	if (!by) {
		authority_unlisted(a, host, port, ret);
		return;
	}
	ret->is_exact_port = by->host.port != 0;
	(void)snprintf(ret->rule, sizeof(ret->rule), "%s", entry ? entry->name : rule->name);
}

void authority_host(const struct authority *a, const struct host *host, uint16_t port,
		    struct authority_answer *ret)
{
	const struct authority_rule *closing = authority_closes(a, host, port);
	const struct authority_entry *blocked = authority_blocked(a, host, port);
	const struct name_row *name = host->kind == HOST_NAME ? name_class(host) : NULL;

	memset(ret, 0, sizeof(*ret));
	ret->is_allowed = true;
	if (a->mode == AUTHORITY_CLOSED)
		authority_deny(ret, a->is_alone ? "network.mode: closed" : "network.mode: deny",
			       a->is_alone ? "--mode allowlist --allow HOST" : "--allow-host HOST");
	else if (closing)
		authority_deny(ret, closing->name, "change that rule");
	else if (blocked)
		authority_deny(ret, blocked->name, "take it off the list");
	else if (a->mode == AUTHORITY_ALLOWLIST)
		authority_listed(a, host, port, ret);
	else
		(void)snprintf(ret->rule, sizeof(ret->rule), "network.mode: %s",
			       a->mode == AUTHORITY_BLOCKLIST ? "blocklist"
			       : a->is_alone                  ? "open"
							      : "allow-all");
	if (!ret->is_allowed)
		return;
	/* Where every host may be spoken to nothing can be hidden by speaking otherwise. */
	if (a->mode == AUTHORITY_OPEN && a->n_rules == 0 && a->n_blocked == 0)
		ret->is_exact_port = true;
	/* What such a name resolves to is judged too; but without an exception no address will do. */
	if (name && !a->opens_private && (name->kind == NAME_RESERVED || a->n_exceptions == 0)) {
		char rule[AUTHORITY_TEXT];

		(void)snprintf(rule, sizeof(rule), "network.ssrf_protection: %s (%s)", name->name,
			       name->source);
		authority_deny(ret, rule, "--allow-private CIDR (of the addresses that it has)");
	} else if (host->kind != HOST_NAME) {
		authority_address(a, host, host->addr, false, ret);
	}
}

bool authority_is_method(const char *listed, const char *method)
{
	for (const char *p = method; *p; p++)
		if (islower((unsigned char)*p))
			return false;
	return strcasecmp(listed, method) == 0;
}

static bool authority_has_method(const struct authority_rule *rule, const char *method)
{
	if (!rule->methods)
		return true;
	for (size_t i = 0; rule->methods[i]; i++)
		if (authority_is_method(rule->methods[i], method))
			return true;
	return false;
}

/* Forms of ASCII that some servers take for it: U+FF01 to U+FF5E, and other slashes. */
static bool authority_has_lookalike(const char *path)
{
	size_t len = strlen(path);
	uint32_t code;

	for (size_t at = 0; at < len;) {
		size_t n = utf8_decode(path + at, len - at, &code);

		if (n == 0 || (code >= 0xff01 && code <= 0xff5e) || code == 0x2044 ||
		    code == 0x2215 || code == 0x29f5)
			return true;
		at += n;
	}
	return false;
}

bool authority_path(const char *path, char out[static AUTHORITY_PATH_MAX])
{
	size_t n = 0;

	for (const char *p = path; *p && *p != '?'; p++) {
		unsigned char c = (unsigned char)*p;

		if (n + 1 >= AUTHORITY_PATH_MAX)
			return false;
		if (c == '%') {
			char hex[3] = {p[1], p[1] ? p[2] : '\0', '\0'};

			if (!isxdigit((unsigned char)hex[0]) || !isxdigit((unsigned char)hex[1]))
				return false;
			c = 0;
			for (int i = 0; i < 2; i++)
				c = (unsigned char)(c << 4 |
						    (isdigit((unsigned char)hex[i])
							     ? hex[i] - '0'
							     : tolower(hex[i]) - 'a' + 10));
			if (c < ' ' || c == 0x7f || strchr("/\\.%;?#", c))
				return false;
			p += 2;
		}
		if (c == '\\' || c == ';')
			return false;
		out[n++] = (char)c;
	}
	out[n] = '\0';
	if (out[0] != '/')
		return false;
	for (const char *s = out; *s; s = strchr(s + 1, '/') ? strchr(s + 1, '/') : "") {
		size_t len = strcspn(s + 1, "/");

		if ((len == 0 && s[1] == '/') || (len > 0 && strspn(s + 1, ".") == len))
			return false;
	}
	return !authority_has_lookalike(out);
}

/* As a server sees it to which case, and dots and blanks at the end of a name, are nothing; without a last slash. */
static void authority_fold(const char *path, char out[static AUTHORITY_PATH_MAX])
{
	size_t n = 0;

	for (const char *p = path; *p; p++) {
		while (*p == '/' && n > 0 && strchr(". ", out[n - 1]))
			n--;
		out[n++] = (char)tolower((unsigned char)*p);
	}
	while (n > 1 && strchr("/. ", out[n - 1]))
		n--;
	out[n] = '\0';
}

/* What is closed is closed under every name that a server may take for the same. */
static bool authority_closes_path(const char *pattern, const char *path)
{
	char small[AUTHORITY_PATH_MAX];
	char folded[AUTHORITY_PATH_MAX];
	size_t n = strlen(pattern);

	if (n >= sizeof(small))
		return true;
	for (size_t i = 0; i <= n; i++)
		small[i] = (char)tolower((unsigned char)pattern[i]);
	authority_fold(path, folded);
	if (glob_match(small, folded))
		return true;
	/* With a last slash it is the same to most. */
	n = strlen(folded);
	if (n + 1 >= sizeof(folded))
		return true;
	memcpy(folded + n, "/", 2);
	return glob_match(small, folded);
}

static bool authority_has_path(const struct authority_rule *rule, const char *path)
{
	if (!rule->paths)
		return true;
	for (size_t i = 0; rule->paths[i]; i++)
		if (glob_match(rule->paths[i], path) ||
		    (rule->is_denial && authority_closes_path(rule->paths[i], path)))
			return true;
	return false;
}

void authority_request(const struct authority *a, const struct host *host, uint16_t port,
		       const char *method, const char *path, struct authority_answer *ret)
{
	char clean[AUTHORITY_PATH_MAX];
	bool is_clean;

	authority_host(a, host, port, ret);
	if (!ret->is_allowed || !authority_reads(a, host, port))
		return;
	/* `delete` is no method, and to some servers it is DELETE. */
	if (authority_names_methods(a, host, port) && !authority_is_method(method, method)) {
		authority_deny(ret, "network.egress: a method in small letters",
			       "write it in capital letters");
		return;
	}
	is_clean = authority_path(path, clean);
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct authority_rule *rule = &a->rules[i];

		if (!authority_speaks(rule, host, port))
			continue;
		if (rule->paths && !is_clean) {
			authority_deny(ret, rule->name,
				       "write the path plainly: servers differ about this one");
			return;
		}
		if (!authority_has_method(rule, method) ||
		    (rule->paths && !authority_has_path(rule, clean)))
			continue;
		if (rule->is_denial)
			authority_deny(ret, rule->name, "change that rule");
		else
			(void)snprintf(ret->rule, sizeof(ret->rule), "%s", rule->name);
		return;
	}
	/* Rules speak of this host, and none of them of this request. */
	authority_deny(ret, "network.egress: no rule for this method and path",
		       "add a rule for it to network.egress");
}

void authority_body(const struct authority *a, const struct host *host, uint16_t port,
		    const char *method, const char *path, struct authority_answer *ret)
{
	static const char *const carriers[] = {"POST", "PUT", "PATCH"};
	char rule[AUTHORITY_TEXT];

	memset(ret, 0, sizeof(*ret));
	ret->is_allowed = true;
	if (!httpclaim_is_safe(method) || !authority_reads(a, host, port))
		return;
	for (size_t i = 0; i < ARRAY_LEN(carriers); i++) {
		authority_request(a, host, port, carriers[i], path, ret);
		if (ret->is_allowed)
			return;
	}
	(void)snprintf(
		rule, sizeof(rule),
		"network.egress: a body with %s, and no rule for POST, PUT or PATCH of this path",
		method);
	authority_deny(ret, rule,
		       "send it without a body, or add a rule for POST to network.egress");
}

static bool authority_is_exempt(const struct authority *a, const uint8_t addr[static ADDR_LEN])
{
	for (size_t i = 0; i < a->n_exceptions; i++)
		if (addr_cidr_has(&a->exceptions[i], addr))
			return true;
	return false;
}

bool authority_minds_own(const struct authority *a, const uint8_t addr[static ADDR_LEN])
{
	return !a->opens_private && !authority_is_exempt(a, addr) &&
	       !addr_refusal(addr, a->exceptions, a->n_exceptions);
}

void authority_address(const struct authority *a, const struct host *host,
		       const uint8_t addr[static ADDR_LEN], bool is_own,
		       struct authority_answer *ret)
{
	const struct addr_row *row =
		a->opens_private ? NULL : addr_refusal(addr, a->exceptions, a->n_exceptions);
	char text[ADDR_TEXT_SIZE];
	char rule[AUTHORITY_TEXT];
	char remedy[AUTHORITY_TEXT];

	addr_format(addr, text);
	if (row)
		(void)snprintf(rule, sizeof(rule), "network.ssrf_protection: %s is %s (%s, %s)",
			       text, addr_kind_name(row->kind), row->text, row->source);
	else if (is_own && !a->opens_private) {
		if (authority_is_exempt(a, addr))
			return;
		(void)snprintf(rule, sizeof(rule),
			       "network.ssrf_protection: %s is an address of this machine", text);
	} else {
		return;
	}
	(void)host;
	(void)snprintf(remedy, sizeof(remedy), "--allow-private %s", text);
	authority_deny(ret, rule, remedy);
}
