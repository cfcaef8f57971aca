/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else a request says about what it asks for.  A rule by method and path looks at the request line; servers,
 * frameworks and the proxies in front of them also take a method, a path or a host from fields and from the query.
 * Where such rules count, a request that has one of them is refused: nobody here knows whom the server believes.
 *
 * Left out on purpose: fields about the client (X-Forwarded-For, -Proto, -Port, X-Real-IP), which change neither; and
 * `_method` in a body, for which a form would have to be read to its end before any of it is sent.
 */
#pragma once

#include "net/httphead.h"

/* The name of the first field that names another method, path or host; NULL: there is none.  A constant. */
const char *httpclaim_field(const struct http_head *head);
/* The same for a parameter of the query of a target that names another method. */
const char *httpclaim_query(struct http_slice target);
/* May a body stand in a request with this method only by accident: is it one that asks and changes nothing?
 * (RFC 9110, 9.2.1.)  DELETE is none: who allows it allows a change, and interfaces are in use that want a body there. */
bool httpclaim_is_safe(const char *method);
