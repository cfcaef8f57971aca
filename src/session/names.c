/* SPDX-License-Identifier: Apache-2.0 */
/* See names.h.  Tables first; each list says what it means. */
#include "session/names.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "net/host.h"
#include "workspace/protected.h"
#include "workspace/sensitive.h"

#include <ctype.h>
#include <string.h>

/* In a file's name they say that it holds secrets, unless it is about them. */
static const char *const names_words[] = {
	"secret",  "credential", "password",    "passwd",         "token",      "api_key",
	"apikey",  "api-key",    "private_key", "private-key",    "privatekey", "service_account",
	"keyfile", "keystore",   "kubeconfig",  "serviceaccount",
};

/* What is written in these is read by people and compilers. */
static const char *const names_texts[] = {
	".md",   ".mdx",   ".rst", ".html", ".adoc", ".py",    ".pyi",  ".go",   ".js",
	".jsx",  ".ts",    ".tsx", ".c",    ".h",    ".cc",    ".cpp",  ".hpp",  ".rs",
	".java", ".kt",    ".rb",  ".php",  ".cs",   ".swift", ".sh",   ".css",  ".svg",
	".png",  ".proto", ".sql", ".vue",  ".scss", ".pub",   ".lock", ".tmpl", ".snap",
};

static const char *const names_agent_dirs[] = {
	".claude", ".cursor", ".vscode",  ".continue", ".windsurf",
	".gemini", ".codex",  ".amazonq", ".aider",
};
static const char *const names_agent_parts[] = {"agent",  "claude",   "cursor",   "gemini",
						"codex",  "continue", "windsurf", "copilot",
						"cordon", "aider"};
static const char *const names_package[] = {
	".npmrc",   ".pypirc", ".yarnrc",      ".yarnrc.yml",  "pip.conf",
	".condarc", ".gemrc",  "NuGet.Config", "nuget.config", ".pnpmrc",
};
static const char *const names_package_ends[] = {
	".cargo/config", ".cargo/config.toml",   ".m2/settings.xml",
	".pip/pip.conf", ".config/pip/pip.conf",
};
static const char *const names_build[] = {
	"Makefile",    "makefile",       "GNUmakefile", "package.json",     "setup.py",
	"setup.cfg",   "pyproject.toml", "Cargo.toml",  "build.rs",         "Gemfile",
	"Rakefile",    "build.gradle",   "pom.xml",     "build.gradle.kts", "build.xml",
	"meson.build", "CMakeLists.txt", "Dockerfile",  "justfile",         "BUILD.bazel",
};

static bool names_has(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* The word as a word: `token` in session_tokens.jwt, not in tokenizer.json. */
static bool names_has_word(const char *name, const char *word)
{
	const char *at = strcasestr(name, word);
	const char *end = at ? at + strlen(word) : NULL;

	if (!at)
		return false;
	end += tolower((unsigned char)*end) == 's';
	return !isalpha((unsigned char)*end) &&
	       (at == name || !isalpha((unsigned char)at[-1]) || isupper((unsigned char)*at));
}

/* path ends with name as whole components, or goes on below it. */
static bool names_is_at(const char *path, const char *name)
{
	const char *at = path;
	size_t n = strlen(name);

	while ((at = strstr(at, name))) {
		if ((at == path || at[-1] == '/') && (at[n] == '\0' || at[n] == '/'))
			return true;
		at++;
	}
	return false;
}

static bool names_is_credential(const char *path)
{
	for (size_t i = 0; i < credential_path_count; i++)
		if (names_is_at(path, credential_paths[i]))
			return true;
	return false;
}

bool names_is_sensitive(const char *path, bool is_path)
{
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');

	if (names_is_at(path, ".ssh"))
		return !str_ends(path, ".pub") && strcmp(base, "known_hosts") != 0;
	/* The variables of a program, and those that a file gives to one: shop.env. */
	if ((strstr(path, "/proc/") && strcmp(base, "environ") == 0) ||
	    (dot && dot > base && strcmp(dot, ".env") == 0 && !str_starts(base, "example") &&
	     !str_starts(base, "sample") && !str_starts(base, "template")))
		return true;
	if (sensitive_name(base) || names_is_credential(path) || strcmp(base, "auth.json") == 0 ||
	    strcmp(base, "application_default_credentials.json") == 0)
		return true;
	if (dot && names_has(names_texts, ARRAY_LEN(names_texts), dot))
		return false;
	if (!is_path && !dot && base == path)
		return false; /* a word like any other */
	for (size_t i = 0; i < ARRAY_LEN(names_words); i++)
		if (names_has_word(base, names_words[i]))
			return true;
	return false;
}

/* A directory that belongs to an agent or editor is on the way: by its name, or by a part of it below .config. */
static bool names_is_agent_config(const char *path)
{
	const char *base = path_base(path);
	const char *config = strstr(path, ".config/");
	bool is_setting = strstr(base, "settings") || strstr(base, "hooks") ||
			  str_starts(base, "mcp") || str_starts(base, "config.") ||
			  strcmp(base, "tasks.json") == 0 || strcmp(base, "launch.json") == 0;

	if (strcmp(base, ".mcp.json") == 0 || (str_starts(base, "mcp") && str_ends(base, ".json")))
		return true;
	if (!is_setting)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names_agent_dirs); i++)
		if (names_is_at(path, names_agent_dirs[i]))
			return true;
	for (size_t i = 0; config && i < ARRAY_LEN(names_agent_parts); i++) {
		const char *at = strstr(config, names_agent_parts[i]);

		if (at && strchr(at, '/'))
			return true;
	}
	return false;
}

static unsigned names_outside(const char *path, const char *workspace)
{
	static const char *const ours[] = {"/tmp", "/var/tmp", "/dev", "/proc"};
	AUTO_FREE char *normal = NULL;

	if (!workspace || path[0] != '/' || path_normalise(path, &normal) < 0)
		return path[0] == '~' ? SESSION_OUTSIDE : 0;
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (path_is_within(normal, ours[i]))
			return 0;
	return path_is_within(normal, workspace) ? 0 : SESSION_OUTSIDE;
}

unsigned names_write_facts(const char *path, const char *workspace)
{
	const char *base = path_base(path);
	unsigned facts = names_outside(path, workspace);

	if (names_is_agent_config(path))
		facts |= SESSION_AGENT_CONFIG;
	if (names_has(names_package, ARRAY_LEN(names_package), base))
		facts |= SESSION_PACKAGE_CONFIG;
	for (size_t i = 0; i < ARRAY_LEN(names_package_ends); i++)
		if (names_is_at(path, names_package_ends[i]))
			facts |= SESSION_PACKAGE_CONFIG;
	if (strcmp(base, ".gitconfig") == 0 || names_is_at(path, ".git/config"))
		facts |= SESSION_GIT_CONFIG;
	if (names_is_at(path, ".git/hooks"))
		facts |= SESSION_GIT_RUNS;
	if (names_has(names_build, ARRAY_LEN(names_build), base))
		facts |= SESSION_BUILD_FILE;
	return facts;
}

/* 127.0.0.0/8, ::1 and the addresses of nowhere. */
static bool names_is_loopback(const struct host *h)
{
	static const uint8_t one[ADDR_LEN] = {[ADDR_LEN - 1] = 1};
	static const uint8_t none[ADDR_LEN] = {0};

	if (h->kind == HOST_NAME)
		return strcmp(h->name, "localhost") == 0 || str_ends(h->name, ".localhost");
	if (h->kind == HOST_IPV4)
		return str_starts(h->name, "127.") || strcmp(h->name, "0.0.0.0") == 0;
	return memcmp(h->addr, one, ADDR_LEN) == 0 || memcmp(h->addr, none, ADDR_LEN) == 0;
}

unsigned names_host_facts(const char *text, size_t len)
{
	const char *scheme = memmem(text, len, "://", 3);
	struct host host;
	const char *at;
	size_t n = 0;

	if (scheme) {
		len -= (size_t)(scheme + 3 - text);
		text = scheme + 3;
	}
	while (n < len && !strchr("/?#\\ \t\"'`<>", text[n]))
		n++;
	at = memrchr(text, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	if (host_parse(text, n, HOST_PORT_ALLOWED, &host, NULL) < 0)
		return SESSION_NETWORK; /* not known */
	return names_is_loopback(&host) ? SESSION_RELAY : SESSION_NETWORK;
}

unsigned names_url_facts(const char *text, size_t len)
{
	unsigned facts = 0;

	while (len > 3) {
		const char *at = memmem(text, len, "://", 3);

		if (!at)
			break;
		facts |= names_host_facts(at, len - (size_t)(at - text));
		len -= (size_t)(at + 3 - text);
		text = at + 3;
	}
	return facts;
}
