/* SPDX-License-Identifier: Apache-2.0 */
/* See allow.h. */
#include "inspect/allow.h"

#include "net/hostrule.h"

#include <string.h>
#include <strings.h>

static bool allow_rule(const char *text, const struct host *host, uint16_t port)
{
	struct hostrule rule;

	if (hostrule_parse(text, strlen(text), &rule, NULL) < 0)
		return false;
	return port ? hostrule_match(&rule, host, port)
		    : hostrule_match(&rule, host, 443) || hostrule_match(&rule, host, 80) ||
			       hostrule_match(&rule, host, rule.host.port);
}

bool allow_host(const struct policy *p, const char *name, size_t len, uint16_t port)
{
	struct host host;

	if (host_parse(name, len, 0, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < p->allowed_hosts.n; i++)
		if (allow_rule(p->allowed_hosts.items[i].text, &host, port))
			return true;
	return false;
}

bool allow_listed(const struct strv *list, const char *name, size_t len, uint16_t port)
{
	struct host host;

	if (host_parse(name, len, 0, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < list->n; i++)
		if (allow_rule(list->v[i], &host, port))
			return true;
	return false;
}

bool allow_secret_url(const struct policy *p, const char *secret, const char *url, size_t len,
		      bool is_whole)
{
	static const char start[] = "https://";
	size_t at = sizeof(start) - 1, end;
	struct host host;

	/* As clients read it. */
	while (len && (*url == ' ' || (*url >= '\t' && *url <= '\r')))
		url++, len--;
	if (!p || len <= at || strncasecmp(url, start, at) != 0)
		return false;
	for (end = at; end < len && url[end] != '/' && url[end] != '?'; end++)
		;
	/* Where the host ends must be known; a name or a port in front of or behind it is not looked at. */
	if ((end == len && !is_whole) || end == at || memchr(url + at, '@', end - at) ||
	    memchr(url + at, ':', end - at) || memchr(url + at, '\\', end - at) ||
	    host_parse(url + at, end - at, 0, &host, NULL) < 0)
		return false;
	for (size_t i = 0; i < p->secret_grants.n; i++) {
		const struct grant *g = p->secret_grants.records[i];

		for (size_t k = 0; secret && strcmp(g->name, secret) == 0 && k < g->hosts.n; k++)
			if (allow_rule(g->hosts.items[k].text, &host, 443))
				return true;
	}
	return allow_host(p, url + at, end - at, 443);
}
