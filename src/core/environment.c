/* SPDX-License-Identifier: Apache-2.0 */
/* See environment.h. */
#include "core/environment.h"

#include "base/limits.h"
#include "core/egress.h"
#include "core/egress_tls.h"
#include "core/grants.h"
#include "base/shield.h"

#include <string.h>

/* Kept from the caller; a final '*' stands for any ending. */
static const char *const environment_kept[] = {
	"PATH", "HOME", "USER",      "LOGNAME", "SHELL",    "LANG",
	"LC_*", "TERM", "COLORTERM", "TZ",      "NO_COLOR",
};

/* Ours alone: neither inherited nor set by a policy. */
static const char *const environment_own[] = {"CORDON_SANDBOX", "CORDON_ID"};

static bool environment_name_is(const char *entry, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (n && name[n - 1] == '*')
		return len >= n - 1 && strncmp(entry, name, n - 1) == 0;
	return len == n && strncmp(entry, name, n) == 0;
}

static bool environment_in(const char *entry, size_t len, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (environment_name_is(entry, len, names[i]))
			return true;
	return false;
}

static bool environment_is_passed(const struct policy *p, const char *entry, size_t len)
{
	for (size_t i = 0; i < p->env_pass.n; i++)
		if (environment_name_is(entry, len, p->env_pass.items[i].text))
			return true;
	return shield_is_off(SHIELD_SCRUB) ||
	       environment_in(entry, len, environment_kept, ARRAY_LEN(environment_kept));
}

static bool environment_is_set(const struct policy *p, const char *entry, size_t len)
{
	for (size_t i = 0; i < p->env_set.n; i++) {
		const struct word *w = p->env_set.records[i];

		if (environment_name_is(entry, len, w->name))
			return true;
	}
	return environment_in(entry, len, environment_own, ARRAY_LEN(environment_own));
}

static bool environment_has(const struct strv *v, const char *entry, size_t len)
{
	for (size_t i = 0; i < v->n; i++)
		if (strncmp(v->v[i], entry, len) == 0 && v->v[i][len] == '=')
			return true;
	return false;
}

static int environment_inherit(const struct policy *p, char *const *from, struct strv *ret)
{
	for (size_t i = 0; from && from[i]; i++) {
		const char *equals = strchr(from[i], '=');
		size_t len = equals ? (size_t)(equals - from[i]) : 0;
		int e;

		if (len == 0 || environment_is_set(p, from[i], len) ||
		    !environment_is_passed(p, from[i], len))
			continue;
		/* Twice the same name: one reader takes the first, another the last. */
		if (environment_has(ret, from[i], len))
			continue;
		e = strv_add(ret, from[i]);
		if (e < 0)
			return e;
	}
	return 0;
}

int environment_build(const struct policy *p, const struct request *r, char *const *from,
		      struct strv *ret, struct cordon_error *err)
{
	int e = environment_inherit(p, from, ret);

	for (size_t i = 0; e == 0 && i < p->env_set.n; i++) {
		const struct word *w = p->env_set.records[i];
		bool is_last = true;

		/* Of several values for one name the last one counts. */
		for (size_t j = i + 1; j < p->env_set.n && is_last; j++)
			is_last = strcmp(((const struct word *)p->env_set.records[j])->name,
					 w->name) != 0;
		if (is_last && !environment_in(w->name, strlen(w->name), environment_own,
					       ARRAY_LEN(environment_own)))
			e = strv_addf(ret, "%s=%s", w->name, w->value);
	}
	if (e == 0 && egress_is_needed(p))
		e = egress_environment(ret);
	if (e == 0 && egress_is_needed(p) && egress_tls_is_due(p))
		e = egress_tls_environment(ret);
	if (e == 0)
		e = grants_environment(p, from, ret);
	if (e == 0)
		e = strv_add(ret, "CORDON_SANDBOX=1");
	if (e == 0)
		e = strv_addf(ret, "CORDON_ID=%s", r->id);
	if (e == 0 && ret->n > LIMIT_ENV)
		return cordon_fail(err, CORDON_E_LIMIT, "more than %d environment variables",
				   LIMIT_ENV);
	return e < 0 ? cordon_fail_leaf(err, e, "environment") : 0;
}
