/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must load, and what it must then say: the published examples (tests/data/policy), value by value
 * with their lines; JSON; streams of documents; the manifests and the JSON Schema of CKP.
 */
#include "policy/document.h"
#include "policy_kit.h"

#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct value_row {
	const char *file;
	const char *path;
	const char *value;
	unsigned line;
};

#define SANDBOX "seeds/003-sandbox.yaml"
#define CAPS "sandbox.capabilities."

static const struct value_row value_rows[] = {
	{"seeds/000-landlock.yaml", "enforcement.adapter", "landlock", 2},
	{"seeds/000-landlock.yaml", "enforcement.landlock.allowed_read", "[/usr, /lib, /etc]", 4},
	{"seeds/000-landlock.yaml", "enforcement.landlock.allowed_write", "[/tmp]", 5},
	{"seeds/000-landlock.yaml", "enforcement.landlock.network", "deny", 6},
	{"seeds/000-seatbelt.yaml", "enforcement.adapter", "seatbelt", 2},
	{"seeds/000-seatbelt.yaml", "enforcement.seatbelt.profile", "strict", 4},
	{"seeds/000-docker.yaml", "enforcement.adapter", "docker", 2},
	{"seeds/000-docker.yaml", "enforcement.docker.image", "python:3.12-slim", 4},
	{"seeds/000-docker.yaml", "enforcement.docker.network", "none", 5},
	{"seeds/000-docker.yaml", "enforcement.docker.read_only", "true", 6},
	{"seeds/000-docker.yaml", "enforcement.docker.mounts",
	 "[{source: /path/to/repo, target: /workspace, read_only: true}]", 8},
	{"seeds/000-gvisor.yaml", "enforcement.adapter", "gvisor", 2},
	{"seeds/000-firecracker.yaml", "enforcement.adapter", "firecracker", 2},
	{"seeds/000-wasm.yaml", "enforcement.adapter", "wasm", 2},
	{"seeds/000-wasm.yaml", "enforcement.wasm.fuel_limit", "1000000", 4},
	{"seeds/001-enforcement.yaml", "enforcement.enabled", "true", 3},
	{"seeds/001-enforcement.yaml", "enforcement.adapter", "landlock", 4},
	{"seeds/001-indentation-lost.yaml", "enforcement.enabled", "true", 3},
	{"seeds/001-indentation-lost.yaml", "enforcement.adapter", "landlock", 4},
	{SANDBOX, "sandbox.level", "container", 7},
	{SANDBOX, "sandbox.runtime", "docker", 8},
	{SANDBOX, CAPS "network.mode", "allowlist", 13},
	{SANDBOX, CAPS "network.allowed_hosts", "[api.example.com, *.googleapis.com]", 15},
	{SANDBOX, CAPS "network.ssrf_protection.enabled", "true", 18},
	{SANDBOX, CAPS "network.ssrf_protection.block_private_ips", "true", 19},
	{SANDBOX, CAPS "network.ssrf_protection.dns_pinning", "true", 20},
	{SANDBOX, CAPS "filesystem.mode", "scoped", 23},
	{SANDBOX, CAPS "filesystem.mount_paths",
	 "[{path: /workspace, permissions: rw}, {path: /config, permissions: ro}, "
	 "{path: /tmp, permissions: rw}]",
	 25},
	{SANDBOX, CAPS "filesystem.denied_paths", "[/etc/shadow, /root/.ssh]", 32},
	{SANDBOX, CAPS "secrets.injection", "host-boundary", 36},
	{SANDBOX, CAPS "secrets.encryption", "aes-256-gcm", 37},
	{SANDBOX, CAPS "secrets.leak_detection.enabled", "true", 39},
	{SANDBOX, CAPS "secrets.leak_detection.patterns", "22", 40},
	{SANDBOX, CAPS "shell.mode", "restricted", 43},
	{SANDBOX, CAPS "shell.blocked_commands", "[rm -rf /, curl * | bash, chmod 777]", 45},
	{SANDBOX, CAPS "shell.blocked_patterns", "[.*password.*=.*, \\|\\s*bash, eval\\s+]", 49},
	{SANDBOX, "sandbox.resource_limits.memory_mb", "512", 54},
	{SANDBOX, "sandbox.resource_limits.cpu_shares", "256", 55},
	{SANDBOX, "sandbox.resource_limits.max_processes", "50", 56},
	{SANDBOX, "sandbox.resource_limits.max_open_files", "1024", 57},
	{SANDBOX, "sandbox.resource_limits.timeout_ms", "300000", 58},
	{SANDBOX, "sandbox.resource_limits.max_output_bytes", "10485760", 59},
	{"guard-code.yaml", "enforcement.version", "1", 1},
	{"guard-code.yaml", "enforcement.thresholds.suspicious_floor", "0.3", 3},
	{"guard-code.yaml", "enforcement.thresholds.malicious_floor", "0.7", 3},
	{"guard-code.yaml", "enforcement.overrides.tool_name",
	 "[{name: Bash, suspicious_floor: 0.2, malicious_floor: 0.6}]", 5},
	{"guard-code.yaml", "enforcement.overrides.agent_type",
	 "[{name: claude-code, suspicious_floor: 0.25}]", 6},
	{"guard-code.yaml", "enforcement.suspicious",
	 "[{name: Bash, filesystem_writable: [/srv/repo, /tmp], filesystem_readable: "
	 "[/srv/repo, /usr], network_allow: [pypi.org]}]",
	 9},
	{"guard-code.yaml", "enforcement.actions.MALICIOUS", "block", 13},
	{"guard-code.yaml", "enforcement.adapter", "auto", 14},
	{"guard-code.yaml", "enforcement.fallback", "noop", 14},
	{"guard-code.yaml", "enforcement.dry_run", "true", 15},
	{"guard-guide.yaml", "enforcement.thresholds.suspicious_floor", "0.5", 2},
	{"guard-guide.yaml", "enforcement.thresholds.malicious_floor", "0.8", 3},
	{"guard-guide.yaml", "enforcement.enabled", "false", 5},
	{"guard-guide.yaml", "enforcement.adapter", "noop", 6},
	{"guard-guide.yaml", "enforcement.dry_run", "true", 7},
	{"guard-guide.yaml", "enforcement.sequences",
	 "[{name: SEQ-001, mode: enforce}, {name: SEQ-003, mode: advisory}]", 9},
	{"guard-guide.yaml", "enforcement.overrides.tool_name",
	 "[{name: Bash, suspicious_floor: 0.4, adapter: docker}]", 12},
	{"guard-guide.yaml", "enforcement.actions.SAFE", "allow", 15},
	{"guard-guide.yaml", "enforcement.actions.SUSPICIOUS", "constrain", 15},
	{"guard-guide.yaml", "enforcement.actions.MALICIOUS", "block", 15},
	{"guard-guide.yaml", "enforcement.scan_modes",
	 "[{name: **/CLAUDE.md, value: strict}, {name: tests/**, value: lenient}]", 17},
	{"guard-enforcement-only.yaml", "enforcement.actions.MALICIOUS", "block", 3},
};

static struct policy *read_text(const char *text, size_t len, const char *name, unsigned *kinds)
{
	struct policy *p = policy_new();
	struct cordon_error err = {0};

	assert_non_null(p);
	if (policy_parse(&kit_context, text, len, name, LAYER_USER, false, p, kinds, &err) < 0) {
		policy_free(p);
		fail_msg("refused: %s (%s)", err.message, err.hint);
	}
	return p;
}

static struct policy *read_file(const char *path, unsigned *kinds)
{
	size_t len = 0;
	AUTO_FREE char *text = kit_read(path, &len);

	assert_non_null(text);
	return read_text(text, len, path, kinds);
}

static void check_value(const struct policy *p, const struct value_row *v, bool with_line)
{
	struct buf b = BUF_INIT(1 << 16);
	int row = shape_find(&shape_policy, v->path);

	assert_true(row >= 0);
	policy_value_text(&shape_policy, (size_t)row, p, &b);
	if (strcmp(buf_cstr(&b), v->value) != 0)
		fail_msg("%s: %s is '%s', not '%s'", v->file, v->path, buf_cstr(&b), v->value);
	if (with_line && p->origin[row].line != v->line)
		fail_msg("%s: %s from line %u, not %u", v->file, v->path, p->origin[row].line,
			 v->line);
	buf_done(&b);
}

static size_t rows_set(const struct policy *p)
{
	size_t n = 0;

	for (size_t row = 0; row < POLICY_ROWS; row++)
		n += policy_has(p, (enum policy_row)row) && !p->origin[row].implied;
	return n;
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(value_rows);) {
		char path[256];
		const char *file = value_rows[i].file;
		struct policy *p;
		size_t n = 0;

		(void)snprintf(path, sizeof(path), "tests/data/policy/%s", file);
		p = read_file(kit_source(path), NULL);
		for (; i < ARRAY_LEN(value_rows) && value_rows[i].file == file; i++, n++)
			check_value(p, &value_rows[i], true);
		/* All that it says is in the table above; the one file with more is noted. */
		if (strcmp(file, "guard-enforcement-only.yaml") != 0 && rows_set(p) != n)
			fail_msg("%s sets %zu values, %zu are listed", file, rows_set(p), n);
		policy_free(p);
	}
}

/* JSON is YAML: the same values. */
static void test_json(void **state)
{
	static const char text[] =
		"{\"claw\":\"0.3.0\",\"kind\":\"Sandbox\",\"metadata\":{\"name\":\"a\",\"labels\":"
		"{\"x\":\"y\"}},\"spec\":{\"level\":\"container\",\"capabilities\":{\"network\":"
		"{\"mode\":\"deny\"},\"shell\":{\"mode\":\"deny\",\"blocked_patterns\":"
		"[\"a\\\\s+\\u0062\"]}},\"resource_limits\":{\"memory_mb\":512}}}";
	static const struct value_row rows[] = {
		{"json", "sandbox.level", "container", 1},
		{"json", CAPS "network.mode", "deny", 1},
		{"json", CAPS "shell.blocked_patterns", "[a\\s+b]", 1},
		{"json", "sandbox.resource_limits.memory_mb", "512", 1},
	};
	struct policy *p = read_text(text, strlen(text), "json", NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_value(p, &rows[i], true);
	policy_free(p);
}

struct kind_row {
	const char *what;
	const char *text;
	unsigned kinds;
};

#define CKP(version, kind) "claw: \"" version "\"\nkind: " kind "\nmetadata: {name: a}\nspec:\n"
#define RULE "{id: a, action: deny, scope: all}"

static const struct kind_row kind_rows[] = {
	{"nothing", "", 0},
	{"a comment", "# x\n", 0},
	{"null", "~\n", 1u << DOCUMENT_EMPTY},
	{"an empty map", "{}\n", 1u << DOCUMENT_CORDON},
	{"with a byte order mark", "\xef\xbb\xbfsandbox: {level: vm}\n", 1u << DOCUMENT_CORDON},
	{"with CRLF", "sandbox:\r\n  level: vm\r\n", 1u << DOCUMENT_CORDON},
	{"two keys behind a byte order mark",
	 "\xef\xbb\xbf"
	 "cordon: 1\nsandbox: {level: vm}\n",
	 1u << DOCUMENT_CORDON},
	{"CKP 0.2.0", CKP("0.2.0", "Sandbox") "  level: vm\n", 1u << DOCUMENT_CKP_SANDBOX},
	{"CKP Policy 0.2.0", CKP("0.2.0", "Policy") "  rules: [" RULE "]\n",
	 1u << DOCUMENT_CKP_POLICY},
	{"two documents",
	 CKP("0.3.0", "Sandbox") "  level: vm\n---\n" CKP("0.3.0", "Policy") "  rules: [" RULE
									     "]\n",
	 1u << DOCUMENT_CKP_SANDBOX | 1u << DOCUMENT_CKP_POLICY},
	{"documents of two makers", "version: \"1\"\ndry_run: true\n---\nsandbox: {level: vm}\n",
	 1u << DOCUMENT_CLONEGUARD | 1u << DOCUMENT_CORDON},
	{"our format's version", "cordon: 1\nsandbox: {level: vm}\n", 1u << DOCUMENT_CORDON},
	{"aliases",
	 "sandbox: {capabilities: {filesystem: {denied_paths: &d [a], protected_paths: *d}}}",
	 1u << DOCUMENT_CORDON},
	{"extensions of rules",
	 CKP("0.3.0",
	     "Policy") "  rules: [{id: a, action: deny, scope: tool, match: {name: shell, "
		       "arguments: {url: \"169.254.*\"}}, conditions: {other: {deep: 1}}}]\n",
	 1u << DOCUMENT_CKP_POLICY},
	{"other words for true", "sandbox: {capabilities: {gpu: yes}}", 1u << DOCUMENT_CORDON},
	{"a glob's star in a host",
	 "sandbox: {capabilities: {network: {mode: allowlist, "
	 "allowed_hosts: [\"*.a.example\", b.example:8080]}}}",
	 1u << DOCUMENT_CORDON},
	{"annotations of any form",
	 "claw: \"0.3.0\"\nkind: Sandbox\nmetadata: {name: a, annotations: {x: [1, {y: z}]}}\n"
	 "spec: {level: none}\n",
	 1u << DOCUMENT_CKP_SANDBOX},
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kind_rows); i++) {
		const struct kind_row *row = &kind_rows[i];
		unsigned kinds = 0;

		policy_free(read_text(row->text, strlen(row->text), row->what, &kinds));
		if (kinds != row->kinds)
			fail_msg("%s: kinds %x, not %x", row->what, kinds, row->kinds);
	}
}

/* An omitted block of a CKP manifest is denied, with the place of the manifest's spec. */
static void test_implied(void **state)
{
	static const char text[] = CKP("0.3.0", "Sandbox") "  level: vm\n";
	struct policy *p = read_text(text, strlen(text), "t", NULL);

	(void)state;
	assert_true(policy_has(p, POLICY_NET_MODE) && p->net_mode == NET_DENY);
	assert_true(policy_has(p, POLICY_FS_MODE) && p->fs_mode == FS_DENY);
	assert_true(policy_has(p, POLICY_SHELL_MODE) && p->shell_mode == SHELL_RESTRICTED);
	assert_true(p->origin[POLICY_NET_MODE].implied);
	assert_int_equal(p->origin[POLICY_NET_MODE].line, 5);
	assert_false(policy_is_written(p, POLICY_NET_MODE));
	policy_free(p);
}

static void test_ckp_manifests(void **state)
{
	char dir[4096];
	struct dirent *entry;
	size_t n = 0;
	DIR *d;

	(void)state;
	KIT_NEED_SHARED();
	(void)snprintf(dir, sizeof(dir), "%s", kit_shared("spec/ckp/manifests"));
	d = opendir(dir);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		char path[8192];
		unsigned kinds = 0;

		if (!str_ends(entry->d_name, ".yaml"))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		policy_free(read_file(path, &kinds));
		assert_int_equal(kinds, 1u << DOCUMENT_CKP_CLAW);
		n++;
	}
	closedir(d);
	assert_true(n >= 10);
}

/* Loading cases of CloneGuard's own tests. */
static void test_guard_vectors(void **state)
{
	json_error_t where;
	json_t *root, *full, *cases, *one;
	size_t i, tried = 0;

	(void)state;
	KIT_NEED_SHARED();
	root = json_load_file(kit_shared("spec/cloneguard/policy_vectors.json"), 0, &where);
	assert_non_null(root);
	full = json_object_get(root, "FULL");
	cases = json_object_get(root, "cases");
	assert_true(json_array_size(cases) > 0);
	json_array_foreach(cases, i, one)
	{
		const json_t *policy = json_object_get(one, "policy");
		const char *text = json_string_value(json_object_get(one, "policy_text"));
		AUTO_FREE char *made = NULL;
		struct policy *p = policy_new();
		int r;

		if (policy)
			text = made = json_dumps(json_is_string(policy) ? full : policy, 0);
		if (text) {
			r = policy_parse(&kit_context, text, strlen(text), "v", LAYER_USER, false,
					 p, NULL, NULL);
			if ((r < 0) != (json_object_get(one, "expect_error") != NULL))
				fail_msg("case %zu: %d for %s", i, r, text);
			tried++;
		}
		policy_free(p);
	}
	assert_true(tried >= 12);
	json_decref(root);
}

/* Does every word of the schema's enum stand in the row's table? */
static void check_enum(const char *path, const struct field *f, const json_t *list)
{
	size_t i;
	json_t *word;

	assert_int_equal(f->type, FIELD_ENUM);
	json_array_foreach(list, i, word) if (names_find(f->names, json_string_value(word)) < 0)
		fail_msg("%s: '%s' is not known", path, json_string_value(word));
}

static bool type_fits(const struct field *f, const char *type)
{
	if (strcmp(type, "boolean") == 0)
		return f->type == FIELD_BOOL;
	if (strcmp(type, "integer") == 0)
		return f->type == FIELD_INT;
	if (strcmp(type, "number") == 0)
		return f->type == FIELD_NUMBER;
	if (strcmp(type, "string") == 0)
		return f->type == FIELD_STRING || f->type == FIELD_ENUM || f->type == FIELD_AGE;
	if (strcmp(type, "array") == 0)
		return f->type == FIELD_LIST || f->type == FIELD_RECORDS;
	return strcmp(type, "object") == 0 && (f->type == FIELD_MAP || f->type == FIELD_WORDS);
}

/* Walks a schema of an object; gives the number of leaves. */
static size_t walk_schema(const json_t *schema, const struct shape *s, const char *prefix)
{
	json_t *properties = json_object_get(schema, "properties");
	const char *key;
	json_t *value;
	size_t leaves = 0;

	json_object_foreach(properties, key, value)
	{
		const char *type = json_string_value(json_object_get(value, "type"));
		json_t *items = json_object_get(value, "items");
		char path[512];
		int row;

		(void)snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key);
		row = shape_find(s, path);
		if (row < 0 && type && strcmp(type, "object") == 0) {
			leaves += walk_schema(value, s, path);
			continue;
		}
		if (row < 0)
			fail_msg("no row for '%s'", path);
		leaves++;
		if (s->fields[row].own)
			fail_msg("'%s' is marked as ours", path);
		if (type && !type_fits(&s->fields[row], type))
			fail_msg("'%s' is not %s", path, type);
		if (json_object_get(value, "enum"))
			check_enum(path, &s->fields[row], json_object_get(value, "enum"));
		if (s->fields[row].type == FIELD_RECORDS)
			leaves += walk_schema(items, s->fields[row].shape, "");
	}
	return leaves;
}

static void test_schema(void **state)
{
	static const struct {
		const char *file, *prefix;
		size_t leaves;
	} rows[] = {{"spec/ckp/schema/0.3.0/sandbox.schema.json", "sandbox", 24},
		    {"spec/ckp/schema/0.3.0/policy.schema.json", "policy", 30},
		    {"spec/ckp/schema/0.2.0/sandbox.schema.json", "sandbox", 24},
		    {"spec/ckp/schema/0.2.0/policy.schema.json", "policy", 30}};

	(void)state;
	KIT_NEED_SHARED();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_error_t where;
		json_t *root = json_load_file(kit_shared(rows[i].file), 0, &where);
		json_t *spec = json_object_get(json_object_get(root, "properties"), "spec");
		size_t leaves;

		assert_non_null(spec);
		leaves = walk_schema(spec, &shape_policy, rows[i].prefix);
		if (leaves < rows[i].leaves)
			fail_msg("%s: only %zu leaves", rows[i].file, leaves);
		json_decref(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),      cmocka_unit_test(test_json),
		cmocka_unit_test(test_kinds),         cmocka_unit_test(test_implied),
		cmocka_unit_test(test_ckp_manifests), cmocka_unit_test(test_guard_vectors),
		cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
