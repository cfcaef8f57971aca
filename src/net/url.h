/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of an absolute URL: scheme, host and port, and nothing else.  Far stricter than
 * browsers: what two parsers could read differently (user names, backslashes, blanks, controls,
 * missing or extra slashes, an empty port) is refused instead of repaired.
 */
#pragma once

#include "net/host.h"

enum url_scheme { URL_HTTP, URL_HTTPS, URL_WS, URL_WSS, URL_SCHEME_COUNT };

const char *url_scheme_name(enum url_scheme scheme);
/* ret_host->port is the port of the URL or the scheme's default, never 0.  Outputs are untouched on
 * failure. */
CORDON_MUST_CHECK int url_host(const char *url, size_t len, enum url_scheme *ret_scheme,
			       struct host *ret_host, struct cordon_error *err);
