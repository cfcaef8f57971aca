/* SPDX-License-Identifier: Apache-2.0 */
/* See outlet.h. */
#include "core/outlet.h"

#include "base/fd.h"
#include "base/io.h"
#include "base/limits.h"
#include "core/egress_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int outlet_mode(const char *word, enum authority_mode *ret)
{
	static const char *const words[AUTHORITY_MODE_COUNT] = {
		[AUTHORITY_CLOSED] = "closed",
		[AUTHORITY_ALLOWLIST] = "allowlist",
		[AUTHORITY_BLOCKLIST] = "blocklist",
		[AUTHORITY_OPEN] = "open",
	};

	for (size_t i = 0; i < AUTHORITY_MODE_COUNT; i++)
		if (strcmp(words[i], word) == 0) {
			*ret = (enum authority_mode)i;
			return 0;
		}
	return -EINVAL;
}

/* A list of hosts as entries that are named "WHAT 'HOST'".  Gives the array. */
static int outlet_entries(const struct strv *list, bool is_denial, struct strv *strings,
			  struct authority_entry **ret, size_t *ret_n, struct cordon_error *err)
{
	const char *what = is_denial ? "block" : "allow";
	size_t n = list ? list->n : 0;
	struct authority_entry *entries = calloc(n + 1, sizeof(*entries));
	int r = 0;

	*ret = entries;
	*ret_n = 0;
	if (!entries)
		return cordon_nomem(err);
	if (n > LIMIT_POLICY_ITEMS)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d hosts", LIMIT_POLICY_ITEMS);
	for (size_t i = 0; i < n; i++) {
		r = is_denial
			    ? hostrule_parse_denial(list->v[i], strlen(list->v[i]),
						    &entries[i].host, err)
			    : hostrule_parse(list->v[i], strlen(list->v[i]), &entries[i].host, err);
		if (r < 0)
			return cordon_wrap(err, r, "%s", what);
		if (strv_addf(strings, "%s '%.250s'", what, list->v[i]) < 0)
			return cordon_nomem(err);
		entries[i].name = strings->v[strings->n - 1];
	}
	*ret_n = n;
	return 0;
}

static int outlet_networks(const struct strv *list, struct egress_call *call,
			   struct cordon_error *err)
{
	size_t n = list ? list->n : 0;

	call->exceptions = calloc(n + 1, sizeof(*call->exceptions));
	if (!call->exceptions)
		return cordon_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int r = addr_cidr_parse(list->v[i], &call->exceptions[i], err);

		if (r < 0)
			return cordon_wrap(err, r, "allow-private");
	}
	call->authority.exceptions = call->exceptions;
	call->authority.n_exceptions = n;
	return 0;
}

/* A list that nothing would look at is a mistake: somebody means it. */
static int outlet_check(const struct outlet_options *o, struct cordon_error *err)
{
	if (o->mode != AUTHORITY_ALLOWLIST && !o->policy && o->allow && o->allow->n > 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "allowed hosts mean nothing in this mode"),
				   "use the mode allowlist, or leave them out");
	/* Placeholders are for what cannot hold a value: a sandbox. */
	if (o->policy && egress_secrets_are_due(o->policy))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_UNSUPPORTED,
					       "the policy grants secrets at the boundary"),
				   "cordon run puts them in; give the proxy a policy without "
				   "secrets.grants");
	if (o->ca_file && (!o->policy || !egress_tls_is_due(o->policy)))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "a file for certificates means nothing here"),
				   "TLS ends in the proxy where network.egress of the policy "
				   "names methods or paths");
	if (o->connections > OUTLET_CONNECTIONS_MAX)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d connections",
				   OUTLET_CONNECTIONS_MAX);
	return 0;
}

int outlet_new(const struct outlet_options *o, struct outlet *ret, struct cordon_error *err)
{
	struct egress_call *call = &ret->call;
	size_t n = 0;
	int r;

	*ret = OUTLET_NONE;
	r = outlet_check(o, err);
	if (r < 0)
		return r;
	ret->connections = o->connections ? o->connections : OUTLET_CONNECTIONS;
	if (o->policy) {
		r = egress_authority(o->policy, call, err);
	} else {
		call->authority.mode = o->mode;
		call->authority.opens_private = o->opens_private;
		r = outlet_entries(o->allow, false, &call->strings, &call->allowed, &n, err);
		call->authority.allowed = call->allowed;
		call->authority.n_allowed = n;
		if (r == 0)
			r = outlet_networks(o->allow_private, call, err);
	}
	call->authority.is_alone = true;
	if (r == 0)
		r = outlet_entries(o->block, true, &call->strings, &ret->blocked, &n, err);
	call->authority.blocked = ret->blocked;
	call->authority.n_blocked = r == 0 ? n : 0;
	return r;
}

/* What programs that use it have to trust.  The keys stay in the processes. */
static int outlet_bundle(struct outlet *o, const char *trust, const char *path,
			 struct cordon_error *err)
{
	struct buf bundle;
	int r = egress_tls_bundle(trust, o->pool.workers, o->pool.n, &bundle, err);

	if (r < 0)
		return r;
	r = io_write_file_at(AT_FDCWD, path, bundle.data, bundle.len, 0644);
	buf_done(&bundle);
	if (r < 0)
		return cordon_fail_leaf(err, r, "write '%s'", path);
	o->ca_path = realpath(path, NULL);
	return o->ca_path ? 0 : cordon_fail_errno(err, errno, "'%s'", path);
}

int outlet_start(struct outlet *o, const struct outlet_options *options, struct cordon_error *err)
{
	struct proxy_options po = {.authority = &o->call.authority, .limits = PROXY_LIMITS};
	int r;

	if (o->is_started)
		return cordon_fail(err, CORDON_E_INVALID, "the proxy was started before");
	po.ends_tls = options->ca_file != NULL;
	r = po.ends_tls ? egress_tls_trust(&po.trust, err) : 0;
	if (r < 0)
		return r;
	r = outlet_listen(options->listen, options->unix_path, &o->listener, &o->address, err);
	if (r < 0)
		return r;
	o->is_started = true;
	if (options->unix_path) {
		o->unix_path = strdup(o->address);
		if (!o->unix_path)
			return cordon_nomem(err);
	}
	po.limits.connections = o->connections;
	r = pool_start(&po, o->listener, &o->pool, err);
	o->listener =
		fd_close(o->listener); /* it is theirs: nobody waits at it when they are gone */
	if (r == 0 && po.ends_tls)
		r = outlet_bundle(o, po.trust, options->ca_file, err);
	return r;
}

int outlet_judge(const struct outlet *o, const char *host, uint16_t port,
		 struct authority_answer *ret, struct cordon_error *err)
{
	const struct authority *a = &o->call.authority;
	struct host h;
	int r = host_parse(host, strlen(host), HOST_PORT_ALLOWED, &h, err);

	if (r < 0)
		return r;
	if (h.port && port && h.port != port)
		return cordon_fail(err, CORDON_E_INVALID, "two ports: %u and %u", h.port, port);
	port = h.port ? h.port : port ? port : 443;
	h.port = 0;
	authority_host(a, &h, port, ret);
	if (ret->is_allowed && h.kind != HOST_NAME)
		authority_address(a, &h, h.addr,
				  authority_minds_own(a, h.addr) && addr_is_own_host(h.addr) != 0,
				  ret);
	return 0;
}

int outlet_variables(const struct outlet *o, struct strv *ret)
{
	int r = o->unix_path || !o->address ? 0 : egress_variables(ret, o->address);

	return r < 0 || !o->ca_path ? r : egress_tls_name(ret, o->ca_path);
}

void outlet_stop(struct outlet *o)
{
	o->listener = fd_close(o->listener);
	/* Before they go: nobody comes to a socket without them.  Once: the next at that path is somebody else's. */
	if (o->unix_path && !o->is_unlinked)
		o->is_unlinked = unlink(o->unix_path) == 0 || errno == ENOENT;
	pool_stop(&o->pool);
}

void outlet_done(struct outlet *o)
{
	outlet_stop(o);
	pool_done(&o->pool);
	egress_done(&o->call);
	free(o->blocked);
	free(o->address);
	free(o->unix_path);
	free(o->ca_path);
	*o = OUTLET_NONE;
}
