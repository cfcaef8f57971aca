/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts: the canonical form, and what a policy says about one. */
#include "lib/lib.h"

#include "core/reach.h"
#include "net/host.h"

#include <assert.h>
#include <string.h>

static_assert((int)CORDON_HOST_IPV6 == (int)HOST_IPV6 &&
		      (int)CORDON_HOST_KIND_COUNT == (int)HOST_KIND_COUNT,
	      "kinds differ");
static_assert(sizeof(((struct cordon_host *)NULL)->name) == HOST_TEXT_SIZE &&
		      sizeof(((struct cordon_host *)NULL)->text) == HOST_FORMAT_SIZE,
	      "sizes differ");
static_assert(sizeof(((struct cordon_host_answer *)NULL)->reason) ==
		      sizeof(((struct reach *)NULL)->reason),
	      "sizes differ");

int cordon_host_parse(const char *text, size_t len, struct cordon_host *ret,
		      struct cordon_error *err)
{
	struct cordon_host out = {.struct_size = sizeof(out)};
	struct host host;
	int r;

	lib_enter(err);
	if (!text)
		return lib_leave(lib_missing(err, "host"), err);
	r = lib_struct_check(ret, "struct cordon_host", err);
	if (r == 0)
		r = host_parse(text, len, HOST_PORT_ALLOWED, &host, err);
	if (r < 0)
		return lib_leave(r, err);
	out.kind = (enum cordon_host_kind)host.kind;
	out.port = host.port;
	memcpy(out.name, host.name, sizeof(out.name));
	host_format(&host, out.text);
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}

int cordon_host_allowed(const struct cordon_policy *p, const char *host, unsigned port,
			struct cordon_host_answer *ret, struct cordon_error *err)
{
	struct cordon_host_answer out = {.struct_size = sizeof(out)};
	struct reach reach;
	struct host parsed;
	int r;

	lib_enter(err);
	if (!p || !host)
		return lib_leave(lib_missing(err, p ? "host" : "policy"), err);
	r = lib_struct_check(ret, "struct cordon_host_answer", err);
	if (r == 0 && (port < 1 || port > UINT16_MAX))
		r = cordon_fail(err, CORDON_E_INVALID, "%u is not a port", port);
	if (r == 0)
		r = host_parse(host, strlen(host), /* flags= */ 0, &parsed, err);
	if (r == 0)
		r = reach_host(p->policy, &parsed, (uint16_t)port, &reach, err);
	if (r < 0)
		return lib_leave(r, err);
	out.allowed = reach.is_allowed;
	memcpy(out.reason, reach.reason, sizeof(out.reason));
	lib_struct_out(ret, &out, sizeof(out));
	return reach.is_allowed;
}
