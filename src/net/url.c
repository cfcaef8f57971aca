/* SPDX-License-Identifier: Apache-2.0 */
/* Reads "scheme://host[:port]" off the front of a URL; see url.h for what is refused. */
#include "net/url.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

static const struct {
	const char *name;
	uint16_t port;
} url_schemes[] = {
	[URL_HTTP] = {"http", 80},
	[URL_HTTPS] = {"https", 443},
	[URL_WS] = {"ws", 80},
	[URL_WSS] = {"wss", 443},
};
static_assert(ARRAY_LEN(url_schemes) == URL_SCHEME_COUNT, "one row per scheme");

const char *url_scheme_name(enum url_scheme scheme)
{
	return (size_t)scheme < ARRAY_LEN(url_schemes) ? url_schemes[scheme].name : "unknown";
}

/* What must not be anywhere in a URL, because some reader strips or rewrites it. */
static const char *url_bad_byte(const char *url, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)url[i];

		if (c < 0x20 || c == 0x7f)
			return "a control character";
		if (c == ' ')
			return "a blank";
		if (c == '\\')
			return "a backslash";
	}
	return utf8_is_valid(url, len) ? NULL : "not valid UTF-8";
}

/* The length of the scheme, 0 when it is none of ours. */
static size_t url_read_scheme(const char *url, size_t len, enum url_scheme *ret_scheme)
{
	for (size_t i = 0; i < ARRAY_LEN(url_schemes); i++) {
		size_t n = strlen(url_schemes[i].name);

		if (len > n && url[n] == ':' && strncasecmp(url, url_schemes[i].name, n) == 0) {
			*ret_scheme = (enum url_scheme)i;
			return n;
		}
	}
	return 0;
}

int url_host(const char *url, size_t len, enum url_scheme *ret_scheme, struct host *ret_host,
	     struct cordon_error *err)
{
	enum url_scheme scheme = URL_HTTP;
	struct host host;
	const char *bad;
	size_t start;
	size_t end;
	int r;

	if (len > LIMIT_URL_BYTES)
		return cordon_fail(err, CORDON_E_LIMIT, "url: longer than %d bytes",
				   LIMIT_URL_BYTES);
	bad = url_bad_byte(url, len);
	if (bad)
		return cordon_fail(err, CORDON_E_INVALID, "url: %s", bad);
	start = url_read_scheme(url, len, &scheme);
	if (start == 0) {
		r = cordon_fail(err, CORDON_E_INVALID,
				"url: the scheme is not http, https, ws or wss");
		return cordon_hint(err, r, "write an absolute URL, such as https://example.com/");
	}
	if (len < start + 3 || memcmp(url + start, "://", 3) != 0)
		return cordon_fail(err, CORDON_E_INVALID, "url: no '//' after the scheme");
	start += 3;
	for (end = start; end < len && !strchr("/?#", url[end]);)
		end++;
	if (end == start)
		return cordon_fail(err, CORDON_E_INVALID, "url: no host");
	r = host_parse(url + start, end - start, HOST_PORT_ALLOWED | HOST_BRACKETS_REQUIRED, &host,
		       err);
	if (r < 0)
		return cordon_wrap(err, r, "url");
	if (host.port == 0)
		host.port = url_schemes[scheme].port;
	*ret_scheme = scheme;
	memcpy(ret_host, &host, sizeof(host));
	return 0;
}
