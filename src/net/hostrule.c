/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allow rules over canonical hosts.  Each kind of pattern that other tools know and that is not
 * ours is a row in hostrule_refused[] with a hint that says what to write instead; a new kind of
 * pattern becomes a kind here and loses its row.
 *
 * A wildcard needs two labels after the star: below one label (*.com) or below one of the
 * well-known second-level registries (*.co.uk) everybody may register a name, so such a rule is
 * no boundary.
 */
#include "net/hostrule.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static bool hostrule_has_url(const char *text, size_t len)
{
	return memmem(text, len, "://", 3) != NULL;
}

static bool hostrule_has_slash(const char *text, size_t len)
{
	return memchr(text, '/', len) != NULL;
}

static bool hostrule_is_star(const char *text, size_t len)
{
	return text[0] == '*' && (len == 1 || (len == 2 && text[1] == '.') || text[1] == ':');
}

static bool hostrule_has_double_star(const char *text, size_t len)
{
	return memmem(text, len, "**", 2) != NULL;
}

static bool hostrule_has_leading_dot(const char *text, size_t len)
{
	(void)len; /* never 0 */
	return text[0] == '.';
}

static bool hostrule_has_star_port(const char *text, size_t len)
{
	return len >= 2 && memcmp(text + len - 2, ":*", 2) == 0;
}

static bool hostrule_has_trailing_star(const char *text, size_t len)
{
	return text[len - 1] == '*';
}

static bool hostrule_has_inner_star(const char *text, size_t len)
{
	size_t start = len >= 2 && memcmp(text, "*.", 2) == 0 ? 2 : 0;

	return memchr(text + start, '*', len - start) != NULL;
}

/* Searched from the top; the first that holds is the reason. */
static const struct {
	bool (*holds)(const char *text, size_t len);
	const char *reason;
	const char *hint;
} hostrule_refused[] = {
	{hostrule_has_url, "a URL where a host is meant",
	 "write only the host, such as example.com or example.com:8443"},
	{hostrule_has_slash, "'/' in a host rule",
	 "write only the host; networks are opened with --allow-private"},
	{hostrule_is_star, "a wildcard for every host",
	 "name the hosts, or use network mode allow-all"},
	{hostrule_has_double_star, "'**' in a host rule",
	 "*.example.com already matches at any depth; add example.com for the domain itself"},
	{hostrule_has_leading_dot, "a leading '.'", "write *.example.com for everything below it"},
	{hostrule_has_star_port, "a wildcard for the port", "give one rule per port"},
	{hostrule_has_trailing_star, "a wildcard at the end",
	 "name the hosts; a wildcard can only be the first label, as in *.example.com"},
	{hostrule_has_inner_star, "a wildcard that is not the whole first label",
	 "a wildcard can only be the first label, as in *.example.com"},
};

/* Labels that registries of country domains use for what others have as top-level domains. */
static const char *const hostrule_registry_labels[] = {
	"ac", "co",  "com", "edu", "gob", "gov", "gouv", "gv",
	"go", "ltd", "mil", "ne",  "net", "nom", "or",   "org",
};

static int hostrule_raise(struct cordon_error *err, const char *text, size_t len,
			  const char *reason, const char *hint)
{
	struct buf shown = BUF_INIT(4096);
	int r;

	str_escape(&shown, text, len < 100 ? len : 100);
	r = cordon_fail(err, CORDON_E_INVALID, "host rule '%s': %s", buf_cstr(&shown), reason);
	buf_done(&shown);
	return cordon_hint(err, r, "%s", hint);
}

/* Is x in *.x a place where everybody can have a name? */
static bool hostrule_is_registry(const char *name)
{
	const char *dot = strchr(name, '.');
	size_t len;

	if (!dot)
		return true;
	if (strlen(dot + 1) != 2) /* a country */
		return false;
	len = (size_t)(dot - name);
	for (size_t i = 0; i < ARRAY_LEN(hostrule_registry_labels); i++)
		if (strlen(hostrule_registry_labels[i]) == len &&
		    memcmp(name, hostrule_registry_labels[i], len) == 0)
			return true;
	return false;
}

static int hostrule_check_wildcard(const char *text, size_t len, const struct host *base,
				   bool is_denial, struct cordon_error *err)
{
	if (base->kind != HOST_NAME)
		return hostrule_raise(err, text, len, "a wildcard before an address",
				      "give each address by itself");
	if (!is_denial && hostrule_is_registry(base->name))
		return hostrule_raise(err, text, len,
				      "a wildcard over a domain that everybody can register in",
				      "name the organisation's domain, as in *.example.com");
	return 0;
}

static int hostrule_read(const char *text, size_t len, bool is_denial, struct hostrule *ret,
			 struct cordon_error *err)
{
	struct hostrule rule;
	size_t skip;
	int r;

	for (size_t i = 0; len > 0 && len <= LIMIT_HOST_INPUT && i < ARRAY_LEN(hostrule_refused);
	     i++)
		if (hostrule_refused[i].holds(text, len))
			return hostrule_raise(err, text, len, hostrule_refused[i].reason,
					      hostrule_refused[i].hint);
	memset(&rule, 0, sizeof(rule));
	rule.is_wildcard = len >= 2 && memcmp(text, "*.", 2) == 0;
	skip = rule.is_wildcard ? 2 : 0;
	r = host_parse(text + skip, len - skip, HOST_PORT_ALLOWED, &rule.host, err);
	if (r < 0)
		return cordon_wrap(err, r, "host rule");
	if (rule.is_wildcard) {
		r = hostrule_check_wildcard(text, len, &rule.host, is_denial, err);
		if (r < 0)
			return r;
	}
	memcpy(ret, &rule, sizeof(rule));
	return 0;
}

int hostrule_parse(const char *text, size_t len, struct hostrule *ret, struct cordon_error *err)
{
	return hostrule_read(text, len, false, ret, err);
}

int hostrule_parse_denial(const char *text, size_t len, struct hostrule *ret,
			  struct cordon_error *err)
{
	return hostrule_read(text, len, true, ret, err);
}

static bool hostrule_has_port(const struct hostrule *rule, uint16_t port)
{
	return rule->host.port ? rule->host.port == port : port == 80 || port == 443;
}

static bool hostrule_has_host(const struct hostrule *rule, const struct host *host)
{
	return rule->is_wildcard ? host_is_below(host, &rule->host) : host_equal(host, &rule->host);
}

bool hostrule_match(const struct hostrule *rule, const struct host *host, uint16_t port)
{
	return hostrule_has_port(rule, port) && hostrule_has_host(rule, host);
}

bool hostrule_denies(const struct hostrule *rule, const struct host *host, uint16_t port)
{
	return (rule->host.port == 0 || rule->host.port == port) && hostrule_has_host(rule, host);
}

bool hostrule_covers(const struct hostrule *a, const struct hostrule *b)
{
	if (b->host.port ? !hostrule_has_port(a, b->host.port) : a->host.port != 0)
		return false;
	if (!a->is_wildcard)
		return !b->is_wildcard && host_equal(&a->host, &b->host);
	if (host_is_below(&b->host, &a->host))
		return true;
	return b->is_wildcard && host_equal(&a->host, &b->host);
}

void hostrule_format(const struct hostrule *rule, char ret_text[static HOSTRULE_FORMAT_SIZE])
{
	char host[HOST_FORMAT_SIZE];

	host_format(&rule->host, host);
	(void)snprintf(ret_text, HOSTRULE_FORMAT_SIZE, "%s%s", rule->is_wildcard ? "*." : "", host);
}
