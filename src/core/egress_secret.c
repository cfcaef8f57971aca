/* SPDX-License-Identifier: Apache-2.0 */
/* See egress_secret.h. */
#include "core/egress_secret.h"

#include "base/mem.h"
#include "core/egress.h"
#include "core/judge.h"
#include "core/output.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define EGRESS_SECRET_RANDOM 16 /* bytes: nobody guesses it, and nothing has it by accident */
#define EGRESS_SECRET_NAME 64   /* of the name that is shown */

bool egress_secrets_are_due(const struct policy *p)
{
	return p->secret_grants.n > 0 && secret_injection(p) == INJECT_HOST_BOUNDARY;
}

bool egress_secrets_are_sought(const struct policy *p)
{
	return egress_is_needed(p) && (p->secret_grants.n > 0 || output_looks_for_leaks(p));
}

static int egress_secret_placeholder(const char *name, struct strv *out)
{
	uint8_t bytes[EGRESS_SECRET_RANDOM];
	char shown[EGRESS_SECRET_NAME + 1];
	char hex[2 * EGRESS_SECRET_RANDOM + 1];
	size_t n = 0;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (; name[n] && n < EGRESS_SECRET_NAME; n++)
		shown[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
	shown[n] = '\0';
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return strv_addf(out, "cordon-secret-%s-%s", shown, hex);
}

static int egress_secret_check(const struct secret_grant *g, struct cordon_error *err)
{
	if (g->n_hosts == 0)
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "secret '%s' is bound to no host", g->name),
				   "--secret %s@HOST, or another injection", g->name);
	if (g->len == 0 || g->len > BOUNDARY_VALUE_MAX)
		return cordon_fail(err, CORDON_E_LIMIT,
				   "secret '%s' is empty or longer than %d bytes", g->name,
				   BOUNDARY_VALUE_MAX);
	if (memchr(g->value, '\0', g->len))
		return cordon_hint(err,
				   cordon_fail(err, CORDON_E_INVALID,
					       "secret '%s' holds a NUL byte", g->name),
				   "such a one can only be a file: injection: file-mount");
	return 0;
}

/* Is the value, which the call has, looked for in what leaves? */
static bool egress_secret_is_sought(const struct policy *p, const struct secret_grant *g)
{
	return (g->n_hosts > 0 || output_looks_for_leaks(p)) && g->len >= BOUNDARY_FORM_MIN &&
	       g->len <= BOUNDARY_VALUE_MAX && !memchr(g->value, '\0', g->len);
}

int egress_secrets_make(const struct policy *p, const struct secret_grants *grants,
			struct egress_secrets *ret, struct cordon_error *err)
{
	bool is_inside = grants->injection != INJECT_HOST_BOUNDARY;

	*ret = (struct egress_secrets){0};
	if (grants->n == 0 || (is_inside && !egress_is_needed(p)))
		return 0;
	if (grants->n > BOUNDARY_SECRETS_MAX)
		return cordon_fail(err, CORDON_E_LIMIT,
				   "more than %d secrets in a call with a network",
				   BOUNDARY_SECRETS_MAX);
	ret->items = calloc(grants->n, sizeof(*ret->items));
	if (!ret->items)
		return cordon_nomem(err);
	for (size_t i = 0; i < grants->n; i++) {
		const struct secret_grant *g = &grants->items[i];
		int r = is_inside ? 0 : egress_secret_check(g, err);

		if (r < 0)
			return r;
		if (is_inside && !egress_secret_is_sought(p, g))
			continue;
		if (!is_inside)
			r = egress_secret_placeholder(g->name, &ret->placeholders);
		if (r < 0)
			return cordon_fail_leaf(err, r, "a placeholder for secret '%s'", g->name);
		ret->items[ret->n++] = (struct boundary_secret){
			.name = g->name,
			.is_inside = is_inside,
			.placeholder = is_inside ? "" : ret->placeholders.v[i],
			.value = g->value,
			.value_len = g->len,
			.hosts = g->hosts,
			.n_hosts = g->n_hosts,
			.methods = (const char *const *)g->methods,
			.paths = (const char *const *)g->paths,
		};
	}
	return 0;
}

void egress_secrets_done(struct egress_secrets *s)
{
	free(s->items);
	strv_done(&s->placeholders);
	*s = (struct egress_secrets){0};
}

struct proxy_leaks egress_secrets_leaks(const struct policy *p, const struct egress_secrets *s)
{
	struct proxy_leaks leaks = {.has_rules = output_looks_for_leaks(p),
				    .action = output_stored_action(p)};

	leaks.is_on = leaks.has_rules || s->n > 0;
	return leaks;
}

int egress_secret_name(struct strv *env, const char *name, const char *placeholder)
{
	size_t len = strlen(name);
	size_t kept = 0;

	/* Two values of one name: one reader would take the first, another the last. */
	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->v[i], name, len) == 0 && env->v[i][len] == '=')
			free(env->v[i]);
		else
			env->v[kept++] = env->v[i];
	env->n = kept;
	if (env->v)
		env->v[kept] = NULL;
	return strv_addf(env, "%s=%s", name, placeholder);
}

int egress_secrets_environment(const struct egress_secrets *s, struct strv *env)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n; i++)
		if (!s->items[i].is_inside)
			r = egress_secret_name(env, s->items[i].name, s->items[i].placeholder);
	return r;
}

static int egress_secret_finding(const char *rule, const char *host, struct report *report)
{
	struct finding f = {
		.rule = FINDING_RULE_MISDIRECTED,
		.type = FINDING_DATA_LEAK,
		.level = THREAT_CRITICAL,
		.confidence = 1,
	};

	(void)snprintf(f.message, sizeof(f.message), "%.170s: %.80s", rule, host);
	return findings_add(&report->findings, &f);
}

/* One thing that must not leave; the proxy's word, whose texts are ended here. */
static int egress_leak_finding(const struct proxy_leak *shared, struct report *report)
{
	static const char *const ends[] = {[PROXY_LEAK_PASSED] = "passed on",
					   [PROXY_LEAK_HIDDEN] = "hidden",
					   [PROXY_LEAK_REFUSED] = "refused"};
	struct proxy_leak leak = *shared;
	struct finding f = {.type = FINDING_DATA_LEAK, .level = THREAT_HIGH, .confidence = 1};

	leak.host[sizeof(leak.host) - 1] = leak.rule[sizeof(leak.rule) - 1] =
		leak.what[sizeof(leak.what) - 1] = leak.where[sizeof(leak.where) - 1] = '\0';
	(void)snprintf(f.rule, sizeof(f.rule), "%s", leak.rule);
	(void)snprintf(f.message, sizeof(f.message), "%.100s %.30s, to %.70s, %u times: %s",
		       leak.what, leak.where, leak.host, leak.count,
		       leak.end < ARRAY_LEN(ends) ? ends[leak.end] : "refused");
	return findings_add(&report->findings, &f);
}

static int egress_leaked_finding(const struct policy *p, const char *rule, const char *what,
				 uint64_t before, uint64_t after, struct report *report)
{
	struct finding f = {.type = FINDING_DATA_LEAK, .level = THREAT_HIGH, .confidence = 1};

	if (after <= before)
		return 0;
	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule);
	(void)snprintf(f.message, sizeof(f.message),
		       "%s on the way out of the sandbox, %llu times: %s", what,
		       (unsigned long long)(after - before),
		       output_stored_action(p) == SECRET_WARN ? "passed on" : "hidden or refused");
	return findings_add(&report->findings, &f);
}

int egress_secrets_leaked(const struct policy *p, const struct proxy_leaked *before,
			  const struct proxy_leaked *after, struct report *report,
			  struct cordon_error *err)
{
	int r = egress_leaked_finding(p, PROXY_LEAK_STORED, "stored secrets", before->stored,
				      after->stored, report);

	if (r == 0)
		r = egress_leaked_finding(p, FINDING_RULE_LEAKED, "credentials", before->by_rule,
					  after->by_rule, report);
	return r < 0 ? cordon_nomem(err) : 0;
}

int egress_secrets_judge(const struct policy *p, const struct proxy_tally *tally,
			 struct report *report, struct cordon_error *err)
{
	struct judgement j = {0};
	bool is_said = false;
	uint32_t n;

	n = !tally ? 0 : tally->n_leaks < PROXY_LEAKS ? tally->n_leaks : PROXY_LEAKS;
	for (uint32_t i = 0; i < n; i++)
		if (egress_leak_finding(&tally->leaks[i], report) < 0)
			return cordon_nomem(err);
	if (!tally || tally->alarms == 0)
		return 0;
	n = tally->n < PROXY_RECORDS ? tally->n : PROXY_RECORDS;
	for (uint32_t i = 0; i < n; i++) {
		struct proxy_record rec = tally->records[i];

		rec.host[sizeof(rec.host) - 1] = rec.rule[sizeof(rec.rule) - 1] = '\0';
		if (!rec.is_alarm)
			continue;
		is_said = true;
		if (egress_secret_finding(rec.rule, rec.host, report) < 0)
			return cordon_nomem(err);
	}
	/* The proxy's list may have been full. */
	if (!is_said && egress_secret_finding("a secret was on its way to where it is not bound",
					      "", report) < 0)
		return cordon_nomem(err);
	j.findings = report->findings;
	judge_findings(p, report->request->tool, report->request->agent, &j);
	report->findings = j.findings;
	report->verdict = j.verdict;
	report->action = j.action;
	return 0;
}
