/* SPDX-License-Identifier: Apache-2.0 */
/* libcordon: policy options, loading, asking, modes, configurations and wrapped commands. */
#include "lib_helper.h"

static void place_write(const char *dir, const char *name, const char *text)
{
	char path[600];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

/* Loads, and frees the options. */
static struct cordon_policy *load(struct cordon_policy_options *o)
{
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	assert_ok(cordon_policy_load(o, &p, &err));
	cordon_policy_options_free(o);
	return p;
}

static void assert_value(const struct cordon_policy *p, const char *field, const char *want)
{
	struct cordon_error err;
	char *value = NULL;

	if (!want) {
		assert_code(cordon_policy_get(p, field, &value, &err), CORDON_E_NOT_FOUND);
		assert_null(value);
		return;
	}
	assert_ok(cordon_policy_get(p, field, &value, &err));
	assert_string_equal(value, want);
	cordon_free(value);
}

#define NET "sandbox.capabilities.network."
#define FS "sandbox.capabilities.filesystem."
#define LIMITS "sandbox.resource_limits."

static void test_default(void **state)
{
	struct cordon_policy *p = load(place_options());

	(void)state;
	assert_string_equal(cordon_policy_workspace(p), place_ws);
	assert_value(p, "sandbox.level", "process");
	assert_value(p, NET "mode", "deny");
	assert_value(p, FS "mode", "scoped");
	assert_value(p, LIMITS "memory_mb", NULL);
	assert_null(cordon_policy_warning(p, 0));
	cordon_policy_free(p);
}

static void test_set(void **state)
{
	static const struct {
		const char *option, *value, *field, *want;
	} rows[] = {
		{"level", "vm", "sandbox.level", "vm"},
		{"net", "allow-all", NET "mode", "allow-all"},
		{"fs", "read-only", FS "mode", "read-only"},
		{"allow-host", "Example.COM:8443", NET "mode", "allowlist"},
		{"allow-private", "10.0.0.0/8", NET "allow_private", "[10.0.0.0/8]"},
		{"publish", "8080", NET "publish", "[8080]"},
		{"allow-socket", "/run/s", NET "sockets", "[/run/s]"},
		{"ask-hosts", NULL, NET "ask", "true"},
		{"allow-port", "5432", NET "ports", "[5432]"},
		{"publish", "8080:80", NET "publish", "[8080:80]"},
		{"deny", "/etc/x", FS "denied_paths", "[/etc/x]"},
		{"workspace", "discard", "sandbox.workspace", "discard"},
		{"image", "debian:12", "sandbox.image", "debian:12"},
		{"cache", "npm", "sandbox.capabilities.caches", "[npm]"},
		{"device", "/dev/kvm", "sandbox.capabilities.devices", "[/dev/kvm]"},
		{"gpu", NULL, "sandbox.capabilities.gpu", "true"},
		{"allow-debug", NULL, "sandbox.capabilities.debug", "true"},
		{"write-xor-execute", NULL, FS "write_xor_execute", "true"},
		{"exec", "/srv/bin", FS "executable_paths", "[/srv/bin]"},
		{"deny-syscall", "@network", "sandbox.capabilities.denied_syscalls", "[@network]"},
		{"memory", "512M", LIMITS "memory_mb", "512"},
		{"cpu-shares", "512", LIMITS "cpu_shares", "512"},
		{"cpu-percent", "150", LIMITS "max_cpu_pct", "150"},
		{"max-processes", "64", LIMITS "max_processes", "64"},
		{"max-open-files", "128", LIMITS "max_open_files", "128"},
		{"timeout", "1.5s", LIMITS "timeout_ms", "1500"},
		{"grace", "100ms", LIMITS "grace_ms", "100"},
		{"max-output", "64K", LIMITS "max_output_bytes", "65536"},
		{"env", "TERM", "sandbox.environment.pass", "[TERM]"},
		{"env", "A=b=c", "sandbox.environment.set", "[{name: A, value: b=c}]"},
		{"secret", "TOKEN@example.com", "sandbox.capabilities.secrets.grants",
		 "[{name: TOKEN, hosts: [example.com]}]"},
		{"enforce", NULL, "enforcement.dry_run", "false"},
		{"dry-run", NULL, "enforcement.dry_run", "true"},
		{"backend", "noop", "sandbox.level", "process"},
	};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_policy_options *o = place_options();
		struct cordon_policy *p;

		assert_ok(cordon_policy_options_set(o, rows[i].option, rows[i].value, &err));
		p = load(o);
		assert_value(p, rows[i].field, rows[i].want);
		cordon_policy_free(p);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *option, *value;
		int code;
	} rows[] = {
		{"level", "hypervisor", CORDON_E_INVALID},
		{"level", "", CORDON_E_INVALID},
		{"level", NULL, CORDON_E_INVALID},
		{"gpu", "yes", CORDON_E_INVALID},
		{"unknown", "x", CORDON_E_INVALID},
		{"json", NULL, CORDON_E_INVALID},
		{NULL, "x", CORDON_E_INVALID},
		{"backend", "dokcer", CORDON_E_INVALID},
		{"net", "off", CORDON_E_INVALID},
		{"allow-host", "*.com", CORDON_E_INVALID},
		{"allow-private", "10.0.0.1/8", CORDON_E_INVALID},
		{"publish", "70000", CORDON_E_INVALID},
		{"memory", "much", CORDON_E_INVALID},
		{"memory", "0", CORDON_E_INVALID},
		{"memory", "512", CORDON_E_INVALID}, /* as if it were MiB */
		{"timeout", "-1s", CORDON_E_INVALID},
		{"max-open-files", "1", CORDON_E_INVALID},
		{"cpu-percent", "0", CORDON_E_INVALID},
		{"env", "1A=x", CORDON_E_INVALID},
		{"env", "=x", CORDON_E_INVALID},
		{"secret", "no spaces", CORDON_E_INVALID},
		{"secret", "T@*.com", CORDON_E_INVALID},
		{"read", "${NOT_A_VARIABLE}/x", CORDON_E_INVALID},
		{"deny", "\xff", CORDON_E_INVALID},
	};
	struct cordon_error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cordon_policy_options *o = place_options();
		struct cordon_policy *p = NULL;
		char **argv = NULL;

		assert_code(cordon_policy_options_set(o, rows[i].option, rows[i].value, &err),
			    rows[i].code);
		assert_int_equal(cordon_policy_options_set(o, rows[i].option, rows[i].value, NULL),
				 rows[i].code);
		/* Not checked, and still no policy comes of it. */
		assert_code(cordon_policy_load(o, &p, &err), rows[i].code);
		assert_non_null(strstr(err.message, "refused before"));
		assert_code(cordon_wrap_command("true", o, &argv, &err), rows[i].code);
		assert_null(p);
		assert_null(argv);
		cordon_policy_options_free(o);
	}
}

static void test_typed(void **state)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_policy_options_level(o, "container", &err));
	assert_ok(cordon_policy_options_backend(o, "docker", &err));
	assert_ok(cordon_policy_options_fs(o, "scoped", &err));
	assert_ok(cordon_policy_options_read(o, "/usr/share", &err));
	assert_ok(cordon_policy_options_write(o, "data", &err));
	assert_ok(cordon_policy_options_deny(o, "secret.txt", &err));
	assert_ok(cordon_policy_options_net(o, "allowlist", &err));
	assert_ok(cordon_policy_options_allow_host(o, "example.com", &err));
	assert_ok(cordon_policy_options_env(o, "LANG", NULL, &err));
	assert_ok(cordon_policy_options_env(o, "A", "1=2", &err));
	assert_ok(cordon_policy_options_memory(o, 1u << 30, &err));
	assert_ok(cordon_policy_options_cpu_shares(o, 100, &err));
	assert_ok(cordon_policy_options_cpu_percent(o, 50, &err));
	assert_ok(cordon_policy_options_max_processes(o, 10, &err));
	assert_ok(cordon_policy_options_max_open_files(o, 20, &err));
	assert_ok(cordon_policy_options_max_output(o, 4096, &err));
	assert_ok(cordon_policy_options_timeout_ms(o, 2500, &err));
	assert_ok(cordon_policy_options_enforce(o, 1, &err));
	p = load(o);
	assert_value(p, "sandbox.level", "container");
	assert_value(p, NET "allowed_hosts", "[example.com]");
	assert_value(p, LIMITS "memory_mb", "1024");
	assert_value(p, LIMITS "timeout_ms", "2500");
	assert_value(p, LIMITS "max_processes", "10");
	assert_value(p, LIMITS "max_open_files", "20");
	assert_value(p, LIMITS "max_output_bytes", "4096");
	assert_value(p, LIMITS "cpu_shares", "100");
	assert_value(p, LIMITS "max_cpu_pct", "50");
	assert_value(p, "sandbox.environment.pass", "[LANG]");
	assert_value(p, "sandbox.environment.set", "[{name: A, value: 1=2}]");
	assert_value(p, "enforcement.enabled", "true");
	cordon_policy_free(p);

	o = place_options();
	assert_ok(cordon_policy_options_enforce(o, 0, &err));
	p = load(o);
	assert_value(p, "enforcement.dry_run", "true");
	cordon_policy_free(p);

	o = place_options();
	assert_code(cordon_policy_options_env(o, "A=B", "c", &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_env(o, NULL, "c", &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_timeout_ms(o, -5, &err), CORDON_E_INVALID);
	cordon_policy_options_free(o);
}

static void test_contradiction(void **state)
{
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_policy_options_net(o, "deny", &err));
	assert_ok(cordon_policy_options_allow_host(o, "example.com", &err));
	assert_code(cordon_policy_load(o, &p, &err), CORDON_E_INVALID);
	cordon_policy_options_free(o);
}

static void test_modes(void **state)
{
	static const struct {
		const char *mode, *level, *fs, *net;
	} rows[] = {
		{"strict", "process", "read-only", "deny"},
		{"workspace", "process", "scoped", "deny"},
		{"off", "none", "scoped", "deny"},
	};
	static const char *const unknown[] = {"", "Off", "none", "lax", NULL};
	struct cordon_policy_options *o;
	struct cordon_policy *p = NULL;
	struct cordon_error err;
	char *mounts = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		o = place_options();
		assert_null(cordon_policy_options_get_mode(o));
		assert_ok(cordon_policy_options_mode(o, rows[i].mode, &err));
		assert_string_equal(cordon_policy_options_get_mode(o), rows[i].mode);
		p = load(o);
		assert_value(p, "sandbox.level", rows[i].level);
		assert_value(p, FS "mode", rows[i].fs);
		assert_value(p, NET "mode", rows[i].net);
		cordon_policy_free(p);
	}
	/* Over a user's policy that closes everything, the workspace alone is opened. */
	place_write(place_config, "policy.yaml",
		    "cordon: 1\nsandbox:\n  capabilities:\n    filesystem: {mode: deny}\n");
	o = place_options();
	assert_ok(cordon_policy_options_mode(o, "workspace", &err));
	p = load(o);
	assert_ok(cordon_policy_get(p, FS "mount_paths", &mounts, &err));
	assert_non_null(strstr(mounts, place_ws));
	assert_non_null(strstr(mounts, "rw"));
	cordon_free(mounts);
	cordon_policy_free(p);
	place_write(place_config, "policy.yaml", "");

	for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
		o = place_options();
		p = NULL;
		assert_code(cordon_policy_options_mode(o, unknown[i], &err), CORDON_E_INVALID);
		assert_code(cordon_policy_load(o, &p, &err), CORDON_E_INVALID); /* never off */
		assert_null(cordon_policy_options_get_mode(o));
		cordon_policy_options_free(o);
	}
	assert_null(cordon_policy_options_get_mode(NULL));
}

static void test_config_default(void **state)
{
	struct cordon_config config = {.struct_size = sizeof(config)};
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_config_default(&config, &err));
	assert_int_equal(config.struct_size, sizeof(config));
	assert_false(config.enabled);
	assert_string_equal(config.type, "none");
	assert_true(config.allow_network && config.allow_write);
	assert_int_equal(config.max_memory_mb, 512);
	assert_int_equal(config.max_cpu_pct, 50);
	assert_ok(cordon_policy_from_config(&config, place_ws, &p, &err));
	assert_value(p, "sandbox.level", "none");
	assert_value(p, LIMITS "memory_mb", NULL);
	cordon_policy_free(p);
}

static void test_config(void **state)
{
	static const struct {
		const char *type, *level;
	} types[] = {
		{"namespace", "process"}, {"docker", "container"}, {"chroot", "process"},
		{"seatbelt", "process"},  {"none", "none"},
	};
	static const char *const read_only[] = {"/usr/share", NULL}, *const writable[] = {"/var/x",
											  NULL};
	struct cordon_config config = {.struct_size = sizeof(config)};
	struct cordon_error err;
	struct cordon_policy *p = NULL;
	char *mounts = NULL;

	(void)state;
	assert_ok(cordon_config_default(&config, &err));
	config.enabled = 1;
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		config.type = types[i].type;
		assert_ok(cordon_policy_from_config(&config, place_ws, &p, &err));
		assert_value(p, "sandbox.level", types[i].level);
		assert_value(p, NET "mode", "allow-all");
		assert_value(p, FS "mode", "scoped");
		assert_value(p, LIMITS "memory_mb", "512");
		assert_value(p, LIMITS "max_cpu_pct", "50");
		cordon_policy_free(p);
	}
	config.type = "namespace";
	config.allow_network = 0;
	config.read_only_dirs = read_only;
	config.writable_dirs = writable;
	assert_ok(cordon_policy_from_config(&config, place_ws, &p, &err));
	assert_value(p, NET "mode", "deny");
	assert_ok(cordon_policy_get(p, FS "mount_paths", &mounts, &err));
	assert_non_null(strstr(mounts, "{path: /usr/share, permissions: ro}"));
	assert_non_null(strstr(mounts, "{path: /var/x, permissions: rw}"));
	assert_non_null(strstr(mounts, place_ws));
	cordon_free(mounts);
	cordon_policy_free(p);

	p = NULL;
	config.allow_write = 0;
	assert_code(cordon_policy_from_config(&config, place_ws, &p, &err), CORDON_E_INVALID);
	config.writable_dirs = NULL;
	assert_ok(cordon_policy_from_config(&config, place_ws, &p, &err));
	assert_value(p, FS "mode", "read-only");
	cordon_policy_free(p);
}

static void test_config_refused(void **state)
{
	struct cordon_config config = {.struct_size = sizeof(config)};
	struct cordon_policy_options *o = place_options();
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	assert_ok(cordon_config_default(&config, &err));
	config.enabled = 1;
	config.type = "lxc";
	assert_code(cordon_policy_from_config(&config, place_ws, &p, &err), CORDON_E_INVALID);
	config.type = NULL;
	assert_code(cordon_policy_from_config(&config, place_ws, &p, &err), CORDON_E_INVALID);
	config.type = "none";
	config.max_memory_mb = -1;
	assert_code(cordon_policy_from_config(&config, place_ws, &p, &err), CORDON_E_INVALID);
	config.max_memory_mb = 0;
	config.max_cpu_pct = -1;
	assert_code(cordon_policy_options_config(o, &config, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_load(o, &p, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_config(o, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_config(NULL, &config, &err), CORDON_E_INVALID);
	config.struct_size = 0;
	assert_code(cordon_policy_options_config(o, &config, &err), CORDON_E_INVALID);
	assert_code(cordon_config_default(&config, &err), CORDON_E_INVALID);
	assert_code(cordon_config_default(NULL, &err), CORDON_E_INVALID);
	cordon_policy_options_free(o);
}

static void test_layers(void **state)
{
	static const char text[] = "cordon: 1\nsandbox:\n  level: container\n";
	static const char tight[] = "cordon: 1\nsandbox:\n  resource_limits: {timeout_ms: 50}\n";
	static const char wide[] = "cordon: 1\nsandbox:\n  resource_limits: {timeout_ms: 60}\n";
	char file[600];
	struct cordon_policy_options *o;
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	place_write(place_config, "policy.yaml",
		    "cordon: 1\nsandbox:\n  resource_limits: {memory_mb: 64}\n");
	place_write(place_ws, ".cordon.yaml",
		    "cordon: 1\nsandbox:\n  resource_limits: {memory_mb: 32}\n");
	p = load(place_options());
	assert_value(p, LIMITS "memory_mb", "32");
	cordon_policy_free(p);

	o = place_options();
	assert_ok(cordon_policy_options_flags(o, CORDON_POLICY_NO_PROJECT, &err));
	p = load(o);
	assert_value(p, LIMITS "memory_mb", "64");
	cordon_policy_free(p);

	o = place_options();
	assert_ok(cordon_policy_options_flags(o, CORDON_POLICY_NO_USER | CORDON_POLICY_NO_PROJECT,
					      &err));
	assert_ok(cordon_policy_options_text(o, text, sizeof(text) - 1, "first", &err));
	assert_ok(cordon_policy_options_text(o, tight, sizeof(tight) - 1, "second", &err));
	p = load(o);
	assert_value(p, LIMITS "memory_mb", NULL);
	assert_value(p, "sandbox.level", "container");
	assert_value(p, LIMITS "timeout_ms", "50");
	cordon_policy_free(p);

	/* What follows a file only tightens. */
	place_write(place, "p.yaml", tight);
	(void)snprintf(file, sizeof(file), "%s/p.yaml", place);
	o = place_options();
	p = NULL;
	assert_ok(cordon_policy_options_file(o, file, &err));
	assert_ok(cordon_policy_options_text(o, wide, sizeof(wide) - 1, "wide", &err));
	assert_code(cordon_policy_load(o, &p, &err), CORDON_E_WIDENS);
	assert_null(p);
	cordon_policy_options_free(o);
	place_write(place_config, "policy.yaml", "");
	place_write(place_ws, ".cordon.yaml", "");

	o = place_options();
	assert_code(cordon_policy_options_flags(o, 64, &err), CORDON_E_UNSUPPORTED);
	assert_code(cordon_policy_load(o, &p, &err), CORDON_E_UNSUPPORTED);
	cordon_policy_options_free(o);
}

static void test_parse(void **state)
{
	static const struct {
		const char *what, *text;
		int code;
	} rows[] = {
		{"nothing", "", 0},
		{"a level", "cordon: 1\nsandbox:\n  level: vm\n", 0},
		{"an unknown key", "cordon: 1\nsandboxx: {}\n", CORDON_E_POLICY},
		{"no YAML", "cordon: [", CORDON_E_POLICY},
		{"vm with docker", "cordon: 1\nsandbox: {level: vm, runtime: docker}\n",
		 CORDON_E_POLICY},
	};
	struct cordon_policy *p = NULL;
	struct cordon_error err;
	char *big;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = cordon_policy_parse(rows[i].text, strlen(rows[i].text), "in.yaml", place_ws,
					    &p, &err);

		if (r != rows[i].code)
			fail_msg("%s: %d: %s", rows[i].what, r, err.message);
		if (r == 0)
			cordon_policy_free(p);
		else if (!strstr(err.message, "in.yaml:"))
			fail_msg("%s: no place in: %s", rows[i].what, err.message);
		p = NULL;
	}
	assert_code(cordon_policy_parse("a", 1, "n", "/nonexistent", &p, &err), CORDON_E_SYSTEM);
	assert_code(cordon_policy_parse("a", 1, "n", "/dev/null", &p, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_parse(NULL, 0, "n", place_ws, &p, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_parse("a", 1, NULL, place_ws, &p, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_parse("", 0, "n", place_ws, NULL, &err), CORDON_E_INVALID);
	big = calloc(1, 2 << 20);
	assert_non_null(big);
	assert_code(cordon_policy_parse(big, 2 << 20, "n", place_ws, &p, &err), CORDON_E_LIMIT);
	free(big);
}

static void test_places(void **state)
{
	struct cordon_policy_places places = {.struct_size = sizeof(places), .workspace = place_ws};
	struct cordon_policy_options *o = NULL;
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	places.config_dir = "relative";
	assert_code(cordon_policy_options_new_at(&places, &o, &err), CORDON_E_INVALID);
	places.config_dir = NULL;
	places.struct_size = 4;
	assert_code(cordon_policy_options_new_at(&places, &o, &err), CORDON_E_INVALID);
	assert_ok(cordon_policy_options_new_at(NULL, &o, &err));
	cordon_policy_options_free(o);
	assert_code(cordon_policy_options_new(place_ws, NULL, &err), CORDON_E_INVALID);
	o = NULL;
	assert_code(cordon_policy_options_new("/nonexistent", &o, &err), CORDON_E_SYSTEM);
	assert_null(o);

	o = place_options();
	assert_ok(cordon_policy_options_file(o, "/nonexistent.yaml", &err));
	assert_code(cordon_policy_load(o, &p, &err), CORDON_E_NOT_FOUND);
	for (int i = 0; i < 63; i++)
		assert_ok(cordon_policy_options_file(o, "x", &err));
	assert_code(cordon_policy_options_file(o, "x", &err), CORDON_E_LIMIT);
	cordon_policy_options_free(o);
}

struct seen {
	size_t n, stop_at;
	char level_from[200];
	unsigned line;
};

static int see_value(void *data, const struct cordon_policy_value *v)
{
	struct seen *s = data;

	assert_true(v->struct_size == sizeof(*v));
	if (strcmp(v->field, "sandbox.level") == 0) {
		(void)snprintf(s->level_from, sizeof(s->level_from), "%s", v->from);
		s->line = v->line;
		assert_string_equal(v->value, "vm");
		assert_string_equal(v->layer, "--policy");
		assert_string_equal(v->file, "in.yaml");
		assert_int_equal(v->entry, -1);
		assert_int_equal(v->implied, 0);
	}
	return ++s->n == s->stop_at;
}

static void test_ask(void **state)
{
	static const char text[] =
		"cordon: 1\nsandbox:\n  level: vm\n  capabilities:\n    network:\n"
		"      mode: deny\n      allowed_hosts: [example.com]\n"
		"enforcement:\n  overrides:\n    tool_name:\n"
		"      Bash: {suspicious_floor: 0.1, malicious_floor: 0.2}\n";
	struct cordon_thresholds t = {.struct_size = sizeof(t)};
	struct cordon_policy *p = NULL;
	struct cordon_error err;
	struct seen seen = {0};
	char *json = NULL, *value = NULL;
	size_t len = 0;

	(void)state;
	assert_ok(cordon_policy_parse(text, sizeof(text) - 1, "in.yaml", place_ws, &p, &err));
	assert_non_null(strstr(cordon_policy_warning(p, 0), "no effect"));
	assert_null(cordon_policy_warning(p, 100));
	assert_ok(cordon_policy_explain(p, see_value, &seen, &err));
	assert_string_equal(seen.level_from, "--policy in.yaml:3:10");
	assert_int_equal(seen.line, 3);
	assert_true(seen.n > 20);
	seen = (struct seen){.stop_at = 3};
	assert_int_equal(cordon_policy_explain(p, see_value, &seen, &err), 1);
	assert_int_equal(seen.n, 3);
	assert_int_equal(err.code, 0);

	assert_ok(cordon_policy_show_json(p, &json, &len, &err));
	assert_int_equal(strlen(json), len);
	assert_non_null(strstr(json, "\"level\":\"vm\""));
	cordon_free(json);
	assert_ok(cordon_policy_schema(&json, NULL, &err));
	assert_non_null(strstr(json, "json-schema.org"));
	cordon_free(json);

	assert_ok(cordon_policy_thresholds(p, "Bash", NULL, &t, &err));
	assert_true(t.suspicious > 0.09 && t.suspicious < 0.11 && t.malicious < 0.21);
	assert_ok(cordon_policy_thresholds(p, NULL, NULL, &t, &err));
	assert_true(t.malicious > 0.69 && t.malicious < 0.71);

	assert_code(cordon_policy_get(p, "sandbox.levels", &value, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_get(NULL, "sandbox.level", &value, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_get(p, NULL, &value, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_get(p, "sandbox.level", NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_explain(p, NULL, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_explain(NULL, see_value, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_show_json(NULL, &json, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_show_json(p, NULL, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_schema(NULL, NULL, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_thresholds(NULL, NULL, NULL, &t, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_thresholds(p, NULL, NULL, NULL, &err), CORDON_E_INVALID);
	assert_null(cordon_policy_workspace(NULL));
	assert_null(cordon_policy_warning(NULL, 0));
	cordon_policy_free(p);
}

/* A text cannot make us read files. */
static void test_no_references(void **state)
{
	static const char text[] = "claw: 0.3.0\nkind: Claw\nmetadata: {name: x}\nspec:\n"
				   "  identity: {inline: {personality: p}}\n"
				   "  providers: []\n  sandbox: p.yaml\n";
	struct cordon_policy *p = NULL;
	struct cordon_error err;
	int r;

	(void)state;
	place_write(place, "p.yaml", "cordon: 1\n");
	r = cordon_policy_parse(text, sizeof(text) - 1, "in.yaml", place_ws, &p, &err);
	assert_true(r < 0);
	assert_null(p);
}

/* The words run through the real program, with the same meaning. */
static void test_wrap(void **state)
{
	struct cordon_policy_options *o = NULL;
	struct cordon_error err;
	char **argv = NULL;
	size_t n = 0;

	(void)state;
	assert_ok(cordon_policy_options_new(place_ws, &o, &err));
	assert_ok(cordon_policy_options_level(o, "none", &err));
	assert_ok(cordon_policy_options_env(o, "SPACED", "-- $HOME 'x'", &err));
	assert_ok(cordon_policy_options_set(o, "gpu", NULL, &err));
	assert_ok(cordon_wrap_command("echo \"$SPACED\"", o, &argv, &err));
	while (argv[n])
		n++;
	assert_int_equal(n, 8);
	assert_string_equal(argv[0], "cordon");
	assert_string_equal(argv[1], "run");
	assert_int_equal(strncmp(argv[2], "--cwd=/", 7), 0);
	assert_string_equal(argv[3], "--level=none");
	assert_string_equal(argv[4], "--env=SPACED=-- $HOME 'x'");
	assert_string_equal(argv[5], "--gpu");
	assert_string_equal(argv[6], "-c");
	assert_string_equal(argv[7], "echo \"$SPACED\"");
	cordon_free(argv);
	argv = NULL;
	assert_code(cordon_wrap_command("", o, &argv, &err), CORDON_E_INVALID);
	assert_code(cordon_wrap_command(NULL, o, &argv, &err), CORDON_E_INVALID);
	assert_code(cordon_wrap_command("x", NULL, &argv, &err), CORDON_E_INVALID);
	assert_code(cordon_wrap_command("x", o, NULL, &err), CORDON_E_INVALID);
	assert_ok(cordon_policy_options_text(o, "", 0, "t", &err));
	assert_code(cordon_wrap_command("x", o, &argv, &err), CORDON_E_UNSUPPORTED);
	cordon_policy_options_free(o);

	assert_ok(cordon_policy_options_new(place_ws, &o, &err));
	assert_ok(cordon_policy_options_flags(o, CORDON_POLICY_NO_USER, &err));
	assert_code(cordon_wrap_command("x", o, &argv, &err), CORDON_E_UNSUPPORTED);
	cordon_policy_options_free(o);
	o = place_options(); /* directories of its own */
	assert_code(cordon_wrap_command("x", o, &argv, &err), CORDON_E_UNSUPPORTED);
	cordon_policy_options_free(o);
	assert_null(argv);
}

static void test_nulls(void **state)
{
	struct cordon_policy *p = NULL;
	struct cordon_error err;

	(void)state;
	cordon_policy_free(NULL);
	cordon_policy_options_free(NULL);
	cordon_free(NULL);
	assert_code(cordon_policy_load(NULL, &p, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_set(NULL, "level", "vm", &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_mode(NULL, "off", &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_flags(NULL, 0, &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_text(NULL, "", 0, "n", &err), CORDON_E_INVALID);
	assert_code(cordon_policy_options_env(NULL, "A", "b", &err), CORDON_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_config_default),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_refused),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_ask),
		cmocka_unit_test(test_no_references),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_nulls),
	};

	return cmocka_run_group_tests(tests, place_setup, place_teardown);
}
