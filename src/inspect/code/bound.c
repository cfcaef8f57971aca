/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A secret of the environment was put there for a host; sent to one that its own grant names, or that the policy allows
 * for everything, it does what it is for.
 * Where a call sends is what its own URL says, in the place where the function takes it: an address in any other
 * argument is no word for it, and neither is one that a proxy stands in front of.
 */
#include "inspect/code/scan.h"

#include "base/mem.h"
#include "inspect/allow.h"

#include <ctype.h>
#include <string.h>

/* Where the URL of a call is.  What is not here, such as a socket, does not say in its arguments where it sends. */
static int bound_position(const char *name)
{
	static const struct {
		const char *name;
		int position;
	} calls[] = {
		{"requests.post", 0},
		{"requests.put", 0},
		{"requests.get", 0},
		{"requests.patch", 0},
		{"requests.request", 1},
		{"httpx.post", 0},
		{"httpx.get", 0},
		{"urllib.request.urlopen", 0},
		{"urllib.request.Request", 0},
		{"urllib2.urlopen", 0},
		{"urlopen", 0},
		{"aiohttp.ClientSession().post", 0},
		{"net/http.Post", 0},
		{"net/http.PostForm", 0},
		{"net/http.Get", 0},
		{"net/http.NewRequest", 1},
		{"net/http.NewRequestWithContext", 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].position;
	return -1;
}

/* A scheme and "://", behind blanks. */
static bool bound_is_url(const struct code_value *v)
{
	size_t i = 0, start;

	if (!v->str)
		return false;
	while (i < v->len && (unsigned char)v->str[i] <= ' ')
		i++;
	start = i;
	while (i < v->len && (isalnum((unsigned char)v->str[i]) || memchr("+-.", v->str[i], 3)))
		i++;
	return i > start && v->len - i >= 3 && memcmp(v->str + i, "://", 3) == 0;
}

/* Has each variable that the flags name a grant for the host of the URL? */
static bool bound_is_granted(const struct code_scan *s, unsigned flags,
			     const struct code_value *url)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= CODE_VARIABLES; i++) {
		if (!(flags & CODE_VARIABLE(i)))
			continue;
		n++;
		if (!allow_secret_url(s->context->policy,
				      i < s->n_variables ? s->variables[i] : NULL, url->str,
				      url->len, url->is_constant))
			return false;
	}
	return n > 0;
}

bool code_is_for_host(const struct code_scan *s, const struct code_call *c)
{
	int position = bound_position(c->name);
	const struct code_argument *url = position < 0 ? NULL : code_arg(s, c, "url", position);
	unsigned all = 0;

	/* What a splat gives, and what is behind the last argument that is looked at, is not known. */
	if (!s->context || !s->context->policy || !url || c->has_splat || c->n == CODE_ARGS_MAX)
		return false;
	for (unsigned i = 0; i < c->n; i++) {
		const struct code_argument *a = &c->args[i];
		unsigned flags = a->value->flags;

		all |= flags;
		/* A credential out of a file is for nobody. */
		if ((flags & CODE_FROM_SECRET) &&
		    (!(flags & CODE_FROM_ENV) || (flags & CODE_FROM_FILE)))
			return false;
		if (a != url && bound_is_url(a->value))
			return false;
		if (a->keyword != CODE_NO_NODE && (code_is(s->tree, a->keyword, "proxies") ||
						   code_is(s->tree, a->keyword, "proxy")))
			return false;
	}
	return url->value->str && bound_is_granted(s, all, url->value);
}
