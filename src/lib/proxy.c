/* SPDX-License-Identifier: Apache-2.0 */
/* The egress proxy by itself: the outlet of src/core behind the border. */
#include "lib/lib.h"

#include "base/limits.h"
#include "core/outlet.h"
#include "net/devhosts.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(((struct cordon_proxy_answer *)NULL)->rule) == AUTHORITY_TEXT &&
		      sizeof(((struct cordon_proxy_answer *)NULL)->remedy) == AUTHORITY_TEXT,
	      "sizes differ");

struct cordon_proxy {
	struct outlet outlet;
	char *listen;
	char *unix_path;
	struct proxy_log_entry entry; /* that was got last */
};

DEFINE_FREEP(struct cordon_proxy, cordon_proxy_free)

int cordon_proxy_default_development(struct cordon_proxy_config *ret, struct cordon_error *err)
{
	const struct cordon_proxy_config config = {
		.struct_size = sizeof(config),
		.mode = "allowlist",
		.allowed = devhosts_allow,
		.blocked = devhosts_block,
	};
	int r;

	lib_enter(err);
	r = lib_struct_check(ret, "struct cordon_proxy_config", err);
	if (r == 0)
		lib_struct_out(ret, &config, sizeof(config));
	return lib_leave(r, err);
}

static int proxy_new(const struct cordon_proxy_config *c, struct cordon_proxy *p,
		     struct cordon_error *err)
{
	AUTO(strv_done) struct strv allow = {0};
	AUTO(strv_done) struct strv block = {0};
	AUTO(strv_done) struct strv networks = {0};
	struct outlet_options o = {.mode = AUTHORITY_ALLOWLIST,
				   .allow = &allow,
				   .block = &block,
				   .allow_private = &networks,
				   .connections = c->connections};
	int r = 0;

	if (c->mode && outlet_mode(c->mode, &o.mode) < 0)
		return cordon_hint(
			err, cordon_fail(err, CORDON_E_INVALID, "unknown mode '%.100s'", c->mode),
			"allowlist, blocklist, open or closed");
	if (c->listen && c->unix_path)
		return cordon_fail(err, CORDON_E_INVALID, "both listen and unix_path");
	r = lib_list(c->allowed, &allow, err);
	if (r == 0)
		r = lib_list(c->blocked, &block, err);
	if (r == 0)
		r = lib_list(c->allow_private, &networks, err);
	if (r == 0)
		r = outlet_new(&o, &p->outlet, err);
	if (r < 0)
		return r;
	p->listen = c->listen ? strdup(c->listen) : NULL;
	p->unix_path = c->unix_path ? strdup(c->unix_path) : NULL;
	return (c->listen && !p->listen) || (c->unix_path && !p->unix_path) ? cordon_nomem(err) : 0;
}

int cordon_proxy_new(const struct cordon_proxy_config *config, struct cordon_proxy **ret,
		     struct cordon_error *err)
{
	AUTO(cordon_proxy_freep) struct cordon_proxy *p = NULL;
	struct cordon_proxy_config c;
	int r;

	lib_enter(err);
	if (!config || !ret)
		return lib_leave(lib_missing(err, config ? "place for the proxy" : "configuration"),
				 err);
	r = lib_struct_in(&c, sizeof(c), config, "struct cordon_proxy_config", err);
	if (r < 0)
		return lib_leave(r, err);
	p = calloc(1, sizeof(*p));
	if (!p)
		return lib_leave(cordon_nomem(err), err);
	p->outlet = OUTLET_NONE;
	r = proxy_new(&c, p, err);
	if (r == 0)
		*ret = TAKE_PTR(p);
	return lib_leave(r, err);
}

int cordon_proxy_start(struct cordon_proxy *p, struct cordon_error *err)
{
	struct outlet_options o = {0};

	lib_enter(err);
	if (!p)
		return lib_leave(lib_missing(err, "proxy"), err);
	o.listen = p->listen;
	o.unix_path = p->unix_path;
	return lib_leave(outlet_start(&p->outlet, &o, err), err);
}

const char *cordon_proxy_address(const struct cordon_proxy *p)
{
	return p ? p->outlet.address : NULL;
}

int cordon_proxy_env(const struct cordon_proxy *p, char ***ret_env, struct cordon_error *err)
{
	AUTO(strv_done) struct strv env = {0};
	int r;

	lib_enter(err);
	if (!p || !ret_env)
		return lib_leave(lib_missing(err, p ? "place for the variables" : "proxy"), err);
	if (!p->outlet.address)
		return lib_leave(cordon_fail(err, CORDON_E_INVALID, "the proxy was not started"),
				 err);
	r = outlet_variables(&p->outlet, &env);
	r = r < 0 ? cordon_fail_leaf(err, r, "variables") : lib_pack(&env, ret_env, err);
	return lib_leave(r, err);
}

int cordon_proxy_is_allowed(const struct cordon_proxy *p, const char *host, unsigned port,
			    struct cordon_proxy_answer *ret, struct cordon_error *err)
{
	struct cordon_proxy_answer out = {.struct_size = sizeof(out)};
	struct authority_answer answer;
	int r = 0;

	lib_enter(err);
	if (!p || !host)
		return lib_leave(lib_missing(err, p ? "host" : "proxy"), err);
	if (ret)
		r = lib_struct_check(ret, "struct cordon_proxy_answer", err);
	if (r == 0 && port > UINT16_MAX)
		r = cordon_fail(err, CORDON_E_INVALID, "%u is not a port", port);
	if (r == 0)
		r = outlet_judge(&p->outlet, host, (uint16_t)port, &answer, err);
	if (r < 0)
		return lib_leave(r, err);
	out.allowed = answer.is_allowed;
	memcpy(out.rule, answer.rule, sizeof(out.rule));
	memcpy(out.remedy, answer.remedy, sizeof(out.remedy));
	if (ret)
		lib_struct_out(ret, &out, sizeof(out));
	return answer.is_allowed;
}

int cordon_proxy_get_log(struct cordon_proxy *p, struct cordon_proxy_entry *ret,
			 struct cordon_error *err)
{
	struct cordon_proxy_entry out = {.struct_size = sizeof(out)};
	uint64_t lost = 0;
	int r;

	lib_enter(err);
	if (!p)
		return lib_leave(lib_missing(err, "proxy"), err);
	r = lib_struct_check(ret, "struct cordon_proxy_entry", err);
	if (r < 0)
		return lib_leave(r, err);
	pool_heard(&p->outlet.pool);
	if (pool_next(&p->outlet.pool, &p->entry, &lost) == 0)
		return 0;
	out.time_ms = p->entry.wall_ms;
	out.method = p->entry.method;
	out.host = p->entry.host;
	out.port = p->entry.port;
	out.allowed = p->entry.is_allowed;
	out.status = p->entry.status;
	out.rule = p->entry.rule;
	out.remedy = p->entry.remedy;
	out.lost = lost;
	lib_struct_out(ret, &out, sizeof(out));
	return 1;
}

/* Is the i-th the first of its name? */
static bool proxy_is_first(const struct pool *pool, size_t i, const char *name)
{
	struct proxy_log_host h;

	for (size_t j = 0; j < i && pool_host(pool, j, &h); j++)
		if (strcmp(h.host, name) == 0)
			return false;
	return true;
}

int cordon_proxy_get_stats(const struct cordon_proxy *p, struct cordon_proxy_stats *ret,
			   struct cordon_error *err)
{
	struct cordon_proxy_stats out = {.struct_size = sizeof(out)};
	struct proxy_log_host h;
	struct pool_stats s;
	int r;

	lib_enter(err);
	if (!p)
		return lib_leave(lib_missing(err, "proxy"), err);
	r = lib_struct_check(ret, "struct cordon_proxy_stats", err);
	if (r < 0)
		return lib_leave(r, err);
	pool_stats(&p->outlet.pool, &s);
	out.allowed = s.allowed;
	out.blocked = s.blocked;
	out.failed = s.failed;
	out.bytes = s.bytes;
	for (size_t i = 0; pool_host(&p->outlet.pool, i, &h); i++)
		out.hosts += proxy_is_first(&p->outlet.pool, i, h.host);
	lib_struct_out(ret, &out, sizeof(out));
	return 0;
}

uint64_t cordon_proxy_requests(const struct cordon_proxy *p, const char *host)
{
	struct proxy_log_host h;
	struct host wanted;
	uint64_t n = 0;

	if (!p || !host || host_parse(host, strlen(host), 0, &wanted, NULL) < 0)
		return 0;
	for (size_t i = 0; pool_host(&p->outlet.pool, i, &h); i++)
		if (strcmp(h.host, wanted.name) == 0)
			n += h.count;
	return n;
}

void cordon_proxy_stop(struct cordon_proxy *p)
{
	if (p)
		outlet_stop(&p->outlet);
}

void cordon_proxy_free(struct cordon_proxy *p)
{
	if (!p)
		return;
	outlet_done(&p->outlet);
	free(p->listen);
	free(p->unix_path);
	free(p);
}
