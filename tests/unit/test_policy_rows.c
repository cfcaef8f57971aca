/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of the policy's table against the layers that may only tighten and against the ceiling.
 * The YAML is made from the row's type and tighten rule, so that a row which is added later is tested
 * too, or fails here until somebody writes its sample.
 */
#include "policy_kit.h"
#include "policy_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Values of a row as YAML: one to start from, one that is wider, one that is tighter (or the same). */
struct sample {
	char base[512];
	char wider[512];
	char tighter[512];
	bool is_alone; /* there is no other valid value */
};

static struct kit_place place;

/* Samples that cannot be made from the type. */
static const struct {
	enum policy_row row;
	const char *base, *wider, *tighter;
} samples[] = {
	{POLICY_MOUNTS, "[{path: /srv/a, permissions: ro}]", "[{path: /srv/ab, permissions: ro}]",
	 "[{path: /srv/a/b, permissions: ro}]"},
	{POLICY_MOUNTS, "[{path: /srv/a, permissions: ro}]", "[{path: /srv/a, permissions: rw}]",
	 "[]"},
	{POLICY_MOUNTS, "[{path: /srv/a, permissions: rw}]", "[{path: /srv, permissions: ro}]",
	 "[{path: /srv/a, permissions: ro}]"},
	{POLICY_EGRESS, "[{host: a.example, methods: [GET]}]", "[{host: a.example}]",
	 "[{host: a.example, action: deny}]"},
	{POLICY_EGRESS, "[{host: a.example, action: deny}]", "[{host: a.example, action: allow}]",
	 "[]"},
	{POLICY_SECRET_GRANTS, "[{name: a, hosts: [a.example]}]", "[{name: b, hosts: [a.example]}]",
	 "[{name: a, hosts: [a.example]}]"},
	{POLICY_SECRET_GRANTS, "[{name: a, hosts: [a.example]}]", "[{name: a}]", "[]"},
	{POLICY_SECRET_GRANTS, "[{name: a, hosts: [\"*.example\"]}]",
	 "[{name: a, hosts: [example]}]", "[{name: a, hosts: [x.example]}]"},
	{POLICY_DOCKER_MOUNTS, "[{source: /srv/a, target: /a, read_only: true}]",
	 "[{source: /srv/a, target: /a, read_only: false}]",
	 "[{source: /srv/a, target: /a, read_only: true}]"},
	{POLICY_TOOL_OVERRIDES, "{Bash: {suspicious_floor: 0.2}}",
	 "{Bash: {suspicious_floor: 0.9}}", "{Bash: {suspicious_floor: 0.2}}"},
	{POLICY_AGENT_OVERRIDES, "{codex: {malicious_floor: 0.5}}", "{}",
	 "{codex: {malicious_floor: 0.5}}"},
	{POLICY_CONSTRAINTS, "{Bash: {filesystem_writable: [/srv/a, /srv/b]}}",
	 "{Bash: {filesystem_writable: [\"/srv/a, /srv/b\"]}}",
	 "{Bash: {filesystem_writable: [/srv/a, /srv/b]}}"},
	{POLICY_SEQUENCES, "{SEQ-001: {mode: enforce}}", "{SEQ-001: {mode: off}}",
	 "{SEQ-001: {mode: enforce}}"},
	{POLICY_SCAN_MODES, "{\"*.md\": strict}", "{\"*.md\": lenient}", "{\"*.md\": strict}"},
	{POLICY_ENV_SET, "{A: x, B: y}", "{A: \"x}, {name: B, value: y\"}", "{A: x, B: y}"},
	{POLICY_SOCKETS, "[/run/a]", "[/run/a/b]", "[/run/a]"},
	{POLICY_RUNTIME, "docker", "gvisor", "docker"},
	{POLICY_VERSION, "\"1\"", "\"1.0\"", "\"1\""},
	{POLICY_FC_KERNEL, "/srv/a", "/srv/b", "/srv/a"},
};

/* What else a file needs so that the row's value is allowed to stand there. */
static const struct {
	enum policy_row row;
	const char *yaml;
} company[] = {
	{POLICY_ALLOWED_HOSTS, "sandbox: {capabilities: {network: {mode: allowlist}}}\n---\n"},
	{POLICY_EGRESS,
	 "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: [a.example]}}}\n---\n"},
	{POLICY_RUNTIME, "sandbox: {level: container}\n---\n"},
};

static const char *sample_text(const struct field *f, int which)
{
	static const char *const hosts[] = {"a.example", "b.example"};
	static const char *const cidrs[] = {"10.0.0.0/8", "192.168.0.0/16"};
	static const char *const paths[] = {"/srv/a", "/srv/ab"}; /* a prefix, but not its parent */
	static const char *const ports[] = {"80", "8080"};
	static const char *const calls[] = {"ptrace", "\"@network\""};
	static const char *const words[] = {"one", "two"};
	static const char *const globs[] = {"/srv/one/*", "/srv/two/*"};

	switch (f->check) {
	case CHECK_HOST:
		return hosts[which];
	case CHECK_CIDR:
		return cidrs[which];
	case CHECK_PATH:
	case CHECK_TARGET:
		return paths[which];
	case CHECK_PORT:
	case CHECK_PUBLISH:
		return ports[which];
	case CHECK_CALL:
		return calls[which];
	case CHECK_GLOB:
		return globs[which];
	case CHECK_CACHE:
		return which ? "go" : "npm";
	case CHECK_CIPHER:
		return which ? NULL : "aes-256-gcm";
	case CHECK_VERSION:
		return which ? "\"1.0\"" : "\"1\"";
	case CHECK_TEXT:
	case CHECK_REGEX:
	case CHECK_NAME:
	case CHECK_ENV:
	case CHECK_PATTERN:
		return words[which];
	case CHECK_COUNT:
		break;
	}
	return NULL;
}

static void set_three(struct sample *s, const char *base, const char *wider, const char *tighter)
{
	(void)snprintf(s->base, sizeof(s->base), "%s", base);
	(void)snprintf(s->wider, sizeof(s->wider), "%s", wider);
	(void)snprintf(s->tighter, sizeof(s->tighter), "%s", tighter);
}

/* Numbers of an ordered row: base, and one step to either side. */
static bool make_ordered(const struct field *f, struct sample *s)
{
	int step = f->tighten == TIGHTEN_LOWER ? 1 : -1;

	if (f->type == FIELD_ENUM) {
		int base = f->names->count > 2 ? 1 : f->tighten == TIGHTEN_LOWER ? 0 : 1;
		int tighter = base - step;

		if (tighter < 0 || tighter >= f->names->count)
			tighter = base;
		set_three(s, f->names->words[base], f->names->words[base + step],
			  f->names->words[tighter]);
		return true;
	}
	if (f->type == FIELD_INT) {
		long long range = f->max > 0 ? (long long)(f->max - f->min) : 20;
		long long base = (long long)f->min + (range < 20 ? range / 2 : 10);

		(void)snprintf(s->base, sizeof(s->base), "%lld", base);
		(void)snprintf(s->wider, sizeof(s->wider), "%lld", base + step);
		(void)snprintf(s->tighter, sizeof(s->tighter), "%lld", base - step);
		return true;
	}
	if (f->type == FIELD_NUMBER) {
		set_three(s, "0.5", step > 0 ? "0.6" : "0.4", step > 0 ? "0.4" : "0.6");
		return true;
	}
	return false;
}

static bool make_never(const struct field *f, struct sample *s)
{
	switch (f->type) {
	case FIELD_BOOL:
		set_three(s, "true", "false", "true");
		return true;
	case FIELD_ENUM:
		set_three(s, f->names->words[0], f->names->words[f->names->count - 1],
			  f->names->words[0]);
		return true;
	case FIELD_AGE:
		set_three(s, "10d", "11d", "240h");
		return true;
	case FIELD_STRING:
		s->is_alone = !sample_text(f, 1);
		set_three(s, sample_text(f, 0), s->is_alone ? "" : sample_text(f, 1),
			  sample_text(f, 0));
		return true;
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_LIST:
	case FIELD_RECORDS:
	case FIELD_MAP:
	case FIELD_WORDS:
	case FIELD_TYPE_COUNT:
		break;
	}
	return false;
}

/* Makes a sample from the row's type.  False: there is none to be made. */
static bool make_sample(const struct field *f, struct sample *s)
{
	switch (f->tighten) {
	case TIGHTEN_LOWER:
	case TIGHTEN_HIGHER:
		return make_ordered(f, s);
	case TIGHTEN_TRUE:
		set_three(s, "true", "false", "true");
		return f->type == FIELD_BOOL;
	case TIGHTEN_FALSE:
		set_three(s, "false", "true", "false");
		return f->type == FIELD_BOOL;
	case TIGHTEN_SUBSET:
		if (f->type != FIELD_LIST || !sample_text(f, 1))
			return false;
		(void)snprintf(s->base, sizeof(s->base), "[\"%s\"]", sample_text(f, 0));
		(void)snprintf(s->wider, sizeof(s->wider), "[\"%s\", \"%s\"]", sample_text(f, 0),
			       sample_text(f, 1));
		(void)snprintf(s->tighter, sizeof(s->tighter), "[]");
		return true;
	case TIGHTEN_NEVER:
		return make_never(f, s);
	case TIGHTEN_UNION:
	case TIGHTEN_RULES:
	case TIGHTEN_COUNT:
		break;
	}
	return false;
}

/* "a.b.c" and a value as YAML in flow style, after what the row needs. */
static char *row_yaml(size_t row, const char *value)
{
	struct buf b = BUF_INIT(8192);
	const char *p = shape_policy.fields[row].path;
	size_t depth = 0;
	char *text = NULL;

	for (size_t i = 0; i < ARRAY_LEN(company); i++)
		if (company[i].row == (enum policy_row)row)
			buf_str(&b, company[i].yaml);
	for (;;) {
		size_t n = strcspn(p, ".");

		buf_add(&b, p, n);
		buf_str(&b, ": ");
		p += n;
		if (!*p++)
			break;
		buf_char(&b, '{');
		depth++;
	}
	buf_str(&b, value);
	while (depth-- > 0)
		buf_char(&b, '}');
	buf_char(&b, '\n');
	assert_int_equal(buf_take(&b, &text, NULL), 0);
	return text;
}

enum where { IN_PROJECT, IN_NEXT, IN_CEILING, WHERE_COUNT };

/* Loads with `user` as the user's file and `other` in the place that is tested. */
static int load_pair(enum where where, const char *user, const char *other, struct policy **ret,
		     struct cordon_error *err)
{
	struct strv files = {0};
	struct policy_sources src = {
		.workspace = place.work,
		.home = place.home,
		.system_dir = place.sys,
		.config_dir = place.cfg,
		.checks = &kit_checks,
	};
	int r;

	kit_put_in(place.cfg, "policy.yaml", user);
	kit_put_in(place.work, ".cordon.yaml", where == IN_PROJECT ? other : NULL);
	kit_put_in(place.sys, "ceiling.yaml", where == IN_CEILING ? other : NULL);
	kit_put(place.first, "");
	kit_put(place.next, where == IN_NEXT ? other : "");
	if (where == IN_NEXT) {
		assert_int_equal(strv_add(&files, place.first), 0);
		assert_int_equal(strv_add(&files, place.next), 0);
		src.files = &files;
	}
	r = policy_load(&src, ret, err);
	strv_done(&files);
	return r;
}

static void row_refused(size_t row, enum where where, const char *user, const char *other)
{
	static const char *const from[WHERE_COUNT] = {"project ", "further --policy ", "user "};
	const char *file = where == IN_NEXT      ? place.next
			   : where == IN_CEILING ? place.cfg
						 : place.work;
	const char *path = shape_policy.fields[row].path;
	struct policy *p = NULL;
	struct cordon_error err = {0};
	int r = load_pair(where, user, other, &p, &err);

	policy_free(p);
	if (r != CORDON_E_WIDENS)
		fail_msg("%s: %d %s\nuser: %sother: %s", path, r, err.message, user, other);
	if (!str_starts(err.message, from[where]) || !strstr(err.message, file) ||
	    !strstr(err.message, path) || !err.hint[0])
		fail_msg("%s: the message does not say where: %s (%s)", path, err.message,
			 err.hint);
	if (where == IN_CEILING && !strstr(err.message, "ceiling"))
		fail_msg("%s: no word of the ceiling: %s", path, err.message);
}

static void row_accepted(size_t row, enum where where, const char *user, const char *other,
			 enum layer layer)
{
	const struct field *f = &shape_policy.fields[row];
	struct policy *p = NULL;
	struct cordon_error err = {0};
	int r = load_pair(where, user, other, &p, &err);

	if (r < 0)
		fail_msg("%s: refused: %s (%s)\nuser: %sother: %s", f->path, err.message, err.hint,
			 user ? user : "", other);
	if (layer && p->origin[row].layer != layer)
		fail_msg("%s: from layer %s", f->path,
			 layer_name((enum layer)p->origin[row].layer));
	if (layer && p->origin[row].line == 0)
		fail_msg("%s: without line", f->path);
	policy_free(p);
}

static void check_sample(size_t row, const struct sample *s)
{
	AUTO_FREE char *base = row_yaml(row, s->base);
	AUTO_FREE char *wider = row_yaml(row, s->wider);
	AUTO_FREE char *tighter = row_yaml(row, s->tighter);
	bool is_ceiling_list = row ==
			       POLICY_EGRESS; /* rules, not a set: see test_policy_layers.c */

	if (!s->is_alone) {
		row_refused(row, IN_PROJECT, base, wider);
		row_refused(row, IN_NEXT, base, wider);
		if (!is_ceiling_list)
			row_refused(row, IN_CEILING, wider, base);
	}
	row_accepted(row, IN_PROJECT, base, tighter, LAYER_PROJECT);
	row_accepted(row, IN_NEXT, base, tighter, LAYER_FILE_NEXT);
	if (!is_ceiling_list)
		row_accepted(row, IN_CEILING, tighter, base, LAYER_USER);
	row_accepted(row, IN_CEILING, "", base, LAYER_UNSET);
}

/* Rows to which layers only add: nothing that was there goes, and what is new is there too. */
static void check_union(size_t row)
{
	const struct field *f = &shape_policy.fields[row];
	bool is_call = f->check == CHECK_CALL;
	const char *one = is_call ? "ptrace" : "/srv/one";
	const char *two = is_call ? "@network" : "/srv/two";
	AUTO_FREE char *base = row_yaml(row, is_call ? "[ptrace]" : "[\"/srv/one\"]");
	AUTO_FREE char *none = row_yaml(row, "[]");
	AUTO_FREE char *more = row_yaml(row, is_call ? "[\"@network\"]" : "[\"/srv/two\"]");

	assert_int_equal(f->type, FIELD_LIST);
	for (int where = 0; where < WHERE_COUNT; where++) {
		for (int i = 0; i < 2; i++) {
			struct policy *p = NULL;
			struct cordon_error err = {0};
			const struct item_list *l;
			int r = load_pair((enum where)where, base, i ? more : none, &p, &err);

			if (r < 0)
				fail_msg("%s: %s", f->path, err.message);
			l = field_value(f, p);
			assert_int_equal(l->n, 1 + i);
			assert_string_equal(l->items[0].text, one);
			assert_int_equal(l->items[0].origin.layer, LAYER_USER);
			if (i)
				assert_string_equal(l->items[1].text, two);
			policy_free(p);
		}
	}
}

static void check_rules(size_t row)
{
	AUTO_FREE char *base = row_yaml(row, "[{id: one, action: deny, scope: all}]");
	AUTO_FREE char *more = row_yaml(row, "[{id: one, action: allow, scope: all}]");

	for (int where = 0; where < WHERE_COUNT; where++) {
		struct policy *p = NULL;
		struct cordon_error err = {0};
		const struct rule *a, *b;

		if (load_pair((enum where)where, base, more, &p, &err) < 0)
			fail_msg("rules: %s", err.message);
		assert_int_equal(p->rules.n, 2);
		a = p->rules.records[0];
		b = p->rules.records[1];
		assert_int_equal(a->action, RULE_DENY);
		assert_int_equal(b->action, RULE_ALLOW);
		assert_int_not_equal(a->origin[RULE_ID_ROW].root, b->origin[RULE_ID_ROW].root);
		policy_free(p);
	}
}

static void test_every_row(void **state)
{
	size_t generated = 0;

	(void)state;
	for (size_t row = 0; row < POLICY_ROWS; row++) {
		const struct field *f = &shape_policy.fields[row];
		struct sample s = {0};
		bool found = false;

		if (f->tighten == TIGHTEN_UNION) {
			check_union(row);
			continue;
		}
		if (f->tighten == TIGHTEN_RULES) {
			check_rules(row);
			continue;
		}
		for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
			if (samples[i].row != (enum policy_row)row)
				continue;
			set_three(&s, samples[i].base, samples[i].wider, samples[i].tighter);
			check_sample(row, &s);
			found = true;
		}
		if (found)
			continue;
		if (!make_sample(f, &s))
			fail_msg("'%s' has no sample: add one to samples[]", f->path);
		check_sample(row, &s);
		generated++;
	}
	assert_true(generated > 50);
}

/* Rows that nothing sets: what a project may then say.  Limits, yes; grants and looser modes, no. */
static void test_unset_rows(void **state)
{
	(void)state;
	for (size_t row = 0; row < POLICY_ROWS; row++) {
		const struct field *f = &shape_policy.fields[row];
		AUTO_FREE char *loose = NULL;
		AUTO_FREE char *tight = NULL;

		if (f->fallback || f->type != FIELD_ENUM || f->tighten != TIGHTEN_LOWER)
			continue;
		loose = row_yaml(row, f->names->words[f->names->count - 1]);
		tight = row_yaml(row, f->names->words[0]);
		row_refused(row, IN_PROJECT, "", loose);
		row_accepted(row, IN_PROJECT, "", tight, LAYER_PROJECT);
	}
	for (size_t row = 0; row < POLICY_ROWS; row++) {
		const struct field *f = &shape_policy.fields[row];
		struct sample s = {0};
		AUTO_FREE char *text = NULL;

		if (f->fallback || f->type != FIELD_INT || !make_ordered(f, &s))
			continue;
		text = row_yaml(row, s.base);
		row_accepted(row, IN_PROJECT, "", text, LAYER_PROJECT);
		row_accepted(row, IN_CEILING, "", text, LAYER_CEILING);
	}
}

static int set_up(void **state)
{
	(void)state;
	return kit_place_make(&place, "rows");
}

static int tear_down(void **state)
{
	(void)state;
	return kit_place_done(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_unset_rows),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
