/* SPDX-License-Identifier: Apache-2.0 */
/* See protected.h. */
#include "workspace/protected.h"

#include "base/mem.h"

#include <string.h>

/* Left out on purpose: `.git` (a call may make a repository; those that exist are protected by
 * gitdir.h), pyvenv.cfg and interpreters of virtual environments (advisory: calls make them all the
 * time), .env (opening it taints, writing it is ordinary work). */
const struct protected_name protected_names[] = {
	{".agents", true},
	{".cargo", true},
	{".claude", true},
	{".cloneguard", true},
	{".codex", true},
	{".config/autostart", true},
	{".config/git", true},
	{".config/systemd", true},
	{".cursor", true},
	{".devcontainer", true},
	{".gemini", true},
	{".github/workflows", true},
	{".husky", true},
	{".idea", true},
	{".mvn", true},
	{".ssh", true},
	{".vscode", true},
	{".yarn", true},
	{".bash_aliases", false},
	{".bash_login", false},
	{".bash_logout", false},
	{".bash_profile", false},
	{".bashrc", false},
	{".bazeliskrc", false},
	{".bazelrc", false},
	{".bazelversion", false},
	{".bunfig.toml", false},
	{".claude.json", false},
	{".cordon.yaml", false},
	{".devcontainer.json", false},
	{".envrc", false},
	{".gitconfig", false},
	{".gitmodules", false},
	{".lefthook.json", false},
	{".lefthook.toml", false},
	{".lefthook.yaml", false},
	{".lefthook.yml", false},
	{".mcp.json", false},
	{".npmrc", false},
	{".pnp.cjs", false},
	{".pnp.loader.mjs", false},
	{".pnpmfile.cjs", false},
	{".pre-commit-config.yaml", false},
	{".profile", false},
	{".ripgreprc", false},
	{".yarnrc", false},
	{".yarnrc.yml", false},
	{".zlogin", false},
	{".zlogout", false},
	{".zprofile", false},
	{".zshenv", false},
	{".zshrc", false},
	{"bunfig.toml", false},
	{"gradle-wrapper.properties", false},
	{"lefthook.yaml", false},
	{"lefthook.yml", false},
	{"maven-wrapper.properties", false},
	{"pyrightconfig.json", false},
};
const size_t protected_name_count = ARRAY_LEN(protected_names);

const char *protected_exception(const char *name)
{
	return strcmp(name, ".claude") == 0 ? "worktrees" : NULL;
}

const struct protected_looked_for protected_looked_for[] = {
	{".bazelrc", "MODULE.bazel"},
	{".bunfig.toml", "package.json"},
	{".gitmodules", ".git"},
	{".mcp.json", ".git"},
	{".npmrc", "package.json"},
	{".pnp.cjs", "package.json"},
	{".pnp.loader.mjs", "package.json"},
	{".pnpmfile.cjs", "package.json"},
	{".yarnrc", "package.json"},
	{".yarnrc.yml", "package.json"},
	{"bunfig.toml", "package.json"},
	{"pyrightconfig.json", "pyproject.toml"},
};
const size_t protected_looked_for_count = ARRAY_LEN(protected_looked_for);

/* Files, empty or not: git reads some of them whenever they are there.  An empty commondir stops it; one that
 * says "here" changes nothing. */
const struct protected_name protected_git_names[] = {
	{"hooks", true},
	{"info", true},
	{"config", false, ""},
	{"config.worktree", false, ""},
	{"commondir", false, ".\n"},
	{"gitdir", false, ""},
};
const size_t protected_git_name_count = ARRAY_LEN(protected_git_names);

const char *const credential_paths[] = {
	".anthropic",
	".aws",
	".azure",
	".bash_history",
	".boto",
	".cargo/credentials",
	".cargo/credentials.toml",
	".claude/.credentials.json",
	".codex/auth.json",
	".composer/auth.json",
	".config/BraveSoftware",
	".config/chromium",
	".config/composer/auth.json",
	".config/doctl",
	".config/gcloud",
	".config/gh",
	".config/git/credentials",
	".config/glab-cli",
	".config/google-chrome",
	".config/heroku",
	".config/hub",
	".config/op",
	".config/rclone",
	".config/sops",
	".databrickscfg",
	".docker/config.json",
	".gem/credentials",
	".gemini/oauth_creds.json",
	".git-credentials",
	".gnupg",
	".gradle/gradle.properties",
	".huggingface",
	".kube",
	".local/share/keyrings",
	".m2/settings-security.xml",
	".m2/settings.xml",
	".mozilla",
	".my.cnf",
	".mysql_history",
	".netrc",
	".node_repl_history",
	".npmrc",
	".oci",
	".password-store",
	".pgpass",
	".psql_history",
	".pypirc",
	".python_history",
	".s3cfg",
	".ssh",
	".terraform.d/credentials.tfrc.json",
	".thunderbird",
	".vault-token",
	".zsh_history",
};
const size_t credential_path_count = ARRAY_LEN(credential_paths);

const char *const system_credential_paths[] = {
	"/etc/NetworkManager/system-connections",
	"/etc/gshadow",
	"/etc/gshadow-",
	"/etc/krb5.keytab",
	"/etc/kubernetes/admin.conf",
	"/etc/letsencrypt/archive",
	"/etc/mysql/debian.cnf",
	"/etc/pki/tls/private",
	"/etc/ppp/chap-secrets",
	"/etc/ppp/pap-secrets",
	"/etc/rancher/k3s/k3s.yaml",
	"/etc/security/opasswd",
	"/etc/shadow",
	"/etc/shadow-",
	"/etc/ssh/ssh_host_dsa_key",
	"/etc/ssh/ssh_host_ecdsa_key",
	"/etc/ssh/ssh_host_ed25519_key",
	"/etc/ssh/ssh_host_rsa_key",
	"/etc/ssl/private",
	"/etc/wireguard",
	"/etc/wpa_supplicant/wpa_supplicant.conf",
};
const size_t system_credential_path_count = ARRAY_LEN(system_credential_paths);

const struct toolchain_root toolchain_roots[] = {
	{".asdf", NULL},
	{".bun", NULL},
	{".cargo", ".rustup"},
	{".deno", NULL},
	{".local/share/mise", NULL},
	{".nvm", NULL},
	{".pyenv", NULL},
	{".rustup", NULL},
	{".sdkman", NULL},
	{".volta", NULL},
	{"go", NULL},
};
const size_t toolchain_root_count = ARRAY_LEN(toolchain_roots);
