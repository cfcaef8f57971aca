/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy says about paths, hosts and commands.  Every group of rows has one policy; a row has
 * a question, the decision and a piece of the rule that must have decided.  Paths stand below a
 * directory of the test's own, written as @ in the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "core/checks.h"
#include "core/why.h"
#include "policy/load.h"

static char base[PATH_MAX]; /* real path of the test's directory */
static char workspace[PATH_MAX + 16], home[PATH_MAX + 16];

/* Replaces each @ by the test's directory. */
static char *at_base(const char *text)
{
	struct buf b = BUF_INIT(1 << 20);
	char *ret = NULL;

	for (; *text; text++) {
		if (*text == '@')
			buf_str(&b, base);
		else
			buf_char(&b, *text);
	}
	buf_str(&b, "");
	assert_int_equal(buf_take(&b, &ret, NULL), 0);
	return ret;
}

static void make_dir(const char *name)
{
	AUTO_FREE char *path = at_base(name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_link(const char *target, const char *name)
{
	AUTO_FREE char *to = at_base(target);
	AUTO_FREE char *path = at_base(name);

	assert_int_equal(symlink(to, path), 0);
}

static int setup(void **state)
{
	static const char *const dirs[] = {"@/proj",        "@/proj/src",     "@/proj2",
					   "@/proj/secret", "@/home",         "@/data",
					   "@/data/in",     "@/data/in/keys", "@/outside"};
	static const char *const links[][2] = {
		{"@/proj/secret", "@/proj/link-to-secret"},
		{"@/outside", "@/proj/link-out"},
		{"secret", "@/proj/relative-link"},
		{"@/proj", "@/link-to-proj"},
		{"@/data", "@/data-link"},
		{"@/nowhere", "@/proj/dangling"},
		{"@/outside", "@/proj/up"},
	};
	/* Not below /tmp, of which a call has its own. */
	char template[] = "/var/tmp/cordon-why-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(template));
	assert_non_null(realpath(template, base));
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		make_dir(dirs[i]);
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		make_link(links[i][0], links[i][1]);
	(void)snprintf(workspace, sizeof(workspace), "%s/proj", base);
	(void)snprintf(home, sizeof(home), "%s/home", base);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"@/proj/up",
		"@/proj/dangling",
		"@/data-link",
		"@/link-to-proj",
		"@/proj/relative-link",
		"@/proj/link-out",
		"@/proj/link-to-secret",
		"@/policy.yaml",
	};
	static const char *const dirs[] = {"@/outside", "@/data/in/keys", "@/data/in",
					   "@/data",    "@/home",         "@/proj/secret",
					   "@/proj2",   "@/proj/src",     "@/proj",
					   "@"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = at_base(names[i]);

		(void)unlink(path);
	}
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *path = at_base(dirs[i]);

		(void)rmdir(path);
	}
	return access(base, F_OK) == 0; /* nothing may be left */
}

/* The policy in force with this text as --policy; "" for the built-in default. */
static struct policy *load(const char *yaml)
{
	AUTO_FREE char *text = at_base(yaml);
	AUTO_FREE char *file = at_base("@/policy.yaml");
	struct strv files = {0};
	struct policy_sources s = {
		.workspace = workspace, .home = home, .files = &files, .checks = &core_checks};
	struct cordon_error err = {0};
	struct policy *p = NULL;

	if (*text) {
		assert_int_equal(io_write_file_at(AT_FDCWD, file, text, strlen(text), 0600), 0);
		assert_int_equal(strv_add(&files, file), 0);
	}
	if (policy_load(&s, &p, &err) < 0)
		fail_msg("%s (%s)", err.message, err.hint);
	strv_done(&files);
	return p;
}

enum question { PATH_READ, PATH_WRITE, HOST, COMMAND };

struct row {
	enum question question;
	const char *text;
	enum why_decision want;
	const char *rule; /* part of the rule; @ as everywhere */
};

static void ask(const struct policy *p, const struct row *row)
{
	const struct policy_context c = {
		.workspace = workspace, .home = home, .tmp = "/tmp", .checks = &core_checks};
	AUTO_FREE char *text = row->question == HOST ? strdup(row->text) : at_base(row->text);
	AUTO_FREE char *rule = at_base(row->rule);
	struct cordon_error err = {0};
	struct why w = {0};
	int r;

	if (row->question == HOST)
		r = why_host(p, text, &w, &err);
	else if (row->question == COMMAND)
		r = why_command(p, &c, text, &w, &err);
	else
		r = why_path(p, &c, text, row->question == PATH_WRITE, &w, &err);
	if (r < 0)
		fail_msg("'%s': %s", text, err.message);
	if (w.decision != row->want)
		fail_msg("'%s': %s by '%s', expected %s", text, why_decision_name(w.decision),
			 buf_cstr(&w.rule), why_decision_name(row->want));
	if (!strstr(buf_cstr(&w.rule), rule))
		fail_msg("'%s': rule '%s' has no '%s'", text, buf_cstr(&w.rule), rule);
	if (w.remedy.len == 0)
		fail_msg("'%s': no remedy", text);
	why_done(&w);
}

static void ask_all(const char *yaml, const struct row *rows, size_t n)
{
	AUTO(policy_freep) struct policy *p = load(yaml);

	for (size_t i = 0; i < n; i++)
		ask(p, &rows[i]);
}

#define ASK_ALL(yaml, rows) ask_all(yaml, rows, ARRAY_LEN(rows))

#define SANDBOX "sandbox:\n  level: process\n  capabilities:\n"

static void test_default_paths(void **state)
{
	static const struct row rows[] = {
		{PATH_READ, "src/main.c", WHY_ALLOW, "mount_paths '@/proj' (rw)"},
		{PATH_WRITE, "src/main.c", WHY_ALLOW, "mount_paths '@/proj' (rw)"},
		{PATH_WRITE, "@/proj", WHY_ALLOW, "mount_paths"},
		{PATH_WRITE, "@/proj/", WHY_ALLOW, "mount_paths"},
		{PATH_WRITE, "@/proj//src///x/", WHY_ALLOW, "mount_paths"},
		{PATH_WRITE, "./src/../x", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "@/proj2", WHY_DENY, "nothing grants"},
		{PATH_READ, "@/proj2/x", WHY_DENY, "nothing grants"},
		{PATH_READ, "@/proj2/../proj/x", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "../outside/x", WHY_DENY, "nothing grants"},
		{PATH_READ, "@/proj/../outside/x", WHY_DENY, "nothing grants"},
		{PATH_READ, "src/../../outside", WHY_DENY, "nothing grants"},
		{PATH_READ, "@", WHY_DENY, "nothing grants"},
		{PATH_READ, "/", WHY_DENY, "nothing grants"},
		{PATH_READ, "link-out/x", WHY_DENY, "nothing grants"},
		{PATH_READ, "link-out/../proj/src", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "up/../home/x", WHY_DENY, "private home"},
		{PATH_WRITE, "dangling", WHY_DENY, "nothing grants"},
		{PATH_READ, "relative-link", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "@/link-to-proj/src", WHY_DENY, "nothing grants"},
		{PATH_READ, "/usr/bin/env", WHY_ALLOW, "system directories"},
		{PATH_WRITE, "/usr/bin/env", WHY_DENY, "system directories"},
		{PATH_READ, "/usrx/bin", WHY_DENY, "nothing grants"},
		{PATH_READ, "/lib64/x", WHY_ALLOW, "system directories"},
		{PATH_READ, "/library-of-mine/x", WHY_DENY, "nothing grants"},
		{PATH_READ, "/li/x", WHY_DENY, "nothing grants"},
		{PATH_WRITE, "/etc/hosts", WHY_DENY, "system directories"},
		{PATH_READ, "/etc/shadow", WHY_DENY, "credentials '/etc/shadow'"},
		{PATH_READ, "/etc/ssl/private/x.key", WHY_DENY, "credentials '/etc/ssl/private'"},
		{PATH_READ, "/etc/shadow.conf", WHY_ALLOW, "system directories"},
		{PATH_READ, "/usr/../var/log", WHY_DENY, "nothing grants"},
		{PATH_READ, "/run/docker.sock", WHY_DENY, "nothing grants"},
		{PATH_READ, "/sys/kernel", WHY_DENY, "nothing grants"},
		{PATH_READ, "~/notes", WHY_DENY, "private home"},
		{PATH_READ, "~", WHY_DENY, "private home"},
		{PATH_WRITE, "~/notes", WHY_ALLOW, "private home"},
		{PATH_WRITE, "/dev/null", WHY_ALLOW, "/dev"},
		{PATH_READ, "/dev/sda", WHY_DENY, "nothing grants"},
		{PATH_READ, "/dev/nullx", WHY_DENY, "nothing grants"},
		{PATH_WRITE, "/proc/sys/kernel/core_pattern", WHY_DENY, "/proc"},
	};

	(void)state;
	ASK_ALL("", rows);
}

static void test_denied(void **state)
{
	static const char yaml[] = SANDBOX
		"    filesystem:\n"
		"      mode: scoped\n"
		"      mount_paths:\n"
		"        - {path: @/proj, permissions: rw}\n"
		"        - {path: @/data-link, permissions: ro}\n"
		"        - {path: @/data/in, permissions: rw}\n"
		"      denied_paths: [\"@/proj/secret/\", .env, \"@/proj/**/*.pem\", "
		"\"@/data-link/in/keys\", \"@/link-to-proj/hidden-*\"]\n"
		"      protected_paths: [\"@/proj/ci\", Makefile]\n";
	static const struct row rows[] = {
		{PATH_READ, "secret", WHY_DENY, "denied_paths '@/proj/secret/'"},
		{PATH_READ, "secret/", WHY_DENY, "denied_paths '@/proj/secret/'"},
		{PATH_READ, "secret/deep/er", WHY_DENY, "denied_paths"},
		{PATH_READ, "secrets", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "src/../secret/x", WHY_DENY, "denied_paths"},
		{PATH_READ, "link-to-secret", WHY_DENY, "denied_paths"},
		{PATH_READ, "link-to-secret/x", WHY_DENY, "denied_paths"},
		{PATH_READ, "relative-link/x", WHY_DENY, "denied_paths"},
		{PATH_READ, "secret/../src", WHY_ALLOW, "mount_paths"},
		{PATH_READ, ".env", WHY_DENY, "denied_paths '.env'"},
		{PATH_READ, "src/a/.env", WHY_DENY, "denied_paths '.env'"},
		{PATH_READ, ".env/below", WHY_DENY, "denied_paths '.env'"},
		{PATH_READ, ".envrc", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "@/data/in/.env", WHY_ALLOW, "mount_paths"},
		{PATH_READ, "a/b/key.pem", WHY_DENY, "*.pem'"},
		{PATH_READ, "key.pem", WHY_DENY, "*.pem'"},
		{PATH_READ, "key.pem.txt", WHY_ALLOW, "mount_paths"},
		/* a denial named through a link, reached by its real name, and the other way */
		{PATH_READ, "@/data/in/keys/a", WHY_DENY, "in/keys'"},
		{PATH_READ, "@/data-link/in/keys", WHY_DENY, "in/keys'"},
		{PATH_READ, "hidden-x", WHY_DENY, "hidden-*'"},
		/* the most specific mount decides */
		{PATH_READ, "@/data/x", WHY_ALLOW, "mount_paths '@/data-link' (ro)"},
		{PATH_WRITE, "@/data/x", WHY_DENY, "mount_paths '@/data-link' (ro)"},
		{PATH_WRITE, "@/data/in/x", WHY_ALLOW, "mount_paths '@/data/in' (rw)"},
		{PATH_WRITE, "@/data/inx", WHY_DENY, "(ro)"},
		/* protected */
		{PATH_WRITE, "ci/run", WHY_DENY, "protected_paths '@/proj/ci'"},
		{PATH_READ, "ci/run", WHY_ALLOW, "mount_paths"},
		{PATH_WRITE, "ci2/run", WHY_ALLOW, "mount_paths"},
		{PATH_WRITE, "src/Makefile", WHY_DENY, "protected_paths 'Makefile'"},
		{PATH_WRITE, "secret/x", WHY_DENY, "denied_paths"},
	};

	(void)state;
	ASK_ALL(yaml, rows);
}

static void test_modes(void **state)
{
	static const struct row deny[] = {
		{PATH_READ, "src", WHY_DENY, "filesystem.mode 'deny'"},
		{PATH_READ, "/usr/bin", WHY_ALLOW, "system directories"},
		{PATH_WRITE, "/tmp/x", WHY_ALLOW, "private /tmp"},
		{PATH_READ, "/tmp/x", WHY_DENY, "private /tmp"},
	};
	static const struct row read_only[] = {
		{PATH_READ, "src", WHY_ALLOW, "filesystem.mode 'read-only'"},
		{PATH_WRITE, "src", WHY_DENY, "filesystem.mode 'read-only'"},
		{PATH_READ, "@/data/x", WHY_ALLOW, "mount_paths '@/data' (ro)"},
		{PATH_WRITE, "@/data/x", WHY_DENY, "filesystem.mode 'read-only'"},
		{PATH_READ, "@/outside", WHY_DENY, "nothing grants"},
	};
	static const struct row full[] = {
		{PATH_READ, "@/outside", WHY_ALLOW, "filesystem.mode 'full'"},
		{PATH_WRITE, "/etc/hosts", WHY_ALLOW, "filesystem.mode 'full'"},
		{PATH_READ, "/etc/gshadow", WHY_DENY, "credentials '/etc/gshadow'"},
		{PATH_WRITE, "@/data/x", WHY_DENY, "denied_paths"},
		{PATH_READ, "@/data-link/x", WHY_DENY, "denied_paths"},
	};
	static const struct row mounts[] = {
		{PATH_WRITE, "/usr/local/x", WHY_ALLOW, "mount_paths '/usr/local' (rw)"},
		{PATH_WRITE, "/usr/x", WHY_DENY, "system directories"},
		{PATH_WRITE, "/opt/x", WHY_ALLOW, "mount_paths '/opt' (rw)"},
		{PATH_READ, "/tmp/shared/x", WHY_ALLOW, "mount_paths '/tmp/shared' (ro)"},
		{PATH_WRITE, "/tmp/shared/x", WHY_DENY, "mount_paths '/tmp/shared' (ro)"},
		{PATH_READ, "~/cfg/x", WHY_ALLOW, "mount_paths '@/home/cfg' (ro)"},
		{PATH_READ, "src", WHY_DENY, "nothing grants"},
	};

	(void)state;
	ASK_ALL(SANDBOX "    filesystem: {mode: deny}\n", deny);
	ASK_ALL(SANDBOX "    filesystem:\n      mode: read-only\n      mount_paths:\n"
			"        - {path: @/data, permissions: rw}\n",
		read_only);
	ASK_ALL(SANDBOX "    filesystem:\n      mode: full\n      denied_paths: [@/data]\n", full);
	ASK_ALL(SANDBOX "    filesystem:\n      mode: scoped\n      mount_paths:\n"
			"        - {path: /usr/local, permissions: rw}\n"
			"        - {path: /opt, permissions: rw}\n"
			"        - {path: /tmp/shared, permissions: ro}\n"
			"        - {path: ~/cfg, permissions: ro}\n",
		mounts);
}

static void test_hosts(void **state)
{
	static const char yaml[] = SANDBOX
		"    network:\n"
		"      mode: allowlist\n"
		"      allowed_hosts: [example.org, \"*.example.net\", \"db.example.org:5432\", "
		"\"10.0.0.1:80\", \"10.1.2.3\", \"tls.example.org:443\", localhost, "
		"bad.example.net, \"169.254.169.254\", nas.local, x.test]\n"
		"      allow_private: [10.1.2.0/24, 169.254.0.0/16]\n"
		"      egress:\n"
		"        - {host: bad.example.net, action: deny}\n"
		"        - {host: example.org, methods: [POST], action: deny}\n";
	static const struct row rows[] = {
		{HOST, "example.org", WHY_ALLOW, "allowed_hosts 'example.org'"},
		{HOST, "EXAMPLE.org.", WHY_ALLOW, "allowed_hosts 'example.org'"},
		{HOST, "example.org:443", WHY_ALLOW, "allowed_hosts"},
		{HOST, "example.org:80", WHY_ALLOW, "allowed_hosts"},
		{HOST, "example.org:22", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "https://example.org/path?q", WHY_ALLOW, "allowed_hosts"},
		{HOST, "http://example.org:8080/", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "https://user@example.org/", WHY_DENY, "not a host"},
		{HOST, "https://example.org:443@evil.example/", WHY_DENY, "not a host"},
		{HOST, "https://example.org\\@evil.example/", WHY_DENY, "not a host"},
		{HOST, "ftp://example.org/", WHY_DENY, "not a host"},
		{HOST, "example.orgx", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "notexample.org", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "sub.example.org", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "example.net", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "a.example.net", WHY_ALLOW, "*.example.net"},
		{HOST, "a.b.example.net", WHY_ALLOW, "*.example.net"},
		{HOST, "bad.example.net", WHY_DENY, "egress 'bad.example.net'"},
		{HOST, "db.example.org:5432", WHY_ALLOW, "db.example.org:5432"},
		{HOST, "db.example.org", WHY_DENY, "no entry of allowed_hosts"},
		{HOST, "tls.example.org", WHY_ALLOW, "tls.example.org:443"},
		{HOST, "10.0.0.1:80", WHY_DENY, "is private"},
		{HOST, "10.1.2.3", WHY_ALLOW, "allowed_hosts '10.1.2.3'"},
		{HOST, "[::ffff:10.1.2.3]:443", WHY_ALLOW, "allowed_hosts '10.1.2.3'"},
		{HOST, "010.1.2.3", WHY_DENY, "not a host"},
		{HOST, "0x0a.1.2.3", WHY_DENY, "not a host"},
		{HOST, "167838211", WHY_DENY, "not a host"},
		{HOST, "169.254.169.254", WHY_DENY, "is metadata"},
		{HOST, "nas.local", WHY_ALLOW, "allowed_hosts 'nas.local'"},
		{HOST, "x.test", WHY_DENY, "special name: reserved"},
		{HOST, "", WHY_DENY, "not a host"},
		{HOST, "example.org:0", WHY_DENY, "not a host"},
		{HOST, "example.org:", WHY_DENY, "not a host"},
		{HOST, "exa mple.org", WHY_DENY, "not a host"},
		{HOST, "example.org\n", WHY_DENY, "not a host"},
	};
	static const struct row open[] = {
		{HOST, "example.org:22", WHY_ALLOW, "network.mode 'allow-all'"},
		{HOST, "127.0.0.1", WHY_DENY, "is loopback"},
		{HOST, "[::1]:80", WHY_DENY, "is loopback"},
		{HOST, "0.0.0.0", WHY_DENY, "block_private_ips"},
		{HOST, "100.64.0.1", WHY_DENY, "is shared"},
		{HOST, "localhost", WHY_DENY, "special name: localhost"},
		{HOST, "a.localhost", WHY_DENY, "special name: localhost"},
		{HOST, "intranet", WHY_DENY, "special name"},
		{HOST, "metadata.google.internal", WHY_DENY, "special name: metadata"},
		{HOST, "[64:ff9b::7f00:1]", WHY_DENY, "block_private_ips"},
	};
	static const struct row shut[] = {
		{HOST, "example.org", WHY_DENY, "network.mode 'deny'"},
		{HOST, "127.0.0.1", WHY_DENY, "network.mode 'deny'"},
	};
	static const struct row unguarded[] = {
		{HOST, "127.0.0.1", WHY_ALLOW, "network.mode 'allow-all'"},
	};

	(void)state;
	ASK_ALL(yaml, rows);
	ASK_ALL(SANDBOX "    network: {mode: allow-all}\n", open);
	ASK_ALL("", shut);
	ASK_ALL(SANDBOX
		"    network:\n      mode: allow-all\n      ssrf_protection: {enabled: false}\n",
		unguarded);
}

static void test_commands(void **state)
{
	static const struct row plain[] = {
		{COMMAND, "make test", WHY_ALLOW, "no rule"},
		{COMMAND, "rm -rf /", WHY_ALLOW, "no rule"},
	};
	static const struct row lists[] = {
		{COMMAND, "rm -rf /", WHY_DENY, "blocked_commands 'rm -rf'"},
		{COMMAND, "sudo rm  -rf  x", WHY_DENY, "blocked_commands 'rm -rf'"},
		{COMMAND, "rm -rfx", WHY_ALLOW, "no rule"},
		{COMMAND, "curl x | sh", WHY_DENY, "blocked_patterns"},
		{COMMAND, "curl x", WHY_ALLOW, "no rule"},
	};
	static const struct row no_shell[] = {
		{COMMAND, "make", WHY_DENY, "shell.mode 'deny'"},
	};
	static const struct row allowed[] = {{COMMAND, "make", WHY_ALLOW, "policy.rules 'bash'"}};
	static const struct row asked[] = {{COMMAND, "make", WHY_ASK, "policy.rules 'ask'"}};
	static const struct row denied[] = {{COMMAND, "make", WHY_DENY, "policy.rules 'no'"}};
	static const struct row unmatched[] = {{COMMAND, "make", WHY_DENY, "no rule matches"}};

	(void)state;
	ASK_ALL("", plain);
	ASK_ALL(SANDBOX "    shell:\n      mode: restricted\n      blocked_commands: [\"rm -rf\"]\n"
			"      blocked_patterns: [\"curl.*[|] *sh\"]\n",
		lists);
	ASK_ALL(SANDBOX "    shell: {mode: deny}\n", no_shell);
	ASK_ALL("policy:\n  rules:\n"
		"    - {id: bash, action: allow, scope: tool, match: {name: Bash}}\n",
		allowed);
	ASK_ALL("policy:\n  rules:\n    - {id: ask, action: require-approval, scope: all}\n",
		asked);
	ASK_ALL("policy:\n  rules:\n    - {id: no, action: deny, scope: all, reason: because}\n",
		denied);
	ASK_ALL("policy:\n  rules:\n"
		"    - {id: read, action: allow, scope: tool, match: {name: Read}}\n",
		unmatched);
}

static void test_level_none(void **state)
{
	static const struct row unwritten[] = {
		{HOST, "example.org", WHY_ALLOW, "sandbox.level 'none'"},
		{PATH_READ, "@/outside", WHY_ALLOW, "sandbox.level 'none'"},
		{PATH_WRITE, "/etc/hosts", WHY_ALLOW, "sandbox.level 'none'"},
		{PATH_WRITE, "src", WHY_ALLOW, "mount_paths"},
	};
	static const struct row written[] = {
		{HOST, "example.org", WHY_DENY, "network.mode 'deny'"},
		{PATH_READ, "@/data", WHY_DENY, "denied_paths"},
		{PATH_READ, "@/outside", WHY_ALLOW, "sandbox.level 'none'"},
		{COMMAND, "rm x", WHY_DENY, "blocked_commands"},
	};

	(void)state;
	ASK_ALL("sandbox:\n  level: none\n", unwritten);
	ASK_ALL("sandbox:\n  level: none\n  capabilities:\n    network: {mode: deny}\n"
		"    filesystem: {denied_paths: [@/data]}\n"
		"    shell: {mode: restricted, blocked_commands: [rm]}\n",
		written);
}

/* Where the rule was written, what to change, and what cannot be known here. */
static void test_texts(void **state)
{
	AUTO(policy_freep)
	struct policy *p = load(SANDBOX "    network: {mode: deny}\n"
					"    filesystem:\n"
					"      denied_paths:\n"
					"        - @/proj/secret\n");
	const struct policy_context c = {.workspace = workspace, .home = home, .tmp = "/tmp"};
	AUTO_FREE char *link = at_base("@/proj/secret");
	struct cordon_error err = {0};
	struct why w = {0};

	(void)state;
	assert_int_equal(why_path(p, &c, "link-to-secret", false, &w, &err), 0);
	assert_int_equal(w.origin.layer, LAYER_FILE);
	assert_int_equal(w.origin.line, 7);
	assert_int_equal(w.origin.column, 11);
	assert_string_equal(w.resolved, link);
	assert_non_null(strstr(buf_cstr(&w.remedy), "policy.yaml:7:11"));
	why_done(&w);
	assert_int_equal(why_path(p, &c, "../proj2/it's", true, &w, &err), 0);
	assert_non_null(strstr(buf_cstr(&w.remedy), "/proj2/it'\\''s'"));
	assert_non_null(strstr(buf_cstr(&w.remedy), "permissions: rw}"));
	assert_int_equal(w.origin.layer, LAYER_BUILTIN);
	why_done(&w);
	assert_int_equal(why_host(p, "Example.ORG:8443", &w, &err), 0);
	assert_string_equal(w.resolved, "example.org:8443");
	assert_int_equal(w.origin.line, 4);
	assert_non_null(strstr(buf_cstr(&w.remedy), "--allow-host example.org:8443"));
	why_done(&w);
	assert_int_equal(why_path(p, &c, "", false, &w, &err), CORDON_E_INVALID);
	why_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_paths), cmocka_unit_test(test_denied),
		cmocka_unit_test(test_modes),         cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_commands),      cmocka_unit_test(test_level_none),
		cmocka_unit_test(test_texts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
