/* SPDX-License-Identifier: Apache-2.0 */
/* See grant.h. */
#include "secrets/grant.h"

#include "base/limits.h"
#include "base/str.h"
#include "secrets/store.h"

#include <errno.h>
#include <string.h>

enum injection secret_injection(const struct policy *p)
{
	return policy_has(p, POLICY_INJECTION) ? (enum injection)p->injection
					       : INJECT_HOST_BOUNDARY;
}

static void grant_done(struct secret_grant *g)
{
	locked_done(&g->memory);
	free(g->name);
	free(g->hosts);
	strv_done(&g->method_list);
	strv_done(&g->path_list);
}

void secret_grants_done(struct secret_grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		grant_done(&g->items[i]);
	free(g->items);
	*g = (struct secret_grants){0};
}

static int grant_host(const char *text, const char *name, struct hostrule *ret,
		      struct cordon_error *err)
{
	int r = hostrule_parse(text, strlen(text), ret, err);

	return r < 0 ? cordon_wrap(err, r, "secret '%s'", name) : 0;
}

/* Is what the grant asks for within what the secret is bound to? */
static int grant_within(const struct vault_row *row, const struct hostrule *asked, const char *text,
			struct cordon_error *err)
{
	struct buf bound = BUF_INIT(512);
	int r = 0;

	for (size_t i = 0; i < row->binding.hosts.n; i++) {
		struct hostrule have;

		r = grant_host(row->binding.hosts.v[i], row->name, &have, err);
		if (r < 0 || hostrule_covers(&have, asked))
			break;
		buf_printf(&bound, "%s%s", i ? ", " : "", row->binding.hosts.v[i]);
		if (i + 1 == row->binding.hosts.n)
			r = cordon_hint(err,
					cordon_fail(err, CORDON_E_REFUSED,
						    "secret '%s' may not go to '%.200s'", row->name,
						    text),
					"it is bound to %.300s; 'cordon secret set' binds it anew",
					buf_cstr(&bound));
	}
	buf_done(&bound);
	return r;
}

/* The hosts of the grant, which the binding covers; those of the binding where the grant names none. */
static int grant_hosts(const struct grant *asked, const struct vault_row *row,
		       struct secret_grant *g, struct cordon_error *err)
{
	size_t n = asked->hosts.n ? asked->hosts.n : row->binding.hosts.n;
	int r = 0;

	if (n == 0)
		return 0;
	g->hosts = calloc(n, sizeof(*g->hosts));
	if (!g->hosts)
		return cordon_nomem(err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const char *text = asked->hosts.n ? asked->hosts.items[i].text
						  : row->binding.hosts.v[i];

		r = grant_host(text, row->name, &g->hosts[i], err);
		if (r == 0 && asked->hosts.n)
			r = grant_within(row, &g->hosts[i], text, err);
	}
	g->n_hosts = n;
	return r;
}

static int grant_copy(const struct strv *from, struct strv *to, char *const **ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++)
		r = strv_add(to, from->v[i]);
	*ret = to->n ? to->v : NULL;
	return r;
}

static int grant_value(const struct store *s, const struct vault_row *row, enum injection how,
		       struct secret_grant *g, struct cordon_error *err)
{
	size_t before = how == INJECT_ENVIRONMENT ? strlen(row->name) + 1 : 0;
	int r = store_value(s, row, before,
			    how == INJECT_HOST_BOUNDARY ? LOCKED_STAYS : LOCKED_INHERITS,
			    &g->memory, err);

	if (r < 0)
		return r;
	g->value = g->memory.data + before;
	g->len = row->len;
	if (how != INJECT_ENVIRONMENT)
		return 0;
	if (memchr(g->value, '\0', g->len))
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_INVALID,
				    "secret '%s' holds a NUL byte, which no variable can",
				    row->name),
			"secrets.injection: file-mount can");
	memcpy(g->memory.data, row->name, before - 1);
	g->memory.data[before - 1] = '=';
	g->entry = g->memory.data;
	return 0;
}

static int grant_resolve(const struct store *s, const struct grant *asked, enum injection how,
			 struct secret_grant *g, struct cordon_error *err)
{
	const struct vault_row *row = vault_find(&s->vault, asked->name);
	int r;

	if (!row)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_NOT_FOUND, "no secret '%.100s'",
					       asked->name),
				   "'cordon secret set %.100s' stores it", asked->name);
	if (how == INJECT_ENVIRONMENT && strpbrk(row->name, "-."))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "secret '%s' cannot be the name of a variable",
					       row->name),
				   "store it under a name of letters, digits and '_'");
	g->name = strdup(row->name);
	r = g->name ? 0 : -ENOMEM;
	if (r == 0)
		r = grant_copy(&row->binding.methods, &g->method_list, &g->methods);
	if (r == 0)
		r = grant_copy(&row->binding.paths, &g->path_list, &g->paths);
	if (r < 0)
		return cordon_fail_leaf(err, r, "secret '%s'", row->name);
	r = grant_hosts(asked, row, g, err);
	return r < 0 ? r : grant_value(s, row, how, g, err);
}

static bool grant_is_same(const struct grant *a, const struct grant *b)
{
	if (a->hosts.n != b->hosts.n)
		return false;
	for (size_t i = 0; i < a->hosts.n; i++)
		if (strcmp(a->hosts.items[i].text, b->hosts.items[i].text) != 0)
			return false;
	return true;
}

/* Is it granted before, in the same words?  Two grants that differ are an error: of the one that binds tighter
 * nobody could say whether it was meant to. */
static int grant_is_again(const struct policy *p, size_t at, struct cordon_error *err)
{
	const struct grant *asked = p->secret_grants.records[at];

	for (size_t i = 0; i < at; i++) {
		const struct grant *other = p->secret_grants.records[i];

		if (strcmp(other->name, asked->name) != 0)
			continue;
		if (grant_is_same(other, asked))
			return 1;
		return cordon_fail(err, CORDON_E_INVALID,
				   "secret '%.100s' is granted twice, for different hosts",
				   asked->name);
	}
	return 0;
}

static int grants_read(const struct policy *p, const struct store *s, struct secret_grants *g,
		       struct cordon_error *err)
{
	g->items = calloc(p->secret_grants.n, sizeof(*g->items));
	g->is_locked = true;
	if (!g->items)
		return cordon_nomem(err);
	for (size_t i = 0; i < p->secret_grants.n; i++) {
		struct secret_grant *item = &g->items[g->n];
		int r = grant_is_again(p, i, err);

		if (r < 0)
			return r;
		if (r > 0)
			continue;
		g->n++;
		r = grant_resolve(s, p->secret_grants.records[i], g->injection, item, err);
		if (r < 0)
			return r;
		g->is_locked &= item->memory.is_locked;
	}
	return 0;
}

int secret_grants_resolve(const struct policy *p, const char *state_dir, struct secret_grants *ret,
			  struct cordon_error *err)
{
	struct secret_grants g = {.injection = secret_injection(p)};
	struct store s = STORE_NONE;
	int r = 0;

	if (p->secret_grants.n > LIMIT_SECRETS)
		r = cordon_fail(err, CORDON_E_LIMIT, "more than %d secrets in one call",
				LIMIT_SECRETS);
	if (r == 0 && p->secret_grants.n > 0) {
		r = store_open(state_dir, &s, err);
		if (r == 0 && store_exists(&s))
			r = store_unlock(&s, err);
		if (r == 0)
			r = grants_read(p, &s, &g, err);
		store_done(&s);
	}
	if (r < 0)
		secret_grants_done(&g);
	else
		*ret = g;
	return r;
}
