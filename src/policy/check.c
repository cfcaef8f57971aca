/* SPDX-License-Identifier: Apache-2.0 */
/* See check.h. */
#include "policy/check.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>

/* level and backend of each runtime, indexed by enum runtime */
static const struct {
	enum level level;
	const char *backend;
} runtime_rows[RUNTIME_COUNT] = {
	[RUNTIME_DOCKER] = {LEVEL_CONTAINER, "docker"},
	[RUNTIME_APPLE_CONTAINER] = {LEVEL_CONTAINER, "apple-container"},
	[RUNTIME_WASMTIME] = {LEVEL_WASM, "wasm"},
	[RUNTIME_FIRECRACKER] = {LEVEL_VM, "firecracker"},
	[RUNTIME_GVISOR] = {LEVEL_CONTAINER, "gvisor"},
	[RUNTIME_NATIVE] = {LEVEL_PROCESS, "native"},
};

enum level runtime_level(enum runtime runtime)
{
	return runtime_rows[runtime].level;
}

const char *runtime_backend(enum runtime runtime)
{
	return runtime_rows[runtime].backend;
}

static const char *check_file(const struct strv *files, const struct origin *o)
{
	return o->line && o->file < files->n ? files->v[o->file] : layer_name((enum layer)o->layer);
}

static int check_fail(const struct strv *files, const struct origin *o, struct cordon_error *err,
		      const char *fmt, ...) CORDON_PRINTF(4, 5);

static int check_fail(const struct strv *files, const struct origin *o, struct cordon_error *err,
		      const char *fmt, ...)
{
	struct buf b = BUF_INIT(4 * LIMIT_YAML_SCALAR); /* a message may quote a value */
	va_list ap;
	int code;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	code = cordon_fail(err, CORDON_E_POLICY, "%s:%u:%u: %s", check_file(files, o), o->line,
			   o->column, buf_cstr(&b));
	buf_done(&b);
	return code;
}

/* Of two rows that do not fit, the one that was written last; the first when one file wrote both. */
static const struct origin *check_later(const struct policy *p, enum policy_row a,
					enum policy_row b)
{
	return &p->origin[p->origin[b].layer > p->origin[a].layer ? b : a];
}

static int check_runtime(const struct policy *p, const struct strv *files, struct cordon_error *err)
{
	enum level fits;
	int code;

	if (!policy_has(p, POLICY_RUNTIME) || !policy_has(p, POLICY_LEVEL))
		return 0;
	fits = runtime_level((enum runtime)p->runtime);
	if ((int)fits == p->level)
		return 0;
	code = check_fail(files, check_later(p, POLICY_RUNTIME, POLICY_LEVEL), err,
			  "runtime '%s' cannot give level '%s'",
			  names_word(&names_runtime, p->runtime),
			  names_word(&names_level, p->level));
	return cordon_hint(err, code,
			   "'%s' belongs to level '%s'; change one of them or leave "
			   "runtime out",
			   names_word(&names_runtime, p->runtime),
			   names_word(&names_level, (int)fits));
}

/* A value, or the options that stand for it, that the mode makes idle. */
static int check_idle(const struct strv *files, const struct origin *o, const char *field,
		      const char *options, const char *mode, struct strv *warnings,
		      struct cordon_error *err)
{
	int r = o->line ? strv_addf(warnings, "%s:%u:%u: '%s' has no effect in mode '%s'",
				    check_file(files, o), o->line, o->column, field, mode)
			: strv_addf(warnings, "%s: no effect in mode '%s'", options, mode);

	return r == -ENOMEM ? cordon_nomem(err) : 0;
}

static int check_network(const struct policy *p, const struct strv *files, struct strv *warnings,
			 struct cordon_error *err)
{
	const struct origin *o = &p->origin[POLICY_ALLOWED_HOSTS];
	bool mode_written = policy_has(p, POLICY_NET_MODE) && !p->origin[POLICY_NET_MODE].implied;

	if (p->allowed_hosts.n == 0)
		return 0;
	if (!mode_written)
		return cordon_hint(err,
				   check_fail(files, o, err,
					      "'allowed_hosts' without 'mode' has no effect"),
				   "add 'mode: allowlist'");
	if (p->net_mode == NET_ALLOWLIST)
		return 0;
	return check_idle(files, o, "allowed_hosts", "--allow-host",
			  names_word(&names_net_mode, p->net_mode), warnings, err);
}

static int check_twice(const struct strv *files, const struct mount *a, const struct mount *b,
		       struct cordon_error *err)
{
	const struct origin *o = &a->origin[MOUNT_PATH];

	if (o->line == 0)
		return cordon_hint(
			err,
			cordon_fail(err, CORDON_E_POLICY,
				    "'%.500s' is granted twice with different permissions",
				    a->path),
			"keep one of --read and --write");
	return cordon_hint(err,
			   check_fail(files, o, err,
				      "'%s' is mounted twice with different permissions", a->path),
			   "the other stands at line %u; keep one", b->origin[MOUNT_PATH].line);
}

static int check_mounts(const struct policy *p, const struct strv *files, struct strv *warnings,
			struct cordon_error *err)
{
	const struct origin *o = &p->origin[POLICY_MOUNTS];

	for (size_t i = 0; i < p->mounts.n; i++) {
		const struct mount *a = p->mounts.records[i];

		for (size_t j = 0; j < i; j++) {
			const struct mount *b = p->mounts.records[j];

			if (strcmp(a->path, b->path) == 0 && a->permissions != b->permissions)
				return check_twice(files, a, b, err);
		}
	}
	if (p->mounts.n == 0 || !policy_is_written(p, POLICY_MOUNTS) ||
	    !policy_has(p, POLICY_FS_MODE) || (p->fs_mode != FS_DENY && p->fs_mode != FS_FULL))
		return 0;
	return check_idle(files, o, "mount_paths", "--read, --write",
			  names_word(&names_fs_mode, p->fs_mode), warnings, err);
}

static int check_thresholds(const struct policy *p, const struct strv *files,
			    struct cordon_error *err)
{
	const struct record_list *lists[] = {&p->tool_overrides, &p->agent_overrides};

	if (policy_has(p, POLICY_SUSPICIOUS) && policy_has(p, POLICY_MALICIOUS) &&
	    p->suspicious_floor > p->malicious_floor)
		return cordon_hint(
			err,
			check_fail(files, check_later(p, POLICY_SUSPICIOUS, POLICY_MALICIOUS), err,
				   "the suspicious threshold is above the malicious one"),
			"a MALICIOUS call is also SUSPICIOUS: lower the first");
	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		for (size_t i = 0; i < lists[l]->n; i++) {
			const struct override *v = lists[l]->records[i];

			if (origin_is_set(&v->origin[OVERRIDE_SUSPICIOUS]) &&
			    origin_is_set(&v->origin[OVERRIDE_MALICIOUS]) &&
			    v->suspicious_floor > v->malicious_floor)
				return cordon_hint(
					err,
					check_fail(files, &v->origin[OVERRIDE_SUSPICIOUS], err,
						   "the suspicious threshold of '%s' is above its "
						   "malicious one",
						   v->name),
					"lower the first");
		}
	}
	return 0;
}

static int check_rules(const struct policy *p, const struct strv *files, struct strv *warnings,
		       struct cordon_error *err)
{
	if (policy_has(p, POLICY_RULES) && p->rules.n == 0)
		return cordon_hint(
			err, check_fail(files, &p->origin[POLICY_RULES], err, "'rules' is empty"),
			"no match means deny; add a rule or leave 'rules' out");
	for (size_t i = 0; i < p->rules.n; i++) {
		const struct rule *a = p->rules.records[i];
		const struct origin *o = &a->origin[RULE_ID_ROW];

		for (size_t j = 0; j < i; j++) {
			const struct rule *b = p->rules.records[j];

			if (strcmp(a->id, b->id) == 0 &&
			    a->origin[RULE_ID_ROW].file == b->origin[RULE_ID_ROW].file)
				return cordon_hint(err,
						   check_fail(files, o, err,
							      "two rules with the id '%s'", a->id),
						   "the other stands at line %u",
						   b->origin[RULE_ID_ROW].line);
		}
		if (a->scope == SCOPE_CATEGORY && !a->match_category &&
		    strv_addf(warnings,
			      "%s:%u:%u: rule '%s' has scope category but no match.category: it "
			      "restricts every call and allows none",
			      check_file(files, o), o->line, o->column, a->id) == -ENOMEM)
			return cordon_nomem(err);
	}
	return 0;
}

int policy_check(const struct policy *p, const struct strv *files, struct strv *warnings,
		 struct cordon_error *err)
{
	int r = check_runtime(p, files, err);

	if (r == 0)
		r = check_network(p, files, warnings, err);
	if (r == 0)
		r = check_mounts(p, files, warnings, err);
	if (r == 0)
		r = check_thresholds(p, files, err);
	if (r == 0)
		r = check_rules(p, files, warnings, err);
	return r;
}
