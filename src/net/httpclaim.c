/* SPDX-License-Identifier: Apache-2.0 */
/* See httpclaim.h.  Pure. */
#include "net/httpclaim.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define HTTPCLAIM_NAME_MAX 40

/* Small letters, with '-' for whatever is neither letter nor digit. */
static const struct httpclaim_row {
	const char *name;
	const char *who; /* believes it */
} httpclaim_fields[] = {
	{"x-http-method-override", "Rack, Symfony, Laravel, Spring, Express, Google's interfaces"},
	{"x-http-method", "Microsoft's interfaces, Express"},
	{"x-method-override", "Express, Django and Flask behind their middleware"},
	{"x-http-verb-override", "interfaces of their own making"},
	{"x-forwarded-method", "who reads what Traefik and Caddy ask an authority with"},
	{"x-original-method", "who reads what nginx asks an authority with"},
	{"x-original-url", "IIS, Symfony, Zend"},
	{"x-rewrite-url", "IIS, Symfony, Zend"},
	{"x-original-uri", "who reads what nginx asks an authority with"},
	{"x-original-path", "proxies of their own making"},
	{"x-forwarded-uri", "who reads what Traefik and Caddy ask an authority with"},
	{"x-forwarded-url", "proxies of their own making"},
	{"x-forwarded-path", "ASP.NET behind its middleware, API gateways"},
	{"x-forwarded-prefix", "Spring, ASP.NET, Traefik's and Zuul's servers, Werkzeug"},
	{"x-forwarded-context", "Spring Cloud"},
	{"x-envoy-original-path", "Envoy's servers"},
	{"x-override-url", "Symfony's relatives"},
	{"x-request-uri", "servers of WSGI behind proxies"},
	{"x-script-name", "servers of WSGI"},
	{"script-name", "Gunicorn, from whom it trusts"},
	{"path-info", "Gunicorn, from whom it trusts"},
	{"destination", "WebDAV: the other path of COPY and MOVE"},
	{"x-forwarded-host", "nearly all frameworks behind proxies"},
	{"x-forwarded-server", "Apache's servers"},
	{"x-original-host", "Azure's gateways"},
	{"x-http-host-override", "proxies of their own making"},
	{"x-host", "proxies of their own making"},
	{"forwarded", "RFC 7239: its host"},
};

static const struct httpclaim_row httpclaim_parameters[] = {
	{"-method", "Rack, Symfony, Laravel, Spring, Express: _method; Slim: _METHOD"},
	{"-httpmethod", "Salesforce: _HttpMethod"},
	{"x-http-method-override", "Google's interfaces of old"},
	{"x-method-override", "their relatives"},
};

static int httpclaim_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Where fields and parameters become variables, what stands between their words is the same. */
static const char *httpclaim_find(const struct httpclaim_row *rows, size_t n, struct http_slice s)
{
	char plain[HTTPCLAIM_NAME_MAX];

	if (s.len > sizeof(plain))
		return NULL;
	for (size_t i = 0; i < s.len; i++)
		plain[i] = (char)(isalnum((unsigned char)s.p[i]) ? s.p[i] : '-');
	for (size_t i = 0; i < n; i++)
		if (http_slice_is((struct http_slice){.p = plain, .len = s.len}, rows[i].name))
			return rows[i].name;
	return NULL;
}

const char *httpclaim_field(const struct http_head *head)
{
	const char *name = NULL;

	for (size_t i = 0; !name && i < head->n; i++)
		name = httpclaim_find(httpclaim_fields, ARRAY_LEN(httpclaim_fields),
				      head->fields[i].name);
	return name;
}

/* One parameter: what stands before its '=', decoded.  One that is too long for a name has none of ours. */
static const char *httpclaim_parameter(const char *p, size_t len)
{
	char name[HTTPCLAIM_NAME_MAX];
	size_t n = 0;

	while (len > 0 && (*p == '+' || *p == ' ')) { /* PHP passes blanks by */
		p++;
		len--;
	}
	for (size_t i = 0; i < len && p[i] != '='; i++) {
		char c = p[i];

		if (n == sizeof(name))
			return NULL;
		if (c == '%' && len - i >= 3) {
			c = (char)(httpclaim_digit(p[i + 1]) << 4 | httpclaim_digit(p[i + 2]));
			i += 2;
		}
		if (c == '[') /* of a list */
			break;
		if (n > 0 || c != ' ')
			name[n++] = c;
	}
	return httpclaim_find(httpclaim_parameters, ARRAY_LEN(httpclaim_parameters),
			      (struct http_slice){.p = name, .len = n});
}

const char *httpclaim_query(struct http_slice target)
{
	const char *end = target.p + target.len;
	const char *p = memchr(target.p, '?', target.len);
	const char *name = NULL;

	while (!name && p && p < end) {
		size_t len = 0;

		p++;
		while (p + len < end && p[len] != '&' && p[len] != ';' && p[len] != '?')
			len++;
		name = httpclaim_parameter(p, len);
		p += len;
	}
	return name;
}

bool httpclaim_is_safe(const char *method)
{
	static const char *const safe[] = {"GET", "HEAD", "OPTIONS", "TRACE"};

	for (size_t i = 0; i < ARRAY_LEN(safe); i++)
		if (strcmp(method, safe[i]) == 0)
			return true;
	return false;
}
