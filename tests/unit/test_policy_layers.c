/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers: which one a value comes from, what replaces and what only tightens, what options open, what the
 * ceiling lowers, and which files are not trusted.  Row by row the rules are in test_policy_rows.c.
 */
#include "policy_kit.h"
#include "policy_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct world {
	struct kit_place place;
	struct strv files;
	struct policy *options;
	struct policy_context context;
	struct policy *p; /* what was loaded */
	struct cordon_error err;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || kit_place_make(&w->place, "layers") < 0)
		return -1;
	w->options = policy_new();
	w->context = kit_context;
	w->context.workspace = w->place.work;
	w->context.home = w->place.home;
	*state = w;
	return w->options ? 0 : -1;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	int r = kit_place_done(&w->place);

	strv_done(&w->files);
	policy_free(w->options);
	policy_free(w->p);
	free(w);
	return r;
}

static void put_system(struct world *w, const char *text)
{
	kit_put_in(w->place.sys, "policy.yaml", text);
}
static void put_ceiling(struct world *w, const char *text)
{
	kit_put_in(w->place.sys, "ceiling.yaml", text);
}
static void put_user(struct world *w, const char *text)
{
	kit_put_in(w->place.cfg, "policy.yaml", text);
}
static void put_project(struct world *w, const char *text)
{
	kit_put_in(w->place.work, ".cordon.yaml", text);
}
static void add_file(struct world *w, const char *text)
{
	const char *path = w->files.n ? w->place.next : w->place.first;

	kit_put(path, text);
	assert_int_equal(strv_add(&w->files, path), 0);
}

static int load(struct world *w)
{
	struct policy_sources src = {
		.workspace = w->place.work,
		.home = w->place.home,
		.system_dir = w->place.sys,
		.config_dir = w->place.cfg,
		.files = &w->files,
		.options = w->options,
		.checks = &kit_checks,
	};

	policy_free(w->p);
	w->p = NULL;
	w->err = (struct cordon_error){0};
	return policy_load(&src, &w->p, &w->err);
}

static void load_good(struct world *w)
{
	if (load(w) < 0)
		fail_msg("refused: %s (%s)", w->err.message, w->err.hint);
}

static void load_bad(struct world *w, int code, const char *message)
{
	int r = load(w);

	if (r != code || !strstr(w->err.message, message))
		fail_msg("%d %s, not '%s'", r, w->err.message, message);
}

static void check_origin(const struct world *w, const struct origin *o, enum layer layer,
			 const char *file, unsigned line)
{
	assert_int_equal(o->layer, layer);
	assert_int_equal(o->line, line);
	if (file) {
		assert_true(o->file < w->p->files.n);
		if (!strstr(w->p->files.v[o->file], file))
			fail_msg("from %s, not %s", w->p->files.v[o->file], file);
	}
}

static void mount_option(struct world *w, const char *path, enum permission permission)
{
	assert_int_equal(policy_option_mount(w->options, &w->context, "--read", path, permission,
					     &w->err),
			 0);
}

/* The permissions of a mounted path, or -1. */
static int mount_of(const struct world *w, const char *path)
{
	for (size_t i = 0; i < w->p->mounts.n; i++) {
		const struct mount *m = w->p->mounts.records[i];

		if (strcmp(m->path, path) == 0)
			return m->permissions;
	}
	return -1;
}

static void test_nothing(void **state)
{
	struct world *w = *state;

	load_good(w);
	assert_int_equal(w->p->level, LEVEL_PROCESS);
	assert_int_equal(w->p->net_mode, NET_DENY);
	assert_int_equal(w->p->fs_mode, FS_SCOPED);
	assert_int_equal(w->p->mounts.n, 1);
	assert_int_equal(mount_of(w, w->place.work), PERMISSION_RW);
	assert_false(policy_has(w->p, POLICY_MEMORY));
	assert_false(policy_has(w->p, POLICY_TIMEOUT));
	assert_false(policy_is_enforcing(w->p));
	check_origin(w, &w->p->origin[POLICY_LEVEL], LAYER_BUILTIN, NULL, 0);
	put_user(w, "");
	put_project(w, "# nothing\n");
	load_good(w);
	assert_int_equal(w->p->origin[POLICY_LEVEL].layer, LAYER_BUILTIN);
}

static void test_each_layer(void **state)
{
	struct world *w = *state;

	put_system(w, "sandbox:\n  resource_limits:\n    memory_mb: 100\n    timeout_ms: 100\n"
		      "    max_processes: 100\n    max_open_files: 100\n");
	put_user(w, "\nsandbox:\n  resource_limits:\n    timeout_ms: 200\n    max_processes: 200\n"
		    "    max_open_files: 200\n");
	put_project(w, "\n\nsandbox:\n  resource_limits:\n    max_processes: 50\n"
		       "    max_open_files: 50\n");
	add_file(w, "\n\n\nsandbox: {resource_limits: {max_open_files: 300}}\n");
	load_good(w);
	assert_int_equal(w->p->memory_bytes, 100 << 20);
	check_origin(w, &w->p->origin[POLICY_MEMORY], LAYER_SYSTEM, "/sys/policy.yaml", 3);
	assert_int_equal(w->p->timeout_ms, 200);
	check_origin(w, &w->p->origin[POLICY_TIMEOUT], LAYER_USER, "/cfg/policy.yaml", 4);
	assert_int_equal(w->p->max_processes, 50);
	check_origin(w, &w->p->origin[POLICY_PROCESSES], LAYER_PROJECT, "/repo/.cordon.yaml", 5);
	assert_int_equal(w->p->max_open_files, 300);
	check_origin(w, &w->p->origin[POLICY_OPEN_FILES], LAYER_FILE, "first.yaml", 4);
	assert_int_equal(w->p->origin[POLICY_OPEN_FILES].column, 45);
	assert_int_equal(policy_option_int(w->options, POLICY_TIMEOUT, "-t", 7, &w->err), 0);
	load_good(w);
	assert_int_equal(w->p->timeout_ms, 7);
	check_origin(w, &w->p->origin[POLICY_TIMEOUT], LAYER_OPTION, NULL, 0);
}

static void test_further_files_tighten(void **state)
{
	struct world *w = *state;

	add_file(w, "sandbox: {resource_limits: {timeout_ms: 100}}\n");
	add_file(w, "sandbox: {resource_limits: {timeout_ms: 50}}\n");
	load_good(w);
	check_origin(w, &w->p->origin[POLICY_TIMEOUT], LAYER_FILE_NEXT, "next.yaml", 1);
	kit_put(w->place.next, "sandbox: {resource_limits: {timeout_ms: 101}}\n");
	load_bad(w, CORDON_E_WIDENS, "next.yaml:1:41: ");
	kit_put(w->place.next, NULL);
	load_bad(w, CORDON_E_NOT_FOUND, "next.yaml");
}

/* One row per thing that a project may not touch at all. */
static void test_project_may_not(void **state)
{
	static const struct {
		const char *user, *project, *at;
	} rows[] = {
		{NULL, "policy: {audit: {log_inputs: true}}\n", ":1:30: "},
		{NULL, "policy: {audit: {retention: 1s}}\n", ":1:29: "},
		{NULL, "policy: {audit: {destination: webhook}}\n", ":1:31: "},
		{NULL, "policy: {audit: {log_approvals: false}}\n", ":1:33: "},
		{NULL, "enforcement: {adapter: noop}\n", ":1:24: "},
		{NULL, "enforcement: {fallback: noop}\n", ":1:25: "},
		{NULL, "enforcement: {dry_run: true}\n", ":1:24: "},
		{NULL, "enforcement: {enabled: false}\n", ":1:24: "},
		{NULL, "sandbox: {environment: {set: {PATH: /tmp}}}\n", ":1:30: "},
		{NULL, "sandbox: {environment: {pass: [LD_PRELOAD]}}\n", ":1:32: "},
		{NULL, "sandbox: {image: evil}\n", ":1:18: "},
		{NULL, "sandbox: {level: container, runtime: docker}\n", ":1:38: "},
		{NULL, "sandbox: {level: none}\n", ":1:18: "},
		{NULL, "\nsandbox:\n  capabilities:\n    network: {mode: allow-all}\n", ":4:21: "},
		{NULL, "sandbox: {capabilities: {filesystem: {mode: full}}}\n", ":1:45: "},
		{NULL,
		 "sandbox: {capabilities: {filesystem: {mount_paths: [{path: .., "
		 "permissions: ro}]}}}\n",
		 ":1:60: "},
		{NULL,
		 "sandbox: {capabilities: {filesystem: {mount_paths: [{path: ../repo2, "
		 "permissions: ro}]}}}\n",
		 ":1:60: "},
		{NULL,
		 "sandbox: {capabilities: {filesystem: {mount_paths: [{path: ~, "
		 "permissions: ro}]}}}\n",
		 "must be a string"},
		{NULL, "enforcement: {landlock: {network: allow}}\n", ":1:35: "},
		{NULL, "enforcement: {docker: {network: bridge}}\n", ":1:33: "},
		{NULL, "sandbox: {capabilities: {secrets: {injection: environment}}}\n", ":1:47: "},
		/* read-only shows the workspace: wider than mounts that do not */
		{"sandbox: {capabilities: {filesystem: {mode: scoped, mount_paths: "
		 "[{path: /srv/data, permissions: ro}]}}}\n",
		 "sandbox: {capabilities: {filesystem: {mode: read-only}}}\n", ":1:45: "},
		/* the list of egress rules is not replaced by one without its refusals */
		{"sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: [a.example], "
		 "egress: [{host: a.example, methods: [POST], action: deny}]}}}\n",
		 "sandbox: {capabilities: {network: {egress: [{host: a.example}]}}}\n", ":1:52: "},
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r;

		put_user(w, rows[i].user);
		put_project(w, rows[i].project);
		r = load(w);
		if (r >= 0 || !strstr(w->err.message, rows[i].at) ||
		    !strstr(w->err.message, "/repo/.cordon.yaml"))
			fail_msg("%s: %d %s", rows[i].project, r, w->err.message);
		if (r != CORDON_E_WIDENS && rows[i].at[0] == ':')
			fail_msg("%s: %d %s", rows[i].project, r, w->err.message);
	}
}

static void test_egress_grows_in_front(void **state)
{
	struct world *w = *state;
	const struct egress *e;

	put_user(w,
		 "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: [a.example], "
		 "egress: [{host: a.example, methods: [GET]}]}}}\n");
	put_project(w, "sandbox: {capabilities: {network: {egress: [{host: a.example, paths: "
		       "[\"/x*\"], action: deny}]}}}\n");
	load_good(w);
	assert_int_equal(w->p->egress.n, 2);
	e = w->p->egress.records[0];
	assert_int_equal(e->action, EGRESS_DENY);
	assert_int_equal(e->origin[EGRESS_HOST_ROW].layer, LAYER_PROJECT);
	e = w->p->egress.records[1];
	assert_int_equal(e->origin[EGRESS_HOST_ROW].layer, LAYER_USER);
	put_project(w, "sandbox: {capabilities: {network: {egress: []}}}\n");
	load_good(w);
	assert_int_equal(w->p->egress.n, 1);
}

static void test_ceiling(void **state)
{
	struct world *w = *state;

	/* a default above it is lowered, a limit that nothing sets is set */
	put_ceiling(
		w, "sandbox:\n  level: container\n  resource_limits: {memory_mb: 64, grace_ms: 5}\n"
		   "  capabilities: {filesystem: {mode: read-only}}\n");
	load_good(w);
	assert_int_equal(w->p->level, LEVEL_CONTAINER);
	assert_int_equal(w->p->fs_mode, FS_READ_ONLY);
	assert_int_equal(w->p->memory_bytes, 64 << 20);
	assert_int_equal(w->p->grace_ms, 5);
	check_origin(w, &w->p->origin[POLICY_MEMORY], LAYER_CEILING, "ceiling.yaml", 3);
	/* what somebody wrote is an error that names it */
	put_user(w, "sandbox: {resource_limits: {memory_mb: 65}}\n");
	load_bad(w, CORDON_E_WIDENS, "exceeds the ceiling");
	assert_non_null(strstr(w->err.message, "/cfg/policy.yaml:1:40"));
	assert_non_null(strstr(w->err.hint, "ceiling.yaml:3:"));
	put_user(w, "sandbox: {resource_limits: {memory_mb: 63}}\n");
	load_good(w);
	assert_int_equal(w->p->memory_bytes, 63 << 20);
	assert_int_equal(policy_option_int(w->options, POLICY_MEMORY, "-m", 65 << 20, &w->err), 0);
	load_bad(w, CORDON_E_WIDENS, "option: 'sandbox.resource_limits.memory_mb' exceeds");
}

static void test_ceiling_grants_nothing(void **state)
{
	struct world *w = *state;

	put_ceiling(w, "sandbox: {capabilities: {filesystem: {mount_paths: "
		       "[{path: /srv/data, permissions: rw}]}, devices: [/dev/fuse]}}\n");
	load_good(w);
	assert_int_equal(w->p->mounts.n, 0); /* the workspace is above the ceiling: it goes */
	assert_int_equal(w->p->devices.n, 0);
	mount_option(w, "/srv/data/x", PERMISSION_RO);
	load_good(w);
	assert_int_equal(w->p->mounts.n, 1);
	mount_option(w, "/srv/data2", PERMISSION_RO);
	load_bad(w, CORDON_E_WIDENS, "/srv/data2");
}

/* Mounts of a ceiling without a mode: mode full would pass them by. */
static void test_ceiling_of_mounts_alone(void **state)
{
	struct world *w = *state;

	put_user(w, "sandbox: {capabilities: {filesystem: {mode: full}}}\n");
	load_good(w);
	put_ceiling(w, "sandbox: {capabilities: {filesystem: {mount_paths: "
		       "[{path: /srv/data, permissions: rw}]}}}\n");
	load_bad(w, CORDON_E_WIDENS, "/cfg/policy.yaml:1:45: ");
}

static void test_ceiling_lowers_mounts(void **state)
{
	struct world *w = *state;
	char text[600];

	(void)snprintf(text, sizeof(text),
		       "sandbox: {capabilities: {filesystem: {mount_paths: [{path: \"%s\", "
		       "permissions: ro}]}}}\n",
		       w->place.work);
	put_ceiling(w, text);
	load_good(w);
	assert_int_equal(w->p->mounts.n, 1);
	assert_int_equal(mount_of(w, w->place.work), PERMISSION_RO);
}

static void test_ceiling_egress(void **state)
{
	struct world *w = *state;

	put_ceiling(w,
		    "sandbox: {capabilities: {network: {egress: [{host: a.example, action: deny}, "
		    "{host: b.example}]}}}\n");
	put_user(w, "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: "
		    "[a.example]}}}\n");
	load_good(w);
	assert_int_equal(w->p->egress.n,
			 1); /* the refusal, not the grant of what nobody may reach */
	assert_int_equal(((const struct egress *)w->p->egress.records[0])->action, EGRESS_DENY);
	put_user(w, "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: "
		    "[a.example], egress: [{host: a.example}]}}}\n");
	load_bad(w, CORDON_E_WIDENS, "exceeds the ceiling");
}

static const char manifest[] = "claw: \"0.3.0\"\nkind: Sandbox\nmetadata: {name: a}\nspec:\n"
			       "  level: process\n";

static void test_manifest_replaces(void **state)
{
	struct world *w = *state;

	put_user(
		w,
		"sandbox:\n  workspace: discard\n  resource_limits: {memory_mb: 64, timeout_ms: 9}\n"
		"  capabilities:\n    filesystem: {denied_paths: [/srv/secret]}\n"
		"    shell: {blocked_commands: [mkfs]}\n");
	add_file(w, manifest);
	load_good(w);
	assert_false(policy_has(w->p, POLICY_MEMORY));
	assert_false(policy_has(w->p, POLICY_TIMEOUT));
	assert_int_equal(w->p->workspace, WORKSPACE_DIRECT);
	assert_int_equal(w->p->mounts.n, 0);
	assert_int_equal(w->p->denied.n, 1);
	assert_int_equal(w->p->blocked_commands.n, 1);
	/* left out is denied, and says so */
	assert_int_equal(w->p->net_mode, NET_DENY);
	assert_int_equal(w->p->fs_mode, FS_DENY);
	assert_int_equal(w->p->shell_mode, SHELL_RESTRICTED);
	assert_true(w->p->origin[POLICY_NET_MODE].implied);
	assert_true(w->p->origin[POLICY_FS_MODE].implied);
	assert_true(w->p->origin[POLICY_SHELL_MODE].implied);
	assert_false(w->p->origin[POLICY_LEVEL].implied);
}

/* What a manifest leaves out does not loosen what is tighter already. */
static void test_omission_is_no_request(void **state)
{
	struct world *w = *state;

	put_user(w, "sandbox: {capabilities: {shell: {mode: deny}}}\n");
	put_project(w, manifest);
	load_good(w);
	assert_int_equal(w->p->shell_mode, SHELL_DENY);
	assert_int_equal(w->p->fs_mode, FS_DENY);
}

static void test_read_option(void **state)
{
	struct world *w = *state;

	mount_option(w, "/srv/data", PERMISSION_RO);
	/* on top of deny: that path alone, even if mounts were written beside the mode */
	put_user(w, "sandbox: {capabilities: {filesystem: {mode: deny, mount_paths: "
		    "[{path: /srv/other, permissions: rw}]}}}\n");
	load_good(w);
	assert_int_equal(w->p->fs_mode, FS_SCOPED);
	assert_int_equal(w->p->mounts.n, 1);
	assert_int_equal(mount_of(w, "/srv/data"), PERMISSION_RO);
	/* on top of read-only: the others stay, read-only, and so does the workspace */
	put_user(w, "sandbox: {capabilities: {filesystem: {mode: read-only, mount_paths: "
		    "[{path: /srv/other, permissions: rw}]}}}\n");
	load_good(w);
	assert_int_equal(w->p->fs_mode, FS_SCOPED);
	assert_int_equal(w->p->mounts.n, 3);
	assert_int_equal(mount_of(w, "/srv/other"), PERMISSION_RO);
	assert_int_equal(mount_of(w, w->place.work), PERMISSION_RO);
	/* the same path again: as the option says */
	put_user(w, "sandbox: {capabilities: {filesystem: {mount_paths: "
		    "[{path: /srv/data, permissions: rw}]}}}\n");
	load_good(w);
	assert_int_equal(w->p->mounts.n, 1);
	assert_int_equal(mount_of(w, "/srv/data"), PERMISSION_RO);
}

static void test_host_option(void **state)
{
	struct world *w = *state;

	assert_int_equal(policy_option_text(w->options, POLICY_ALLOWED_HOSTS, &w->context,
					    "--allow-host", "a.example", &w->err),
			 0);
	put_user(w,
		 "sandbox: {capabilities: {network: {mode: deny, allowed_hosts: [b.example]}}}\n");
	load_good(w);
	assert_int_equal(w->p->net_mode, NET_ALLOWLIST);
	assert_int_equal(w->p->allowed_hosts.n, 1);
	assert_string_equal(w->p->allowed_hosts.items[0].text, "a.example");
	put_user(w, "sandbox: {capabilities: {network: {mode: allowlist, allowed_hosts: "
		    "[b.example]}}}\n");
	load_good(w);
	assert_int_equal(w->p->allowed_hosts.n, 2);
	/* the mode written out as well: the dormant list still stays closed */
	assert_int_equal(policy_option_text(w->options, POLICY_NET_MODE, &w->context, "--net",
					    "allowlist", &w->err),
			 0);
	put_user(w,
		 "sandbox: {capabilities: {network: {mode: deny, allowed_hosts: [b.example]}}}\n");
	load_good(w);
	assert_int_equal(w->p->net_mode, NET_ALLOWLIST);
	assert_int_equal(w->p->allowed_hosts.n, 1);
}

static void test_rule_sets(void **state)
{
	struct world *w = *state;
	static const char *const texts[] = {
		"policy: {rules: [{id: a, action: deny, scope: all}]}\n",
		"policy: {rules: [{id: a, action: allow, scope: all}]}\n",
	};

	put_system(w, texts[0]);
	put_user(w, texts[1]);
	put_project(w, texts[1]);
	add_file(w, texts[1]);
	add_file(w, texts[0]);
	load_good(w);
	assert_int_equal(w->p->rules.n, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct rule *a = w->p->rules.records[i];

		for (size_t k = 0; k < i; k++) {
			const struct rule *b = w->p->rules.records[k];

			assert_int_not_equal(a->origin[RULE_ID_ROW].root,
					     b->origin[RULE_ID_ROW].root);
		}
	}
}

static void test_trust(void **state)
{
	struct world *w = *state;
	char path[400], other[400];

	put_user(w, "sandbox: {level: vm}\n");
	(void)snprintf(path, sizeof(path), "%s/policy.yaml", w->place.cfg);
	assert_int_equal(chmod(path, 0602), 0);
	load_bad(w, CORDON_E_POLICY, "other users can change this file");
	assert_int_equal(chmod(path, 0600), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		load_bad(w, CORDON_E_POLICY, "other users can change this file");
	}
	put_user(w, NULL);
	assert_int_equal(mkdir(path, 0700), 0);
	load_bad(w, CORDON_E_POLICY, "not a regular file");
	assert_int_equal(rmdir(path), 0);
	/* a project's file is a plain file */
	(void)snprintf(other, sizeof(other), "%s/.cordon.yaml", w->place.work);
	kit_put(w->place.first, "sandbox: {level: vm}\n");
	assert_int_equal(symlink(w->place.first, other), 0);
	load_bad(w, CORDON_E_POLICY, "a symbolic link");
	assert_int_equal(unlink(other), 0);
	assert_int_equal(mkfifo(other, 0600), 0);
	load_bad(w, CORDON_E_POLICY, "not a regular file");
}

static void test_guard_file(void **state)
{
	struct world *w = *state;
	char dir[400];

	(void)snprintf(dir, sizeof(dir), "%s/.cloneguard", w->place.home);
	assert_int_equal(mkdir(dir, 0700), 0);
	kit_put_in(dir, "policy.yaml", "version: \"1\"\ndry_run: false\n");
	load_good(w);
	assert_true(policy_is_enforcing(w->p));
	check_origin(w, &w->p->origin[POLICY_DRY_RUN], LAYER_USER, ".cloneguard/policy.yaml", 2);
	put_user(w, "");
	load_good(w);
	assert_false(policy_is_enforcing(w->p));
	put_user(w, NULL);
	kit_put_in(dir, "policy.yaml", "key: [unterminated\n");
	load_bad(w, CORDON_E_POLICY, "not valid YAML"); /* never the defaults instead */
}

/* A rule across layers is reported where the later layer broke it. */
static void test_check_across_layers(void **state)
{
	struct world *w = *state;

	put_project(w, "enforcement: {thresholds: {malicious_floor: 0.2}}\n");
	load_bad(w, CORDON_E_POLICY, "/repo/.cordon.yaml:1:45: the suspicious threshold");
	put_project(w, NULL);
	put_user(w, "sandbox: {level: container, runtime: docker}\n");
	put_project(w, "sandbox: {level: vm}\n");
	load_good(w);
	assert_int_equal(w->p->level, LEVEL_VM);
	assert_false(policy_has(w->p, POLICY_RUNTIME)); /* docker went with its level */
}

/* Names of directories that a glob would read otherwise. */
static void test_odd_directories(void **state)
{
	static const char text[] =
		"sandbox: {capabilities: {filesystem: {denied_paths: [.env, \"s/*.pem\", ~/.ssh, ., "
		"\"${PROJECT_DIR}/x\"], mount_paths: [{path: \"${PROJECT_DIR}\", permissions: "
		"ro}]}}}\n";
	static const char *const want[] = {"/srv/\\[a\\]/**/.env", "/srv/\\[a\\]/s/*.pem",
					   "/home/\\*/.ssh", "/srv/\\[a\\]", "/srv/\\[a\\]/x"};
	struct policy_context c = kit_context;
	AUTO(policy_freep) struct policy *p = policy_new();
	struct cordon_error err = {0};

	(void)state;
	c.workspace = "/srv/[a]";
	c.home = "/home/*";
	if (policy_parse(&c, text, strlen(text), "t", LAYER_USER, false, p, NULL, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(p->denied.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(p->denied.items[i].text, want[i]);
	assert_string_equal(((const struct mount *)p->mounts.records[0])->path, "/srv/[a]");
}

/* References of Claw manifests. */
static const char claw_head[] =
	"claw: \"0.3.0\"\nkind: Claw\nmetadata: {name: a}\nspec:\n  identity: {inline: {}}\n"
	"  providers: [{inline: {}}]\n";

static void put_claw(struct world *w, const char *rest)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "%s%s", claw_head, rest);
	kit_put(w->place.first, text);
}

static void test_references(void **state)
{
	static const struct {
		const char *rest;
		int code;
		const char *message;
	} rows[] = {
		{"  sandbox: ./missing.yaml\n", CORDON_E_NOT_FOUND, "first.yaml:7:12: "},
		{"  policies: [\"nothing-*.yaml\"]\n", CORDON_E_NOT_FOUND, "names no file"},
		{"  policies: [\"/*/*/*.yaml\"]\n", CORDON_E_POLICY, "a glob above the last part"},
		{"  sandbox: ./next.yaml\n", CORDON_E_LIMIT, "nested too deeply"},
		{"  sandbox: claw://registry/acme/x@1.0.0\n", CORDON_E_UNSUPPORTED, "registries"},
		{"  sandbox: claw://local/policy/x\n", CORDON_E_POLICY, "does not name a sandbox"},
		{"  sandbox: claw://local/sandbox/none\n", CORDON_E_NOT_FOUND, "first.yaml:7:12: "},
		{"  sandbox: claw://local/sandbox/../x\n", CORDON_E_INVALID, "first.yaml:7:12: "},
		{"  policies: [repo]\n", CORDON_E_POLICY, "not a regular file"},
	};
	struct world *w = *state;

	assert_int_equal(strv_add(&w->files, w->place.first), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), "%s  sandbox: first.yaml\n", claw_head);
		kit_put(w->place.next, text); /* a cycle, for the row that asks for it */
		put_claw(w, rows[i].rest);
		load_bad(w, rows[i].code, rows[i].message);
	}
}

static void test_references_found(void **state)
{
	struct world *w = *state;
	char dir[400];

	kit_put_in(w->place.root, "b.pol.yaml",
		   "claw: \"0.3.0\"\nkind: Policy\nmetadata: {name: b}\nspec:\n  rules:\n"
		   "    - {id: b, action: deny, scope: all}\n");
	kit_put_in(w->place.root, "a.pol.yaml",
		   "claw: \"0.3.0\"\nkind: Policy\nmetadata: {name: a}\nspec:\n  rules:\n"
		   "    - {id: a, action: allow, scope: all}\n");
	(void)snprintf(dir, sizeof(dir), "%s/manifests", w->place.cfg);
	assert_int_equal(mkdir(dir, 0700), 0);
	(void)snprintf(dir, sizeof(dir), "%s/manifests/sandbox", w->place.cfg);
	assert_int_equal(mkdir(dir, 0700), 0);
	kit_put_in(dir, "box.yaml", manifest);
	put_claw(w, "  sandbox: claw://sandbox/box\n  policies: [\"*.pol.yaml\"]\n");
	assert_int_equal(strv_add(&w->files, w->place.first), 0);
	load_good(w);
	assert_int_equal(w->p->level, LEVEL_PROCESS);
	check_origin(w, &w->p->origin[POLICY_LEVEL], LAYER_FILE, "box.yaml", 5);
	/* in the order of their names: the first that matches decides */
	assert_int_equal(w->p->rules.n, 2);
	assert_string_equal(((const struct rule *)w->p->rules.records[0])->id, "a");
	assert_string_equal(((const struct rule *)w->p->rules.records[1])->id, "b");
	for (size_t i = 0; i < 2; i++) {
		const struct rule *r = w->p->rules.records[i];

		assert_string_equal(w->p->files.v[r->origin[RULE_ID_ROW].root], w->place.first);
	}
}

/* A project's file reads no other file, whatever it names. */
static void test_project_refers_to_nothing(void **state)
{
	struct world *w = *state;
	char text[1024];

	kit_put(w->place.next, manifest);
	(void)snprintf(text, sizeof(text), "%s  sandbox: ../next.yaml\n", claw_head);
	put_project(w, text);
	load_bad(w, CORDON_E_UNSUPPORTED, ".cordon.yaml:7:12: ");
}

#define LAYER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAYER_TEST(test_nothing),
		LAYER_TEST(test_each_layer),
		LAYER_TEST(test_further_files_tighten),
		LAYER_TEST(test_project_may_not),
		LAYER_TEST(test_egress_grows_in_front),
		LAYER_TEST(test_ceiling),
		LAYER_TEST(test_ceiling_grants_nothing),
		LAYER_TEST(test_ceiling_of_mounts_alone),
		LAYER_TEST(test_ceiling_lowers_mounts),
		LAYER_TEST(test_ceiling_egress),
		LAYER_TEST(test_manifest_replaces),
		LAYER_TEST(test_omission_is_no_request),
		LAYER_TEST(test_read_option),
		LAYER_TEST(test_host_option),
		LAYER_TEST(test_rule_sets),
		LAYER_TEST(test_trust),
		LAYER_TEST(test_guard_file),
		LAYER_TEST(test_check_across_layers),
		cmocka_unit_test(test_odd_directories),
		LAYER_TEST(test_references),
		LAYER_TEST(test_references_found),
		LAYER_TEST(test_project_refers_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
