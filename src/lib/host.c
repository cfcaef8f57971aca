/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts: the canonical form, and what a policy says about one. */
#include "lib/lib.h"

#include "base/limits.h"
#include "core/why.h"
#include "net/host.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert((int)CORDON_HOST_IPV6 == (int)HOST_IPV6 &&
		      (int)CORDON_HOST_KIND_COUNT == (int)HOST_KIND_COUNT,
	      "kinds differ");
static_assert(sizeof(((struct cordon_host *)NULL)->name) == HOST_TEXT_SIZE &&
		      sizeof(((struct cordon_host *)NULL)->text) == HOST_FORMAT_SIZE,
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

static void host_reason(const struct policy *p, const struct why *why, char *ret, size_t size)
{
	struct buf from = BUF_INIT(LIMIT_PATH_BYTES * 2);

	policy_origin_text(p, &why->origin, &from);
	/* A person reads it: what does not fit is cut. */
	(void)snprintf(ret, size, "%s (%s)", buf_cstr(&why->rule), buf_cstr(&from));
	buf_done(&from);
}

static int host_ask(const struct policy *p, const char *host, unsigned port,
		    struct cordon_host_answer *ret, struct cordon_error *err)
{
	char text[HOST_FORMAT_SIZE];
	struct host parsed;
	struct why why;
	int r;

	if (port < 1 || port > UINT16_MAX)
		return cordon_fail(err, CORDON_E_INVALID, "%u is not a port", port);
	r = host_parse(host, strlen(host), /* flags= */ 0, &parsed, err);
	if (r < 0)
		return r;
	parsed.port = (uint16_t)port;
	host_format(&parsed, text);
	r = why_host(p, text, &why, err);
	if (r < 0)
		return r;
	ret->allowed = why.decision == WHY_ALLOW;
	host_reason(p, &why, ret->reason, sizeof(ret->reason));
	why_done(&why);
	return ret->allowed;
}

int cordon_host_allowed(const struct cordon_policy *p, const char *host, unsigned port,
			struct cordon_host_answer *ret, struct cordon_error *err)
{
	struct cordon_host_answer out = {.struct_size = sizeof(out)};
	int r;

	lib_enter(err);
	if (!p || !host)
		return lib_leave(lib_missing(err, p ? "host" : "policy"), err);
	r = lib_struct_check(ret, "struct cordon_host_answer", err);
	if (r == 0)
		r = host_ask(p->policy, host, port, &out, err);
	if (r < 0)
		return lib_leave(r, err);
	lib_struct_out(ret, &out, sizeof(out));
	return lib_leave(r, err);
}
